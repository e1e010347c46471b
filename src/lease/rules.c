/* rules.c - which rules of life and of sharing go together, and the rule of sharing where a leader
 * assigns. A lease may be taken from a living worker's name only with a proof that the table checks: the
 * worker was evicted first (a row a worker), or the take's own condition holds what was seen (the counter
 * of that lease, or the time at which it runs out). */
#include "lease/rules.h"

#include "lease/fleet_inside.h"

static void look_again(slp_lease *l) { slp_lease_poll(l, slp_fleet_now(l->f)); }

static void resumed(slp_fleet *f) { slp_election_seek(f, 0); }

static void sync_now(slp_fleet *f) { slp_leader_sync(f, 0); }

/* A worker was evicted: whether it led or owned a lease, every other one looks again. */
static void evicted_other(slp_fleet *f) {
  slp_leader_assign(f, 0);
  if (slp_role_is(f, SLP_ROLE_FOLLOWS)) slp_election_seek(f, 0);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_lease_in(l, SLP_LEASE_SOUGHT)) slp_lease_poll(l, slp_fleet_now(f));
}

static void gave_up(slp_fleet *f) {
  slp_notify_leader(f);
  slp_leader_assign(f, 0); /* when that is me */
}

const slp_sharing_rule slp_sharing_by_assignment = {
    .missing_blocks = 1,
    .begin = slp_election_begin,
    .suspended = slp_election_drop,
    .resumed = resumed,
    .met = slp_lease_met_assigned,
    .missed = look_again,
    .listed = slp_leader_listed,
    .made = slp_leader_made,
    .unknown_children = sync_now,
    .part = slp_leave_successors,
    .leaves = slp_election_drop,
    .wants = slp_election_alert_soon,
    .gave_up = gave_up,
    .heartbeat = slp_leader_heartbeat,
    .evicted_other = evicted_other,
};

int slp_fleet_rules(const slp_schema *s, const slp_liveness_rule **ret_life,
                    const slp_sharing_rule **ret_sharing) {
  if (s->liveness == SLP_BY_WORKER && s->share == SLP_BY_ASSIGNMENT) {
    *ret_life = &slp_liveness_by_worker;
    *ret_sharing = &slp_sharing_by_assignment;
    return 0;
  }
  if (s->liveness == SLP_BY_EXPIRY && s->share == SLP_BY_CLAIM) {
    *ret_life = &slp_liveness_by_expiry;
    *ret_sharing = &slp_sharing_by_claim;
    return 0;
  }
  if (s->liveness == SLP_BY_EXPIRY && s->share == SLP_BY_INDEX) {
    *ret_life = &slp_liveness_by_expiry;
    *ret_sharing = &slp_sharing_by_index;
    return 0;
  }
  if (s->liveness == SLP_BY_COUNTER && s->share == SLP_BY_STEAL) {
    *ret_life = &slp_liveness_by_counter;
    *ret_sharing = &slp_sharing_by_steal;
    return 0;
  }
  if (s->liveness == SLP_BY_TICK && s->share == SLP_BY_STEAL) {
    *ret_life = &slp_liveness_by_tick;
    *ret_sharing = &slp_sharing_by_steal;
    return 0;
  }
  return SLP_EINVAL;
}
