/* assign.h - the leader decides which worker should read which lease, and writes the decision to the
 * assignment rows, one row for each worker. */
#ifndef SLP_LEASE_ASSIGN_H
#define SLP_LEASE_ASSIGN_H

#include "lease/lease_types.h"
#include "lease/snapshot.h"

/* To be called when this worker begins to lead: resets the version numbers that it writes to assignment
 * rows. */
void slp_assign_begin(slp_fleet *f);
/* Adds to the bulk write one write for each assignment row that must change. Returns 1 if there are any, 0
 * otherwise. counts, 1: this is a counting round (fleet_inside.h). So the function also counts, for each
 * lease, in how many such rounds in a row its owner has not handed it over. starts, 1: the application is
 * new, and its first leader has taken leases that are for others; so more leases may move. *ret_again_us: the
 * time until leases should be assigned again; SLP_NEVER: not needed. */
int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, int starts, uint64_t *ret_again_us);

#endif
