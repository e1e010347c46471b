/* scene_many.c - several consumers: joined into one order, or side by side on one host. */
#include "story/scene.h"

#include "api/open.h"

static int joined_read(void *arg) {
  slp_user **u = arg;
  return slp_oracle_all_read(u[0]->judged, NULL, 0) && slp_oracle_all_read(u[1]->judged, NULL, 0);
}

SCENE(two_joined_streams_are_one_order) {
  stage_begin(st, seed, 2);
  slp_known_stream *second = slp_world_stream(st->w, "refunds", 3);
  slp_user other;
  for (int i = 0; i < 600; i++) {
    slp_world_put(st->w, i % 3 ? st->stream : second, 50);
    if (i % 5 == 0) slp_world_pass(st->w, 9);
  }
  st->u.oracle->late_forbidden = 1;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, second, 1);
  CHECK_INT(slp_user_open(&other), 0);
  slp_user_start(&st->u);
  slp_user_start(&other);
  slp_user *both[] = {&st->u, &other};
  slp_user_wait(&other, 60000, joined_read, both);
  CHECK_CAUGHT_UP(&st->u, 1000);
  CHECK_CAUGHT_UP(&other, 1000);
  slp_user_finish(&other);
  slp_world_put_many(st->w, st->stream, 50, 10); /* the other's end changes nothing */
  CHECK_CAUGHT_UP(&st->u, 10000);
  slp_user_finish(&st->u);
  slp_user_free(&other);
}

/* The stage's stream and another, read as one; the other is started first and meets the faults. */
typedef struct family {
  slp_known_stream *second;
  slp_user other;
} family;

static void family_begin(stage *st, family *f) {
  f->second = slp_world_stream(st->w, "refunds", 2);
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&f->other, &st->u, f->second, 1);
  CHECK_INT(slp_user_open(&f->other), 0);
}

static void family_start(stage *st, family *f, const char *faults) {
  slp_world_faults(st->w, faults);
  slp_user_start(&f->other);
  slp_world_pass(st->w, 20); /* its call is out, and its fault used up */
  slp_user_start(&st->u);
}

static void family_end(stage *st, family *f) {
  slp_world_faults(st->w, NULL);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_CAUGHT_UP(&f->other, 20000);
  slp_user_finish(&f->other);
  slp_user_finish(&st->u);
  slp_user_free(&f->other);
}

static void family_backlog(stage *st, family *f) {
  for (int i = 0; i < 300; i++) {
    slp_world_put(st->w, i % 2 ? st->stream : f->second, 50);
    if (i % 5 == 0) slp_world_pass(st->w, 9);
  }
  slp_world_pass(st->w, 60000);
}

/* Its records may be the first of all, and on a plain backlog nothing is late. */
SCENE(a_backlog_waits_for_the_first_listing_of_a_joined_consumer) {
  static const char *const slow[] = {"1 DescribeStreamSummary * delay 4000\n", "1 ListShards * delay 4000\n",
                                     "2 DescribeStreamSummary * throttle\n"};
  stage_begin(st, seed, 2);
  family f;
  st->u.oracle->late_forbidden = 1;
  family_begin(st, &f);
  family_backlog(st, &f);
  family_start(st, &f, slow[seed - 1]);
  slp_world_pass(st->w, 3000);
  if (seed < 3) CHECK_INT(st->u.judged->records, 0);
  CHECK_CAUGHT_UP(&f.other, 20000);
  CHECK_INT(slp_user_stats(&f.other).late, 0);
  family_end(st, &f);
}

SCENE(at_the_tip_a_joined_consumer_that_does_not_answer_is_waited_for_no_longer_than_order_wait) {
  stage_begin(st, seed, 2);
  family f;
  family_begin(st, &f);
  family_start(st, &f,
               seed == 1 ? "1 DescribeStreamSummary * delay 25000\n" : "1 ListShards * delay 25000\n");
  produce(st, 50, 10000, 100);
  slp_world_pass(st->w, 12000);
  CHECK(st->u.judged->records > 100);
  CHECK_BELOW(st->u.judged->delay_us_max, 2500000);
  family_end(st, &f);
}

/* What waits is paused until the other has failed, so that it meets nothing but failures. */
static void begin_beside_one_that_fails(stage *st, family *f) {
  family_begin(st, f);
  family_backlog(st, f);
  slp_user_start(&st->u);
  CHECK_INT(sloop_pause(st->u.s, NULL), 0);
  slp_world_pass(st->w, 3000);
  slp_world_faults(st->w, "* DescribeStreamSummary * error InternalFailure:500\n");
  slp_user_start(&f->other);
  slp_world_pass(st->w, 100);
  CHECK_INT(sloop_resume(st->u.s, NULL), 0);
}

SCENE(a_backlog_waits_for_a_joined_consumer_that_fails_no_longer_than_order_wait) {
  stage_begin(st, seed, 2);
  family f;
  begin_beside_one_that_fails(st, &f);
  slp_world_pass(st->w, 700);
  CHECK_INT(st->u.judged->records, 0);
  slp_world_pass(st->w, 1500);
  CHECK_INT(st->u.judged->records, 150);
  family_end(st, &f);
}

static void wait_for_ever(stage *st, family *f) {
  st->u.opts.order_wait_ms = UINT32_MAX;
  begin_beside_one_that_fails(st, f);
  slp_world_pass(st->w, 60000);
  CHECK_INT(st->u.judged->records, 0);
}

SCENE(with_order_wait_for_ever_a_joined_consumer_that_fails_is_waited_for_until_it_lists) {
  stage_begin(st, seed, 2);
  family f;
  st->u.oracle->late_forbidden = 1;
  wait_for_ever(st, &f);
  family_end(st, &f);
}

SCENE(or_until_it_is_paused_or_stopped_or_ends) {
  stage_begin(st, seed, 2);
  family f;
  wait_for_ever(st, &f);
  if (seed == 1) {
    CHECK_INT(sloop_pause(f.other.s, NULL), 0);
  } else if (seed == 2) {
    slp_user_stop(&f.other, 1000);
  } else { /* refused at first contact: it ends by itself */
    slp_world_faults(st->w, NULL);
    slp_world_faults(st->w, "* DescribeStreamSummary * error AccessDeniedException:400\n");
    slp_world_pass(st->w, 40000);
  }
  CHECK_CAUGHT_UP(&st->u, 2000);
  slp_world_faults(st->w, NULL);
  slp_user_finish(&f.other);
  slp_user_finish(&st->u);
  slp_user_free(&f.other);
}

SCENE(the_first_of_a_family_may_leave_first) {
  stage_begin(st, seed, 2);
  slp_known_stream *second = slp_world_stream(st->w, "refunds", 2);
  slp_user other;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, second, 1);
  CHECK_INT(slp_user_open(&other), 0);
  slp_user_start(&st->u);
  slp_user_start(&other);
  slp_world_put_many(st->w, st->stream, 100, 10);
  slp_world_put_many(st->w, second, 100, 10);
  slp_world_pass(st->w, 300 * seed);
  slp_user_finish(&st->u);
  check_promises(&st->u);
  slp_world_put_many(st->w, second, 100, 10);
  CHECK_CAUGHT_UP(&other, 10000);
  slp_user_finish(&other);
  slp_user_free(&other);
}

/* Whether the host was last told to keep the loop alive. */
static int kept_alive;
static void note_ref(slp_host *h, int on) {
  (void)h;
  kept_alive = on;
}

SCENE(joined_consumers_keep_the_loop_alive_while_one_of_them_wants_it) {
  stage_begin(st, seed, 1);
  slp_host_ops ops = *st->u.host->ops, *was = (slp_host_ops *)(uintptr_t)st->u.host->ops;
  slp_user other;
  ops.ref = note_ref;
  st->u.host->ops = &ops;
  kept_alive = 1;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, st->stream, 1);
  CHECK_INT(slp_user_open(&other), 0);
  sloop_unref(st->u.s);
  sloop_unref(st->u.s); /* is counted once */
  CHECK_INT(kept_alive, 1);
  sloop_unref(other.s);
  CHECK_INT(kept_alive, 0);
  sloop_ref(st->u.s);
  CHECK_INT(kept_alive, 1);
  slp_user_finish(&other);
  sloop_unref(st->u.s);
  CHECK_INT(kept_alive, 0);
  slp_user_finish(&st->u); /* an end needs the loop */
  st->u.host->ops = was;
  slp_user_free(&other);
}

SCENE(who_waited_for_a_joined_consumer_goes_on_when_it_stops) {
  stage_begin(st, seed, 2);
  slp_known_stream *second = slp_world_stream(st->w, "refunds", 1);
  slp_user other;
  st->u.opts.order_wait_ms = UINT32_MAX;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, second, 1);
  CHECK_INT(slp_user_open(&other), 0);
  slp_user_start(&st->u);
  slp_user_start(&other);
  slp_world_pass(st->w, 3000);
  slp_world_faults(st->w, "* GetRecords 1 error InternalFailure:500\n"); /* only orders has a shard 1 */
  slp_world_pass(st->w, 2000);
  slp_world_put_many(st->w, second, 20, 10);
  slp_world_pass(st->w, 20000);
  CHECK_INT(other.judged->records, 0);
  slp_user_stop(&st->u, 1000);
  CHECK_CAUGHT_UP(&other, 2000);
  CHECK_INT(other.judged->records, 20);
  slp_user_finish(&other);
  slp_user_finish(&st->u);
  slp_user_free(&other);
}

static void count_creds(slp_user *u, const char *callback) {
  if (strcmp(callback, "creds") == 0) ++*(int *)u->scene;
}

SCENE(when_the_one_that_gives_credentials_leaves_another_is_asked) {
  stage_begin(st, seed, 1);
  slp_known_stream *second = slp_world_stream(st->w, "refunds", 1);
  slp_user other;
  int asked[2] = {0, 0};
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, second, 1);
  CHECK_INT(slp_user_open(&other), 0);
  st->u.scene = &asked[0];
  other.scene = &asked[1];
  st->u.on_any = other.on_any = count_creds;
  slp_user_start(&st->u);
  slp_user_start(&other);
  slp_world_pass(st->w, 3000);
  CHECK(asked[0] > 0);
  CHECK_INT(asked[1], 0);
  slp_user_finish(&st->u);
  slp_world_faults(st->w, "1 GetRecords * error ExpiredTokenException:400\n");
  slp_world_put_many(st->w, second, 20, 10);
  CHECK_CAUGHT_UP(&other, 20000);
  CHECK(asked[1] > 0);
  slp_user_finish(&other);
  slp_user_free(&other);
}

/* Closing takes several turns, because the callback of the stop is still due. In whatever turn the closing
 * begins, the other consumer is asked for credentials. */
SCENE(one_that_is_being_closed_is_not_asked_for_credentials) {
  (void)st;
  for (int events = 0; events < 40; events++) {
    stage one = {0};
    slp_user other;
    stage_begin(&one, seed, 1);
    slp_known_stream *second = slp_world_stream(one.w, "refunds", 1);
    CHECK_INT(slp_user_open(&one.u), 0);
    slp_user_init_beside(&other, &one.u, second, 1);
    CHECK_INT(slp_user_open(&other), 0);
    slp_world_put_many(one.w, second, 20, 10);
    slp_user_start(&one.u);
    slp_user_start(&other);
    slp_user_move_kind(&one.u, SLOOP_OLDEST);
    for (int i = 0; i < events; i++) slp_sim_step(one.w->sim);
    slp_user_stop(&one.u, 5000);
    slp_user_close(&one.u);
    CHECK_CAUGHT_UP(&other, 20000);
    slp_user_finish(&other);
    slp_user_free(&other);
    stage_end(&one);
  }
}

SCENE(nobody_joins_one_that_was_started_or_closed) {
  stage_begin(st, seed, 1);
  slp_user late;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&late, &st->u, st->stream, 1);
  slp_user_start(&st->u);
  CHECK_INT(slp_user_open(&late), SLOOP_EOPTION);
  CHECK_STR(late.why, "join: that consumer is already started or closed");
  slp_user_close(&st->u);
  CHECK_INT(slp_user_open(&late), SLOOP_EOPTION);
  CHECK_STR(late.why, "join: that consumer is already started or closed");
  slp_world_pass(st->w, 1000);
  slp_user_free(&late);
}

SCENE(two_consumers_side_by_side_read_everything_each) {
  stage_begin(st, seed, 3);
  st->w->rate_unchecked = 1;
  slp_user other;
  slp_world_put_many(st->w, st->stream, 500, 50);
  slp_user_init_beside(&other, &st->u, st->stream, 0);
  other.manners = (slp_manners){.hold_us_min = 0, .hold_us_max = 100000, .give_back_ppm = 50000};
  slp_user_start(&st->u);
  slp_user_start(&other);
  produce(st, 30, 20000, 50);
  slp_world_pass(st->w, 21000);
  other.manners.give_back_ppm = 0;
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_CAUGHT_UP(&other, 60000);
  slp_user_finish(&other);
  check_promises(&other);
  slp_user_free(&other);
}

static void answer_late(slp_world *w, const char *op, slp_known_shard *shard, slp_sim_reply *reply) {
  slp_known_stream *slow = w->user;
  (void)op;
  if (shard == &slow->shards[0]) reply->delay_ms += 200;
}

/* The first stream's service answers at once. From such round trips alone it would seem that small pages are
 * enough, also where each takes 0.2 s. */
SCENE(of_two_joined_streams_the_far_one_gets_larger_pages) {
  sloop_sandbox_opts_t unlimited;
  sloop_sandbox_opts_init(&unlimited);
  unlimited.reads_per_second = unlimited.read_bytes_per_second = 0;
  stage_begin_with(st, seed, 1, &unlimited);
  st->w->rate_unchecked = 1;
  slp_known_stream *far = slp_world_stream(st->w, "refunds", 1);
  st->w->on_answer = answer_late;
  st->w->user = far;
  for (int i = 0; i < 900; i++) {
    slp_world_put(st->w, i % 3 ? far : st->stream, 20000);
    if (i % 9 == 0) slp_world_pass(st->w, 1);
  }
  slp_user other;
  CHECK_INT(slp_user_open(&st->u), 0);
  slp_user_init_beside(&other, &st->u, far, 1);
  CHECK_INT(slp_user_open(&other), 0);
  slp_user_start(&st->u);
  slp_user_start(&other);
  slp_user *both[] = {&st->u, &other};
  slp_user_wait(&other, 60000, joined_read, both);
  CHECK_CAUGHT_UP(&other, 1000);
  CHECK_BELOW(far->shards[0].polls, 14); /* 16 MB of answers; 30 pages of SLP_AHEAD_PAGE_MIN */
  slp_user_finish(&other);
  slp_user_finish(&st->u);
  slp_user_free(&other);
}

static uint64_t hash_of_story(uint64_t seed) {
  stage st = {0};
  stage_begin(&st, seed, 3);
  slp_sim_network(st.w->sim)->refuse_ppm = 20000;
  slp_sim_network(st.w->sim)->cut_ppm = 20000;
  st.u.manners = (slp_manners){.hold_us_min = 0, .hold_us_max = 100000, .give_back_ppm = 50000};
  slp_user_start(&st.u);
  produce(&st, 30, 20000, 50);
  slp_world_pass(st.w, 5000);
  SLP_CHECK(slp_world_split(st.w, st.stream, 0) == 0);
  slp_world_pass(st.w, 17000);
  uint64_t hash = slp_sim_trace_hash(st.w->sim);
  stage_end(&st);
  return hash;
}
TEST(the_same_seed_is_the_same_run) {
  for (uint64_t seed = 1; seed < 6; seed++) CHECK(hash_of_story(seed) == hash_of_story(seed));
  CHECK(hash_of_story(1) != hash_of_story(2));
}
