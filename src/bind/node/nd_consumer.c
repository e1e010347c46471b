/* nd_consumer.c - a consumer as JavaScript has it: its callbacks as events, its operations with numbers.
 *
 * An operation that takes a callback gets a number from JavaScript, and its end is the event DONE with
 * that number. A function returns 0 or a status, unless its comment says otherwise. */
#include "bind/node/nd_native.h"

#include <string.h>

#define BATCH_BYTES_MAX (256u << 20) /* offsets in a packed batch have 32 bits */
#define FOREVER_MS 9007199254740991.0

void nd_consumer_drop(nd_consumer *c) {
  nd_world *w = c->world;
  if (--c->holds) return;
  slp_free(w->mem, c);
  nd_world_drop(w);
}

/* ---- operations ---------------------------------------------------------------------------------- */

nd_op *nd_op_new(nd_consumer *c, nd_admin *a, double number) {
  nd_op *op = slp_alloc(c ? c->world->mem : a->world->mem, sizeof *op);
  if (!op) return NULL;
  op->consumer = c;
  op->admin = a;
  op->number = number;
  if (c) c->holds++;
  if (a) a->holds++;
  if (a && a->consumer) napi_reference_ref(a->world->env, a->handler, NULL);
  return op;
}
void nd_op_free(nd_op *op) {
  nd_consumer *c;
  nd_admin *a;
  if (!op) return;
  c = op->consumer;
  a = op->admin;
  slp_free(c ? c->world->mem : a->world->mem, op);
  if (a && a->consumer) napi_reference_unref(a->world->env, a->handler, NULL);
  if (c) nd_consumer_drop(c);
  if (a) nd_admin_drop(a);
}

/* ---- callbacks of the library -------------------------------------------------------------------- */

#define TELL(w, handler, kind, payload)                       \
  do {                                                        \
    napi_handle_scope scope;                                  \
    if (nd_call_begin((w), &scope)) {                         \
      napi_env env = (w)->env;                                \
      nd_call((w), (handler), (kind), (payload)(env), scope); \
    }                                                         \
  } while (0)

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  nd_consumer *c = arg;
  napi_handle_scope scope;
  napi_value o;
  (void)s;
  if (!nd_call_begin(c->world, &scope)) return;
  o = nd_object(c->world->env);
  nd_set_text(c->world->env, o, "kind", sloop_shard_event_name(e->kind));
  nd_set_text(c->world->env, o, "shard", e->shard);
  nd_call(c->world, c->handler, ND_SHARD, o, scope);
}
static void on_tip(sloop_t *s, void *arg) {
  nd_consumer *c = arg;
  (void)s;
  nd_slabs_free(c->world);
  TELL(c->world, c->handler, ND_TIP, nd_null);
}
static void set_time(napi_env env, napi_value o, const char *name, int64_t ms) {
  nd_set(env, o, name, ms < 0 ? nd_null(env) : nd_number(env, (double)ms));
}
static void on_loss(sloop_t *s, const sloop_loss_t *e, void *arg) {
  nd_consumer *c = arg;
  napi_handle_scope scope;
  napi_env env = c->world->env;
  napi_value o;
  (void)s;
  if (!nd_call_begin(c->world, &scope)) return;
  o = nd_object(env);
  nd_set_text(env, o, "shard", e->shard);
  nd_set_text(env, o, "fromSequence", e->from_seq);
  nd_set_text(env, o, "toSequence", e->to_seq);
  nd_set_truth(env, o, "certain", e->certain);
  nd_set_text(env, o, "message", e->message);
  set_time(env, o, "sinceMs", e->since_ms);
  set_time(env, o, "untilMs", e->until_ms);
  nd_call(c->world, c->handler, ND_LOSS, o, scope);
}
void nd_tell_error(nd_world *w, napi_ref handler, const sloop_error_t *e) {
  napi_handle_scope scope;
  if (nd_call_begin(w, &scope)) nd_call(w, handler, ND_ERROR, nd_error_object(w->env, e), scope);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  nd_consumer *c = arg;
  (void)s;
  nd_tell_error(c->world, c->handler, e);
}
/* UINT64_MAX is null: "not known", "never". */
static napi_value stats_object(napi_env env, const sloop_stats_t *stats) {
  napi_value o = nd_object(env);
  char name[64];
#define X(member, unit, meaning) \
  nd_camel(name, #member);       \
  nd_set(env, o, name, stats->member == UINT64_MAX ? nd_null(env) : nd_number(env, (double)stats->member));
  SLOOP_STATS(X)
#undef X
  return o;
}
static void on_stats(sloop_t *s, const sloop_stats_t *stats, void *arg) {
  nd_consumer *c = arg;
  napi_handle_scope scope;
  (void)s;
  if (nd_call_begin(c->world, &scope))
    nd_call(c->world, c->handler, ND_STATS, stats_object(c->world->env, stats), scope);
}
void nd_tell_log(nd_world *w, napi_ref handler, sloop_log_level_t level, const char *line) {
  static const char *const names[] = {"", "error", "warn", "info", "debug"};
  napi_handle_scope scope;
  napi_value o;
  if (!nd_call_begin(w, &scope)) return;
  o = nd_object(w->env);
  nd_set_text(w->env, o, "level", level >= 1 && level <= 4 ? names[level] : "info");
  nd_set_text(w->env, o, "line", line);
  nd_call(w, handler, ND_LOG, o, scope);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  nd_consumer *c = arg;
  (void)s;
  nd_tell_log(c->world, c->handler, level, line);
}
static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  nd_consumer *c = arg;
  napi_handle_scope scope;
  napi_env env = c->world->env;
  napi_value o;
  (void)s;
  if (!nd_call_begin(c->world, &scope)) return;
  o = nd_object(env);
  nd_set_text(env, o, "kind", sloop_lease_event_name(e->kind));
  nd_set_text(env, o, "shard", e->shard);
  nd_set_text(env, o, "worker", e->worker);
  nd_set_text(env, o, "text", e->text);
  nd_set_number(env, o, "epoch", (double)e->epoch);
  nd_call(c->world, c->handler, ND_LEASE, o, scope);
}
static void tell_done(nd_op *op, int status, napi_value result, napi_handle_scope scope) {
  nd_consumer *c = op->consumer;
  napi_env env = c->world->env;
  napi_value o = nd_object(env);
  nd_set_number(env, o, "number", op->number);
  nd_set_number(env, o, "status", status);
  nd_set(env, o, "result", result);
  nd_call(c->world, c->handler, ND_DONE, o, scope);
}
static void on_done(sloop_t *s, int status, void *arg) {
  nd_op *op = arg;
  napi_handle_scope scope;
  (void)s;
  if (nd_call_begin(op->consumer->world, &scope))
    tell_done(op, status, nd_null(op->consumer->world->env), scope);
  nd_op_free(op);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  nd_consumer *c = arg;
  nd_world *w = c->world;
  napi_ref handler = c->handler;
  (void)s, (void)status;
  *c->link = c->next;
  if (c->next) c->next->link = c->link;
  if (!w->first) nd_slabs_free(w);
  nd_op_free(c->listing);
  c->listing = NULL;
  TELL(w, handler, ND_CLOSED, nd_null);
  c->handler = NULL;
  napi_delete_reference(w->env, handler);
  nd_world_hold(w);
  nd_consumer_drop(c);
  nd_world_settle(w);
  nd_world_drop(w);
}
static napi_value shard_object(napi_env env, const sloop_shard_t *h) {
  static const char *const placements[] = {"unknown", "by_key", "by_key_now", "anywhere"};
  napi_value o = nd_object(env);
  nd_set_text(env, o, "id", h->id);
  nd_set_text(env, o, "parent", h->parent);
  nd_set_text(env, o, "adjacentParent", h->adjacent_parent);
  nd_set_text(env, o, "hashStart", h->hash_start);
  nd_set_text(env, o, "hashEnd", h->hash_end);
  nd_set_text(env, o, "sequenceStart", h->seq_start);
  nd_set_text(env, o, "sequenceEnd", h->seq_end);
  nd_set_truth(env, o, "closed", h->closed);
  nd_set_text(env, o, "placement", (unsigned)h->placement < 4 ? placements[h->placement] : "unknown");
  return o;
}
static void on_list(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                    const sloop_error_t *e, void *arg) {
  nd_op *op = arg;
  nd_consumer *c = op->consumer;
  napi_env env = c->world->env;
  napi_handle_scope scope;
  size_t i;
  (void)s;
  c->listing = NULL;
  if (nd_call_begin(c->world, &scope)) {
    napi_value o = nd_object(env), list = nd_list(env);
    for (i = 0; i < n; i++) nd_push(env, list, shard_object(env, shards[i]));
    nd_set_number(env, o, "number", op->number);
    nd_set_number(env, o, "status", status);
    nd_set(env, o, "result", list);
    nd_set(env, o, "error", nd_error_object(env, e));
    nd_call(c->world, c->handler, ND_DONE, o, scope);
  }
  nd_op_free(op);
}

/* ---- credentials --------------------------------------------------------------------------------- */

static void free_request(nd_creds *request) {
  nd_world *w = request->world;
  if (request->rq)
    sloop_creds_done(request->rq, SLOOP_EAUTH, NULL, "the credentials function gave no answer");
  slp_free(w->mem, request);
  nd_world_drop(w);
}
static void on_creds_dropped(napi_env env, void *data, void *hint) {
  nd_creds *request = data;
  nd_world *w = request->world;
  (void)env, (void)hint;
  if (!w->busy || !request->rq) {
    free_request(request);
    return;
  }
  request->next_dropped = w->dropped;
  w->dropped = request;
}
static void requests_settle(nd_world *w) {
  while (w->dropped) {
    nd_creds *request = w->dropped;
    w->dropped = request->next_dropped;
    free_request(request);
  }
}
void nd_tell_creds(nd_world *w, napi_ref handler, sloop_creds_req_t *rq) {
  napi_handle_scope scope;
  napi_value handle = NULL;
  nd_creds *request = w->ending ? NULL : SLP_NEW(w->mem, nd_creds);
  if (!request || !nd_call_begin(w, &scope)) {
    slp_free(w->mem, request);
    sloop_creds_done(rq, UV_ECANCELED, NULL, NULL);
    return;
  }
  request->world = nd_world_hold(w);
  request->rq = rq;
  handle = nd_handle(w, ND_IS_CREDS, request, on_creds_dropped);
  if (!handle) free_request(request);
  nd_call(w, handle ? handler : NULL, ND_CREDS, handle, scope);
}
static void on_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  nd_consumer *c = arg;
  (void)s;
  nd_tell_creds(c->world, c->handler, rq);
}
static sloop_creds_req_t *take_request(nd_args *a) {
  nd_creds *request = nd_arg_handle(a, 0, ND_IS_CREDS);
  sloop_creds_req_t *rq = request ? request->rq : NULL;
  if (rq) request->rq = NULL;
  return rq;
}
/* answerCreds(request, access key, secret key, token or null, expires at ms or -1). */
napi_value nd_answerCreds(napi_env env, napi_callback_info info) {
  nd_args a;
  sloop_creds_req_t *rq;
  sloop_creds_t creds;
  nd_args_begin(&a, env, info);
  rq = take_request(&a);
  sloop_creds_init(&creds);
  creds.access_key = nd_arg_text(&a, 1);
  creds.secret_key = nd_arg_text(&a, 2);
  creds.session_token = nd_arg_text(&a, 3);
  creds.expires_at_ms = nd_arg_number(&a, 4) < 0 ? -1 : (int64_t)nd_arg_whole(&a, 4, INT64_MAX);
  if (rq && creds.access_key && creds.secret_key) {
    sloop_creds_done(rq, 0, &creds, NULL);
  } else if (rq) {
    sloop_creds_done(rq, SLOOP_EAUTH, NULL, "the credentials function gave no keys");
  }
  nd_args_end(&a);
  return nd_number(env, rq ? 0 : SLOOP_ESTATE);
}
/* refuseCreds(request, why). */
napi_value nd_refuseCreds(napi_env env, napi_callback_info info) {
  nd_args a;
  sloop_creds_req_t *rq;
  nd_args_begin(&a, env, info);
  rq = take_request(&a);
  if (rq) sloop_creds_done(rq, SLOOP_EAUTH, NULL, nd_arg_text(&a, 1));
  nd_args_end(&a);
  return nd_number(env, rq ? 0 : SLOOP_ESTATE);
}

/* ---- open and close ------------------------------------------------------------------------------ */

napi_value nd_outcome(napi_env env, int status, napi_value value) {
  napi_value list = nd_list(env);
  nd_push(env, list, nd_number(env, status));
  nd_push(env, list, value);
  return list;
}

int nd_fill_options(nd_args *a, napi_value options, sloop_opts_t *o, char *why, size_t why_size) {
  uint32_t i, n = 0;
  if (napi_get_array_length(a->env, options, &n) != napi_ok) return SLOOP_EOPTION;
  for (i = 0; i + 1 < n; i += 2) {
    napi_value name = NULL, value = NULL;
    const char *name_text, *value_text;
    int status;
    napi_get_element(a->env, options, i, &name);
    napi_get_element(a->env, options, i + 1, &value);
    name_text = nd_text_of(a, name);
    value_text = nd_text_of(a, value);
    if (!name_text || !value_text) {
      static const char text[] = "an option has a NUL character";
      memcpy(why, text, sizeof text < why_size ? sizeof text : why_size);
      why[why_size - 1] = 0;
      return SLOOP_EOPTION;
    }
    status = sloop_opts_set(o, name_text, value_text, why, why_size);
    if (status) return status;
  }
  return 0;
}

/* Fills o->shards from an array of strings. The caller frees o->shards. */
static int fill_shards(nd_args *a, napi_value shards, sloop_opts_t *o) {
  uint32_t i, n = 0;
  const char **ids;
  if (napi_get_array_length(a->env, shards, &n) != napi_ok || !n) return 0;
  ids = slp_zalloc_n(a->world->mem, n, sizeof *ids);
  if (!ids) return UV_ENOMEM;
  o->shards = ids;
  o->shards_n = n;
  for (i = 0; i < n; i++) {
    napi_value id = NULL;
    napi_get_element(a->env, shards, i, &id);
    ids[i] = nd_text_of(a, id);
    if (!ids[i]) return SLOOP_EOPTION;
  }
  return 0;
}

static void on_consumer_dropped(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  nd_consumer_drop(data);
}

static nd_consumer *new_consumer(nd_world *w, napi_value handler) {
  nd_consumer *c = SLP_NEW(w->mem, nd_consumer);
  if (!c) return NULL;
  c->holds = 1;
  c->world = nd_world_hold(w);
  if (napi_create_reference(w->env, handler, 1, &c->handler) != napi_ok) {
    c->handler = NULL;
    nd_consumer_drop(c);
    return NULL;
  }
  return c;
}

enum { WANTS_STATS = 1, WANTS_CREDS = 2, WANTS_DEAD_LETTER = 4 };
static void fill_callbacks(sloop_opts_t *o, int wanted, nd_consumer *c) {
  o->arg = c;
  o->on_batch = nd_on_batch;
  o->on_loss = on_loss;
  o->on_error = on_error;
  o->on_log = on_log;
  o->on_shard = on_shard;
  o->on_tip = on_tip;
  if (o->app) o->on_lease = on_lease;
  if (wanted & WANTS_STATS) o->on_stats = on_stats;
  if (wanted & WANTS_CREDS) o->creds = on_creds;
  if (wanted & WANTS_DEAD_LETTER) o->on_dead_letter = nd_on_dead_letter;
}

static int open_consumer(nd_args *a, nd_consumer *c, sloop_opts_t *o, char *why, size_t why_size) {
  static const char text[] = "batch_bytes_max: at most 268435456 in Node";
  int status;
  nd_arg_position(a, 1, &o->start);
  status = nd_fill_options(a, a->at[0], o, why, why_size);
  if (!status) status = fill_shards(a, a->at[6], o);
  if (status) return status;
  if (o->batch_bytes_max > BATCH_BYTES_MAX) {
    memcpy(why, text, sizeof text);
    return SLOOP_EOPTION;
  }
  fill_callbacks(o, nd_arg_int(a, 8), c);
  return sloop_open(&c->s, a->world->loop, o, why, why_size);
}

/* open(options, start (five values), shards, join, wanted, handler): [0, handle] or [status, why]. */
napi_value nd_open(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_consumer *c, *join;
  nd_world *w;
  sloop_opts_t o;
  napi_value handle;
  char why[160] = "";
  int status;
  nd_args_begin(&a, env, info);
  w = a.world;
  if (!nd_arg_is_function(&a, 9)) return nd_refuse_handler(env);
  join = nd_arg_is_null(&a, 7) ? NULL : nd_arg_handle(&a, 7, ND_IS_CONSUMER);
  if (!join && !nd_arg_is_null(&a, 7)) return NULL;
  c = w->ending ? NULL : new_consumer(w, a.at[9]);
  if (!c) return nd_outcome(env, UV_ENOMEM, nd_string(env, ""));
  sloop_opts_init(&o);
  o.join = join ? join->s : NULL;
  if (join && !join->s) {
    static const char text[] = "join: that consumer was closed";
    memcpy(why, text, sizeof text);
    status = SLOOP_EOPTION;
  } else {
    status = open_consumer(&a, c, &o, why, sizeof why);
  }
  slp_free(w->mem, (void *)(uintptr_t)o.shards);
  nd_args_end(&a);
  if (status) {
    napi_delete_reference(env, c->handler);
    nd_consumer_drop(c);
    return nd_outcome(env, status, nd_string(env, why));
  }
  sloop_unref(c->s); /* until it is started: what nobody reads keeps no process alive */
  c->next = w->first;
  c->link = &w->first;
  if (c->next) c->next->link = &c->next;
  w->first = c;
  c->holds++; /* until on_closed */
  handle = nd_handle(w, ND_IS_CONSUMER, c, on_consumer_dropped);
  if (!handle) {
    nd_consumer_drop(c);
    nd_consumer_close(c);
    return nd_outcome(env, UV_ENOMEM, nd_string(env, ""));
  }
  return nd_outcome(env, 0, handle);
}

void nd_consumer_close(nd_consumer *c) {
  if (!c->s) return;
  sloop_close(c->s, on_closed, c);
  c->s = NULL;
  nd_batches_finish(c);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* Begins a call of an open consumer: `a` and `c` are set. */
#define BEGIN(name)                                             \
  napi_value nd_##name(napi_env env, napi_callback_info info) { \
    nd_args a;                                                  \
    nd_consumer *c;                                             \
    int status = SLOOP_ESTATE;                                  \
    nd_args_begin(&a, env, info);                               \
    c = nd_arg_handle(&a, 0, ND_IS_CONSUMER);                   \
    if (c && c->s)
#define END                      \
  nd_args_end(&a);               \
  return nd_number(env, status); \
  }
#define SIMPLE(name, call)     \
  BEGIN(name) status = (call); \
  END
#define OPERATION(name, number, call)         \
  BEGIN(name) {                               \
    nd_op *op = nd_op_new(c, NULL, (number)); \
    status = op ? (call) : UV_ENOMEM;         \
    if (status) nd_op_free(op);               \
  }                                           \
  END

SIMPLE(start, (sloop_ref(c->s), sloop_start(c->s)))
SIMPLE(ref, (sloop_ref(c->s), 0))
SIMPLE(unref, (sloop_unref(c->s), 0))
SIMPLE(close, (nd_consumer_close(c), 0))
SIMPLE(giveBack, (nd_batches_finish(c), 0))
/* name(consumer, shard or null). */
typedef int shard_call(sloop_t *s, const char *shard);
static int call_of_shard(nd_args *a, sloop_t *s, shard_call *call) {
  const char *shard;
  return nd_arg_text_or_null(a, 1, &shard) ? SLOOP_EOPTION : call(s, shard);
}
SIMPLE(pause, call_of_shard(&a, c->s, sloop_pause))
SIMPLE(resume, call_of_shard(&a, c->s, sloop_resume))
SIMPLE(seekCheckpoint, sloop_seek_checkpoint(c->s, nd_arg_text(&a, 1)))
SIMPLE(handover, sloop_handover(c->s, nd_arg_text(&a, 1)))
/* stop(consumer, number, limit in ms). */
static uint64_t limit_of(double ms) { return ms >= FOREVER_MS ? UINT64_MAX : ms > 0 ? (uint64_t)ms : 0; }
OPERATION(stop, nd_arg_number(&a, 1), sloop_stop(c->s, limit_of(nd_arg_number(&a, 2)), on_done, op))
/* checkpoint(consumer, number, shard or null). */
static int checkpoint(nd_args *a, nd_consumer *c, nd_op *op) {
  const char *shard;
  return nd_arg_text_or_null(a, 2, &shard) ? SLOOP_EOPTION : sloop_checkpoint(c->s, shard, on_done, op);
}
OPERATION(checkpoint, nd_arg_number(&a, 1), checkpoint(&a, c, op))
static int seek(nd_args *a, nd_consumer *c, nd_op *op) {
  sloop_position_t to;
  nd_arg_position(a, 2, &to);
  return sloop_seek(c->s, &to, on_done, op);
}
/* seek(consumer, number, position (five values)). */
OPERATION(seek, nd_arg_number(&a, 1), seek(&a, c, op))
static int checkpoint_at(nd_args *a, nd_consumer *c, nd_op *op) {
  sloop_position_t to;
  const char *shard = nd_arg_text(a, 2);
  nd_arg_position(a, 3, &to);
  return shard ? sloop_checkpoint_at(c->s, shard, &to, on_done, op) : SLOOP_EOPTION;
}
/* checkpointAt(consumer, number, shard, position (five values)). */
OPERATION(checkpointAt, nd_arg_number(&a, 1), checkpoint_at(&a, c, op))
static int list_shards(nd_consumer *c, nd_op *op) {
  int status = sloop_list(c->s, on_list, op);
  if (!status) c->listing = op;
  return status;
}
/* shards(consumer, number). */
OPERATION(shards, nd_arg_number(&a, 1), list_shards(c, op))

/* token(consumer): [0, text] or [status, ""]. */
napi_value nd_token(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_consumer *c;
  size_t len = 0;
  char *text;
  int status;
  napi_value value = NULL;
  nd_args_begin(&a, env, info);
  c = nd_arg_handle(&a, 0, ND_IS_CONSUMER);
  if (!c || !c->s) return nd_outcome(env, SLOOP_ESTATE, nd_string(env, ""));
  status = sloop_token(c->s, NULL, &len);
  if (status != UV_ENOBUFS) return nd_outcome(env, status, nd_string(env, ""));
  text = slp_alloc(a.world->mem, len);
  if (!text) return nd_outcome(env, UV_ENOMEM, nd_string(env, ""));
  status = sloop_token(c->s, text, &len);
  if (!status) napi_create_string_utf8(env, text, len, &value);
  slp_free(a.world->mem, text);
  return nd_outcome(env, status, value ? value : nd_string(env, ""));
}
/* stats(consumer): the numbers, or undefined. */
napi_value nd_stats(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_consumer *c;
  sloop_stats_t stats;
  nd_args_begin(&a, env, info);
  c = nd_arg_handle(&a, 0, ND_IS_CONSUMER);
  if (!c || !c->s) return NULL;
  sloop_stats_get(c->s, &stats, sizeof stats);
  return stats_object(env, &stats);
}
/* worker(consumer): its instance, or "". */
napi_value nd_worker(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_consumer *c;
  nd_args_begin(&a, env, info);
  c = nd_arg_handle(&a, 0, ND_IS_CONSUMER);
  return nd_string(env, c && c->s ? sloop_worker(c->s) : "");
}

typedef struct shard_list {
  napi_env env;
  napi_value list;
} shard_list;
static void add_shard_stats(const sloop_shard_stats_t *e, void *arg) {
  const shard_list *all = arg;
  napi_env env = all->env;
  napi_value o = nd_object(env);
  nd_set_text(env, o, "shard", e->shard);
  nd_set_number(env, o, "epoch", (double)e->epoch);
  set_time(env, o, "behindMs", e->behind_ms);
  nd_set_number(env, o, "unacked", (double)e->unacked);
  nd_set_truth(env, o, "paused", e->paused);
  nd_set_truth(env, o, "atTip", e->at_tip);
  nd_set(env, o, "start", nd_position_object(env, &e->from));
  nd_set_text(env, o, "state", sloop_shard_state_name(e->state));
  nd_set_number(env, o, "fails", e->fails);
  set_time(env, o, "stateMs", e->state_ms);
  set_time(env, o, "ackedAgeMs", e->acked_age_ms);
  nd_set_text(env, o, "other", e->other);
  nd_set_text(env, o, "error", e->error);
  nd_push(env, all->list, o);
}
/* shardStats(consumer): a list, or undefined. */
napi_value nd_shardStats(napi_env env, napi_callback_info info) {
  nd_args a;
  nd_consumer *c;
  shard_list all = {env, NULL};
  nd_args_begin(&a, env, info);
  c = nd_arg_handle(&a, 0, ND_IS_CONSUMER);
  if (!c || !c->s) return NULL;
  all.list = nd_list(env);
  a.world->busy++;
  sloop_shard_stats_each(c->s, add_shard_stats, &all);
  if (!--a.world->busy) {
    nd_batches_settle(a.world);
    requests_settle(a.world);
  }
  return all.list;
}
