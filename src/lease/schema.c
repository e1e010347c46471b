/* schema.c - what every schema needs to write a row: a request that holds the texts of one write, and the
 * attributes of refused.h and clear.h. */
#include "lease/schema.h"

#include "base/buf.h"
#include "base/mem.h"
#include "core/mark.h"
#include "lease/clear.h"
#include "lease/refused.h"
#include "lease/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- instances ------------------------------------------------------------------------------------- */

int slp_instance_split(slp_str instance, slp_str *ret_id, slp_str *ret_incarnation) {
  if (instance.n < 1 + 1 + SLP_INCARNATION_N || instance.p[instance.n - SLP_INCARNATION_N - 1] != '.')
    return 0;
  *ret_id = (slp_str){instance.p, instance.n - SLP_INCARNATION_N - 1};
  *ret_incarnation = (slp_str){instance.p + instance.n - SLP_INCARNATION_N, SLP_INCARNATION_N};
  return ret_id->n <= SLP_WORKER_ID_MAX;
}

void slp_schema_read_row(slp_schema *s, const slp_row *row, slp_parsed_row *ret) {
  s->read(s, row, ret);
  if (ret->kind != SLP_ROW_LEASE && ret->kind != SLP_ROW_ELSEWHERE) return;
  slp_mark_read_canonical(&ret->u.lease.position.mark, s->number_digits_min);
  if (s->refused) slp_refused_read(slp_row_text(row, slp_str_of(s->refused)), &ret->u.lease);
  if (s->clear) slp_clear_read(slp_row_text(row, slp_str_of(s->clear)), &ret->u.lease.position);
}

static void write_clear(const slp_schema *s, slp_row_request *d, const slp_operation *i) {
  int moves = i->kind == SLP_OPERATION_CHECKPOINT || i->kind == SLP_OPERATION_TRANSFER ||
              i->kind == SLP_OPERATION_RELEASE || i->kind == SLP_OPERATION_CREATE;
  if (!s->clear || !moves) return;
  slp_str note = {d->clear, slp_clear_write(&i->position, d->clear)};
  if (note.n) slp_row_request_change(d, s->clear, SLP_SET, (slp_val){.kind = SLP_VAL_S, .s = note});
}

int slp_schema_write_row(slp_schema *s, slp_row_request *d, const slp_operation *i) {
  static const slp_val none = {SLP_VAL_NONE, {NULL, 0}, NULL, 0};
  int r = s->write(s, d, i);
  if (!r) write_clear(s, d, i);
  if (r || !s->refused) return r;
  if (i->kind == SLP_OPERATION_RELEASE && i->refused_n) {
    slp_str note = {d->note, slp_refused_write(i, d->note)};
    slp_row_request_change(d, s->refused, SLP_SET, (slp_val){.kind = SLP_VAL_S, .s = note});
  } else if (i->kind == SLP_OPERATION_RESET) {
    slp_row_request_change(d, s->refused, SLP_REMOVE, none);
  }
  return 0;
}

/* ---- requests ---------------------------------------------------------------------------------------- */

void slp_row_request_init(slp_row_request *d, slp_mem *mem, slp_store_write *write) {
  memset(d, 0, sizeof *d);
  d->write = write;
  slp_buf_init(&d->texts, mem, 1 << 20);
}

void slp_row_request_free(slp_row_request *d) {
  slp_free(d->texts.mem, d->items);
  d->items = NULL;
  slp_buf_free(&d->texts);
}

int slp_row_request_begin(slp_row_request *d, slp_write_kind kind, size_t text_bytes, size_t items) {
  slp_free(d->texts.mem, d->items);
  d->items = NULL;
  d->items_n = 0;
  slp_buf_clear(&d->texts);
  /* The room is reserved at once, because texts in it are pointed to, so it must not move. */
  if (slp_buf_reserve(&d->texts, text_bytes)) return SLP_ENOMEM;
  if (items && !(d->items = slp_zalloc_n(d->texts.mem, items, sizeof *d->items))) return SLP_ENOMEM;
  d->write->kind = kind;
  d->write->when = d->atoms;
  d->write->changes = d->changes;
  d->write->when_n = d->write->changes_n = 0;
  d->write->rq.table = 0;
  return 0;
}

static slp_str text_written_since(const slp_row_request *d, size_t at) {
  return (slp_str){d->texts.p + at, d->texts.n - at};
}

slp_str slp_row_request_text(slp_row_request *d, const char *fmt, ...) {
  char text[256];
  size_t at = d->texts.n;
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  SLP_CHECK(n >= 0 && (size_t)n < sizeof text && at + (size_t)n <= d->texts.cap);
  slp_buf_add(&d->texts, text, (size_t)n);
  return text_written_since(d, at);
}

slp_str slp_row_request_copy(slp_row_request *d, slp_str s) {
  size_t at = d->texts.n;
  SLP_CHECK(at + s.n <= d->texts.cap);
  slp_buf_add_str(&d->texts, s);
  return text_written_since(d, at);
}

slp_val slp_row_request_s(slp_row_request *d, slp_str s) {
  return (slp_val){.kind = SLP_VAL_S, .s = slp_row_request_copy(d, s)};
}

slp_val slp_row_request_n(slp_row_request *d, uint64_t n) {
  return (slp_val){.kind = SLP_VAL_N, .s = slp_row_request_text(d, "%llu", (unsigned long long)n)};
}

static int by_bytes(const void *a, const void *b) {
  const slp_str *x = a, *y = b;
  size_t n = x->n < y->n ? x->n : y->n;
  int c = n ? memcmp(x->p, y->p, n) : 0;
  return c ? c : (x->n > y->n) - (x->n < y->n);
}

slp_val slp_row_request_set(slp_row_request *d, const slp_str *items, size_t n) {
  slp_str *first = d->items + d->items_n;
  size_t kept = 0;
  SLP_CHECK(n >= 1);
  for (size_t i = 0; i < n; i++) first[i] = slp_row_request_copy(d, items[i]);
  qsort(first, n, sizeof *first, by_bytes);
  for (size_t i = 0; i < n; i++) {
    if (kept && by_bytes(&first[kept - 1], &first[i]) == 0) continue;
    first[kept++] = first[i];
  }
  d->items_n += kept;
  return (slp_val){.kind = SLP_VAL_SS, .items = first, .n = kept};
}

void slp_row_request_when(slp_row_request *d, const char *name, slp_test test, slp_val val, int or_next) {
  SLP_CHECK(d->write->when_n < SLP_ROW_REQUEST_ATOMS);
  d->atoms[d->write->when_n++] = (slp_atom){slp_str_of(name), test, val, (uint8_t)or_next};
}

void slp_row_request_change(slp_row_request *d, const char *name, slp_change_kind kind, slp_val val) {
  SLP_CHECK(d->write->changes_n < SLP_ROW_REQUEST_CHANGES);
  d->changes[d->write->changes_n++] = (slp_change){slp_str_of(name), kind, val};
}
