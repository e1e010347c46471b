/* fleet_rules.c - which rules of life and of sharing go together. A lease may be taken from a living worker's
 * name only with a proof that the table checks: the worker was condemned first (a row a worker), or the
 * take's own condition holds what was seen (a counter, a deadline or a tick of that lease). */
#include "core/fleet_inside.h"

static void look_again(slp_lease *l) { slp_lease_look(l, slp_fleet_now(l->f)); }

static void resumed(slp_fleet *f) { slp_role_seek(f, 0); }

static void audit_now(slp_fleet *f) {
  if (f->role == SLP_ROLE_LEADS) slp_audit_soon(f, 0);
}

const slp_sharing slp_sharing_by_plan = {
    .missing_blocks = 1,
    .begin = slp_role_begin,
    .suspended = slp_role_drop,
    .resumed = resumed,
    .watch = slp_watch_run,
    .met = slp_lease_met_planned,
    .missed = look_again,
    .listed = slp_lead_listed,
    .unknown_children = audit_now,
    .part = slp_leave_heirs,
};

int slp_fleet_rules(const slp_schema *s, const slp_life **ret_life, const slp_sharing **ret_sharing) {
  if (s->life == SLP_BY_WORKER && s->share == SLP_BY_PLAN) {
    *ret_life = &slp_life_by_worker;
    *ret_sharing = &slp_sharing_by_plan;
    return 0;
  }
  if (s->life == SLP_BY_COUNTER && s->share == SLP_BY_STEAL) {
    *ret_life = &slp_life_by_counter;
    *ret_sharing = &slp_sharing_by_steal;
    return 0;
  }
  return SLP_EINVAL;
}
