/* columns.h - tables of text: columns as wide as what is in them, or narrower where a terminal ends. */
#ifndef SLP_CLI_COLUMNS_H
#define SLP_CLI_COLUMNS_H

#include "base/buf.h"

#define SLP_COLUMNS_MAX 10
#define SLP_CELL_BYTES_MAX 512

typedef struct slp_column {
  const char *title;
  size_t min; /* the narrowest it may become; 0: never narrower than its texts */
  uint8_t right;
} slp_column;

typedef struct slp_columns {
  const slp_column *columns; /* borrowed */
  size_t n;
  slp_buf cells; /* NUL-ended, row after row */
  size_t added;  /* cells */
  size_t widest[SLP_COLUMNS_MAX];
} slp_columns;

void slp_columns_init(slp_columns *c, slp_mem *mem, const slp_column *columns, size_t n);
void slp_columns_free(slp_columns *c);
/* Adds the next cell; characters that a terminal might obey are shown as '?'. An error waits for
 * slp_columns_show(). */
void slp_columns_add(slp_columns *c, const char *text);
/* Titles and rows, a line each, at most `width` wide where the columns' minima allow it; 0: no limit. */
int slp_columns_show(const slp_columns *c, slp_buf *b, size_t width);
/* `text` in at most `width` characters: ".." stands for its middle. Nothing in it drives a terminal. */
int slp_elide(slp_buf *b, const char *text, size_t width);

#endif
