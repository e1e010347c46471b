/* assign.h - leading: which worker is to read which lease, written to the workers' rows of assignments. */
#ifndef SLP_LEASE_ASSIGN_H
#define SLP_LEASE_ASSIGN_H

#include "lease/processor.h"
#include "lease/snapshot.h"

typedef struct slp_assign_versions { /* of the rows that this leader writes */
  uint64_t base;                     /* 0: not chosen yet */
  uint64_t serial;
} slp_assign_versions;

void slp_assign_begin(slp_fleet *f); /* it leads from here on */
/* Adds the rows that change to the bulk write. 1: there are some. counts: what is stuck in this round
 * counts; such rounds are a minute apart. *ret_again_us: how soon to assign once more; SLP_NEVER: no
 * need. */
int slp_assign_write(slp_fleet *f, const slp_snapshot *s, int counts, uint64_t *ret_again_us);

#endif
