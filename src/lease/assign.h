/* assign.h - the leader decides which worker should read which lease, and writes the decision to the
 * assignment rows, one row for each worker. */
#ifndef SLP_LEASE_ASSIGN_H
#define SLP_LEASE_ASSIGN_H

#include "lease/processor.h"
#include "lease/snapshot.h"

/* version numbers for the assignment rows that this leader writes: base + serial */
typedef struct slp_assign_versions {
  /* versions of this leader are greater than this number; 0: it is not chosen yet */
  uint64_t base;
  uint64_t serial;
} slp_assign_versions;

void slp_assign_begin(slp_fleet *f); /* resets the version numbers, because this worker begins to lead */
/* Adds the assignment rows that change to the bulk write. Returns 1 if there are any, 0 otherwise.
 * `counts`: this round also counts, for each lease, in how many rounds in a row it was stuck; such rounds
 * are a minute apart. *ret_again_us becomes the time until assignments should be made again, SLP_NEVER if
 * there is no need. */
int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, uint64_t *ret_again_us);

#endif
