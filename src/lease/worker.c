/* worker.c - the life of a worker whose own row proves its life (the native strategy). Before it registers,
 * the worker reads the row with its own id:
 *   - if there is no row, or its incarnation is gone: the worker registers;
 *   - if the row's counter changes: another process uses the id, so this worker fails;
 *   - if the row has not changed for a whole lease: the worker evicts it first.
 * Then it sends heartbeats. When a heartbeat is refused, the worker was evicted. worker_life.h has a drawing
 * of the states. leave.c stops a worker in an orderly way. */
#include "lease/worker.h"

#include "base/probe.h"
#include "base/repeat.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/lease.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/processor.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/spread.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* Least and greatest time between two attempts to join. The time grows while attempts follow each other
 * closely. */
#define JOIN_LEAST_US 200000
#define JOIN_MOST_US 5000000
/* while the table throttles writes, a heartbeat has at least this much time for its tries before the lease
 * deadline */
#define THROTTLED_US UINT64_C(3000000)

static const slp_str nothing = {NULL, 0};

/* ---- heartbeats -------------------------------------------------------------------------------- */

static void on_own_eviction(slp_fleet *f, const char *why) {
  if (!slp_worker_lives(f)) return;
  uint64_t now = slp_fleet_now(f), earliest = slp_life_joined_us(f) + slp_fleet_lease_us(f);
  SLP_PROBE("worker: evicted");
  f->stats.evictions++;
  slp_proof_evicted(f);
  slp_fleet_tell(f, SLP_FLEET_EVICTED, nothing, 0, "%s", why);
  if (f->strategy->suspended) f->strategy->suspended(f);
  f->worker.stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    slp_lease_unwant(l);
  }
  if (slp_worker_is(f, SLP_WORKER_LEAVING)) {
    /* the worker was leaving when it was evicted: it has no lease left to give away, so it need not join
     * again */
    slp_life_move(f, SLP_WORKER_OUT);
    slp_fleet_tell(f, SLP_FLEET_LEFT, nothing, 0, "evicted while it was leaving");
    return;
  }
  /* The worker joins again at the earliest one lease time after it last joined. So it joins at most once in
   * each lease time. */
  slp_life_move(f, SLP_WORKER_JOINING);
  slp_fleet_timer(f, &f->worker.join_timer, slp_max_u64(now, earliest));
}

/* Returns the time until the next heartbeat. It is longer while the table throttles writes. But at least
 * THROTTLED_US is left for the heartbeat's tries before the lease deadline. */
static uint64_t next_beat_us(slp_fleet *f) {
  uint64_t lease_us = slp_fleet_lease_us(f), third_us = lease_us / 3, late_us = lease_us / 10 * 8;
  uint64_t seldom_us = late_us > THROTTLED_US ? slp_min_u64(late_us - THROTTLED_US, lease_us / 2) : 0;
  if (seldom_us <= third_us || !slp_fleet_writes_throttled(f)) return slp_fleet_jitter(f, third_us, 10);
  return slp_fleet_jitter(f, seldom_us, 5);
}

static void beat_done(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  slp_member *me = slp_member_get(f, f->o.worker);
  if (me) slp_member_saw_write(me, op);
  if (op->end == SLP_OUTCOME_REFUSED) {
    on_own_eviction(f, op->row.kind == SLP_ROW_WORKER ? "evicted by another worker" : "its row is gone");
    return;
  }
  f->worker.counter = op->i.counter;
  /* The row still has this incarnation and is not evicted. So the heartbeat is sent again, with a higher
   * counter. */
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    slp_fleet_trouble(f);
    slp_beat_at(f, slp_fleet_now(f) + 100000);
    return;
  }
  f->stats.heartbeats++;
  uint64_t next_us = slp_after_us(op->sent_us, next_beat_us(f));
  slp_beat_at(f, slp_proof_is_wanted(f, op->sent_us) ? slp_fleet_now(f) : next_us);
  slp_proof_set(f, slp_max_u64(slp_proof_us(f), op->sent_us));
  slp_deadline_check(f);
  slp_leases_proven(f);
  f->strategy->heartbeat(f, me);
}

void slp_worker_beat(slp_fleet *f) {
  slp_operation *i = &f->worker.heartbeat.i;
  slp_beat_at(f, SLP_NEVER);
  if (f->worker.heartbeat.busy) return;
  slp_fleet_operation(f, i, SLP_OPERATION_HEARTBEAT);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  i->counter = f->worker.counter + 1;
  i->held = slp_leases_held(f);
  if (slp_hold_is(f, SLP_HOLD_ON)) {
    /* A worker that leaves has leases in the table until its LEAVE is written, which tells that it is gone.
     * It may have told before that it obeys, so its row must go on saying how many it has. */
    if (slp_worker_is(f, SLP_WORKER_RUNS)) i->hold = slp_hold_known(f);
    /* who drains the application waits until the positions are in the table */
    i->held = slp_leases_unreleased(f);
  }
  i->tells_format = (uint8_t)slp_spread_was_other(f);
  if (f->processor->ops->load) f->processor->ops->load(f->processor, &i->behind_ms, &i->rate_bytes);
  slp_write_send(&f->worker.heartbeat, beat_done);
}

uint64_t slp_worker_good_us(slp_fleet *f, int exact) {
  (void)exact;
  return slp_proof_us(f);
}

/* ---- joining ----------------------------------------------------------------------------------- */

static void read_row(slp_fleet *f);

static void set_join_timer_in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->worker.join_timer, slp_after_us(slp_fleet_now(f), us));
}

static void on_registration_answered(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  slp_member *p = slp_member_get(f, f->o.worker);
  if (p) slp_member_saw_write(p, op);
  slp_due_step(f); /* the worker may have been told to leave meanwhile */
  if (op->end != SLP_OUTCOME_DONE) {
    /* another process registered first, or this incarnation is evicted already */
    slp_worker_join(f);
    return;
  }
  uint64_t soon_us = next_beat_us(f);
  f->worker.counter = 1;
  slp_proof_set(f, op->sent_us);
  slp_beat_at(f, slp_after_us(op->sent_us, soon_us / 4 + slp_random_below(f->h, soon_us / 4 * 3)));
  slp_worker_begins(f);
}

static void send_registration(slp_fleet *f, const slp_member *p) {
  slp_operation *i = &f->worker.registration.i;
  slp_fleet_operation(f, i, SLP_OPERATION_REGISTER);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  i->lease_ms = f->o.lease_ms;
  i->weight = f->o.weight;
  i->host = f->o.machine;
  i->over_tombstone = p->gone && !slp_member_is_missing(p);
  i->incarnation_before = (slp_str){p->incarnation, p->incarnation_n};
  slp_write_send(&f->worker.registration, on_registration_answered);
}

/* Called when there is a row with this worker's id that is not evicted. If the row has been silent for long
 * enough, evicts it; if its counter changes, fails; otherwise looks again later. If the row has another
 * incarnation than before, that does not prove that a worker lives: the change may come from a late copy of
 * a write of a former process, or of this process. */
static void meet_row_of_my_id(slp_fleet *f, slp_member *p) {
  uint64_t now = slp_now_refresh_us(f->h), since = slp_life_joined_us(f);
  uint64_t lease_us = slp_max_u64(slp_fleet_lease_us(f), (uint64_t)p->lease_ms * 1000);
  if (slp_member_may_evict(f, p, 0)) {
    uint64_t at = slp_paced_us(&f->worker.evictions, now, JOIN_LEAST_US, JOIN_MOST_US);
    SLP_PROBE("join: my id was a dead one's");
    if (at <= now) {
      slp_paced_done(&f->worker.evictions, now, JOIN_MOST_US);
      slp_member_evict(f, p);
    }
    set_join_timer_in(f, at > now ? at - now : 50000);
  } else if (now - since > lease_us + lease_us / 2 && now - p->silence.moved_us < lease_us) {
    SLP_PROBE("join: my id is somebody's who lives");
    slp_life_move(f, SLP_WORKER_OUT);
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "another worker is alive under the id \"%.*s\"",
                   (int)f->o.worker.n, f->o.worker.p);
  } else {
    uint64_t quiet = p->silence.since_us + lease_us;
    set_join_timer_in(f, quiet > now ? slp_min_u64(lease_us / 5, quiet - now + 1) : lease_us / 5);
  }
}

static void row_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_member *p = slp_member_make(f, f->o.worker);
  slp_parsed_row row;
  if (!r->came || !p) {
    if (p) slp_member_unread(p);
    set_join_timer_in(f, 100000 + slp_random_below(f->h, 300000));
    return;
  }
  slp_read_one(r, &row);
  if (row.kind == SLP_ROW_BAD) {
    slp_life_move(f, SLP_WORKER_OUT);
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "the row of worker \"%.*s\" can't be used: %s",
                   (int)f->o.worker.n, f->o.worker.p, row.why);
    return;
  }
  slp_member_saw(p, r->rows->n ? &row.u.worker : NULL, 1, r->rq);
  if (slp_member_is_missing(p) || p->gone)
    send_registration(f, p);
  else
    meet_row_of_my_id(f, p);
}

static void read_row(slp_fleet *f) {
  if (slp_read_row(&f->worker.row, SLP_OPERATION_REGISTER, f->o.worker, 1, row_read))
    set_join_timer_in(f, 100000);
}

/* Finds out how leases are spread before it reads the worker's row. The worker's own row will have a format
 * that tells older programs about the spread. */
static void look_up(slp_fleet *f) { slp_spread_learn(f, read_row); }

void slp_worker_join(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f), at = slp_paced_us(&f->worker.joins, now, JOIN_LEAST_US, JOIN_MOST_US);
  slp_life_joined(f, now);
  slp_fleet_draw_incarnation(f);
  slp_paced_done(&f->worker.joins, at, JOIN_MOST_US);
  if (at > now)
    slp_fleet_timer(f, &f->worker.join_timer, at);
  else
    look_up(f);
}

/* Joins again after an eviction, or reads the row with this worker's id again. */
static void join_again(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, worker.join_timer);
  if (!slp_worker_is(f, SLP_WORKER_JOINING)) return;
  if (!f->incarnation.n)
    slp_worker_join(f);
  else
    look_up(f);
}

/* ---- the begin and the end of a worker's life ---------------------------------------------------- */

void slp_worker_init(slp_fleet *f, void (*stop_all)(slp_fleet *f)) {
  f->worker.stop_all = stop_all;
  slp_read_init(&f->worker.row, f, "this worker's own row", 0);
  slp_write_init(&f->worker.registration, &f->writes, f);
  slp_write_init(&f->worker.heartbeat, &f->writes, f);
  slp_fleet_timer_init(&f->worker.join_timer, join_again);
}

void slp_worker_stop(slp_fleet *f) {
  slp_read_stop(&f->worker.row);
  slp_timer_clear(f->h, &f->worker.join_timer);
  slp_write_stop(&f->worker.heartbeat);
  slp_write_stop(&f->worker.registration);
}

void slp_worker_free(slp_fleet *f) {
  slp_read_free(&f->worker.row);
  slp_write_free(&f->worker.heartbeat);
  slp_write_free(&f->worker.registration);
}

void slp_worker_begins(slp_fleet *f) {
  slp_life_move(f, SLP_WORKER_RUNS);
  slp_life_joined(f, slp_fleet_now(f));
  slp_fleet_tell(f, SLP_FLEET_JOINED, nothing, 0, "%.*s", (int)f->me.n, f->me.p);
  slp_deadline_check(f);
  slp_hold_begin(f);
  f->strategy->begin(f);
}

int slp_worker_registers(const slp_fleet *f) {
  return slp_worker_is(f, SLP_WORKER_JOINING) && f->worker.registration.busy;
}

void slp_worker_mark_gone(slp_fleet *f, void (*done)(slp_write *op)) {
  slp_operation *i = &f->worker.registration.i;
  slp_write_stop(&f->worker.heartbeat); /* a heartbeat that is sent later would only be refused */
  slp_beat_at(f, SLP_NEVER);
  slp_fleet_operation(f, i, SLP_OPERATION_LEAVE);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  f->worker.registration.tries_max = 5;
  slp_write_send(&f->worker.registration, done);
}

void slp_worker_out(slp_fleet *f, const char *why) {
  slp_life_move(f, SLP_WORKER_OUT);
  f->worker.stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_gone(l, SLP_SHUTDOWN_EXPIRED);
  slp_fleet_tell(f, SLP_FLEET_LEFT, nothing, 0, "%s", why);
}
