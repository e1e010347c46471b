/* fleet_leave.c - a clean stop: drain and save; then, where a leader plans, name heirs, ring, resign, go. The
 * heirs act on the bell, so nothing waits for a lease to run out. */
#include "lease/lease.h"

#include <stdlib.h>

enum { DRAIN, COUNT_SUCCESSORS, PROPOSALS, NOTIFY, RESIGN, GO, GONE };

static const slp_str nothing = {NULL, 0};

void slp_worker_out(slp_fleet *f, const char *why) {
  f->state = SLP_WORKER_OUT;
  slp_fleet_stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_gone(l, SLP_SHUTDOWN_EXPIRED);
  slp_fleet_tell(f, SLP_FLEET_LEFT, nothing, 0, "%s", why);
}

void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms) {
  uint64_t now = slp_fleet_now(f);
  if (f->stopping) return;
  f->stopping = 1;
  if (f->state == SLP_WORKER_OUT) return;
  f->leave_by_us = now + (uint64_t)limit_ms * 1000;
  if (f->state != SLP_WORKER_RUNS) {
    slp_worker_out(f, "it had not joined");
    return;
  }
  f->led = f->role == SLP_ROLE_LEADS;
  f->led_by = f->leader;
  slp_election_drop(f);
  slp_bulk_write_stop(f); /* rows that are to be made, or to go: somebody else will */
  f->state = SLP_WORKER_LEAVING;
  f->leave_phase = DRAIN;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_touch(l);
  slp_fleet_timer(f, &f->join_timer, f->leave_by_us + slp_fleet_lease_us(f));
  slp_post(f->h, &f->step_ev);
}

/* ---- wills ------------------------------------------------------------------------------------- */

static int is_successor(const slp_fleet *f, const slp_member *p) {
  return p->in_list && !p->strange && !p->gone && !p->leaving &&
         !slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker);
}

static slp_member *least_loaded(slp_fleet *f) {
  slp_member *best = NULL;
  size_t at = 0;
  for (slp_member *p; (p = slp_map_each(&f->members, &at));)
    if (is_successor(f, p) && (!best || p->held + p->given < best->held + best->given)) best = p;
  return best;
}

static int is_mine_to_give(const slp_lease *l) {
  return !l->row.ended && (l->will.freed || l->want.assigned || l->want.inherited);
}

static void to_successor(slp_fleet *f) {
  size_t at = 0;
  slp_member *p;
  while ((p = slp_map_each(&f->members, &at))) p->given = 0;
  at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    l->will.successor = is_mine_to_give(l) ? least_loaded(f) : NULL;
    if (l->will.successor) l->will.successor->given++;
  }
  for (size_t i = 0; (p = slp_map_each(&f->members, &i));) {
    if (!p->given) continue;
    slp_operation *proposal = slp_bulk_write_add(f, SLP_OPERATION_PROPOSE, p->id_n, p->given);
    if (!proposal) continue; /* the leader plans them */
    proposal->id = slp_bulk_write_text(f, (slp_str){p->id, p->id_n});
    at = 0;
    for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
      if (l->will.successor == p) slp_bulk_write_list(f)[proposal->shards_n++] = l->shard;
  }
}

/* ---- one after the other ----------------------------------------------------------------------- */

static void next(slp_fleet *f, uint8_t phase) {
  f->leave_phase = phase;
  slp_post(f->h, &f->step_ev);
}

static void successors_read(slp_fleet *f) {
  if (f->state != SLP_WORKER_LEAVING) return;
  to_successor(f);
  next(f, f->jobs.n ? PROPOSALS : f->led ? RESIGN : GO);
}

static void proposals_written(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused, (void)given_up;
  if (f->state == SLP_WORKER_LEAVING) next(f, NOTIFY);
}

static void resigned(slp_write *op) {
  if (op->f->state == SLP_WORKER_LEAVING) next(op->f, GO);
}

static void left(slp_write *op) {
  op->f->undone = op->end == SLP_OUTCOME_GIVEN_UP;
  slp_worker_out(op->f, op->end == SLP_OUTCOME_GIVEN_UP ? "its row could not be marked" : "left");
}

static void resign(slp_fleet *f) {
  slp_operation *i = &f->lead_write.i;
  slp_write_stop(&f->lead_write);
  slp_fleet_operation(f, i, SLP_OPERATION_RESIGN);
  i->epoch = f->leadership_epoch;
  f->lead_write.tries_max = 3;
  slp_write_send(&f->lead_write, resigned);
}

static void go(slp_fleet *f) {
  slp_operation *i = &f->join_write.i;
  slp_write_stop(&f->beat); /* a later heartbeat would only be refused */
  slp_timer_clear(f->h, &f->beat_timer);
  f->beat_at_us = SLP_NEVER;
  slp_fleet_operation(f, i, SLP_OPERATION_LEAVE);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  f->join_write.tries_max = 5;
  slp_write_send(&f->join_write, left);
}

static int drained(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (slp_lease_in(l, SLP_LEASE_MINE) || l->op.busy) return 0;
  return !f->jobs.busy;
}

void slp_leave_successors(slp_fleet *f) {
  if (slp_workers_list(f, 1, successors_read)) {
    f->leave_phase = COUNT_SUCCESSORS;
  } else if (f->members_busy) {
    f->leave_phase = COUNT_SUCCESSORS;
    f->members_done = successors_read;
  }
}

void slp_leave_step(slp_fleet *f) {
  if (f->state != SLP_WORKER_LEAVING) return;
  if (slp_fleet_now(f) >= f->leave_by_us + slp_fleet_lease_us(f)) {
    f->undone = 1;
    slp_worker_out(f, "it could not finish in time");
    return;
  }
  switch (f->leave_phase) {
    case DRAIN:
      if (drained(f)) f->sharing->part(f);
      return;
    case PROPOSALS:
      f->leave_phase = COUNT_SUCCESSORS; /* until they are written */
      slp_bulk_write_run(f, proposals_written);
      return;
    case NOTIFY:
      f->leave_phase = COUNT_SUCCESSORS;
      f->leader = f->led ? f->me : f->led_by;
      f->notifies_last = 1;
      slp_notify_leader(f);
      return;
    case RESIGN:
      f->leave_phase = COUNT_SUCCESSORS;
      resign(f);
      return;
    case GO:
      f->leave_phase = GONE;
      go(f);
      return;
    default: return;
  }
}

void slp_leave_notified(slp_fleet *f) {
  if (f->state != SLP_WORKER_LEAVING || !f->notifies_last) return;
  f->notifies_last = 0;
  next(f, f->led ? RESIGN : GO);
}
