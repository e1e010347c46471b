/* scene_life.c - open, start, stop and close, in every state and from inside every callback. */
#include "story/scene.h"

static int stop_told(void *arg) { return ((slp_user *)arg)->stop_told; }
static int holds_one(void *arg) { return slp_oracle_held(((slp_user *)arg)->oracle) > 0; }

SCENE(opened_and_closed_without_a_start) {
  stage_begin(st, seed, 1);
  CHECK_INT(slp_user_open(&st->u), 0);
  CHECK_INT(st->w->calls, 0); /* open does no I/O */
}

SCENE(bad_options_are_refused_with_a_sentence) {
  stage_begin(st, seed, 1);
  slp_user *u = &st->u;
  sloop_opts_t good = u->opts;
#define REFUSED(change)                       \
  u->opts = good;                             \
  change;                                     \
  u->why[0] = 0;                              \
  CHECK_INT(slp_user_open(u), SLOOP_EOPTION); \
  CHECK(u->s == NULL && u->why[0]);
  REFUSED(u->opts.stream = NULL)
  REFUSED(u->opts.on_batch = NULL)
  REFUSED(u->opts.stream = "a b")
  REFUSED(u->opts.batches_out_max = 0)
  REFUSED(u->opts.batch_records_max = 0)
  REFUSED(u->opts.fetch_records_max = 10001)
  REFUSED(u->opts.start.kind = 99)
  REFUSED(u->opts.order = 99)
  REFUSED(u->opts.endpoint = "ftp://x")
  REFUSED((u->opts.start.kind = SLOOP_AT_SEQ, u->opts.start.shard = NULL))
  REFUSED((u->opts.start.kind = SLOOP_AT_SEQ, u->opts.start.shard = "s", u->opts.start.seq = "x1"))
  u->opts = good;
  CHECK_INT(slp_user_open(u), 0);
}

SCENE(stop_with_nothing_out_is_told_zero) {
  stage_begin(st, seed, 2);
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_user_stop(&st->u, 5000);
  CHECK(!st->u.stop_told);
  CHECK(slp_user_wait(&st->u, 100, stop_told, &st->u));
  CHECK_INT(st->u.stop_status, 0);
  uint64_t calls = st->w->calls;
  slp_world_pass(st->w, 60000);
  CHECK_INT(st->w->calls, calls); /* nothing is fetched any more */
}

SCENE(stop_waits_for_the_batch_that_is_out) {
  stage_begin(st, seed, 2);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, holds_one, &st->u));
  slp_user_stop(&st->u, 60000);
  slp_world_pass(st->w, 20000);
  CHECK(!st->u.stop_told);
  slp_user_return_all(&st->u);
  CHECK(slp_user_wait(&st->u, 100, stop_told, &st->u));
  CHECK_INT(st->u.stop_status, 0);
}

SCENE(stop_times_out_when_the_batch_never_comes) {
  stage_begin(st, seed, 2);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, holds_one, &st->u));
  uint64_t began = slp_sim_now_us(st->w->sim);
  slp_user_stop(&st->u, seed == 1 ? 0 : 2000);
  CHECK(slp_user_wait(&st->u, 10000, stop_told, &st->u));
  CHECK_INT(st->u.stop_status, SLP_ETIMEDOUT);
  uint64_t took = slp_sim_now_us(st->w->sim) - began;
  CHECK(seed == 1 ? took < 1000 : took >= 1999000 && took < 2100000);
}

SCENE(close_cancels_a_stop_that_waits) {
  stage_begin(st, seed, 2);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, holds_one, &st->u));
  slp_user_stop(&st->u, 60000);
  slp_user_close(&st->u);
  slp_world_pass(st->w, 1000);
  CHECK(st->u.closed && st->u.stop_told);
  CHECK_INT(st->u.stop_status, SLP_ECANCELED);
}

SCENE(the_second_start_and_the_second_stop_are_refused) {
  stage_begin(st, seed, 1);
  CHECK_INT(slp_user_open(&st->u), 0);
  int rc;
  SLP_CALL(st->u.oracle, rc = sloop_stop(st->u.s, 0, NULL, NULL));
  CHECK_INT(rc, SLOOP_ESTATE);
  slp_user_start(&st->u);
  SLP_CALL(st->u.oracle, rc = sloop_start(st->u.s));
  CHECK_INT(rc, SLOOP_ESTATE);
  slp_world_pass(st->w, 2000);
  SLP_CALL(st->u.oracle, rc = sloop_pause(st->u.s, "no-such-shard"));
  CHECK_INT(rc, SLOOP_ENOSHARD);
  slp_user_stop(&st->u, 1000);
  SLP_CALL(st->u.oracle, rc = sloop_stop(st->u.s, 0, NULL, NULL));
  CHECK_INT(rc, SLOOP_ESTATE);
  SLP_CALL(st->u.oracle, rc = sloop_pause(st->u.s, NULL));
  CHECK_INT(rc, SLOOP_ESTATE);
  SLP_CALL(st->u.oracle, rc = sloop_resume(st->u.s, NULL));
  CHECK_INT(rc, SLOOP_ESTATE);
  slp_world_pass(st->w, 2000);
}

SCENE(close_twice_is_one_close) {
  stage_begin(st, seed, 1);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 1000);
  slp_user_close(&st->u);
  slp_user_close(&st->u);
  slp_world_pass(st->w, 1000);
  CHECK(st->u.closed);
}

/* A busy story with a split, give-backs and faults, that every event of can be the last. */
static void begin_story(stage *st, uint64_t seed, sloop_order_t order) {
  stage_begin(st, seed, 2);
  st->u.opts.order = order;
  st->u.opts.batch_records_max = 40;
  st->u.creds_later = seed % 2;
  st->u.manners = (slp_manners){.hold_us_min = 0, .hold_us_max = 30000, .give_back_ppm = 100000};
  slp_sim_network(st->w->sim)->piece_bytes_min = 100;
  slp_sim_network(st->w->sim)->piece_bytes_max = 4000;
  slp_world_faults(st->w,
                   "1 DescribeStreamSummary * throttle\n1 ListShards * status 500\n2 GetRecords * expired\n"
                   "2 GetShardIterator * throttle\n1 GetRecords * cut 300\n");
  slp_world_put_many(st->w, st->stream, 150, 60);
  slp_world_pass(st->w, 1000);
  SLP_CHECK(slp_world_split(st->w, st->stream, 1) == 0);
  slp_world_pass(st->w, 200);
  slp_world_put_many(st->w, st->stream, 50, 60);
}

static uint64_t story_events(sloop_order_t order) {
  stage st = {0};
  begin_story(&st, 1, order);
  slp_user_start(&st.u);
  uint64_t from = slp_sim_events(st.w->sim);
  st.u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st.u, 60000);
  uint64_t n = slp_sim_events(st.w->sim) - from;
  stage_end(&st);
  return n;
}

static void close_after_every_event(sloop_order_t order) {
  uint64_t n = story_events(order) + 30;
  for (uint64_t k = 0; k < n; k++) {
    stage st = {0};
    begin_story(&st, 1 + k % 3, order);
    slp_user_start(&st.u);
    for (uint64_t i = 0; i < k; i++) slp_sim_step(st.w->sim);
    slp_user_close(&st.u);
    stage_end(&st);
  }
}
TEST(close_after_every_event_of_a_busy_story) { close_after_every_event(SLOOP_ORDER_TIME); }
TEST(close_after_every_event_of_a_busy_story_in_shard_order) { close_after_every_event(SLOOP_ORDER_SHARD); }

TEST(stop_after_every_event_of_a_busy_story) {
  uint64_t n = story_events(SLOOP_ORDER_TIME) + 30;
  for (uint64_t k = 0; k < n; k++) {
    stage st = {0};
    begin_story(&st, 1 + k % 3, SLOOP_ORDER_TIME);
    slp_user_start(&st.u);
    for (uint64_t i = 0; i < k; i++) slp_sim_step(st.w->sim);
    slp_user_stop(&st.u, k % 2 ? 1000 : 10);
    if (!slp_user_wait(&st.u, 5000, stop_told, &st.u))
      CHECK_FAIL("stop after %d events was never told", (int)k);
    stage_end(&st);
  }
}

static void move_after(uint64_t k, sloop_order_t order) {
  stage st = {0};
  begin_story(&st, 1 + k % 3, order);
  slp_user_start(&st.u);
  for (uint64_t i = 0; i < k; i++) slp_sim_step(st.w->sim);
  slp_user_save(&st.u);
  sloop_position_kind_t kind = st.u.token && k % 2 ? SLOOP_AT_TOKEN : SLOOP_OLDEST;
  CHECK_INT(slp_user_move_kind(&st.u, kind), 0);
  CHECK(slp_user_moved(&st.u, 30000));
  st.u.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st.u, 60000);
  stage_end(&st);
}
TEST(move_after_every_event_of_a_busy_story) {
  uint64_t n = story_events(SLOOP_ORDER_TIME);
  for (uint64_t k = 0; k < n; k++) move_after(k, SLOOP_ORDER_TIME);
}
TEST(move_after_every_event_of_a_busy_story_in_shard_order) {
  uint64_t n = story_events(SLOOP_ORDER_SHARD);
  for (uint64_t k = 0; k < n; k++) move_after(k, SLOOP_ORDER_SHARD);
}

TEST(killed_after_every_event_of_a_busy_story_the_token_is_right) {
  uint64_t n = story_events(SLOOP_ORDER_TIME);
  for (uint64_t k = 0; k < n; k++) {
    stage st = {0};
    begin_story(&st, 1 + k % 3, k % 2 ? SLOOP_ORDER_TIME : SLOOP_ORDER_SHARD);
    slp_user_start(&st.u);
    for (uint64_t i = 0; i < k; i++) slp_sim_step(st.w->sim);
    if (slp_user_save(&st.u)) slp_user_reopen(&st.u);
    st.u.manners.give_back_ppm = 0;
    CHECK_CAUGHT_UP(&st.u, 60000);
    stage_end(&st);
  }
}

/* Every function inside every callback. */
typedef struct inside {
  const char *where, *what;
  int times;
} inside;
static void do_inside(slp_user *u, const char *callback) {
  inside *in = u->scene;
  if (strcmp(callback, in->where) || in->times++ || !u->s || u->judged->close_called) return;
  if (strcmp(in->what, "close") == 0) slp_user_close(u);
  if (strcmp(in->what, "stop") == 0) slp_user_stop(u, 500);
  if (strcmp(in->what, "pause") == 0) slp_user_pause(u, NULL);
  if (strcmp(in->what, "resume") == 0) slp_user_resume(u, NULL);
  if (strcmp(in->what, "list") == 0) slp_user_list(u);
  if (strcmp(in->what, "stats") == 0) slp_user_stats(u);
  if (strcmp(in->what, "done") == 0) slp_user_return_all(u);
  if (strcmp(in->what, "save") == 0) slp_user_save(u);
  if (strcmp(in->what, "move") == 0) slp_user_move_kind(u, SLOOP_OLDEST);
  if (strcmp(in->what, "unref") == 0) {
    sloop_unref(u->s);
    sloop_ref(u->s);
  }
}

SCENE(every_function_is_legal_in_every_callback) {
  static const char *const wheres[] = {"on_batch", "on_shard", "on_tip", "on_error", "on_stats",
                                       "on_log",   "creds",    "stop",   "list",     "move"};
  static const char *const whats[] = {"close", "stop", "pause", "resume", "list",
                                      "stats", "done", "unref", "save",   "move"};
  (void)st;
  for (size_t a = 0; a < SLP_COUNT(wheres); a++)
    for (size_t b = 0; b < SLP_COUNT(whats); b++) {
      stage one = {0};
      begin_story(&one, seed, SLOOP_ORDER_TIME);
      inside in = {wheres[a], whats[b], 0};
      one.u.scene = &in;
      one.u.on_any = do_inside;
      one.u.opts.stats_ms = 100;
      one.u.oracle->losses_expected = 1;
      slp_user_start(&one.u);
      slp_world_pass(one.w, 2000);
      if (one.u.s && !one.u.judged->close_called) slp_user_list(&one.u);
      if (one.u.s && !one.u.judged->close_called) slp_user_move_kind(&one.u, SLOOP_OLDEST);
      slp_world_pass(one.w, 3000);
      if (one.u.s && !one.u.judged->close_called) slp_user_stop(&one.u, 500);
      slp_world_pass(one.w, 2000);
      if (one.u.oracle->bad[0]) fprintf(stderr, "  %s inside %s:\n", whats[b], wheres[a]);
      stage_end(&one);
    }
}

SCENE(listing_works_before_the_start_and_while_running) {
  stage_begin(st, seed, 5);
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_list(&st->u);
  slp_world_pass(st->w, 2000);
  CHECK(st->u.list_told);
  CHECK_INT(st->u.list_status, 0);
  CHECK_INT(st->u.listed, 5);
  slp_user_start(&st->u);
  slp_user_list(&st->u);
  slp_world_pass(st->w, 3000);
  CHECK(st->u.list_told);
  CHECK_INT(st->u.listed, 5);
  slp_user_list(&st->u);
  slp_user_close(&st->u);
}

SCENE(a_listing_that_waits_is_called_off_by_stop) {
  stage_begin(st, seed, 2);
  slp_user_start(&st->u);
  slp_world_pass(st->w, 2000);
  slp_world_faults(st->w, "* ListShards * delay 20000\n");
  slp_user_list(&st->u);
  slp_user_stop(&st->u, 1000);
  slp_world_pass(st->w, 2000);
  CHECK(st->u.list_told && st->u.stop_told);
  CHECK_INT(st->u.list_status, SLP_ECANCELED);
}

SCENE(nothing_counts_any_more_once_sloop_close_has_returned) {
  stage_begin(st, seed, 2);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 100, 500);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, holds_one, &st->u));
  sloop_batch_t *b = slp_oracle_held_at(st->u.oracle, 0);
  CHECK_INT(sloop_batch_owned(b, 0), 1);
  if (seed == 2) slp_user_stop(&st->u, 5000); /* its callback makes the close take longer */
  slp_user_close(&st->u);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
  slp_world_pass(st->w, 1000);
  CHECK(st->u.closed);
  CHECK_INT(sloop_batch_owned(b, 0), -1);
}

SCENE(batches_held_past_the_close_are_still_readable) {
  stage_begin(st, seed, 2);
  st->u.manners.keep = 1;
  slp_world_put_many(st->w, st->stream, 100, 500);
  slp_user_start(&st->u);
  CHECK(slp_user_wait(&st->u, 10000, holds_one, &st->u));
  slp_user_close(&st->u);
  slp_world_pass(st->w, 1000);
  CHECK(st->u.closed);
  sloop_batch_t *b = slp_oracle_held_at(st->u.oracle, 0);
  for (size_t i = 0; i < sloop_batch_count(b); i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    CHECK_INT(r->data.len, 500);
    CHECK_STR(r->stream, "orders");
    size_t at = slp_world_find(st->stream, r->shard);
    const slp_known_shard *sh = &st->stream->shards[at];
    size_t k = 0;
    while (k < sh->notes_n && !slp_str_is((slp_str){r->seq.base, r->seq.len}, sh->notes[k].seq)) k++;
    CHECK(k < sh->notes_n && slp_note_holds(&sh->notes[k], r->data.base, r->data.len));
  }
  sloop_batch_ack(b, 0);
}
