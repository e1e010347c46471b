/* scene_budget.c - the budget is full and some shards do not answer: whose turn it is to go beyond it. */
#include "story/scene.h"

#define HELD 1 /* the shard whose page fills the budget */

static int pause_held(slp_user *u, sloop_batch_t *b) {
  slp_user_done(u, b, sloop_batch_count(b));
  if (u->judged->shards[HELD].next) slp_user_pause(u, u->judged->stream->shards[HELD].id);
  return 1;
}

/* A page of so many times 20 kB lies in the budget, and is paused: nothing of it can be handed out. */
static void fill_budget(stage *st, int n) {
  st->u.on_batch = pause_held;
  for (int i = 0; i < n; i++) slp_world_put_to(st->w, st->stream, HELD, 20000);
}

static void begin(stage *st, uint64_t seed, uint32_t shards) {
  stage_begin(st, seed, shards);
  st->u.opts.buffered_bytes_max = 4 << 20;
  st->u.opts.batch_records_max = 10;
  st->u.opts.order_wait_ms = 500;
}

static int all_read(void *arg) {
  const slp_judged_shard *s = arg;
  return s->next == s->known->notes_n;
}

/* The shards from here on never answer again, and those of them that are waited for will be set aside. */
static void hang(stage *st, size_t from) {
  char script[400] = "";
  for (size_t i = from; i < st->stream->shards_n; i++)
    snprintf(script + strlen(script), sizeof script - strlen(script), "* GetRecords %zu delay 600000\n", i);
  slp_world_faults(st->w, script);
}

static void put_to_first(void *arg) {
  stage *st = arg;
  uint64_t now = slp_sim_now_us(st->w->sim);
  if (now >= st->put_until_us) return;
  slp_world_put_to(st->w, st->stream, 0, st->put_bytes);
  slp_sim_at(st->w->sim, now + st->put_every_us, put_to_first, st);
}

static void produce_to_first(stage *st, uint64_t every_ms, uint64_t for_ms, uint32_t bytes) {
  st->put_every_us = every_ms * 1000;
  st->put_until_us = slp_sim_now_us(st->w->sim) + for_ms * 1000;
  st->put_bytes = bytes;
  put_to_first(st);
}

/* It would call for more than is free, and the one that is waited for needs less than that. */
SCENE(a_shard_set_aside_that_lacks_bytes_has_its_turn_while_others_are_at_their_tip) {
  begin(st, seed, 3);
  st->u.opts.buffered_bytes_max = 2600 << 10; /* a sixth of it is free beside the page, not a fourth */
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  slp_world_put_to(st->w, st->stream, 0, 20000);
  CHECK(slp_user_wait(&st->u, 3000, all_read, &st->u.judged->shards[0]));
  slp_world_faults(st->w, "* GetRecords 0 error InternalFailure:500\n");
  fill_budget(st, 103);
  slp_world_pass(st->w, 10000);
  CHECK(st->u.judged->shards[HELD].paused);
  for (int i = 0; i < 3000; i++) slp_world_put_to(st->w, st->stream, 0, 1000);
  slp_world_faults(st->w, NULL);
  CHECK(slp_user_wait(&st->u, 60000, all_read, &st->u.judged->shards[0]));
  slp_user_resume(&st->u, st->stream->shards[HELD].id);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(two_shards_set_aside_that_never_answer_let_the_one_go_on_that_lacks_bytes) {
  begin(st, seed, 4);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  hang(st, 2);
  fill_budget(st, 170);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[HELD].paused);
  for (int i = 0; i < 5000; i++) slp_world_put_to(st->w, st->stream, 0, 1000);
  CHECK(slp_user_wait(&st->u, 10000, all_read, &st->u.judged->shards[0]));
  slp_world_faults(st->w, NULL);
  slp_user_resume(&st->u, st->stream->shards[HELD].id);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* 67 records a second, for five minutes. */
static void read_at_full_speed(stage *st) {
  produce_to_first(st, 15, 300000, 2000);
  for (int i = 0; i < 30; i++) {
    slp_world_pass(st->w, 10000);
    const slp_judged_shard *s = &st->u.judged->shards[0];
    if (s->next + 67 * 6 < s->known->notes_n)
      CHECK_FAIL("after %d s %zu of %zu (seed %" PRIu64 ")", 10 * i + 10, s->next, s->known->notes_n,
                 st->w->seed);
  }
  slp_world_faults(st->w, NULL);
}

SCENE(four_shards_set_aside_that_never_answer_slow_nobody_down) {
  begin(st, seed, 5);
  st->u.opts.buffered_bytes_max = 256 << 10;
  st->u.opts.batch_records_max = 1000;
  for (size_t i = 0; i < 5; i++)
    for (int k = 0; k < 3; k++) slp_world_put_to(st->w, st->stream, i, 2000);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  hang(st, 1);
  read_at_full_speed(st);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(nor_do_they_where_the_budget_is_filled_by_what_cannot_be_handed_out) {
  begin(st, seed, 6);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  hang(st, 2);
  fill_budget(st, 190);
  slp_world_pass(st->w, 20000);
  CHECK(st->u.judged->shards[HELD].paused);
  read_at_full_speed(st);
  slp_user_resume(&st->u, st->stream->shards[HELD].id);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* The only call there may be is out for the shard that is waited for, and lacks bytes; one that is set aside wants
 * to call, can't, and must not take the turn that is of no use to it. */
SCENE(who_is_set_aside_keeps_nobody_waiting_where_no_call_is_free) {
  static const char failing[] =
      "* GetRecords 0 error InternalFailure:500\n* GetRecords 4 error InternalFailure:500\n"
      "* GetRecords 5 error InternalFailure:500\n";
  char slow[200];
  begin(st, seed, 6);
  st->u.opts.buffered_bytes_max = 2600 << 10;
  st->u.opts.order_wait_ms = 8000;
  st->u.opts.in_flight_max = 1;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  slp_world_faults(st->w, failing);
  fill_budget(st, 103);
  slp_world_pass(st->w, 30000);
  CHECK(st->u.judged->shards[HELD].paused);
  snprintf(slow, sizeof slow, "%s* GetRecords 2 delay 4000\n", failing);
  slp_world_faults(st->w, slow);
  for (int i = 0; i < 1000; i++) {
    if (i % 50 == 25) slp_world_put_to(st->w, st->stream, 2, 900000);
    slp_world_put_to(st->w, st->stream, 3, 100);
    slp_world_pass(st->w, 200);
  }
  CHECK(slp_user_wait(&st->u, 60000, all_read, &st->u.judged->shards[2]));
  slp_world_faults(st->w, NULL);
  slp_user_resume(&st->u, st->stream->shards[HELD].id);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* What the listing has to say of a shard is not known, so that its page can't be forgotten; others can. */
SCENE(a_shard_that_waits_for_the_listing_does_not_keep_the_pages_of_others_from_being_forgotten) {
  char script[600] = "* GetRecords 1 no-next\n* ListShards * delay 600000\n";
  begin(st, seed, 8);
  st->u.opts.buffered_bytes_max = 256 << 10;
  st->u.opts.order_wait_ms = UINT32_MAX;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  for (size_t i = 0; i < 8; i++)
    if (i != 1)
      snprintf(script + strlen(script), sizeof script - strlen(script), "* GetRecords %zu delay 4000\n", i);
  slp_world_faults(st->w, script);
  slp_world_pass(st->w, 100);
  for (size_t i = 0; i < 8; i++)
    if (i != 1) slp_world_put_to(st->w, st->stream, i, 900000);
  slp_world_pass(st->w, 10);
  for (int i = 0; i < 3; i++) slp_world_put_to(st->w, st->stream, 1, 100);
  slp_world_pass(st->w, 60000);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 700000);
}

/* ---- what is fetched ahead ------------------------------------------------------------------------------ */

/* Catches up with a backlog of `records` records of 10 kB in 8 shards. Each way in the network takes way_us.
 * Returns the most bytes that were buffered. */
static uint64_t most_buffered(stage *st, uint64_t seed, size_t records, uint32_t way_us) {
  sloop_sandbox_opts_t unlimited;
  sloop_sandbox_opts_init(&unlimited);
  unlimited.reads_per_second = 0;
  unlimited.read_bytes_per_second = 0;
  stage_begin_with(st, seed, 8, &unlimited);
  slp_sim_net *net = slp_sim_network(st->w->sim);
  net->latency_us_min = net->latency_us_max = way_us;
  slp_world_put_many(st->w, st->stream, records, 10000);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
  return slp_user_stats(&st->u).buffered_bytes_peak;
}

SCENE(a_consumer_that_is_near_the_service_catches_up_with_little_in_memory) {
  CHECK_BELOW(most_buffered(st, seed, 5000, 200), 7u << 20);
  slp_world_pass(st->w, 5000);
  CHECK_BELOW(st->u.mem->live_bytes, 1u << 20); /* no page is kept at the tip */
}

SCENE(a_consumer_that_is_far_away_has_more_fetched_ahead) {
  uint64_t bytes = most_buffered(st, seed, 8000, 150000);
  CHECK(bytes > 12u << 20 && bytes < 64u << 20);
}

/* ---- one shard has nearly all of the earlier records ---------------------------------------------------- */

/* Puts ten records into each shard, then `hot` records into the first one, then 200 into each of the others.
 * All have 10 kB. */
static void begin_hot(stage *st, uint64_t seed, uint32_t shards, size_t hot, uint32_t way_us) {
  sloop_sandbox_opts_t unlimited;
  sloop_sandbox_opts_init(&unlimited);
  unlimited.reads_per_second = 0;
  unlimited.read_bytes_per_second = 0;
  stage_begin_with(st, seed, shards, &unlimited);
  slp_sim_net *net = slp_sim_network(st->w->sim);
  net->latency_us_min = net->latency_us_max = way_us;
  for (uint32_t k = 0; k < 10 * shards; k++) slp_world_put_to(st->w, st->stream, k % shards, 10000);
  slp_world_pass(st->w, 1000);
  for (size_t i = 0; i < hot; i++) slp_world_put_to(st->w, st->stream, 0, 10000);
  slp_world_pass(st->w, 1000);
  for (uint32_t k = 0; k < 200 * (shards - 1); k++)
    slp_world_put_to(st->w, st->stream, 1 + k % (shards - 1), 10000);
}

static int give_back(slp_user *u, sloop_batch_t *b) {
  slp_user_done(u, b, 0);
  return 1;
}

/* The user gives back the last records of a shard while that shard waits after a failed call. The other shards
 * have fetched enough. So, when the call is due, the shard puts it off as well, because it still has records. */
SCENE(a_shard_whose_last_records_came_back_calls_when_they_are_handed_out_again) {
  begin_hot(st, seed, 16, 400, 200);
  st->u.manners.hold_us_min = st->u.manners.hold_us_max = 200000;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_world_faults(st->w, "* GetRecords 0 error InternalFailure:500\n");
  st->u.on_batch = give_back;
  slp_world_pass(st->w, 10000);
  slp_world_faults(st->w, NULL);
  slp_world_pass(st->w, 30000);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* 40 MB, 300 ms for each call: pages of 400 kB would take 30 s. */
SCENE(a_far_shard_that_the_others_wait_for_gets_larger_pages_although_they_do_not) {
  begin_hot(st, seed, 8, 4000, 150000);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, all_read, &st->u.judged->shards[0]));
  CHECK_BELOW(slp_user_stats(&st->u).buffered_bytes_peak, 40u << 20);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* The shards have fetched enough ahead, so some shards wanted no call when the pause began. */
SCENE(each_paused_shard_of_a_backlog_is_still_asked_once_a_minute) {
  begin_hot(st, seed, 16, 400, 200);
  st->u.manners.hold_us_min = st->u.manners.hold_us_max = 200000;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 100000);
  for (int turn = 0; turn < 3; turn++) {
    uint64_t polls[16];
    for (size_t k = 0; k < 16; k++) polls[k] = st->stream->shards[k].polls;
    slp_world_pass(st->w, 130000);
    for (size_t k = 0; k < 16; k++) CHECK(st->stream->shards[k].polls > polls[k]);
  }
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}
