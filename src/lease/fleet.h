/* fleet.h - one worker of a fleet. It proves that it lives, takes the leases that are meant for it, saves
 * their positions, and gives the leases up in an orderly way. It works with any store.
 *
 * In the native layout each worker has one row, and a leader, which is one of the workers, assigns leases. A
 * schema may bring another strategy (strategy.h).
 *
 * Three rules keep two workers from reading one shard:
 *   - a worker that can't prove its life hands out no records;
 *   - when a worker has sent the release of a lease, it never reads the shard again with the same epoch;
 *   - a lease is taken only after its owner was evicted by a conditional write, or by a write that makes the
 *     owner's next write fail.
 * In some layouts workers steal leases from living workers. Then two workers may hand out records of the same
 * shard for at most 0.8 of the lease time, until the next write of the former owner is refused. The protocols
 * of such layouts allow that. The epoch of a record shows which of the two workers owned the lease later. */
#ifndef SLP_LEASE_FLEET_H
#define SLP_LEASE_FLEET_H

#include "base/fail.h"
#include "base/mem.h"
#include "codec/page.h"
#include "lease/fleet_opts.h"
#include "lease/lease_types.h"

/* Creates a worker; slp_fleet_start lets it join. Returns 0, SLP_ENOMEM, or SLP_EINVAL if o->worker is not
 * a valid id. */
int slp_fleet_new(slp_fleet **ret, slp_mem *mem, const slp_fleet_opts *o);
void slp_fleet_start(slp_fleet *f);
/* Stops in an orderly way: drains the shards (waits for acknowledgements), saves their positions, gives every
 * lease to other workers, and leaves. SLP_FLEET_LEFT is reported at the latest after limit_ms and a few round
 * trips. */
void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms);
/* Stops at once, and sends no more writes. Must not be called from on_event, or from a function of the
 * processor. */
void slp_fleet_free(slp_fleet *f);

/* Writes the acknowledged position of one shard or, if shard is {NULL, 0}, of all shards. on_saved is called
 * once, when the positions are in the table or their leases are gone. Returns 0, or SLP_ENOBUFS while another
 * save is under way. */
int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg);
/* Does the same as slp_fleet_save for all shards for which wants() returns 1. */
int slp_fleet_save_each(slp_fleet *f, int (*wants)(void *ctx, slp_str shard), void *ctx,
                        void (*on_saved)(void *arg), void *arg);
void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret);

/* Takes the listing of the stream that the fleet asked for by slp_processor_ops.list. fail->class SLP_FINE:
 * `shards` has all shards of the stream; otherwise the listing failed. */
void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n);
/* May be called while the listing is under way, with the shards of each page but the last. */
void slp_fleet_listed_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);

#endif
