/* scene_start.c - where reading begins: latest, at a time, at a sequence number, after trimming. */
#include "story/scene.h"

#include <limits.h>

SCENE(latest_reads_what_comes_after_and_nothing_before) {
  stage_begin(st, seed, 3);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 200, 10);
  slp_world_pass(st->w, 1234);
  slp_user_start(&st->u);
  produce(st, 2, 5000, 10); /* from the very moment of the start */
  slp_world_pass(st->w, 6000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->records > 1000);
}

SCENE(latest_is_anchored_when_its_first_iterator_expires_unread) {
  stage_begin(st, seed, 3);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 200, 10);
  slp_world_pass(st->w, 1234);
  slp_world_faults(st->w, "6 GetRecords * expired\n");
  slp_user_start(&st->u);
  produce(st, 2, 5000, 10);
  slp_world_pass(st->w, 6000);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

/* Far ahead, as one front end of a service may be: the Date of every answer of that operation, or of all, `left`
 * times. */
static struct {
  const char *operation;
  int left;
} wrong_dates;

static void date_wrongly(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  (void)w, (void)shard;
  if (strcmp(op, "GetShardIterator") == 0 && reply->status == 400) wrong_dates.left = 0; /* a time to come */
  if (!wrong_dates.left || (wrong_dates.operation && strcmp(op, wrong_dates.operation) != 0)) return;
  wrong_dates.left--;
  reply->date_ms = INT64_C(4070908800000); /* 2099-01-01 */
}

static void stage_of_wrong_dates(stage *st, uint64_t seed, const char *operation, int left) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 3000;
  stage_begin_with(st, seed, 1, &box);
  wrong_dates.operation = operation;
  wrong_dates.left = left;
  st->w->on_answer = date_wrongly;
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 20, 10);
  slp_world_pass(st->w, 1234);
}

/* What comes while nothing is answered, until the iterator has expired. */
static void miss_some(stage *st) {
  st->w->down = 1;
  for (int i = 0; i < 5; i++) {
    slp_world_put_many(st->w, st->stream, 5, 10);
    slp_world_pass(st->w, 2000);
  }
  st->w->down = 0;
}

/* The place was taken for a time to come; that was refused, and what came more than two seconds before was never
 * handed out. */
SCENE(latest_is_found_again_though_its_first_iterator_came_with_a_date_to_come) {
  stage_of_wrong_dates(st, seed, "GetShardIterator", 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 500);
  CHECK_INT(wrong_dates.left, 0);
  miss_some(st);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->records, 25);
}

SCENE(latest_is_found_again_though_an_empty_page_came_with_a_date_to_come) {
  stage_of_wrong_dates(st, seed, "GetRecords", 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 500);
  CHECK_INT(wrong_dates.left, 0);
  miss_some(st);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->records, 25);
}

/* Only the answer that refuses the time as one to come has the right Date. */
SCENE(latest_is_found_again_though_all_dates_were_to_come_until_it_was_refused) {
  stage_of_wrong_dates(st, seed, NULL, INT_MAX);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 500);
  miss_some(st);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(wrong_dates.left, 0);
  CHECK_INT(st->u.judged->records, 25);
}

/* DescribeStreamSummary, ListShards, GetShardIterator. */
SCENE(latest_is_saved_as_the_time_it_was_though_the_first_dates_were_to_come) {
  stage_of_wrong_dates(st, seed, NULL, 3);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(wrong_dates.left, 0);
  CHECK(slp_user_save(&st->u));
  slp_world_put_many(st->w, st->stream, 25, 10);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 30000);
}

/* A clock that is being slewed, by a twelfth as chrony does it: what older answers taught of the service's
 * time is ahead of it by up to a second. A time to come is refused, and records from two seconds before were
 * handed out; of one that had come meanwhile the first were left out (1219560 in swarm/herd_seeds.txt). */
SCENE(latest_found_again_by_its_time_is_no_time_to_come_where_our_clock_runs_fast) {
  stage_begin(st, seed, 3);
  slp_sim_drift(st->u.host, 83333);
  slp_user_start(&st->u);
  produce(st, 2, 120000, 10);
  for (int i = 0; i < 8; i++) {
    slp_world_pass(st->w, 9000 + (uint64_t)i * 137);
    slp_world_faults(st->w, "3 GetRecords * expired\n");
    CHECK_INT(slp_user_move_kind(&st->u, SLOOP_LATEST), 0);
    CHECK(slp_user_moved(&st->u, 5000));
  }
  slp_world_pass(st->w, 3000);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(latest_on_a_quiet_shard_keeps_its_place_when_iterators_expire) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 1500;
  stage_begin_with(st, seed, 2, &box);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_world_pass(st->w, 3000);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_user_pause(&st->u, NULL);
  for (int i = 0; i < 10; i++) {
    slp_world_put_many(st->w, st->stream, 5, 10);
    slp_world_pass(st->w, 4000);
  }
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK_INT(st->u.judged->records, 50);
}

SCENE(latest_follows_a_split_from_its_first_record) {
  stage_begin(st, seed, 2);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  produce(st, 10, 10000, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 11000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->shards[2].acked_n > 0);
}

SCENE(latest_does_not_read_closed_shards) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 50, 10);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 50, 10);
  st->u.opts.start.kind = SLOOP_LATEST;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->records, 0);
  slp_world_put_many(st->w, st->stream, 50, 10);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 50);
}

SCENE(at_a_time_reads_what_arrived_then_or_later) {
  stage_begin(st, seed, 3);
  for (int i = 0; i < 300; i++) {
    slp_world_put_many(st->w, st->stream, 1, 10);
    slp_world_pass(st->w, 13);
    if (i == 170) st->u.opts.start.at_ms = slp_world_ms(st->w);
  }
  st->u.opts.start.kind = SLOOP_AT_TIME;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 129);
}

SCENE(at_a_time_to_come_reads_nothing_before_it) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_world_pass(st->w, 1000);
  st->u.opts.start.kind = SLOOP_AT_TIME;
  st->u.opts.start.at_ms = slp_world_ms(st->w) + 5000;
  slp_user_start(&st->u);
  for (int i = 0; i < 100; i++) {
    slp_world_put_many(st->w, st->stream, 1, 10);
    slp_world_pass(st->w, 100);
  }
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->records >= 49 && st->u.judged->records <= 51);
}

SCENE(at_a_time_across_a_split) {
  stage_begin(st, seed, 2);
  produce(st, 20, 30000, 10);
  slp_world_pass(st->w, 4000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 4000);
  CHECK_INT(slp_world_split(st->w, st->stream, 2), 0);
  slp_world_pass(st->w, 4000);
  /* Before, between and after: the split shard's children hold older records than this, or not. */
  st->u.opts.start.at_ms = slp_world_ms(st->w) - (int64_t)seed * 3000;
  st->u.opts.start.kind = SLOOP_AT_TIME;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(at_a_sequence_number_reads_that_shard_from_there) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 300, 10);
  st->u.opts.start.kind = SLOOP_AT_SEQ;
  st->u.opts.start.shard = st->stream->shards[1].id;
  st->u.opts.start.seq = st->stream->shards[1].notes[20].seq;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->records, st->stream->shards[1].notes_n - 20);
}

SCENE(oldest_begins_where_retention_has_left_something) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_world_pass(st->w, 1000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w));
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 100);
}

SCENE(records_trimmed_before_they_were_read_are_told) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 3000;
  stage_begin_with(st, seed, 2, &box);
  st->u.oracle->losses_expected = 1;
  st->u.manners.keep = 1; /* so that reading stands still */
  st->u.opts.buffered_bytes_max = 65536;
  st->u.opts.fetch_records_max = 10;
  for (int i = 0; i < 400; i++) {
    slp_world_put_many(st->w, st->stream, 1, 1000);
    slp_world_pass(st->w, 5);
  }
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w) - 1);
  slp_world_pass(st->w, 10000);
  slp_world_put_many(st->w, st->stream, 100, 10);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK(st->u.judged->losses >= 1);
}

SCENE(trimmed_and_told_to_stop_the_shard_stops) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 3000;
  stage_begin_with(st, seed, 1, &box);
  st->u.oracle->losses_expected = 1;
  st->u.opts.on_trimmed = SLOOP_TRIMMED_STOP;
  st->u.oracle->stops_expected = 1;
  st->u.manners.keep = 1;
  st->u.opts.buffered_bytes_max = 65536;
  st->u.opts.fetch_records_max = 10;
  for (int i = 0; i < 400; i++) {
    slp_world_put_many(st->w, st->stream, 1, 1000);
    slp_world_pass(st->w, 5);
  }
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w) - 1);
  slp_world_pass(st->w, 10000);
  slp_world_put_many(st->w, st->stream, 100, 10);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  slp_world_pass(st->w, 60000);
  CHECK(st->u.judged->losses >= 1);
  CHECK(st->u.judged->shards[0].stopped);
}

/* The service may be wrong about it, and records handed out before must not come again without need. */
SCENE(told_that_its_place_is_gone_it_neither_repeats_nor_forgets_what_it_has) {
  stage_begin(st, seed, 1);
  st->u.oracle->losses_expected = 1;
  st->u.manners.keep = 1;
  st->u.opts.fetch_records_max = 10;
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  while (st->u.judged->records == 0) slp_world_pass(st->w, 1);
  slp_world_faults(st->w, "1 GetRecords * error TrimmedDataAccessException\n");
  slp_world_pass(st->w, 10000);
  CHECK_INT(st->u.judged->losses, 0); /* it keeps the place after all */
  CHECK(slp_user_save(&st->u));
  slp_user_return_all(&st->u);
  st->u.manners.keep = 0;
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->records, 100);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(at_a_sequence_number_of_a_shard_that_is_not_asked_for_is_refused) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 30, 10);
  static const char *const wanted[] = {"2"};
  st->u.opts.shards = wanted;
  st->u.opts.shards_n = 1;
  st->u.opts.start.kind = SLOOP_AT_SEQ;
  st->u.opts.start.shard = st->stream->shards[1].id;
  st->u.opts.start.seq = st->stream->shards[1].notes[0].seq;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.judged->failed);
  CHECK_INT(st->u.judged->last_error, SLOOP_ENOSHARD);
  CHECK(strstr(st->u.judged->last_message, st->stream->shards[1].id));
}

SCENE(only_the_shards_asked_for_are_read) {
  stage_begin(st, seed, 4);
  slp_world_put_many(st->w, st->stream, 400, 10);
  static const char *const wanted[] = {"1", "03"};
  st->u.opts.shards = wanted;
  st->u.opts.shards_n = 2;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  check_promises(&st->u);
  CHECK_INT(st->u.judged->shards[1].acked_n, st->stream->shards[1].notes_n);
  CHECK_INT(st->u.judged->shards[3].acked_n, st->stream->shards[3].notes_n);
  CHECK_INT(st->u.judged->records, st->stream->shards[1].notes_n + st->stream->shards[3].notes_n);
}
