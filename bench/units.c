/* units.c - see units.h. */
#include "units.h"

#define WRITE_BYTES 1024
#define READ_BYTES 4096
#define PAGE_BYTES (UINT64_C(1) << 20) /* of one answer; the next one is counted by itself */

/* Two digits a byte and one byte more, another for a minus; zeros at both ends don't count. */
static size_t number_size(slp_str s) {
  size_t digits = 0, zeros = 0, minus = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '-') minus = 1;
    if (s.p[i] < '0' || s.p[i] > '9') continue;
    if (s.p[i] != '0') {
      digits += zeros + 1;
      zeros = 0;
    } else if (digits) {
      zeros++;
    }
  }
  return (digits + 1) / 2 + 1 + minus;
}

static size_t value_size(const slp_val *v) {
  size_t n = 0;
  switch (v->kind) {
    case SLP_VAL_N: return number_size(v->s);
    case SLP_VAL_SS:
      for (size_t i = 0; i < v->n; i++) n += v->items[i].n;
      return n;
    case SLP_VAL_BOOL:
    case SLP_VAL_NULL: return 1;
    default: return v->s.n;
  }
}

size_t units_row_size(const slp_row *row) {
  size_t n = 0;
  for (size_t i = 0; i < row->n; i++) n += row->attrs[i].name.n + value_size(&row->attrs[i].val);
  return n;
}

static uint64_t steps(uint64_t bytes, uint64_t step) { return bytes ? (bytes + step - 1) / step : 1; }

uint64_t units_write(size_t before, size_t after) {
  return 2 * steps(before > after ? before : after, WRITE_BYTES);
}

uint64_t units_get(size_t row, int consistent) { return steps(row, READ_BYTES) * (consistent ? 2 : 1); }

uint64_t units_list(size_t rows, int consistent) {
  uint64_t pages = rows / PAGE_BYTES, rest = rows % PAGE_BYTES;
  uint64_t n = pages * (PAGE_BYTES / READ_BYTES) + (rest || !pages ? steps(rest, READ_BYTES) : 0);
  return n * (consistent ? 2 : 1);
}
