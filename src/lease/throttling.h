/* throttling.h - decides when the user is told that the lease table throttles this worker: first when
 * throttling has lasted some seconds, then at growing intervals. slp_throttling_saw is called for every
 * request that the table refuses for lack of capacity. Pure: times come from the caller. (throttling.c) */
#ifndef SLP_LEASE_THROTTLING_H
#define SLP_LEASE_THROTTLING_H

#include <stdint.h>

typedef struct slp_throttling {
  /* when throttling began: the first refusal after a time without any; 0: there was none */
  uint64_t since_us;
  /* when any request was last refused; when a write was last refused */
  uint64_t last_us, last_write_us;
  uint64_t tell_us;       /* the user is not told before this time */
  uint64_t rest_us;       /* least time between the next report and the report after it */
  uint32_t reads, writes; /* how many requests were refused since since_us */
} slp_throttling;

/* To be called for each request that the table refused for lack of capacity. of_write, 1: it was a write.
 * Returns 1 if the user should be told now. */
int slp_throttling_saw(slp_throttling *t, uint64_t now_us, int of_write);
/* returns 1 if a write was refused within the last minute */
int slp_throttling_of_writes(const slp_throttling *t, uint64_t now_us);
/* returns what the table has too few of: "read units", "write units" or both */
const char *slp_throttling_lacks(const slp_throttling *t);

#endif
