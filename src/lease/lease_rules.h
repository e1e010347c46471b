/* lease_rules.h - which worker should read which shard: the rule of the leader's assignment. Pure: the result
 * depends on the arguments only. */
#ifndef SLP_LEASE_LEASE_RULES_H
#define SLP_LEASE_LEASE_RULES_H

#include "base/mem.h"

/* index of no worker */
#define SLP_NOBODY UINT32_MAX

/* ---- the leader's plan --------------------------------------------------------------------------------- */
typedef struct slp_assign_worker {
  uint32_t weight; /* 1 or more; the worker's share of the leases is in proportion to its weight */
  /* 0: the worker is leaving or evicted, or its program can't find the leases; it gets and keeps no leases */
  uint8_t takes;
  uint32_t ret_n; /* result: how many leases the plan gives to the worker */
} slp_assign_worker;

/* one lease of the plan; a worker is an index in slp_assign.workers */
typedef struct slp_assign_lease {
  uint32_t owner;    /* the worker that reads the shard now; SLP_NOBODY: none */
  uint32_t assigned; /* the worker to which the lease was assigned before this plan; SLP_NOBODY: none */
  uint32_t avoid;    /* a worker that gets the lease only if no other worker takes leases; SLP_NOBODY: none */
  /* 1: no worker should read the shard, so the plan leaves the lease out: the shard is ended, parked until an
   * operator releases it, or refused by the service */
  uint8_t out;
  /* result: the worker that should read the shard; SLP_NOBODY if no worker takes leases */
  uint32_t ret;
} slp_assign_lease;

typedef struct slp_assign {
  slp_assign_worker *workers;
  size_t workers_n;
  slp_assign_lease *leases; /* in an order that is the same for each plan, such as by shard id */
  size_t leases_n;
  uint32_t moves_max; /* how many of the leases that a worker reads may move away from it in one plan */
} slp_assign;

/* Makes the plan: sets `ret` and `ret_n`. Each worker that takes leases gets its share, rounded down or up.
 * Within these limits leases stay with the worker that reads them. The same input gives the same plan, and
 * when a plan was carried out, the next plan is the same. Returns 0, or SLP_ENOMEM with nothing set. */
int slp_assign_make(slp_assign *p, slp_mem *mem);

#endif
