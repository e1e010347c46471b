/* former.h - the few numbers that are kept of a lease when it no longer concerns this worker: less than a
 * hundred bytes. A stream lists its ended shards for days, and a worker runs for years, so keeping whole
 * leases would take too much memory. */
#ifndef SLP_LEASE_FORMER_H
#define SLP_LEASE_FORMER_H

#include "base/map.h"
#include "base/mem.h"

typedef struct slp_former_numbers {
  uint64_t epoch;          /* the epoch in the lease's row when the row was last read */
  uint64_t released_epoch; /* this worker never again reads the shard with an epoch below this number */
  uint64_t ended_epoch;    /* the epoch in the row when the shard was read to its end */
  /* 1: the shard was read to its end */
  uint8_t ended;
} slp_former_numbers;

typedef struct slp_former { /* the numbers of one worker's former leases, by shard id */
  slp_map all;
} slp_former;

void slp_former_init(slp_former *all, slp_mem *mem);
void slp_former_free(slp_former *all);
/* Keeps the numbers of a shard that has none here yet. Returns 0, or SLP_ENOMEM and keeps nothing. */
int slp_former_keep(slp_former *all, slp_str shard, const slp_former_numbers *numbers);
int slp_former_has(const slp_former *all, slp_str shard);
/* Removes the numbers of the shard. Returns 1 and the numbers, or 0 if none are kept. */
int slp_former_take(slp_former *all, slp_str shard, slp_former_numbers *ret);
/* To be called once a minute. Forgets numbers that were kept for `minutes` minutes. */
void slp_former_age(slp_former *all, uint8_t minutes);

#endif
