/* scene_hold.c - what the user holds, pauses, acknowledges and gives back. */
#include "story/scene.h"

SCENE(a_paused_shard_is_silent_and_the_others_go_on) {
  stage_begin(st, seed, 3);
  slp_user_start(&st->u);
  produce(st, 20, 60000, 100);
  slp_world_pass(st->w, 5000);
  slp_user_pause(&st->u, st->stream->shards[1].id);
  size_t at = st->u.judged->shards[1].next, other = st->u.judged->shards[0].next;
  slp_world_pass(st->w, 20000);
  CHECK_INT(st->u.judged->shards[1].next, at);
  CHECK(st->u.judged->shards[0].next > other + 100);
  CHECK(st->u.judged->delay_us_max < 3000000); /* it held nobody back */
  slp_user_resume(&st->u, st->stream->shards[1].id);
  slp_world_pass(st->w, 40000);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(a_pause_longer_than_an_iterator_lives_loses_and_repeats_nothing) {
  sloop_sandbox_opts_t box;
  slp_world_box_opts(&box);
  box.iterator_ms = 5000;
  stage_begin_with(st, seed, 2, &box);
  slp_user_start(&st->u);
  produce(st, 30, 100000, 100);
  slp_world_pass(st->w, 4000);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 60000);
  slp_user_resume(&st->u, NULL);
  slp_world_pass(st->w, 50000);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_pause_of_three_iterator_lives_costs_one_renewal_a_shard_at_most) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_user_pause(&st->u, NULL);
  slp_world_pass(st->w, 1000000); /* three lives of an iterator */
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 10000);
  CHECK(slp_user_stats(&st->u).iterators_renewed <= 2);
}

SCENE(paused_before_the_start_and_children_start_paused_too) {
  stage_begin(st, seed, 1);
  slp_world_put_many(st->w, st->stream, 50, 10);
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_pause(&st->u, NULL);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 3000);
  slp_world_put_many(st->w, st->stream, 50, 10);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->records, 0);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

static int pause_inside(slp_user *u, sloop_batch_t *b) {
  slp_user_done(u, b, sloop_batch_count(b));
  slp_user_pause(u, NULL);
  return 1;
}
SCENE(a_pause_inside_on_batch_holds_at_once) {
  stage_begin(st, seed, 3);
  st->u.opts.batch_records_max = 10;
  st->u.on_batch = pause_inside;
  slp_world_put_many(st->w, st->stream, 300, 10);
  slp_user_start(&st->u);
  for (int i = 1; i <= 20; i++) {
    slp_world_pass(st->w, 3000);
    CHECK_INT(st->u.judged->batches, i);
    slp_user_resume(&st->u, NULL);
  }
  st->u.on_batch = NULL;
  slp_world_pass(st->w, 1000);
  slp_user_resume(&st->u, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(never_returned_batches_bound_what_is_held) {
  stage_begin(st, seed, 4);
  st->u.opts.buffered_bytes_max = 2 << 20;
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 1500, 20000); /* 30 MB */
  slp_user_start(&st->u);
  slp_world_pass(st->w, 60000);
  sloop_stats_t now = slp_user_stats(&st->u);
  CHECK(now.batches_now >= 1); /* the second waits for bytes that the first one pins */
  CHECK(now.buffered_bytes_now > 0);
  check_promises(&st->u);
  /* The bytes that have arrived, tables included. (Memory reserved for bodies still to come is not touched
   * before they arrive; bench/buffered measures the process.) */
  CHECK(now.buffered_bytes_peak <= (2u << 20) + st->w->largest_answer);
  uint64_t gets = st->w->gets;
  slp_world_pass(st->w, 60000);
  CHECK(st->w->gets - gets < 4 * 120); /* nothing is fetched again and again for nothing */
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 200000);
  CHECK(slp_user_stats(&st->u).buffered_bytes_peak <= (2u << 20) + st->w->largest_answer);
}

SCENE(first_pages_far_larger_than_expected_do_not_lock_each_other_out) {
  stage_begin(st, seed, 32);
  st->u.opts.buffered_bytes_max = 16 << 20; /* 32 first pages of up to 6 MB each do not fit */
  for (size_t i = 0; i < 32 * 150; i++) slp_world_put_to(st->w, st->stream, i % 32, 30000);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 300000);
}

SCENE(pages_larger_than_the_whole_budget_pass_one_at_a_time) {
  stage_begin(st, seed, 3);
  st->u.opts.buffered_bytes_max = 1 << 20;
  for (int i = 0; i < 30; i++) slp_world_put(st->w, st->stream, 900000);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 300000);
}

SCENE(pages_of_ended_shards_pass_the_budget_one_at_a_time_too) {
  stage_begin(st, seed, 4);
  st->u.opts.buffered_bytes_max = 1024 * 1024;
  st->u.opts.in_flight_max = 1; /* so that the next one asks when the one before has ended */
  for (int i = 0; i < 20; i++) {
    slp_world_put_many(st->w, st->stream, 4, 100000);
    slp_world_pass(st->w, 500);
  }
  for (size_t i = 0; i < 4; i++) {
    CHECK_INT(slp_world_split(st->w, st->stream, i), 0);
    slp_world_pass(st->w, 500);
  }
  slp_world_put_many(st->w, st->stream, 60, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 600000);
  slp_user_stats(&st->u); /* is judged */
  CHECK_INT(st->u.judged->late, 0);
  for (size_t i = 0; i < 4; i++) CHECK(st->u.judged->shards[i].ended);
}

SCENE(given_back_records_come_again_later_and_flagged) {
  stage_begin(st, seed, 3);
  st->u.opts.batch_records_max = 20;
  st->u.manners = (slp_manners){.hold_us_min = 0, .hold_us_max = 50000, .give_back_ppm = 300000};
  slp_world_put_many(st->w, st->stream, 400, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 60000);
  check_promises(&st->u);
  CHECK(st->u.judged->again > 0);
  st->u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 120000);
}

static int give_all_back(slp_user *u, sloop_batch_t *b) {
  slp_user_done(u, b, 0);
  return 1;
}
SCENE(a_batch_always_given_back_comes_ever_more_slowly) {
  stage_begin(st, seed, 1);
  st->u.on_batch = give_all_back;
  slp_world_put_many(st->w, st->stream, 5, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 300000);
  /* 100 ms doubling to 30 s: about 9 times in the first 51 s, then every 30 s. */
  CHECK(st->u.judged->batches >= 12 && st->u.judged->batches <= 22);
  st->u.on_batch = NULL;
  CHECK_CAUGHT_UP(&st->u, 40000);
}

static int ack_odd(slp_user *u, sloop_batch_t *b) {
  for (size_t i = sloop_batch_count(b); i-- > 0;)
    if (i % 2) {
      slp_user_ack(u, b, i);
      slp_user_ack(u, b, i); /* as often as you like */
    }
  slp_user_done(u, b, 0);
  u->on_batch = NULL;
  return 1;
}
SCENE(acknowledged_out_of_order_only_the_others_come_again) {
  stage_begin(st, seed, 2);
  st->u.on_batch = ack_odd;
  slp_world_put_many(st->w, st->stream, 101, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(st->u.judged->again > 0 && st->u.judged->again <= 52);
}

SCENE(batches_may_come_back_in_any_order) {
  stage_begin(st, seed, 3);
  st->u.opts.batch_records_max = 7;
  st->u.opts.batches_out_max = 9;
  st->u.manners = (slp_manners){.hold_us_min = 0, .hold_us_max = 200000, .ack_singly_ppm = 500000};
  slp_world_put_many(st->w, st->stream, 1000, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(with_one_batch_out_order_is_exact_even_after_giving_back) {
  stage_begin(st, seed, 3);
  st->u.opts.batch_records_max = 10;
  st->u.opts.batches_out_max = 1;
  st->u.manners = (slp_manners){.hold_us_min = 10, .hold_us_max = 20000, .give_back_ppm = 200000};
  slp_world_put_many(st->w, st->stream, 300, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 20000);
  st->u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(one_record_larger_than_a_batch_goes_alone) {
  stage_begin(st, seed, 1);
  st->u.opts.batch_bytes_max = 1000;
  for (int i = 0; i < 50; i++) slp_world_put(st->w, st->stream, i % 7 == 0 ? 5000 : 150);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
}
