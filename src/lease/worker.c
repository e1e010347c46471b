/* fleet_worker.c - the life of a registered worker, where one row a worker proves it: its heartbeat, its
 * eviction. */
#include "base/probe.h"
#include "lease/lease.h"

static const slp_str nothing = {NULL, 0};

/* ---- heartbeats -------------------------------------------------------------------------------- */

void slp_worker_trouble(slp_fleet *f) { f->trouble_us = slp_now_refresh_us(f->h); }

static uint32_t held(slp_fleet *f) {
  uint32_t n = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) n += (uint32_t)slp_lease_in(l, SLP_LEASE_HELD);
  return n;
}

static void beat_done(slp_write *op) {
  slp_fleet *f = op->f;
  slp_member *me = slp_member_get(f, f->o.worker);
  if (me) slp_member_saw_write(me, op);
  if (op->end == SLP_OUTCOME_REFUSED) {
    slp_worker_evicted(f, op->row.kind == SLP_ROW_WORKER ? "condemned by another worker" : "its row is gone");
    return;
  }
  if (op->end ==
      SLP_OUTCOME_UNCHANGED) { /* refused, and yet nothing speaks against it: ask with a higher number */
    slp_worker_trouble(f);
    f->counter = op->i.counter;
    slp_beat_at(f, slp_fleet_now(f) + 100000);
    return;
  }
  f->stats.heartbeats++;
  f->counter = op->i.counter;
  slp_beat_at(f, slp_after_us(op->sent_us, slp_fleet_jitter(f, slp_fleet_lease_us(f) / 3, 10)));
  int changed_now = me && f->role == SLP_ROLE_LEADS && me->changes != f->changes;
  f->good_us = slp_max_u64(f->good_us, op->sent_us);
  slp_deadline_check(f);
  if (changed_now) slp_watch_now(f);
}

static void beat(slp_fleet *f) {
  slp_operation *i = &f->beat.i;
  f->beat_at_us = SLP_NEVER;
  if (f->beat.busy) return;
  slp_fleet_operation(f, i, SLP_OPERATION_HEARTBEAT);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  i->counter = f->counter + 1;
  i->held = held(f);
  if (f->processor->ops->load) f->processor->ops->load(f->processor, &i->behind_ms, &i->rate_bytes);
  slp_write_send(&f->beat, beat_done);
}

/* ---- in and out -------------------------------------------------------------------------------- */

void slp_worker_runs(slp_fleet *f, uint64_t sent_us) {
  uint64_t third = slp_fleet_lease_us(f) / 3;
  f->counter = 1;
  f->good_us = sent_us;
  slp_beat_at(f, slp_after_us(sent_us, third / 4 + slp_random_below(f->h, third / 4 * 3)));
  slp_worker_begins(f);
}

void slp_worker_evicted(slp_fleet *f, const char *why) {
  if (!slp_worker_lives(f)) return;
  uint64_t now = slp_fleet_now(f), earliest = f->joined_us + slp_fleet_lease_us(f);
  SLP_PROBE("worker: evicted");
  f->stats.evictions++;
  f->processor->ops->suspend(f->processor, 1);
  f->suspended = f->evicted = 1;
  slp_fleet_tell(f, SLP_FLEET_EVICTED, nothing, 0, "%s", why);
  slp_election_drop(f);
  slp_fleet_stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    slp_lease_unwant(l);
  }
  f->assignment_known = 0;
  if (f->stopping) { /* nothing left to give */
    f->state = SLP_WORKER_OUT;
    slp_fleet_tell(f, SLP_FLEET_LEFT, nothing, 0, "condemned while it was leaving");
    return;
  }
  f->state = SLP_WORKER_JOINING;
  f->incarnation = nothing; /* a new one, at most once a lease */
  slp_fleet_timer(f, &f->join_timer, slp_max_u64(now, earliest));
}

static uint64_t good_us(slp_fleet *f, int exact) {
  (void)exact;
  return f->good_us;
}

#define BIT(kind) (1u << (kind))
const slp_liveness_rule slp_liveness_by_worker = {
    .urgent = BIT(SLP_OPERATION_REGISTER) | BIT(SLP_OPERATION_HEARTBEAT),
    .doubtful = BIT(SLP_OPERATION_REGISTER) | BIT(SLP_OPERATION_HEARTBEAT),
    .frees_all = 1,
    .begin = slp_join,
    .settle = slp_outcome_of,
    .beat = beat,
    .good_us = good_us,
};
