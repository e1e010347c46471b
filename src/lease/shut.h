/* shut.h - leases whose shards no worker reads. Such a lease is parked until an operator releases it, or
 * the service refuses its position and the back-off is not over. The leader reports these leases from the
 * rows of its rounds. In a fleet without a leader, the worker that does the shard syncs reports them. Each
 * worker also reports the leases that it keeps parked itself (SLP_LEASE_PARKED). */
#ifndef SLP_LEASE_SHUT_H
#define SLP_LEASE_SHUT_H

#include "lease/snapshot.h"

typedef struct slp_fleet slp_fleet;
typedef struct slp_shut_row slp_shut_row;

typedef struct slp_shut { /* as the last round over all rows found them */
  /* up to a limit, leases that are reported one by one, those of the first shards; owned */
  slp_shut_row *named;
  size_t named_n;
  /* parked_n, refused_n: number of such leases, with those beyond the limit */
  uint64_t parked_n, refused_n;
  uint64_t seen_us; /* when the rows of that round came; 0: this worker does not read all rows */
} slp_shut;

/* takes the rows of a round */
void slp_shut_saw(slp_fleet *f, const slp_snapshot *s);
/* forgets them, because this worker no longer reads all rows and another worker reports them */
void slp_shut_forget(slp_fleet *f);

#endif
