/* scene_seek.c - going on from somewhere else while running. */
#include "story/scene.h"

SCENE(to_the_oldest_everything_comes_again) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 300, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 600);
  CHECK_INT(st->u.judged->late, 0);
}

SCENE(what_is_out_stays_valid_and_counts_for_nothing) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 50;
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 300, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.judged->records > 0);
  sloop_batch_t *b = slp_oracle_held_at(st->u.oracle, 0);
  char first[130];
  snprintf(first, sizeof first, "%.*s", (int)sloop_batch_at(b, 0)->seq.len, sloop_batch_at(b, 0)->seq.base);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_MEM(first, strlen(first), sloop_batch_at(b, 0)->seq.base, sloop_batch_at(b, 0)->seq.len);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(to_the_latest_the_backlog_is_left_out) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 10;
  st->u.manners = (slp_manners){.hold_us_min = 100000, .hold_us_max = 200000};
  slp_world_put_many(st->w, st->stream, 2000, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_LATEST), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  slp_world_pass(st->w, 2000);
  uint64_t before = st->u.judged->records;
  slp_world_put_many(st->w, st->stream, 20, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records - before, 20);
}

SCENE(to_a_time_and_to_a_sequence_number) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_world_pass(st->w, 3000);
  int64_t then = slp_world_ms(st->w);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move(&st->u, &(sloop_position_t){.kind = SLOOP_AT_TIME, .at_ms = then}), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 300);
  const slp_known_shard *k = &st->stream->shards[1];
  sloop_position_t at = {.kind = SLOOP_AT_SEQ, .shard = k->id, .seq = k->notes[5].seq};
  CHECK_INT(slp_user_move(&st->u, &at), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 300 + k->notes_n - 5);
}

SCENE(to_a_token_what_was_not_acknowledged_then_comes_again) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 20;
  slp_world_put_many(st->w, st->stream, 300, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 1000);
  CHECK(slp_user_save(&st->u));
  slp_world_put_many(st->w, st->stream, 100, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_AT_TOKEN), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(across_reshards_parents_come_first_again) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 60, 30);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_INT(slp_world_split(st->w, st->stream, 1), 0);
  slp_world_pass(st->w, 500);
  slp_world_put_many(st->w, st->stream, 60, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 120 + 180);
}

SCENE(a_move_that_cannot_be_changes_nothing) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 10;
  st->u.manners = (slp_manners){.hold_us_min = 10000, .hold_us_max = 90000};
  slp_world_put_many(st->w, st->stream, 300, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 1000);
  sloop_position_t nowhere = {.kind = SLOOP_AT_SEQ, .shard = "nowhere", .seq = "1"};
  CHECK_INT(slp_user_move(&st->u, &nowhere), 0);
  CHECK(!slp_user_moved(&st->u, 5000));
  CHECK_INT(st->u.move_status, SLOOP_ENOSHARD);
  sloop_position_t other = {
      .kind = SLOOP_AT_TOKEN,
      .token = "{\"stream_arn\":\"x\",\"active\":[\"a\"],\"shards\":[{\"shard_id\":\"a\"}]}"};
  CHECK_INT(slp_user_move(&st->u, &other), 0);
  CHECK(!slp_user_moved(&st->u, 5000));
  CHECK_INT(st->u.move_status, SLOOP_ETOKEN);
  other.token = "[]";
  CHECK_INT(slp_user_move(&st->u, &other), SLOOP_ETOKEN);
  CHECK_INT(slp_user_move(&st->u, &(sloop_position_t){.kind = SLOOP_AT_SEQ}), SLOOP_EOPTION);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 300);
}

SCENE(moved_again_the_first_one_is_told_that_it_was_called_off) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_LATEST), 0);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  CHECK(!slp_user_moved(&st->u, 5000));
  CHECK_INT(st->u.move_status, SLP_ECANCELED);
  st->u.move_told = 0;
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 200);
}

SCENE(stopped_meanwhile_it_is_told_before_the_stop) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  slp_user_stop(&st->u, 1000);
  CHECK(!slp_user_moved(&st->u, 2000));
  CHECK_INT(st->u.move_status, SLP_ECANCELED);
  slp_world_pass(st->w, 2000);
  CHECK(st->u.stop_told);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), SLOOP_ESTATE);
}

SCENE(closed_meanwhile_it_is_told_before_the_end) {
  stage_begin(st, seed, 2);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  slp_user_close(&st->u);
  slp_world_pass(st->w, 1000);
  CHECK(st->u.closed && st->u.move_told);
  CHECK_INT(st->u.move_status, SLP_ECANCELED);
}

SCENE(paused_shards_stay_paused) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_user_pause(&st->u, st->stream->shards[0].id);
  CHECK_INT(slp_user_move_kind(&st->u, SLOOP_OLDEST), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->records, 100 + st->stream->shards[1].notes_n);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
}
