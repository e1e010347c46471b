/* strategy.c - slp_strategy_native, the strategy of the native layout (PROTOCOL.md): one row for each worker
 * proves its life for all its leases, and a leader assigns leases. */
#include "lease/strategy.h"

#include "base/states.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/election.h"
#include "lease/election_part.h"
#include "lease/leader.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/leave.h"
#include "lease/schema.h"
#include "lease/worker.h"

static void look_again(slp_lease *l) { slp_lease_poll(l, slp_fleet_now(l->f)); }

static void on_worker_resumed(slp_fleet *f) { slp_election_seek(f, 0); }

static void sync_now(slp_fleet *f) { slp_leader_sync(f, 0); }

/* Called when the write that evicts another worker was answered. That worker may have led or owned leases. So
 * this worker assigns leases if it leads, looks for a new leader otherwise, and reads the rows of the leases
 * that it wants. */
static void evicted_other(slp_fleet *f) {
  slp_leader_assign(f, 0);
  if (slp_role_is(f, SLP_ROLE_FOLLOWS)) slp_election_seek(f, 0);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_lease_in(l, SLP_LEASE_SOUGHT)) slp_lease_poll(l, slp_fleet_now(f));
}

static void gave_up(slp_fleet *f) {
  slp_notify_leader(f);
  slp_leader_assign(f, 0); /* has no effect unless this worker leads */
}

const slp_strategy slp_strategy_native = {
    .urgent = SLP_BIT(SLP_OPERATION_REGISTER) | SLP_BIT(SLP_OPERATION_HEARTBEAT),
    .doubtful = SLP_BIT(SLP_OPERATION_REGISTER) | SLP_BIT(SLP_OPERATION_HEARTBEAT),
    .members = 1,
    .proves_takes = 1,
    .frees_all = 1,
    .holds = 1,
    .join = slp_worker_join,
    .beat = slp_worker_beat,
    .good_us = slp_worker_good_us,
    .missing_blocks = 1,
    .begin = slp_election_begin,
    .suspended = slp_election_drop,
    .resumed = on_worker_resumed,
    .met = slp_lease_met_assigned,
    .missed = look_again,
    .listed = slp_leader_listed,
    .listed_part = slp_leader_listed_part,
    .made = slp_leader_made,
    .unknown_children = sync_now,
    .part = slp_leave_successors,
    .leaves = slp_election_drop,
    .wants = slp_election_alert_soon,
    .gave_up = gave_up,
    .heartbeat = slp_leader_heartbeat,
    .evicted_other = evicted_other,
};
