/* counter.h - a worker proves by the rows of its leases that it is alive. Each row has a counter or a time
 * that the lease's owner raises. (counter.c) */
#ifndef SLP_GUEST_COUNTER_H
#define SLP_GUEST_COUNTER_H

#include "base/states.h"
#include "guest/guest_operations.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/write.h"

/* The next functions are members of slp_strategy. */
void slp_counter_join(slp_fleet *f);
void slp_counter_beat(slp_fleet *f);
uint64_t slp_counter_good_us(slp_fleet *f, int exact);
int slp_counter_may_open(slp_lease *l);
void slp_counter_wrote(slp_lease *l, const slp_write *op);
void slp_counter_tell_rate(slp_lease *l, slp_operation *i);
void slp_counter_begun(slp_lease *l);
void slp_counter_gone(slp_lease *l);
/* Parks a lease: this worker keeps the lease and does not read its shard, so that no worker reads it.
 * Other layouts release a parked lease and mark its row, but rows of these layouts have no such mark. */
void slp_counter_park(slp_lease *l);
/* The member `urgent` of slp_strategy: operations that prove that the worker is alive, or that delay the next
 * proof. A lease has only one write under way at a time, so each of its writes delays the lease's next
 * renewal. */
#define SLP_COUNTER_URGENT                                                                             \
  (SLP_BIT(SLP_OPERATION_CREATE) | SLP_BIT(SLP_OPERATION_RETAKE) | SLP_BIT(SLP_OPERATION_CHECKPOINT) | \
   SLP_BIT(SLP_OPERATION_RELEASE) | SLP_BIT(SLP_OPERATION_TRANSFER) | SLP_BIT(SLP_OPERATION_END) |     \
   SLP_BIT(SLP_GUEST_RENEW))

/* Remembers what a lease's row shows about the life of its owner. The row came with a read that was answered
 * at done_us. */
void slp_counter_saw(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *row, uint64_t done_us);
/* Returns 1 if the owner of the shard's lease is dead: it has shown no sign of life for slp_strategy_span_us
 * of `leases` lease times, while this worker could read and write the table. Returns 0 while this worker
 * can't prove that it is alive itself. */
int slp_counter_dead(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases);

#endif
