/* assign.h - the leader decides which worker should read which lease, and writes that to the workers' rows of
 * assignments. */
#ifndef SLP_LEASE_ASSIGN_H
#define SLP_LEASE_ASSIGN_H

#include "lease/processor.h"
#include "lease/snapshot.h"

typedef struct slp_assign_versions { /* versions of the assignment rows that this leader writes */
  uint64_t base;                     /* 0: not chosen yet */
  uint64_t serial;
} slp_assign_versions;

void slp_assign_begin(slp_fleet *f); /* This worker begins to lead */
/* Adds the assignment rows that change to the bulk write, and returns 1 if there are any. `counts`: this
 * round counts leases that are stuck; such rounds are a minute apart. *ret_again_us says how soon to assign
 * again, SLP_NEVER if there is no need. */
int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, uint64_t *ret_again_us);

#endif
