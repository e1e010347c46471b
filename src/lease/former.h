/* former.h - what is kept of a lease that is nothing to this worker any more: its numbers, in less than a
 * hundred bytes. A stream lists its ended shards for as long as their records would live, leases come and go,
 * and a worker runs for years. */
#ifndef SLP_LEASE_FORMER_H
#define SLP_LEASE_FORMER_H

#include "base/map.h"

typedef struct slp_former_numbers {
  uint64_t epoch;          /* of its row, when that was last read */
  uint64_t released_epoch; /* ownerships of epochs less than this were given up */
  uint64_t ended_epoch;    /* of its row, when it was read to its end */
  uint8_t ended;
} slp_former_numbers;

typedef struct slp_former { /* of one worker */
  slp_map all;
} slp_former;

void slp_former_init(slp_former *all, slp_mem *mem);
void slp_former_free(slp_former *all);
/* A shard that is not there yet. SLP_ENOMEM: it is not kept. */
int slp_former_keep(slp_former *all, slp_str shard, const slp_former_numbers *numbers);
int slp_former_has(const slp_former *all, slp_str shard);
/* 1: it was kept, and is not any more. */
int slp_former_take(slp_former *all, slp_str shard, slp_former_numbers *ret);
/* A minute is over: those that were kept for so many go. */
void slp_former_age(slp_former *all, uint8_t minutes);

#endif
