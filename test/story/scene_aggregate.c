/* scene_aggregate.c - positions inside aggregates: stopped there, started there, kept whole. */
#include "story/scene.h"

#include "api/open.h"
#include "core/token.h"
#include "core/lineage.h"
#include "core/shard_inside.h"
#include "core/standing.h"

static void put_aggregates(stage *st, size_t n) {
  for (size_t i = 0; i < n; i++) {
    CHECK_INT(slp_world_put_aggregate(st->w, st->stream, i % 25, 20), 0);
    if (i % 3 == 0) slp_world_put(st->w, st->stream, 20);
  }
}

SCENE(killed_inside_an_aggregate_the_rest_of_it_comes_and_no_more) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 7;
  st->u.manners = (slp_manners){
      .hold_us_min = 1000, .hold_us_max = 40000, .give_back_ppm = 100000, .ack_singly_ppm = 300000};
  put_aggregates(st, 120);
  slp_user_start(&st->u);
  int inside = 0;
  for (int i = 0; i < 25; i++) {
    slp_world_pass(st->w, 150);
    CHECK(slp_user_save(&st->u));
    inside += strstr(st->u.token, "sub_sequence") != NULL;
    slp_user_reopen(&st->u);
    check_promises(&st->u);
  }
  CHECK(inside > 5);
  st->u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(moved_to_a_place_inside_an_aggregate) {
  stage_begin(st, seed, 1);
  put_aggregates(st, 40);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  const slp_known_shard *k = &st->stream->shards[0];
  size_t at = 0;
  while (k->notes[at].sub != 7) at++;
  uint64_t before = st->u.judged->records;
  sloop_position_t to = {.kind = SLOOP_AT_SEQ, .shard = k->id, .seq = k->notes[at].seq, .sub = 7};
  CHECK_INT(slp_user_move(&st->u, &to), 0);
  CHECK(slp_user_moved(&st->u, 5000));
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records - before, k->notes_n - at);
}

SCENE(pages_dropped_for_room_inside_an_aggregate_are_read_on_behind_the_last_record) {
  stage_begin(st, seed, 4);
  st->u.opts.buffered_bytes_max = 65536;
  st->u.opts.batch_records_max = 5;
  for (size_t i = 0; i < 60; i++) {
    CHECK_INT(slp_world_put_aggregate(st->w, st->stream, 30, 400), 0);
    slp_world_pass(st->w, 3);
  }
  slp_user_start(&st->u);
  for (int i = 0; i < 20; i++) {
    slp_world_pass(st->w, 20);
    slp_user_pause(&st->u, st->stream->shards[i % 4].id);
    slp_world_pass(st->w, 20);
    slp_user_resume(&st->u, NULL);
  }
  CHECK_CAUGHT_UP(&st->u, 300000);
}

static slp_shard *shard_of(stage *st) {
  return slp_lineage_get(st->u.s->consumer, slp_str_of(st->stream->shards[0].id));
}

/* Whether all of it was read nobody knows then. */
SCENE(an_aggregate_kept_whole_comes_again_when_the_token_is_from_inside_it) {
  stage_begin(st, seed, 1);
  static char text[700]; /* the options point to it */
  slp_note *note = slp_world_put(st->w, st->stream, 20);
  st->u.opts.aggregates = SLOOP_AGGREGATES_KEEP;
  st->u.opts.start.kind = SLOOP_AT_TOKEN;
  st->u.opts.start.token = text;
  for (int sub = 0; sub < 2; sub++) {
    snprintf(
        text, sizeof text,
        "{\"stream_arn\":\"orders\",\"active\":[\"%s\"],\"shards\":[{\"shard_id\":\"%s\",\"iterator_type\":"
        "\"after_sequence\",\"sequence_number\":\"%s\",\"sub_sequence\":\"%d\"}]}",
        st->stream->shards[0].id, st->stream->shards[0].id, note->seq, sub);
    if (sub) {
      sloop_position_t to = {.kind = SLOOP_AT_TOKEN, .token = text};
      CHECK_INT(sloop_seek(st->u.s, &to, NULL, NULL), 0);
    } else {
      CHECK_INT(slp_user_open(&st->u), 0);
      slp_user_pause(&st->u, NULL);
      slp_user_start(&st->u);
    }
    slp_world_pass(st->w, 2000);
    CHECK_INT(slp_has_taken(&shard_of(st)->at), !sub);
    if (sub) CHECK_INT(shard_of(st)->at.start.mark.sub, 0);
  }
}
