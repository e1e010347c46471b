/* fuzz_page.h - what all page targets check of any input: slices of any size give the same verdict and the
 * same page, as do pieces in which it comes, and every slice of it lies inside the body. */
#ifndef SLP_TEST_FUZZ_PAGE_H
#define SLP_TEST_FUZZ_PAGE_H

#include "base/num.h"
#include "codec/page.h"
#include "fuzz.h"

static inline void fuzz_only(slp_str s, const char *alphabet) {
  REQUIRE(s.n <= 128);
  for (size_t i = 0; i < s.n; i++) REQUIRE(s.p[i] && strchr(alphabet, s.p[i]));
}

/* What an answer calls its children may be shown to anybody. */
static inline void fuzz_child(const slp_shard_desc *d) {
  static const char id[] = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
  fuzz_only(d->id, id);
  fuzz_only(d->parent, id);
  fuzz_only(d->adjacent_parent, id);
  fuzz_only(d->hash_start, "0123456789");
  fuzz_only(d->hash_end, "0123456789");
}

static inline slp_page *fuzz_page_read(slp_mem *mem, const uint8_t *data, size_t size, slp_form form,
                                       size_t bytes_max, size_t records_max, int *ret_verdict) {
  slp_page *page = slp_page_new(mem);
  slp_page_reader *reader = slp_page_reader_new(mem);
  REQUIRE(page && reader);
  int r = slp_buf_add(&page->body, data, size);
  REQUIRE(r == 0);
  slp_page_reader_begin(reader, page, form);
  size_t calls = 0;
  do {
    r = slp_page_read(reader, bytes_max, records_max);
    REQUIRE(slp_page_reader_where(reader) <= size);
    REQUIRE(++calls < 4 * size + 100);
  } while (r == SLP_MORE);
  REQUIRE(r == 0 || r == SLP_EBADDATA || r == SLP_ELIMIT);
  if (r) REQUIRE(slp_page_reader_why(reader)[0]);
  slp_page_reader_free(reader);
  *ret_verdict = r;
  return page;
}

/* The same while it comes, in pieces. */
static inline slp_page *fuzz_page_arrives(slp_mem *mem, const uint8_t *data, size_t size, slp_form form,
                                          size_t piece, int *ret_verdict) {
  slp_page *page = slp_page_new(mem);
  slp_page_reader *reader = slp_page_reader_new(mem);
  REQUIRE(page && reader && slp_buf_reserve(&page->body, size) == 0);
  if (size) memset(page->body.p, '"', size);
  slp_page_reader_begin_early(reader, page, form, size);
  for (size_t at = 0, n; at < size; at += n) {
    n = size - at < piece ? size - at : piece;
    REQUIRE(slp_buf_add(&page->body, data + at, n) == 0);
    (void)slp_page_read(reader, 65536, 256);
  }
  int r;
  do r = slp_page_read(reader, 65536, 256);
  while (r == SLP_MORE);
  slp_page_reader_free(reader);
  *ret_verdict = r;
  return page;
}

static inline void fuzz_inside(const slp_page *page, slp_str s) {
  REQUIRE(s.n == 0 || (s.p >= page->body.p && s.p + s.n <= page->body.p + page->body.n));
}

/* Same bytes at the same place of two bodies. */
static inline void fuzz_same(const slp_page *a, slp_str s, const slp_page *b, slp_str t) {
  fuzz_inside(a, s);
  REQUIRE(slp_str_eq(s, t) && !s.p == !t.p);
  if (s.n) REQUIRE(s.p - a->body.p == t.p - b->body.p);
}

static inline void fuzz_same_span(const slp_page *a, uint32_t at, uint32_t at_b, size_t n, size_t n_b) {
  REQUIRE(at == at_b && n == n_b && (size_t)at + n <= a->body.n);
}

static inline void fuzz_same_change(const slp_page *a, const slp_page *b, size_t i) {
  REQUIRE(b->changes != NULL);
  const slp_rec_change *c = &a->changes[i], *d = &b->changes[i];
  fuzz_same_span(a, c->whole_at, d->whole_at, c->whole_n, d->whole_n);
  fuzz_same_span(a, c->user_at, d->user_at, c->user_n, d->user_n);
  fuzz_same_span(a, c->id_at, d->id_at, c->id_n, d->id_n);
  fuzz_same_span(a, c->event_at, d->event_at, c->event_n, d->event_n);
}

static inline void fuzz_same_page(const slp_page *a, const slp_page *b) {
  REQUIRE(a->recs_n == b->recs_n && a->raw_n == b->raw_n && a->behind_ms == b->behind_ms &&
          a->behind_ms >= -1);
  REQUIRE(a->children_n == b->children_n && a->children_given == b->children_given &&
          a->children_bad == b->children_bad);
  fuzz_same(a, a->next, b, b->next);
  size_t raw = 0;
  for (size_t i = 0; i < a->recs_n; i++) {
    const slp_rec *r = &a->recs[i], *s = &b->recs[i];
    REQUIRE(memcmp(r, s, sizeof *r) == 0);
    fuzz_same(a, slp_rec_seq(a, r), b, slp_rec_seq(b, s));
    fuzz_same(a, slp_rec_key(a, r), b, slp_rec_key(b, s));
    fuzz_same(a, slp_rec_data(a, r), b, slp_rec_data(b, s));
    if (a->changes) fuzz_same_change(a, b, i);
    REQUIRE(slp_num_valid(slp_rec_seq(a, r)));
    REQUIRE(r->seq_n >= 1 && r->seq_n <= 129 && r->arrived_ms >= -1 && r->sub == 0);
    raw += r->flags & SLP_REC_RAW;
  }
  REQUIRE(raw == a->raw_n);
  for (size_t i = 0; i < a->children_n; i++) {
    const slp_shard_desc *c = &a->children[i], *d = &b->children[i];
    fuzz_same(a, c->id, b, d->id);
    fuzz_same(a, c->parent, b, d->parent);
    fuzz_same(a, c->adjacent_parent, b, d->adjacent_parent);
    fuzz_same(a, c->hash_start, b, d->hash_start);
    fuzz_same(a, c->hash_end, b, d->hash_end);
    REQUIRE(c->parent.p || !c->adjacent_parent.p);
  }
}

/* Reads whole and in slices; hands the page to `judge` (may be NULL) with the verdict. */
static inline void fuzz_page(const uint8_t *data, size_t size, slp_form form,
                             void (*judge)(const slp_page *, int verdict, const uint8_t *, size_t)) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  int verdict, again;
  slp_page *page = fuzz_page_read(mem, data, size, form, 1 << 20, 1000000, &verdict);
  for (size_t slice = 1; slice < 200; slice = slice * 3 + 1) {
    slp_page *other = fuzz_page_read(mem, data, size, form, slice, 1 + slice % 3, &again);
    REQUIRE(again == verdict);
    if (verdict == 0) fuzz_same_page(page, other);
    slp_page_free(other);
  }
  for (size_t piece = 16; piece < 3000 && form != SLP_FORM_CHANGES; piece *= 9) {
    slp_page *other = fuzz_page_arrives(mem, data, size, form, piece, &again);
    REQUIRE(again == verdict);
    if (verdict == 0) fuzz_same_page(page, other);
    slp_page_free(other);
  }
  if (judge) judge(page, verdict, data, size);
  slp_page_free(page);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
}

#endif
