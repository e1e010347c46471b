/* fleet_rules.c - which rules of life and of sharing go together. A lease may be taken from a living worker's
 * name only with a proof that the table checks: the worker was condemned first (a row a worker), or the
 * take's own condition holds what was seen (a counter, a deadline or a tick of that lease). */
#include "lease/lease.h"

static void look_again(slp_lease *l) { slp_lease_poll(l, slp_fleet_now(l->f)); }

static void resumed(slp_fleet *f) { slp_election_seek(f, 0); }

static void sync_now(slp_fleet *f) {
  if (f->role == SLP_ROLE_LEADS) slp_shard_sync_soon(f, 0);
}

const slp_sharing_rule slp_sharing_by_assignment = {
    .missing_blocks = 1,
    .begin = slp_election_begin,
    .suspended = slp_election_drop,
    .resumed = resumed,
    .watch = slp_watch_run,
    .met = slp_lease_met_assigned,
    .missed = look_again,
    .listed = slp_leader_listed,
    .unknown_children = sync_now,
    .part = slp_leave_successors,
};

int slp_fleet_rules(const slp_schema *s, const slp_liveness_rule **ret_life,
                    const slp_sharing_rule **ret_sharing) {
  if (s->liveness == SLP_BY_WORKER && s->share == SLP_BY_ASSIGNMENT) {
    *ret_life = &slp_liveness_by_worker;
    *ret_sharing = &slp_sharing_by_assignment;
    return 0;
  }
  if (s->liveness == SLP_BY_COUNTER && s->share == SLP_BY_STEAL) {
    *ret_life = &slp_liveness_by_counter;
    *ret_sharing = &slp_sharing_by_steal;
    return 0;
  }
  return SLP_EINVAL;
}
