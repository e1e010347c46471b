/* expiry.h - leases that run out by the wall clock. The owner writes into the row the time at which its lease
 * runs out. Another worker may take the lease when that worker's own wall clock shows a later time. The time,
 * in nanoseconds since 1970, is also the lease's epoch. Pure. (expiry.c)
 *
 * A reader compares its wall clock with the owner's, as the other system's programs do. A time in the past
 * does not prove by itself that the owner is dead. The row must also have been unchanged for one lease time
 * on the reader's own monotonic clock. So a reader whose wall clock is ahead takes nothing from living
 * owners, and a reader whose wall clock is behind takes leases later. */
#ifndef SLP_GUEST_EXPIRY_H
#define SLP_GUEST_EXPIRY_H

#include "lease/schema.h"

/* Returns the time that the operation i writes into the row. If i does not prove that its owner lives,
 * that is the old time, i->epoch. Otherwise it is now plus lease_ms, with `serial` as the digits below the
 * millisecond, so that no two writes of one worker leave the same time. If the old time is the same or
 * later, the result is the old time plus 1 ns. But an old time that is more than an hour later is wrong,
 * and is replaced. */
uint64_t slp_expiry_after(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
/* Returns when a lease with this epoch has run out: its time plus a fifth of a lease time, because clocks
 * differ. The result is on the reader's monotonic clock, which shows now_us at present. If the lease has run
 * out already, returns now_us. */
uint64_t slp_expiry_past_us(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
/* Returns the time before which only the worker that has claimed the lease may take it; 0: no worker except
 * `me` has claimed it. The time is on the reader's monotonic clock, which shows now_us at present.
 *   - A worker of sloop, known by the form of its name, reads the row twice a second. So it takes the lease
 *     as soon as the owner has given the lease up. Its claim ends when the lease has run out
 *     (slp_expiry_past_us): if it has not taken the lease by then, it is dead.
 *   - A Go program reads the row only every 30 to 90 s. Its claim ends 120 s after the lease's time, which
 *     is how long Go programs respect a claim of each other. */
uint64_t slp_expiry_reserved_us(const slp_lease_row *row, slp_str me, int64_t wall_ms, uint64_t now_us,
                                uint32_t lease_ms);

#endif
