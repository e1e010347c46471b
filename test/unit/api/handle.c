/* handle.c - every function that takes a consumer or its operator's handle, from sloop_close() to the end of its
 * callback: it does no harm, and one that returns an int returns SLOOP_ESTATE. test/tidy/surface.py holds the
 * table against the headers. Scenes and unit/api/operator.c test consumers that are open. */
#include "api/open.h"

#include <uv.h>

#include "check.h"

/* The deprecated names are tried as well. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static uv_loop_t loop;
static int closed, told, turns; /* callbacks; of what was under way; turns of the loop in between */
static sloop_metrics_t *others; /* of a consumer that stays open */

/* ---- the table ----------------------------------------------------------------------------------------- */
static void on_other_end(sloop_t *s, int status, void *arg) {
  (void)s, (void)status, (void)arg;
  CHECK_FAIL("the callback of a call that failed");
}
static void on_list(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                    const sloop_error_t *e, void *arg) {
  (void)shards, (void)n, (void)e;
  on_other_end(s, status, arg);
}
static void on_registered(sloop_admin_t *a, int status, const sloop_registered_t *const *all, size_t n,
                          const sloop_error_t *e, void *arg) {
  (void)all, (void)n, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  (void)l, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_explanation(sloop_admin_t *a, int status, const sloop_explanation_t *x, const sloop_error_t *e,
                           void *arg) {
  (void)x, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_result(sloop_admin_t *a, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                      void *arg) {
  (void)r, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_migration(sloop_admin_t *a, int status, const sloop_migration_t *m, const sloop_error_t *e,
                         void *arg) {
  (void)m, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_drain(sloop_admin_t *a, int status, const sloop_drain_t *m, const sloop_error_t *e,
                     void *arg) {
  (void)m, (void)e, (void)a;
  on_other_end(NULL, status, arg);
}
static void on_admin_closed(sloop_admin_t *a, void *arg) {
  (void)a;
  on_other_end(NULL, 0, arg);
}
static void on_shard(const sloop_shard_stats_t *shard, void *arg) {
  (void)shard, (void)arg;
  CHECK_FAIL("a closed consumer reads a shard");
}

static int open_metrics(sloop_t *s, const char *listen) {
  sloop_metrics_t *m = others;
  sloop_metrics_opts_t o;
  sloop_metrics_opts_init(&o);
  o.listen = listen;
  int r = sloop_metrics_open(&m, s, &o, NULL, 0);
  CHECK(m == NULL);
  return r;
}
static int token_of(sloop_t *s, size_t n) {
  char room[10];
  return sloop_token(s, n ? room : NULL, &n);
}
static int save(sloop_t *s, size_t n) {
  char room[10];
  return sloop_save(s, n ? room : NULL, &n);
}
static int stats(sloop_t *s, size_t n) {
  sloop_stats_t st;
  sloop_stats_get(s, &st, n);
  CHECK_INT(n ? st.batches_now : 0, 0);
  return SLOOP_ESTATE;
}
static int loop_of(sloop_t *s) {
  CHECK(sloop_loop(s) != NULL);
  return SLOOP_ESTATE;
}
static int worker(sloop_t *s) {
  CHECK(sloop_worker(s) != NULL);
  return SLOOP_ESTATE;
}

static const sloop_position_t oldest = {.kind = SLOOP_OLDEST}, end = {.kind = SLOOP_AT_END};
static const sloop_place_t token = {.size = sizeof token, .token = "{}"},
                           app = {.size = sizeof app, .app = "a"};

/* Each with arguments that an open consumer takes, and with some that it refuses. */
#define VOID(call) ((call), SLOOP_ESTATE)
#define EACH(X)                                                                                            \
  X(sloop_admin_close, VOID(sloop_admin_close(a, on_admin_closed, NULL)),                                  \
    VOID(sloop_admin_close(a, NULL, NULL)))                                                                \
  X(sloop_admin_deregister, sloop_admin_deregister(a, "x", on_registered, NULL),                           \
    sloop_admin_deregister(a, NULL, on_registered, NULL))                                                  \
  X(sloop_admin_drain, sloop_admin_drain(a, 1, 0, on_drain, NULL), sloop_admin_drain(a, 0, 0, NULL, NULL)) \
  X(sloop_admin_explain, sloop_admin_explain(a, "x", on_explanation, NULL),                                \
    sloop_admin_explain(a, NULL, on_explanation, NULL))                                                    \
  X(sloop_admin_leases, sloop_admin_leases(a, on_leases, NULL), sloop_admin_leases(a, NULL, NULL))         \
  X(sloop_admin_lag, sloop_admin_lag(a, 0, on_leases, NULL), sloop_admin_lag(a, 0, NULL, NULL))            \
  X(sloop_admin_migrate, sloop_admin_migrate(a, &token, &app, 0, on_migration, NULL),                      \
    sloop_admin_migrate(a, NULL, NULL, 0, NULL, NULL))                                                     \
  X(sloop_admin_of, VOID((void)sloop_admin_of(s)), VOID((void)sloop_admin_of(s)))                          \
  X(sloop_admin_registered, sloop_admin_registered(a, on_registered, NULL),                                \
    sloop_admin_registered(a, NULL, NULL))                                                                 \
  X(sloop_admin_pause, sloop_admin_pause(a, "x", 1, 0, on_result, NULL),                                   \
    sloop_admin_pause(a, "", 1, 0, NULL, NULL))                                                            \
  X(sloop_admin_release, sloop_admin_release(a, "x", on_result, NULL),                                     \
    sloop_admin_release(a, "", NULL, NULL))                                                                \
  X(sloop_admin_reset, sloop_admin_reset(a, NULL, &oldest, 0, on_result, NULL),                            \
    sloop_admin_reset(a, "", &end, 0, NULL, NULL))                                                         \
  X(sloop_arg, VOID((void)sloop_arg(s)), VOID((void)sloop_arg(s)))                                         \
  X(sloop_checkpoint, sloop_checkpoint(s, NULL, on_other_end, NULL), sloop_checkpoint(s, "", NULL, NULL))  \
  X(sloop_checkpoint_at, sloop_checkpoint_at(s, "x", &end, on_other_end, NULL),                            \
    sloop_checkpoint_at(s, NULL, NULL, NULL, NULL))                                                        \
  X(sloop_close, VOID(sloop_close(s, on_other_end, NULL)), VOID(sloop_close(s, NULL, NULL)))               \
  X(sloop_hand_over, sloop_hand_over(s, "x"), sloop_hand_over(s, NULL))                                    \
  X(sloop_handover, sloop_handover(s, "x"), sloop_handover(s, NULL))                                       \
  X(sloop_list, sloop_list(s, on_list, NULL), sloop_list(s, NULL, NULL))                                   \
  X(sloop_loop, loop_of(s), loop_of(s))                                                                    \
  X(sloop_metrics_add, sloop_metrics_add(others, s), sloop_metrics_add(others, s))                         \
  X(sloop_metrics_open, open_metrics(s, "127.0.0.1:0"), open_metrics(s, "nowhere"))                        \
  X(sloop_pause, sloop_pause(s, NULL), sloop_pause(s, ""))                                                 \
  X(sloop_ref, VOID(sloop_ref(s)), VOID(sloop_ref(s)))                                                     \
  X(sloop_resume, sloop_resume(s, NULL), sloop_resume(s, ""))                                              \
  X(sloop_seek_checkpoint, sloop_seek_checkpoint(s, "x"), sloop_seek_checkpoint(s, NULL))                  \
  X(sloop_token, token_of(s, 10), token_of(s, 0))                                                          \
  X(sloop_rewind, sloop_rewind(s, "x"), sloop_rewind(s, NULL))                                             \
  X(sloop_save, save(s, 10), save(s, 0))                                                                   \
  X(sloop_seek, sloop_seek(s, &oldest, on_other_end, NULL), sloop_seek(s, NULL, NULL, NULL))               \
  X(sloop_shard_stats_each, VOID(sloop_shard_stats_each(s, on_shard, NULL)),                               \
    VOID(sloop_shard_stats_each(s, on_shard, NULL)))                                                       \
  X(sloop_start, sloop_start(s), sloop_start(s))                                                           \
  X(sloop_stats_get, stats(s, sizeof(sloop_stats_t)), stats(s, 0))                                         \
  X(sloop_stop, sloop_stop(s, 1000, on_other_end, NULL), sloop_stop(s, 0, NULL, NULL))                     \
  X(sloop_unref, VOID(sloop_unref(s)), VOID(sloop_unref(s)))                                               \
  X(sloop_worker, worker(s), worker(s))

static void call_all(sloop_t *s) {
  sloop_admin_t *a = sloop_admin_of(s);
#define X(name, well, wrong)     \
  CHECK_INT(well, SLOOP_ESTATE); \
  CHECK_INT(wrong, SLOOP_ESTATE);
  EACH(X)
#undef X
}

/* ---- consumers that are closed ------------------------------------------------------------------------- */
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  sloop_batch_done(b, 0);
}
static void on_canceled(sloop_t *s, int status, void *arg) {
  (void)arg;
  CHECK_INT(status, UV_ECANCELED);
  told++;
  call_all(s);
}
static void on_canceled_leases(sloop_admin_t *a, int status, const sloop_leases_t *l, const sloop_error_t *e,
                               void *arg) {
  (void)a;
  CHECK(!l && e);
  on_canceled(arg, status, NULL);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  (void)arg;
  CHECK_INT(status, 0);
  call_all(s);
  closed++;
}
static void on_turn(uv_prepare_t *each) {
  if (closed) return;
  turns++;
  call_all(each->data);
}

static sloop_t *open_one(const char *stream, const char *app_name, sloop_t *join) {
  sloop_t *s;
  char why[160];
  sloop_opts_t o;
  sloop_opts_init(&o);
  o.stream = stream;
  o.app = app_name;
  o.store = app_name ? "memory" : NULL;
  o.join = join;
  o.region = "eu-west-1";
  o.endpoint = "http://127.0.0.1:1"; /* nobody listens */
  o.on_batch = on_batch;
  if (sloop_open(&s, &loop, &o, why, sizeof why)) CHECK_STR(why, "");
  return s;
}

typedef struct plan {
  const char *stream, *app;
  int joins, metrics, starts, stops, asks, waits; /* waits: turns of the loop before it is closed */
} plan;

static void close_one(const plan *p) {
  sloop_t *other, *s;
  sloop_metrics_t *own = NULL;
  sloop_metrics_opts_t mo;
  uv_prepare_t each_turn;
  int pending = 0;
  closed = told = turns = 0;
  CHECK_INT(uv_loop_init(&loop), 0);
  other = open_one("orders", NULL, NULL);
  s = open_one(p->stream, p->app, p->joins ? other : NULL);
  sloop_metrics_opts_init(&mo);
  mo.listen = "127.0.0.1:0";
  CHECK_INT(sloop_metrics_open(&others, other, &mo, NULL, 0), 0);
  if (p->metrics) CHECK_INT(sloop_metrics_open(&own, s, &mo, NULL, 0), 0);
  if (p->starts) CHECK_INT(sloop_start(s), 0);
  for (int i = 0; i < p->waits; i++) uv_run(&loop, UV_RUN_NOWAIT);
  if (p->asks) pending += sloop_admin_leases(sloop_admin_of(s), on_canceled_leases, s) == 0;
  if (p->stops) pending += sloop_stop(s, 100000, on_canceled, NULL) == 0;
  CHECK_INT(pending, p->asks + p->stops);
  uv_prepare_init(&loop, &each_turn);
  each_turn.data = s;
  uv_prepare_start(&each_turn, on_turn);
  sloop_close(s, on_closed, NULL);
  call_all(s);
  if (p->metrics) CHECK_INT(sloop_metrics_add(own, other), SLOOP_ESTATE);
  while (!closed) uv_run(&loop, UV_RUN_ONCE);
  CHECK_INT(told, pending);
  CHECK(turns > 0);
  sloop_close(other, NULL, NULL);
  uv_close((uv_handle_t *)&each_turn, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_INT(uv_loop_close(&loop), 0);
}

TEST(whatever_is_asked_of_a_closed_consumer_does_no_harm_and_says_estate) {
  static const plan plans[] = {
      {.stream = "orders"},
      {.stream = "orders", .joins = 1},
      {.stream = "orders", .metrics = 1},
      {.stream = "dynamodb:customers", .starts = 1},
      {.stream = "orders", .starts = 1, .waits = 3},
      {.stream = "orders", .app = "shop", .asks = 1},
      {.stream = "orders", .app = "shop", .starts = 1, .metrics = 1, .asks = 1, .stops = 1, .waits = 2},
      {.stream = "orders", .app = "shop", .joins = 1, .starts = 1, .asks = 1, .stops = 1},
  };
  CHECK_INT(setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1), 0);
  CHECK_INT(setenv("AWS_SECRET_ACCESS_KEY", "secret", 1), 0);
  for (size_t i = 0; i < SLP_COUNT(plans); i++) close_one(&plans[i]);
}
