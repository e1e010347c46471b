/* operator.c - the entry points of an operator's commands. A handle (admin_handle.c) runs one command at a
 * time. Each command has its own store, schema and requests. So a command works before sloop_start, and also
 * while workers of the application run. */
#include "api/operator.h"

#include "admin/command.h"
#include "admin/migrate.h"
#include "api/admin_words.h"
#include "api/lease_options.h"
#include "api/open.h"
#include "aws/ops.h"
#include "base/fail.h"
#include "base/mem.h"
#include "core/consumer_inside.h"
#include "core/position.h"
#include "core/report.h"
#include "core/source.h"
#include "core/start.h"
#include "lease/schema.h"
#include "lease/store.h"
#include "source/registry.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>

/* The smallest sloop_place_t that is accepted. The struct grows at its end, so a caller that was compiled
 * with an older header has a smaller one than this library. */
#define PLACE_SIZE_MIN (offsetof(sloop_place_t, token) + sizeof(char *))
#define LAG_MS 10000u   /* the time limit of sloop_admin_lag(), in ms, if the caller gives none */
#define DRAIN_MS 60000u /* the same for sloop_admin_drain() and sloop_admin_pause() */

typedef struct table_place { /* the source or the target of a migration, if it is a lease table */
  sloop_t *s;
  sloop_opts_t o; /* only app, store and schema are set, with owned copies */
  /* 1: the table may have rows of other streams too */
  int several;
  /* in the source's struct: the target; NULL: the target is a token, or this struct is the target's */
  const struct table_place *other;
} table_place;

struct slp_admin_call {
  slp_mem *mem; /* a reference is held */
  sloop_t *s;
  slp_admin *admin; /* NULL: the command is a migration, or is about registered consumers */
  slp_migrate *migrate;
  table_place from, to; /* the source and the target of `migrate` */
  slp_admin_task task;
  uint32_t limit_ms;
  uint8_t hold_on;
  sloop_leases_cb leases_cb; /* of the callbacks in this struct, only the one for `task` is set */
  sloop_explain_cb explain_cb;
  sloop_admin_cb cb;
  sloop_drain_cb drain_cb;
  sloop_migrate_cb migrate_cb;
  slp_registry *registry; /* lists or deregisters registered consumers; NULL: the command is about leases */
  sloop_registered_cb registered_cb;
  void *arg;
};

static int open_for(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                    slp_fail *f) {
  return slp_leases_open(ctx, d, ret_store, ret_schema, f);
}

static sloop_error_t error_of(const slp_fail *f) {
  return (sloop_error_t){.code = f->code,
                         .http_status = f->http_status,
                         .attempt = 1,
                         .retry_in_ms = UINT64_MAX,
                         .aws_code = f->aws_code,
                         .request_id = f->request_id,
                         .shard = "",
                         .message = f->message};
}

static sloop_registered_t registered_of(const slp_consumer_row *row) {
  static const sloop_registered_state_t states[] = {[SLP_CONSUMER_CREATING] = SLOOP_REGISTERED_CREATING,
                                                    [SLP_CONSUMER_DELETING] = SLOOP_REGISTERED_DELETING,
                                                    [SLP_CONSUMER_ACTIVE] = SLOOP_REGISTERED_ACTIVE};
  return (sloop_registered_t){row->name, row->arn, states[row->status], row->created_ms};
}

static void tell_registered(slp_admin_call *a, int status, const sloop_error_t *e) {
  size_t n = 0;
  const slp_consumer_row *rows = a->registry && !e ? slp_registry_rows(a->registry, &n) : NULL;
  sloop_registered_t *all = n ? slp_zalloc_n(a->mem, n, sizeof *all) : NULL;
  const sloop_registered_t **listed = n ? slp_zalloc_n(a->mem, n, sizeof(const sloop_registered_t *)) : NULL;
  for (size_t i = 0; all && listed && i < n; i++) {
    all[i] = registered_of(&rows[i]);
    listed[i] = &all[i];
  }
  int lacks = n && (!all || !listed);
  a->registered_cb(&a->s->admin, lacks ? SLP_ENOMEM : status, lacks ? NULL : listed, lacks ? 0 : n, e,
                   a->arg);
  slp_free(a->mem, listed);
  slp_free(a->mem, all);
}

static void tell_command_result(slp_admin_call *a, const slp_fail *f, const slp_admin_answer *said,
                                const sloop_migration_t *found) {
  sloop_error_t error = error_of(f), *e = f->class != SLP_FINE ? &error : NULL;
  int status = e ? e->code : 0;
  if (a->registered_cb) {
    tell_registered(a, status, e);
    return;
  }
  switch (a->task) {
    case SLP_ADMIN_LEASES:
    case SLP_ADMIN_LAG: a->leases_cb(&a->s->admin, status, said->leases, e, a->arg); return;
    case SLP_ADMIN_EXPLAIN: a->explain_cb(&a->s->admin, status, said->explanation, e, a->arg); return;
    case SLP_ADMIN_RELEASE:
    case SLP_ADMIN_PAUSE:
    case SLP_ADMIN_RESET: a->cb(&a->s->admin, status, said->result, e, a->arg); return;
    case SLP_ADMIN_DRAIN: a->drain_cb(&a->s->admin, status, said->drain, e, a->arg); return;
    case SLP_ADMIN_SURVEY:
    case SLP_ADMIN_IMPORT: a->migrate_cb(&a->s->admin, status, found, e, a->arg); return;
  }
}

static void place_free(slp_mem *mem, table_place *p) {
  slp_free(mem, (void *)(uintptr_t)p->o.app);
  slp_free(mem, (void *)(uintptr_t)p->o.store);
  slp_free(mem, (void *)(uintptr_t)p->o.schema);
}

static void admin_free(slp_admin_call *a) {
  slp_mem *mem = a->mem;
  slp_admin_free(a->admin);
  slp_migrate_free(a->migrate);
  slp_registry_free(a->registry);
  place_free(mem, &a->from);
  place_free(mem, &a->to);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

/* Tells the application that the command is over, by calling the command's callback. The callback may start
 * the next command, or close the consumer. */
static void on_done(slp_admin *done, void *arg) {
  slp_admin_call *a = arg;
  slp_fail f = *slp_admin_fail(done);
  slp_admin_why why = slp_admin_reason_of(done);
  slp_store_cost cost = slp_admin_cost(done), *all = &a->s->admin.cost;
  all->write_units += cost.write_units;
  all->read_units += cost.read_units;
  all->throttles += cost.throttles;
  a->s->admin.call = NULL;
  slp_admin_words(&f, &why);
  tell_command_result(a, &f, slp_admin_answered(done), NULL);
  admin_free(a);
}

/* Reports a failed try, if a service answered it with an error. A try without an answer is not reported here;
 * if it makes the command fail, the command's callback gets the error. */
static void on_again(void *arg, const slp_fail *f, uint32_t tries, uint64_t wait_us) {
  slp_admin_call *a = arg;
  if (f->http_status) slp_report_error(a->s->consumer, f, NULL, 0, tries, wait_us / 1000);
}

void slp_admin_call_stop(slp_admin_call *a) {
  if (!a) return;
  slp_admin_stop(a->admin);
  slp_migrate_stop(a->migrate);
  slp_registry_free(a->registry);
  a->registry = NULL;
}

void slp_admin_call_tell_closed(slp_admin_call *a) {
  slp_fail f = {0};
  const slp_admin_answer nothing = {0};
  a->s->admin.call = NULL;
  slp_fail_set(&f, SLP_CANCELED, SLP_ECANCELED, "the consumer was closed");
  tell_command_result(a, &f, a->admin ? slp_admin_answered(a->admin) : &nothing,
                      a->migrate ? slp_migrate_told(a->migrate) : NULL);
  admin_free(a);
}

/* Starts a command. The consumer must not be closed, because the command uses its members `family` and
 * `consumer`. */
static int start_operator_command(sloop_t *s, const slp_admin_call *asker, const char *name,
                                  const slp_position *to, int force) {
  if (!s->o.app || s->admin.call) return SLOOP_ESTATE;
  slp_admin_opts o = {.host = s->family->host,
                      .source = slp_source_that_polls(s->consumer->source),
                      .open = open_for,
                      .ctx = s,
                      .lease_ms = s->o.lease_ms,
                      .task = asker->task,
                      .name = slp_str_of(name),
                      .force = force != 0,
                      .limit_ms = asker->limit_ms,
                      .hold_on = asker->hold_on,
                      .on_again = on_again,
                      .on_done = on_done};
  slp_admin_call *a = SLP_NEW(s->mem, slp_admin_call);
  if (!a) return SLP_ENOMEM;
  if (to) o.to = *to;
  *a = *asker;
  a->s = s;
  o.arg = a;
  int r = slp_admin_new(&a->admin, s->mem, &o);
  if (r) {
    slp_free(s->mem, a);
    return r;
  }
  a->mem = slp_mem_hold(s->mem);
  s->admin.call = a;
  return 0;
}

int sloop_admin_leases(sloop_admin_t *h, sloop_leases_cb cb, void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {.task = SLP_ADMIN_LEASES, .leases_cb = cb, .arg = arg};
  return cb ? start_operator_command(s, &asker, NULL, NULL, 0) : SLOOP_EOPTION;
}

/* Only for a consumer that polls: a push source would subscribe to the shards whose lag is measured. */
int sloop_admin_lag(sloop_admin_t *h, uint32_t limit_ms, sloop_leases_cb cb, void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {
      .task = SLP_ADMIN_LAG, .limit_ms = limit_ms ? limit_ms : LAG_MS, .leases_cb = cb, .arg = arg};
  if (!cb || s->o.retrieval != SLOOP_RETRIEVAL_POLL) return SLOOP_EOPTION;
  return start_operator_command(s, &asker, NULL, NULL, 0);
}

int sloop_admin_explain(sloop_admin_t *h, const char *shard, sloop_explain_cb cb, void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {.task = SLP_ADMIN_EXPLAIN, .explain_cb = cb, .arg = arg};
  return cb && shard && *shard ? start_operator_command(s, &asker, shard, NULL, 0) : SLOOP_EOPTION;
}

int sloop_admin_release(sloop_admin_t *h, const char *shard_or_worker, sloop_admin_cb cb, void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {.task = SLP_ADMIN_RELEASE, .cb = cb, .arg = arg};
  return cb && shard_or_worker && *shard_or_worker
             ? start_operator_command(s, &asker, shard_or_worker, NULL, 0)
             : SLOOP_EOPTION;
}

static int position_of(const char *shard, const sloop_position_t *to, slp_position *ret) {
  char why[160];
  sloop_position_t place = *to;
  memset(ret, 0, sizeof *ret);
  if (place.kind == SLOOP_AT_SEQ) place.shard = shard;
  if (place.kind == SLOOP_AT_TOKEN || (place.kind == SLOOP_AT_SEQ && !shard)) return SLOOP_EOPTION;
  int r = slp_start_position_check(&place, why);
  if (!r) *ret = slp_position_of(&place);
  return r;
}

int sloop_admin_reset(sloop_admin_t *h, const char *shard_or_null, const sloop_position_t *to, int force,
                      sloop_admin_cb cb, void *arg) {
  sloop_t *s = h->s;
  slp_position position;
  slp_admin_call asker = {.task = SLP_ADMIN_RESET, .cb = cb, .arg = arg};
  if (s->closing) return SLOOP_ESTATE;
  if (!cb || !to || (shard_or_null && !*shard_or_null)) return SLOOP_EOPTION;
  int r = position_of(shard_or_null, to, &position);
  return r ? r : start_operator_command(s, &asker, shard_or_null, &position, force);
}

int sloop_admin_drain(sloop_admin_t *h, int on, uint32_t limit_ms, sloop_drain_cb cb, void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {.task = SLP_ADMIN_DRAIN,
                          .limit_ms = limit_ms ? limit_ms : DRAIN_MS,
                          .hold_on = on != 0,
                          .drain_cb = cb,
                          .arg = arg};
  return cb ? start_operator_command(s, &asker, NULL, NULL, 0) : SLOOP_EOPTION;
}

int sloop_admin_pause(sloop_admin_t *h, const char *shard, int on, uint32_t limit_ms, sloop_admin_cb cb,
                      void *arg) {
  sloop_t *s = h->s;
  if (s->closing) return SLOOP_ESTATE;
  slp_admin_call asker = {.task = SLP_ADMIN_PAUSE,
                          .limit_ms = limit_ms ? limit_ms : DRAIN_MS,
                          .hold_on = on != 0,
                          .cb = cb,
                          .arg = arg};
  return cb && shard && *shard ? start_operator_command(s, &asker, shard, NULL, 0) : SLOOP_EOPTION;
}

/* ---- migrations ---------------------------------------------------------------------------------------- */

static int open_place(void *ctx, const slp_src_describe *d, slp_store **ret_store, slp_schema **ret_schema,
                      slp_fail *f) {
  table_place *p = ctx;
  slp_lease_place place;
  char why[160];
  /* The target's options are checked now, before the workers of the source are watched for a long time. */
  int r = p->other ? slp_lease_place_read(&p->other->o, &place, why) : 0;
  if (r) return slp_fail_set(f, SLP_REFUSED, r, "%s", why);
  return slp_leases_open_at(p->s, &p->o, p->several, d, ret_store, ret_schema, f);
}

/* Puts "the target" or "the source", whichever has failed, in front of the message. Does nothing if single
 * rows are the reason, because the answer lists each of these rows. */
static void name_side(slp_fail *f, const slp_migrate *m, const slp_admin_why *why) {
  char text[sizeof f->message];
  if (f->class == SLP_FINE || f->code == SLOOP_EOPTION || why->reason == SLP_ADMIN_IN_THE_WAY) return;
  snprintf(text, sizeof text, "%s: %.300s", slp_migrate_at_target(m) ? "the target" : "the source",
           f->message);
  slp_fail_set(f, f->class, f->code, "%s", text);
}

static void on_migrated(slp_migrate *m, void *arg) {
  slp_admin_call *a = arg;
  slp_fail f = *slp_migrate_fail(m);
  slp_admin_why why = slp_migrate_reason_of(m);
  a->s->admin.call = NULL;
  slp_admin_words(&f, &why);
  name_side(&f, m, &why);
  const slp_admin_answer nothing = {0};
  tell_command_result(a, &f, &nothing, slp_migrate_told(m));
  admin_free(a);
}

static int copy_text(slp_mem *mem, const char *from, const char **ret) {
  if (!from) return 0;
  *ret = slp_strdup(mem, slp_str_of(from));
  return *ret ? 0 : SLP_ENOMEM;
}

static int take_place(slp_admin_call *a, const sloop_place_t *from, table_place *ret,
                      slp_migrate_side *side) {
  slp_mem *mem = a->s->mem;
  ret->s = a->s;
  ret->several = from->several != 0;
  side->in_use = from->in_use != 0;
  if (!from->app) {
    side->token = slp_str_of(from->token ? from->token : "");
    return 0;
  }
  int r = copy_text(mem, from->app, &ret->o.app);
  if (!r) r = copy_text(mem, from->store, &ret->o.store);
  if (!r) r = copy_text(mem, from->schema, &ret->o.schema);
  side->open = open_place;
  side->ctx = ret;
  side->several = (uint8_t)ret->several;
  return r;
}

void sloop_place_init_sized(sloop_place_t *p, size_t size) {
  if (size < sizeof p->size) return;
  memset(p, 0, size);
  memcpy(p, &size, sizeof size);
}

/* Reads one side of a migration from a caller that may have been compiled with an older header. read 1: p is
 * the source. Returns 1 if p names a table or stands for a token; the source's token must be given. */
static int read_place(const sloop_place_t *p, int read, sloop_place_t *full) {
  memset(full, 0, sizeof *full);
  if (!p || p->size < PLACE_SIZE_MIN) return 0;
  memcpy(full, p, slp_min_u64(p->size, sizeof *full));
  if (!full->app) return !read || (full->token && *full->token);
  return *full->app != 0;
}

int sloop_admin_migrate(sloop_admin_t *h, const sloop_place_t *from, const sloop_place_t *to, int write,
                        sloop_migrate_cb cb, void *arg) {
  sloop_t *s = h->s;
  sloop_place_t source, target;
  if (s->closing) return SLOOP_ESTATE;
  if (!cb || !read_place(from, 1, &source) || !read_place(to, 0, &target) || (!source.app && !target.app))
    return SLOOP_EOPTION;
  if (s->admin.call) return SLOOP_ESTATE;
  slp_admin_call *a = SLP_NEW(s->mem, slp_admin_call);
  if (!a) return SLP_ENOMEM;
  *a = (slp_admin_call){
      .mem = slp_mem_hold(s->mem), .s = s, .task = SLP_ADMIN_IMPORT, .migrate_cb = cb, .arg = arg};
  slp_migrate_opts o = {.host = s->family->host,
                        .source = slp_source_that_polls(s->consumer->source),
                        .lease_ms = s->o.lease_ms,
                        .apply = write != 0,
                        .whole = s->o.aggregates == SLOOP_AGGREGATES_KEEP,
                        .on_done = on_migrated,
                        .arg = a};
  int r = take_place(a, &source, &a->from, &o.from);
  if (!r) r = take_place(a, &target, &a->to, &o.to);
  if (target.app) a->from.other = &a->to;
  if (!r) r = slp_migrate_new(&a->migrate, s->mem, &o);
  if (r)
    admin_free(a);
  else
    s->admin.call = a;
  return r;
}

/* ---- registered consumers ------------------------------------------------------------------------------ */

static void on_consumers(slp_registry *c, const slp_fail *f, void *arg) {
  slp_admin_call *a = arg;
  slp_admin_answer nothing = {0};
  (void)c;
  a->s->admin.call = NULL;
  tell_command_result(a, f, &nothing, NULL);
  admin_free(a);
}

static int has_consumers(const sloop_t *s) {
  slp_stream_name named;
  const char *wrong;
  if (slp_stream_name_read(slp_str_of(s->o.stream), &named, &wrong)) return 0;
  return named.what != SLP_NAMES_DYNAMODB && s->family->kinesis && s->family->kinesis->consumer;
}

/* Begins to deregister the consumer `remove`; remove NULL: begins to list the registered consumers. */
static int begin_consumers(sloop_t *s, const char *remove, sloop_registered_cb cb, void *arg) {
  if (s->closing) return SLOOP_ESTATE;
  if (!cb || (remove && !*remove) || !has_consumers(s)) return SLOOP_EOPTION;
  if (s->admin.call) return SLOOP_ESTATE;
  slp_admin_call *a = SLP_NEW(s->mem, slp_admin_call);
  if (!a) return SLP_ENOMEM;
  *a = (slp_admin_call){.mem = slp_mem_hold(s->mem), .s = s, .registered_cb = cb, .arg = arg};
  slp_registry_opts o = {.h = s->family->host,
                         .ops = s->family->kinesis,
                         .source = slp_source_that_polls(s->consumer->source),
                         .remove = remove,
                         .on_done = on_consumers,
                         .arg = a};
  int r = slp_registry_new(&a->registry, s->mem, &o);
  if (r)
    admin_free(a);
  else
    s->admin.call = a;
  return r;
}

int sloop_admin_registered(sloop_admin_t *h, sloop_registered_cb cb, void *arg) {
  return begin_consumers(h->s, NULL, cb, arg);
}

int sloop_admin_deregister(sloop_admin_t *h, const char *name, sloop_registered_cb cb, void *arg) {
  return begin_consumers(h->s, name ? name : "", cb, arg);
}
