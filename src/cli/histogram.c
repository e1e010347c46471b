/* histogram.c - a histogram. Each value below 16 has its own bucket; above, each power of two has 16 buckets
 * of equal width. */
#include "cli/histogram.h"

#include "base/base.h"

static unsigned bucket_of(uint64_t v) {
  if (v < 16) return (unsigned)v;
  unsigned top = 63u - (unsigned)__builtin_clzll(v); /* number of the highest bit that is set: 4..63 */
  return (top - 3) * 16 + (unsigned)(v >> (top - 4) & 15);
}

/* Returns the greatest value that falls into a bucket. */
static uint64_t bucket_last(unsigned i) {
  if (i < 16) return i;
  unsigned shift = i / 16 - 1;
  return ((uint64_t)(16 + i % 16) << shift) + (((uint64_t)1 << shift) - 1);
}

void slp_spread_add(slp_spread *s, uint64_t value) {
  _Static_assert((63 - 3) * 16 + 15 < SLP_SPREAD_BUCKETS, "the largest value has a bucket");
  s->n++;
  if (value > s->max) s->max = value;
  s->bucket[bucket_of(value)]++;
}

uint64_t slp_spread_at(const slp_spread *s, double p) {
  if (s->n == 0) return 0;
  uint64_t want = (uint64_t)(p * (double)s->n), seen = 0;
  if (want >= s->n) want = s->n - 1;
  for (unsigned i = 0; i < SLP_SPREAD_BUCKETS; i++) {
    seen += s->bucket[i];
    if (seen > want) return slp_min_u64(bucket_last(i), s->max);
  }
  return s->max;
}
