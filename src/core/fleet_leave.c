/* fleet_leave.c - a clean stop: drain and save; then, where a leader plans, name heirs, ring, resign, go. The
 * heirs act on the bell, so nothing waits for a lease to run out. */
#include "core/fleet_inside.h"

#include <stdlib.h>

enum { DRAIN, COUNT_HEIRS, WILLS, RING, RESIGN, GO, GONE };

static const slp_str nothing = {NULL, 0};

void slp_worker_out(slp_fleet *f, const char *why) {
  f->state = SLP_WORKER_OUT;
  slp_fleet_stop_all(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_gone(l, SLP_PART_EXPIRED);
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
  slp_role_drop(f);
  slp_jobs_stop(f); /* rows that are to be made, or to go: somebody else will */
  f->state = SLP_WORKER_LEAVING;
  f->leave_phase = DRAIN;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_touch(l);
  slp_fleet_timer(f, &f->join_timer, f->leave_by_us + slp_fleet_lease_us(f));
  slp_post(f->h, &f->step_ev);
}

/* ---- wills ------------------------------------------------------------------------------------- */

static int is_heir(const slp_fleet *f, const slp_peer *p) {
  return p->in_list && !p->strange && !p->gone && !p->leaving &&
         !slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker);
}

static slp_peer *least_loaded(slp_fleet *f) {
  slp_peer *best = NULL;
  size_t at = 0;
  for (slp_peer *p; (p = slp_map_each(&f->peers, &at));)
    if (is_heir(f, p) && (!best || p->held + p->given < best->held + best->given)) best = p;
  return best;
}

static int is_mine_to_give(const slp_lease *l) {
  return !l->ended && (l->bequeath || l->planned || l->inherited);
}

static void bequeath(slp_fleet *f) {
  size_t at = 0;
  slp_peer *p;
  while ((p = slp_map_each(&f->peers, &at))) p->given = 0;
  at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    l->heir = is_mine_to_give(l) ? least_loaded(f) : NULL;
    if (l->heir) l->heir->given++;
  }
  for (size_t i = 0; (p = slp_map_each(&f->peers, &i));) {
    if (!p->given) continue;
    slp_intent *will = slp_jobs_add(f, SLP_A2_WILL, p->id_n, p->given);
    if (!will) continue; /* the leader plans them */
    will->id = slp_jobs_text(f, (slp_str){p->id, p->id_n});
    at = 0;
    for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
      if (l->heir == p) slp_jobs_list(f)[will->shards_n++] = l->shard;
  }
}

/* ---- one after the other ----------------------------------------------------------------------- */

static void next(slp_fleet *f, uint8_t phase) {
  f->leave_phase = phase;
  slp_post(f->h, &f->step_ev);
}

static void heirs_read(slp_fleet *f) {
  if (f->state != SLP_WORKER_LEAVING) return;
  bequeath(f);
  next(f, f->jobs.n ? WILLS : f->led ? RESIGN : GO);
}

static void wills_written(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused, (void)given_up;
  if (f->state == SLP_WORKER_LEAVING) next(f, RING);
}

static void resigned(slp_op *op) {
  if (op->f->state == SLP_WORKER_LEAVING) next(op->f, GO);
}

static void left(slp_op *op) {
  op->f->undone = op->end == SLP_OP_GIVEN_UP;
  slp_worker_out(op->f, op->end == SLP_OP_GIVEN_UP ? "its row could not be marked" : "left");
}

static void resign(slp_fleet *f) {
  slp_intent *i = &f->lead_op.i;
  slp_op_stop(&f->lead_op);
  slp_fleet_intent(f, i, SLP_G2_RESIGN);
  i->epoch = f->lead_epoch;
  f->lead_op.tries_max = 3;
  slp_op_send(&f->lead_op, resigned);
}

static void go(slp_fleet *f) {
  slp_intent *i = &f->join_op.i;
  slp_op_stop(&f->beat); /* a later heartbeat would only be refused */
  slp_timer_clear(f->h, &f->beat_timer);
  f->beat_at_us = SLP_NEVER;
  slp_fleet_intent(f, i, SLP_W4_LEAVE);
  i->id = f->o.worker;
  i->boot = f->boot;
  f->join_op.tries_max = 5;
  slp_op_send(&f->join_op, left);
}

static int drained(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->state >= SLP_WAITING || l->op.busy) return 0;
  return !f->jobs.busy;
}

void slp_leave_heirs(slp_fleet *f) {
  if (slp_wide_read(f, 1, heirs_read)) {
    f->leave_phase = COUNT_HEIRS;
  } else if (f->wide_busy) {
    f->leave_phase = COUNT_HEIRS;
    f->wide_done = heirs_read;
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
    case WILLS:
      f->leave_phase = COUNT_HEIRS; /* until they are written */
      slp_jobs_run(f, wills_written);
      return;
    case RING:
      f->leave_phase = COUNT_HEIRS;
      f->leader = f->led ? f->me : f->led_by;
      f->rings_last = 1;
      slp_ring_leader(f);
      return;
    case RESIGN:
      f->leave_phase = COUNT_HEIRS;
      resign(f);
      return;
    case GO:
      f->leave_phase = GONE;
      go(f);
      return;
    default: return;
  }
}

void slp_leave_rang(slp_fleet *f) {
  if (f->state != SLP_WORKER_LEAVING || !f->rings_last) return;
  f->rings_last = 0;
  next(f, f->led ? RESIGN : GO);
}
