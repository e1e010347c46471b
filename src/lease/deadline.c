/* deadline.c - the lease deadline (deadline.h), and when the next proof of life is due.
 *
 * A proof is a write by which this worker shows that it lives. The deadline is 0.8 of the lease time after
 * the last successful proof was SENT. Other workers may take this worker's leases only a whole lease time
 * after that proof, so a fifth of the lease time is left for clocks that run unevenly.
 *
 * Some strategies need a proof for each lease. Then the oldest proof of all open leases decides: while the
 * proof of one lease is too old, no record of any lease is handed out. Writes are repeated until they are
 * answered, so this ends soon: either the proof reaches the table, or the lease is lost and no longer counts.
 * Records in memory are not dropped when the table can't be reached for a while. */
#include "lease/deadline.h"

#include "base/mutant.h"
#include "base/probe.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/lease.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"

static const slp_str nothing = {NULL, 0};

static const slp_set allowed[] = {
    [SLP_PROOF_GOOD] = SLP_BIT(SLP_PROOF_LATE) | SLP_BIT(SLP_PROOF_EVICTED),
    [SLP_PROOF_LATE] = SLP_BIT(SLP_PROOF_GOOD) | SLP_BIT(SLP_PROOF_EVICTED),
    [SLP_PROOF_EVICTED] = SLP_BIT(SLP_PROOF_GOOD),
};

static void move(slp_fleet *f, slp_proof to) {
  SLP_MOVE(allowed, f->deadline.proof, to);
  f->processor->ops->suspend(f->processor, to != SLP_PROOF_GOOD);
}

int slp_proof_is(const slp_fleet *f, slp_proof proof) { return f->deadline.proof == proof; }

uint64_t slp_proof_us(const slp_fleet *f) { return f->deadline.good_us; }
void slp_proof_set(slp_fleet *f, uint64_t sent_us) { f->deadline.good_us = sent_us; }

/* Does nothing if the proof is EVICTED already: the worker may have joined again, and may be evicted again
 * before a proof of its new life is answered. */
void slp_proof_evicted(slp_fleet *f) {
  if (f->deadline.proof != SLP_PROOF_EVICTED) move(f, SLP_PROOF_EVICTED);
}

static void suspend_worker(slp_fleet *f) {
  if (f->deadline.proof != SLP_PROOF_GOOD) return;
  SLP_PROBE("deadline: suspended");
  move(f, SLP_PROOF_LATE);
  /* A worker that can't prove its own life must not judge others, so what it saw of their silence until now
   * proves nothing. */
  slp_fleet_trouble(f);
  slp_fleet_tell(f, SLP_FLEET_SUSPENDED, nothing, 0, "no heartbeat was answered in time");
  if (f->strategy->suspended) f->strategy->suspended(f);
}

static void resume_worker(slp_fleet *f) {
  slp_proof was = f->deadline.proof;
  if (was == SLP_PROOF_GOOD) return;
  SLP_PROBE("deadline: resumed");
  move(f, SLP_PROOF_GOOD);
  slp_fleet_trouble(f); /* what this worker saw of others while it was suspended proves nothing */
  if (was == SLP_PROOF_LATE) slp_fleet_tell(f, SLP_FLEET_RESUMED, nothing, 0, "a heartbeat was answered");
  if (f->strategy->resumed) f->strategy->resumed(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_touch(l);
}

/* Returns the deadline. exact, 1: computed from all leases, if each has a proof of its own; 0: a quick
 * estimate. */
static uint64_t deadline_of(slp_fleet *f, int exact) {
  return slp_after_us(f->strategy->good_us(f, exact), slp_fleet_lease_us(f) / 10 * 8);
}

static int past_deadline(slp_fleet *f) {
  uint64_t now = slp_now_refresh_us(f->h);
  return now >= deadline_of(f, 0) && now >= deadline_of(f, 1) && !SLP_MUTANT(no_lease_deadline);
}

static void set_deadline_timer(slp_fleet *f) {
  if (f->deadline.proof == SLP_PROOF_GOOD) slp_fleet_timer(f, &f->deadline.timer, deadline_of(f, 0));
}

void slp_deadline_check(slp_fleet *f) {
  if (!slp_worker_lives(f)) return;
  if (past_deadline(f))
    suspend_worker(f);
  else
    resume_worker(f);
  set_deadline_timer(f);
}

void slp_deadline_adds(slp_fleet *f, uint64_t sent_us) {
  slp_proof_set(f, slp_min_u64(slp_proof_us(f), sent_us));
  set_deadline_timer(f); /* without an open lease there was no deadline, so the timer was not set */
}

int slp_fleet_may_deliver(slp_fleet *f) {
  if (!slp_worker_lives(f)) return 0;
  if (past_deadline(f)) {
    SLP_PROBE("deadline: seen just before handing out");
    suspend_worker(f);
  }
  return f->deadline.proof == SLP_PROOF_GOOD;
}

/* ---- heartbeats that are due --------------------------------------------------------------------- */

void slp_beat_at(slp_fleet *f, uint64_t at_us) {
  f->deadline.beat_at_us = at_us;
  slp_fleet_timer(f, &f->deadline.beat_timer, at_us);
}

uint64_t slp_beat_at_us(const slp_fleet *f) { return f->deadline.beat_at_us; }

void slp_proof_want(slp_fleet *f, uint64_t since_us) {
  f->deadline.wanted_us = slp_max_u64(f->deadline.wanted_us, since_us);
  if (slp_beat_at_us(f) > slp_fleet_now(f)) slp_beat_at(f, slp_fleet_now(f));
}

int slp_proof_is_wanted(const slp_fleet *f, uint64_t sent_us) { return sent_us < f->deadline.wanted_us; }

void slp_fleet_beat_first(slp_fleet *f) {
  if (!slp_worker_lives(f) || slp_now_refresh_us(f->h) < f->deadline.beat_at_us) return;
  slp_timer_clear(f->h, &f->deadline.beat_timer);
  f->strategy->beat(f);
}

static void run_beat(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, deadline.beat_timer);
  if (slp_worker_lives(f) && !SLP_MUTANT(beat_behind_reading)) f->strategy->beat(f);
}

static void on_deadline_timer(slp_timer *t) { slp_deadline_check(SLP_OWNER(t, slp_fleet, deadline.timer)); }

void slp_deadline_init(slp_fleet *f) {
  slp_fleet_timer_init(&f->deadline.timer, on_deadline_timer);
  slp_fleet_timer_init(&f->deadline.beat_timer, run_beat);
}

void slp_deadline_stop(slp_fleet *f) {
  slp_timer_clear(f->h, &f->deadline.beat_timer);
  slp_timer_clear(f->h, &f->deadline.timer);
}
