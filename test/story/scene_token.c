/* scene_token.c - where a consumer stands as a token, and going on from one. */
#include "story/scene.h"

#include "api/open.h"
#include "core/token.h"
#include "core/consumer_inside.h"
#include "core/source.h"

#include <time.h>

/* The token just saved, read. */
static slp_token *token_of(slp_user *u) {
  slp_token *t;
  char why[160] = "";
  CHECK(slp_user_save(u));
  if (slp_token_read(&t, u->world->mem, slp_str_of(u->token), why)) CHECK_FAIL("%s: %s", why, u->token);
  return t;
}

static const slp_token_shard *in_token(const slp_token *t, const slp_known_shard *k) {
  return slp_token_find(t, slp_str_of(k->id));
}

SCENE(nothing_can_be_saved_before_the_shards_are_known) {
  stage_begin(st, seed, 2);
  CHECK_INT(slp_user_open(&st->u), 0);
  size_t len = 0;
  CHECK_INT(sloop_token(st->u.s, NULL, &len), SLOOP_ESTATE);
  slp_user_start(&st->u);
  CHECK_INT(sloop_token(st->u.s, NULL, &len), SLOOP_ESTATE);
}

SCENE(from_a_token_nothing_acknowledged_comes_again_and_nothing_is_lost) {
  stage_begin(st, seed, 3);
  st->u.opts.batch_records_max = 20;
  st->u.manners = (slp_manners){
      .hold_us_min = 1000, .hold_us_max = 400000, .give_back_ppm = 200000, .ack_singly_ppm = 300000};
  slp_world_put_many(st->w, st->stream, 600, 30);
  slp_user_start(&st->u);
  for (int i = 0; i < 12; i++) {
    produce(st, 5, 500, 30);
    slp_world_pass(st->w, 700);
    CHECK(slp_user_save(&st->u));
    slp_user_reopen(&st->u);
    check_promises(&st->u);
  }
  st->u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_token_is_right_after_stop_whatever_was_dropped) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 10;
  st->u.opts.batches_out_max = 4;
  st->u.manners = (slp_manners){
      .hold_us_min = 1000, .hold_us_max = 100000, .ack_singly_ppm = 500000, .give_back_ppm = 300000};
  slp_world_put_many(st->w, st->stream, 500, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 500 + seed * 300);
  slp_user_stop(&st->u, 5000);
  CHECK(slp_user_save(&st->u)); /* with batches out */
  slp_world_pass(st->w, 6000);
  CHECK(st->u.stop_told);
  CHECK(slp_user_save(&st->u));
  slp_user_reopen(&st->u);
  st->u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(latest_before_its_first_record_is_a_time_in_the_token) {
  stage_begin(st, seed, 2);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 50, 30);
  slp_world_pass(st->w, 5000);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  slp_token *t = token_of(&st->u);
  for (size_t i = 0; i < 2; i++) {
    const slp_token_shard *s = in_token(t, &st->stream->shards[i]);
    CHECK(s && s->active && s->from.kind == SLP_POSITION_OLDEST &&
          s->not_before_ms > slp_world_ms(st->w) - 5000);
  }
  slp_token_free(t);
  CHECK(strstr(st->u.token, "latest") == NULL);
  slp_user_finish(&st->u);
  slp_world_put_many(st->w, st->stream, 50, 30); /* while nobody reads */
  slp_world_pass(st->w, 2000);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 50);
}

static int keep_first_of(slp_user *u, sloop_batch_t *b) {
  (void)b;
  return slp_oracle_held(u->oracle) == 1; /* the others are given back at once */
}

SCENE(while_a_parent_is_not_acknowledged_only_it_is_active) {
  stage_begin(st, seed, 1);
  st->u.opts.batch_records_max = 10;
  st->u.opts.batches_out_max = 3;
  st->u.on_batch = keep_first_of;
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_known_shard *k = st->stream->shards;
  slp_token *t = token_of(&st->u);
  CHECK(in_token(t, &k[0])->active && !in_token(t, &k[1])->active && !in_token(t, &k[2])->active);
  CHECK(slp_str_is(in_token(t, &k[1])->parent, k[0].id));
  CHECK_INT(in_token(t, &k[0])->from.kind, SLP_POSITION_AT); /* the first one fetched, nothing acknowledged */
  slp_token_free(t);
  slp_user_reopen(&st->u);
  st->u.on_batch = NULL;
  slp_world_pass(st->w, 5000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_user_return_all(&st->u);
  slp_world_pass(st->w, 1000);
  t = token_of(&st->u);
  CHECK(!in_token(t, &k[0]) && in_token(t, &k[1])->active && in_token(t, &k[2])->active);
  slp_token_free(t);
}

SCENE(a_child_that_bloop_lists_as_active_beside_its_parent_is_read_once) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  char text[4000];
  const slp_known_shard *k = st->stream->shards;
  snprintf(
      text, sizeof text,
      "{\"stream_arn\": \"%s\", \"active\": [\"%s\", \"%s\", \"%s\", \"%s\"], \"shards\": ["
      "{\"shard_id\": \"%s\", \"iterator_type\": \"after_sequence\", \"sequence_number\": \"%s\"},"
      "{\"shard_id\": \"%s\", \"iterator_type\": \"at_sequence\", \"sequence_number\": \"%s\", \"parent\": "
      "\"%s\"}, {\"shard_id\": \"%s\", \"iterator_type\": \"trim_horizon\", \"parent\": \"%s\"},"
      "{\"shard_id\": \"%s\", \"iterator_type\": \"after_sequence\", \"sequence_number\": \"%s\"}]}",
      st->stream->name, k[1].id, k[2].id, k[0].id, k[1].id, k[0].id, k[0].notes[9].seq, k[1].id,
      k[1].notes[4].seq, k[0].id, k[2].id, k[0].id, k[0].id, k[0].notes[9].seq);
  slp_saved *saved = st->u.saved;
  saved->shards[0].low = saved->shards[0].high = 10;
  saved->shards[1].low = saved->shards[1].high = 4;
  saved->shards[2].low = saved->shards[2].high = 0;
  slp_free(st->w->mem, st->u.token);
  st->u.token = slp_strdup(st->w->mem, slp_str_of(text));
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 20 + k[1].notes_n - 4 + k[2].notes_n);
}

SCENE(a_token_of_another_stream_is_fatal_and_says_so) {
  stage_begin(st, seed, 1);
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token =
      "{\"stream_arn\":\"arn:aws:kinesis:us-east-1:123456789012:stream/other\","
      "\"active\":[\"shardId-000000000000\"],"
      "\"shards\":[{\"shard_id\":\"shardId-000000000000\"}]}";
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETOKEN);
  CHECK(strstr(st->u.judged->last_message, "stream/other"));
}

/* As of moto, whose new stream has the ids of the old one, and numbers from 1 on. */
SCENE(a_token_of_another_life_of_the_stream_is_fatal_and_passes_over_nothing) {
  char token[900];
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 5, 30);
  int64_t older_ms = slp_world_ms(st->w) - 3600000;
  snprintf(token, sizeof token,
           "{\"stream_arn\":\"arn:aws:kinesis:us-east-1:000000000000:stream/%s\",\"active\":[\"%s\"],"
           "\"shards\":[{\"shard_id\":\"%s\",\"iterator_type\":\"after_sequence\",\"sequence_number\":\"8\","
           "\"arrived_at\":\"%lld\"}]}",
           st->stream->name, st->stream->shards[0].id, st->stream->shards[0].id, (long long)older_ms);
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token = token;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETOKEN);
  CHECK(strstr(st->u.judged->last_message, "the token belongs to an older stream of this name"));
  CHECK_INT(st->u.judged->records, 0);
}

SCENE(a_token_may_begin_a_shard_at_its_latest) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 30, 30);
  static char text[2000]; /* the options point to it */
  snprintf(text, sizeof text,
           "{\"stream_arn\": \"%.40s\", \"active\": [\"%.40s\"], \"shards\": [{\"shard_id\": \"%.40s\","
           "\"iterator_type\": \"latest\"}]}",
           st->stream->name, st->stream->shards[0].id, st->stream->shards[0].id);
  slp_saved saved = {
      .from.kind = SLOOP_LATEST, .shards_n = 1, .shards[0] = {.reads = 1, .low = 30, .high = 30}};
  st->u.judged->saved = &saved;
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token = text;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->records, 0);
  CHECK_INT(st->stream->shards[0].latest_locates, 1);
  slp_world_put_many(st->w, st->stream, 20, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 20);
  slp_user_finish(&st->u);
}

SCENE(a_damaged_token_is_refused_by_open_with_the_place) {
  stage_begin(st, seed, 1);
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token =
      "{\"stream_arn\":\"orders\",\"active\":[\"a\"],\"shards\":[{\"shard_id\":\"a\","
      "\"iterator_type\":\"after_sequence\",\"sequence_number\":\"x\"}]}";
  CHECK_INT(slp_user_open(&st->u), SLOOP_ETOKEN);
  CHECK_STR(st->u.why, "token: shards[0].sequence_number is not a sequence number");
}

SCENE(a_token_of_shards_that_never_were_is_refused) {
  stage_begin(st, seed, 1);
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token =
      "{\"stream_arn\":\"orders\",\"active\":[\"shardId-000000000099\"],"
      "\"shards\":[{\"shard_id\":\"shardId-000000000099\"}]}";
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETOKEN);
  CHECK(strstr(st->u.judged->last_message, "shardId-000000000099 is newer than all that it lists"));
}

/* Shard 0 splits into 1 and 2, 1 into 3 and 4; the token knows 0 only, and 0 and 1 are gone. */
static void lose_two_generations(stage *st) {
  stage_begin(st, 1, 1);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  for (size_t i = 0; i < 2; i++) {
    CHECK_INT(slp_world_split(st->w, st->stream, i), 0);
    slp_world_pass(st->w, 1000);
    slp_world_put_many(st->w, st->stream, 40, 30);
    slp_world_pass(st->w, 1000);
  }
  /* A closed shard is listed until the time of its closing is trimmed too. */
  slp_world_trim(st->w, st->stream, st->stream->shards[3].notes[0].arrived_ms);
  CHECK(st->stream->shards[0].gone && st->stream->shards[1].gone && !st->stream->shards[3].gone);
}

SCENE(a_token_whose_shard_is_gone_goes_on_with_what_descends_from_it) {
  (void)seed;
  lose_two_generations(st);
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 1);
  for (size_t i = 2; i < 5; i++) CHECK(st->u.judged->shards[i].acked_n > 0);
}

/* 0 is split into 1 and 2, these are merged into 3, and 3 is split into 4 and 5: the token's 0 and all of its children
 * are gone. */
static void lose_all_that_is_known(stage *st) {
  stage_begin(st, 1, 1);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  for (int step = 0; step < 3; step++) {
    CHECK_INT(step == 1 ? slp_world_merge(st->w, st->stream, 1, 2)
                        : slp_world_split(st->w, st->stream, step ? 3 : 0),
              0);
    slp_world_pass(st->w, 1000);
    slp_world_put_many(st->w, st->stream, 40, 30);
    slp_world_pass(st->w, 1000);
  }
  slp_world_trim(st->w, st->stream, st->stream->shards[4].notes[0].arrived_ms);
  for (size_t i = 0; i < 6; i++) CHECK_INT(st->stream->shards[i].gone, i < 4);
}

SCENE(a_token_of_which_every_shard_and_every_child_is_gone_goes_on_with_what_is_kept) {
  (void)seed;
  lose_all_that_is_known(st);
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 1);
  for (size_t i = 4; i < 6; i++) CHECK(st->u.judged->shards[i].acked_n > 0);
  /* That is what is saved from then on. */
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_world_put_many(st->w, st->stream, 40, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 0);
}

SCENE(a_token_of_which_every_shard_is_gone_is_refused_when_told_to_stop_there) {
  (void)seed;
  lose_all_that_is_known(st);
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETRIMMED);
}

static void split_and_put(stage *st, size_t shard) {
  CHECK_INT(slp_world_split(st->w, st->stream, shard), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_world_pass(st->w, 3000);
}

/* Shard 0, 2 and 1 are gone; 6, a child of 1, was read to its end, and is listed still. Its parent is as
 * unknown as that of 4 and 5, which nobody has read. */
SCENE(among_shards_of_unknown_parents_those_already_read_are_not_read_again) {
  stage_begin(st, seed, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  st->u.opts.list_ms = 3600000; /* what becomes of shard 0 it does not hear */
  const slp_known_shard *k = st->stream->shards;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_user_pause(&st->u, k[0].id);
  for (int i = 0; i < 3; i++) slp_world_put_to(st->w, st->stream, 0, 30); /* else its end would be read */
  split_and_put(st, 0);
  split_and_put(st, 2);
  split_and_put(st, 1);
  k = st->stream->shards;
  int64_t horizon_ms = k[6].notes[0].arrived_ms;
  split_and_put(st, 6);
  slp_world_pass(st->w, 10000);
  k = st->stream->shards;
  for (size_t i = 7; i < 10; i++) CHECK_INT(st->u.judged->shards[i].acked_n, k[i].notes_n);
  slp_token *t = token_of(&st->u);
  CHECK(in_token(t, &k[0]) && in_token(t, &k[8]));
  CHECK(!slp_token_find(t, slp_str_of(k[4].id)));
  slp_token_free(t);
  slp_user_finish(&st->u);
  slp_world_trim(st->w, st->stream, horizon_ms);
  CHECK(k[0].gone && k[1].gone && k[2].gone && !k[6].gone);
  uint64_t polls = k[6].polls;
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  for (size_t i = 3; i < 6; i++) CHECK(st->u.judged->shards[i].acked_n > 0);
  CHECK_INT(st->stream->shards[6].polls, polls);
}

/* Shard 0 is read from one of its records on; its listings are an hour apart. */
static void read_shard_0_alone(stage *st, uint64_t seed) {
  stage_begin(st, seed, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  st->u.opts.list_ms = 3600000;
  slp_world_put_many(st->w, st->stream, 60, 30);
  const slp_known_shard *k = st->stream->shards;
  st->u.opts.start = (sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = k[0].id, .seq = k[0].notes[3].seq};
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->shards[0].acked_n > 0);
}

/* While it is frozen two generations come and go, and then only hash keys tell which shards descend from 0. */
SCENE(of_shards_whose_parents_are_gone_a_place_goes_on_with_those_that_have_its_keys) {
  read_shard_0_alone(st, seed);
  slp_sim_freeze(st->u.host, UINT64_C(300000000));
  for (size_t i = 0; i < 5; i++) split_and_put(st, i);
  const slp_known_shard *k = st->stream->shards;
  slp_world_trim(st->w, st->stream, k[11].notes[0].arrived_ms);
  for (size_t i = 0; i < 5; i++) CHECK(k[i].gone);
  slp_sim_thaw(st->u.host);
  slp_world_pass(st->w, 10000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK(st->u.judged->losses >= 1);
  for (size_t i = 6; i < 10; i++)
    CHECK_INT(st->u.judged->shards[i].acked_n > 0, k[i].hash_low < k[1].hash_low);
}

/* A place in 0 is read; while its reader is frozen 0 and 1 become 4, and 4 becomes 5, which has the keys of 0, and 6,
 * which has none. */
static const slp_known_shard *read_shard_0_until_it_is_merged(stage *st, uint64_t seed) {
  stage_begin(st, seed, 4);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  st->u.opts.list_ms = 3600000;
  slp_world_put_many(st->w, st->stream, 90, 30);
  const slp_known_shard *k = st->stream->shards;
  st->u.opts.start = (sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = k[0].id, .seq = k[0].notes[3].seq};
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_sim_freeze(st->u.host, UINT64_C(300000000));
  CHECK_INT(slp_world_merge(st->w, st->stream, 0, 1), 0);
  slp_world_pass(st->w, 1000);
  split_and_put(st, 4);
  return k;
}

/* 2 becomes 7 and 8, and 7 becomes 9 and 10. Of 4 and 7 nobody hears. */
SCENE(of_shards_whose_parents_are_gone_a_place_goes_on_with_both_halves_of_a_split) {
  const slp_known_shard *k = read_shard_0_until_it_is_merged(st, seed);
  split_and_put(st, 2);
  split_and_put(st, 7);
  slp_world_trim(st->w, st->stream, k[9].notes[0].arrived_ms);
  for (size_t i = 0; i < 11; i++) CHECK_INT(k[i].gone, i < 3 || i == 4 || i == 7);
  CHECK(k[5].hash_high == k[0].hash_high && k[6].hash_low > k[0].hash_high);
  slp_sim_thaw(st->u.host);
  slp_world_pass(st->w, 10000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  for (size_t i = 5; i < 11; i++) CHECK_INT(st->u.judged->shards[i].acked_n > 0, i < 7);
}

/* 6 becomes 7 and 8, and nobody hears of 4 and 6: nothing shows that 7 and 8 descend from 0. */
SCENE(of_shards_whose_parents_are_gone_a_place_leaves_out_those_of_which_nothing_shows_it) {
  const slp_known_shard *k = read_shard_0_until_it_is_merged(st, seed);
  split_and_put(st, 6);
  slp_world_trim(st->w, st->stream, k[7].notes[0].arrived_ms);
  for (size_t i = 0; i < 9; i++) CHECK_INT(k[i].gone, i < 2 || i == 4 || i == 6);
  slp_sim_thaw(st->u.host);
  slp_world_pass(st->w, 10000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  /* Kept as they are: also from a token, and for what comes of them. */
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_user_reopen(&st->u);
  split_and_put(st, 7);
  CHECK_CAUGHT_UP(&st->u, 60000);
  for (size_t i = 5; i < 11; i++) CHECK_INT(st->stream->shards[i].polls > 0, i == 5);
}

/* Shard 0 is gone, but its two children are listed: what else has unknown parents does not descend from it. */
SCENE(a_token_whose_shard_is_gone_reads_nothing_more_when_all_its_children_are_listed) {
  read_shard_0_alone(st, seed);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  split_and_put(st, 0);
  split_and_put(st, 1);
  split_and_put(st, 4);
  const slp_known_shard *k = st->stream->shards;
  slp_world_trim(st->w, st->stream, k[6].notes[0].arrived_ms);
  CHECK(k[0].gone && k[1].gone && k[4].gone && !k[2].gone && !k[3].gone);
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 1);
  for (size_t i = 2; i < 8; i++) CHECK_INT(st->u.judged->shards[i].acked_n > 0, i < 4);
}

SCENE(a_token_whose_shard_is_gone_is_refused_when_told_to_stop_there) {
  (void)seed;
  lose_two_generations(st);
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ETRIMMED);
  CHECK(strstr(st->u.judged->last_message, st->stream->shards[0].id));
}

/* bloop knows roots that it does not read, as parents of those it does. */
SCENE(shards_of_a_token_that_are_not_active_are_not_read) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  const slp_known_shard *k = st->stream->shards;
  static char text[2000]; /* the options point to it */
  snprintf(text, sizeof text,
           "{\"stream_arn\": \"%.40s\", \"active\": [\"%.40s\"], \"shards\": [{\"shard_id\": \"%.40s\"},"
           "{\"shard_id\": \"%.40s\", \"iterator_type\": \"trim_horizon\", \"parent\": \"%.40s\"}]}",
           st->stream->name, k[1].id, k[0].id, k[1].id, k[0].id);
  slp_saved saved = {.from.kind = SLOOP_OLDEST, .shards_n = 3, .shards[1].reads = 1};
  st->u.judged->saved = &saved;
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token = text;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, k[1].notes_n);
  slp_user_finish(&st->u);
}

/* A service whose first listing knows that a shard is closed, and not yet of its children. */
static const slp_source_ops *plain_ops;
static slp_source_ops late_ops;
static void (*core_on_listed)(slp_op *rq);

static void on_listed_without_children(slp_op *rq) {
  slp_src_list *l = SLP_OWNER(rq, slp_src_list, rq);
  size_t kept = 0;
  for (size_t i = 0; i < l->shards_n; i++)
    if (!l->shards[i].parent.n) l->shards[kept++] = l->shards[i];
  l->shards_n = kept;
  late_ops.list = plain_ops->list;
  core_on_listed(rq);
}

static void list_without_children(slp_source *s, slp_src_list *rq) {
  core_on_listed = rq->rq.on_done;
  rq->rq.on_done = on_listed_without_children;
  plain_ops->list(s, rq);
}

/* Some services give a closed shard one empty page more before they end it. What is saved then is "what came
 * since" of a shard that has nothing, and must not hide what its children have had by then. */
SCENE(children_of_a_shard_that_was_empty_since_the_latest_are_read_whole_from_a_token) {
  stage_begin(st, seed, 1);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30000);
  slp_world_split(st->w, st->stream, 0);
  slp_world_faults(st->w, "20 GetRecords 0 empty\n");
  slp_world_pass(st->w, 100);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->records, 0);
  CHECK(slp_user_save(&st->u));
  slp_world_faults(st->w, NULL);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 20);
}

SCENE(latest_of_a_closed_shard_whose_children_are_listed_late_leads_to_them_from_a_token_too) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  st->u.opts.start.kind = SLOOP_LATEST;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_source *source = st->u.s->consumer->source;
  plain_ops = source->ops;
  late_ops = *plain_ops;
  late_ops.list = list_without_children;
  source->ops = &late_ops;
  slp_user_start(&st->u);
  size_t len = 0;
  while (sloop_token(st->u.s, NULL, &len) == SLOOP_ESTATE && slp_sim_now_us(st->w->sim) < 9000000)
    slp_world_pass(st->w, 1);
  CHECK(slp_user_save(&st->u));
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 60);
}

/* Each shard's parent comes behind it: whoever goes by the order of the text goes round once a shard. */
SCENE(a_token_of_very_many_generations_takes_no_time) {
  enum { GENERATIONS = 50000 };
  stage_begin(st, seed, 1);
  slp_buf text;
  slp_buf_init(&text, st->w->mem, SLP_TOKEN_BYTES_MAX);
  const char *last = st->stream->shards[0].id;
  CHECK_INT(slp_buf_addf(&text, "{\"stream_arn\": \"orders\", \"active\": [\"%s\"], \"shards\": [", last), 0);
  for (int i = 0; i < GENERATIONS; i++)
    CHECK_INT(slp_buf_addf(&text, "{\"shard_id\": \"g%d\", \"parent\": \"g%d\"}, ", i, i + 1), 0);
  CHECK_INT(slp_buf_addf(&text, "{\"shard_id\": \"g%d\", \"parent\": \"%s\"}, ", GENERATIONS, last), 0);
  CHECK_INT(slp_buf_addf(&text, "{\"shard_id\": \"a\", \"parent\": \"b\"}, "), 0);
  CHECK_INT(slp_buf_addf(&text, "{\"shard_id\": \"b\", \"parent\": \"a\"}, "), 0); /* and a circle */
  CHECK_INT(slp_buf_addf(&text, "{\"shard_id\": \"%s\"}]}", last), 0);
  slp_saved saved = {.from.kind = SLOOP_OLDEST, .shards_n = 1, .shards[0].reads = 1};
  st->u.judged->saved = &saved;
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token = slp_buf_z(&text);
  CHECK_INT(slp_user_open(&st->u), 0);
  clock_t began = clock();
  slp_user_start(&st->u);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_BELOW((unsigned long long)(clock() - began), 3ull * CLOCKS_PER_SEC);
  slp_user_finish(&st->u);
  slp_buf_free(&text);
}
