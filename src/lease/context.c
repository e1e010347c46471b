/* context.c - what every part of a fleet's worker needs: the clock, timers, the keys of rows, the worker's
 * name, and the events that are reported to its user. */
#include "lease/context.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/states.h"
#include "host/host.h"
#include "lease/absence.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/instance.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "lease/strategy.h"
#include "lease/throttling.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#include <errno.h>
#include <sloop.h>
#include <stdarg.h>
#include <stdio.h>

uint64_t slp_fleet_now(slp_fleet *f) { return slp_now_us(f->h); }

uint64_t slp_fleet_lease_us(const slp_fleet *f) { return (uint64_t)f->o.lease_ms * 1000; }

uint64_t slp_fleet_jitter(slp_fleet *f, uint64_t us, uint32_t percent) {
  uint64_t span = us / 100 * percent;
  return us - span + slp_random_below(f->h, 2 * span + 1);
}

void slp_fleet_timer_init(slp_timer *t, void (*run)(slp_timer *t)) {
  t->at_us = SLP_NEVER;
  t->run = run;
}

void slp_fleet_timer(slp_fleet *f, slp_timer *t, uint64_t at_us) {
  if (at_us == SLP_NEVER)
    slp_timer_clear(f->h, t);
  else
    slp_timer_set_reserved(f->h, t, at_us);
}

/* ---- reports of events ------------------------------------------------------------------------- */

/* Two kinds of failures are reported when they come for the first time:
 *   - before the first heartbeat: a failure that does not go away by waiting;
 *   - a failure of the disk (EIO) or of libuv's threads (EAGAIN), because this process has waited for the
 *     file or the thread already.
 * Other failures are reported when they come the 4th time in a row, the 8th, the 16th and so on. */
int slp_fleet_tells(const slp_fleet *f, uint32_t n, const slp_fail *fail) {
  int at_once =
      (slp_class_lasts(fail->class) && !f->stats.heartbeats) || fail->code == -EIO || fail->code == -EAGAIN;
  return (n == 1 && at_once) || (n >= 4 && !(n & (n - 1)));
}

static void tell_fleet_event(slp_fleet *f, slp_fleet_event *ev, const char *fmt, va_list ap) {
  char text[512];
  if (!f->o.on_event) return;
  int n = vsnprintf(text, sizeof text, fmt, ap);
  SLP_CHECK(n >= 0);
  ev->text = (slp_str){text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1};
  f->o.on_event(f->o.arg, ev);
}

void slp_fleet_tell(slp_fleet *f, slp_fleet_event_kind kind, slp_str shard, uint64_t epoch, const char *fmt,
                    ...) {
  slp_fleet_event ev = {.kind = kind, .shard = shard, .epoch = epoch};
  va_list ap;
  va_start(ap, fmt);
  tell_fleet_event(f, &ev, fmt, ap);
  va_end(ap);
}

void slp_fleet_tell_fail(slp_fleet *f, const slp_fail *fail, slp_str shard, uint64_t epoch, const char *fmt,
                         ...) {
  slp_fleet_event ev = {.kind = SLP_FLEET_TROUBLE, .shard = shard, .epoch = epoch, .fail = fail};
  va_list ap;
  va_start(ap, fmt);
  tell_fleet_event(f, &ev, fmt, ap);
  va_end(ap);
}

void slp_fleet_tell_contradiction(slp_fleet *f, uint32_t n, const char *how) {
  slp_fail fail = {0};
  slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EPROTO, "%s", how);
  if (slp_fleet_tells(f, n, &fail))
    slp_fleet_tell_fail(f, &fail, (slp_str){NULL, 0}, 0, "the lease table contradicted itself %u times: %s",
                        n, how);
}

void slp_fleet_bad_row(slp_fleet *f, slp_str shard, const slp_row_key *key, const char *why) {
  slp_str name = key->range.n ? key->range : key->hash;
  slp_fleet_tell(f, SLP_FLEET_BAD_ROW, shard, 0, "%.*s: %s", (int)name.n, name.p, why);
}

void slp_fleet_table_refused(slp_fleet *f, int of_write, const slp_fail *fail) {
  slp_throttling *t = &f->throttling;
  if (!slp_throttling_saw(t, slp_fleet_now(f), of_write)) return;
  slp_fleet_tell_fail(
      f, fail, (slp_str){NULL, 0}, 0,
      "the lease table throttles: it refused %u reads and %u writes of this worker in %llu s. "
      "Give it more %s, or make it on-demand: %s",
      t->reads, t->writes, (unsigned long long)((t->last_us - t->since_us) / 1000000),
      slp_throttling_lacks(t), fail->message);
}

int slp_fleet_writes_throttled(slp_fleet *f) {
  return slp_throttling_of_writes(&f->throttling, slp_fleet_now(f));
}

/* ---- the table --------------------------------------------------------------------------------- */

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

/* ---- writes ------------------------------------------------------------------------------------ */

slp_fleet *slp_write_fleet(const slp_write *op) { return SLP_OWNER(op->of, slp_fleet, writes); }

void slp_fleet_trouble(slp_fleet *f) { f->trouble_us = slp_now_refresh_us(f->h); }

uint64_t slp_fleet_back_us(slp_fleet *f) {
  return slp_absence_note(&f->absence, slp_now_refresh_us(f->h), slp_fleet_lease_us(f));
}

uint64_t slp_fleet_trouble_us(slp_fleet *f) { return slp_max_u64(f->trouble_us, slp_fleet_back_us(f)); }

static void note_absence(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, absence_timer);
  (void)slp_fleet_back_us(f);
  slp_fleet_absence_begin(f);
}

void slp_fleet_absence_init(slp_fleet *f) { slp_fleet_timer_init(&f->absence_timer, note_absence); }

void slp_fleet_absence_begin(slp_fleet *f) {
  uint64_t every_us = slp_absence_every_us(slp_fleet_lease_us(f));
  slp_fleet_timer(f, &f->absence_timer, slp_after_us(slp_fleet_now(f), every_us));
}

void slp_fleet_absence_stop(slp_fleet *f) { slp_timer_clear(f->h, &f->absence_timer); }

/* Returns 1 if the table has been gone for twice the lease time. Then this worker's leases are lost: if the
 * table was created again, other workers own them. A shorter time proves nothing: an operator may be creating
 * the table, and a part of the service may not know a new table at once. */
static int table_is_gone(slp_fleet *f, const slp_fail *fail) {
  if (fail->class != SLP_GONE) return 0;
  uint64_t since_us = slp_max_u64(f->strategy->good_us(f, 1), slp_life_joined_us(f));
  return slp_now_us(f->h) >= slp_after_us(since_us, 2 * slp_fleet_lease_us(f));
}

int slp_fleet_ends_without_table(slp_fleet *f, const slp_fail *fail) {
  slp_fleet_event ev = {
      .kind = SLP_FLEET_TROUBLE, .fail = fail, .text = slp_str_of(fail->message), .ends = 1};
  if (!table_is_gone(f, fail) || !f->o.on_event) return 0;
  f->o.on_event(f->o.arg, &ev);
  return 1;
}

static void write_failed(slp_write *op, const slp_fail *fail) {
  slp_fleet *f = slp_write_fleet(op);
  uint32_t n = op->failed_before + op->tries + 1;
  if (slp_fleet_ends_without_table(f, fail)) return;
  if (slp_set_has(f->strategy->doubtful, op->i.kind)) slp_fleet_trouble(f);
  if (fail->class == SLP_THROTTLE) {
    slp_fleet_table_refused(f, 1, fail);
    return;
  }
  if (!slp_fleet_tells(f, n, fail)) return;
  slp_fleet_tell_fail(f, fail, op->i.shard, op->i.epoch, "a write of the lease table failed %u time%s: %s", n,
                      n > 1 ? "s" : "", fail->message);
}

void slp_fleet_writes_init(slp_fleet *f) {
  f->writes = (slp_writes){.mem = f->mem,
                           .host = f->h,
                           .store = f->store,
                           .schema = f->schema,
                           .name = &f->incarnation,
                           .urgent = f->strategy->urgent,
                           .absence = &f->absence,
                           .paced = 1,
                           .lease_ms = f->o.lease_ms,
                           .on_failure = write_failed};
  slp_writes_init(&f->writes);
}

/* ---- the name ---------------------------------------------------------------------------------- */

void slp_fleet_draw_incarnation(slp_fleet *f) {
  char text[SLP_INSTANCE_MAX + 1];
  int n = snprintf(text, sizeof text, "%.*s.%016llx", (int)f->o.worker.n, f->o.worker.p,
                   (unsigned long long)slp_random(f->h));
  slp_instance_set(&f->me, (slp_str){text, (size_t)n});
  f->incarnation = (slp_str){f->me.p + f->me.n - SLP_INCARNATION_N, SLP_INCARNATION_N};
}

void slp_fleet_share_incarnation(slp_fleet *f, const slp_fleet *with) {
  f->me = with->me;
  f->incarnation = (slp_str){f->me.p + f->me.n - SLP_INCARNATION_N, SLP_INCARNATION_N};
}

slp_str slp_fleet_instance(const slp_fleet *f) { return slp_instance_str(&f->me); }
