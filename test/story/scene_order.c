/* scene_order.c - records of several shards in one order: backlogs, the tip, shards that are silent. */
#include "story/scene.h"

SCENE(a_backlog_of_four_shards_is_read_from_oldest_to_tip_in_order) {
  stage_begin(st, seed, 4);
  for (int i = 0; i < 4000; i++) {
    slp_world_put_many(st->w, st->stream, 1, 100);
    if (i % 3 == 0) slp_world_pass(st->w, 7);
  }
  st->u.oracle->late_forbidden = 1;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->records, 4000);
  slp_world_pass(st->w, 5000);
  CHECK(st->u.judged->tips >= 1);
  sloop_stats_t now = slp_user_stats(&st->u);
  CHECK_INT(now.late, 0);
  CHECK_INT(now.shards_now, 4);
  CHECK_INT(now.tip_now, 4);
  CHECK(now.tip_age_ms_now <= 2u * st->u.opts.poll_ms); /* each is asked again and again */
}

SCENE(an_uneven_backlog_is_in_order_too) {
  stage_begin(st, seed, 4);
  for (int i = 0; i < 3000; i++) {
    slp_world_put_to(st->w, st->stream, i % 100 == 0 ? (size_t)(i / 100 % 4) : 1, 1000);
    if (i % 10 == 0) slp_world_pass(st->w, 40);
  }
  st->u.oracle->late_forbidden = 1;
  st->u.opts.fetch_records_max = 100;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(records_with_the_same_time_stamp_are_ordered_by_number) {
  stage_begin(st, seed, 3);
  slp_world_put_many(st->w, st->stream, 500, 50); /* all in one millisecond */
  st->u.oracle->late_forbidden = 1;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* The digits that are compared first are chosen while pages wait whose words are of other digits. */
SCENE(ties_are_in_order_from_page_to_page_whatever_digits_are_compared_first) {
  stage_begin(st, seed, 6);
  for (int ms = 0; ms < 30; ms++) {
    slp_world_put_many(st->w, st->stream, 100, 20);
    slp_world_pass(st->w, 1);
  }
  st->u.oracle->late_forbidden = 1;
  st->u.opts.fetch_records_max = 60;
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
  CHECK_INT(st->u.judged->records, 3000);
}

SCENE(at_the_tip_records_come_within_a_poll_and_in_order) {
  stage_begin(st, seed, 4);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  produce(st, 20, 60000, 200);
  slp_world_pass(st->w, 61000);
  CHECK_CAUGHT_UP(&st->u, 5000);
  /* A shard is polled once a second; then every shard must have been asked again. */
  CHECK(st->u.judged->delay_us_max < 2300000);
}

SCENE(a_backlog_is_known_to_be_all_within_two_fifths_of_a_second_and_by_one_call_more) {
  stage_begin(st, seed, 4);
  slp_world_put_many(st->w, st->stream, 1000, 100);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 400);
  CHECK_INT(st->u.judged->records, 1000);
  CHECK(st->u.judged->tips >= 1); /* a poll interval has not passed yet */
  CHECK_INT(st->w->gets, 4 * 3);  /* 8 records, all others, and the empty page */
  slp_world_pass(st->w, 10000);
  uint64_t calls = st->w->gets;
  slp_world_put_many(st->w, st->stream, 1000, 100);
  slp_world_pass(st->w, 10000);
  CHECK_BELOW(st->w->gets - calls, 4 * 13); /* later tips are not confirmed: a call a second */
}

/* The first call asks for 8 records. */
SCENE(a_shard_of_fewer_than_8_records_takes_one_page_and_one_of_8_two) {
  stage_begin(st, seed, 2);
  for (size_t i = 0; i < 15; i++) slp_world_put_to(st->w, st->stream, i < 7 ? 0 : 1, 100);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 150); /* nothing is asked again before 0.2 s are over */
  CHECK_INT(st->u.judged->records, 15);
  CHECK_INT(st->stream->shards[0].polls, 1);
  CHECK_INT(st->stream->shards[1].polls, 2);
}

SCENE(an_idle_stream_costs_one_call_a_second_and_shard) {
  stage_begin(st, seed, 4);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 10000);
  uint64_t calls = st->w->gets, turns = slp_sim_stats(st->u.host).turns;
  slp_world_pass(st->w, 100000);
  calls = st->w->gets - calls;
  turns = slp_sim_stats(st->u.host).turns - turns;
  CHECK(calls >= 350 && calls <= 450);
  CHECK(turns < calls * 20); /* no turning without work */
}

/* For so long, no record of the first shards waits longer than that from put to hand-over. */
static void nobody_waits_for(stage *st, uint64_t us_max, size_t shards, int seconds) {
  for (int i = 0; i < 10 * seconds; i++) {
    slp_world_pass(st->w, 100);
    for (size_t k = 0; k < shards; k++) {
      const slp_known_shard *sh = &st->stream->shards[k];
      const slp_judged_shard *j = &st->u.judged->shards[k];
      if (j->next >= sh->notes_n) continue;
      uint64_t age = slp_sim_now_us(st->w->sim) - sh->notes[j->next].put_us;
      if (age > us_max)
        CHECK_FAIL("%s waits for %" PRIu64 " us (seed %" PRIu64 ")", sh->id, age, st->w->seed);
    }
  }
}

SCENE(a_silent_shard_holds_the_others_back_no_longer_than_order_wait) {
  stage_begin(st, seed, 4);
  st->u.opts.order_wait_ms = 700;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "* GetRecords 3 delay 25000\n");
  produce(st, 50, 40000, 100);
  nobody_waits_for(st, 3000000, 3, 40);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* From the next call on; without a limit that one has nobody waiting for it. */
static void silence(stage *st, size_t from, size_t to) {
  char script[800] = "";
  for (size_t i = from; i < to; i++)
    snprintf(script + strlen(script), sizeof script - strlen(script), "* GetRecords %zu delay 25000\n", i);
  slp_world_faults(st->w, script);
}

/* All of them fall silent where they begin, so that none is further back than the others. */
SCENE(shards_that_are_silent_from_the_start_hold_the_others_back_at_once_and_not_in_turn) {
  stage_begin(st, seed, 12);
  st->u.opts.order_wait_ms = 700;
  silence(st, 6, 12);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 1000);
  produce(st, 20, 20000, 100);
  nobody_waits_for(st, 2000000, 6, 20);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* Each silent shard was heard last at another moment, and other records came in between. If the 20 silent shards
 * were waited for in turn, that would take 14 s. The longest wait of 60 seeds was 3.6 s. */
SCENE(shards_that_fall_silent_hold_the_others_back_at_once_and_not_in_turn) {
  stage_begin(st, seed, 24);
  st->u.opts.order_wait_ms = 700;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  produce(st, 10, 20000, 100);
  slp_world_pass(st->w, 2000);
  silence(st, 4, 24);
  nobody_waits_for(st, 4000000, 4, 18);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

/* Each second each of the later shards may begin to fail, fall silent, or be well again. */
static void trouble(stage *st, size_t from) {
  static const char *const kinds[] = {"", "", "delay 25000", "error InternalFailure:500", "drop", "throttle"};
  char script[2000] = "";
  for (size_t i = from; i < st->stream->shards_n; i++) {
    const char *kind = kinds[slp_sim_random_below(st->w->sim, SLP_COUNT(kinds))];
    if (*kind)
      snprintf(script + strlen(script), sizeof script - strlen(script), "* GetRecords %zu %s\n", i, kind);
  }
  slp_world_faults(st->w, *script ? script : NULL);
}

SCENE(whichever_shards_fail_or_are_silent_the_others_wait_no_longer_than_order_wait) {
  for (uint64_t world = 1; world <= 12; world++) {
    stage_begin(st, 100 * seed + world, 4 + (uint32_t)(world * 7 % 29));
    size_t well = st->stream->shards_n / 4;
    st->u.opts.order_wait_ms = 100 + (uint32_t)slp_sim_random_below(st->w->sim, 1200);
    /* A poll, and of what was set aside some come back with old records and fall silent anew. */
    uint64_t most_us = 1300000 + 3000 * (uint64_t)st->u.opts.order_wait_ms;
    if (world % 2) trouble(st, well);
    slp_user_start(&st->u);
    slp_world_pass(st->w, 2000);
    produce(st, 2 + slp_sim_random_below(st->w->sim, 60), 60000, 100);
    for (int i = 0; i < 60; i++) {
      if (slp_sim_random_below(st->w->sim, 3) == 0) trouble(st, well);
      nobody_waits_for(st, most_us, well, 1);
    }
    slp_world_faults(st->w, NULL);
    CHECK_CAUGHT_UP(&st->u, 60000);
    if (world < 12) stage_end(st);
  }
}

static int stay_two_seconds_at_times(slp_user *u, sloop_batch_t *b) {
  slp_user_done(u, b, sloop_batch_count(b));
  if (u->judged->records % 500 == 0) slp_sim_block(u->host, 2000000);
  return 1;
}

/* What the shards sent while the callback ran lies in the sockets. */
SCENE(after_a_long_callback_what_has_come_is_read_before_a_shard_is_set_aside) {
  stage_begin(st, seed, 6);
  st->u.opts.order_wait_ms = 700;
  st->u.opts.batch_records_max = 1;
  st->u.on_batch = stay_two_seconds_at_times;
  slp_sim_net *net = slp_sim_network(st->w->sim);
  net->latency_us_min = net->latency_us_max = 150000;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  produce(st, 20, 200000, 100);
  slp_world_pass(st->w, 200000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(slp_user_stats(&st->u).late, 0);
}

/* Somebody's own work holds the loop again and again, with a turn of it in between. */
typedef struct held_loop {
  stage *st;
  uint64_t us, until_us;
} held_loop;

static void hold_loop(void *arg) {
  held_loop *h = arg;
  uint64_t now = slp_sim_now_us(h->st->w->sim);
  if (now >= h->until_us) return;
  slp_sim_block(h->st->u.host, h->us);
  slp_sim_at(h->st->w->sim, now + h->us + 100, hold_loop, h);
}

SCENE(a_shard_is_set_aside_though_each_turn_of_the_loop_takes_long) {
  static const struct {
    uint32_t order_wait_ms;
    uint64_t turn_us;
  } with[] = {{700, 250000}, {700, 1000000}, {1, 2200}, {1, 150000}};
  for (size_t i = 0; i < SLP_COUNT(with); i++) {
    stage_begin(st, seed, 2);
    held_loop held = {st, with[i].turn_us, 0};
    st->u.opts.order_wait_ms = with[i].order_wait_ms;
    slp_user_start(&st->u);
    slp_world_pass(st->w, 5000);
    slp_world_faults(st->w, "* GetRecords 1 error InternalFailure:500\n");
    slp_world_pass(st->w, 2000);
    held.until_us = slp_sim_now_us(st->w->sim) + 20000000;
    hold_loop(&held);
    produce(st, 200, 15000, 100);
    nobody_waits_for(st, 1200000 + 1000 * (uint64_t)with[i].order_wait_ms + 4 * with[i].turn_us, 1, 15);
    slp_world_pass(st->w, 6000);
    slp_world_faults(st->w, NULL);
    CHECK_CAUGHT_UP(&st->u, 60000);
    if (i + 1 < SLP_COUNT(with)) stage_end(st);
  }
}

SCENE(records_given_back_by_a_shard_set_aside_come_again) {
  stage_begin(st, seed, 2);
  st->u.opts.order_wait_ms = 300;
  st->u.manners.keep = 1;
  slp_world_put_to(st->w, st->stream, 1, 10);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK_INT(st->u.judged->records, 1);
  slp_world_faults(st->w, "* GetRecords 1 delay 25000\n");
  slp_world_put_to(st->w, st->stream, 0, 10);
  slp_world_pass(st->w, 5000); /* shard 1 is aside now: the other one's record came */
  CHECK_INT(st->u.judged->records, 2);
  st->u.manners.keep = 0;
  while (slp_oracle_held(st->u.oracle)) slp_user_done(&st->u, slp_oracle_held_at(st->u.oracle, 0), 0);
  slp_world_pass(st->w, 1000);
  CHECK_INT(st->u.judged->records, 4);
  CHECK_INT(st->u.judged->again, 2);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_silent_shard_holds_the_others_back_for_ever_when_told_so) {
  stage_begin(st, seed, 2);
  st->u.opts.order_wait_ms = UINT32_MAX;
  st->u.oracle->late_forbidden = 1;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_faults(st->w, "* GetRecords 1 error InternalFailure:500\n");
  slp_world_put_to(st->w, st->stream, 1, 10);
  slp_world_pass(st->w, 2000);
  slp_world_put_to(st->w, st->stream, 0, 10);
  slp_world_pass(st->w, 30000);
  CHECK_INT(st->u.judged->records, 0);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(in_shard_order_nobody_waits_for_a_silent_shard) {
  stage_begin(st, seed, 4);
  st->u.opts.order = SLOOP_ORDER_SHARD;
  slp_world_put_many(st->w, st->stream, 2000, 300);
  slp_world_faults(st->w, "* GetRecords 2 delay 20000\n");
  slp_user_start(&st->u);
  produce(st, 50, 30000, 100);
  slp_world_pass(st->w, 15000);
  for (size_t k = 0; k < 4; k++)
    if (k != 2) CHECK(st->u.judged->shards[k].next > 400);
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 90000);
  CHECK_INT(slp_user_stats(&st->u).late, 0);
}

SCENE(in_shard_order_each_shard_has_its_own_batches_out) {
  stage_begin(st, seed, 4);
  st->u.opts.order = SLOOP_ORDER_SHARD;
  st->u.opts.batch_records_max = 50;
  st->u.manners = (slp_manners){.hold_us_min = 1000, .hold_us_max = 90000};
  slp_world_put_many(st->w, st->stream, 3000, 100);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(records_of_every_size_arrive_whole) {
  stage_begin(st, seed, 3);
  slp_sim_network(st->w->sim)->piece_bytes_min = 1;
  slp_sim_network(st->w->sim)->piece_bytes_max = 30000;
  for (uint32_t bytes = 0; bytes < 400; bytes++) slp_world_put(st->w, st->stream, bytes);
  for (uint32_t bytes = 1000; bytes < 1000000; bytes *= 3) slp_world_put(st->w, st->stream, bytes);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 120000);
}

SCENE(json_and_cbor_read_the_same) {
  stage_begin(st, seed, 3);
  st->u.opts.wire = seed % 2 ? SLOOP_WIRE_JSON : SLOOP_WIRE_CBOR;
  slp_world_put_many(st->w, st->stream, 1500, 333);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
}

SCENE(a_record_stamped_in_the_future_does_not_drag_its_shard_along) {
  stage_begin(st, seed, 3);
  st->u.opts.order_wait_ms = UINT32_MAX;
  slp_user_start(&st->u);
  produce(st, 20, 60000, 100);
  slp_world_pass(st->w, 10000);
  st->w->clock_went_back = 1;
  st->w->service_off_ms += 50000; /* in one shard only; no answer is given while the clock is wrong */
  slp_world_put_to(st->w, st->stream, 0, 100);
  st->w->service_off_ms -= 50000;
  slp_world_pass(st->w, 51000);
  CHECK_CAUGHT_UP(&st->u, 5000);
  CHECK_BELOW(st->u.judged->delay_us_max, 2300000);
}
