/* histogram.h - a histogram whose buckets are at most 6 % wide. It gives percentiles without keeping a list
 * of all values. */
#ifndef SLP_CLI_HISTOGRAM_H
#define SLP_CLI_HISTOGRAM_H

#include <stdint.h>

#define SLP_SPREAD_BUCKETS (61 * 16)

typedef struct slp_spread {
  uint64_t n, max; /* n: how many values were added. max: the greatest of them */
  uint64_t bucket[SLP_SPREAD_BUCKETS];
} slp_spread;

void slp_spread_add(slp_spread *s, uint64_t value);
/* Returns a number such that a share p of all values (p from 0 to 1, 0.5 for the median) is at most that
 * number. It may be up to 6 % too high. Returns 0 if there are no values. */
uint64_t slp_spread_at(const slp_spread *s, double p);

#endif
