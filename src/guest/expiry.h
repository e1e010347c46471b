/* expiry.h - leases that run out by the clock on the wall: the owner writes the time until which it has one,
 * and another worker may take it when that is past on its own clock. That time, in nanoseconds since 1970,
 * is the lease's epoch. Pure.
 *
 * The clocks of two machines are compared here, as the peers do. So it is not all that is asked for: a lease
 * whose time is past is only dead when its row has also stood still for a whole lease on the reader's own
 * clock. A clock that is ahead then takes nothing from the living; one that is behind takes later. */
#ifndef SLP_GUEST_EXPIRY_H
#define SLP_GUEST_EXPIRY_H

#include "lease/schema.h"

/* The epoch, a time, that the operation leaves in the row. A write that proves its owner's life makes it
 * lease_ms from now. Its digits below the millisecond count the writes, so that no two of one worker leave
 * the same time. It is never earlier than the time it replaces, unless that one is more than an hour ahead
 * of any that this worker would write. Every other write leaves the time as it is. */
uint64_t slp_expiry_after(const slp_operation *i, int64_t wall_ms, uint32_t lease_ms, uint64_t serial);
/* When, on the reader's own clock now_us, a lease of this epoch has run out and a skew of the clocks is
 * over. */
uint64_t slp_expiry_past_us(uint64_t epoch, int64_t wall_ms, uint64_t now_us, uint32_t lease_ms);
/* Until when, on the reader's own clock now_us, the lease is kept for the worker that asked for it, so that
 * no other one takes it. 0: no other worker has asked.
 * A worker of ours, as far as names tell, looks twice a second and so takes a lease as soon as its owner has
 * let go. Its claim ends with the lease's time and the skew of the clocks, as the lease of a dead owner does:
 * who has not come by then is dead.
 * A peer looks only each 30 to 90 s, and has as long as the peers give each other. */
uint64_t slp_expiry_reserved_us(const slp_lease_row *row, slp_str me, int64_t wall_ms, uint64_t now_us,
                                uint32_t lease_ms);

#endif
