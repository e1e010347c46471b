/* guest_operations.h - the operations that only layouts of this room have, and what a write of these
 * layouts needs beyond the members of slp_operation. A maintainer must keep all kinds of operations below
 * 32, because an slp_set has a bit for each. */
#ifndef SLP_GUEST_GUEST_OPERATIONS_H
#define SLP_GUEST_GUEST_OPERATIONS_H

#include "lease/schema.h"

/* The kinds are numbered after those of lease/schema.h, so that a set of operations can have both. They
 * are no members of the enum slp_operation_kind, so a switch over a kind must convert the kind to
 * unsigned. */
#define SLP_GUEST_KIND(n) ((slp_operation_kind)(SLP_OPERATIONS + (n)))
#define SLP_GUEST_RENEW SLP_GUEST_KIND(0) /* renews one lease, as the proof of life that each lease needs */
/* writes this worker's own row, which shows that the worker is alive */
#define SLP_GUEST_PUBLISH SLP_GUEST_KIND(1)
#define SLP_GUEST_WITHDRAW SLP_GUEST_KIND(2) /* removes the row that PUBLISH writes */
#define SLP_GUEST_UNCLAIM SLP_GUEST_KIND(3)  /* removes this worker's claim on a lease */
#define SLP_GUEST_OPERATIONS SLP_GUEST_KIND(4)
_Static_assert(SLP_GUEST_OPERATIONS <= 32, "slp_set has a bit for each kind");

struct slp_operation_extra { /* slp_operation.extra points to it; NULL there means the same as zeros */
  uint8_t table; /* PUBLISH, WITHDRAW, in tables of the KCL: the table's number, see slp_store_req.table */
  /* with RENEW, CHECKPOINT and END: 1 if slp_operation.rate_bytes is the lease's rate, and must be written */
  uint8_t tells_rate;
  /* PUBLISH: how busy the processor was, in thousandths of a percent, the newest value last; cpu_n values.
   * cpu_n 0: no load is written. */
  const uint32_t *cpu_millis;
  size_t cpu_n;
};

static inline slp_operation_extra slp_extra_of(const slp_operation *i) {
  return i->extra ? *i->extra : (slp_operation_extra){.table = 0};
}

#endif
