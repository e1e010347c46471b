/* expiry.h - leases that run out by the wall clock. The owner writes until when it has the lease, and another
 * worker may take the lease when that time is past on its own wall clock. The time, in nanoseconds since
 * 1970, is the lease's epoch. Pure. (expiry.c)
 *
 * A reader compares its wall clock with the owner's, as the other system's programs do. A time that is past
 * does not prove alone that the owner is dead. The row must also have stood still for a whole lease on the
 * reader's own monotonic clock. So a reader whose wall clock is ahead takes nothing from living owners, and
 * one whose wall clock is behind takes leases later. */
#ifndef SLP_GUEST_EXPIRY_H
#define SLP_GUEST_EXPIRY_H

#include "lease/schema.h"

/* Returns the time that the operation leaves in the row. A write that proves its owner's life sets lease_ms
 * from now; every other write leaves the time as it is. The digits below the millisecond are `serial`, so
 * that no two writes of one worker leave the same time. The new time is always later than the one it
 * replaces, unless that one is more than an hour ahead of now plus lease_ms. */
uint64_t slp_expiry_after(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
/* Returns when a lease of this epoch counts as run out: its time plus a fifth of a lease, for clocks that
 * differ. The result is on the reader's monotonic clock, where it is now_us; if it has run out: now_us. */
uint64_t slp_expiry_past_us(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
/* Returns until when only the worker that has claimed the lease may take it, on the reader's monotonic clock,
 * where it is now_us. 0: no worker but `me` has claimed it.
 *
 *   - A worker of sloop, known by the form of its name, looks twice a second, and so takes a lease as soon as
 *     the owner has let go. Its claim ends when the lease has run out (slp_expiry_past_us): a claimant that
 *     has not come by then is dead.
 *   - A Go program looks only each 30 to 90 s. Its claim ends 120 s after the lease's time, as Go programs
 *     have it among themselves. */
uint64_t slp_expiry_reserved_us(const slp_lease_row *row, slp_str me, int64_t wall_ms, uint64_t now_us,
                                uint32_t lease_ms);

#endif
