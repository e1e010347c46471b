/* scene_named.c - positions that the user names (SLOOP_CHECKPOINTS_ASKED): whole consumers over the sandbox's
 * Kinesis and DynamoDB in virtual time. What the table holds is seen by the worker that comes next. */
#define CHECK_SECONDS 120
#include "check.h"
#include "api/open.h"
#include "swarm/user.h"
#include "swarm/world.h"
#include "core/consumer_inside.h"
#include "core/mark.h"

#include <stdio.h>

#define RECORDS_MAX 400
#define SHARDS_MAX 8

typedef struct seen {
  char shard[40];
  char seq[SLP_SEQ_MAX + 1];
  uint64_t sub;
} seen;

typedef struct user {
  slp_mem *mem;
  slp_host *host;
  sloop_t *s;
  sloop_opts_t o;
  seen got[RECORDS_MAX];
  size_t got_n;
  int told[SLOOP_SHARD_LEAVING + 1];
  char out_of[SHARDS_MAX][40]; /* shards that were read out */
  size_t out_n;
  sloop_batch_t *kept;
  /* when got_n has reached seeks_at, its shard is read again, and sought_n is set to got_n */
  size_t seeks_at, sought_n;
  uint8_t keeps, closed, stopped, answers;
  int status; /* of the last answer */
} user;

typedef struct stage {
  slp_mem *mem;
  slp_world *w;
  slp_known_stream *stream;
  const char *schema;
  user at[2];
} stage;

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  user *u = arg;
  /* Its shard is listed, also when all of it has been read by now. */
  CHECK(slp_user_unacked_of(s, sloop_batch_at(b, 0)->shard) >= sloop_batch_count(b));
  for (size_t i = 0; i < sloop_batch_count(b); i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    CHECK(u->got_n < RECORDS_MAX);
    seen *g = &u->got[u->got_n++];
    snprintf(g->shard, sizeof g->shard, "%s", r->shard);
    snprintf(g->seq, sizeof g->seq, "%.*s", (int)r->seq.len, r->seq.base);
    g->sub = r->sub;
  }
  if (u->seeks_at && u->got_n >= u->seeks_at) {
    CHECK_INT(sloop_seek_checkpoint(s, u->got[0].shard), 0);
    u->seeks_at = 0;
    u->sought_n = u->got_n;
  }
  if (u->keeps && !u->kept)
    u->kept = b;
  else
    sloop_batch_done(b, sloop_batch_count(b));
}

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  user *u = arg;
  (void)s;
  u->told[e->kind]++;
  if (e->kind != SLOOP_SHARD_READ_OUT) return;
  CHECK(u->out_n < SHARDS_MAX);
  snprintf(u->out_of[u->out_n++], sizeof u->out_of[0], "%s", e->shard);
}

static void on_answer(sloop_t *s, int status, void *arg) {
  user *u = arg;
  (void)s;
  u->answers++;
  u->status = status;
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  ((user *)arg)->closed = 1;
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  (void)s;
  ((user *)arg)->stopped = 1;
  CHECK_INT(status, 0);
}

static const slp_outside outside = {.getenv_fn = slp_world_keys};

static user *begin(stage *g, int n) {
  user *u = &g->at[n];
  char why[160];
  memset(u, 0, sizeof *u);
  u->mem = slp_mem_new(NULL, NULL);
  slp_sim_clock clock = {.wall_off_ms = 0, .mono_start_us = 1000000u * (unsigned)(n + 1)};
  u->host = slp_sim_host_new(g->w->sim, u->mem, &clock);
  sloop_opts_init(&u->o);
  u->o.stream = g->stream->name;
  u->o.region = "eu-west-1";
  u->o.endpoint = SLP_ENDPOINT;
  u->o.start.kind = SLOOP_OLDEST;
  u->o.order = SLOOP_ORDER_SHARD;
  u->o.app = "billing";
  u->o.worker = n ? "w1" : "w0";
  u->o.schema = g->schema;
  u->o.lease_ms = 3000;
  u->o.handover_ms = 4000;
  u->o.batch_records_max = 10;
  u->o.checkpoints = SLOOP_CHECKPOINTS_ASKED;
  u->o.arg = u;
  u->o.on_batch = on_batch;
  u->o.on_shard = on_shard;
  if (slp_open_on(u->host, u->mem, &outside, &u->s, &u->o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_start(u->s), 0);
  return u;
}

static void end(stage *g, user *u, int cleanly) {
  if (!u->s) return;
  if (cleanly) CHECK_INT(sloop_stop(u->s, 3000, on_stopped, u), 0);
  for (int i = 0; i < 6000 && cleanly && !u->stopped; i++) slp_world_pass(g->w, 1);
  CHECK_INT(u->stopped, cleanly);
  sloop_close(u->s, on_closed, u);
  while (!u->closed) slp_world_pass(g->w, 1);
  u->s = NULL;
  if (u->kept) sloop_batch_done(u->kept, 0);
  u->kept = NULL;
  slp_host_close(u->host, NULL, NULL);
  slp_world_pass(g->w, 10);
  CHECK_INT(u->mem->live_bytes, 0);
  slp_mem_drop(u->mem);
}

static void wait_for(stage *g, user *u, size_t records) {
  for (int i = 0; i < 3000 && u->got_n < records; i++) slp_world_pass(g->w, 10);
  CHECK_INT(u->got_n, records);
}

static int name_seq(user *u, const char *shard, const char *seq, uint64_t sub) {
  sloop_position_t to = {.kind = SLOOP_AFTER_SEQ, .seq = seq, .sub = sub};
  return sloop_checkpoint_at(u->s, shard, &to, on_answer, u);
}

static int name_end(user *u, const char *shard) {
  sloop_position_t to = {.kind = SLOOP_AT_END};
  return sloop_checkpoint_at(u->s, shard, &to, on_answer, u);
}

static void answered(stage *g, user *u, uint8_t n, int status) {
  for (int i = 0; i < 500 && u->answers < n; i++) slp_world_pass(g->w, 1);
  CHECK_INT(u->answers, n);
  CHECK_INT(u->status, status);
}

static uint64_t checkpoints(user *u) {
  sloop_stats_t st;
  sloop_stats_get(u->s, &st, sizeof st);
  return st.checkpoints;
}

#define STORY(name)                                        \
  static void story_##name(stage *g);                      \
  TEST(name) {                                             \
    static const char *const schemas[] = {"sloop", "kcl"}; \
    for (size_t k = 0; k < 2; k++) {                       \
      static stage g;                                      \
      memset(&g, 0, sizeof g);                             \
      g.schema = schemas[k];                               \
      g.mem = slp_mem_new(NULL, NULL);                     \
      g.w = slp_world_new(g.mem, k + 1, NULL);             \
      g.stream = slp_world_stream(g.w, "orders", 1);       \
      story_##name(&g);                                    \
      for (int i = 0; i < 2; i++) end(&g, &g.at[i], 0);    \
      slp_world_free(g.w);                                 \
      slp_mem_drop(g.mem);                                 \
    }                                                      \
  }                                                        \
  static void story_##name(stage *g)

STORY(nothing_is_written_that_was_not_named) {
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  slp_world_pass(g->w, 20000);
  CHECK_INT(checkpoints(u), 0);
  end(g, u, 1); /* nor at a clean stop */
  u = begin(g, 1);
  wait_for(g, u, 60);
}

STORY(what_was_named_is_where_the_next_one_begins) {
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  seen at = u->got[24], before = u->got[3];
  CHECK_INT(name_seq(u, at.shard, at.seq, 0), 0);
  CHECK_INT(name_seq(u, at.shard, before.seq, 0), 0); /* the second is under way beside it, and behind it */
  answered(g, u, 2, 0);
  CHECK_INT(checkpoints(u), 1);
  end(g, u, 0); /* as a crash */
  u = begin(g, 1);
  wait_for(g, u, 35);
  CHECK_STR(u->got[0].seq, g->at[0].got[25].seq);
}

STORY(bad_names_are_refused) {
  slp_world_put_many(g->w, g->stream, 20, 40);
  user *u = begin(g, 0);
  CHECK_INT(name_seq(u, "shardId-000000000000", "1", 0), SLOOP_ESTATE); /* it does not run yet */
  wait_for(g, u, 20);
  const char *shard = u->got[0].shard;
  sloop_position_t latest = {.kind = SLOOP_LATEST};
  CHECK_INT(sloop_checkpoint_at(u->s, shard, &latest, on_answer, u), SLOOP_EOPTION);
  CHECK_INT(sloop_checkpoint_at(u->s, shard, NULL, on_answer, u), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, shard, "12x", 0), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, shard, NULL, 0), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, shard, "1", UINT64_C(1) << 32), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, "nobody", "1", 0), SLOOP_ENOSHARD);
  CHECK_INT(name_end(u, shard), SLOOP_ESTATE); /* there is more to come */
  CHECK_INT(sloop_handover(u->s, shard), SLOOP_ESTATE);
  CHECK_INT(sloop_seek_checkpoint(u->s, "nobody"), SLOOP_ENOSHARD);
  CHECK_INT(sloop_checkpoint(u->s, shard, NULL, NULL), SLOOP_ESTATE);
  CHECK_INT(u->answers, 0);
}

/* The service knows numbers without zeros in front only (0|([1-9]\d{0,128})). */
STORY(a_number_with_zeros_in_front_is_written_as_the_service_knows_it) {
  char zeros[2 * SLP_SEQ_MAX];
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  seen at = u->got[24];
  snprintf(zeros, sizeof zeros, "%0*d%s", 100, 0, at.seq); /* more than 129 digits, the zeros counted */
  CHECK_INT(name_seq(u, at.shard, zeros, 0), 0);
  answered(g, u, 1, 0);
  CHECK_INT(checkpoints(u), 1);
  end(g, u, 0);
  u = begin(g, 1);
  wait_for(g, u, 35);
  CHECK_STR(u->got[0].seq, g->at[0].got[25].seq);
}

STORY(a_number_that_was_not_fetched_of_the_shard_is_refused) {
  char next[SLP_SEQ_MAX + 1], signs[SLP_SEQ_MAX + 2];
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  seen last = u->got[59];
  snprintf(next, sizeof next, "%s", last.seq);
  next[5] = '9'; /* of a stream that was made later */
  CHECK_INT(name_seq(u, last.shard, "1", 0), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, last.shard, "0", 0), SLOOP_EOPTION);
  CHECK_INT(name_seq(u, last.shard, next, 0), SLOOP_EOPTION);
  snprintf(signs, sizeof signs, "+%s", last.seq);
  CHECK_INT(name_seq(u, last.shard, signs, 0), SLOOP_EOPTION);
  snprintf(signs, sizeof signs, " %s", last.seq);
  CHECK_INT(name_seq(u, last.shard, signs, 0), SLOOP_EOPTION);
  CHECK_INT(u->answers, 0);
  CHECK_INT(checkpoints(u), 0);
  CHECK_INT(name_seq(u, last.shard, u->got[30].seq, 0), 0);
  answered(g, u, 1, 0);
  CHECK_INT(name_seq(u, last.shard, "1", 0), 0); /* before the one named last: it is not written */
  answered(g, u, 2, 0);
  end(g, u, 0);
  u = begin(g, 1);
  wait_for(g, u, 29);
}

STORY(a_rewound_shard_is_read_again_from_behind_the_last_name) {
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  seen at = u->got[9];
  CHECK_INT(sloop_seek_checkpoint(u->s, at.shard), 0); /* nothing was named: all of it comes again */
  CHECK_INT(sloop_seek_checkpoint(u->s, at.shard), 0);
  wait_for(g, u, 120);
  CHECK_STR(u->got[60].seq, u->got[0].seq);
  CHECK_INT(u->told[SLOOP_SHARD_REPOSITIONED], 1);
  CHECK_INT(u->told[SLOOP_SHARD_OPENED], 2);
  CHECK_INT(name_seq(u, at.shard, at.seq, 0), 0);
  answered(g, u, 1, 0);
  u->keeps = 1;
  CHECK_INT(sloop_seek_checkpoint(u->s, at.shard), 0);
  wait_for(g, u, 170);
  CHECK_STR(u->got[120].seq, u->got[10].seq);
  sloop_batch_t *old = u->kept; /* what is out at a rewind counts no more */
  CHECK(old);
  u->keeps = 0;
  u->kept = NULL;
  CHECK_INT(sloop_seek_checkpoint(u->s, at.shard), 0);
  slp_world_pass(g->w, 5);
  sloop_batch_done(old, 0);
  wait_for(g, u, 220);
  CHECK_STR(u->got[219].seq, u->got[59].seq);
}

/* The records that were fetched together with the batch at hand are not handed over any more. */
STORY(nothing_of_before_a_rewind_is_handed_over_after_it) {
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  u->seeks_at = 20;
  for (int i = 0; i < 3000 && u->seeks_at; i++) slp_world_pass(g->w, 1);
  size_t n = u->sought_n;
  CHECK(n >= 20 && n < 60);
  wait_for(g, u, n + 60);
  CHECK_STR(u->got[n].seq, u->got[0].seq);
  CHECK_INT(u->told[SLOOP_SHARD_REPOSITIONED], 1);
}

/* sloop_pause() and sloop_resume() between the call and the move count for the shard that is read again. */
STORY(a_pause_and_its_end_are_kept_by_a_shard_that_is_read_again) {
  slp_world_put_many(g->w, g->stream, 60, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 60);
  const char *shard = u->got[0].shard;
  CHECK_INT(sloop_seek_checkpoint(u->s, shard), 0);
  CHECK_INT(sloop_pause(u->s, shard), 0);
  slp_world_pass(g->w, 2000);
  CHECK_INT(u->told[SLOOP_SHARD_REPOSITIONED], 1);
  CHECK_INT(u->got_n, 60);
  CHECK_INT(sloop_seek_checkpoint(u->s, shard), 0);
  slp_world_pass(g->w, 2000);
  CHECK_INT(u->told[SLOOP_SHARD_REPOSITIONED], 2);
  CHECK_INT(u->got_n, 60);
  CHECK_INT(sloop_seek_checkpoint(u->s, shard), 0);
  CHECK_INT(sloop_resume(u->s, shard), 0);
  wait_for(g, u, 120);
  CHECK_INT(u->told[SLOOP_SHARD_REPOSITIONED], 3);
}

STORY(the_end_of_a_shard_is_written_when_it_is_named) {
  slp_world_put_many(g->w, g->stream, 30, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 30);
  CHECK_INT(slp_world_split(g->w, g->stream, 0), 0);
  slp_world_put_many(g->w, g->stream, 40, 40);
  slp_world_pass(g->w, 8000);
  CHECK_INT(u->got_n, 30); /* its children wait for it */
  CHECK_INT(u->told[SLOOP_SHARD_READ_OUT], 1);
  CHECK_INT(u->told[SLOOP_SHARD_ENDED], 0);
  CHECK_INT(sloop_seek_checkpoint(u->s, u->out_of[0]), 0); /* and it can be read again */
  wait_for(g, u, 60);
  slp_world_pass(g->w, 5000);
  CHECK_INT(u->told[SLOOP_SHARD_READ_OUT], 2);
  CHECK_INT(name_end(u, u->out_of[1]), 0);
  CHECK_INT(sloop_seek_checkpoint(u->s, u->out_of[1]), SLOOP_ESTATE);
  answered(g, u, 1, 0);
  wait_for(g, u, 100);
  CHECK_INT(u->told[SLOOP_SHARD_ENDED], 1);
}

STORY(closing_answers_every_name) {
  slp_world_put_many(g->w, g->stream, 20, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 20);
  for (int i = 0; i < 5; i++) CHECK_INT(name_seq(u, u->got[0].shard, u->got[(size_t)i].seq, 0), 0);
  CHECK_INT(sloop_seek_checkpoint(u->s, u->got[0].shard), 0);
  end(g, u, 0);
  CHECK_INT(u->answers, 5);
  CHECK_INT(u->status, SLP_ECANCELED);
}

STORY(a_consumer_that_ends_by_itself_answers_every_name) {
  slp_world_put_many(g->w, g->stream, 20, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 20);
  for (int i = 0; i < 5; i++) CHECK_INT(name_seq(u, u->got[0].shard, u->got[(size_t)i].seq, 0), 0);
  slp_fail f = {0};
  slp_fail_set(&f, SLP_GONE, SLOOP_ENOSTREAM, "deleted and created again");
  u->s->consumer->leases->ops->end(u->s->consumer->leases, &f);
  CHECK_INT(u->answers, 0);
  answered(g, u, 5, SLOOP_ENOSTREAM);
}

static void on_late_stop(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  ((user *)arg)->stopped = 1;
}

/* The lease table can't be reached, so no position that the user names is written. */
STORY(a_worker_that_has_left_answers_every_name) {
  slp_world_put_many(g->w, g->stream, 20, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 20);
  g->w->down = 1;
  CHECK_INT(name_seq(u, u->got[0].shard, u->got[5].seq, 0), 0);
  slp_world_pass(g->w, 200);
  for (int i = 6; i < 10; i++) CHECK_INT(name_seq(u, u->got[0].shard, u->got[(size_t)i].seq, 0), 0);
  CHECK_INT(sloop_stop(u->s, 3000, on_late_stop, u), 0);
  slp_world_pass(g->w, 60000);
  CHECK_INT(u->stopped, 1);
  CHECK_INT(u->answers, 5);
  CHECK_INT(u->status, SLOOP_ENOSHARD);
  u->stopped = 0; /* as end() wants it */
  g->w->down = 0;
}

static void note_paused(const sloop_shard_stats_t *st, void *arg) { *(int *)arg = st->paused; }

/* A shard that is read again stays resumed if all others are paused, and stays paused if it was. */
STORY(a_shard_read_again_is_paused_as_before) {
  int paused = -1;
  slp_world_put_many(g->w, g->stream, 20, 40);
  user *u = begin(g, 0);
  wait_for(g, u, 20);
  CHECK_INT(sloop_pause(u->s, NULL), 0);
  CHECK_INT(sloop_resume(u->s, u->got[0].shard), 0);
  CHECK_INT(sloop_seek_checkpoint(u->s, u->got[0].shard), 0);
  wait_for(g, u, 40);
  sloop_shard_stats_each(u->s, note_paused, &paused);
  CHECK_INT(paused, 0);
  CHECK_INT(sloop_pause(u->s, u->got[0].shard), 0);
  CHECK_INT(sloop_seek_checkpoint(u->s, u->got[0].shard), 0);
  slp_world_pass(g->w, 5000);
  sloop_shard_stats_each(u->s, note_paused, &paused);
  CHECK_INT(paused, 1);
  CHECK_INT(u->got_n, 40);
}

/* Only the native layout asks the owner for a lease. */
TEST(a_lease_that_another_worker_asks_for_waits_to_be_let_go) {
  static stage g;
  memset(&g, 0, sizeof g);
  g.schema = "sloop";
  g.mem = slp_mem_new(NULL, NULL);
  g.w = slp_world_new(g.mem, 7, NULL);
  g.stream = slp_world_stream(g.w, "orders", 2);
  slp_world_put_many(g.w, g.stream, 60, 40);
  user *u = begin(&g, 0);
  wait_for(&g, u, 60);
  user *other = begin(&g, 1);
  for (int i = 0; i < 4000 && !u->told[SLOOP_SHARD_LEAVING]; i++) slp_world_pass(g.w, 1);
  CHECK_INT(u->told[SLOOP_SHARD_LEAVING], 1);
  slp_world_pass(g.w, 1000);
  CHECK_INT(u->told[SLOOP_SHARD_RELEASED], 0);
  size_t asked = 0, mine[2] = {0, 0};
  for (size_t i = 0; i < u->got_n; i++) mine[u->got[i].shard[19] - '0']++;
  for (size_t k = 0; k < 2; k++) { /* the last positions may still be named, of the one that goes too */
    size_t last = 0;
    for (size_t i = 0; i < u->got_n; i++)
      if (u->got[i].shard[19] == (char)('0' + k)) last = i;
    CHECK_INT(name_seq(u, u->got[last].shard, u->got[last].seq, 0), 0);
  }
  answered(&g, u, 2, 0);
  for (size_t k = 0; k < 2; k++) {
    char shard[24];
    snprintf(shard, sizeof shard, "shardId-00000000000%u", (unsigned)k);
    asked += sloop_handover(u->s, shard) == 0;
  }
  CHECK_INT(asked, 1);
  slp_world_pass(g.w, 4000);
  CHECK_INT(u->told[SLOOP_SHARD_RELEASED], 1);
  CHECK_INT(other->told[SLOOP_SHARD_OPENED], 1);
  CHECK_INT(other->got_n, 0); /* it goes on behind what was named */
  slp_world_put_many(g.w, g.stream, 40, 40);
  for (int i = 0; i < 3000 && other->got_n + u->got_n < 100; i++) slp_world_pass(g.w, 10);
  CHECK_INT(other->got_n + u->got_n, 100);
  for (int i = 0; i < 2; i++) end(&g, &g.at[i], 1);
  slp_world_free(g.w);
  slp_mem_drop(g.mem);
}
