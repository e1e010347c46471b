/* counted.h - rows of leases whose number or time each write of their owner moves: what became of a write,
 * and what a row shows of its owner. Pure. (counted.c) */
#ifndef SLP_GUEST_COUNTED_H
#define SLP_GUEST_COUNTED_H

#include "lease/outcome.h"
#include "lease/silence.h"

slp_outcome slp_counted_outcome(const slp_operation *i, int there, const slp_parsed_row *parsed);
/* As slp_strategy.sign: a counter; a number that may begin anew with an owner; a time. */
slp_sign slp_counted_sign(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
slp_sign slp_counted_sign_of_tick(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);
slp_sign slp_counted_sign_of_time(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);

#endif
