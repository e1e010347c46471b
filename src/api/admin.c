/* admin.c - the entry points of an operator's commands: one at a time for a consumer, each with a store, a
 * schema and requests of its own, so that it works before start and beside a fleet that runs. */
#include "api/admin.h"

#include "api/admin_words.h"
#include "api/leases.h"
#include "api/open.h"
#include "admin/admin.h"
#include "core/start.h"

struct slp_admin_call {
  slp_mem *mem; /* owns a reference */
  sloop_t *s;
  slp_admin *admin; /* NULL: it was stopped */
  slp_admin_task task;
  sloop_leases_cb leases_cb; /* of these that of the task */
  sloop_explain_cb explain_cb;
  sloop_admin_cb cb;
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

static void tell(slp_admin_call *a, const slp_fail *f, const slp_admin_answer *said) {
  sloop_error_t error = error_of(f), *e = f->class != SLP_FINE ? &error : NULL;
  int status = e ? e->code : 0;
  switch (a->task) {
    case SLP_ADMIN_LEASES: a->leases_cb(a->s, status, said->leases, e, a->arg); return;
    case SLP_ADMIN_EXPLAIN: a->explain_cb(a->s, status, said->explanation, e, a->arg); return;
    case SLP_ADMIN_RELEASE:
    case SLP_ADMIN_RESET: a->cb(a->s, status, said->result, e, a->arg); return;
  }
}

static void admin_free(slp_admin_call *a) {
  slp_mem *mem = a->mem;
  slp_admin_free(a->admin);
  slp_free(mem, a);
  slp_mem_drop(mem);
}

/* The callback may ask for the next, or close. */
static void on_done(slp_admin *done, void *arg) {
  slp_admin_call *a = arg;
  slp_fail f = *slp_admin_fail(done);
  slp_admin_why why = slp_admin_reason_of(done);
  a->s->admin = NULL;
  slp_admin_words(&f, &why);
  tell(a, &f, slp_admin_answered(done));
  admin_free(a);
}

void slp_admin_call_stop(slp_admin_call *a) {
  if (!a) return;
  slp_admin_free(a->admin);
  a->admin = NULL;
}

void slp_admin_call_tell_closed(slp_admin_call *a) {
  slp_fail f = {0};
  const slp_admin_answer nothing = {0};
  a->s->admin = NULL;
  slp_fail_set(&f, SLP_CANCELED, SLP_ECANCELED, "the consumer was closed");
  tell(a, &f, &nothing);
  admin_free(a);
}

static int begin(sloop_t *s, const slp_admin_call *asker, const char *name, const slp_position *to,
                 int force) {
  if (s->closing || !s->o.app || s->admin) return SLOOP_ESTATE;
  slp_admin_opts o = {.host = s->family->host,
                      .source = s->consumer->source,
                      .open = open_for,
                      .ctx = s,
                      .lease_ms = s->o.lease_ms,
                      .task = asker->task,
                      .name = slp_str_of(name),
                      .force = force != 0,
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
  s->admin = a;
  return 0;
}

int sloop_admin_leases(sloop_t *s, sloop_leases_cb cb, void *arg) {
  slp_admin_call asker = {.task = SLP_ADMIN_LEASES, .leases_cb = cb, .arg = arg};
  return cb ? begin(s, &asker, NULL, NULL, 0) : SLOOP_EOPTION;
}

int sloop_admin_explain(sloop_t *s, const char *shard, sloop_explain_cb cb, void *arg) {
  slp_admin_call asker = {.task = SLP_ADMIN_EXPLAIN, .explain_cb = cb, .arg = arg};
  return cb && shard && *shard ? begin(s, &asker, shard, NULL, 0) : SLOOP_EOPTION;
}

int sloop_admin_release(sloop_t *s, const char *shard_or_worker, sloop_admin_cb cb, void *arg) {
  slp_admin_call asker = {.task = SLP_ADMIN_RELEASE, .cb = cb, .arg = arg};
  return cb && shard_or_worker && *shard_or_worker ? begin(s, &asker, shard_or_worker, NULL, 0)
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

int sloop_admin_reset(sloop_t *s, const char *shard_or_null, const sloop_position_t *to, int force,
                      sloop_admin_cb cb, void *arg) {
  slp_position position;
  slp_admin_call asker = {.task = SLP_ADMIN_RESET, .cb = cb, .arg = arg};
  if (!cb || !to || (shard_or_null && !*shard_or_null)) return SLOOP_EOPTION;
  int r = position_of(shard_or_null, to, &position);
  return r ? r : begin(s, &asker, shard_or_null, &position, force);
}
