/* shut.h - leases whose shards no worker reads: they are parked until an operator releases them, or the
 * service refuses their position and the back-off is not over (refused.h). The leader reports such leases
 * from the rows that its rounds read. In a fleet without a leader, the worker that does the shard syncs
 * reports them. Each worker also reports the leases that it keeps parked itself (SLP_LEASE_PARKED). */
#ifndef SLP_LEASE_SHUT_H
#define SLP_LEASE_SHUT_H

#include "core/leases.h"
#include "lease/lease_types.h"
#include "lease/snapshot.h"

/* to be called with all rows of a round */
void slp_shut_saw(slp_fleet *f, const slp_snapshot *s);
/* To be called when this worker no longer reads all rows. From then on another worker reports these
 * leases. */
void slp_shut_forget(slp_fleet *f);

/* Sets *ret to the sums over the leases whose shards no worker reads (shut.h). Calls tell() for each of them;
 * tell may be NULL. */
void slp_fleet_shut(slp_fleet *f, slp_shut_sum *ret, slp_shut_tell tell, void *arg);

#endif
