/* oom_read.c - a stream is read with everything a consumer can do meanwhile, judged by the oracle, and on
 * from the token; or with leases in every store and layout, judged by what comes at all, and on by another
 * worker. */
#include "fault/oom.h"
#include "fault/oom_reader.h"
#include "swarm/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct how_read {
  sloop_wire_t wire;
  sloop_order_t order;
  sloop_position_kind_t start;
  const char *app; /* with leases */
  const char *store, *schema;
} how_read;

static void trouble(slp_world *w) {
  slp_world_faults(
      w,
      "1 ListShards * throttle\n1 GetRecords * expired\n1 GetRecords * html\n1 GetRecords * throttle\n"
      "1 GetRecords * status 500\n1 GetShardIterator * error ResourceNotFoundException:400\n");
}

static void wait_s(slp_user *u, uint64_t s) { slp_world_pass(u->world, s * 1000); }

/* 0: open and started. */
static int begin(oom_run *r, slp_user *u) {
  int rc = slp_user_open(u);
  oom_answer(r, "open", rc, 0);
  if (rc && u->s) oom_bad(r, "open failed and gave a consumer");
  if (rc) return rc;
  slp_oracle_on_start(u->judged);
  SLP_CALL(u->oracle, rc = sloop_start(u->s));
  oom_answer(r, "start", rc, 0);
  return rc;
}

/* Each may fail for lack of memory, and then nothing has changed. */
static void move_about(oom_run *r, slp_user *u) {
  (void)slp_user_save(u);
  for (int i = 0; i < 2; i++) {
    sloop_position_t to = {.kind = i ? SLOOP_OLDEST : SLOOP_AT_TOKEN, .token = i ? NULL : u->token};
    if (!i && !u->token) continue;
    int rc = slp_user_move(u, &to);
    oom_answer(r, "move", rc, SLOOP_ESTATE);
    wait_s(u, 2);
    if (rc == 0 && u->move_told) oom_answer(r, "move", u->move_status, 0);
  }
}

static void play_life(oom_run *r, slp_user *u, slp_known_stream *s) {
  slp_world *w = u->world;
  if (begin(r, u)) return;
  wait_s(u, 2);
  slp_world_put_many(w, s, 20, 50);
  trouble(w);
  wait_s(u, 3);
  (void)slp_world_split(w, s, 0);
  slp_user_list(u);
  wait_s(u, 2);
  slp_world_put_many(w, s, 20, 50);
  slp_user_pause(u, s->shards[1].id);
  wait_s(u, 2);
  slp_user_resume(u, s->shards[1].id);
  slp_user_stats(u);
  move_about(r, u);
  wait_s(u, 2);
  u->manners.give_back_ppm = 0;
  slp_world_faults(w, NULL);
  if (r->way != OOM_FOREVER && !u->judged->failed && !slp_user_catch_up(u, 180000) && !u->oracle->bad[0]) {
    char why[200] = "";
    slp_oracle_all_read(u->judged, why, sizeof why);
    slp_oracle_bad(u->oracle, "memory came back and then not all was read: %s", why);
  }
  if (u->judged->failed) oom_answer(r, "on_error", u->judged->last_error, 0);
  if (u->judged->last_error == SLP_ENOMEM) r->clean = 1;
  if (r->way == OOM_FOREVER && !slp_oracle_all_read(u->judged, NULL, 0)) r->silent = 1;
  slp_user_stop(u, 1000);
  wait_s(u, 2);
  if (u->judged->stop_pending) slp_oracle_bad(u->oracle, "stop was never told");
}

/* From the last token on: the oracle knows what it says. */
static void read_on_from_token(slp_user *u, slp_known_stream *s) {
  char why[200] = "";
  u->oracle->memory_fails = 0;
  slp_world_put_many(u->world, s, 10, 50);
  slp_user_reopen(u);
  if (slp_user_catch_up(u, 180000) || u->oracle->bad[0]) return;
  slp_oracle_all_read(u->judged, why, sizeof why);
  slp_oracle_bad(u->oracle, "the life after did not read all: %s", why);
}

static void set_up(oom_reader *x, oom_run *r, slp_world *w, const slp_known_stream *s, const how_read *how,
                   oom_marks *marks) {
  oom_reader_init(x, r, w, s->name, marks, oom_mem(r));
  x->opts.wire = how->wire;
  x->opts.order = how->order;
  x->opts.start.kind = how->start;
  x->opts.app = how->app;
  x->opts.store = how->store;
  x->opts.schema = how->schema;
}

/* Everything that the first life did not acknowledge comes to the next worker. */
static void read_on(oom_run *r, slp_world *w, slp_known_stream *s, const how_read *how,
                    const oom_marks *before) {
  oom_reader next;
  oom_marks marks = *before;
  set_up(&next, r, w, s, how, &marks);
  slp_world_put_many(w, s, 10, 50);
  marks.n = w->ids;
  if (oom_reader_begin(&next) == 0) oom_reader_read_all(&next, 180000);
  oom_reader_end(&next);
}

static slp_known_stream *begin_stream(slp_world *w) {
  slp_known_stream *s = slp_world_stream(w, "orders", 2);
  slp_world_put_many(w, s, 30, 50);
  slp_world_put_aggregate(w, s, 70, 20);
  slp_world_put_aggregate(w, s, 3, 20);
  return s;
}

static void play_judged(oom_run *r, slp_world *w, const how_read *how) {
  slp_user u;
  slp_known_stream *s = begin_stream(w);
  slp_user_init_mem(&u, w, s, oom_mem(r));
  u.opts.wire = how->wire;
  u.opts.order = how->order;
  u.opts.start.kind = how->start;
  u.opts.batch_records_max = 10;
  u.opts.stats_ms = 500;
  u.opts.poll_ms = 500;
  u.manners = (slp_manners){
      .hold_us_min = 100, .hold_us_max = 300000, .give_back_ppm = 300000, .ack_singly_ppm = 300000};
  u.oracle->memory_fails = r->fail_at > 0;
  r->armed = 1;
  play_life(r, &u, s);
  if (u.s) (void)slp_user_save(&u);
  r->armed = 0;
  /* The place of "latest" is not known when there was no memory to ask for it. */
  int asked = how->start != SLOOP_LATEST || s->shards[0].latest_locates;
  if (u.token && asked && !u.oracle->bad[0]) read_on_from_token(&u, s);
  slp_user_finish(&u);
  slp_user_leave(&u);
  slp_sim_run(w->sim, slp_sim_now_us(w->sim) + UINT64_C(300000000), NULL, NULL);
  if (slp_sim_hosts_alive(w->sim)) slp_oracle_bad(u.oracle, "the host never closed");
  if (u.oracle->bad[0]) oom_bad(r, "%s", u.oracle->bad);
  if (!r->bad[0]) slp_user_free(&u);
}

static void on_listed(sloop_t *c, int status, const sloop_shard_t *const *shards, size_t n,
                      const sloop_error_t *e, void *arg) {
  (void)c, (void)shards, (void)n, (void)e;
  oom_answer(arg, "list", status, 0);
}

static void on_checkpoint(sloop_t *c, int status, void *arg) {
  (void)c;
  oom_answer(arg, "checkpoint", status, SLP_ECANCELED);
}

static void live_with_leases(oom_run *r, oom_reader *x, slp_known_stream *s) {
  slp_world *w = x->world;
  sloop_stats_t stats;
  if (oom_reader_begin(x)) return;
  oom_reader_pass(x, 2000);
  oom_answer(r, "list", sloop_list(x->s, on_listed, r), SLOOP_ESTATE);
  oom_reader_pass(x, 500);
  trouble(w);
  (void)slp_world_split(w, s, 0);
  oom_reader_pass(x, 3000);
  slp_world_put_many(w, s, 20, 50);
  x->marks->n = w->ids;
  int gone = x->fatal ? SLOOP_ESTATE : SLOOP_ENOSHARD;
  oom_answer(r, "pause", sloop_pause(x->s, s->shards[1].id), gone);
  oom_answer(r, "checkpoint", sloop_checkpoint(x->s, NULL, on_checkpoint, r), SLOOP_ESTATE);
  oom_reader_pass(x, 2000);
  gone = x->fatal ? SLOOP_ESTATE : SLOOP_ENOSHARD;
  oom_answer(r, "resume", sloop_resume(x->s, s->shards[1].id), gone);
  sloop_stats_get(x->s, &stats, sizeof stats);
  slp_world_faults(w, NULL);
  if (r->way != OOM_FOREVER) oom_reader_read_all(x, 180000);
  if (x->fatal) oom_answer(r, "on_error", x->fatal, 0);
  oom_reader_stop(x, 1000);
}

/* A worker without memory may lose leases, even without hearing so, and reads again what it gets back: more
 * than the oracle knows of. */
static void play_leases(oom_run *r, slp_world *w, const how_read *how, oom_marks *marks) {
  oom_reader x;
  slp_known_stream *s = begin_stream(w);
  marks->n = w->ids;
  set_up(&x, r, w, s, how, marks);
  r->armed = 1;
  live_with_leases(r, &x, s);
  r->armed = 0;
  oom_reader_end(&x);
  if (!r->bad[0] && (!how->store || strcmp(how->store, "memory") != 0)) read_on(r, w, s, how, marks);
}

static void play(oom_run *r, const void *arg) {
  how_read how = *(const how_read *)arg;
  oom_marks marks = {.n = 0};
  char dir[] = "/tmp/sloop-oom-XXXXXX", store[64];
  if (how.store && strcmp(how.store, "sqlite") == 0) {
    SLP_CHECK(mkdtemp(dir));
    snprintf(store, sizeof store, "sqlite:%s/leases", dir);
    how.store = store;
  }
  slp_world *w = oom_world(r, NULL);
  if (how.app)
    play_leases(r, w, &how, &marks);
  else
    play_judged(r, w, &how);
  if (how.store == store) {
    (void)unlink(store + strlen("sqlite:"));
    if (rmdir(dir) && !r->bad[0]) oom_bad(r, "%s is not empty", dir);
  }
  if (!r->bad[0]) slp_world_free(w);
}

static const how_read cbor = {SLOOP_WIRE_CBOR, SLOOP_ORDER_TIME, SLOOP_OLDEST, NULL, NULL, NULL},
                      json = {SLOOP_WIRE_JSON, SLOOP_ORDER_SHARD, SLOOP_OLDEST, NULL, NULL, NULL},
                      latest = {SLOOP_WIRE_AUTO, SLOOP_ORDER_TIME, SLOOP_LATEST, NULL, NULL, NULL},
                      leases = {SLOOP_WIRE_JSON, SLOOP_ORDER_SHARD, SLOOP_OLDEST, "billing", NULL, NULL},
                      kcl = {SLOOP_WIRE_CBOR, SLOOP_ORDER_TIME, SLOOP_OLDEST, "billing", NULL, "kcl"},
                      memory = {SLOOP_WIRE_CBOR, SLOOP_ORDER_TIME, SLOOP_OLDEST, "billing", "memory", NULL};
#if OOM_SQLITE
static const how_read sqlite = {SLOOP_WIRE_CBOR, SLOOP_ORDER_TIME, SLOOP_OLDEST, "billing", "sqlite", NULL};
#endif
const oom_story oom_read_stories[] = {{"cbor", play, &cbor},     {"json", play, &json},
                                      {"auto", play, &latest},   {"leases", play, &leases},
                                      {"kcl", play, &kcl},
#if OOM_SQLITE
                                      {"sqlite", play, &sqlite},
#endif
                                      {"memory", play, &memory}, {NULL, NULL, NULL}};
