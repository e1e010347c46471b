/* shard_sync.h - the stream's shards against the table's rows: what is missing is made, what nobody needs
 * any more goes, and a hole is named. */
#ifndef SLP_LEASE_SHARD_SYNC_H
#define SLP_LEASE_SHARD_SYNC_H

#include "lease/processor.h"
#include "lease/snapshot.h"

typedef struct slp_sync_found {
  size_t made;   /* leases that were missing and are created */
  uint8_t doubt; /* there is a gap, unless a lease under a key that was not read covers it */
} slp_sync_found;

/* For the leader: counts the leases that are free. Returns 1 if one of them was free in an earlier count
 * too. */
int slp_shard_sync_count(slp_fleet *f, const slp_snapshot *s);
/* For the leader: adds what must be written to the bulk write. `whole`: the snapshot has every row of the
 * application. Otherwise nothing is done that a row outside the snapshot could contradict. */
slp_sync_found slp_shard_sync_write(slp_fleet *f, const slp_snapshot *s, int whole);
/* Names every row that can't be read. */
void slp_shard_sync_tell_bad(slp_fleet *f, const slp_snapshot *s);
/* Tells the user of the first hash keys that no unfinished lease covers. */
void slp_shard_sync_name_hole(slp_fleet *f, const slp_snapshot *s);

#endif
