/* shut.h - leases whose shards no worker reads: they are parked until an operator releases them, or the
 * service refuses their position and the back-off is not over (refused.h). The leader reports such leases
 * from the rows that its rounds read. In a fleet without a leader, the worker that does the shard syncs
 * reports them. Each worker also reports the leases that it keeps parked itself (SLP_LEASE_PARKED). */
#ifndef SLP_LEASE_SHUT_H
#define SLP_LEASE_SHUT_H

#include "lease/snapshot.h"

typedef struct slp_fleet slp_fleet;
typedef struct slp_shut_row slp_shut_row;

typedef struct slp_shut { /* these leases, as the last round over all rows found them */
  /* Owned: the leases that are reported one by one, up to a limit; those of the first shards. */
  slp_shut_row *named;
  size_t named_n;
  /* how many leases are parked, how many are refused, including those beyond the limit */
  uint64_t parked_n, refused_n;
  /* when the rows that these numbers are from were read; 0: this worker does not read all rows */
  uint64_t seen_us;
} slp_shut;

/* to be called with all rows of a round */
void slp_shut_saw(slp_fleet *f, const slp_snapshot *s);
/* To be called when this worker no longer reads all rows, because another worker reports these leases
 * then. */
void slp_shut_forget(slp_fleet *f);

#endif
