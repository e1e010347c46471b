/* counted.h - decides what became of a write, and what a row shows of its owner, in tables where each write
 * of a lease moves a number or a time in its row. Pure. (counted.c) */
#ifndef SLP_GUEST_COUNTED_H
#define SLP_GUEST_COUNTED_H

#include "lease/outcome.h"
#include "lease/silence.h"

/* This is slp_strategy.outcome. */
slp_outcome slp_counted_outcome(const slp_operation *i, int there, const slp_parsed_row *parsed);
/* These are slp_strategy.sign. slp_counted_sign: the row has a counter. of_tick: the row has a number that
 * may begin again with each owner. of_time: the row has a time at which the lease runs out. */
slp_sign slp_counted_sign(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
slp_sign slp_counted_sign_of_tick(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);
slp_sign slp_counted_sign_of_time(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);

#endif
