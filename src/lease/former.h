/* former.h - what is kept of a lease that no longer concerns this worker: its numbers, in less than a hundred
 * bytes. A stream lists its ended shards for days and a worker runs for years, so whole leases would take too
 * much memory. */
#ifndef SLP_LEASE_FORMER_H
#define SLP_LEASE_FORMER_H

#include "base/map.h"

typedef struct slp_former_numbers {
  uint64_t epoch;          /* of the row, when it was last read */
  uint64_t released_epoch; /* ownerships with a lower epoch were given up */
  uint64_t ended_epoch;    /* the row's epoch when the shard was read to its end */
  uint8_t ended;
} slp_former_numbers;

typedef struct slp_former { /* of one worker */
  slp_map all;
} slp_former;

void slp_former_init(slp_former *all, slp_mem *mem);
void slp_former_free(slp_former *all);
/* Keeps the numbers of a shard that is not in the map yet. SLP_ENOMEM: they are not kept. */
int slp_former_keep(slp_former *all, slp_str shard, const slp_former_numbers *numbers);
int slp_former_has(const slp_former *all, slp_str shard);
/* Returns 1 and takes the shard's numbers out, or 0 if there are none. */
int slp_former_take(slp_former *all, slp_str shard, slp_former_numbers *ret);
/* Called once a minute; forgets what has been kept for that many minutes. */
void slp_former_age(slp_former *all, uint8_t minutes);

#endif
