/* columns.c - lays out tables. A width is a number of bytes: cells are ASCII, and every other byte is shown
 * as '?'. */
#include "cli/columns.h"

#include "base/buf.h"
#include "base/mem.h"

#define GAP 2

void slp_columns_init(slp_columns *c, slp_mem *mem, const slp_column *columns, size_t n) {
  SLP_CHECK(n > 0 && n <= SLP_COLUMNS_MAX);
  *c = (slp_columns){.columns = columns, .n = n};
  slp_buf_init(&c->cells, mem, UINT64_C(1) << 30);
  for (size_t i = 0; i < n; i++) c->widest[i] = strlen(columns[i].title);
}

void slp_columns_free(slp_columns *c) { slp_buf_free(&c->cells); }

/* Appends the text. Bytes that could control a terminal become '?'. */
static void add_harmless(slp_buf *b, const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) slp_buf_add_char(b, p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '?');
}

void slp_columns_add(slp_columns *c, const char *text) {
  size_t n = strnlen(text, SLP_CELL_BYTES_MAX), column = c->added++ % c->n;
  if (n > c->widest[column]) c->widest[column] = n;
  add_harmless(&c->cells, text, n);
  slp_buf_add_char(&c->cells, 0);
}

int slp_elide(slp_buf *b, const char *text, size_t width) {
  size_t n = strlen(text);
  if (n <= width || width < 5) {
    add_harmless(b, text, n <= width ? n : width);
    return slp_buf_failed(b);
  }
  /* Number of bytes kept from the beginning and from the end of the text. More are kept from the end, because
   * ids differ there. */
  size_t head = (width - 2) / 3, tail = width - 2 - head;
  add_harmless(b, text, head);
  slp_buf_add_z(b, "..");
  add_harmless(b, text + n - tail, tail);
  return slp_buf_failed(b);
}

/* Narrows columns until the table fits into `width`. Each step narrows the widest column that is above its
 * minimum. */
static void narrow_columns(const slp_columns *c, size_t *widths, size_t width) {
  size_t total = GAP * (c->n - 1);
  for (size_t i = 0; i < c->n; i++) total += widths[i];
  while (width && total > width) {
    size_t pick = c->n;
    for (size_t i = 0; i < c->n; i++) {
      size_t min = c->columns[i].min;
      if (min && widths[i] > min && (pick == c->n || widths[i] > widths[pick])) pick = i;
    }
    if (pick == c->n) return;
    widths[pick]--;
    total--;
  }
}

static void add_spaces(slp_buf *b, size_t n) { slp_buf_addf(b, "%*s", (int)n, ""); }

static void add_cell(const slp_columns *c, slp_buf *b, size_t column, const char *text, size_t width) {
  size_t n = slp_min_u64(strlen(text), width);
  if (column) add_spaces(b, GAP);
  if (c->columns[column].right) add_spaces(b, width - n);
  slp_elide(b, text, width);
  /* no spaces after the last column */
  if (!c->columns[column].right && column + 1 < c->n) add_spaces(b, width - n);
  if (column + 1 == c->n) slp_buf_add_char(b, '\n');
}

int slp_columns_show(const slp_columns *c, slp_buf *b, size_t width) {
  SLP_CHECK(c->n > 0);
  size_t widths[SLP_COLUMNS_MAX];
  /* if adding a cell has failed, cells are missing, so the table is not written */
  if (slp_buf_failed(&c->cells)) return slp_buf_fail(b, slp_buf_failed(&c->cells));
  memcpy(widths, c->widest, sizeof widths);
  narrow_columns(c, widths, width);
  for (size_t i = 0; i < c->n; i++) add_cell(c, b, i, c->columns[i].title, widths[i]);
  const char *at = c->cells.p;
  for (size_t i = 0; i < c->added; i++) {
    add_cell(c, b, i % c->n, at, widths[i % c->n]);
    at += strlen(at) + 1;
  }
  return slp_buf_failed(b);
}
