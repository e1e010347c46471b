/* fleet.c - a worker's birth and death, what every file of the fleet needs. */
#include "codec/json.h"
#include "lease/lease.h"

#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>

#define TIMERS 8

uint64_t slp_fleet_now(slp_fleet *f) { return slp_now_us(f->h); }

uint64_t slp_fleet_lease_us(const slp_fleet *f) { return (uint64_t)f->o.lease_ms * 1000; }

uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent) {
  uint64_t span = us / 100 * percent;
  return us - span + slp_random_below(f->h, 2 * span + 1);
}

/* All timers have places of their own: setting one can't fail. */
void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us) {
  if (at_us == SLP_NEVER)
    slp_timer_clear(f->h, t);
  else
    slp_timer_set_reserved(f->h, t, at_us);
}

/* What waiting will not mend is told at once to who has not joined yet; else when it lasts, and then ever
 * more seldom. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail) {
  return (n == 1 && slp_class_lasts(fail->class) && !f->stats.heartbeats) || (n >= 4 && !(n & (n - 1)));
}

void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) {
  char text[512];
  va_list ap;
  if (!f->o.on_event) return;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  SLP_CHECK(n >= 0);
  slp_fleet_event ev = {
      kind, shard, epoch, {text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1}, f->why};
  f->why = NULL;
  f->o.on_event(f->o.arg, &ev);
}

/* What is damaged is named and left alone. */
void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why) {
  slp_str name = key->range.n ? key->range : key->hash;
  slp_fleet_tell(f, SLP_FLEET_BAD_ROW, shard, 0, "%.*s: %s", (int)name.n, name.p, why);
}

int slp_fleet_key(slp_fleet *f, slp_operation_kind kind, slp_str name, slp_buf *text, slp_row_key *ret) {
  slp_store_write none = {.rq = {0}};
  slp_row_request d;
  slp_operation i = {.kind = kind, .id = name, .shard = name};
  slp_row_key key;
  slp_row_request_init(&d, f->mem, &none);
  int r = f->schema->key(f->schema, &d, &i, &key);
  size_t at = text->n;
  if (!r) r = slp_buf_reserve(text, key.hash.n + key.range.n);
  if (!r) r = slp_buf_add_str(text, key.hash);
  if (!r) r = slp_buf_add_str(text, key.range);
  if (!r) *ret = (slp_row_key){{text->p + at, key.hash.n}, {text->p + at + key.hash.n, key.range.n}};
  slp_row_request_free(&d);
  return r ? SLP_ENOMEM : 0;
}

void slp_fleet_operation(slp_fleet *f, slp_operation *i, slp_operation_kind kind) {
  memset(i, 0, sizeof *i);
  i->kind = kind;
  i->me = slp_instance_str(&f->me);
  i->wall_ms = slp_wall_ms(f->h);
  i->behind_ms = i->rate_bytes = -1;
}

/* By the service's clock, if it is known: ours may be ahead, and what comes till then would not be read. */
static int64_t service_ms(slp_fleet *f) {
  int64_t ms = f->processor->ops->service_ms ? f->processor->ops->service_ms(f->processor) : INT64_MIN;
  return ms > 0 ? ms : slp_wall_ms(f->h);
}

/* LATEST means the moment in which the fleet began: a time, before any lease exists. Who has read it writes
 * it again when an operator has removed the row: what came since then would be left out. */
slp_position slp_fleet_start_position(slp_fleet *f) {
  slp_position s = f->o.start;
  if (s.kind == SLP_POSITION_LATEST && f->start.kind == SLP_POSITION_TIME) return f->start;
  if (s.kind != SLP_POSITION_LATEST)
    return s.kind == SLP_POSITION_TIME ? s : (slp_position){.kind = SLP_POSITION_OLDEST};
  return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = service_ms(f)};
}

slp_str slp_fleet_instance(const slp_fleet *f) { return slp_instance_str(&f->me); }

/* ---- leases that have something to do ---------------------------------------------------------- */

static void run_steps(slp_event *ev) {
  slp_fleet *f = SLP_OWNER(ev, slp_fleet, step_ev);
  slp_list now;
  slp_list_init(&now);
  for (slp_list *it; (it = slp_list_pop(&f->touched));) slp_list_add_last(&now, it);
  for (slp_list *it; (it = slp_list_pop(&now));) slp_lease_step(SLP_OWNER(it, slp_lease, touched));
  if (f->state == SLP_WORKER_LEAVING) slp_leave_step(f);
  slp_fleet_saved(f);
}

void slp_lease_touch(slp_lease *l) {
  if (!slp_list_linked(&l->touched)) slp_list_add_last(&l->f->touched, &l->touched);
  slp_post(l->f->h, &l->f->step_ev);
}

/* ---- birth ------------------------------------------------------------------------------------- */

static int id_is_good(slp_str id) {
  if (!id.n || id.n > SLP_WORKER_ID_MAX || id.p[id.n - 1] == '.') return 0;
  for (size_t i = 0; i < id.n; i++)
    if ((unsigned char)id.p[i] <= ' ' || id.p[i] == '/' || (unsigned char)id.p[i] == 127) return 0;
  return slp_utf8_valid(id); /* a table takes nothing else */
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
}

static void timer_init(slp_timer *t, void (*run)(slp_timer *t)) {
  t->at_us = SLP_NEVER;
  t->run = run;
}

int slp_fleet_new(slp_fleet **ret, slp_mem *mem, const slp_fleet_opts *o) {
  const slp_liveness_rule *liveness;
  const slp_sharing_rule *sharing;
  if (slp_fleet_rules(o->schema, &liveness, &sharing) || !id_is_good(o->worker)) return SLP_EINVAL;
  slp_fleet *f = SLP_NEW(mem, slp_fleet);
  if (!f) return SLP_ENOMEM;
  if (slp_host_reserve_timers(o->host, TIMERS)) {
    slp_free(mem, f);
    return SLP_ENOMEM;
  }
  f->mem = slp_mem_hold(mem);
  f->h = o->host;
  f->store = o->store;
  f->schema = o->schema;
  f->processor = o->processor;
  f->liveness = liveness;
  f->sharing = sharing;
  take_options(f, o);
  slp_write_init(&f->beat, f, f);
  slp_write_init(&f->join_write, f, f);
  slp_write_init(&f->lead_write, f, f);
  slp_write_init(&f->notify_write, f, f);
  slp_store_rows_init(&f->join_get.out, mem);
  slp_store_rows_init(&f->poll_get.out, mem);
  slp_store_rows_init(&f->leader_get.out, mem);
  slp_store_rows_init(&f->assignment_get.out, mem);
  slp_store_rows_init(&f->members_list.out, mem);
  slp_store_rows_init(&f->snapshot.out, mem);
  slp_buf *bufs[] = {&f->poll_texts, &f->join_text, &f->leader_text, &f->assignment_text, &f->members_text};
  for (size_t i = 0; i < SLP_COUNT(bufs); i++) slp_buf_init(bufs[i], mem, 1 << 20);
  slp_map *maps[] = {&f->leases, &f->members, &f->seen_shards, &f->listed};
  for (size_t i = 0; i < SLP_COUNT(maps); i++) slp_map_init(maps[i], mem);
  slp_list_init(&f->ops);
  slp_list_init(&f->touched);
  f->step_ev.run = run_steps;
  timer_init(&f->beat_timer, slp_beat_timer);
  timer_init(&f->deadline_timer, slp_deadline_timer);
  timer_init(&f->join_timer, slp_join_again);
  timer_init(&f->ops_timer, slp_writes_run);
  timer_init(&f->poll_timer, slp_polls_run);
  timer_init(&f->election_timer, slp_election_run);
  timer_init(&f->watch_timer, sharing->watch);
  timer_init(&f->assign_timer, slp_assignment_run);
  f->assign_at_us = f->sync_at_us = f->leave_by_us = f->poll_at_us = SLP_NEVER;
  *ret = f;
  return 0;
}

void slp_fleet_start(slp_fleet *f) {
  SLP_CHECK(f->state == SLP_WORKER_NEW);
  f->state = SLP_WORKER_JOINING;
  f->liveness->begin(f);
}

/* Nothing that is under way answers any more. */
void slp_fleet_stop_all(slp_fleet *f) {
  slp_store_req *reads[] = {&f->join_get.rq,       &f->poll_get.rq,     &f->leader_get.rq,
                            &f->assignment_get.rq, &f->members_list.rq, &f->snapshot.rq};
  for (size_t i = 0; i < SLP_COUNT(reads); i++) f->store->ops->cancel(f->store, reads[i]);
  f->polling = f->election_reading = f->assignment_reading = f->assignment_again = f->members_busy =
      f->snapshot_busy = 0;
  f->listing = 0;
  slp_timer *timers[] = {&f->beat_timer, &f->deadline_timer, &f->join_timer,  &f->ops_timer,
                         &f->poll_timer, &f->election_timer, &f->watch_timer, &f->assign_timer};
  _Static_assert(SLP_COUNT(timers) == TIMERS, "every timer has its place");
  for (size_t i = 0; i < SLP_COUNT(timers); i++) slp_timer_clear(f->h, timers[i]);
  slp_write *ops[] = {&f->beat, &f->join_write, &f->lead_write, &f->notify_write};
  for (size_t i = 0; i < SLP_COUNT(ops); i++) slp_write_stop(ops[i]);
  slp_bulk_write_stop(f);
  f->notify_again = 0;
  size_t at = 0;
  for (slp_member *p; (p = slp_map_each(&f->members, &at));) slp_write_stop(&p->op);
  at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    slp_write_stop(&l->op);
    l->poll.row_us = l->poll.step_us = SLP_NEVER;
  }
  f->lease_writes = 0;
  f->assign_at_us = f->sync_at_us = SLP_NEVER;
}

static void free_shards(slp_fleet *f) {
  size_t at = 0;
  for (slp_seen_shard *s; (s = slp_map_each(&f->seen_shards, &at));) {
    slp_free(f->mem, s->id);
    slp_free(f->mem, s);
  }
  slp_listed_free(f);
}

void slp_fleet_free(slp_fleet *f) {
  if (!f) return;
  slp_mem *mem = f->mem;
  slp_fleet_stop_all(f);
  slp_unpost(&f->step_ev);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_free(l);
  at = 0;
  for (slp_member *p; (p = slp_map_each(&f->members, &at));) {
    slp_write_free(&p->op);
    slp_free(mem, p);
  }
  free_shards(f);
  slp_map *maps[] = {&f->leases, &f->members, &f->seen_shards, &f->listed};
  for (size_t i = 0; i < SLP_COUNT(maps); i++) slp_map_free(maps[i]);
  slp_write *ops[] = {&f->beat, &f->join_write, &f->lead_write, &f->notify_write};
  for (size_t i = 0; i < SLP_COUNT(ops); i++) slp_write_free(ops[i]);
  slp_store_rows *rows[] = {&f->join_get.out,       &f->poll_get.out,     &f->leader_get.out,
                            &f->assignment_get.out, &f->members_list.out, &f->snapshot.out};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) slp_store_rows_free(rows[i]);
  slp_buf *bufs[] = {&f->poll_texts, &f->join_text, &f->leader_text, &f->assignment_text, &f->members_text};
  for (size_t i = 0; i < SLP_COUNT(bufs); i++) slp_buf_free(bufs[i]);
  slp_host_unreserve_timers(f->h, TIMERS);
  slp_free(mem, f);
  slp_mem_drop(mem);
}

/* ---- what the user asks for -------------------------------------------------------------------- */

int slp_fleet_save(slp_fleet *f, slp_str shard, void (*on_saved)(void *arg), void *arg) {
  if (f->on_saved) return SLP_ENOBUFS;
  f->on_saved = on_saved;
  f->on_saved_arg = arg;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    if (!slp_lease_in(l, SLP_LEASE_OPEN) || (shard.n && !slp_str_eq(shard, l->shard))) continue;
    l->save.request = SLP_SAVE_ASKED;
    slp_lease_touch(l);
  }
  slp_post(f->h, &f->step_ev);
  return 0;
}

void slp_fleet_saved(slp_fleet *f) {
  if (!f->on_saved) return;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->save.request) return;
  void (*on_saved)(void *arg) = f->on_saved;
  f->on_saved = NULL;
  on_saved(f->on_saved_arg);
}

void slp_fleet_stats_get(slp_fleet *f, slp_fleet_stats *ret) {
  *ret = f->stats;
  ret->held_now = ret->assigned_now = 0;
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    ret->held_now += (uint64_t)slp_lease_in(l, SLP_LEASE_OPEN);
    ret->assigned_now += l->want.assigned;
  }
  uint64_t good_us = f->liveness->good_us(f, 1), now = slp_fleet_now(f);
  ret->beat_age_us_now = good_us && good_us < now ? now - good_us : 0;
  ret->leads_now = f->role == SLP_ROLE_LEADS;
  ret->suspended_now = f->suspended;
  ret->undone = f->undone;
}
