/* kpl_page.h - pages of records with given data, as the page reader leaves them, for tests of codec/kpl.c. */
#ifndef SLP_TEST_KPL_PAGE_H
#define SLP_TEST_KPL_PAGE_H

#include "base/num.h"
#include "codec/kpl.h"

#include <stdio.h>
#include <stdlib.h>

#define KPL_PAGE_MS 1700000000000

static inline void kpl_page_must(int ok) {
  if (!ok) abort();
}

static inline slp_page *kpl_page_new(slp_mem *mem) {
  slp_page *page = slp_page_new(mem);
  kpl_page_must(page != NULL);
  page->records_given = 1;
  return page;
}

/* When the record of that number arrived. */
static inline int64_t kpl_page_ms(slp_str seq) {
  uint64_t n = 0;
  kpl_page_must(slp_parse_u64(seq, &n) == 0);
  return KPL_PAGE_MS + (int64_t)(n % 1000);
}

/* Sequence numbers are 1000, 1001, ...; the key is "outer"; arrival times rise by 1 ms. */
static inline void kpl_page_add(slp_page *page, slp_str data) {
  char seq[24];
  size_t i = page->recs_n, seq_n = (size_t)snprintf(seq, sizeof seq, "%zu", 1000 + i);
  if (i == page->recs_cap) {
    page->recs_cap = page->recs_cap ? page->recs_cap * 2 : 4;
    page->recs = slp_realloc(page->mem, page->recs, page->recs_cap * sizeof *page->recs);
    kpl_page_must(page->recs != NULL);
  }
  size_t at = page->body.n;
  kpl_page_must(slp_buf_add(&page->body, seq, seq_n) == 0 && slp_buf_add_z(&page->body, "outer") == 0 &&
                slp_buf_add(&page->body, data.p, data.n) == 0);
  int64_t ms = KPL_PAGE_MS + (int64_t)i;
  page->recs[page->recs_n++] = (slp_rec){.arrived_ms = ms,
                                         .seq_at = (uint32_t)at,
                                         .seq_n = (uint8_t)seq_n,
                                         .word = 1000 + i, /* as by a focus on all digits */
                                         .key_at = (uint32_t)(at + seq_n),
                                         .key_n = 5,
                                         .data_at = (uint32_t)(at + seq_n + 5),
                                         .data_n = (uint32_t)data.n};
  page->magic_n += (uint32_t)slp_kpl_begins_like(data);
  page->latest_ms = slp_max_i64(page->latest_ms, ms);
  page->earliest_ms = slp_min_i64(page->earliest_ms, ms);
  if (data.n > page->largest_bytes) page->largest_bytes = (uint32_t)data.n;
}

/* Returns the verdict; *ret_steps (may be NULL) says how many slices it took. */
static inline int kpl_page_expand(slp_kpl *k, slp_page *page, const slp_hash_range *range, size_t bytes_max,
                                  size_t records_max, size_t *ret_steps) {
  size_t steps = 1;
  int r;
  slp_kpl_begin(k, page, range);
  while ((r = slp_kpl_step(k, bytes_max, records_max)) == SLP_MORE) steps++;
  if (ret_steps) *ret_steps = steps;
  return r;
}

#endif
