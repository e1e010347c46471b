/* fleet.c - creates, starts and frees a worker of a fleet, and takes the reports of the shard processor
 * (processor.h). */
#include "lease/fleet.h"

#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/json.h"
#include "codec/page.h"
#include "host/host.h"
#include "lease/assignment.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/election.h"
#include "lease/election_part.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/leader.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/leave.h"
#include "lease/members.h"
#include "lease/read.h"
#include "lease/row_poll.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shut.h"
#include "lease/spread.h"
#include "lease/strategy.h"
#include "lease/worker.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#define TIMERS 12

/* ---- stepping the leases that were touched ------------------------------------------------------ */

static void save_answered(slp_fleet *f);

static void run_steps(slp_event *ev) {
  slp_fleet *f = SLP_OWNER(ev, slp_fleet, due.step_ev);
  slp_list now;
  slp_list_init(&now);
  int more = slp_leases_next_turns(f);
  slp_due_take(f, &now);
  for (slp_list *it; (it = slp_list_pop(&now));) slp_lease_step(SLP_OWNER(it, slp_lease, touched));
  if (more) slp_due_step(f);
  slp_leave_step(f);
  save_answered(f);
  /* slp_leases_unreleased looks at every lease, so it is called only while the application is held. The proof
   * is wanted from now on, because a heartbeat that is under way does not tell of the hold. */
  if (slp_hold_is(f, SLP_HOLD_ON) && slp_hold_is_to_be_told(f, slp_leases_unreleased(f)))
    slp_proof_want(f, slp_now_refresh_us(f->h));
}

/* Called when an operator has switched the hold on or off (hold.h), or when a new worker has found out
 * whether it is on. */
static void on_hold_changed(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_hold(l);
  /* needed even without leases, because run_steps sends the heartbeat that tells the operator of an obeyed
   * hold */
  slp_due_step(f);
}

/* ---- creating ---------------------------------------------------------------------------------- */

static int id_is_good(slp_str id) {
  if (!id.n || id.n > SLP_WORKER_ID_MAX || id.p[id.n - 1] == '.') return 0;
  for (size_t i = 0; i < id.n; i++)
    if ((unsigned char)id.p[i] <= ' ' || id.p[i] == '/' || (unsigned char)id.p[i] == 127) return 0;
  return slp_utf8_valid(id); /* a table accepts only UTF-8 */
}

static void take_options(slp_fleet *f, const slp_fleet_opts *o) {
  f->o = *o;
  memcpy(f->id, o->worker.p, o->worker.n);
  f->o.worker = (slp_str){f->id, o->worker.n};
  size_t n = o->machine.n < sizeof f->machine ? o->machine.n : sizeof f->machine;
  if (n) memcpy(f->machine, o->machine.p, n);
  f->o.machine = (slp_str){f->machine, n};
  if (!f->o.lease_ms) f->o.lease_ms = 10000;
  if (!f->o.checkpoint_ms) f->o.checkpoint_ms = 5000;
  if (!f->o.handover_ms) f->o.handover_ms = 30000;
  if (!f->o.leader_poll_ms) f->o.leader_poll_ms = 750;
  if (!f->o.weight) f->o.weight = 1;
  if (!f->o.list_ms) f->o.list_ms = 60000;
}

static void stop_all(slp_fleet *f);

int slp_fleet_new(slp_fleet **ret, slp_mem *mem, const slp_fleet_opts *o) {
  const slp_strategy *strategy = o->schema->strategy ? o->schema->strategy : &slp_strategy_native;
  if (!id_is_good(o->worker)) return SLP_EINVAL;
  slp_fleet *f = slp_zalloc(mem, sizeof *f + strategy->fleet_bytes);
  if (!f) return SLP_ENOMEM;
  if (slp_host_reserve_timers(o->host, TIMERS + strategy->timers)) {
    slp_free(mem, f);
    return SLP_ENOMEM;
  }
  f->mem = slp_mem_hold(mem);
  f->h = o->host;
  f->store = o->store;
  f->schema = o->schema;
  f->processor = o->processor;
  f->strategy = strategy;
  f->guest = f + 1;
  take_options(f, o);
  slp_life_init(f);
  slp_fleet_writes_init(f);
  slp_fleet_absence_init(f);
  slp_reads_init(f);
  slp_listed_init(f);
  slp_seen_init(f);
  slp_leases_init(f);
  slp_members_init(f);
  slp_due_init(f, slp_polls_run, run_steps);
  slp_polls_init(f);
  slp_deadline_init(f);
  slp_spread_init(f);
  slp_hold_init(f, on_hold_changed);
  slp_worker_init(f, stop_all);
  slp_assignment_init(f);
  slp_election_init(f, slp_leader_leads, slp_leader_watch);
  slp_leader_init(f);
  if (strategy->init) strategy->init(f);
  slp_leave_init(f);
  *ret = f;
  return 0;
}

void slp_fleet_start(slp_fleet *f) {
  slp_life_move(f, SLP_WORKER_JOINING);
  slp_fleet_absence_begin(f);
  slp_life_joined(f, slp_fleet_now(f));
  f->strategy->join(f);
}

/* Cancels every request to the table, so that no answer comes any more. */
static void stop_all(slp_fleet *f) {
  slp_spread_stop(f);
  slp_worker_stop(f);
  slp_deadline_stop(f);
  slp_writes_stop(&f->writes);
  slp_reads_stop(f);
  slp_due_stop(f);
  slp_polls_stop(f);
  slp_listed_stop(f);
  slp_assignment_stop(f);
  slp_election_stop(f);
  slp_leader_stop(f);
  if (f->strategy->stop) f->strategy->stop(f);
  slp_leave_stop(f);
  slp_bulk_write_stop(f);
  slp_members_stop(f);
  slp_leases_stop(f);
}

void slp_fleet_free(slp_fleet *f) {
  if (!f) return;
  slp_mem *mem = f->mem;
  stop_all(f);
  slp_fleet_absence_stop(f);
  slp_due_free(f);
  slp_leases_free(f);
  slp_members_free(f);
  slp_seen_free(f);
  slp_listed_free(f);
  slp_spread_free(f);
  slp_worker_free(f);
  slp_polls_free(f);
  slp_assignment_free(f);
  slp_election_free(f);
  slp_leader_free(f);
  slp_shut_forget(f);
  if (f->strategy->free) f->strategy->free(f);
  slp_host_unreserve_timers(f->h, TIMERS + f->strategy->timers);
  slp_free(mem, f);
  slp_mem_drop(mem);
}

/* ---- calls by the processor and the user -------------------------------------------------------- */

void slp_fleet_listed(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n) {
  int ok;
  if (!slp_listed_take(f, fail, shards, n, &ok)) return;
  slp_leases_touch_waiting(f);
  f->strategy->listed(f, ok);
}

void slp_fleet_listed_part(slp_fleet *f, const slp_shard_desc *shards, size_t n) {
  if (!f->strategy->listed_part || slp_listed_take_part(f, shards, n)) return;
  f->strategy->listed_part(f);
}

int slp_fleet_save_each(slp_fleet *f, int (*wants)(void *ctx, slp_str shard), void *ctx,
                        void (*on_saved)(void *arg), void *arg) {
  if (f->save.on_saved) return SLP_ENOBUFS;
  f->save.on_saved = on_saved;
  f->save.arg = arg;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    if (slp_lease_in(l, SLP_LEASE_OPEN) && wants(ctx, l->shard)) slp_lease_save_now(l);
  }
  slp_due_step(f);
  return 0;
}

static int is_shard(void *ctx, slp_str shard) {
  const slp_str *one = ctx;
  return !one->n || slp_str_eq(*one, shard);
}

int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg) {
  return slp_fleet_save_each(f, is_shard, &shard, on_saved, arg);
}

static void save_answered(slp_fleet *f) {
  if (!f->save.on_saved) return;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));)
    if (slp_lease_is_saving(l)) return;
  void (*on_saved)(void *arg) = f->save.on_saved;
  f->save.on_saved = NULL;
  on_saved(f->save.arg);
}

void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret) {
  *ret = f->stats;
  ret->writes = f->writes.sent;
  ret->reads += f->writes.images_read;
  ret->throttles += f->writes.throttles;
  ret->doubts = f->writes.doubts;
  ret->held_now = ret->assigned_now = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    ret->held_now += (uint64_t)slp_lease_in(l, SLP_LEASE_OPEN);
    ret->assigned_now += l->want.assigned;
  }
  uint64_t good_us = f->strategy->good_us(f, 1), now = slp_fleet_now(f);
  ret->beat_age_us_now = good_us && good_us < now ? now - good_us : 0;
  ret->leads_now = (uint8_t)slp_role_is(f, SLP_ROLE_LEADS);
  ret->suspended_now = !slp_proof_is(f, SLP_PROOF_GOOD);
  ret->undone = (uint8_t)slp_leave_undone(f);
}
