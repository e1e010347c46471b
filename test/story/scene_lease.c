/* scene_lease.c - whole consumers that share a stream by leases: the real api, core, aws and store code of
 * each, over the sandbox's Kinesis and DynamoDB, in virtual time. The judge sees every record handed to
 * anybody and every acknowledgement. */
#define CHECK_SECONDS 120
#include "check.h"
#include "ended_stream.h"
#include "api/open.h"
#include "lease/leased_consumer.h"
#include "swarm/world.h"
#include "core/consumer_inside.h"
#include "core/life.h"
#include "core/progress.h"

#include <stdio.h>

#define WORKERS 4
#define KEPT 64
#define CHECK_BELOW(a, b)                                                                   \
  do {                                                                                      \
    unsigned long long check_a = (a), check_b = (b);                                        \
    if (check_a >= check_b) CHECK_FAIL("%s is %llu, not below %llu", #a, check_a, check_b); \
  } while (0)

typedef struct crew crew;
typedef struct worker {
  crew *c;
  int n;
  slp_mem *mem;
  slp_host *host;
  sloop_t *s;
  sloop_opts_t o;
  uint8_t closed, stopped, saved, keep; /* keep: batches stay until give_all */
  int stop_status, save_status;
  uint32_t refuse_ppm; /* records that are given back */
  uint64_t refuse_id;  /* a record that is always given back; 0: none */
  uint64_t block_ms;   /* the next batch blocks its host for so long */
  sloop_batch_t *kept[KEPT];
  size_t kept_n;
  int events[SLOOP_LEASE_LEFT + 1], shards[SLOOP_SHARD_RELEASED + 1], errors, fatal, dead, tips;
  char back_of[32]; /* a shard that has a record given back, and that nobody has told to be gone */
  int backs;        /* records given back */
  int back_went;    /* times that such a shard went */
  uint64_t dead_id;
  uint32_t dead_attempt; /* the least */
  char last_error[300];
} worker;

struct crew {
  slp_mem *mem;
  slp_world *w;
  slp_known_stream *stream;
  worker at[WORKERS];
  uint32_t lease_ms;
  const char *schema;
  struct judged {   /* of one shard */
    uint64_t epoch; /* the greatest that anything was handed over in */
    size_t next;    /* in that epoch */
    uint8_t began;
    uint8_t *done; /* by place in notes */
    size_t done_n;
  } shards[SLP_SHARDS_MAX];
  uint64_t handed, repeats;
};

/* ---- the judge ---------------------------------------------------------------------------------------- */

static size_t place_of(const slp_known_shard *k, sloop_str_t seq) {
  for (size_t i = 0; i < k->notes_n; i++)
    if (strlen(k->notes[i].seq) == seq.len && memcmp(k->notes[i].seq, seq.base, seq.len) == 0) return i;
  CHECK_FAIL("a record that was never put: %.*s", (int)seq.len, seq.base);
  return 0;
}

static int all_done(crew *c, int shard) {
  const slp_known_shard *k = &c->stream->shards[shard];
  const struct judged *j = &c->shards[shard];
  for (size_t i = 0; i < k->notes_n; i++)
    if (!k->notes[i].trimmed && (i >= j->done_n || !j->done[i])) return 0;
  return 1;
}

static void mark_done(crew *c, size_t shard, size_t place) {
  struct judged *j = &c->shards[shard];
  size_t n = c->stream->shards[shard].notes_n;
  if (j->done_n < n) {
    j->done = slp_realloc(c->mem, j->done, n);
    memset(j->done + j->done_n, 0, n - j->done_n);
    j->done_n = n;
  }
  j->done[place] = 1;
}

static uint64_t judge(worker *w, const sloop_record_t *r) {
  crew *c = w->c;
  size_t shard = slp_world_find(c->stream, r->shard);
  CHECK(shard != SIZE_MAX);
  const slp_known_shard *k = &c->stream->shards[shard];
  struct judged *j = &c->shards[shard];
  size_t place = place_of(k, r->seq);
  CHECK(slp_note_holds(&k->notes[place], r->data.base, r->data.len));
  if (!r->epoch) CHECK_FAIL("a record without an epoch");
  if (r->epoch < j->epoch)
    CHECK_FAIL("%s: epoch %llu after %llu", r->shard, (unsigned long long)r->epoch,
               (unsigned long long)j->epoch);
  if (r->epoch > j->epoch) {
    j->epoch = r->epoch;
    j->began = 0;
  }
  int again = (r->flags & SLOOP_REC_REDELIVERED) != 0;
  if (!again && j->began && place < j->next) CHECK_FAIL("%s: back within an epoch", r->shard);
  if (!again && j->began && place > j->next) CHECK_FAIL("%s: a record left out", r->shard);
  if (!j->began && place > 0 && !(place - 1 < j->done_n && j->done[place - 1]))
    CHECK_FAIL("%s: begins behind a record that nobody has acknowledged", r->shard);
  if (!again) j->next = place + 1;
  j->began = 1;
  if (place < j->done_n && j->done[place]) c->repeats++;
  for (int i = 0; i < 2; i++)
    if (k->parents[i] >= 0 && !all_done(c, k->parents[i])) CHECK_FAIL("%s before its parent", r->shard);
  c->handed++;
  return k->notes[place].id;
}

static void acked(worker *w, const sloop_record_t *r) {
  size_t shard = slp_world_find(w->c->stream, r->shard);
  mark_done(w->c, shard, place_of(&w->c->stream->shards[shard], r->seq));
}

/* ---- a program ---------------------------------------------------------------------------------------- */

static void give(worker *w, sloop_batch_t *b) {
  size_t n = sloop_batch_count(b), i = 0;
  CHECK(sloop_batch_data(b) == w);
  for (; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    size_t shard = slp_world_find(w->c->stream, r->shard);
    uint64_t id = w->c->stream->shards[shard].notes[place_of(&w->c->stream->shards[shard], r->seq)].id;
    if (id == w->refuse_id || slp_sim_chance(w->c->w->sim, w->refuse_ppm)) {
      snprintf(w->back_of, sizeof w->back_of, "%s", r->shard);
      w->backs++;
      break;
    }
    /* Records of a lease that is gone do not count as acknowledged, and may be read again. */
    acked(w, r);
  }
  sloop_batch_done(b, i);
}

static void give_all(worker *w) {
  size_t n = w->kept_n;
  w->kept_n = 0;
  for (size_t i = 0; i < n; i++) give(w, w->kept[i]);
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  worker *w = arg;
  CHECK(sloop_arg(s) == arg && !sloop_batch_data(b));
  sloop_batch_set_data(b, w);
  for (size_t i = 0; i < sloop_batch_count(b); i++) (void)judge(w, sloop_batch_at(b, i));
  if (w->block_ms) {
    slp_sim_freeze(w->host, w->block_ms * 1000);
    w->block_ms = 0;
  }
  if (w->keep) {
    CHECK(w->kept_n < KEPT);
    w->kept[w->kept_n++] = b;
  } else {
    give(w, b);
  }
}

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  worker *w = arg;
  (void)s;
  w->shards[e->kind]++;
  if (e->kind == SLOOP_SHARD_OPENED || strcmp(e->shard, w->back_of)) return;
  w->back_of[0] = 0;
  w->back_went++;
}

static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  worker *w = arg;
  (void)s;
  w->events[e->kind]++;
  if (getenv("SCENE_TRACE"))
    fprintf(stderr, "%10.3f w%d lease %d %s epoch %llu: %s\n", (double)slp_sim_now_us(w->c->w->sim) / 1e6,
            w->n, e->kind, e->shard, (unsigned long long)e->epoch, e->text);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  worker *w = arg;
  (void)s;
  w->errors++;
  w->fatal += e->fatal;
  snprintf(w->last_error, sizeof w->last_error, "%s %s", sloop_err_name(e->code), e->message);
  if (getenv("SCENE_TRACE")) fprintf(stderr, "w%d error %s\n", w->n, w->last_error);
}

static void on_dead_letter(sloop_t *s, const sloop_record_t *r, void *arg) {
  worker *w = arg;
  (void)s;
  if (!w->dead++ || r->attempt < w->dead_attempt) w->dead_attempt = r->attempt;
  w->dead_id = judge(w, r);
  acked(w, r);
}

static const slp_outside outside = {.getenv_fn = slp_world_keys};

static void crew_begin(crew *c, uint64_t seed, uint32_t shards) {
  c->mem = slp_mem_new(NULL, NULL);
  c->w = slp_world_new(c->mem, seed, NULL);
  c->stream = slp_world_stream(c->w, "orders", shards);
  c->lease_ms = 3000;
}

static worker *make(crew *c, int n) {
  worker *w = &c->at[n];
  static char ids[WORKERS][8];
  memset(w, 0, sizeof *w);
  w->c = c;
  w->n = n;
  w->mem = slp_mem_new(NULL, NULL);
  slp_sim_clock clock = {
      .wall_off_ms = (n - 1) * 40000, .mono_start_us = 1000000u * (unsigned)(n + 1), .drift_ppm = 50 * n};
  w->host = slp_sim_host_new(c->w->sim, w->mem, &clock);
  snprintf(ids[n], sizeof ids[n], "w%d", n);
  sloop_opts_init(&w->o);
  w->o.stream = c->stream->name;
  w->o.region = "eu-west-1";
  w->o.endpoint = SLP_ENDPOINT;
  w->o.start.kind = SLOOP_OLDEST;
  w->o.app = "billing";
  w->o.worker = ids[n];
  w->o.schema = c->schema;
  w->o.lease_ms = c->lease_ms;
  w->o.checkpoint_ms = 500;
  w->o.handover_ms = 4000;
  w->o.batch_records_max = 20;
  w->o.arg = w;
  w->o.on_batch = on_batch;
  w->o.on_shard = on_shard;
  w->o.on_lease = on_lease;
  w->o.on_error = on_error;
  return w;
}

static void open_it(worker *w) {
  char why[160];
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
}
static void begin(worker *w) {
  open_it(w);
  CHECK_INT(sloop_start(w->s), 0);
}

static worker *start(crew *c, int n) {
  worker *w = make(c, n);
  begin(w);
  return w;
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  ((worker *)arg)->closed = 1;
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  worker *w = arg;
  (void)s;
  w->stopped = 1;
  w->stop_status = status;
}

static void on_saved(sloop_t *s, int status, void *arg) {
  worker *w = arg;
  (void)s;
  w->saved = 1;
  w->save_status = status;
}

/* At once, as a crash: nothing more is written. */
static void kill_it(worker *w) {
  if (!w->s) return;
  if (!w->closed) sloop_close(w->s, on_closed, w); /* else the scene has closed it */
  while (!w->closed) slp_world_pass(w->c->w, 1);
  w->s = NULL;
  for (size_t i = 0; i < w->kept_n; i++) sloop_batch_done(w->kept[i], 0);
  w->kept_n = 0;
  slp_host_close(w->host, NULL, NULL);
  slp_world_pass(w->c->w, 10);
  CHECK_INT(w->mem->live_bytes, 0);
  slp_mem_drop(w->mem);
  w->mem = NULL;
}

static void leave(worker *w, uint64_t limit_ms) {
  CHECK_INT(sloop_stop(w->s, limit_ms, on_stopped, w), 0);
  for (int i = 0; i < 60000 && !w->stopped; i++) slp_world_pass(w->c->w, 1);
  if (!w->stopped) CHECK_FAIL("w%d does not stop", w->n);
}

static sloop_stats_t stats(worker *w) {
  sloop_stats_t st;
  sloop_stats_get(w->s, &st, sizeof st);
  return st;
}

static int everything(crew *c) {
  for (size_t i = 0; i < c->stream->shards_n; i++)
    if (!all_done(c, (int)i)) return 0;
  return 1;
}

static uint64_t read_all(crew *c, uint64_t ms) {
  uint64_t began = slp_sim_now_us(c->w->sim);
  while (!everything(c)) {
    if (slp_sim_now_us(c->w->sim) - began > ms * 1000)
      CHECK_FAIL("not all was read within %llu ms", (unsigned long long)ms);
    slp_world_pass(c->w, 20);
  }
  return (slp_sim_now_us(c->w->sim) - began) / 1000;
}

/* Until every worker that runs holds its share of n. */
static void balanced(crew *c, uint64_t n, uint64_t ms) {
  for (uint64_t t = 0; t <= ms; t += 50) {
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    for (int i = 0; i < WORKERS; i++) {
      if (!c->at[i].s || c->at[i].stopped) continue;
      uint64_t held = stats(&c->at[i]).shards_now;
      sum += held;
      least = held < least ? held : least;
      most = held > most ? held : most;
    }
    if (sum == n && most - least <= 1) return;
    slp_world_pass(c->w, 50);
  }
  CHECK_FAIL("not balanced within %llu ms", (unsigned long long)ms);
}

static void crew_end(crew *c) {
  for (int i = 0; i < WORKERS; i++) kill_it(&c->at[i]);
  for (size_t i = 0; i < SLP_SHARDS_MAX; i++) slp_free(c->mem, c->shards[i].done);
  slp_world_free(c->w);
  slp_mem_drop(c->mem);
}

/* Told over a table of each layout. */
static const char *const both[] = {"sloop", "kcl", NULL};
static const char *const native[] = {"sloop", NULL};

#define TOLD(name, schemas)                                                                    \
  static void story_##name(crew *c, uint64_t seed);                                            \
  TEST(name) {                                                                                 \
    for (uint64_t k = 0; schemas[k / 3]; k++) {                                                \
      static crew c;                                                                           \
      memset(&c, 0, sizeof c);                                                                 \
      c.schema = schemas[k / 3];                                                               \
      if (getenv("SCENE_TRACE")) fprintf(stderr, "%s, seed %d\n", c.schema, (int)(k % 3 + 1)); \
      story_##name(&c, k % 3 + 1);                                                             \
      crew_end(&c);                                                                            \
    }                                                                                          \
  }                                                                                            \
  static void story_##name(crew *c, uint64_t seed)
/* By stealing, leases move under their owner's hands: what holds there is judged by swarm/herd_swarm. */
#define STORY(name) TOLD(name, native)
#define STORY_OF_BOTH(name) TOLD(name, both)

/* ---- stories ------------------------------------------------------------------------------------------ */

STORY_OF_BOTH(one_worker_reads_everything_once) {
  crew_begin(c, seed, 4);
  slp_world_put_many(c->w, c->stream, 400, 40);
  worker *w = start(c, 0);
  read_all(c, 20000);
  CHECK_INT(c->repeats, 0);
  int native_rules = strcmp(c->schema, "sloop") == 0;
  CHECK_INT(w->events[SLOOP_LEASE_JOINED], 1);
  CHECK_INT(w->events[SLOOP_LEASE_LEADS], native_rules);
  CHECK_INT(w->events[SLOOP_LEASE_TAKEN], 4);
  slp_world_pass(c->w, 2000);
  sloop_stats_t st = stats(w);
  CHECK_INT(st.joined_now, 1);
  CHECK_INT(st.leads_now, native_rules);
  CHECK(st.heartbeats > 0 && st.heartbeat_age_ms_now < 3000);
  CHECK(strncmp(sloop_worker(w->s), "w0.", 3) == 0);
}

static void on_table(sloop_admin_t *s, int status, const sloop_leases_t *t, const sloop_error_t *e,
                     void *arg) {
  worker *w = arg;
  (void)s;
  (void)e;
  w->saved = 1;
  w->save_status = status;
  if (status) return;
  CHECK_INT(t->workers_n, 1);
  CHECK(t->workers[0]->behind_ms >= 0);
  CHECK(t->workers[0]->rate_bytes > 0);
  CHECK_INT(t->leases_n, 4);
}

STORY(the_table_tells_how_far_behind_and_how_fast_a_worker_is) {
  crew_begin(c, seed, 4);
  worker *w = start(c, 0);
  for (int i = 0; i < 20; i++) {
    slp_world_put_many(c->w, c->stream, 40, 40);
    slp_world_pass(c->w, 300);
  }
  CHECK_INT(sloop_admin_leases(sloop_admin_of(w->s), on_table, w), 0);
  slp_world_pass(c->w, 500);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, 0);
}

STORY_OF_BOTH(after_a_clean_stop_the_next_one_goes_on_without_a_repeat) {
  crew_begin(c, seed, 3);
  for (int round = 0; round < 4; round++) {
    slp_world_put_many(c->w, c->stream, 150, 40);
    worker *w = start(c, 0);
    if (round == 3) {
      read_all(c, 20000);
    } else {
      slp_world_pass(c->w, 1500 + 300 * (unsigned)round);
    }
    leave(w, 5000);
    CHECK_INT(w->stop_status, 0);
    CHECK_INT(w->events[SLOOP_LEASE_LEFT], 1);
    kill_it(w);
  }
  CHECK_INT(c->repeats, 0);
}

STORY(workers_share_evenly_and_a_joiner_gets_its_share_without_a_repeat) {
  crew_begin(c, seed, 8);
  slp_world_put_many(c->w, c->stream, 800, 40);
  start(c, 0);
  balanced(c, 8, 10000);
  for (int i = 1; i < 4; i++) {
    start(c, i);
    slp_world_put_many(c->w, c->stream, 200, 40);
    balanced(c, 8, 20000);
  }
  read_all(c, 20000);
  CHECK_INT(c->repeats, 0);
  int64_t taken[WORKERS];
  for (int i = 0; i < 4; i++) taken[i] = c->at[i].events[SLOOP_LEASE_TAKEN];
  slp_world_pass(c->w, 15000); /* at rest nothing moves */
  for (int i = 0; i < 4; i++) CHECK_INT(c->at[i].events[SLOOP_LEASE_TAKEN], taken[i]);
}

STORY_OF_BOTH(the_shards_of_a_dead_worker_are_read_on_within_a_lease_and_two_seconds) {
  crew_begin(c, seed, 6);
  slp_world_put_many(c->w, c->stream, 300, 40);
  for (int i = 0; i < 3; i++) start(c, i);
  balanced(c, 6, 15000);
  read_all(c, 20000);
  for (int victim = 0; victim < 2; victim++) { /* the first is the leader */
    kill_it(&c->at[victim]);
    slp_world_put_many(c->w, c->stream, 120, 40);
    /* A poll at the tip takes up to 1.2 s. Where nobody leads, a look may come just too early, and the next
     * one a lease later. */
    uint64_t most = strcmp(c->schema, "kcl") == 0 ? 2 * c->lease_ms : c->lease_ms;
    CHECK_BELOW(read_all(c, 20000), most + 2000 + 1200);
  }
}

STORY(a_blocked_worker_drops_what_it_has_and_its_shards_are_read_by_others) {
  crew_begin(c, seed, 4);
  start(c, 0);
  start(c, 1);
  balanced(c, 4, 15000);
  slp_world_put_many(c->w, c->stream, 600, 40);
  c->at[1].block_ms = 5 * c->lease_ms;
  read_all(c, 40000);
  slp_world_pass(c->w, 6 * c->lease_ms);
  CHECK_INT(c->at[1].events[SLOOP_LEASE_EVICTED], 1);
  CHECK(c->at[1].shards[SLOOP_SHARD_LOST] > 0);
  CHECK_INT(c->at[1].events[SLOOP_LEASE_JOINED], 2);
  balanced(c, 4, 20000);
}

STORY_OF_BOTH(a_short_block_costs_nothing) {
  crew_begin(c, seed, 4);
  start(c, 0);
  start(c, 1);
  balanced(c, 4, 15000);
  for (int i = 0; i < 5; i++) {
    slp_world_put_many(c->w, c->stream, 200, 40);
    c->at[1].block_ms = c->lease_ms * 4 / 10;
    read_all(c, 20000);
  }
  CHECK_INT(c->repeats, 0);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_EVICTED_OTHER], 0);
  CHECK_INT(c->at[1].events[SLOOP_LEASE_EVICTED], 0);
}

STORY(children_are_read_after_their_parents_whoever_reads_them) {
  crew_begin(c, seed, 3);
  for (int i = 0; i < 3; i++) start(c, i);
  balanced(c, 3, 15000);
  for (int round = 0; round < 5; round++) {
    slp_world_put_many(c->w, c->stream, 150, 40);
    size_t shard = slp_world_open_shard(c->w, c->stream);
    CHECK_INT(slp_world_split(c->w, c->stream, shard), 0);
    slp_world_pass(c->w, 300);
    slp_world_put_many(c->w, c->stream, 150, 40);
    slp_world_pass(c->w, 2000);
  }
  read_all(c, 60000);
  CHECK_INT(c->repeats, 0);
}

STORY(a_hand_over_waits_for_batches_that_are_out_and_repeats_nothing) {
  crew_begin(c, seed, 4);
  slp_world_put_many(c->w, c->stream, 400, 40);
  worker *w = make(c, 0);
  w->keep = 1;
  w->o.batches_out_max = 8;
  begin(w);
  slp_world_pass(c->w, 3000);
  CHECK(w->kept_n > 0);
  start(c, 1);
  slp_world_pass(c->w, 3000); /* asked, and waiting */
  CHECK_INT(c->repeats, 0);
  w->keep = 0;
  give_all(w);
  balanced(c, 4, 15000);
  read_all(c, 20000);
  CHECK_INT(c->repeats, 0);
  CHECK(w->shards[SLOOP_SHARD_RELEASED] == 2);
}

STORY(a_deadline_passes_and_what_was_not_acknowledged_comes_again_elsewhere) {
  crew_begin(c, seed, 4);
  slp_world_put_many(c->w, c->stream, 200, 40);
  worker *w = make(c, 0);
  w->keep = 1;
  w->o.batches_out_max = 8;
  begin(w);
  slp_world_pass(c->w, 3000);
  start(c, 1);
  slp_world_pass(c->w, 20000);
  CHECK(w->shards[SLOOP_SHARD_RELEASED] == 2);
  w->keep = 0;
  for (size_t i = 0; i < w->kept_n; i++) sloop_batch_done(w->kept[i], 0); /* of both kinds */
  w->kept_n = 0;
  balanced(c, 4, 15000);
  read_all(c, 40000);
}

STORY_OF_BOTH(a_checkpoint_on_demand_holds_what_was_acknowledged) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 100, 40);
  worker *w = make(c, 0);
  w->o.checkpoint_ms = 0;
  begin(w);
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), SLOOP_ESTATE);
  read_all(c, 20000);
  CHECK_INT(stats(w).checkpoints, 0);
  CHECK_INT(sloop_checkpoint(w->s, "nobody", on_saved, w), SLOOP_ENOSHARD);
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), 0);
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), SLOOP_ESTATE);
  for (int i = 0; i < 500 && !w->saved; i++) slp_world_pass(c->w, 1);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, 0);
  CHECK_INT(stats(w).checkpoints, 2); /* told not before it is there */
  kill_it(w);                         /* at once: what the table has is what counts */
  start(c, 1);
  slp_world_pass(c->w, 10000);
  CHECK_INT(c->repeats, 0);
  CHECK_INT(c->at[1].events[SLOOP_LEASE_TAKEN], 2);
}

STORY_OF_BOTH(a_save_cut_off_by_close_is_told) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 100, 40);
  worker *w = make(c, 0);
  w->o.checkpoint_ms = 0;
  begin(w);
  read_all(c, 20000);
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), 0);
  kill_it(w);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, SLP_ECANCELED);
}

STORY_OF_BOTH(a_record_that_keeps_coming_back_goes_to_the_dead_letters) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->o.on_retry = SLOOP_RETRY_SKIP;
  w->o.retry_max = 3;
  w->o.on_dead_letter = on_dead_letter;
  w->refuse_id = c->stream->shards[0].notes[5].id;
  begin(w);
  read_all(c, 30000);
  CHECK_INT(w->dead, 1);
  CHECK(w->dead_id == w->refuse_id);
  CHECK_INT(stats(w).dead_letters, 1);
  leave(w, 3000);
  kill_it(w);
  CHECK_INT(c->repeats, 0);
  start(c, 1);
  slp_world_pass(c->w, 5000);
  CHECK_INT(c->repeats, 0);
}

STORY(a_poisoned_shard_goes_to_another_worker) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  for (int i = 0; i < 2; i++) {
    worker *w = make(c, i);
    w->o.on_retry = SLOOP_RETRY_STOP;
    w->o.retry_max = 2;
    if (i == 0) w->refuse_id = c->stream->shards[0].notes[5].id;
    begin(w);
    slp_world_pass(c->w, 1500);
  }
  read_all(c, 60000);
  CHECK(c->at[0].events[SLOOP_LEASE_RELEASED] > 0);
}

STORY(a_shard_given_up_for_its_position_goes_to_another_worker) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  slp_world_faults(c->w, "1 GetShardIterator shardId-000000000000 error InvalidArgumentException:400\n");
  for (int i = 0; i < 2; i++) start(c, i);
  read_all(c, 60000);
  CHECK_INT(c->at[0].shards[SLOOP_SHARD_STOPPED] + c->at[1].shards[SLOOP_SHARD_STOPPED], 1);
}

static void add_parked(const sloop_shard_stats_t *shard, void *arg) {
  if (shard->state == SLOOP_SHARD_IS_PARKED) snprintf(arg, 40, "%s %d", shard->shard, (int)shard->behind_ms);
}

STORY(a_parked_shard_is_read_by_nobody) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->o.on_retry = SLOOP_RETRY_PARK;
  w->o.retry_max = 2;
  w->refuse_id = c->stream->shards[0].notes[5].id;
  begin(w);
  slp_world_pass(c->w, 8000);
  CHECK_INT(stats(w).shards_now, 1);
  start(c, 1);
  slp_world_pass(c->w, 20000);
  CHECK_INT(stats(w).shards_now + stats(&c->at[1]).shards_now, 1);
  CHECK(all_done(c, 1) && !all_done(c, 0));
  char parked[40] = ""; /* and how far behind it is nobody knows */
  sloop_shard_stats_each(w->s, add_parked, parked);
  CHECK_STR(parked, "shardId-000000000000 -1");
  CHECK_INT(stats(w).parked_now, 1);
  CHECK(stats(w).behind_ms_now == UINT64_MAX);
  CHECK(stats(w).behind_unknown_ms_now >= 15000 && stats(w).behind_unknown_ms_now <= 28000);
  CHECK_INT(stats(&c->at[1]).parked_now, 0); /* who leads tells it */
}

STORY(a_shard_without_progress_goes_to_another_worker) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->o.stall_ms = 2000;
  w->keep = 1;
  begin(w);
  slp_world_pass(c->w, 1000);
  start(c, 1);
  read_all(c, 30000);
  give_all(w);
}

/* Or two shards that are taken anew in turn wait for each other for ever. */
STORY(a_shard_whose_records_wait_for_another_shard_is_not_given_up) {
  crew_begin(c, seed, 2);
  worker *w = make(c, 0);
  w->o.stall_ms = 2000;
  w->o.order_wait_ms = UINT32_MAX;
  begin(w);
  slp_world_pass(c->w, 5000);
  slp_world_faults(c->w, "* GetRecords 1 delay 12000\n");
  slp_world_put_to(c->w, c->stream, 1, 40);
  slp_world_pass(c->w, 1500);
  uint64_t handed = c->handed;
  for (int i = 0; i < 20; i++) slp_world_put_to(c->w, c->stream, 0, 40);
  slp_world_pass(c->w, 8000);
  CHECK_INT(c->handed, handed); /* they do wait */
  CHECK_INT(w->events[SLOOP_LEASE_RELEASED], 0);
  slp_world_faults(c->w, NULL);
  read_all(c, 60000);
}

/* As a subscription of its last owner does: any other worker would be refused as well. */
STORY_OF_BOTH(a_shard_that_another_reader_has_for_five_seconds_is_not_given_up) {
  crew_begin(c, seed, 2);
  for (int i = 0; i < 2; i++) {
    worker *w = make(c, i);
    w->o.stall_ms = 2000;
    begin(w);
  }
  balanced(c, 2, 20000);
  slp_world_pass(c->w, 5000);
  int released = c->at[0].events[SLOOP_LEASE_RELEASED] + c->at[1].events[SLOOP_LEASE_RELEASED];
  slp_world_faults(c->w, "100000 GetRecords * error ResourceInUseException:400\n");
  slp_world_pass(c->w, 5000);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_RELEASED] + c->at[1].events[SLOOP_LEASE_RELEASED], released);
  slp_world_pass(c->w, 10000); /* for longer nobody keeps it who does not read it */
  CHECK_BELOW(released, c->at[0].events[SLOOP_LEASE_RELEASED] + c->at[1].events[SLOOP_LEASE_RELEASED]);
  slp_world_faults(c->w, NULL);
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 90000);
}

STORY_OF_BOTH(an_outage_of_the_table_suspends_and_nobody_loses_anything) {
  crew_begin(c, seed, 4);
  start(c, 0);
  start(c, 1);
  balanced(c, 4, 15000);
  slp_world_put_many(c->w, c->stream, 100, 40);
  read_all(c, 20000);
  int taken = c->at[0].events[SLOOP_LEASE_TAKEN] + c->at[1].events[SLOOP_LEASE_TAKEN];
  slp_world_faults(c->w,
                   "100000 UpdateItem * error 500\n100000 GetItem * error 500\n"
                   "100000 BatchGetItem * error 500\n100000 Query * error 500\n");
  slp_world_pass(c->w, 3 * c->lease_ms);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_SUSPENDED] + c->at[1].events[SLOOP_LEASE_SUSPENDED], 2);
  uint64_t handed = c->handed;
  slp_world_put_many(c->w, c->stream, 100, 40);
  slp_world_pass(c->w, 3000);
  CHECK_INT(c->handed, handed);
  slp_world_faults(c->w, NULL);
  read_all(c, 20000);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_TAKEN] + c->at[1].events[SLOOP_LEASE_TAKEN], taken);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_EVICTED] + c->at[1].events[SLOOP_LEASE_EVICTED], 0);
  CHECK_INT(c->repeats, 0);
}

STORY(latest_means_when_the_application_began_for_every_shard) {
  crew_begin(c, seed, 3);
  slp_world_put_many(c->w, c->stream, 90, 40);
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < c->stream->shards[i].notes_n; k++) mark_done(c, i, k);
  slp_world_pass(c->w, 60000 + 2000);
  for (int i = 1; i < 3; i++) {
    worker *w = make(c, i);
    w->o.start.kind = SLOOP_LATEST;
    begin(w);
  }
  slp_world_pass(c->w, 300);
  for (int i = 1; i < 3; i++) kill_it(&c->at[i]);
  (void)seed;
}

/* w2's clock is 40 s ahead. */
STORY_OF_BOTH(latest_means_the_service_s_clock_and_not_the_worker_s) {
  crew_begin(c, seed, 3);
  worker *w = make(c, 2);
  w->o.start.kind = SLOOP_LATEST;
  begin(w);
  slp_world_pass(c->w, 5000);
  slp_world_put_many(c->w, c->stream, 90, 40);
  read_all(c, 20000);
}

static void on_reset(sloop_admin_t *s, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                     void *arg) {
  (void)s;
  CHECK(r != NULL);
  (void)e;
  CHECK_INT(status, 0);
  ((worker *)arg)->saved = 1;
}

static int tells_refused(const worker *w) {
  const char *shard;
  uint64_t ago_ms;
  return slp_progress_refused(w->s->consumer, &shard, &ago_ms) || stats((worker *)(uintptr_t)w).refused_now;
}

/* Or the worker that was refused is not ready although another one reads the shard. */
STORY(a_position_that_an_operator_has_set_anew_is_not_told_refused) {
  crew_begin(c, seed, 3);
  for (int i = 0; i < 2; i++) start(c, i);
  balanced(c, 3, 15000);
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 20000);
  slp_world_pass(c->w, 10000); /* what was read is saved */
  slp_world_faults(c->w,
                   "1 GetRecords shardId-000000000000 expired\n"
                   "1 GetShardIterator shardId-000000000000 error InvalidArgumentException:400\n");
  slp_world_pass(c->w, 4000);
  CHECK_INT(c->at[0].shards[SLOOP_SHARD_STOPPED] + c->at[1].shards[SLOOP_SHARD_STOPPED], 1);
  CHECK(tells_refused(&c->at[0]) || tells_refused(&c->at[1]));
  start(c, 2); /* it has no shard yet, and so gets this one */
  slp_world_pass(c->w, 3000);
  worker *w = make(c, 3);
  char why[160];
  sloop_position_t to = {.kind = SLOOP_LATEST};
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_admin_reset(sloop_admin_of(w->s), "shardId-000000000000", &to, 0, on_reset, w), 0);
  slp_world_pass(c->w, 3000);
  CHECK_INT(w->saved, 1);
  kill_it(w);
  slp_world_pass(c->w, 9000);
  CHECK_INT(stats(&c->at[2]).shards_now, 1);
  slp_world_pass(c->w, 6000); /* the worker that was refused reads no rows, and tells so for 20 s */
  for (int i = 0; i < 3; i++) CHECK(!tells_refused(&c->at[i]));
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 20000);
}

STORY(an_operator_s_latest_is_the_service_s_too) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 30, 40);
  start(c, 1);
  read_all(c, 20000);
  leave(&c->at[1], 5000);
  kill_it(&c->at[1]);
  worker *w = make(c, 2);
  char why[160];
  sloop_position_t to = {.kind = SLOOP_LATEST};
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_admin_reset(sloop_admin_of(w->s), NULL, &to, 0, on_reset, w), 0);
  slp_world_pass(c->w, 5000);
  CHECK_INT(w->saved, 1);
  kill_it(w);
  slp_world_put_many(c->w, c->stream, 40, 40);
  start(c, 1);
  read_all(c, 20000);
}

STORY(what_makes_no_sense_is_refused_by_name) {
  char why[160];
  crew_begin(c, seed, 1);
  worker *w = make(c, 0);
  struct {
    const char *why;
    sloop_opts_t o;
  } bad[8];
  size_t n = 0;
  const char *ends[] = {"0000"};
#define BAD(text, change) \
  do {                    \
    bad[n].o = w->o;      \
    bad[n].o.change;      \
    bad[n++].why = text;  \
  } while (0)
  BAD("app", app = "two words");
  BAD("worker", worker = "ends.");
  BAD("store", store = "redis");
  BAD("store", store = "sqlite:");
  BAD("schema", schema = "other");
  BAD("start", start.kind = SLOOP_AT_SEQ);
  BAD("lease_ms", lease_ms = 10);
  BAD("on_dead_letter", on_retry = SLOOP_RETRY_SKIP);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(bad[i].why, "start") == 0) {
      bad[i].o.start.shard = "shardId-000000000000";
      bad[i].o.start.seq = "1";
    }
    CHECK_INT(slp_open_on(w->host, w->mem, &outside, &w->s, &bad[i].o, why), SLOOP_EOPTION);
    if (strncmp(why, bad[i].why, strlen(bad[i].why)) != 0) CHECK_FAIL("\"%s\" names not %s", why, bad[i].why);
  }
  bad[0].o = w->o;
  bad[0].o.shards = ends;
  bad[0].o.shards_n = 1;
  CHECK_INT(slp_open_on(w->host, w->mem, &outside, &w->s, &bad[0].o, why), SLOOP_EOPTION);
  w->s = NULL;
  begin(w);
  size_t len = 0;
  sloop_position_t to = {.kind = SLOOP_OLDEST};
  CHECK_INT(sloop_token(w->s, NULL, &len), SLOOP_ESTATE);
  CHECK_INT(sloop_seek(w->s, &to, NULL, NULL), SLOOP_ESTATE);
}

STORY(a_missing_right_is_the_end_at_first_contact_and_named) {
  static const char *const calls[] = {"DescribeTable", "CreateTable", "GetItem", "UpdateItem"};
  crew_begin(c, seed, 1);
  for (size_t i = 0; i < SLP_COUNT(calls); i++) {
    char script[200];
    snprintf(script, sizeof script, "100000 %s * error AccessDeniedException:400\n", calls[i]);
    slp_world_faults(c->w, script);
    worker *w = start(c, 0);
    slp_world_pass(c->w, 3000);
    CHECK_INT(w->fatal, 1);
    if (!strstr(w->last_error, "EACCESS") || !strstr(w->last_error, calls[i]))
      CHECK_FAIL("without %s: %s", calls[i], w->last_error);
    slp_world_pass(c->w, 20000);
    CHECK_INT(w->errors, 1);
    if (i % 2) leave(w, 1000);
    kill_it(w);
    slp_world_faults(c->w, NULL);
  }
}

/* Its first shard is closed, and nothing but its last record keeps it from being ended. */
static worker *stuck_at_the_end(crew *c, sloop_retry_t on_retry) {
  slp_world_put_many(c->w, c->stream, 40, 40);
  CHECK_INT(slp_world_split(c->w, c->stream, 0), 0);
  slp_world_pass(c->w, 500);
  worker *w = make(c, 0);
  const slp_known_shard *k = &c->stream->shards[0];
  w->refuse_id = k->notes[k->notes_n - 1].id;
  w->o.on_retry = on_retry;
  w->o.retry_max = 2;
  begin(w);
  return w;
}

STORY(a_poisoned_last_record_of_a_closed_shard_is_tried_elsewhere) {
  crew_begin(c, seed, 1);
  worker *w = stuck_at_the_end(c, SLOOP_RETRY_STOP);
  slp_world_pass(c->w, 1500);
  start(c, 1);
  read_all(c, 60000);
  CHECK(w->events[SLOOP_LEASE_RELEASED] > 0);
}

STORY(a_closed_shard_is_parked_for_its_last_record) {
  crew_begin(c, seed, 1);
  worker *w = stuck_at_the_end(c, SLOOP_RETRY_PARK);
  slp_world_pass(c->w, 10000);
  CHECK_INT(w->events[SLOOP_LEASE_RELEASED], 1);
  uint64_t handed = c->handed;
  slp_world_pass(c->w, 40000);
  CHECK_INT(c->handed, handed);
}

STORY(a_closed_shard_without_progress_at_its_end_goes_to_another_worker) {
  crew_begin(c, seed, 1);
  worker *w = stuck_at_the_end(c, SLOOP_RETRY_REDELIVER);
  w->o.stall_ms = 0;
  kill_it(w);
  w = make(c, 0);
  w->o.stall_ms = 2000;
  w->keep = 1;
  w->o.batches_out_max = 8;
  begin(w);
  slp_world_pass(c->w, 4000);
  start(c, 1);
  read_all(c, 60000);
  give_all(w);
}

STORY(what_is_given_back_after_stop_does_not_come_again) {
  crew_begin(c, seed, 1);
  worker *w = stuck_at_the_end(c, SLOOP_RETRY_REDELIVER);
  slp_world_pass(c->w, 3000);
  uint64_t handed = c->handed, began = slp_sim_now_us(c->w->sim);
  CHECK(handed >= 40);
  leave(w, 20000);
  CHECK_INT(w->stop_status, 0);
  CHECK_INT(c->handed, handed);
  CHECK_BELOW(slp_sim_now_us(c->w->sim) - began, 5000000);
  kill_it(w);
  start(c, 1);
  read_all(c, 20000);
}

static void count_unacked(const sloop_shard_stats_t *st, void *arg) {
  CHECK(st->epoch > 0 && st->from.kind == SLOOP_OLDEST && !st->paused);
  *(uint64_t *)arg += st->unacked;
}

/* The service is out of reach for longer than a lease's deadline; then the worker sleeps until it is dead. */
STORY(whether_an_acknowledgement_still_counts_is_known_without_the_table) {
  crew_begin(c, seed, 2);
  start(c, 0);
  worker *w = start(c, 1);
  balanced(c, 2, 15000);
  w->keep = 1;
  slp_world_put_many(c->w, c->stream, 40, 40);
  slp_world_pass(c->w, 3000);
  CHECK(w->kept_n > 0);
  CHECK_INT(sloop_batch_owned(w->kept[0], 0), 1);
  uint64_t unacked = 0;
  sloop_shard_stats_each(w->s, count_unacked, &unacked);
  CHECK(unacked >= sloop_batch_count(w->kept[0]));
  c->w->down = 1;
  slp_world_pass(c->w, c->lease_ms - 100);
  CHECK_INT(sloop_batch_owned(w->kept[0], 0), 0);
  CHECK_INT(w->shards[SLOOP_SHARD_LOST], 0);
  c->w->down = 0;
  slp_sim_freeze(w->host, 5 * (uint64_t)c->lease_ms * 1000);
  slp_world_pass(c->w, 7 * (uint64_t)c->lease_ms);
  CHECK(w->shards[SLOOP_SHARD_LOST] > 0);
  CHECK_INT(sloop_batch_owned(w->kept[0], 0), -1);
  give_all(w);
  w->keep = 0;
  read_all(c, 20000);
}

STORY(a_stop_waits_for_batches_of_leases_that_are_lost_too) {
  crew_begin(c, seed, 2);
  start(c, 0);
  worker *w = start(c, 1);
  balanced(c, 2, 15000);
  w->keep = 1;
  slp_world_put_many(c->w, c->stream, 40, 40);
  w->block_ms = 5 * c->lease_ms;
  slp_world_pass(c->w, 7 * c->lease_ms);
  CHECK(w->shards[SLOOP_SHARD_LOST] > 0 && w->kept_n > 0);
  w->keep = 0;
  CHECK_INT(sloop_stop(w->s, 20000, on_stopped, w), 0);
  slp_world_pass(c->w, 3000);
  CHECK_INT(w->stopped, 0);
  give_all(w);
  slp_world_pass(c->w, 100);
  CHECK_INT(w->stopped, 1);
  CHECK_INT(w->stop_status, 0);
}

STORY_OF_BOTH(batches_come_back_to_a_consumer_that_has_ended_by_itself) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->keep = 1;
  w->o.batches_out_max = 8;
  begin(w);
  slp_world_pass(c->w, 3000);
  CHECK(w->kept_n > 0);
  slp_fail f = {0};
  slp_fail_set(&f, SLP_GONE, SLOOP_ENOSTREAM, "deleted and created again");
  w->s->consumer->leases->ops->end(w->s->consumer->leases, &f);
  slp_world_pass(c->w, 100);
  CHECK_INT(w->fatal, 1);
  give_all(w);
  leave(w, 1000);
  CHECK_INT(w->stop_status, 0);
}

/* As with DynamoDB Streams: what is older than the start is read, and passed over. */
static worker *start_at_time(crew *c, int n, int64_t at_ms) {
  worker *w = make(c, n);
  w->o.start.kind = SLOOP_AT_TIME;
  w->o.start.at_ms = at_ms;
  w->o.fetch_records_max = 10;
  w->o.order = SLOOP_ORDER_SHARD;
  char why[160];
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  w->s->consumer->source->anchors_by_time = 0;
  CHECK_INT(sloop_start(w->s), 0);
  return w;
}

STORY(what_is_older_than_the_start_is_passed_over_by_whoever_takes_over_too) {
  crew_begin(c, seed, 1);
  slp_world_put_many(c->w, c->stream, 100, 40);
  for (size_t k = 0; k < 100; k++) mark_done(c, 0, k);
  slp_world_pass(c->w, 60000);
  int64_t at_ms = slp_world_ms(c->w) - 30000;
  slp_world_put_many(c->w, c->stream, 10, 40);
  for (int i = 0; i < 3; i++) {
    worker *w = start_at_time(c, 0, at_ms);
    slp_world_pass(c->w, 1500 + 400 * (unsigned)i);
    leave(w, 3000);
    kill_it(w);
  }
  start_at_time(c, 1, at_ms);
  read_all(c, 20000);
  CHECK_INT(c->handed, 10);
}

/* Returns batches that are out, the newest first. */
static void give_backwards(worker *w) {
  size_t n = w->kept_n;
  w->kept_n = 0;
  for (size_t i = n; i > 0; i--) give(w, w->kept[i - 1]);
}

static void two_bad_records(crew *c, void (*give_them)(worker *w)) {
  slp_world_put_many(c->w, c->stream, 2, 40);
  worker *w = make(c, 0);
  w->o.on_retry = SLOOP_RETRY_SKIP;
  w->o.retry_max = 4;
  w->o.on_dead_letter = on_dead_letter;
  w->o.batch_records_max = 1;
  w->refuse_ppm = 1000000;
  w->keep = 1;
  begin(w);
  for (int i = 0; i < 400 && w->dead < 2; i++) {
    slp_world_pass(c->w, 100);
    give_them(w);
  }
  CHECK_INT(w->dead, 2);
  CHECK(w->dead_attempt > 4); /* of the one that had the fewest */
}

STORY(several_records_that_keep_coming_back_are_all_given_up_and_none_too_early) {
  crew_begin(c, seed, 1);
  two_bad_records(c, give_all);
}

STORY(so_they_are_when_batches_come_back_in_any_order) {
  crew_begin(c, seed, 1);
  two_bad_records(c, give_backwards);
}

/* Blocks that were freed: the last one goes to the next that wants as many bytes. */
typedef struct again {
  struct block {
    void *p;
    size_t bytes;
  } freed[256];
  size_t n;
} again;

static void *take_out(again *a, size_t i) {
  void *p = a->freed[i].p;
  a->n--;
  memmove(&a->freed[i], &a->freed[i + 1], (a->n - i) * sizeof a->freed[0]);
  return p;
}

static void *take_again(again *a, size_t bytes) {
  for (size_t i = a->n; i > 0; i--)
    if (a->freed[i - 1].bytes == bytes) return take_out(a, i - 1);
  return malloc(bytes);
}

static void *alloc_again(void *ctx, void *p, size_t was, size_t want) {
  again *a = ctx;
  void *got = want ? take_again(a, want) : NULL;
  if (!p || (want && !got)) return got;
  if (got) memcpy(got, p, was < want ? was : want);
  if (a->n == SLP_COUNT(a->freed)) free(take_out(a, 0));
  a->freed[a->n++] = (struct block){p, was};
  return got;
}

/* Each record is a page of its own, and the next page gets the place of the last in memory. */
STORY(a_record_has_the_tries_of_no_other_one) {
  static again blocks; /* the worker ends behind this story */
  crew_begin(c, seed, 1);
  worker *w = make(c, 0);
  w->o.on_retry = SLOOP_RETRY_SKIP;
  w->o.retry_max = 1;
  w->o.alloc = alloc_again;
  w->o.alloc_ctx = &blocks;
  w->o.on_dead_letter = on_dead_letter;
  begin(w);
  for (int i = 0; i < 40; i++) {
    int bad = i % 2; /* a page goes when the one behind it is there: every other one gets the same place */
    w->refuse_ppm = bad ? 1000000 : 0;
    uint64_t seen = c->handed;
    slp_world_put_many(c->w, c->stream, 1, 40);
    for (int k = 0; k < 100 && (c->handed == seen || w->dead < (i + bad) / 2); k++) slp_world_pass(c->w, 100);
    CHECK_INT(w->dead, (i + bad) / 2);
    CHECK_INT(w->backs, w->dead);
  }
}

static void count_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  *(size_t *)arg += sloop_batch_count(b);
  sloop_batch_done(b, sloop_batch_count(b));
}

/* A consumer joined to w's, of another application over the same store. */
static sloop_t *join(worker *w, const char *app, const char *store, size_t *handed) {
  char why[160];
  sloop_t *s;
  sloop_opts_t o = w->o;
  o.join = w->s;
  o.app = app;
  o.store = store;
  o.arg = handed;
  o.on_batch = count_batch;
  o.on_shard = NULL;
  o.on_lease = NULL;
  o.on_error = NULL;
  if (slp_open_on(w->host, w->mem, &outside, &s, &o, why)) CHECK_FAIL("%s", why);
  return s;
}

/* The worker, and joined to it a consumer without leases, of another stream. */
static sloop_t *open_with(worker *w, const slp_known_stream *stream, size_t *handed) {
  char why[160];
  sloop_opts_t before = w->o;
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  w->o.stream = stream->name;
  w->o.worker = w->o.schema = NULL;
  w->o.stall_ms = 0;
  sloop_t *other = join(w, NULL, NULL, handed);
  w->o = before;
  return other;
}

STORY_OF_BOTH(applications_in_one_store_have_leases_of_their_own) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  char why[160];
  size_t handed[2] = {0, 0};
  w->o.store = "memory";
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  sloop_t *others[] = {join(w, "audit", "memory", &handed[0]), join(w, "search", "memory", &handed[1])};
  CHECK_INT(sloop_start(w->s), 0);
  for (int i = 0; i < 2; i++) CHECK_INT(sloop_start(others[i]), 0);
  slp_world_pass(c->w, 15000);
  for (int i = 0; i < 2; i++) CHECK_INT(handed[i], 60);
  CHECK(everything(c));
  for (int i = 0; i < 2; i++) sloop_close(others[i], NULL, NULL);
}

static void on_leases(sloop_admin_t *s, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  (void)s;
  (void)e;
  CHECK_INT(status, 0);
  *(size_t *)arg = l->leases_n;
}

STORY_OF_BOTH(leases_are_found_after_a_consumer_of_another_stream_was_closed) {
  crew_begin(c, seed, 2);
  slp_known_stream *parcels = slp_world_stream(c->w, "parcels", 3);
  slp_world_put_many(c->w, parcels, 30, 40);
  worker *w = make(c, 0);
  char why[160];
  size_t handed = 0, told = 0;
  if (slp_open_on(w->host, w->mem, &outside, &w->s, &w->o, why)) CHECK_FAIL("%s", why);
  w->o.stream = parcels->name;
  sloop_t *other = join(w, w->o.app, NULL, &handed);
  CHECK_INT(sloop_start(w->s), 0);
  CHECK_INT(sloop_start(other), 0);
  slp_world_pass(c->w, 10000);
  CHECK_INT(handed, 30);
  sloop_close(other, NULL, NULL);
  slp_world_pass(c->w, 100);
  CHECK_INT(sloop_admin_leases(sloop_admin_of(w->s), on_leases, &told), 0);
  slp_world_pass(c->w, 3000);
  CHECK_INT(told, 2);
}

/* It has not listed: its first record may be the first of all. */
STORY_OF_BOTH(a_shard_whose_records_wait_for_a_joined_consumer_is_not_given_up) {
  crew_begin(c, seed, 2);
  slp_known_stream *parcels = slp_world_stream(c->w, "parcels", 1);
  worker *w = make(c, 0);
  size_t handed = 0;
  w->o.stall_ms = 2000;
  w->o.order_wait_ms = UINT32_MAX;
  sloop_t *other = open_with(w, parcels, &handed);
  CHECK_INT(sloop_start(w->s), 0);
  slp_world_pass(c->w, 8000);
  slp_world_faults(c->w, "* DescribeStreamSummary * error InternalFailure:500\n");
  CHECK_INT(sloop_start(other), 0);
  slp_world_put_many(c->w, c->stream, 20, 40);
  slp_world_pass(c->w, 10000);
  CHECK_INT(c->handed, 0); /* they do wait */
  CHECK_INT(w->events[SLOOP_LEASE_RELEASED], 0);
  slp_world_faults(c->w, NULL);
  read_all(c, 60000);
  sloop_close(other, NULL, NULL);
}

#define OUTAGE                                                  \
  "100000 UpdateItem * error 500\n100000 GetItem * error 500\n" \
  "100000 BatchGetItem * error 500\n100000 Query * error 500\n"

STORY_OF_BOTH(what_a_suspended_consumer_holds_is_not_in_the_way_of_those_joined_to_it) {
  crew_begin(c, seed, 8);
  slp_known_stream *parcels = slp_world_stream(c->w, "parcels", 4);
  worker *w = make(c, 0);
  size_t handed = 0;
  w->keep = 1;
  w->o.buffered_bytes_max = 128 * 1024;
  w->o.batch_records_max = 1; /* the rest of a page is held and not out */
  sloop_t *other = open_with(w, parcels, &handed);
  CHECK_INT(sloop_start(w->s), 0);
  CHECK_INT(sloop_start(other), 0);
  slp_world_pass(c->w, 8000);
  slp_world_put_many(c->w, c->stream, 100, 10000);
  slp_world_pass(c->w, 3000);
  CHECK(w->kept_n > 0);
  slp_world_faults(c->w, OUTAGE);
  slp_world_pass(c->w, c->lease_ms);
  CHECK_INT(stats(w).suspended_now, 1);
  w->keep = 0;
  give_all(w);
  slp_world_put_many(c->w, parcels, 100, 10000);
  CHECK(stats(w).buffered_bytes_now > w->o.buffered_bytes_max / 2);
  for (int i = 0; i < 1200 && handed < 100; i++) slp_world_pass(c->w, 50);
  CHECK_INT(handed, 100);
  CHECK_INT(stats(w).buffered_bytes_now, 0); /* it was needed, and is fetched again */
  slp_world_faults(c->w, NULL);
  read_all(c, 30000);
  sloop_close(other, NULL, NULL);
}

static void on_tip(sloop_t *s, void *arg) {
  worker *w = arg;
  sloop_stats_t st;
  sloop_stats_get(s, &st, sizeof st);
  CHECK(st.shards_now > 0);
  CHECK_INT(st.tip_now, st.shards_now);
  w->tips++;
}

STORY_OF_BOTH(who_reads_no_shard_is_not_at_the_tip) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 30, 40);
  for (int i = 0; i < 3; i++) {
    worker *w = make(c, i);
    w->o.on_tip = on_tip;
    begin(w);
  }
  read_all(c, 20000);
  slp_world_pass(c->w, 10000);
  CHECK(c->at[0].tips + c->at[1].tips + c->at[2].tips >= 2);
}

static void on_tip_with_all_told(sloop_t *s, void *arg) {
  worker *w = arg;
  on_tip(s, w);
  if (w->back_of[0]) CHECK_FAIL("w%d is at the tip, and gave a record of %s back", w->n, w->back_of);
}

/* The acknowledged records go with the lease, and the user is told of the lease first. */
STORY_OF_BOTH(no_tip_is_told_between_a_give_back_and_the_word_that_its_shard_goes) {
  crew_begin(c, seed, 4);
  for (int i = 0; i < 2; i++) {
    worker *w = make(c, i);
    w->o.stall_ms = 2000;
    w->o.on_tip = on_tip_with_all_told;
    begin(w);
  }
  balanced(c, 4, 20000);
  slp_world_put_many(c->w, c->stream, 40, 40);
  read_all(c, 20000);
  slp_world_pass(c->w, 3000);
  int tips = c->at[0].tips + c->at[1].tips;
  CHECK(c->at[0].tips && c->at[1].tips);
  c->at[0].refuse_id = c->at[1].refuse_id = slp_world_put(c->w, c->stream, 40)->id;
  for (int ms = 0; ms < 20000 && !c->at[0].back_went && !c->at[1].back_went; ms++) slp_world_pass(c->w, 1);
  CHECK(c->at[0].back_went || c->at[1].back_went);
  c->at[0].refuse_id = c->at[1].refuse_id = 0;
  read_all(c, 60000);
  slp_world_pass(c->w, 3000);
  CHECK(c->at[0].tips + c->at[1].tips > tips);
}

STORY_OF_BOTH(an_outage_of_everything_is_no_lack_of_progress) {
  crew_begin(c, seed, 2);
  for (int i = 0; i < 2; i++) {
    worker *w = make(c, i);
    w->o.stall_ms = 5000;
    begin(w);
  }
  balanced(c, 2, 20000);
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 20000);
  slp_world_pass(c->w, 20000);
  int released = c->at[0].events[SLOOP_LEASE_RELEASED] + c->at[1].events[SLOOP_LEASE_RELEASED];
  slp_world_faults(
      c->w, OUTAGE
      "100000 GetRecords * error InternalFailure:500\n100000 GetShardIterator * error InternalFailure:500\n");
  slp_world_pass(c->w, 15000);
  slp_world_faults(c->w, NULL);
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 30000);
  slp_world_pass(c->w, 10000);
  CHECK_INT(c->at[0].events[SLOOP_LEASE_RELEASED] + c->at[1].events[SLOOP_LEASE_RELEASED], released);
}

static void on_list(sloop_t *s, int status, const sloop_shard_t *const *shards, size_t n,
                    const sloop_error_t *e, void *arg) {
  worker *w = arg;
  (void)s;
  (void)shards;
  (void)n;
  (void)e;
  w->saved = 1;
  w->save_status = status;
}

/* The table is there only after the user's listing has failed for good. */
static void slow_table(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  (void)w;
  (void)shard;
  if (strcmp(op, "CreateTable") == 0 || strcmp(op, "DescribeTable") == 0) reply->delay_ms = 2000;
}

STORY_OF_BOTH(what_failed_for_good_while_its_table_is_prepared_stays_failed) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 40, 40);
  c->w->on_answer = slow_table;
  slp_world_faults(c->w, "100 ListShards * error AccessDeniedException:400\n");
  worker *w = start(c, 0);
  CHECK_INT(sloop_list(w->s, on_list, w), 0);
  slp_world_pass(c->w, 1000);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, SLOOP_EACCESS);
  CHECK_INT(w->fatal, 1);
  slp_world_faults(c->w, NULL);
  slp_world_pass(c->w, 60000);
  CHECK_INT(w->s->consumer->life, SLP_LIFE_FAILED);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(w->events[SLOOP_LEASE_JOINED], 0);
  CHECK_INT(c->handed, 0);
  leave(w, 1000); /* it can still be stopped, and another one begins anew */
  kill_it(w);
  c->w->on_answer = NULL;
  start(c, 1);
  read_all(c, 20000);
}

/* Each lists before it has a lease: it can't know what the others have still to read. */
STORY_OF_BOTH(a_stream_that_has_ended_is_told_by_the_leader_and_read_to_its_end) {
  worker *w[2];
  crew_begin(c, seed, 1);
  slp_world_put_many(c->w, c->stream, 400, 40);
  for (int i = 0; i < 2; i++) {
    w[i] = make(c, i);
    w[i]->keep = 1;
    open_it(w[i]);
    end_stream(w[i]->s->consumer->source);
    ended_stream.has_another = 1;
    CHECK_INT(sloop_start(w[i]->s), 0);
    slp_world_pass(c->w, 10000);
  }
  int reads = stats(w[1]).shards_now > 0;
  kill_it(w[reads]);
  worker *other = w[!reads];
  slp_world_pass(c->w, 150000);
  CHECK(!other->fatal && !everything(c));
  CHECK_INT(other->errors, 1);
  CHECK(strstr(other->last_error, "ESTREAMBUSY the stream of table ") &&
        strstr(other->last_error, "another stream now"));
  other->keep = 0;
  give_all(other);
  read_all(c, 20000);
  slp_world_pass(c->w, 150000);
  CHECK(!other->fatal && other->errors == 1);
}

static sloop_batch_t *one_kept(worker *w) {
  w->keep = 1;
  w->o.batches_out_max = 8;
  begin(w);
  slp_world_pass(w->c->w, 3000);
  CHECK(w->kept_n > 0);
  CHECK_INT(sloop_batch_owned(w->kept[0], 0), 1);
  return w->kept[0];
}

static void end_by_itself(worker *w) {
  slp_fail f = {0};
  slp_fail_set(&f, SLP_GONE, SLOOP_ENOSTREAM, "deleted and created again");
  w->s->consumer->leases->ops->end(w->s->consumer->leases, &f);
}

/* After a fatal error a worker does not release its leases, but it writes no more positions. */
STORY_OF_BOTH(no_acknowledgement_counts_once_the_consumer_has_ended) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  sloop_batch_t *b = one_kept(w);
  end_by_itself(w);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
  slp_world_pass(c->w, 5 * c->lease_ms);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
}

STORY_OF_BOTH(no_acknowledgement_counts_once_sloop_close_has_returned) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  sloop_batch_t *b = one_kept(w);
  sloop_close(w->s, on_closed, w);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
  while (!w->closed) slp_world_pass(c->w, 1);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
}

/* Every way in which a consumer ends by itself owes the listing that waits. */
STORY_OF_BOTH(a_listing_that_waits_is_told_of_the_fatal_error) {
  crew_begin(c, seed, 2);
  slp_world_faults(c->w,
                   "* ListShards * delay 20000\n100000 DescribeTable * error AccessDeniedException:400\n");
  worker *w = start(c, 0);
  CHECK_INT(sloop_list(w->s, on_list, w), 0);
  slp_world_pass(c->w, 5000);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, SLOOP_EACCESS);
  kill_it(w);
  slp_world_faults(c->w, NULL);
  w = start(c, 0);
  slp_world_pass(c->w, 5000);
  slp_world_faults(c->w, "* ListShards * delay 20000\n");
  CHECK_INT(sloop_list(w->s, on_list, w), 0);
  end_by_itself(w);
  CHECK_INT(w->saved, 0);
  slp_world_pass(c->w, 100);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, SLOOP_ENOSTREAM);
}

/* The stop has no limit, and the lease table goes away before the batch comes back. */
STORY(a_stop_that_waits_is_told_of_the_fatal_error) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  (void)one_kept(w);
  CHECK_INT(sloop_stop(w->s, seed == 1 ? 60000 : UINT64_MAX, on_stopped, w), 0);
  slp_world_faults(c->w,
                   "100000 UpdateItem * error ResourceNotFoundException:400\n"
                   "100000 GetItem * error ResourceNotFoundException:400\n");
  for (int i = 0; i < 500 && !w->fatal; i++) slp_world_pass(c->w, 100);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(sloop_stop(w->s, 0, on_stopped, w), SLOOP_ESTATE);
  slp_world_pass(c->w, 100);
  CHECK_INT(w->stopped, 1);
  if (w->stop_status >= 0) CHECK_FAIL("the stop succeeded, although nothing could be written");
  CHECK(w->stop_status != SLP_ETIMEDOUT && w->stop_status != SLP_ECANCELED);
  CHECK_INT(sloop_stop(w->s, 0, on_stopped, w), SLOOP_ESTATE);
  slp_world_faults(c->w, NULL);
}

STORY_OF_BOTH(a_checkpoint_that_waits_is_told_of_the_fatal_error) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->o.checkpoint_ms = 0;
  (void)one_kept(w);
  w->keep = 0;
  give_all(w);
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), 0);
  end_by_itself(w);
  CHECK_INT(w->saved, 0);
  slp_world_pass(c->w, 100);
  CHECK_INT(w->fatal, 1);
  CHECK_INT(w->saved, 1);
  CHECK_INT(w->save_status, SLOOP_ENOSTREAM);
}

STORY_OF_BOTH(the_totals_stay_once_the_consumer_has_ended) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = start(c, 0);
  read_all(c, 20000);
  slp_world_pass(c->w, 3000);
  sloop_stats_t before = stats(w);
  CHECK(before.leases_taken == 2 && before.heartbeats > 0 && before.checkpoints > 0);
  end_by_itself(w);
  slp_world_pass(c->w, 1000);
  sloop_stats_t after = stats(w);
  CHECK(after.leases_taken >= before.leases_taken && after.leases_released >= before.leases_released);
  CHECK(after.heartbeats >= before.heartbeats && after.checkpoints >= before.checkpoints);
  CHECK_INT(after.joined_now, 0);
  CHECK_INT(after.leads_now, 0);
  CHECK_INT(after.holes_now, 0);
}

/* An operator's handle reads no stream, so the rows are those of an application of one stream. */
STORY_OF_BOTH(a_joined_handle_of_an_operator_leaves_the_rows_as_they_are) {
  char why[160] = "";
  sloop_admin_t *a = NULL;
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = start(c, 0);
  read_all(c, 20000);
  leave(w, 5000);
  kill_it(w);
  w = make(c, 0);
  open_it(w);
  sloop_opts_t o = w->o;
  o.join = w->s;
  if (sloop_admin_open(&a, NULL, &o, why, sizeof why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_start(w->s), 0);
  slp_world_put_many(c->w, c->stream, 60, 40);
  read_all(c, 20000);
  CHECK_INT(c->repeats, 0);
  sloop_admin_close(a, NULL, NULL);
  slp_world_pass(c->w, 100);
}

static void on_answer(sloop_admin_t *a, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                      void *arg) {
  worker *w = arg;
  (void)a;
  (void)r;
  (void)e;
  w->saved = 1;
  w->save_status = status;
}

static void on_registered(sloop_admin_t *a, int status, const sloop_registered_t *const *all, size_t n,
                          const sloop_error_t *e, void *arg) {
  worker *w = arg;
  (void)a;
  (void)all;
  (void)e;
  w->saved = (uint8_t)(2 + n);
  w->save_status = status;
}

/* With push the consumer's own source does not ask the service about a position, and registers a consumer for
 * enhanced fan-out. An operator's request must ask the service, and register no consumer. */
STORY_OF_BOTH(an_operators_requests_ask_the_service_also_where_records_are_pushed) {
  static const sloop_retrieval_t ways[] = {SLOOP_RETRIEVAL_POLL, SLOOP_RETRIEVAL_PUSH, SLOOP_RETRIEVAL_AUTO};
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = start(c, 0);
  read_all(c, 20000);
  leave(w, 5000);
  kill_it(w);
  for (size_t i = 0; i < SLP_COUNT(ways); i++) {
    sloop_position_t to = {.kind = SLOOP_AT_SEQ, .seq = "1"}; /* of no shard of this stream */
    w = make(c, 0);
    w->o.retrieval = ways[i];
    w->o.push_consumer = "fan";
    open_it(w);
    CHECK_INT(sloop_admin_reset(sloop_admin_of(w->s), c->stream->shards[0].id, &to, 0, on_answer, w), 0);
    slp_world_pass(c->w, 20000);
    CHECK_INT(w->saved, 1);
    CHECK_INT(w->save_status, SLOOP_EPOSITION);
    CHECK_INT(sloop_admin_registered(sloop_admin_of(w->s), on_registered, w), 0);
    slp_world_pass(c->w, 20000);
    CHECK_INT(w->save_status, 0);
    CHECK_INT(w->saved, 2); /* nobody is registered */
    kill_it(w);
  }
}

/* The table can't be reached: the position is not written, and the lease is given up without a word. */
STORY_OF_BOTH(a_checkpoint_that_waits_is_told_when_its_worker_has_left) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 60, 40);
  worker *w = make(c, 0);
  w->o.checkpoint_ms = 0;
  (void)one_kept(w);
  w->keep = 0;
  give_all(w);
  c->w->down = 1;
  CHECK_INT(sloop_checkpoint(w->s, NULL, on_saved, w), 0);
  CHECK_INT(sloop_stop(w->s, 3000, on_stopped, w), 0);
  slp_world_pass(c->w, 5000);
  CHECK_INT(w->stopped, 1);
  CHECK_INT(w->stop_status, SLP_ETIMEDOUT);
  slp_world_pass(c->w, 10 * c->lease_ms);
  CHECK_INT(w->saved, 1);
  c->w->down = 0;
}

STORY_OF_BOTH(it_ends_in_any_state) {
  crew_begin(c, seed, 2);
  slp_world_put_many(c->w, c->stream, 100, 40);
  for (unsigned ms = 0; ms < 400; ms += 7) {
    worker *w = start(c, 0);
    slp_world_pass(c->w, ms);
    if (ms % 2) leave(w, 1000);
    kill_it(w);
  }
}
