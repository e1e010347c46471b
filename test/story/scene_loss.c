/* What is lost, and what only looks like it: shards whose last record is trimmed while nothing came. */
#include "scene.h"

#define HOUR_MS UINT64_C(3600000)

/* All is read, and the shards are idle for so long; their reader asks once a minute. */
static void read_and_idle(stage *st, uint64_t seed, uint64_t hours) {
  stage_begin(st, seed, 2);
  st->u.opts.poll_ms = 60000;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 200000);
  slp_world_pass(st->w, hours * HOUR_MS);
}

static void keep_24_hours(stage *st) {
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w) - (int64_t)(24 * HOUR_MS));
}

static void come_back(stage *st) {
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_user_reopen(&st->u);
}

SCENE(a_shard_that_was_idle_for_longer_than_its_records_are_kept_has_lost_nothing) {
  read_and_idle(st, seed, 30);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  keep_24_hours(st);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 200000);
  CHECK_INT(st->u.judged->losses, 0);
}

/* Records came and went while nobody read: that is a loss, and of no more than came since the stop. */
SCENE(what_came_and_went_after_a_stop_at_the_tip_is_lost) {
  read_and_idle(st, seed, 30);
  int64_t stopped_ms = slp_world_ms(st->w);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_pass(st->w, HOUR_MS);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 30 * HOUR_MS);
  keep_24_hours(st);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 200000);
  CHECK_INT(st->u.judged->losses, 2);
  CHECK(st->u.judged->loss_since_ms <= stopped_ms);
  CHECK(st->u.judged->loss_since_ms > stopped_ms - (int64_t)(2 * HOUR_MS));
}

/* The records behind the gap are handed out and not acknowledged: what is saved is behind the gap all the same. */
SCENE(a_loss_is_told_once_though_its_reader_ends_before_it_read_on) {
  stage_begin(st, seed, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 1000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w));
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 30, 30);
  st->u.manners.keep = 1; /* it acknowledges nothing of what comes behind the gap */
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 10000);
  CHECK_INT(st->u.judged->losses, 2);
  come_back(st);
  st->u.manners.keep = 0;
  slp_world_pass(st->w, 10000);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->losses, 0);
}

/* The record that reading goes on from was removed, and nothing else: that there may be a loss is all that is known. */
SCENE(a_record_that_is_removed_proves_no_loss) {
  stage_begin(st, seed, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_world_pass(st->w, 1000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w));
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 2);
}

/* A reader far behind loses what it had before it: its last answer said that there was more. */
SCENE(what_a_reader_far_behind_loses_is_lost_for_certain) {
  stage_begin(st, seed, 1);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  st->u.opts.fetch_records_max = 10;
  slp_world_put_many(st->w, st->stream, 100, 30);
  st->u.manners.keep = 1;
  st->u.opts.buffered_records_per_shard_max = 10;
  slp_user_start(&st->u);
  slp_world_pass(st->w, 5000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w));
  slp_world_pass(st->w, 400000); /* its iterator expires */
  slp_world_put_many(st->w, st->stream, 30, 30);
  st->u.manners.keep = 0;
  slp_user_return_all(&st->u);
  CHECK_CAUGHT_UP(&st->u, 60000);
  CHECK_INT(st->u.judged->losses, 1);
  CHECK(st->u.judged->loss_certain);
}

/* All that was unread is gone when its reader comes back, and nothing comes that would show it. */
SCENE(a_loss_is_told_though_no_record_comes_any_more) {
  stage_begin(st, seed, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 1000);
  slp_world_trim(st->w, st->stream, slp_world_ms(st->w));
  slp_user_reopen(&st->u);
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->losses, 2);
  come_back(st); /* at once, and still nothing is there */
  slp_world_pass(st->w, 5000);
  CHECK_INT(st->u.judged->losses, 0);
  slp_world_put_many(st->w, st->stream, 30, 30);
  CHECK_CAUGHT_UP(&st->u, 20000);
}

SCENE(a_loss_is_told_though_its_shard_has_ended) {
  stage_begin(st, seed, 1);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_start(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 2000);
  int64_t trim_ms = slp_world_ms(st->w);
  slp_world_pass(st->w, 2000);
  CHECK_INT(slp_world_split(st->w, st->stream, 0), 0);
  slp_world_pass(st->w, 1000);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_trim(st->w, st->stream, trim_ms);
  CHECK(!st->stream->shards[0].gone);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 20000);
  CHECK_INT(st->u.judged->losses, 1);
}

/* A token, or a row, that says of times to come that nothing is missing says nothing. */
SCENE(a_clear_time_that_has_not_come_hides_no_loss) {
  read_and_idle(st, seed, 3);
  CHECK(slp_user_save(&st->u));
  slp_user_finish(&st->u);
  int found = 0;
  static const char key[] = "clear_until\": \"";
  for (char *p = st->u.token; (p = strstr(p, key)); found++) memset(p += sizeof key - 1, '9', 12);
  CHECK_INT(found, 2);
  st->u.oracle->losses_expected = st->u.oracle->silent_trims = 1;
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_world_pass(st->w, 26 * HOUR_MS);
  keep_24_hours(st);
  slp_world_put_many(st->w, st->stream, 30, 30);
  slp_user_reopen(&st->u);
  CHECK_CAUGHT_UP(&st->u, 200000);
  CHECK_INT(st->u.judged->losses, 2);
}
