/* steal_kept.c - renews the leases of shards that were read to their end, until the rows of these leases
 * are removed.
 *
 * Workers of Amazon's KCL continue to renew such a lease (project amazon-kinesis-client, classes
 * DynamoDBLeaseRenewer and LeaseCleanupManager). A lease that no worker renews is taken by a KCL worker
 * before any other lease (DynamoDBLeaseTaker), and counts in that worker's share. So a KCL worker that joined
 * would fill its share with leases of ended shards, and have no shard to read. To prevent that:
 *   - The worker that ended a shard renews its lease in each round over the table.
 *   - If that worker is gone, the worker that compares stream and table takes the lease over, and renews
 *     it. Workers of sloop do not count these leases, and take them for no other reason. */
#include "core/position.h"
#include "guest/counter.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/mode.h"
#include "guest/steal.h"
#include "lease/bulk_write.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/snapshot.h"

/* after this many lease times without a renewal, a worker of the KCL would take the lease */
#define LEFT_LEASES 2

/* Returns 1 if this worker neither wants nor holds the lease, and has no write of it under way. The write of
 * the shard's end may still wait for its answer. */
static int is_settled(slp_fleet *f, slp_str shard) {
  const slp_lease *l = slp_lease_get(f, shard);
  return !l || (!slp_lease_in(l, SLP_LEASE_SOUGHT | SLP_LEASE_MINE) && !l->op.busy);
}

/* Returns the operation by which this worker keeps the lease: RENEW or TAKE; SLP_GUEST_OPERATIONS: it does
 * not keep it. */
static slp_operation_kind kept_by(slp_fleet *f, const slp_lease_row *row) {
  const slp_seen_shard *seen = slp_seen_get(f, row->shard);
  if (slp_str_eq(row->owner, slp_instance_str(&f->me)) && !row->claim.n) return SLP_GUEST_RENEW;
  int left =
      slp_guest_of(f)->stealing.first && seen && (!row->owner.n || slp_counter_dead(f, seen, LEFT_LEASES));
  return left ? SLP_OPERATION_TAKE : SLP_GUEST_OPERATIONS;
}

void slp_steal_keep_ended(slp_fleet *f, const slp_snapshot *s) {
  if (!slp_guest_rules_of(f)->renews_ended ||
      !(slp_mode_is(f, SLP_MODE_TAKE) || slp_mode_is(f, SLP_MODE_UPGRADE)))
    return;
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *row = &s->leases[i];
    if (row->position.kind != SLP_POSITION_END || !is_settled(f, row->shard)) continue;
    slp_operation_kind kind = kept_by(f, row);
    if (kind == SLP_GUEST_OPERATIONS) continue;
    slp_operation *o = slp_bulk_write_add(f, kind, row->shard.n + row->owner.n + row->claim.n, 0);
    if (!o) return; /* no memory: the next round tries again */
    o->shard = slp_bulk_write_text(f, row->shard);
    o->owner = slp_bulk_write_text(f, row->owner);
    o->claim = slp_bulk_write_text(f, row->claim);
    o->claim_asks = row->claim_asks;
    o->epoch = row->epoch;
    o->position = row->position;
  }
}
