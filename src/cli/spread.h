/* spread.h - a histogram with buckets at most 6 % wide, for percentiles without a list of all values. */
#ifndef SLP_CLI_SPREAD_H
#define SLP_CLI_SPREAD_H

#include "base/base.h"

#define SLP_SPREAD_BUCKETS (61 * 16)

typedef struct slp_spread {
  uint64_t n, max; /* number of values, and the greatest */
  uint64_t bucket[SLP_SPREAD_BUCKETS];
} slp_spread;

void slp_spread_add(slp_spread *s, uint64_t value);
/* Returns the percentile p (0..1): about that share of all values is at most this. Up to 6 % too high; 0 if
 * empty. */
uint64_t slp_spread_at(const slp_spread *s, double p);

#endif
