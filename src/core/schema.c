/* schema.c - what every schema needs to write a row: a draft that holds the texts of one write; and the order
 * of positions. */
#include "core/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int rank(const slp_spot *s) {
  switch (s->kind) {
    case SLP_SPOT_NONE: return 0;
    case SLP_SPOT_OLDEST:
    case SLP_SPOT_LATEST:
    case SLP_SPOT_TIME: return 1;
    case SLP_SPOT_AT:
    case SLP_SPOT_AFTER: return 2;
    case SLP_SPOT_END: return 3;
  }
  return 0;
}

int slp_spot_cmp(const slp_spot *a, const slp_spot *b) {
  int c = rank(a) - rank(b);
  if (c || rank(a) != 2) return c;
  c = slp_num_cmp(slp_mark_seq(&a->mark), slp_mark_seq(&b->mark));
  if (c) return c;
  /* At sub-record 2 is just behind sub-record 1. */
  uint64_t left = (uint64_t)a->mark.sub + (a->kind == SLP_SPOT_AFTER);
  uint64_t right = (uint64_t)b->mark.sub + (b->kind == SLP_SPOT_AFTER);
  return left < right ? -1 : left > right;
}

/* ---- drafts ---------------------------------------------------------------------------------------- */

void slp_draft_init(slp_draft *d, slp_mem *mem, slp_store_write *write) {
  memset(d, 0, sizeof *d);
  d->write = write;
  slp_buf_init(&d->texts, mem, 1 << 20);
}

void slp_draft_free(slp_draft *d) {
  slp_free(d->texts.mem, d->items);
  d->items = NULL;
  slp_buf_free(&d->texts);
}

int slp_draft_begin(slp_draft *d, slp_write_kind kind, size_t text_bytes, size_t items) {
  slp_free(d->texts.mem, d->items);
  d->items = NULL;
  d->items_n = 0;
  slp_buf_clear(&d->texts);
  /* Reserved once: what was handed out points into it. */
  if (slp_buf_reserve(&d->texts, text_bytes)) return SLP_ENOMEM;
  if (items && !(d->items = slp_zalloc_n(d->texts.mem, items, sizeof *d->items))) return SLP_ENOMEM;
  d->write->kind = kind;
  d->write->when = d->atoms;
  d->write->changes = d->changes;
  d->write->when_n = d->write->changes_n = 0;
  return 0;
}

static slp_str since(const slp_draft *d, size_t at) { return (slp_str){d->texts.p + at, d->texts.n - at}; }

slp_str slp_draft_text(slp_draft *d, const char *fmt, ...) {
  char text[256];
  size_t at = d->texts.n;
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  SLP_CHECK(n >= 0 && (size_t)n < sizeof text && at + (size_t)n <= d->texts.cap);
  slp_buf_add(&d->texts, text, (size_t)n);
  return since(d, at);
}

slp_str slp_draft_copy(slp_draft *d, slp_str s) {
  size_t at = d->texts.n;
  SLP_CHECK(at + s.n <= d->texts.cap);
  slp_buf_add_str(&d->texts, s);
  return since(d, at);
}

slp_val slp_draft_s(slp_draft *d, slp_str s) {
  return (slp_val){.kind = SLP_VAL_S, .s = slp_draft_copy(d, s)};
}

slp_val slp_draft_n(slp_draft *d, uint64_t n) {
  return (slp_val){.kind = SLP_VAL_N, .s = slp_draft_text(d, "%llu", (unsigned long long)n)};
}

static int by_bytes(const void *a, const void *b) {
  const slp_str *x = a, *y = b;
  size_t n = x->n < y->n ? x->n : y->n;
  int c = n ? memcmp(x->p, y->p, n) : 0;
  return c ? c : (x->n > y->n) - (x->n < y->n);
}

slp_val slp_draft_set(slp_draft *d, const slp_str *items, size_t n) {
  slp_str *first = d->items + d->items_n;
  size_t kept = 0;
  SLP_CHECK(n >= 1);
  for (size_t i = 0; i < n; i++) first[i] = slp_draft_copy(d, items[i]);
  qsort(first, n, sizeof *first, by_bytes);
  for (size_t i = 0; i < n; i++) {
    if (kept && by_bytes(&first[kept - 1], &first[i]) == 0) continue;
    first[kept++] = first[i];
  }
  d->items_n += kept;
  return (slp_val){.kind = SLP_VAL_SS, .items = first, .n = kept};
}

void slp_draft_when(slp_draft *d, const char *name, slp_test test, slp_val val, int or_next) {
  SLP_CHECK(d->write->when_n < SLP_DRAFT_ATOMS);
  d->atoms[d->write->when_n++] = (slp_atom){slp_str_of(name), test, val, (uint8_t)or_next};
}

void slp_draft_change(slp_draft *d, const char *name, slp_change_kind kind, slp_val val) {
  SLP_CHECK(d->write->changes_n < SLP_DRAFT_CHANGES);
  d->changes[d->write->changes_n++] = (slp_change){slp_str_of(name), kind, val};
}
