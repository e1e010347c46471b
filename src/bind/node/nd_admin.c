/* nd_admin.c - the requests of an operator. A result becomes an object, with numbers for enums; lib/admin.js
 * gives them names. */
#include "bind/node/nd_native.h"

void nd_admin_drop(nd_admin *a) {
  nd_world *w = a->world;
  nd_consumer *c = a->consumer;
  if (--a->holds) return;
  if (a->handler) napi_delete_reference(w->env, a->handler);
  slp_free(w->mem, a);
  if (c) nd_consumer_drop(c);
  nd_world_drop(w);
}

/* ---- results ------------------------------------------------------------------------------------- */

static napi_value texts_list(napi_env env, const char *const *texts, size_t n) {
  napi_value list = nd_list(env);
  size_t i;
  for (i = 0; i < n; i++) nd_push(env, list, nd_string(env, texts[i]));
  return list;
}
#define LIST(function, type, one)                                                  \
  static napi_value function(napi_env env, const type *const *entries, size_t n) { \
    napi_value list = nd_list(env);                                                \
    size_t i;                                                                      \
    for (i = 0; i < n; i++) nd_push(env, list, one(env, entries[i]));              \
    return list;                                                                   \
  }
#define TEXT(name, member) nd_set_text(env, o, name, e->member)
#define NUMBER(name, member) nd_set_number(env, o, name, (double)e->member)
#define TRUTH(name, member) nd_set_truth(env, o, name, e->member)
/* A negative time or count is null: "not told". */
#define TOLD(name, member) nd_set(env, o, name, told(env, e->member))
static napi_value told(napi_env env, int64_t value) {
  return value < 0 ? nd_null(env) : nd_number(env, (double)value);
}

static napi_value lease_object(napi_env env, const sloop_lease_t *e) {
  napi_value o = nd_object(env), parents = nd_list(env);
  int i;
  for (i = 0; i < 2; i++) {
    if (e->parents[i] && e->parents[i][0]) nd_push(env, parents, nd_string(env, e->parents[i]));
  }
  TEXT("shard", shard);
  TEXT("owner", owner);
  TEXT("claim", claim);
  nd_set(env, o, "position", nd_position_object(env, &e->position));
  nd_set(env, o, "parents", parents);
  NUMBER("state", state);
  NUMBER("epoch", epoch);
  TRUTH("parked", parked);
  TOLD("writtenAtMs", written_at_ms);
  TOLD("behindMs", behind_ms);
  TEXT("avoid", avoid);
  NUMBER("refusedCount", refused_n);
  TOLD("refusedAtMs", refused_at_ms);
  TOLD("refusedUntilMs", refused_until_ms);
  NUMBER("lag", lag);
  TOLD("readBehindMs", read_behind_ms);
  TOLD("readAtMs", read_at_ms);
  TEXT("lagError", lag_error);
  TOLD("avoidAtMs", avoid_at_ms);
  TRUTH("beginUntold", begin_untold);
  return o;
}
LIST(leases_list, sloop_lease_t, lease_object)
static napi_value worker_object(napi_env env, const sloop_worker_t *e) {
  napi_value o = nd_object(env);
  TEXT("worker", worker);
  TEXT("host", host);
  NUMBER("counter", counter);
  NUMBER("leaseMs", lease_ms);
  NUMBER("held", held);
  NUMBER("weight", weight);
  TRUTH("leads", leads);
  TRUTH("leaving", leaving);
  TRUTH("dead", dead);
  TOLD("writtenAtMs", written_at_ms);
  TOLD("behindMs", behind_ms);
  TOLD("rateBytes", rate_bytes);
  TEXT("evictedBy", evicted_by);
  TRUTH("drained", drained);
  return o;
}
LIST(workers_list, sloop_worker_t, worker_object)
static napi_value leases_object(napi_env env, const sloop_leases_t *e) {
  napi_value o = nd_object(env);
  nd_set(env, o, "leases", leases_list(env, e->leases, e->leases_n));
  nd_set(env, o, "workers", workers_list(env, e->workers, e->workers_n));
  nd_set(env, o, "badRows", texts_list(env, e->bad_rows, e->bad_rows_n));
  TEXT("passedOver", passed_over);
  nd_set(env, o, "unleased", leases_list(env, e->unleased, e->unleased_n));
  TEXT("unlisted", unlisted);
  TRUTH("draining", draining);
  TEXT("drainedBy", drained_by);
  TOLD("drainedAtMs", drained_at_ms);
  return o;
}
static napi_value shard_lease_object(napi_env env, const sloop_shard_lease_t *e) {
  napi_value o;
  if (!e) return nd_null(env);
  o = nd_object(env);
  TEXT("shard", shard);
  TRUTH("listed", listed);
  TRUTH("closed", closed);
  nd_set(env, o, "lease", e->lease ? lease_object(env, e->lease) : nd_null(env));
  return o;
}
LIST(shard_leases_list, sloop_shard_lease_t, shard_lease_object)
static napi_value explanation_object(napi_env env, const sloop_explanation_t *e) {
  napi_value o = nd_object(env);
  NUMBER("why", why);
  nd_set(env, o, "shard", shard_lease_object(env, &e->shard));
  TOLD("readAtMs", read_at_ms);
  nd_set(env, o, "owner", e->owner ? worker_object(env, e->owner) : nd_null(env));
  TEXT("assignedTo", assigned_to);
  TOLD("freeInMs", free_in_ms);
  TEXT("badRow", bad_row);
  nd_set(env, o, "waitsFor", shard_lease_object(env, e->waits_for));
  nd_set(env, o, "waitsForLast", shard_lease_object(env, e->waits_for_last));
  nd_set(env, o, "parents", shard_leases_list(env, e->parents, e->parents_n));
  nd_set(env, o, "children", shard_leases_list(env, e->children, e->children_n));
  NUMBER("leaderState", leader_state);
  TEXT("leader", leader);
  NUMBER("workersAlive", workers_alive);
  TRUTH("epochIsCounter", epoch_is_counter);
  TEXT("holeFrom", hole_from);
  TEXT("holeTo", hole_to);
  TOLD("assignedSilentMs", assigned_silent_ms);
  return o;
}
static napi_value change_object(napi_env env, const sloop_change_t *e) {
  napi_value o = nd_object(env);
  TEXT("shard", shard);
  NUMBER("kind", kind);
  nd_set(env, o, "to", nd_position_object(env, &e->to));
  nd_set(env, o, "was", nd_position_object(env, &e->was));
  TEXT("wasOwner", was_owner);
  TRUTH("wasParked", was_parked);
  return o;
}
LIST(changes_list, sloop_change_t, change_object)
static napi_value result_object(napi_env env, const sloop_admin_result_t *e) {
  napi_value o = nd_object(env);
  nd_set(env, o, "changes", changes_list(env, e->changes, e->changes_n));
  NUMBER("eviction", eviction);
  TEXT("worker", worker);
  NUMBER("workerLeaseMs", worker_lease_ms);
  NUMBER("unlistedCount", unlisted_n);
  NUMBER("missingCount", missing_n);
  NUMBER("badRowsCount", bad_rows_n);
  nd_set(env, o, "unfinishedParents", texts_list(env, e->unfinished_parents, e->unfinished_parents_n));
  nd_set(env, o, "childrenAhead", texts_list(env, e->children_ahead, e->children_ahead_n));
  NUMBER("evictedCount", evicted_n);
  return o;
}
static napi_value drain_object(napi_env env, const sloop_drain_t *e) {
  napi_value o = nd_object(env);
  TRUTH("on", on);
  TRUTH("wasSo", was_so);
  TEXT("by", by);
  TOLD("atMs", at_ms);
  NUMBER("workersCount", workers_n);
  NUMBER("leasesCount", leases_n);
  nd_set(env, o, "waitsFor", texts_list(env, e->waits_for, e->waits_for_n));
  return o;
}

/* ---- callbacks ----------------------------------------------------------------------------------- */

#define ON_RESULT(function, type, make)                                                               \
  static void function(sloop_admin_t *native, int status, const type *result, const sloop_error_t *e, \
                       void *arg) {                                                                   \
    nd_op *op = arg;                                                                                  \
    nd_world *w = op->admin->world;                                                                   \
    napi_handle_scope scope;                                                                          \
    (void)native;                                                                                     \
    if (nd_call_begin(w, &scope)) {                                                                   \
      napi_value o = nd_object(w->env);                                                               \
      nd_set_number(w->env, o, "number", op->number);                                                 \
      nd_set_number(w->env, o, "status", status);                                                     \
      nd_set(w->env, o, "result", result ? make(w->env, result) : nd_null(w->env));                   \
      nd_set(w->env, o, "error", nd_error_object(w->env, e));                                         \
      nd_call(w, op->admin->handler, ND_DONE, o, scope);                                              \
    }                                                                                                 \
    nd_op_free(op);                                                                                   \
  }
ON_RESULT(on_leases, sloop_leases_t, leases_object)
ON_RESULT(on_explained, sloop_explanation_t, explanation_object)
ON_RESULT(on_result, sloop_admin_result_t, result_object)
ON_RESULT(on_drain, sloop_drain_t, drain_object)

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  nd_admin *a = arg;
  (void)s;
  nd_tell_error(a->world, a->handler, e);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  nd_admin *a = arg;
  (void)s;
  nd_tell_log(a->world, a->handler, level, line);
}
static void on_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  nd_admin *a = arg;
  (void)s;
  nd_tell_creds(a->world, a->handler, rq);
}
static void on_closed(sloop_admin_t *native, void *arg) {
  nd_admin *a = arg;
  nd_world *w = nd_world_hold(a->world);
  napi_handle_scope scope;
  (void)native;
  *a->link = a->next;
  if (a->next) a->next->link = a->link;
  if (nd_call_begin(w, &scope)) nd_call(w, a->handler, ND_CLOSED, nd_null(w->env), scope);
  napi_delete_reference(w->env, a->handler); /* it keeps the handle, whose end frees `a` */
  a->handler = NULL;
  nd_admin_drop(a);
  nd_world_settle(w);
  nd_world_drop(w);
}

/* ---- open and close ------------------------------------------------------------------------------ */

static void on_admin_dropped(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  nd_admin_drop(data);
}
/* The reference to the handler is strong if `holds_handler` is 1. */
static nd_admin *new_admin(nd_world *w, napi_value handler, uint32_t holds_handler) {
  nd_admin *a = SLP_NEW(w->mem, nd_admin);
  if (!a) return NULL;
  a->holds = 1;
  a->world = nd_world_hold(w);
  if (napi_create_reference(w->env, handler, holds_handler, &a->handler) != napi_ok) {
    a->handler = NULL;
    nd_admin_drop(a);
    return NULL;
  }
  return a;
}

/* adminOpen(options, with credentials, handler): [0, handle] or [status, why]. */
napi_value nd_adminOpen(napi_env env, napi_callback_info info) {
  nd_args args;
  nd_admin *a;
  nd_world *w;
  sloop_opts_t o;
  napi_value handle;
  char why[160] = "";
  int status;
  nd_args_begin(&args, env, info);
  w = args.world;
  if (!nd_arg_is_function(&args, 2)) return nd_refuse_handler(env);
  a = w->ending ? NULL : new_admin(w, args.at[2], 1);
  if (!a) return nd_outcome(env, UV_ENOMEM, nd_string(env, ""));
  sloop_opts_init(&o);
  status = nd_fill_options(&args, args.at[0], &o, why, sizeof why);
  o.arg = a;
  o.on_error = on_error;
  o.on_log = on_log;
  if (nd_arg_number(&args, 1) > 0) o.creds = on_creds;
  if (!status) status = sloop_admin_open(&a->a, w->loop, &o, why, sizeof why);
  nd_args_end(&args);
  if (status) {
    nd_admin_drop(a);
    return nd_outcome(env, status, nd_string(env, why));
  }
  a->next = w->admins;
  a->link = &w->admins;
  if (a->next) a->next->link = &a->next;
  w->admins = a;
  a->holds++; /* until on_closed */
  handle = nd_handle(a->world, ND_IS_ADMIN, a, on_admin_dropped);
  if (!handle) {
    nd_admin_drop(a);
    nd_admin_close(a);
    return nd_outcome(env, UV_ENOMEM, nd_string(env, ""));
  }
  return nd_outcome(env, 0, handle);
}
/* adminOf(consumer, handler): the handle that is a part of the consumer, or undefined. The handler is held
 * only while a request is under way, or neither would ever be freed. */
napi_value nd_adminOf(napi_env env, napi_callback_info info) {
  nd_args args;
  nd_admin *a;
  nd_consumer *c;
  napi_value handle;
  nd_args_begin(&args, env, info);
  c = nd_arg_handle(&args, 0, ND_IS_CONSUMER);
  if (!nd_arg_is_function(&args, 1)) return c ? nd_refuse_handler(env) : NULL;
  a = c && c->s ? new_admin(args.world, args.at[1], 0) : NULL;
  if (!a) return NULL;
  a->consumer = c;
  c->holds++;
  a->a = sloop_admin_of(c->s);
  handle = nd_handle(a->world, ND_IS_ADMIN, a, on_admin_dropped);
  if (!handle) nd_admin_drop(a);
  return handle;
}
void nd_admin_close(nd_admin *a) {
  if (!a->a || a->consumer) return;
  sloop_admin_close(a->a, on_closed, a);
  a->a = NULL;
}

/* ---- requests ------------------------------------------------------------------------------------ */

#define BEGIN(name)                                             \
  napi_value nd_##name(napi_env env, napi_callback_info info) { \
    nd_args args;                                               \
    nd_admin *a;                                                \
    int status = SLOOP_ESTATE;                                  \
    nd_args_begin(&args, env, info);                            \
    a = nd_arg_handle(&args, 0, ND_IS_ADMIN);                   \
    if (a && a->a && (!a->consumer || a->consumer->s))
#define END                      \
  nd_args_end(&args);            \
  return nd_number(env, status); \
  }
#define REQUEST(name, call)                                  \
  BEGIN(name) {                                              \
    nd_op *op = nd_op_new(NULL, a, nd_arg_number(&args, 1)); \
    status = op ? (call) : UV_ENOMEM;                        \
    if (status) nd_op_free(op);                              \
  }                                                          \
  END
#define MS(i) ((uint32_t)nd_arg_whole(&args, (i), UINT32_MAX))

/* Each request: name(admin, number, arguments). */
REQUEST(adminLeases, sloop_admin_leases(a->a, on_leases, op))
REQUEST(adminLag, sloop_admin_lag(a->a, MS(2), on_leases, op))
static int explain(nd_args *args, nd_admin *a, nd_op *op) {
  const char *shard = nd_arg_text(args, 2);
  return shard ? sloop_admin_explain(a->a, shard, on_explained, op) : SLOOP_EOPTION;
}
REQUEST(adminExplain, explain(&args, a, op))
static int release_lease(nd_args *args, nd_admin *a, nd_op *op) {
  const char *name = nd_arg_text(args, 2);
  return name ? sloop_admin_release(a->a, name, on_result, op) : SLOOP_EOPTION;
}
REQUEST(adminRelease, release_lease(&args, a, op))
/* adminReset(admin, number, shard or null, force, position (five values)). */
static int reset(nd_args *args, nd_admin *a, nd_op *op) {
  sloop_position_t to;
  const char *shard;
  nd_arg_position(args, 4, &to);
  if (nd_arg_text_or_null(args, 2, &shard)) return SLOOP_EOPTION;
  return sloop_admin_reset(a->a, shard, &to, nd_arg_number(args, 3) > 0, on_result, op);
}
REQUEST(adminReset, reset(&args, a, op))
REQUEST(adminDrain, sloop_admin_drain(a->a, nd_arg_number(&args, 2) > 0, MS(3), on_drain, op))
static int pause_lease(nd_args *args, nd_admin *a, nd_op *op) {
  const char *shard = nd_arg_text(args, 2);
  return shard ? sloop_admin_pause(a->a, shard, nd_arg_number(args, 3) > 0,
                                   (uint32_t)nd_arg_whole(args, 4, UINT32_MAX), on_result, op)
               : SLOOP_EOPTION;
}
REQUEST(adminPause, pause_lease(&args, a, op))
BEGIN(adminClose) {
  nd_admin_close(a);
  status = 0;
}
END
