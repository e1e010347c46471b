/* columns.h - tables of text. Columns are as wide as their widest cell, or narrower if the terminal is. */
#ifndef SLP_CLI_COLUMNS_H
#define SLP_CLI_COLUMNS_H

#include "base/buf.h"

#define SLP_COLUMNS_MAX 10
#define SLP_CELL_BYTES_MAX 512 /* longer cells are cut */

typedef struct slp_column {
  const char *title;
  size_t min;    /* width to which it may be narrowed; 0: it is never narrowed */
  uint8_t right; /* 1: aligned to the right */
} slp_column;

typedef struct slp_columns {
  const slp_column *columns; /* borrowed */
  size_t n;
  slp_buf cells;                  /* each ends with a NUL; row after row */
  size_t added;                   /* number of cells */
  size_t widest[SLP_COLUMNS_MAX]; /* width of the widest cell or title, for each column */
} slp_columns;

/* Begins a table of n columns; `columns` is borrowed. */
void slp_columns_init(slp_columns *c, slp_mem *mem, const slp_column *columns, size_t n);
void slp_columns_free(slp_columns *c);
/* Adds the next cell. Bytes that a terminal might obey become '?'. slp_columns_show() reports an error. */
void slp_columns_add(slp_columns *c, const char *text);
/* Writes the titles and rows, a line each. Lines are at most `width` wide if the minima of the columns allow
 * it; 0: no limit. Returns 0, or the error of `b` or of a cell. */
int slp_columns_show(const slp_columns *c, slp_buf *b, size_t width);
/* Writes the text in at most `width` characters; if it is longer, ".." stands for its middle. Bytes that a
 * terminal might obey become '?'. Returns 0, or the error of `b`. */
int slp_elide(slp_buf *b, const char *text, size_t width);

#endif
