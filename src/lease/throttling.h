/* throttling.h - decides when the user hears that the lease table throttles this worker: once it has lasted
 * some seconds, then ever more rarely. Every request that is refused for lack of capacity is noted here.
 * Pure: times come from the caller. (throttling.c) */
#ifndef SLP_LEASE_THROTTLING_H
#define SLP_LEASE_THROTTLING_H

#include "base/base.h"

typedef struct slp_throttling {
  uint64_t since_us; /* the first refusal after a quiet time; 0: none */
  uint64_t last_us, last_write_us;
  uint64_t tell_us;       /* the user is not told again before */
  uint64_t rest_us;       /* the time from one message to the next */
  uint32_t reads, writes; /* refusals since since_us */
} slp_throttling;

/* Notes a refused request. Returns 1 if the user should be told now. */
int slp_throttling_saw(slp_throttling *t, uint64_t now_us, int of_write);
/* returns 1 if a write was refused within the last minute */
int slp_throttling_of_writes(const slp_throttling *t, uint64_t now_us);
/* returns which units should be raised: of reads, of writes, or both */
const char *slp_throttling_lacks(const slp_throttling *t);

#endif
