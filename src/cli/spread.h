/* spread.h - how values are spread: counts in buckets 6 % wide, so percentiles need no list. */
#ifndef SLP_CLI_SPREAD_H
#define SLP_CLI_SPREAD_H

#include "base/base.h"

#define SLP_SPREAD_BUCKETS (61 * 16)

typedef struct slp_spread {
  uint64_t n, max;
  uint64_t bucket[SLP_SPREAD_BUCKETS];
} slp_spread;

void slp_spread_add(slp_spread *s, uint64_t value);
/* A value that a share p (0..1) of all is at most, up to 6 % too high; 0 when empty. */
uint64_t slp_spread_at(const slp_spread *s, double p);

#endif
