/* counter.h - a worker proves its life by the rows of its leases. Each row has a counter, or a time, that the
 * owner moves. (counter.c) */
#ifndef SLP_GUEST_COUNTER_H
#define SLP_GUEST_COUNTER_H

#include "lease/lease.h"
#include "lease/seen.h"

/* Functions of slp_strategy. */
void slp_counter_join(slp_fleet *f);
void slp_counter_beat(slp_fleet *f);
uint64_t slp_counter_good_us(slp_fleet *f, int exact);
int slp_counter_may_open(slp_lease *l);
void slp_counter_wrote(slp_lease *l, const slp_write *op);
void slp_counter_tell_rate(slp_lease *l, slp_operation *i);
void slp_counter_begun(slp_lease *l);
void slp_counter_gone(slp_lease *l);
/* slp_strategy.urgent. A lease has one write at a time, so each of these writes delays its next renewal. */
#define SLP_COUNTER_URGENT                                                                    \
  (1u << SLP_OPERATION_CREATE | 1u << SLP_OPERATION_RETAKE | 1u << SLP_OPERATION_CHECKPOINT | \
   1u << SLP_OPERATION_RELEASE | 1u << SLP_OPERATION_TRANSFER | 1u << SLP_OPERATION_END |     \
   1u << SLP_OPERATION_RENEW)

/* Notes what a read of the lease's row, answered at done_us, shows of its owner. */
void slp_counter_saw(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *row, uint64_t done_us);
/* Returns 1 if the owner has shown no sign of life for `leases` times the span that
 * proves death (slp_strategy_span_us), while this worker could read and write the table. Returns 0 while this
 * worker can't prove its own life. */
int slp_counter_dead(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases);

#endif
