/* scene_progress.c - what is told of shards that make no progress, and that it is true: while calls fail, while
 * the user keeps records, while nothing answers. */
#include "story/scene.h"

typedef struct told { /* by sloop_shard_stats_each(), of all shards */
  size_t n, tips;
  int64_t least_ms, most_ms; /* behind */
  struct {                   /* by what they are doing */
    size_t n;
    int64_t ms;
    uint32_t fails;
    char error[48], other[40];
  } doing[SLOOP_SHARD_WAITS_FOR_PARENT + 1];
} told;

static void add_shard(const sloop_shard_stats_t *shard, void *arg) {
  told *t = arg;
  t->least_ms = t->n ? slp_min_i64(t->least_ms, shard->behind_ms) : shard->behind_ms;
  t->most_ms = slp_max_i64(t->most_ms, shard->behind_ms);
  t->tips += shard->at_tip != 0;
  t->n++;
  t->doing[shard->state].n++;
  t->doing[shard->state].ms = shard->state_ms;
  t->doing[shard->state].fails = shard->fails;
  snprintf(t->doing[shard->state].error, sizeof t->doing[0].error, "%s", shard->error);
  snprintf(t->doing[shard->state].other, sizeof t->doing[0].other, "%s", shard->other);
}

static told ask(stage *st) {
  told t = {.most_ms = -1};
  sloop_shard_stats_each(st->u.s, add_shard, &t);
  CHECK_INT(t.tips, slp_user_stats(&st->u).tip_now);
  return t;
}

/* All that tells how far behind the shards are tells so much, in ms. */
static void check_behind(stage *st, int64_t from_ms, int64_t to_ms) {
  told t = ask(st);
  int64_t now_ms = (int64_t)slp_user_stats(&st->u).behind_ms_now;
  if (now_ms < from_ms || now_ms > to_ms)
    CHECK_FAIL("%lld ms behind, not %lld to %lld", (long long)now_ms, (long long)from_ms, (long long)to_ms);
  /* reading a clock takes a microsecond here, so a millisecond may end between the two */
  CHECK(now_ms - t.most_ms >= 0 && now_ms - t.most_ms <= 1);
  CHECK(slp_user_stats(&st->u).behind_unknown_ms_now == UINT64_MAX);
}

/* So many shards are doing that, the last one for so long, in ms. */
static void check_doing(stage *st, sloop_shard_state_t state, size_t n, int64_t from_ms, int64_t to_ms) {
  told t = ask(st);
  CHECK_INT(t.doing[state].n, n);
  if (t.doing[state].ms < from_ms || t.doing[state].ms > to_ms)
    CHECK_FAIL("state %d for %lld ms, not %lld to %lld", (int)state, (long long)t.doing[state].ms,
               (long long)from_ms, (long long)to_ms);
}

static void check_at_tip(stage *st, size_t shards) {
  CHECK_INT(ask(st).doing[SLOOP_SHARD_IS_AT_TIP].n, shards);
  CHECK_INT(ask(st).tips, shards);
  check_behind(st, 0, 0);
}

static void begin_at_tip(stage *st, uint64_t seed, int timeless) {
  stage_begin(st, seed, 2);
  st->u.timeless = (uint8_t)timeless;
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_world_pass(st->w, 5000);
  check_at_tip(st, 2);
}

static void fails_for_45_seconds(stage *st, const char *fault, const char *error) {
  uint64_t retries = slp_user_stats(&st->u).retries;
  slp_world_faults(st->w, fault);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_world_pass(st->w, 4000);
  CHECK_INT(ask(st).tips, 0);
  check_behind(st, 3000, 5500);
  slp_world_pass(st->w, 41000);
  CHECK_INT(ask(st).tips, 0);
  CHECK(ask(st).least_ms > 43000); /* each of them: no call was answered */
  check_behind(st, 43000, 47500);
  check_doing(st, SLOOP_SHARD_FAILS, 2, 30000, 45000);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_FAILS].error, error);
  CHECK(ask(st).doing[SLOOP_SHARD_FAILS].fails >= (strcmp(error, "no answer") ? 3 : 1));
  CHECK(slp_user_stats(&st->u).retries > retries);
  CHECK(slp_user_stats(&st->u).calls_failed > 0);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
  slp_world_pass(st->w, 5000);
  check_at_tip(st, 2);
}

static const struct {
  const char *fault, *error;
} failing[] = {
    {"* GetRecords * error AccessDeniedException:400\n* GetShardIterator * error AccessDeniedException:400\n",
     "AccessDeniedException"},
    {"* GetRecords * error InternalFailure:500\n", "InternalFailure"},
    {"* GetRecords * throttle\n", "ProvisionedThroughputExceededException"},
    {"* * * drop\n", "no answer"},
    {"* GetRecords * status 502\n", "HTTP 502"},
    {"* GetRecords * delay 100000\n", "no answer"}};

TEST(the_lag_grows_while_calls_fail) {
  for (size_t i = 0; i < SLP_COUNT(failing); i++)
    for (int timeless = 0; timeless < 2; timeless++) {
      stage st = {0};
      begin_at_tip(&st, i + 1, timeless);
      fails_for_45_seconds(&st, failing[i].fault, failing[i].error);
      stage_end(&st);
    }
}

SCENE(a_call_without_an_answer_is_told_before_it_is_given_up) {
  begin_at_tip(st, seed, 0);
  slp_world_faults(st->w, "* GetRecords * delay 100000\n");
  slp_world_pass(st->w, 9000);
  check_doing(st, SLOOP_SHARD_FAILS, 2, 7000, 9000);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_FAILS].error, "no answer");
  CHECK_INT(ask(st).doing[SLOOP_SHARD_FAILS].fails, 1); /* the call that is out */
  slp_world_faults(st->w, NULL);
  slp_world_pass(st->w, 60000);
  check_at_tip(st, 2);
}

SCENE(a_slow_answer_that_the_iterator_has_expired_counts_as_none) {
  begin_at_tip(st, seed, 0);
  slp_sim_net *net = slp_sim_network(st->w->sim);
  net->latency_us_min = net->latency_us_max = 1250000;
  slp_world_faults(st->w, "2 GetRecords * expired\n");
  slp_world_pass(st->w,
                 4300); /* the polls were sent within the first second; their shards are being located */
  check_doing(st, SLOOP_SHARD_FAILS, 2, 3000, 4400);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_FAILS].error, "no answer");
  net->latency_us_min = net->latency_us_max = 1000;
  slp_world_pass(st->w, 20000);
  check_at_tip(st, 2);
}

SCENE(children_wait_for_a_parent_that_fails_and_say_for_which) {
  begin_at_tip(st, seed, 0);
  slp_world_faults(st->w, "* GetRecords shardId-000000000000 error InternalFailure:500\n");
  slp_world_put_many(st->w, st->stream, 20, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 90000); /* they are listed by then */
  check_doing(st, SLOOP_SHARD_WAITS_FOR_PARENT, 2, -1, -1);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_WAITS_FOR_PARENT].other, "shardId-000000000000");
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
  slp_world_pass(st->w, 5000);
  check_doing(st, SLOOP_SHARD_WAITS_FOR_PARENT, 0, 0, 0);
  check_at_tip(st, 3);
}

SCENE(who_waits_for_another_shard_says_for_which) {
  stage_begin(st, seed, 2);
  st->u.opts.order_wait_ms = UINT32_MAX;
  slp_world_faults(st->w, "* GetRecords 1 error InternalFailure:500\n");
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30000);
  check_doing(st, SLOOP_SHARD_WAITS_FOR_ANOTHER, 1, 27000, 30000);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_WAITS_FOR_ANOTHER].other, "shardId-000000000001");
  check_doing(st, SLOOP_SHARD_FAILS, 1, 27000, 30000);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(one_record_that_waits_in_a_paused_shard_makes_it_as_far_behind_as_that_is_old) {
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 5000);
  slp_world_put(st->w, st->stream, 30);
  slp_world_pass(st->w, 100000);
  check_behind(st, 99000, 103000);
  slp_user_resume(&st->u, NULL);
  slp_world_pass(st->w, 5000);
  check_at_tip(st, 1);
}

SCENE(a_shard_that_is_paused_says_since_when) {
  begin_at_tip(st, seed, 0);
  slp_user_pause(&st->u, "shardId-000000000001");
  slp_world_pass(st->w, 20000);
  check_doing(st, SLOOP_SHARD_IS_PAUSED, 1, 20000, 20100);
  check_doing(st, SLOOP_SHARD_IS_AT_TIP, 1, 20000, 60000);
  slp_user_resume(&st->u, "shardId-000000000001");
}

SCENE(a_shard_that_is_given_up_is_told_with_its_error_and_its_lag_grows) {
  begin_at_tip(st, seed, 0);
  st->u.oracle->stops_expected = 1;
  slp_world_faults(st->w, "* GetRecords 1 error InvalidArgumentException:400\n");
  slp_world_pass(st->w, 120000);
  check_doing(st, SLOOP_SHARD_IS_GIVEN_UP, 1, 100000, 120000);
  CHECK_STR(ask(st).doing[SLOOP_SHARD_IS_GIVEN_UP].error, "InvalidArgumentException");
  check_behind(st, 100000, 122000);
  CHECK_INT(slp_user_stats(&st->u).shards_now, 1);
}

SCENE(the_lag_is_the_age_of_the_oldest_record_that_the_user_keeps) {
  begin_at_tip(st, seed, 0);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 1, 30);
  slp_world_pass(st->w, 40000);
  CHECK_INT(ask(st).tips, 1); /* the other shard has nothing */
  CHECK_INT(ask(st).least_ms, 0);
  check_behind(st, 39000, 40500);
  check_doing(st, SLOOP_SHARD_WAITS_FOR_YOU, 1, 38500, 40500);
  slp_user_stop(&st->u, 600000); /* what is out is still waited for */
  slp_world_pass(st->w, 10000);
  slp_user_return_all(&st->u);
}

SCENE(a_user_that_finishes_with_a_record_of_a_batch_now_and_then_gets_on) {
  begin_at_tip(st, seed, 0);
  st->u.manners.keep = 1;
  for (int i = 0; i < 60; i++) slp_world_put_to(st->w, st->stream, 0, 30);
  slp_world_pass(st->w, 3000);
  for (uint32_t k = 0; slp_oracle_held_at(st->u.oracle, k); k++) {
    sloop_batch_t *b = slp_oracle_held_at(st->u.oracle, k);
    for (size_t i = 0; i < sloop_batch_count(b); i++) {
      slp_user_ack(&st->u, b, i);
      CHECK_INT(slp_user_stats(&st->u).acked_age_ms_now, 0);
      slp_world_pass(st->w, 2000);
      CHECK(ask(st).doing[SLOOP_SHARD_WAITS_FOR_YOU].ms <= 2000);
    }
  }
  CHECK(ask(st).most_ms <= 1500 && ask(st).most_ms >= 0); /* all of it is acknowledged */
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(the_end_of_a_shard_does_not_hide_what_is_kept_of_it) {
  begin_at_tip(st, seed, 0);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 57000);
  check_behind(st, 59000, 60500);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_world_pass(st->w, 10000);
  check_at_tip(st, 3);
}

SCENE(idle_shards_are_at_their_tip_at_every_moment) {
  begin_at_tip(st, seed, 0);
  for (int i = 0; i < 600; i++) {
    slp_world_pass(st->w, 70);
    check_at_tip(st, 2);
  }
}

SCENE(what_no_answer_has_told_is_not_known) {
  stage_begin(st, seed, 2);
  slp_world_faults(st->w, "* GetRecords * error InternalFailure:500\n");
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30000);
  sloop_stats_t now = slp_user_stats(&st->u);
  CHECK_INT(ask(st).most_ms, -1);
  CHECK(now.behind_ms_now == UINT64_MAX);
  CHECK(now.behind_unknown_ms_now > 28000 && now.behind_unknown_ms_now <= 30000);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
  slp_world_pass(st->w, 30000); /* back-off may have grown to its top */
  check_at_tip(st, 2);
}

SCENE(a_consumer_that_reads_nothing_knows_no_lag) {
  stage_begin(st, seed, 2);
  slp_world_faults(st->w, "* ListShards * error AccessDeniedException:400\n");
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30000);
  sloop_stats_t now = slp_user_stats(&st->u); /* it has failed */
  CHECK_INT(now.shards_now, 0);
  CHECK(now.behind_ms_now == UINT64_MAX);
  CHECK(now.behind_unknown_ms_now > 25000 && now.behind_unknown_ms_now <= 30000);
}
