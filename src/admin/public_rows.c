/* public_rows.c - makes the structs of the public header sloop_admin.h from rows of the table. */
#include "admin/command_inside.h"
#include "core/mark.h"
#include "core/position.h"
#include "lease/refused.h"
#include "lease/schema.h"

#include <sloop.h>
#include <sloop_admin.h>

sloop_position_t slp_admin_position(slp_admin *a, slp_str shard, const slp_position *p) {
  switch (p->kind) {
    case SLP_POSITION_NONE: break;
    case SLP_POSITION_OLDEST: return (sloop_position_t){.kind = SLOOP_OLDEST};
    case SLP_POSITION_LATEST: return (sloop_position_t){.kind = SLOOP_LATEST};
    case SLP_POSITION_TIME: return (sloop_position_t){.kind = SLOOP_AT_TIME, .at_ms = p->at_ms};
    case SLP_POSITION_END: return (sloop_position_t){.kind = SLOOP_AT_END};
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER:
      return (sloop_position_t){.kind = p->kind == SLP_POSITION_AT ? SLOOP_AT_SEQ : SLOOP_AFTER_SEQ,
                                .shard = slp_admin_text(a, shard),
                                .seq = slp_admin_text(a, slp_mark_seq(&p->mark)),
                                .sub = p->mark.sub};
  }
  return (sloop_position_t){.at_ms = 0};
}

/* Returns the state to report for a lease whose owner has this life. It was true when the rows were read: an
 * owner that is not evicted may have died since, and clocks differ. */
static sloop_lease_state_t state_of(slp_owner_life life) {
  switch (life) {
    case SLP_OWNER_NONE: return SLOOP_LEASE_FREE;
    case SLP_OWNER_SILENT:
    case SLP_OWNER_EVICTED:
    case SLP_OWNER_MISSING: return SLOOP_LEASE_OWNER_DEAD;
    case SLP_OWNER_ALIVE:
    case SLP_OWNER_UNKNOWN: break;
  }
  return SLOOP_LEASE_OWNED;
}

/* Returns the state of a lease. A lease whose owner has left counts as free, because a worker that leaves
 * stops reading before it marks its row as left. */
sloop_lease_state_t slp_admin_lease_state(slp_admin *a, const slp_lease_row *l) {
  const slp_worker_row *w = l->owner.n ? slp_admin_worker_of(&a->snapshot, l->owner) : NULL;
  if (w && w->gone.n && w->leaving) return SLOOP_LEASE_FREE;
  return state_of(slp_admin_lease_life(a, l));
}

sloop_lease_t slp_admin_lease(slp_admin *a, const slp_lease_row *l) {
  return (sloop_lease_t){.shard = slp_admin_text(a, l->shard),
                         .owner = slp_admin_text(a, l->owner),
                         .claim = slp_admin_text(a, l->claim),
                         .position = slp_admin_position(a, l->shard, &l->position),
                         .parents = {slp_admin_text(a, l->parents[0]), slp_admin_text(a, l->parents[1])},
                         .state = slp_admin_lease_state(a, l),
                         .epoch = l->epoch,
                         .parked = l->parked,
                         .written_at_ms = l->wall_ms,
                         .behind_ms = l->behind_ms,
                         .avoid = slp_admin_text(a, l->avoid),
                         .refused_n = (int)l->refused_n,
                         .refused_at_ms = l->refused_n ? l->refused_ms : -1,
                         .refused_until_ms = l->refused_n ? slp_refused_until_ms(l) : -1,
                         .read_behind_ms = -1,
                         .read_at_ms = -1,
                         .lag_error = "",
                         .avoid_at_ms = l->avoid.n ? l->avoid_ms : -1,
                         .begin_untold = l->begin_untold};
}

/* Returns how many leases the worker has. Rows of clients (slp_admin_has_clients) do not have this number, so
 * their leases are counted. */
static uint32_t held_by(const slp_admin *a, const slp_worker_row *w) {
  uint32_t n = 0;
  if (!slp_admin_has_clients(a)) return w->held;
  for (size_t i = 0; i < a->snapshot.leases_n; i++) n += slp_str_eq(a->snapshot.leases[i].owner, w->id);
  return n;
}

static int is_drained(const slp_admin *a, const slp_worker_row *w) {
  const slp_hold *hold = &a->snapshot.leadership.hold;
  return hold->on && !w->gone.n && w->hold_version >= hold->version && !w->held;
}

sloop_worker_t slp_admin_worker(slp_admin *a, const slp_worker_row *w) {
  return (sloop_worker_t){.worker = slp_admin_instance(a, w),
                          .host = slp_admin_text(a, w->host),
                          .counter = w->counter,
                          .lease_ms = w->lease_ms,
                          .held = held_by(a, w),
                          .weight = w->weight,
                          .leads = slp_admin_is_instance(w, a->snapshot.leadership.owner),
                          .leaving = w->leaving,
                          .dead = w->gone.n > 0,
                          .written_at_ms = w->wall_ms,
                          .behind_ms = w->behind_ms,
                          .rate_bytes = w->rate_bytes,
                          .evicted_by = slp_admin_text(a, w->gone),
                          .drained = is_drained(a, w)};
}
