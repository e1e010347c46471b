/* shut.h - leases that no worker reads: they are parked until an operator says otherwise, or the service
 * refuses them until their back-off is over. The leader reports them from the rows of its rounds; where
 * nobody leads, the worker that compares stream and table does. A worker also reports the leases that it
 * keeps parked itself (SLP_LEASE_PARKED). */
#ifndef SLP_LEASE_SHUT_H
#define SLP_LEASE_SHUT_H

#include "lease/snapshot.h"

typedef struct slp_fleet slp_fleet;
typedef struct slp_shut_row slp_shut_row;

typedef struct slp_shut { /* as the last round over all rows found them */
  slp_shut_row *named;    /* owned; the leases of the first shards, up to a limit */
  size_t named_n;
  uint64_t parked_n, refused_n;
  uint64_t seen_us; /* when that round was answered; 0: this worker does not read all rows */
} slp_shut;

void slp_shut_saw(slp_fleet *f, const slp_snapshot *s);
/* This worker no longer reads all rows; others report them. */
void slp_shut_forget(slp_fleet *f);

#endif
