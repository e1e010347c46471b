/* throttling.h - decides when the user hears that the lease table throttles a worker: when that has lasted
 * some seconds, then ever more seldom. Every request of a worker that is refused for lack of capacity is
 * noted here, so whoever is throttled says so, the leader too. Pure: times come from the caller.
 * (throttling.c) */
#ifndef SLP_LEASE_THROTTLING_H
#define SLP_LEASE_THROTTLING_H

#include "base/base.h"

typedef struct slp_throttling {
  uint64_t since_us; /* of the first refusal behind a quiet time; 0: there was none */
  uint64_t last_us, last_write_us;
  uint64_t tell_us;       /* not told again before */
  uint64_t rest_us;       /* from one time to the next */
  uint32_t reads, writes; /* refused since since_us */
} slp_throttling;

/* A request was refused. Returns 1 if the user is to be told now. */
int slp_throttling_saw(slp_throttling *t, uint64_t now_us, int of_write);
int slp_throttling_of_writes(const slp_throttling *t, uint64_t now_us); /* 1: one within the last minute */
const char *slp_throttling_lacks(
    const slp_throttling *t); /* the units to be raised: of reads, writes, or both */

#endif
