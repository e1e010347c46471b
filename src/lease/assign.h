/* assign.h - the leader decides which worker should read which lease, and writes the decision to the
 * assignment rows, one row for each worker. */
#ifndef SLP_LEASE_ASSIGN_H
#define SLP_LEASE_ASSIGN_H

#include "lease/lease_types.h"
#include "lease/snapshot.h"

/* to be called when this worker begins to lead: resets the version numbers */
void slp_assign_begin(slp_fleet *f);
/* Adds the assignment rows that change to the bulk write. Returns 1 if there are any, 0 otherwise. counts: 1
 * in a counting round, which also counts for each lease how many counting rounds in a row it was stuck.
 * *ret_again_us: the time until leases should be assigned again; SLP_NEVER: not needed. */
int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, uint64_t *ret_again_us);

#endif
