/* counter.h - proof of life where every lease has a counter that its owner moves. (counter.c) */
#ifndef SLP_GUEST_COUNTER_H
#define SLP_GUEST_COUNTER_H

#include "lease/lease.h"
#include "lease/seen.h"

/* As slp_strategy has them. */
void slp_counter_join(slp_fleet *f);
void slp_counter_beat(slp_fleet *f);
uint64_t slp_counter_good_us(slp_fleet *f, int exact);
int slp_counter_may_open(slp_lease *l);
void slp_counter_wrote(slp_lease *l, const slp_write *op);
void slp_counter_tell_rate(slp_lease *l, slp_operation *i);
void slp_counter_begun(slp_lease *l);
void slp_counter_gone(slp_lease *l);
/* Each of these writes keeps its lease's next renewal waiting. */
#define SLP_COUNTER_URGENT                                                                    \
  (1u << SLP_OPERATION_CREATE | 1u << SLP_OPERATION_RETAKE | 1u << SLP_OPERATION_CHECKPOINT | \
   1u << SLP_OPERATION_RELEASE | 1u << SLP_OPERATION_TRANSFER | 1u << SLP_OPERATION_END |     \
   1u << SLP_OPERATION_RENEW)

/* A lease's row in a complete list; and, later, whether its owner has shown no life for that many leases. */
void slp_counter_saw(slp_fleet *f, slp_seen_shard *seen, const slp_lease_row *row, uint64_t done_us);
int slp_counter_dead(slp_fleet *f, const slp_seen_shard *seen, uint32_t leases);

#endif
