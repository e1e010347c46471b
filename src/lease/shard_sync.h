/* shard_sync.h - compares the stream's shards with the leases in the table. Creates leases for new shards,
 * removes leases that are no longer needed, and reports hash keys that no lease covers. */
#ifndef SLP_LEASE_SHARD_SYNC_H
#define SLP_LEASE_SHARD_SYNC_H

#include "lease/lease_types.h"
#include "lease/snapshot.h"

typedef struct slp_sync_found {
  size_t made; /* number of leases that were missing and are being created */
  /* 1: some hash keys seem to have no lease, but a lease for them may be under a partition key that was not
   * read */
  uint8_t doubt;
} slp_sync_found;

/* For the leader: counts for each lease how many consecutive runs of this function have found it without an
 * owner that takes leases (slp_worker_takes). Leases that have ended, or that wait for a parent, are skipped.
 * Returns 1 if some lease has no such owner now, and had none in the run before. */
int slp_shard_sync_count(slp_fleet *f, const slp_snapshot *s);
/* For the leader: adds the writes that are needed to the bulk write (bulk_write.h). whole, 1: the snapshot
 * has every row of the application. 0: rows are missing in the snapshot, so only those writes are added that
 * are right whatever the missing rows are. */
slp_sync_found slp_shard_sync_write(slp_fleet *f, const slp_snapshot *s, int whole);
/* Reports to the user every row that can't be read. */
void slp_shard_sync_tell_bad(slp_fleet *f, const slp_snapshot *s);
/* Reports to the user the first hash keys that no lease covers, unless they were reported lately. */
void slp_shard_sync_name_hole(slp_fleet *f, const slp_snapshot *s);

#endif
