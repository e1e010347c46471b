/* fleet_worker.c - the life of a registered worker: its heartbeat, its fence, its eviction.
 *
 * The fence stands at 0.8 of a lease after the SENDING of the last good heartbeat: nobody may condemn this
 * worker before a whole lease after that, so between the two lies the room for clocks that run unevenly. */
#include "core/fleet_inside.h"

static const slp_str nothing = {NULL, 0};

static uint64_t fence_us(const slp_fleet *f) {
  return slp_after_us(f->good_us, slp_fleet_lease_us(f) / 10 * 8);
}

static int lives(const slp_fleet *f) { return f->state == SLP_WORKER_RUNS || f->state == SLP_WORKER_LEAVING; }

static void arm_beat(slp_fleet *f) { slp_fleet_timer(f, &f->beat_timer, f->beat_at_us); }

/* ---- the fence --------------------------------------------------------------------------------- */

static void suspend(slp_fleet *f) {
  if (f->suspended) return;
  f->suspended = 1;
  f->tenant->ops->suspend(f->tenant, 1);
  slp_fleet_tell(f, SLP_FLEET_SUSPENDED, nothing, 0, "no heartbeat was answered in time");
  slp_role_drop(f);
}

static void resume(slp_fleet *f) {
  if (!f->suspended) return;
  f->suspended = 0;
  f->tenant->ops->suspend(f->tenant, 0);
  slp_fleet_tell(f, SLP_FLEET_RESUMED, nothing, 0, "a heartbeat was answered");
  slp_role_seek(f, 0);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_touch(l);
}

static int past_fence(slp_fleet *f) { return slp_now_refresh_us(f->h) >= fence_us(f); }

void slp_worker_fence_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, fence_timer);
  if (lives(f) && past_fence(f)) suspend(f);
}

int slp_fleet_may_deliver(slp_fleet *f) {
  if (!lives(f)) return 0;
  if (past_fence(f)) suspend(f);
  return !f->suspended;
}

static void renewed(slp_fleet *f, uint64_t sent_us) {
  f->good_us = slp_max_u64(f->good_us, sent_us);
  slp_fleet_timer(f, &f->fence_timer, fence_us(f));
  if (past_fence(f))
    suspend(f);
  else
    resume(f);
}

/* ---- heartbeats -------------------------------------------------------------------------------- */

void slp_worker_trouble(slp_fleet *f) { f->trouble_us = slp_now_refresh_us(f->h); }

static uint32_t held(slp_fleet *f) {
  uint32_t n = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    n += l->state >= SLP_WAITING && l->state <= SLP_ENDING;
  return n;
}

static void beat_done(slp_op *op) {
  slp_fleet *f = op->f;
  slp_peer *me = slp_peer_get(f, f->o.worker);
  if (me) slp_peer_saw_op(me, op);
  if (op->end == SLP_OP_REFUSED) {
    slp_worker_evicted(f,
                       op->fact.kind == SLP_FACT_WORKER ? "condemned by another worker" : "its row is gone");
    return;
  }
  if (op->end == SLP_OP_STILL) { /* refused, and yet nothing speaks against it: ask with a higher number */
    slp_worker_trouble(f);
    f->counter = op->i.counter;
    f->beat_at_us = slp_fleet_now(f) + 100000;
    arm_beat(f);
    return;
  }
  f->stats.heartbeats++;
  f->counter = op->i.counter;
  f->beat_at_us = slp_after_us(op->sent_us, slp_fleet_jitter(f, slp_fleet_lease_us(f) / 3, 10));
  arm_beat(f);
  int rang = me && f->role == SLP_ROLE_LEADS && me->bell != f->bell;
  renewed(f, op->sent_us);
  if (rang) slp_watch_now(f);
}

static void beat(slp_fleet *f) {
  slp_intent *i = &f->beat.i;
  f->beat_at_us = SLP_NEVER;
  if (f->beat.busy) return;
  slp_fleet_intent(f, i, SLP_W2_BEAT);
  i->id = f->o.worker;
  i->boot = f->boot;
  i->counter = f->counter + 1;
  i->held = held(f);
  slp_op_send(&f->beat, beat_done);
}

void slp_worker_beat_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, beat_timer);
  if (lives(f)) beat(f);
}

void slp_fleet_beat_first(slp_fleet *f) {
  if (!lives(f) || slp_now_refresh_us(f->h) < f->beat_at_us) return;
  slp_timer_clear(f->h, &f->beat_timer);
  beat(f);
}

/* ---- in and out -------------------------------------------------------------------------------- */

void slp_worker_runs(slp_fleet *f, uint64_t sent_us) {
  f->state = f->stopping ? SLP_WORKER_LEAVING : SLP_WORKER_RUNS;
  f->counter = 1;
  f->good_us = sent_us;
  f->joined_us = slp_fleet_now(f);
  uint64_t third = slp_fleet_lease_us(f) / 3;
  f->beat_at_us = slp_after_us(sent_us, third / 4 + slp_random_below(f->h, third / 4 * 3));
  arm_beat(f);
  slp_fleet_tell(f, SLP_FLEET_JOINED, nothing, 0, "%.*s", (int)f->me.n, f->me.p);
  renewed(f, sent_us);
  if (f->stopping) {
    slp_leave_step(f);
    return;
  }
  slp_plan_read(f);
  if (f->role == SLP_ROLE_NONE) slp_role_seek(f, 0);
}

void slp_worker_evicted(slp_fleet *f, const char *why) {
  if (!lives(f)) return;
  uint64_t now = slp_fleet_now(f), earliest = f->joined_us + slp_fleet_lease_us(f);
  f->stats.evictions++;
  f->tenant->ops->suspend(f->tenant, 1);
  f->suspended = 1;
  slp_fleet_tell(f, SLP_FLEET_EVICTED, nothing, 0, "%s", why);
  slp_role_drop(f);
  slp_fleet_stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    slp_lease_gone(l, SLP_PART_LOST);
    l->planned = l->inherited = l->maybe = 0;
  }
  f->plan_known = 0;
  if (f->stopping) { /* nothing left to give */
    f->state = SLP_WORKER_OUT;
    slp_fleet_tell(f, SLP_FLEET_LEFT, nothing, 0, "condemned while it was leaving");
    return;
  }
  f->state = SLP_WORKER_JOINING;
  f->boot = nothing; /* a new one, at most once a lease */
  slp_fleet_timer(f, &f->join_timer, slp_max_u64(now, earliest));
}
