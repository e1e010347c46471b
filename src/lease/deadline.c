/* fleet_fence.c - who can't prove that it lives hands out nothing, whatever rule the proof follows.
 *
 * The fence stands at 0.8 of a lease after the SENDING of the last good proof: nobody may take anything from
 * this worker before a whole lease after that, so between the two lies the room for clocks that run unevenly.
 * Where every lease is proven by itself the oldest proof of those that are open counts: as long as one lease
 * is in doubt nothing is handed out at all. Writes are repeated until they are answered, so such a doubt is
 * over soon (the proof came through, or the lease is lost and doubtful no more), and no record is thrown away
 * for a table that was away for a while. */
#include "base/probe.h"
#include "lease/lease.h"

static const slp_str nothing = {NULL, 0};

static uint64_t deadline_of(slp_fleet *f, int exact) {
  return slp_after_us(f->liveness->good_us(f, exact), slp_fleet_lease_us(f) / 10 * 8);
}

int slp_worker_lives(const slp_fleet *f) {
  return f->state == SLP_WORKER_RUNS || f->state == SLP_WORKER_LEAVING;
}

static void suspend(slp_fleet *f) {
  if (f->suspended) return;
  SLP_PROBE("fence: suspended");
  f->suspended = 1;
  f->processor->ops->suspend(f->processor, 1);
  slp_fleet_tell(f, SLP_FLEET_SUSPENDED, nothing, 0, "no heartbeat was answered in time");
  f->sharing->suspended(f);
}

static void resume(slp_fleet *f) {
  if (!f->suspended) return;
  SLP_PROBE("fence: resumed");
  int kept = !f->evicted;
  f->suspended = f->evicted = 0;
  f->processor->ops->suspend(f->processor, 0);
  if (kept) slp_fleet_tell(f, SLP_FLEET_RESUMED, nothing, 0, "a heartbeat was answered");
  f->sharing->resumed(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_touch(l);
}

static int past_deadline(slp_fleet *f) {
  uint64_t now = slp_now_refresh_us(f->h);
  return now >= deadline_of(f, 0) && now >= deadline_of(f, 1) && !SLP_MUTANT(no_lease_deadline);
}

void slp_deadline_check(slp_fleet *f) {
  if (!slp_worker_lives(f)) return;
  if (past_deadline(f))
    suspend(f);
  else
    resume(f);
  if (!f->suspended) slp_fleet_timer(f, &f->deadline_timer, deadline_of(f, 0));
}

void slp_deadline_timer(slp_timer *t) { slp_deadline_check(SLP_OWNER(t, slp_fleet, deadline_timer)); }

int slp_fleet_may_deliver(slp_fleet *f) {
  if (!slp_worker_lives(f)) return 0;
  if (past_deadline(f)) {
    SLP_PROBE("fence: seen just before handing out");
    suspend(f);
  }
  return !f->suspended;
}

/* ---- proofs that are due ----------------------------------------------------------------------- */

void slp_beat_at(slp_fleet *f, uint64_t at_us) {
  f->beat_at_us = at_us;
  slp_fleet_timer(f, &f->beat_timer, at_us);
}

void slp_beat_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, beat_timer);
  if (slp_worker_lives(f) && !SLP_MUTANT(beat_behind_reading)) f->liveness->beat(f);
}

void slp_fleet_beat_first(slp_fleet *f) {
  if (!slp_worker_lives(f) || slp_now_refresh_us(f->h) < f->beat_at_us) return;
  slp_timer_clear(f->h, &f->beat_timer);
  f->liveness->beat(f);
}

/* ---- a life begins ----------------------------------------------------------------------------- */

void slp_worker_begins(slp_fleet *f) {
  f->state = f->stopping ? SLP_WORKER_LEAVING : SLP_WORKER_RUNS;
  f->joined_us = slp_fleet_now(f);
  slp_fleet_tell(f, SLP_FLEET_JOINED, nothing, 0, "%.*s", (int)f->me.n, f->me.p);
  slp_deadline_check(f);
  if (f->stopping)
    slp_leave_step(f);
  else
    f->sharing->begin(f);
}
