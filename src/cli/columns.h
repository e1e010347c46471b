/* columns.h - tables of text. A column is as wide as its widest cell; columns are narrowed if the terminal is
 * too narrow. */
#ifndef SLP_CLI_COLUMNS_H
#define SLP_CLI_COLUMNS_H

#include "base/buf.h"
#include "base/mem.h"

#define SLP_COLUMNS_MAX 10
#define SLP_CELL_BYTES_MAX 512 /* a longer cell is cut */

typedef struct slp_column {
  const char *title;
  size_t min;    /* the narrowest width of the column; 0: the column is never narrowed */
  uint8_t right; /* 1: cells are aligned to the right */
} slp_column;

typedef struct slp_columns {
  const slp_column *columns; /* borrowed */
  size_t n;
  slp_buf cells;                  /* the text of all cells, row after row; each cell ends with a NUL */
  size_t added;                   /* number of cells added */
  size_t widest[SLP_COLUMNS_MAX]; /* width of the widest cell or title, for each column */
} slp_columns;

/* Starts a table of n columns. `columns` must live as long as the table. */
void slp_columns_init(slp_columns *c, slp_mem *mem, const slp_column *columns, size_t n);
void slp_columns_free(slp_columns *c);
/* Adds the next cell. Bytes that could control a terminal become '?'. If memory runs out, slp_columns_show()
 * returns the error. */
void slp_columns_add(slp_columns *c, const char *text);
/* Writes the titles and then the rows, one line each. A line has at most `width` bytes if the minimum widths
 * of the columns allow it; width 0: no limit. Returns 0, the error of `b`, or the error of a cell that could
 * not be added. */
int slp_columns_show(const slp_columns *c, slp_buf *b, size_t width);
/* Writes the text in at most `width` characters. If the text is longer, ".." replaces its middle. Bytes that
 * could control a terminal become '?'. Returns 0, or the error of `b`. */
int slp_elide(slp_buf *b, const char *text, size_t width);

#endif
