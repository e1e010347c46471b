/* share.h - where every seed takes many times as long, under sanitizers, only a share of them is played. */
#ifndef SLP_TEST_SIM_SHARE_H
#define SLP_TEST_SIM_SHARE_H

#include <stdint.h>
#include <stdlib.h>

/* Runs one of SLOOP_TEST_SHARE seeds; all when it is not set. */
static inline uint64_t sim_share(uint64_t seeds) {
  const char *share = getenv("SLOOP_TEST_SHARE");
  uint64_t of = share ? strtoull(share, NULL, 10) : 1;
  return of > 1 ? (seeds + of - 1) / of : seeds;
}

#endif
