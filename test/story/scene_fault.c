/* scene_fault.c - the service and the network misbehave, then stop misbehaving: everything still arrives
 * once and in order, and nothing is asked in a hurry. Numbers in comments: faults of the catalogue. */
#include "story/scene.h"

typedef struct trouble {
  const char *script;
  uint8_t raw; /* records may come undecoded */
} trouble;

/* A backlog, a producer, a split; the trouble in the middle of it all. */
static void survive(const char *script, uint64_t seed, int raw, sloop_wire_t wire) {
  stage st = {0};
  stage_begin(&st, seed, 3);
  st.u.opts.wire = wire;
  st.u.opts.fetch_records_max = 200;
  st.u.oracle->raw_expected = (uint8_t)raw;
  slp_world_put_many(st.w, st.stream, 600, 100);
  if (seed % 2) slp_world_faults(st.w, script);
  slp_user_start(&st.u);
  produce(&st, 40, 25000, 100);
  slp_world_pass(st.w, 5000);
  if (seed % 2 == 0) slp_world_faults(st.w, script);
  SLP_CHECK(slp_world_split(st.w, st.stream, 1) == 0);
  slp_world_pass(st.w, 25000);
  slp_world_faults(st.w, NULL);
  slp_world_pass(st.w, 30000); /* back-off may have grown to its top */
  if (!slp_user_catch_up(&st.u, 60000)) fprintf(stderr, "  trouble: %s\n", script);
  CHECK_CAUGHT_UP(&st.u, 1);
  /* Five a second and shard; what is asked again at once as JSON comes on top. */
  if (st.w->poll_gap_us_min < (wire == SLOOP_WIRE_AUTO ? 450000u : 800000u))
    CHECK_FAIL("six polls of one shard within %" PRIu64 " us under: %s", st.w->poll_gap_us_min, script);
  uint64_t turns = slp_sim_stats(st.u.host).turns;
  if (turns > 400000) CHECK_FAIL("%" PRIu64 " turns under: %s", turns, script);
  stage_end(&st);
}

static void survive_all(const char *const *scripts, size_t n, int raw) {
  for (size_t i = 0; i < n; i++)
    for (uint64_t seed = 1; seed <= 2; seed++)
      for (int wire = SLOOP_WIRE_AUTO; wire <= SLOOP_WIRE_JSON; wire++)
        survive(scripts[i], seed, raw, (sloop_wire_t)wire);
}

TEST(throttling_once_and_in_storms) { /* 1, 2 */
  static const char *const scripts[] = {
      "3 GetRecords * throttle\n", "400 GetRecords * throttle\n", "* GetRecords 1 throttle\n",
      "5 GetShardIterator * throttle\n",
      "5 ListShards * error LimitExceededException:400\n5 DescribeStreamSummary * throttle\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(expired_iterators_mid_shard) { /* 3 */
  static const char *const scripts[] = {"1 GetRecords * expired\n", "20 GetRecords * expired\n",
                                        "* GetRecords 1 expired\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(lies_of_resource_not_found) { /* 4 c */
  static const char *const scripts[] = {"1 GetRecords * error ResourceNotFoundException:400\n",
                                        "6 GetRecords 1 error ResourceNotFoundException:400\n",
                                        "3 GetShardIterator * error ResourceNotFoundException:400\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(answers_that_say_nothing_or_too_little) { /* 6 */
  static const char *const scripts[] = {"10 GetRecords * empty-object\n",
                                        "10 GetRecords * no-next\n",
                                        "* GetRecords 1 empty-object\n",
                                        "* GetRecords 1 no-next\n",
                                        "10 GetRecords * empty\n",
                                        "30 GetRecords * no-children\n",
                                        "30 GetRecords * children-with-next\n",
                                        "30 GetRecords * children-without-parents\n",
                                        "3 ListShards * empty-object\n",
                                        "3 DescribeStreamSummary * empty-object\n",
                                        "3 GetShardIterator * empty-object\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(lag_that_makes_no_sense) { /* 10 */
  static const char *const scripts[] = {"20 GetRecords * behind 9223372036854775807\n",
                                        "20 GetRecords * behind 0\n", "20 GetRecords * behind 86400000\n",
                                        "* GetRecords 1 behind 3600000\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(records_sent_twice_are_dropped) { /* 12 */
  static const char *const scripts[] = {"5 GetRecords * repeat\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(bodies_that_are_not_answers) { /* 19, 20 */
  static const char *const scripts[] = {"8 GetRecords * html\n",
                                        "8 * * html\n",
                                        "8 GetRecords * body nonsense\n",
                                        "8 GetRecords * trailing\n",
                                        "8 GetRecords * gzip\n",
                                        "8 GetRecords * json-for-cbor\n",
                                        "8 GetRecords * cbor-cut\n",
                                        "8 GetRecords * status 502\n",
                                        "8 * * status 500\n",
                                        "8 * * error InternalFailure:500\n",
                                        "4 ListShards * body {}}\n",
                                        "8 * * drop\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(undecodable_data_is_delivered_raw) {
  static const char *const scripts[] = {"2 GetRecords * bad-base64\n"};
  survive_all(scripts, SLP_COUNT(scripts), 1);
}

TEST(late_answers) {
  static const char *const scripts[] = {"10 * * delay 3000\n", "4 * * delay 40000\n",
                                        "2 GetRecords 1 delay 29000\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(trouble_with_who_we_are) {
  static const char *const scripts[] = {"3 GetRecords * error ExpiredTokenException:400\n",
                                        "2 GetRecords * error InvalidSignatureException:400\n",
                                        "3 GetRecords * error AccessDeniedException:400\n",
                                        "3 GetRecords * error KMSThrottlingException:400\n",
                                        "3 GetRecords * error KMSAccessDeniedException:400\n"};
  survive_all(scripts, SLP_COUNT(scripts), 0);
}

TEST(cut_at_each_of_many_places) {
  for (int at = 0; at < 12000; at += at < 400 ? 23 : 397) {
    char script[80];
    snprintf(script, sizeof script, "2 GetRecords * cut %d\n1 ListShards * cut %d\n", at, at);
    survive(script, (uint64_t)at, 0, at % 2 ? SLOOP_WIRE_CBOR : SLOOP_WIRE_JSON);
  }
}

static void bad_network(const slp_sim_net *net, uint64_t seed) {
  stage st = {0};
  stage_begin(&st, seed, 3);
  slp_world_put_many(st.w, st.stream, 600, 100);
  *slp_sim_network(st.w->sim) = *net;
  slp_user_start(&st.u);
  produce(&st, 40, 120000, 100);
  slp_world_pass(st.w, 20000);
  SLP_CHECK(slp_world_split(st.w, st.stream, 1) == 0);
  slp_world_pass(st.w, 101000);
  slp_sim_net *now = slp_sim_network(st.w->sim);
  now->refuse_ppm = now->reset_ppm = now->silent_ppm = now->cut_ppm = now->clip_ppm = now->slow_ppm = 0;
  slp_world_pass(st.w, 60000);
  CHECK_CAUGHT_UP(&st.u, 90000);
  CHECK(st.w->poll_gap_us_min >= 900000);
  stage_end(&st);
}

TEST(a_network_that_loses_cuts_and_resets) { /* 46 */
  slp_sim_net net = {
      .latency_us_min = 500, .latency_us_max = 90000, .piece_bytes_min = 1, .piece_bytes_max = 20000};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    slp_sim_net refuse = net, reset = net, silent = net, cut = net, clip = net, slow = net, all = net;
    refuse.refuse_ppm = 300000;
    reset.reset_ppm = 300000;
    silent.silent_ppm = 100000;
    cut.cut_ppm = 300000;
    clip.clip_ppm = 300000;
    slow.slow_ppm = 300000;
    slow.slow_us_max = 20000000;
    all.refuse_ppm = all.reset_ppm = all.silent_ppm = all.cut_ppm = all.clip_ppm = all.slow_ppm = 40000;
    all.slow_us_max = 20000000;
    bad_network(&refuse, seed);
    bad_network(&reset, seed);
    bad_network(&silent, seed);
    bad_network(&cut, seed);
    bad_network(&clip, seed);
    bad_network(&slow, seed);
    bad_network(&all, seed);
  }
}

SCENE(sequence_numbers_going_backwards_stop_that_shard_and_no_other) { /* 12 */
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 300, 100);
  st->u.oracle->stops_expected = 1;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "1 GetRecords 1 backwards\n");
  produce(st, 10, 20000, 100);
  slp_world_pass(st->w, 25000);
  CHECK(st->u.judged->shards[1].stopped && !st->u.judged->shards[0].stopped &&
        !st->u.judged->shards[2].stopped);
  CHECK_INT(st->u.judged->last_error, SLOOP_EPROTO);
  CHECK_CAUGHT_UP(&st->u, 20000); /* of the others */
  CHECK(st->u.judged->shards[0].acked_n > 300);
}

SCENE(no_stream_is_fatal_at_first_contact) {
  stage_begin(st, seed, 1);
  st->u.opts.stream = "nobody";
  slp_user_start(&st->u);
  slp_world_pass(st->w, 60000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ENOSTREAM);
  CHECK_STR(st->u.judged->last_aws_code, "ResourceNotFoundException");
  uint64_t calls = st->w->calls;
  slp_world_pass(st->w, 60000);
  CHECK_INT(st->w->calls, calls);
}

SCENE(access_refused_is_fatal_at_first_contact) {
  stage_begin(st, seed, 1);
  slp_world_faults(st->w, "* * * error AccessDeniedException:400:no\n");
  slp_user_start(&st->u);
  slp_world_pass(st->w, 60000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_EACCESS);
}

SCENE(access_refused_later_is_retried_slowly_for_ever) { /* 16 */
  stage_begin(st, seed, 2);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "* * * error AccessDeniedException:400:no\n");
  uint64_t calls = st->w->calls;
  produce(st, 1000, 600000, 10);
  slp_world_pass(st->w, 600000);
  CHECK(!st->u.judged->failed);
  CHECK(st->u.judged->errors > 0);
  CHECK(st->w->calls - calls < 600);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

static uint32_t told_lists;
static void count_lists(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  (void)s, (void)level, (void)arg;
  told_lists += strncmp(line, "list: call failed", 17) == 0;
}

/* New shards are not seen meanwhile, and nothing else would show it: the others are read on. */
SCENE(a_listing_that_fails_is_told_as_long_as_it_does) {
  stage_begin(st, seed, 2);
  st->u.opts.list_ms = 2000;
  st->u.opts.on_log = count_lists;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  CHECK_INT(slp_user_stats(&st->u).listings_failed_now, 0);
  slp_world_faults(st->w, "* ListShards * error InternalFailure:500:no\n");
  produce(st, 1000, 300000, 10);
  for (int part = 0; part < 3; part++) {
    uint64_t errors = st->u.judged->errors, failed = slp_user_stats(&st->u).listings_failed_now;
    told_lists = 0;
    slp_world_pass(st->w, 100000);
    CHECK(st->u.judged->errors - errors >= 3 && st->u.judged->errors - errors < 50);
    CHECK(told_lists >= 3 && told_lists < 50);
    CHECK_BELOW(failed, slp_user_stats(&st->u).listings_failed_now);
    CHECK_INT(st->u.judged->last_error, SLOOP_EREMOTE);
  }
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 30000);
  slp_world_pass(st->w, 30000);
  CHECK_INT(slp_user_stats(&st->u).listings_failed_now, 0);
}

SCENE(half_an_hour_of_nothing_then_all_is_read) { /* 50 */
  stage_begin(st, seed, 4);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  st->w->down = 1;
  uint64_t calls = st->w->calls;
  produce(st, 500, 1800000, 10);
  slp_world_pass(st->w, 1800000);
  CHECK(!st->u.judged->failed);
  CHECK(st->w->calls - calls < 4 * 1800);
  st->w->down = 0;
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(clocks_that_are_wrong_and_jump) { /* 37 */
  stage_begin(st, seed, 3);
  slp_user_start(&st->u);
  produce(st, 30, 60000, 10);
  slp_sim_wall_jump(st->u.host, 3600000 * 10);
  slp_world_pass(st->w, 20000);
  slp_sim_wall_jump(st->u.host, INT64_C(-10) * 365 * 86400 * 1000);
  slp_world_pass(st->w, 20000);
  slp_sim_wall_jump(st->u.host, INT64_C(40) * 365 * 86400 * 1000);
  slp_world_pass(st->w, 25000);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(the_services_clock_goes_back) {
  stage_begin(st, seed, 3);
  slp_user_start(&st->u);
  produce(st, 30, 60000, 10);
  slp_world_pass(st->w, 20000);
  st->w->clock_went_back = 1;
  st->w->service_off_ms -= 7000;
  slp_world_pass(st->w, 20000);
  st->w->service_off_ms += 60000;
  slp_world_pass(st->w, 25000);
  CHECK_CAUGHT_UP(&st->u, 90000);
}

SCENE(frozen_for_longer_than_an_iterator_lives) { /* 3, 34 */
  stage_begin(st, seed, 3);
  slp_user_start(&st->u);
  produce(st, 300, 1000000, 10);
  slp_world_pass(st->w, 5000);
  slp_sim_freeze(st->u.host, 400000000);
  slp_world_pass(st->w, 500000);
  slp_sim_freeze(st->u.host, 3000000);
  slp_world_pass(st->w, 500000);
  CHECK_CAUGHT_UP(&st->u, 90000);
}
