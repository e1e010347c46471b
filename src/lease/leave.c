/* leave.c - an orderly stop (leave.h). This worker raises the change counter in the leader's row. So other
 * workers soon read which leases they get, and need not wait until the leases expire. */
#include "lease/leave.h"

#include "base/states.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/election.h"
#include "lease/election_part.h"
#include "lease/fleet.h"
#include "lease/fleet_inside.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/leave_part.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/strategy.h"
#include "lease/worker.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#define OUT (SLP_BIT(SLP_LEAVE_LEFT) | SLP_BIT(SLP_LEAVE_UNDONE))
static const slp_set allowed[] = {
    [SLP_LEAVE_NOT] = SLP_BIT(SLP_LEAVE_REGISTERS) | SLP_BIT(SLP_LEAVE_DRAIN),
    [SLP_LEAVE_REGISTERS] = SLP_BIT(SLP_LEAVE_NOT) | SLP_BIT(SLP_LEAVE_DRAIN),
    [SLP_LEAVE_DRAIN] = SLP_BIT(SLP_LEAVE_LIST) | OUT,
    [SLP_LEAVE_LIST] = SLP_BIT(SLP_LEAVE_PROPOSE) | SLP_BIT(SLP_LEAVE_RESIGN) | SLP_BIT(SLP_LEAVE_GO) | OUT,
    [SLP_LEAVE_PROPOSE] = SLP_BIT(SLP_LEAVE_PROPOSING) | OUT,
    [SLP_LEAVE_PROPOSING] = SLP_BIT(SLP_LEAVE_NOTIFY) | OUT,
    [SLP_LEAVE_NOTIFY] = SLP_BIT(SLP_LEAVE_NOTIFYING) | OUT,
    [SLP_LEAVE_NOTIFYING] = SLP_BIT(SLP_LEAVE_RESIGN) | SLP_BIT(SLP_LEAVE_GO) | OUT,
    [SLP_LEAVE_RESIGN] = SLP_BIT(SLP_LEAVE_RESIGNING) | OUT,
    [SLP_LEAVE_RESIGNING] = SLP_BIT(SLP_LEAVE_GO) | OUT,
    [SLP_LEAVE_GO] = SLP_BIT(SLP_LEAVE_GOING) | OUT,
    [SLP_LEAVE_GOING] = OUT,
    [SLP_LEAVE_LEFT] = 0,
    [SLP_LEAVE_UNDONE] = 0,
};

static void move(slp_fleet *f, slp_leave_phase to) { SLP_MOVE(allowed, f->leave.phase, to); }

/* Moves to a phase; the next call of slp_leave_step does the work of that phase. */
static void enter_leave_phase(slp_fleet *f, slp_leave_phase phase) {
  move(f, phase);
  slp_due_step(f);
}

static int worker_is_leaving(const slp_fleet *f) { return slp_worker_is(f, SLP_WORKER_LEAVING); }

/* Returns when the worker stops even if its last writes are not answered. */
static uint64_t limit_us(const slp_fleet *f) { return slp_worker_leave_by_us(f) + slp_fleet_lease_us(f); }

/* a worker that is told to leave waits for the answer to its registration for this time */
#define REGISTER_US UINT64_C(1000000)

static void begin_to_leave(slp_fleet *f) {
  f->leave.led = (uint8_t)slp_role_is(f, SLP_ROLE_LEADS);
  if (f->strategy->leaves) f->strategy->leaves(f);
  slp_bulk_write_stop(f); /* no more rows are created or removed by this worker; another worker will do it */
  slp_life_move(f, SLP_WORKER_LEAVING);
  move(f, SLP_LEAVE_DRAIN);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_touch(l);
  slp_fleet_timer(f, &f->leave.timer, limit_us(f));
  slp_due_step(f);
}

/* Waits for the answer to this worker's registration. If the registration reaches the table, the row must be
 * marked as gone: otherwise the next worker of this id would wait for a lease time, and the leader would
 * assign leases to a worker that has ended. */
static void wait_for_registration(slp_fleet *f) {
  move(f, SLP_LEAVE_REGISTERS);
  slp_fleet_timer(f, &f->leave.timer, f->leave.wait_until_us);
}

/* Called when the registration is answered, and at wait_until_us. */
static void step_registration(slp_fleet *f) {
  if (slp_worker_registers(f) && slp_fleet_now(f) < f->leave.wait_until_us) return;
  if (slp_worker_is(f, SLP_WORKER_RUNS)) {
    begin_to_leave(f);
  } else {
    move(f, SLP_LEAVE_NOT);
    slp_worker_out(f, "it had not joined");
  }
}

void slp_fleet_leave(slp_fleet *f, uint32_t limit_ms) {
  if (worker_is_leaving(f) || slp_worker_is(f, SLP_WORKER_OUT) || f->leave.phase != SLP_LEAVE_NOT) return;
  slp_worker_leave_by(f, slp_fleet_now(f) + (uint64_t)limit_ms * 1000);
  f->leave.wait_until_us = slp_fleet_now(f) + REGISTER_US;
  if (slp_worker_registers(f))
    wait_for_registration(f);
  else if (slp_worker_is(f, SLP_WORKER_RUNS))
    begin_to_leave(f);
  else
    slp_worker_out(f, "it had not joined");
}

/* ---- proposals --------------------------------------------------------------------------------- */

/* Returns 1 if worker p may get leases of this worker, which is leaving. */
static int is_successor(const slp_fleet *f, const slp_member *p) {
  return p->in_list && !p->strange && !p->gone && !p->leaving && !p->older && !slp_member_is_me(f, p);
}

static slp_member *least_loaded(slp_fleet *f) {
  slp_member *best = NULL;
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));)
    if (is_successor(f, p) && (!best || p->held + p->given < best->held + best->given)) best = p;
  return best;
}

/* Returns 1 if this worker should propose another worker as the next owner of the lease. */
static int is_mine_to_give(const slp_lease *l) {
  return !l->row.ended && (l->succession.freed || l->want.assigned || l->want.inherited);
}

/* Chooses for each lease the worker with the fewest leases, and adds a proposal for each of these workers to
 * the bulk write. */
static void to_successor(slp_fleet *f) {
  size_t at = 0;
  slp_member *p;
  while ((p = slp_member_each(f, &at))) p->given = 0;
  at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    l->succession.successor = is_mine_to_give(l) ? least_loaded(f) : NULL;
    if (l->succession.successor) l->succession.successor->given++;
  }
  for (size_t i = 0; (p = slp_member_each(f, &i));) {
    if (!p->given) continue;
    slp_operation *proposal = slp_bulk_write_add(f, SLP_OPERATION_PROPOSE, p->id_n, p->given);
    if (!proposal) continue; /* no memory: the leader will assign these leases */
    proposal->id = slp_bulk_write_text(f, slp_member_id(p));
    at = 0;
    for (slp_lease *l; (l = slp_lease_each(f, &at));)
      if (l->succession.successor == p) slp_bulk_write_list(f)[proposal->shards_n++] = l->shard;
  }
}

/* ---- the phases, in their order ------------------------------------------------------------------- */

static void end_leave(slp_fleet *f, slp_leave_phase how, const char *why) {
  move(f, how);
  slp_worker_out(f, why);
}

static slp_leave_phase resign_or_go(const slp_fleet *f) {
  return f->leave.led ? SLP_LEAVE_RESIGN : SLP_LEAVE_GO;
}

static void workers_listed(slp_fleet *f) {
  if (!worker_is_leaving(f)) return;
  to_successor(f);
  enter_leave_phase(f, slp_bulk_write_n(f) ? SLP_LEAVE_PROPOSE : resign_or_go(f));
}

void slp_leave_successors(slp_fleet *f) {
  if (slp_members_list(f, 1, workers_listed) || slp_members_list_joined(f, workers_listed))
    move(f, SLP_LEAVE_LIST);
}

static void on_leases_proposed(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused, (void)given_up;
  if (worker_is_leaving(f)) enter_leave_phase(f, SLP_LEAVE_NOTIFY);
}

static void on_leave_notified(slp_fleet *f) {
  if (worker_is_leaving(f)) enter_leave_phase(f, resign_or_go(f));
}

static void on_leadership_resigned(slp_write *op) {
  if (worker_is_leaving(slp_write_fleet(op))) enter_leave_phase(slp_write_fleet(op), SLP_LEAVE_GO);
}

static void on_row_marked_gone(slp_write *op) {
  if (op->end == SLP_OUTCOME_GIVEN_UP)
    end_leave(slp_write_fleet(op), SLP_LEAVE_UNDONE, "its row could not be marked");
  else
    end_leave(slp_write_fleet(op), SLP_LEAVE_LEFT, "left");
}

/* Returns 1 if this worker has given up all its leases, and no write on a lease is under way. */
static int all_leases_are_drained(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_lease_in(l, SLP_LEASE_MINE) || l->op.busy) return 0;
  return !slp_bulk_write_busy(f);
}

void slp_leave_step(slp_fleet *f) {
  if (f->leave.phase == SLP_LEAVE_REGISTERS) step_registration(f);
  if (!worker_is_leaving(f)) return;
  if (slp_fleet_now(f) >= limit_us(f)) {
    end_leave(f, SLP_LEAVE_UNDONE, "it could not finish in time");
    return;
  }
  switch (f->leave.phase) {
    case SLP_LEAVE_DRAIN:
      if (all_leases_are_drained(f)) f->strategy->part(f);
      return;
    case SLP_LEAVE_PROPOSE:
      move(f, SLP_LEAVE_PROPOSING);
      slp_bulk_write_run(f, NULL, on_leases_proposed);
      return;
    case SLP_LEAVE_NOTIFY:
      move(f, SLP_LEAVE_NOTIFYING);
      slp_notify_leader_then(f, on_leave_notified);
      return;
    case SLP_LEAVE_RESIGN:
      move(f, SLP_LEAVE_RESIGNING);
      slp_election_resign(f, on_leadership_resigned);
      return;
    case SLP_LEAVE_GO:
      move(f, SLP_LEAVE_GOING);
      slp_worker_mark_gone(f, on_row_marked_gone);
      return;
    default: return; /* the phase waits for an answer */
  }
}

int slp_leave_undone(const slp_fleet *f) { return f->leave.phase == SLP_LEAVE_UNDONE; }

static void on_leave_timer(slp_timer *t) { slp_leave_step(SLP_OWNER(t, slp_fleet, leave.timer)); }

void slp_leave_init(slp_fleet *f) { slp_fleet_timer_init(&f->leave.timer, on_leave_timer); }

void slp_leave_stop(slp_fleet *f) { slp_timer_clear(f->h, &f->leave.timer); }
