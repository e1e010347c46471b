/* lease_rules.h - which worker should read which shard, as the leader assigns it: a pure function of what is
 * known, without a clock, a table or an order of arrival. */
#ifndef SLP_LEASE_LEASE_RULES_H
#define SLP_LEASE_LEASE_RULES_H

#include "base/mem.h"

#define SLP_NOBODY UINT32_MAX

/* ---- the leader's plan --------------------------------------------------------------------------------- */
typedef struct slp_assign_worker {
  uint32_t weight; /* 1 or more; its share is in proportion to this */
  uint8_t takes;   /* 0: leaving or evicted; it gets nothing and keeps nothing */
  uint32_t ret_n;  /* out: leases planned for it */
} slp_assign_worker;

/* one lease of the plan; workers are indices in slp_assign.workers */
typedef struct slp_assign_lease {
  uint32_t owner;    /* the worker that reads it now, or SLP_NOBODY */
  uint32_t assigned; /* the worker to which the present plan gives it, or SLP_NOBODY */
  uint32_t avoid;    /* a worker that gets it only if no other takes leases, or SLP_NOBODY */
  uint8_t out;       /* ended or parked; not planned */
  uint32_t ret;      /* out: the worker, or SLP_NOBODY if none takes leases */
} slp_assign_lease;

typedef struct slp_assign {
  slp_assign_worker *workers;
  size_t workers_n;
  slp_assign_lease *leases; /* in a stable order, such as by shard id */
  size_t leases_n;
  uint32_t moves_max; /* how many leases one plan may move away from a living worker that reads them */
} slp_assign;

/* Makes the plan. Each worker that takes leases gets its share, rounded down or up. Leases that are read stay
 * where they are as far as that allows. The same input gives the same plan, and a plan that was carried out
 * gives itself again. Returns 0, or SLP_ENOMEM with nothing set. */
int slp_assign_make(slp_assign *p, slp_mem *mem);

#endif
