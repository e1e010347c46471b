/* scene_lag.c - how far behind: paused shards, warnings, a limit of records held, services that tell less. */
#include "story/scene.h"

#include "api/open.h"
#include "core/token.h"
#include "core/consumer_inside.h"
#include "core/lineage.h"
#include "core/queue.h"
#include "core/engine_inside.h"
#include "core/shard_inside.h"

static slp_consumer *consumer_of(stage *st) { return st->u.s->consumer; }

/* Like DynamoDB Streams: no times to start at, no MillisBehindLatest. */
static void tell_less(stage *st) {
  CHECK_INT(slp_user_open(&st->u), 0);
  consumer_of(st)->source->anchors_by_time = 0;
  consumer_of(st)->source->tells_behind = 0;
}

SCENE(a_paused_shard_is_looked_at_once_a_minute_and_nothing_of_it_comes) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_user_pause(&st->u, NULL);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 65000);
  uint64_t polls = st->stream->shards[0].polls;
  slp_world_pass(st->w, 600000); /* iterators live 300 s */
  CHECK(st->stream->shards[0].polls - polls >= 9 && st->stream->shards[0].polls - polls <= 13);
  sloop_stats_t s = slp_user_stats(&st->u);
  CHECK(s.behind_ms_now > 540000 && s.behind_ms_now < 680000);
  CHECK_INT(s.tip_now, 0);
  CHECK_INT(s.tip_age_ms_now, 0); /* nobody is asked who may hand over */
  CHECK_INT(st->u.judged->records, 20);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 5000);
  CHECK_INT(st->u.judged->records, 50);
  CHECK_INT(slp_user_stats(&st->u).behind_ms_now, 0);
}

/* A day without records is passed over in pages that are empty, each of which says that less is left. The last
 * record taken is newer than what they say, so the watermark does not move by them. */
SCENE(empty_pages_of_a_reader_that_is_behind_come_at_the_pace_that_the_service_allows) {
  enum { PAGES = 20 };
  char script[PAGES * 40] = "";
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_put_many(st->w, st->stream, 5, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  for (int i = 0, n = 0; i < PAGES; i++)
    n +=
        snprintf(script + n, sizeof script - (size_t)n, "1 GetRecords * behind %d\n", 86400000 - i * 4000000);
  slp_world_faults(st->w, script);
  uint64_t polls = st->stream->shards[0].polls;
  slp_world_pass(st->w, 1000 + PAGES * 200 + 400);
  if (st->stream->shards[0].polls - polls < PAGES)
    CHECK_FAIL("%d pages", (int)(st->stream->shards[0].polls - polls));
  CHECK(st->stream->shards[0].polls - polls <= PAGES + 3);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

/* 200 ms is what the service allows, to a call: one that comes a little early is refused. A back-off of up to a
 * second each time made a record in a hundred wait for more than that. */
SCENE(the_fastest_pace_that_is_not_refused_is_found) {
  sloop_sandbox_opts_t o;
  slp_world_box_opts(&o);
  CHECK_INT(o.reads_per_second, 5);
  stage_begin_with(st, seed, 1, &o);
  st->u.opts.poll_ms = 200;
  slp_user_start(&st->u);
  produce(st, 97, 300000, 30);
  slp_world_pass(st->w, 300000);
  uint64_t polls = st->stream->shards[0].polls, throttles = slp_user_stats(&st->u).throttles;
  if (polls < 300 * 4 || throttles * 100 > polls)
    CHECK_FAIL("%llu calls in 300 s, %llu of them throttled", (unsigned long long)polls,
               (unsigned long long)throttles);
  CHECK_CAUGHT_UP(&st->u, 5000);
}

/* Pages that are full are asked for at once, until a call is refused. Those of the second behind it count, so the
 * next may be asked for a second later: sooner it was refused up to three times, the last back-off 4 s, and the
 * gap between calls that was learned from it was an eighth too large. */
SCENE(a_burst_on_a_backlog_is_refused_once) {
  stage_begin(st, seed, 1);
  st->u.opts.fetch_records_max = 10;
  slp_world_put_many(st->w, st->stream, 400, 30); /* 40 pages, five of them at once */
  slp_user_start(&st->u);
  while (!slp_user_stats(&st->u).throttles) slp_world_pass(st->w, 1);
  CHECK_INT(slp_lineage_get(consumer_of(st), slp_str_of(st->stream->shards[0].id))->reader.pace.gap_us, 0);
  CHECK_CAUGHT_UP(&st->u, 9000);
  CHECK(slp_user_stats(&st->u).throttles <= 2); /* and one for the pace that is found */
}

/* Only the first refusal after an answer says that calls come too fast: thirty in a row, up to 20 s apart, would
 * have left the calls 2 s apart, and taken an hour to come back from that. */
SCENE(after_minutes_of_refusals_a_shard_is_read_as_fast_as_before) {
  stage_begin(st, seed, 1);
  st->u.opts.fetch_records_max = 10;
  slp_user_start(&st->u);
  slp_world_put_many(st->w, st->stream, 20, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_world_faults(st->w, "30 GetRecords * throttle\n");
  slp_world_pass(st->w, 600000);
  slp_world_put_many(st->w, st->stream, 1000, 30);
  CHECK_CAUGHT_UP(&st->u, 30000);
  CHECK(slp_user_stats(&st->u).throttles >= 30);
}

SCENE(paused_from_the_start_latest_is_when_it_was_started) {
  stage_begin(st, seed, 2);
  st->u.opts.start.kind = SLOOP_LATEST;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_pause(&st->u, NULL);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  slp_world_put_many(st->w, st->stream, 40, 30);
  slp_world_pass(st->w, 900000);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 5000);
  CHECK_INT(st->u.judged->records, 40);
}

SCENE(a_paused_shard_goes_on_where_it_was_also_in_a_token) {
  stage_begin(st, seed, 2);
  st->u.opts.batch_records_max = 10;
  slp_world_put_many(st->w, st->stream, 200, 30);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 700000);
  CHECK(slp_user_save(&st->u));
  slp_user_reopen(&st->u);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 700000);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

static uint64_t warnings(const stage *st) { return st->u.judged->errors; }

SCENE(a_lag_near_retention_is_told_once_each_time) {
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  consumer_of(st)->retention_ms = 600000;
  slp_timer_clear(consumer_of(st)->engine->host, &consumer_of(st)->look_timer); /* else it would ask */
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 400000);
  CHECK_INT(warnings(st), 0);
  slp_world_pass(st->w, 300000);
  CHECK_INT(warnings(st), 1);
  CHECK_INT(st->u.judged->last_error, SLOOP_EBEHIND);
  CHECK(strstr(st->u.judged->last_message, "shardId-000000000000: reading is 9 minutes behind"));
  slp_world_pass(st->w, 300000);
  CHECK_INT(warnings(st), 1);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
  slp_user_pause(&st->u, NULL);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_world_pass(st->w, 700000);
  CHECK_INT(warnings(st), 2);
  CHECK(!st->u.judged->failed);
}

/* A stream that keeps 10 hours, and then one, while its reader is 44 minutes behind. */
SCENE(a_retention_that_is_cut_is_told_to_who_is_far_behind) {
  stage_begin(st, seed, 1);
  CHECK_INT(slp_box_keep(st->w->box, slp_world_ms(st->w), "orders", 10), 0);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 44 * UINT64_C(60000));
  CHECK_INT(warnings(st), 0);
  CHECK_INT(slp_box_keep(st->w->box, slp_world_ms(st->w), "orders", 1), 0);
  slp_world_pass(st->w, 10 * UINT64_C(60000) + 5000);
  CHECK_INT(warnings(st), 1);
  CHECK_INT(st->u.judged->last_error, SLOOP_EBEHIND);
  CHECK(strstr(st->u.judged->last_message, " but the stream keeps only 60: records will be lost in "));
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(!st->u.judged->failed);
}

typedef struct most_held {
  slp_user *u;
  uint32_t most;
} most_held;
static int look_at_held(void *arg) {
  most_held *h = arg;
  size_t at = 0;
  slp_shard *s;
  while (h->u->s && (s = slp_map_each(&h->u->s->consumer->shards, &at)))
    if (slp_queue_unacked_n(s) > h->most) h->most = slp_queue_unacked_n(s);
  return 0;
}

SCENE(records_held_of_a_shard_stay_under_the_limit_and_one_page) {
  stage_begin(st, seed, 2);
  st->u.opts.buffered_records_per_shard_max = 40;
  st->u.opts.fetch_records_max = 25;
  st->u.opts.batch_records_max = 10;
  st->u.opts.batches_out_max = 20;
  st->u.manners = (slp_manners){
      .hold_us_min = 1000, .hold_us_max = 800000, .give_back_ppm = 300000, .ack_singly_ppm = 300000};
  slp_world_put_many(st->w, st->stream, 600, 30);
  slp_user_start(&st->u);
  most_held h = {&st->u, 0};
  slp_user_wait(&st->u, 20000, look_at_held, &h);
  CHECK(h.most > 25 && h.most < 40 + 25);
  CHECK_CAUGHT_UP(&st->u, 300000);
}

SCENE(without_being_told_the_lag_is_the_age_of_the_newest_record_and_nothing_at_the_tip) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 300, 30);
  slp_world_pass(st->w, 100000);
  st->u.opts.fetch_records_max = 10;
  st->u.manners.keep = 1;
  tell_less(st);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  sloop_stats_t s = slp_user_stats(&st->u);
  CHECK(s.behind_ms_now > 95000 && s.behind_ms_now < 105000);
  CHECK(s.tip_age_ms_now == UINT64_MAX);
  CHECK(sloop_batch_behind_ms(slp_oracle_held_at(st->u.oracle, 0)) > 95000);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  slp_world_pass(st->w, 10000);
  CHECK_INT(slp_user_stats(&st->u).behind_ms_now, 0);
  CHECK_INT(slp_user_stats(&st->u).tip_now, 1);
}

SCENE(at_a_time_the_service_can_not_find_older_records_are_passed_over) {
  stage_begin(st, seed, 2);
  st->u.opts.fetch_records_max = 10;
  slp_world_put_many(st->w, st->stream, 200, 30);
  slp_world_pass(st->w, 5000 - (uint64_t)(slp_world_ms(st->w) % 1000));
  st->u.opts.start.kind = SLOOP_AT_TIME;
  st->u.opts.start.at_ms = slp_world_ms(st->w) / 1000 * 1000;
  slp_world_put_many(st->w, st->stream, 50, 30);
  tell_less(st);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->records, 50);
}

/* bloop's defect: a token taken then says "from the first record there is". */
SCENE(what_was_passed_over_is_behind_us_in_a_token) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_world_pass(st->w, 5000);
  st->u.opts.start.kind = SLOOP_AT_TIME;
  st->u.opts.start.at_ms = slp_world_ms(st->w) - 1000;
  tell_less(st);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  CHECK(slp_user_save(&st->u));
  slp_token *t;
  char why[160];
  CHECK_INT(slp_token_read(&t, st->mem, slp_str_of(st->u.token), why), 0);
  const slp_known_shard *k = &st->stream->shards[0];
  CHECK_INT(t->shards[0].from.kind, SLP_POSITION_AFTER);
  CHECK_MEM(t->shards[0].from.mark.seq, t->shards[0].from.mark.seq_n, k->notes[99].seq,
            strlen(k->notes[99].seq));
  slp_token_free(t);
}

SCENE(latest_renewed_without_a_time_to_ask_for_loses_nothing_and_repeats_no_old_record) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 1500;
  stage_begin_with(st, seed, 2, &box);
  slp_world_put_many(st->w, st->stream, 100, 30);
  slp_world_pass(st->w, 10000);
  st->u.opts.start.kind = SLOOP_LATEST;
  tell_less(st);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_user_pause(&st->u, NULL); /* iterators expire meanwhile */
  slp_world_put_many(st->w, st->stream, 50, 30);
  slp_world_pass(st->w, 30000);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 50);
}

SCENE(latest_whose_first_iterator_expires_unread_is_found_again_by_its_time) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 200, 10);
  slp_world_pass(st->w, 4000);
  st->u.opts.start.kind = SLOOP_LATEST;
  tell_less(st);
  slp_world_faults(st->w, "6 GetRecords * expired\n");
  slp_user_start(&st->u);
  produce(st, 2, 5000, 10);
  slp_world_pass(st->w, 6000);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->records > 1000);
}

/* Polls of the shard within 120 ms of its second page, of some 300 records and 300 kB. The first page has few
 * records, because their size is not known yet. */
static uint64_t polls_soon(stage *st, uint64_t bytes_full) {
  stage_begin(st, 1, 1);
  slp_world_put_many(st->w, st->stream, 300, 1000);
  tell_less(st);
  consumer_of(st)->source->fetch_bytes_full = bytes_full;
  slp_user_start(&st->u);
  while (st->stream->shards[0].polls < 2) slp_world_pass(st->w, 1);
  slp_world_pass(st->w, 120);
  return st->stream->shards[0].polls;
}

SCENE(a_page_as_large_as_the_service_makes_them_is_followed_by_the_next_at_once) {
  CHECK(polls_soon(st, 200000) >= 3);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(a_smaller_page_is_followed_by_the_next_after_a_while) {
  CHECK_INT(polls_soon(st, 1000000), 2);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(what_will_be_passed_over_is_no_lag_of_a_paused_shard) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_world_pass(st->w, 590000);
  st->u.opts.start.kind = SLOOP_AT_TIME;
  st->u.opts.start.at_ms = slp_world_ms(st->w);
  tell_less(st);
  slp_user_pause(&st->u, NULL);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 30);
  consumer_of(st)->retention_ms = 600000;
  slp_world_pass(st->w, 200000);
  CHECK_INT(warnings(st), 0);
  slp_world_put_many(st->w, st->stream, 20, 30);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->records, 20);
}
