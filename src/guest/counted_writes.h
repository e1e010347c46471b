/* counted_writes.h - decides what became of a write, and what a row shows about the life of its owner. For
 * tables in which each write of a lease changes a number or a time in the lease's row. Pure.
 * (counted_writes.c) */
#ifndef SLP_GUEST_COUNTED_WRITES_H
#define SLP_GUEST_COUNTED_WRITES_H

#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/silence.h"

/* the member `outcome` of slp_strategy */
slp_outcome slp_counted_outcome(const slp_operation *i, int there, const slp_parsed_row *parsed);
/* The next three functions read the sign of life (lease/silence.h) of a lease's owner from its row, for the
 * member `sign` of slp_strategy. slp_counted_sign: for rows with a
 * counter. slp_counted_sign_of_tick: for rows with a number that begins again with each owner.
 * slp_counted_sign_of_time: for rows with a time at which the lease runs out. */
slp_sign slp_counted_sign(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
slp_sign slp_counted_sign_of_tick(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);
slp_sign slp_counted_sign_of_time(const slp_lease_row *row, int64_t wall_ms, uint64_t now_us,
                                  uint32_t lease_ms);

#endif
