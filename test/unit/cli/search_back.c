/* search_back.c - windows of time over made-up streams: what is found in how many windows, and that it ends. */
#include "cli/search_back.h"

#include "check.h"

#define NOW INT64_C(1770000000000)
#define LIMIT 10000u

/* A stream: from `from_ms` ago until `to_ms` ago it has `a_second` records in each second; all of them come in
 * one moment if both are the same. */
typedef struct stream {
  int64_t from_ms, to_ms;
  uint64_t a_second;
} stream;

static uint64_t records_of(const stream *s, int64_t window_ms) {
  int64_t from = s->from_ms < window_ms ? s->from_ms : window_ms;
  if (window_ms < s->to_ms) return 0;
  return s->from_ms == s->to_ms ? s->a_second : (uint64_t)(from - s->to_ms) * s->a_second / 1000;
}

/* Searches the last `wanted` records. Returns how many windows were read, and how many records in all. */
static int search(const stream *all, size_t n, uint64_t wanted, uint64_t *ret_read, uint64_t *ret_found) {
  slp_search_back s;
  slp_search_back_begin(&s, NOW);
  *ret_read = 0;
  for (int windows = 1;; windows++) {
    uint64_t found = 0;
    CHECK(windows < 200);
    CHECK(s.at_ms < s.sparse_ms && s.at_ms >= s.dense_ms);
    for (size_t i = 0; i < n; i++) found += records_of(&all[i], s.at_ms ? NOW - s.at_ms : INT64_MAX / 2000);
    if (found > LIMIT && !s.whole) {
      *ret_read += LIMIT;
      slp_search_back_nearer(&s);
      continue;
    }
    *ret_read += found;
    *ret_found = found;
    if (found >= wanted || !slp_search_back_further(&s)) return windows;
  }
}

TEST(a_search_reads_little_and_ends) {
  static const struct {
    stream all[2];
    uint64_t wanted, found_least, read_most;
    int windows_most;
  } cases[] = {
      {{{86400000, 0, 64}}, 50, 50, 64, 1}, /* steady */
      {{{86400000, 0, 1}}, 50, 50, 100, 4},
      {{{86400000, 0, 1000000}}, 50, 50, 80000, 12},      /* more in a second than a search reads */
      {{{7200000, 3600000, 100000}}, 50, 50, 250000, 30}, /* nothing for an hour, much before */
      {{{INT64_C(5184000000), INT64_C(5183000000), 100000}}, 50, 50, 500000, 70}, /* for two months */
      {{{60000, 60000, 49}, {3600000, 3600000, 1}}, 50, 50, 500, 10},
      {{{60000, 60000, 49}}, 50, 49, 500, 8},                  /* fewer than wanted */
      {{{0, 0, 0}}, 50, 0, 0, 8},                              /* an empty stream */
      {{{500000, 500000, 1000000}}, 50, 1000000, 1400000, 40}, /* all in one moment: read whole */
  };
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    uint64_t read, found;
    int windows = search(cases[i].all, 2, cases[i].wanted, &read, &found);
    if (found < cases[i].found_least || read > cases[i].read_most || windows > cases[i].windows_most)
      CHECK_FAIL("case %zu: %d windows, %llu found, %llu read", i, windows, (unsigned long long)found,
                 (unsigned long long)read);
  }
}
