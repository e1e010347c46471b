/* lease_rules.h - which worker should read which shard, as the leader assigns it: a pure function of what is
 * known, without a clock, a table or an order of arrival. */
#ifndef SLP_LEASE_LEASE_RULES_H
#define SLP_LEASE_LEASE_RULES_H

#include "base/mem.h"

#define SLP_NOBODY UINT32_MAX

/* ---- the leader's plan --------------------------------------------------------------------------------- */
typedef struct slp_assign_worker {
  uint32_t weight; /* 1 and up: its share is proportional */
  uint8_t takes;   /* 0: leaving or evicted: it gets nothing and keeps nothing */
  uint32_t ret_n;  /* out: leases planned for it */
} slp_assign_worker;

typedef struct slp_assign_lease {
  uint32_t owner;    /* the worker that reads it now, or SLP_NOBODY */
  uint32_t assigned; /* the worker the plan gives it now, or SLP_NOBODY */
  uint32_t avoid;    /* one it must not go to while another takes, or SLP_NOBODY */
  uint8_t out;       /* ended or parked: not planned */
  uint32_t ret;      /* out: the worker, SLP_NOBODY when nobody takes */
} slp_assign_lease;

typedef struct slp_assign {
  slp_assign_worker *workers;
  size_t workers_n;
  slp_assign_lease *leases; /* in an order that stays, such as by shard id */
  size_t leases_n;
  uint32_t moves_max; /* of leases that somebody alive reads, off one worker in one plan */
} slp_assign;

/* Every worker that takes gets the floor or the ceiling of its share; what is read stays where it is as far
 * as that allows; the same input gives the same plan, and a plan carried out gives itself. SLP_ENOMEM:
 * nothing was set. */
int slp_assign_make(slp_assign *p, slp_mem *mem);

#endif
