/* shut.h - leases that no worker reads: parked until an operator says otherwise, or refused by the service
 * until their back-off is over. The leader tells of them by the rows of its rounds. Where nobody leads, the
 * worker that compares stream and table does. A worker also tells of what it keeps shut by itself
 * (SLP_LEASE_PARKED). */
#ifndef SLP_LEASE_SHUT_H
#define SLP_LEASE_SHUT_H

#include "lease/snapshot.h"

typedef struct slp_fleet slp_fleet;
typedef struct slp_shut_row slp_shut_row;

typedef struct slp_shut { /* as the last round that read all rows found them */
  slp_shut_row *named;    /* owned; those of the first shards, up to a limit */
  size_t named_n;
  uint64_t parked_n, refused_n;
  uint64_t seen_us; /* when that round was answered; 0: this worker reads none */
} slp_shut;

void slp_shut_saw(slp_fleet *f, const slp_snapshot *s);
/* This worker reads all rows no more: others tell of them. */
void slp_shut_forget(slp_fleet *f);

#endif
