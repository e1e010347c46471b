/* drain_app.c - drains an application, or ends its drain: switches the hold of the application on or off, and
 * notifies the leader. The hold is an attribute in the row of leadership; while it is on, no worker reads
 * (lease/hold.h).
 *
 * To drain, the command then reads the rows again and again until no worker can read any more. Each worker
 * writes into its own row which version of the hold it obeys, and how many leases it has. A worker that
 * registers later reads the row of leadership first. A worker that is silent for a whole lease is evicted:
 * perhaps its process is only stopped, and would read on when it runs again. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "base/mutant.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>

/* at most this many writes are sent; the hold is written again if its row has changed before the write */
#define ROUNDS_MAX 20u
#define AGAIN_US 500000u /* the time between two reads of the rows while workers still read */

struct slp_drain {
  uint64_t begun_us;
  uint32_t rounds;  /* how many writes were sent: of the hold, and notifications of the leader */
  uint8_t wrote;    /* 1: this command has surely switched the hold */
  uint8_t notified; /* 1: the leader was notified after the hold was switched */
};

/* Returns 1 if the worker has not stopped reading, by what it wrote into its row: it obeys an older version
 * of the hold than `version`, or it still has leases. */
static int has_not_stopped(const slp_worker_row *w, uint64_t version) {
  return w->hold_version < version || (w->held && !SLP_MUTANT(drain_ignores_leases));
}

/* Returns 1 if the worker still reads, or may read. */
static int may_read(const slp_worker_row *w, uint64_t version) {
  return !w->gone.n && has_not_stopped(w, version);
}

/* Returns 1 if another operator's command has evicted the worker, perhaps while it lived (--force), and the
 * worker had not stopped before. Such a worker reads on until it hears of it or until its lease deadline. So
 * this command watches its row for a whole lease. A worker that this command has evicted was silent for that
 * long, and one that a worker has evicted too. */
static int was_perhaps_evicted_alive(slp_admin *a, const slp_worker_row *w) {
  static const slp_str operators = {"operator.", 9};
  slp_str by = w->gone;
  if (!has_not_stopped(w, a->snapshot.leadership.hold.version)) return 0;
  if (by.n < operators.n || memcmp(by.p, operators.p, operators.n) != 0) return 0;
  if (slp_str_eq(by, slp_str_of(a->me))) return 0;
  const slp_watched *watched = slp_watch_add_worker(a, w);
  return watched && !watched->dead;
}

/* ---- the answer --------------------------------------------------------------------------------------- */

static void tell_drain_result(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  sloop_drain_t *told = slp_admin_room(a, sizeof *told);
  const char **waits = slp_admin_room(a, (s->workers_n + 1) * sizeof *waits);
  if (!told || !waits) return; /* `starved` is set, so the command fails */
  *told = (sloop_drain_t){.on = s->leadership.hold.on,
                          .was_so = !a->drain->wrote,
                          .by = slp_admin_text(a, s->leadership.hold_by),
                          .at_ms = s->leadership.hold_ms,
                          .waits_for = waits};
  for (size_t i = 0; i < s->workers_n; i++) {
    const slp_worker_row *w = &s->workers[i];
    told->workers_n += !w->gone.n;
    if (told->on && (may_read(w, s->leadership.hold.version) || was_perhaps_evicted_alive(a, w)))
      waits[told->waits_for_n++] = slp_admin_instance(a, w);
  }
  for (size_t i = 0; i < s->leases_n; i++) told->leases_n += s->leases[i].position.kind != SLP_POSITION_END;
  a->answer.drain = told;
}

/* ---- the switch --------------------------------------------------------------------------------------- */

static void on_drain_notified(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  /* If the leader was evicted, the notification is refused. The next read of the rows then shows the present
   * leader. */
  a->drain->notified = slot->op.end == SLP_OUTCOME_DONE;
  if (slp_admin_write_is_final(slot))
    slp_admin_finish(a);
  else
    slp_admin_read_in(a, 0);
}

static void on_hold_written(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  if (slot->op.end == SLP_OUTCOME_DONE) a->drain->wrote = 1;
  if (slp_admin_write_is_final(slot))
    slp_admin_finish(a);
  else
    slp_admin_read_in(a, 0);
}

static int is_switched(const slp_admin *a) { return a->snapshot.leadership.hold.on == a->o.hold_on; }

/* Returns a version for the hold, greater by two than every version in the rows. The row of leadership alone
 * is not enough: if an operator has deleted an earlier one, workers may have seen a greater version in that.
 * The leader ends a hold that has outlived its row by the next version, and no row may have that yet
 * (slp_hold_outlived). So the next version is left to the leader. */
static uint64_t new_version(const slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  uint64_t version = s->leadership.hold.version;
  for (size_t i = 0; i < s->assignments_n; i++)
    version = slp_max_u64(version, s->assignments[i].hold.version);
  for (size_t i = 0; i < s->workers_n; i++) version = slp_max_u64(version, s->workers[i].hold_version);
  return version + 2;
}

void slp_drain_write(slp_admin *a) {
  slp_operation hold = {.kind = SLP_OPERATION_HOLD,
                        .me = slp_str_of(a->me),
                        .version = new_version(a),
                        .hold = {.version = a->snapshot.leadership.hold.version, .on = a->o.hold_on}};
  const slp_worker_row *leader = slp_admin_leader(a);
  slp_operation notify = {.kind = SLP_OPERATION_NOTIFY, .id = leader ? leader->id : (slp_str){NULL, 0}};
  int r = is_switched(a) ? slp_admin_write(a, &notify, 0, on_drain_notified)
                         : slp_admin_write(a, &hold, 0, on_hold_written);
  if (r) slp_admin_no_memory(a);
}

/* Returns 1 if the leader must still be notified. The rows were read after the hold was switched. So a worker
 * that begins to lead after that read sees the hold by itself. */
static int is_to_notify(const slp_admin *a) {
  return !a->drain->notified && slp_admin_leader(a) && a->drain->rounds < ROUNDS_MAX;
}

/* ---- waiting for the workers -------------------------------------------------------------------------- */

static void on_drain_evicted(slp_admin_slot *slot) {
  slp_admin *a = slot->admin;
  if (a->busy_n) return;
  if (slp_admin_write_is_final(slot))
    slp_admin_finish(a);
  else
    slp_admin_read_in(a, 0);
}

/* Returns 1 if the worker may still read, and was silent for its whole lease while this command watched. */
static int is_silent(slp_admin *a, const slp_worker_row *w) {
  if (!may_read(w, a->snapshot.leadership.hold.version)) return 0;
  const slp_watched *watched = slp_watch_add_worker(a, w);
  return watched && watched->dead && !watched->evicted;
}

void slp_drain_evict(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  for (size_t i = 0; i < s->workers_n; i++) {
    const slp_worker_row *w = &s->workers[i];
    slp_operation op = {.kind = SLP_OPERATION_EVICT,
                        .me = slp_str_of(a->me),
                        .id = w->id,
                        .incarnation = w->incarnation,
                        .counter = w->counter};
    /* if no slot for a write is free, the worker is evicted after the next read of the rows */
    if (is_silent(a, w)) (void)slp_admin_write(a, &op, 0, on_drain_evicted);
  }
  if (!a->busy_n) slp_admin_no_memory(a);
}

static void wait_for_workers(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  uint64_t limit_us = slp_after_us(a->drain->begun_us, (uint64_t)a->o.limit_ms * 1000);
  size_t left = 0, silent = 0;
  slp_watch_saw(a);
  for (size_t i = 0; i < s->workers_n; i++) {
    const slp_worker_row *w = &s->workers[i];
    left += may_read(w, s->leadership.hold.version) || was_perhaps_evicted_alive(a, w);
    silent += is_silent(a, &s->workers[i]);
  }
  if (a->starved) {
    slp_admin_no_memory(a);
  } else if (silent) {
    slp_admin_move(a, SLP_ADMIN_EVICTING);
  } else if (!left) {
    tell_drain_result(a);
    slp_admin_finish(a);
  } else if (slp_now_us(a->o.host) < limit_us) {
    slp_admin_read_in(a, AGAIN_US);
  } else {
    tell_drain_result(a);
    a->why.left = left;
    slp_admin_failed(a, SLP_ADMIN_STILL_READ, SLP_REFUSED, SLOOP_ELEASE, (slp_str){NULL, 0});
  }
}

void slp_admin_drain(slp_admin *a) {
  if (!a->drain && (a->drain = slp_admin_room(a, sizeof *a->drain)))
    a->drain->begun_us = slp_now_us(a->o.host);
  if (!a->drain) {
    slp_admin_no_memory(a);
  } else if (!slp_admin_has(a, SLP_OPERATION_HOLD)) {
    slp_admin_failed(a, SLP_ADMIN_NO_HOLD, SLP_REFUSED, SLOOP_EOPTION, (slp_str){NULL, 0});
  } else if (!a->snapshot.leadership_there) {
    slp_admin_failed(a, SLP_ADMIN_NO_LEASES, SLP_REFUSED, SLOOP_ELEASE, (slp_str){NULL, 0});
  } else if (!is_switched(a) && a->drain->rounds >= ROUNDS_MAX) {
    slp_admin_failed(a, SLP_ADMIN_NOT_SWITCHED, SLP_TRANSIENT, SLOOP_ELEASE, (slp_str){NULL, 0});
  } else if (!is_switched(a) || is_to_notify(a)) {
    a->drain->rounds++;
    slp_admin_move(a, SLP_ADMIN_WRITING);
  } else if (a->o.hold_on) {
    wait_for_workers(a);
  } else {
    tell_drain_result(a);
    slp_admin_finish(a);
  }
}
