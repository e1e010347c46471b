/* user.c - a program that uses the library, in a simulated world. */
#include "swarm/user.h"

#include <stdio.h>

#include "api/open.h"
#include "swarm/inside.h"
#include "swarm/truth.h"
#include "core/consumer_inside.h"

typedef struct later_done {
  slp_user *user;
  sloop_batch_t *batch;
  uint64_t serial; /* of the batch: it may have gone back before, and its address to another one */
} later_done;

static void told(slp_user *u, const char *callback) {
  if (u->on_any) u->on_any(u, callback);
}

/* ---- batches ------------------------------------------------------------------------------------------ */
void slp_user_done(slp_user *u, sloop_batch_t *b, size_t acked) {
  slp_oracle_done(u->judged, b, acked);
  SLP_CALL(u->oracle, sloop_batch_done(b, acked));
}

void slp_user_ack(slp_user *u, sloop_batch_t *b, size_t index) {
  slp_oracle_acked(u->judged, b, index);
  SLP_CALL(u->oracle, sloop_batch_ack(b, index));
}

static int user_chance(slp_user *u, uint32_t ppm) {
  return ppm && slp_sim_draw_between(&u->random, 0, 999999) < ppm;
}

static void finish_with(slp_user *u, sloop_batch_t *b) {
  size_t n = sloop_batch_count(b), acked = n;
  if (user_chance(u, u->manners.give_back_ppm)) acked = (size_t)slp_sim_draw_between(&u->random, 0, n);
  if (user_chance(u, u->manners.ack_singly_ppm)) {
    size_t step = (size_t)slp_sim_draw_between(&u->random, 1, n),
           at = (size_t)slp_sim_draw_between(&u->random, 0, n - 1);
    for (size_t i = 0; i < n; i++, at = (at + step) % n)
      if (!user_chance(u, u->manners.give_back_ppm)) slp_user_ack(u, b, at);
    if (u->manners.give_back_ppm) acked = 0;
  }
  slp_user_done(u, b, acked);
}

static void run_later(void *arg) {
  later_done *l = arg;
  slp_user *u = l->user;
  if (slp_oracle_serial(u->oracle, l->batch) == l->serial) finish_with(u, l->batch);
  slp_free(u->world->mem, l);
}

typedef struct listed {
  const char *shard;
  uint64_t unacked;
} listed;

static void find_listed(const sloop_shard_stats_t *st, void *arg) {
  listed *l = arg;
  if (strcmp(st->shard, l->shard) == 0) l->unacked = st->unacked;
}

uint64_t slp_user_unacked_of(sloop_t *s, const char *shard) {
  listed l = {shard, 0};
  sloop_shard_stats_each(s, find_listed, &l);
  return l.unacked;
}

/* Whoever gets a record can look up its shard, also when all of the shard has been read by then; but for one
 * that was given up, whose last records still come. */
static void check_listed(slp_user *u, sloop_batch_t *b) {
  const char *shard = sloop_batch_at(b, 0)->shard;
  if (!slp_oracle_gave_up(u->judged, shard) && !slp_user_unacked_of(u->s, shard))
    slp_oracle_bad(u->oracle, "S12 contract: %s has a batch and is not listed", shard);
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  slp_user *u = arg;
  if (s != u->s) slp_oracle_bad(u->oracle, "S12 contract: on_batch of another consumer");
  slp_oracle_on_batch(u->judged, b);
  check_listed(u, b);
  told(u, "on_batch");
  if (!slp_oracle_serial(u->oracle, b)) return;
  if (u->on_batch && u->on_batch(u, b)) return;
  if (u->manners.keep) return;
  if (u->manners.hold_us_max == 0) {
    finish_with(u, b);
    return;
  }
  later_done *l = SLP_NEW(u->world->mem, later_done);
  SLP_CHECK(l);
  *l = (later_done){u, b, slp_oracle_serial(u->oracle, b)};
  uint64_t hold = slp_sim_draw_between(&u->random, u->manners.hold_us_min, u->manners.hold_us_max);
  slp_sim_at(u->world->sim, slp_sim_now_us(u->world->sim) + hold, run_later, l);
}

void slp_user_return_all(slp_user *u) {
  sloop_batch_t *b;
  while ((b = slp_oracle_held_at(u->oracle, 0))) slp_user_done(u, b, sloop_batch_count(b));
}

/* ---- the other callbacks ------------------------------------------------------------------------------- */
static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_shard(u->judged, e->shard, e->kind);
  told(u, "on_shard");
}
static void on_tip(sloop_t *s, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_tip(u->judged);
  told(u, "on_tip");
}
static void on_loss(sloop_t *s, const sloop_loss_t *loss, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_loss(u->judged, loss);
  told(u, "on_loss");
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_error(u->judged, e);
  told(u, "on_error");
}
static void on_stats(sloop_t *s, const sloop_stats_t *st, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_callback(u->judged, "on_stats");
  slp_truth_stats(u->judged, st);
  told(u, "on_stats");
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_callback(u->judged, "on_log");
  slp_sim_trace(u->world->sim, "log %d %s", (int)level, line);
  told(u, "on_log");
}

static const sloop_creds_t keys = {
    .size = sizeof(sloop_creds_t), .access_key = "AKIDSIM", .secret_key = "secret", .expires_at_ms = -1};
typedef struct later_creds {
  slp_user *user;
  sloop_creds_req_t *request;
} later_creds;
static void run_creds(void *arg) {
  later_creds *l = arg;
  slp_user *u = l->user;
  SLP_CALL(u->oracle, sloop_creds_done(l->request, 0, &keys, NULL)); /* also after the close: exactly once */
  slp_free(u->world->mem, l);
}
static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  slp_user *u = arg;
  (void)s;
  slp_oracle_on_callback(u->judged, "creds");
  told(u, "creds");
  if (!u->creds_later) {
    SLP_CALL(u->oracle, sloop_creds_done(rq, 0, &keys, NULL));
    return;
  }
  later_creds *l = SLP_NEW(u->world->mem, later_creds);
  SLP_CHECK(l);
  *l = (later_creds){u, rq};
  slp_sim_at(u->world->sim, slp_sim_now_us(u->world->sim) + 3000, run_creds, l);
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  slp_user *u = arg;
  (void)s;
  u->stop_told = 1;
  u->stop_status = status;
  slp_oracle_on_stopped(u->judged, status);
  told(u, "stop");
}

static void on_listed(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *e, void *arg) {
  slp_user *u = arg;
  (void)s;
  (void)e;
  if (u->oracle->inside) slp_oracle_bad(u->oracle, "P1 not inside: the list callback ran inside a call");
  if (u->judged->closed) slp_oracle_bad(u->oracle, "P2 closed: the list callback after the close callback");
  if (u->judged->close_called && status != SLP_ECANCELED)
    slp_oracle_bad(u->oracle, "P2 closed: listed after sloop_close()");
  if (u->list_told) slp_oracle_bad(u->oracle, "S12 contract: listed twice");
  u->list_told = 1;
  u->list_status = status;
  u->listed = n;
  for (size_t i = 1; i < n; i++)
    if (strcmp(shards[i - 1]->id, shards[i]->id) >= 0)
      slp_oracle_bad(u->oracle, "S12 contract: the listing is not sorted");
  told(u, "list");
}

static void on_closed(sloop_t *s, int status, void *arg) {
  slp_user *u = arg;
  (void)status;
  if (s != u->s) slp_oracle_bad(u->oracle, "P2 closed: closed another consumer");
  told(u, "close");
  slp_oracle_on_closed(u->judged);
  u->closed = 1;
  u->s = NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */
static void set_up(slp_user *u, slp_known_stream *stream) {
  sloop_opts_init(&u->opts);
  u->opts.stream = stream->name;
  u->opts.region = "us-east-1";
  u->opts.endpoint = SLP_ENDPOINT;
  u->opts.start.kind = SLOOP_OLDEST;
  u->opts.arg = u;
  u->opts.on_batch = on_batch;
  u->opts.on_shard = on_shard;
  u->opts.on_tip = on_tip;
  u->opts.on_loss = on_loss;
  u->opts.on_error = on_error;
  u->opts.on_stats = on_stats;
  u->opts.on_log = on_log;
  u->opts.creds = creds;
  u->opts.log_level = SLOOP_LOG_DEBUG;
  u->judged = slp_oracle_member(u->oracle, stream, &u->opts);
  u->random = slp_sim_random_below(u->world->sim, UINT64_MAX);
}

static void init(slp_user *u, slp_world *w, slp_known_stream *stream, slp_mem *mem,
                 const slp_sim_clock *clock) {
  memset(u, 0, sizeof *u);
  u->world = w;
  u->mem = mem;
  u->mem_owned = u->oracle_owned = 1;
  u->oracle = slp_oracle_new(w);
  u->host = slp_sim_host_new(w->sim, u->mem, clock);
  SLP_CHECK(u->mem && u->host);
  set_up(u, stream);
}

void slp_user_init(slp_user *u, slp_world *w, slp_known_stream *stream) {
  init(u, w, stream, slp_mem_new(NULL, NULL), NULL);
}
void slp_user_init_clock(slp_user *u, slp_world *w, slp_known_stream *stream, const slp_sim_clock *clock) {
  init(u, w, stream, slp_mem_new(NULL, NULL), clock);
}
void slp_user_init_mem(slp_user *u, slp_world *w, slp_known_stream *stream, slp_mem *mem) {
  init(u, w, stream, mem, NULL);
}

void slp_user_init_beside(slp_user *u, slp_user *other, slp_known_stream *stream, int joined) {
  memset(u, 0, sizeof *u);
  u->world = other->world;
  u->mem = other->mem;
  u->host = other->host;
  u->oracle = joined ? other->oracle : slp_oracle_new(other->world);
  u->oracle_owned = !joined;
  set_up(u, stream);
  if (joined) u->opts.join = other->s;
}

static const char *no_environment(void *ctx, const char *name) {
  (void)ctx, (void)name;
  return NULL;
}
static const slp_outside outside = {.getenv_fn = no_environment};

int slp_user_open(slp_user *u) {
  int rc;
  SLP_CALL(u->oracle,
           rc = slp_open_on(u->host, u->mem, u->outside ? u->outside : &outside, &u->s, &u->opts, u->why));
  if (rc == 0 && u->timeless) u->s->consumer->source->anchors_by_time = 0;
  return rc;
}

void slp_user_start(slp_user *u) {
  if (!u->s && slp_user_open(u)) {
    slp_oracle_bad(u->oracle, "S12 contract: sloop_open: %s", u->why);
    return;
  }
  int rc;
  slp_oracle_on_start(u->judged);
  SLP_CALL(u->oracle, rc = sloop_start(u->s));
  if (rc) slp_oracle_bad(u->oracle, "S12 contract: sloop_start: %d", rc);
}

void slp_user_pause(slp_user *u, const char *shard) {
  int rc;
  SLP_CALL(u->oracle, rc = sloop_pause(u->s, shard));
  if (rc == 0) slp_oracle_paused(u->judged, shard, 1);
}

void slp_user_resume(slp_user *u, const char *shard) {
  int rc;
  SLP_CALL(u->oracle, rc = sloop_resume(u->s, shard));
  if (rc == 0) slp_oracle_paused(u->judged, shard, 0);
}

void slp_user_stop(slp_user *u, uint64_t limit_ms) {
  int rc;
  SLP_CALL(u->oracle, rc = sloop_stop(u->s, limit_ms, on_stopped, u));
  if (rc) return;
  u->judged->stop_pending = 1;
  u->judged->stop_by_us = slp_sim_now_us(u->world->sim) + limit_ms * 999; /* as clocks drift */
}

void slp_user_list(slp_user *u) {
  int rc;
  u->list_told = 0;
  SLP_CALL(u->oracle, rc = sloop_list(u->s, on_listed, u));
  if (rc) u->list_told = 1;
}

int slp_user_save(slp_user *u) {
  slp_mem *mem = u->world->mem;
  size_t len = 0, again;
  int rc;
  if (!u->s || u->moving) return 0;
  SLP_CALL(u->oracle, rc = sloop_token(u->s, NULL, &len));
  if (rc == SLOOP_ESTATE || rc == SLP_ENOMEM) return 0;
  if (rc != SLP_ENOBUFS || len < 2)
    slp_oracle_bad(u->oracle, "S12 contract: sloop_token without room: %d", rc);
  char *token = slp_alloc(mem, len);
  SLP_CHECK(token);
  again = len;
  SLP_CALL(u->oracle, rc = sloop_token(u->s, token, &again));
  if (rc == SLP_ENOMEM) {
    slp_free(mem, token);
    return 0;
  }
  if (rc || again != len - 1 || strlen(token) != again)
    slp_oracle_bad(u->oracle, "S12 contract: sloop_token: %d, %zu bytes of %zu", rc, again, len);
  slp_sim_trace(u->world->sim, "saved %s", token);
  slp_free(mem, u->token);
  u->token = token;
  if (!u->saved) u->saved = SLP_NEW(mem, slp_saved);
  SLP_CHECK(u->saved);
  slp_oracle_save(u->judged, u->saved);
  return 1;
}

/* By the last token, since later ones may have been saved. */
static slp_saved *copy_saved(slp_user *u, slp_saved *to) {
  if (!to) to = SLP_NEW(u->world->mem, slp_saved);
  SLP_CHECK(to);
  if (u->saved) *to = *u->saved;
  return to;
}

static void on_moved(sloop_t *s, int status, void *arg) {
  slp_user *u = arg;
  (void)s;
  if (u->oracle->inside) slp_oracle_bad(u->oracle, "P1 not inside: the move callback ran inside a call");
  if (u->judged->closed) slp_oracle_bad(u->oracle, "P2 closed: the move callback after the close callback");
  if (u->judged->close_called && status != SLP_ECANCELED)
    slp_oracle_bad(u->oracle, "P2 closed: move told %d after sloop_close()", status);
  if (!u->moving) slp_oracle_bad(u->oracle, "S12 contract: the move callback without a move");
  u->moving--;
  u->move_told = 1;
  u->move_status = status;
  slp_sim_trace(u->world->sim, "move told %d", status);
  if (status == 0) {
    u->begun = copy_saved(u, u->begun);
    slp_oracle_moved(u->judged, &u->move_to, u->move_saved ? u->begun : NULL);
  }
  told(u, "move");
}

int slp_user_move(slp_user *u, const sloop_position_t *to) {
  int rc;
  sloop_position_t place = *to;
  if (place.kind == SLOOP_AT_TOKEN && !place.token) place.token = u->token;
  SLP_CALL(u->oracle, rc = sloop_seek(u->s, &place, on_moved, u));
  if (rc) return rc;
  u->moving++;
  u->move_told = 0;
  u->move_to = place;
  if (place.seq) snprintf(u->move_seq, sizeof u->move_seq, "%s", place.seq); /* notes move as they grow */
  if (place.seq) u->move_to.seq = u->move_seq;
  u->move_saved = NULL;
  if (place.kind != SLOOP_AT_TOKEN || place.token != u->token) return 0;
  u->move_saved = u->saved;
  return 0;
}

int slp_user_move_kind(slp_user *u, sloop_position_kind_t kind) {
  return slp_user_move(u, &(sloop_position_t){.kind = kind});
}

static int move_told(void *arg) { return ((slp_user *)arg)->move_told; }

int slp_user_moved(slp_user *u, uint64_t ms) {
  return slp_user_wait(u, ms, move_told, u) && u->move_status == 0;
}

static int closed_now(void *arg) { return ((slp_user *)arg)->closed; }

void slp_user_reopen(slp_user *u) {
  slp_sim *sim = u->world->sim;
  if (u->s && !u->judged->close_called) slp_user_close(u);
  if (slp_sim_run(sim, slp_sim_now_us(sim) + 1000000000, closed_now, u)) {
    slp_user_revive(u);
  } else {
    slp_oracle_bad(u->oracle, "P2 closed: no close callback before it was opened again");
  }
}

void slp_user_revive(slp_user *u) {
  slp_user_return_all(u);
  slp_oracle *old = u->oracle;
  u->oracle = slp_oracle_new(u->world);
  u->oracle->losses_expected = old->losses_expected;
  u->oracle->silent_trims = old->silent_trims;
  u->oracle->stops_expected = old->stops_expected;
  u->oracle->keys_good = old->keys_good;
  u->oracle->memory_fails = old->memory_fails;
  u->oracle->order_unchecked = old->order_unchecked;
  u->oracle->late_forbidden = old->late_forbidden;
  u->oracle->whole_seconds = old->whole_seconds;
  u->oracle->lags_lie = old->lags_lie;
  u->oracle->serials = old->serials;
  memcpy(u->oracle->bad, old->bad, sizeof old->bad);
  slp_known_stream *stream = u->judged->stream;
  slp_oracle_free(old);
  u->judged = slp_oracle_member(u->oracle, stream, &u->opts);
  u->judged->saved = u->begun = copy_saved(u, u->begun);
  u->closed = u->stop_told = u->moving = 0;
  u->opts.start.kind = SLOOP_AT_TOKEN;
  u->opts.start.token = u->token;
  slp_user_start(u);
  u->opts.start.token = NULL;
}

void slp_user_close(slp_user *u) {
  u->judged->close_called = 1;
  SLP_CALL(u->oracle, sloop_close(u->s, on_closed, u));
}

sloop_stats_t slp_user_stats(slp_user *u) {
  sloop_stats_t st;
  memset(&st, 0, sizeof st);
  if (!u->s) return st;
  SLP_CALL(u->oracle, sloop_stats_get(u->s, &st, sizeof st));
  slp_truth_stats(u->judged, &st);
  return st;
}

int slp_user_wait(slp_user *u, uint64_t ms, int (*cond)(void *arg), void *arg) {
  slp_sim *sim = u->world->sim;
  return slp_sim_run(sim, slp_sim_now_us(sim) + ms * 1000, cond, arg);
}

/* Looking at every shard after every event would dominate the run. */
static int caught_up(void *arg) {
  slp_user *u = arg;
  slp_truth_look(u);
  if (u->oracle->bad[0]) return 1;
  return slp_oracle_all_read(u->judged, NULL, 0);
}

int slp_user_catch_up(slp_user *u, uint64_t ms) {
  slp_sim *sim = u->world->sim;
  uint64_t until = slp_sim_now_us(sim) + ms * 1000;
  while (slp_sim_now_us(sim) < until) {
    if (caught_up(u)) return !u->oracle->bad[0];
    slp_sim_run(sim, slp_min_u64(until, slp_sim_now_us(sim) + 20000), NULL, NULL);
  }
  return caught_up(u) && !u->oracle->bad[0];
}

static int is_closed(void *arg) { return ((slp_user *)arg)->closed; }

void slp_user_finish(slp_user *u) {
  slp_sim *sim = u->world->sim;
  if (u->s && !u->closed) {
    slp_user_stats(u);
    if (!u->judged->close_called) slp_user_close(u);
    if (!slp_sim_run(sim, slp_sim_now_us(sim) + 10000000, is_closed, u))
      slp_oracle_bad(u->oracle, "P2 closed: no close callback within 10 s");
  }
  slp_user_return_all(u);
}

void slp_user_leave(slp_user *u) {
  if (!u->host || !u->mem_owned) return;
  slp_host_close(u->host, NULL, NULL);
  u->host = NULL;
}

void slp_user_free(slp_user *u) {
  if (u->oracle_owned) slp_oracle_free(u->oracle);
  slp_free(u->world->mem, u->token);
  slp_free(u->world->mem, u->saved);
  slp_free(u->world->mem, u->begun);
  u->begun = NULL;
  u->token = NULL;
  u->saved = NULL;
  if (u->mem_owned) slp_mem_drop(u->mem);
  u->oracle = NULL;
  u->mem = NULL;
}
