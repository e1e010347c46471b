/* admin/read_positions.c, create_rows.c, positions.c: positions on their way from rows or a token to rows or a token. */
#include "admin_table.h"

static char token_text[8192];
static slp_str token_of(const char *shards) {
  snprintf(token_text, sizeof token_text, "{\"stream_arn\": \"orders\", %s}", shards);
  return slp_str_of(token_text);
}

static void import(slp_str token, int apply, int code) {
  if (admin) over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_IMPORT, .token = token, .apply = (uint8_t)apply}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, code);
}

static void becomes(const char *shard, slp_import_row what, slp_position_kind kind, int filled) {
  const slp_placed_list *list = slp_admin_placed(admin);
  for (size_t i = 0; i < list->n; i++) {
    slp_position to;
    if (!slp_str_is(list->all[i].shard, shard)) continue;
    CHECK_INT(slp_import_row_of(admin, i, &to), what);
    CHECK_INT(to.kind, kind);
    CHECK_INT(list->all[i].filled, filled);
    return;
  }
  CHECK(!"it is not in the list");
}

static void done(void) {
  over();
  end();
}

#define C_IS_READ                                                                                     \
  "\"active\": [\"c\"], \"shards\": [{\"shard_id\": \"c\", \"iterator_type\": \"after_sequence\", "   \
  "\"sequence_number\": \"42\", \"sub_sequence\": \"3\"}, {\"shard_id\": \"d\", \"parent\": \"c\"}, " \
  "{\"shard_id\": "                                                                                   \
  "\"old\"}]"
#define LINEAGE "a! b! c<a,b! d<c e<c x"

/* What comes before a shard that is named was read; what comes after, or is by itself, begins at its oldest. */
TEST(shards_that_a_token_does_not_name) {
  begin(LINEAGE);
  import(token_of(C_IS_READ), 0, 0);
  CHECK_INT(harmed.writes, 0);
  CHECK_INT(slp_admin_placed(admin)->n, 6);
  becomes("a", SLP_IMPORT_MISSING, SLP_POSITION_END, 1);
  becomes("b", SLP_IMPORT_MISSING, SLP_POSITION_END, 1);
  becomes("c", SLP_IMPORT_MISSING, SLP_POSITION_AFTER, 0);
  becomes("d", SLP_IMPORT_MISSING, SLP_POSITION_OLDEST, 0);
  becomes("e", SLP_IMPORT_MISSING, SLP_POSITION_OLDEST, 1);
  becomes("x", SLP_IMPORT_MISSING, SLP_POSITION_OLDEST, 1);
  import(token_of(C_IS_READ), 1, 0);
  CHECK_INT(harmed.writes, 6);
  CHECK_STR(get("l/c", "pos"), "1:00242:0000000004");
  CHECK_STR(get("l/a", "pos"), "9:end");
  CHECK_STR(get("l/x", "pos"), "0:oldest");
  becomes("c", SLP_IMPORT_MADE, SLP_POSITION_AFTER, 0);
  import(token_of(C_IS_READ), 1, 0);
  CHECK_INT(harmed.writes, 6);
  becomes("c", SLP_IMPORT_THERE, SLP_POSITION_AFTER, 0);
  done();
}

TEST(a_circle_of_parents_ends) {
  begin("a<b! b<a! c<a");
  import(token_of("\"active\": [\"c\"], \"shards\": [{\"shard_id\": \"c\"}]"), 0, 0);
  becomes("a", SLP_IMPORT_MISSING, SLP_POSITION_END, 1);
  becomes("b", SLP_IMPORT_MISSING, SLP_POSITION_END, 1);
  done();
}

TEST(answers_that_are_lost_make_no_row_twice) {
  begin(LINEAGE);
  harmed.no_answer = 4;
  import(token_of(C_IS_READ), 1, 0);
  becomes("a", SLP_IMPORT_MADE, SLP_POSITION_END, 1);
  CHECK_STR(get("l/d", "epoch"), "0");
  done();
}

TEST(a_missing_permission_ends_it) {
  begin(LINEAGE);
  harmed.writes_fail = SLP_ACCESS;
  import(token_of(C_IS_READ), 1, SLOOP_EACCESS);
  CHECK_STR(get("l/c", "pos"), "");
  done();
}

TEST(rows_that_are_in_the_way) {
  begin("a b");
  static const char both[] =
      "\"active\": [\"a\", \"b\"], \"shards\": [{\"shard_id\": \"a\"}, {\"shard_id\": \"b\"}]";
  PUT("l/a", "epoch#3", "pos=0:oldest");
  PUT("l/b", "epoch#3", "pos=1:00242:0000000001");
  PUT("l/z", "epoch#3", "pos=0:oldest");
  PUT("l/y", "epoch#3", "pos=elsewhere");
  PUT("x/other", "a=b");
  import(token_of(both), 1, SLOOP_ELEASE);
  CHECK_STR(message(), "4 rows are in conflict; nothing was written");
  becomes("a", SLP_IMPORT_THERE, SLP_POSITION_OLDEST, 0);
  becomes("b", SLP_IMPORT_DIFFERS, SLP_POSITION_AFTER, 0);
  CHECK_INT(slp_import_problems(admin), 4);
  int seen = 0;
  for (size_t i = 0; slp_import_odd_of(admin, i); i++) {
    const slp_import_odd *o = slp_import_odd_of(admin, i);
    if (o->what == SLP_IMPORT_EXTRA) CHECK(slp_str_is(o->name, "z"));
    if (o->what == SLP_IMPORT_BAD_TARGET) CHECK_STR(o->why, "its position can't be understood");
    seen |= 1 << o->what;
  }
  CHECK_INT(seen, 1 << SLP_IMPORT_EXTRA | 1 << SLP_IMPORT_BAD_TARGET | 1 << SLP_IMPORT_FOREIGN);
  CHECK_INT(harmed.writes, 0);
  done();
}

/* A worker joins between the round that found nobody and the writes. */
static void w_joins(void) {
  worker("w", NULL);
  PUT("l/a", "owner=w." INCARNATION, "epoch#1", "pos=1:00277:0000000000"); /* made, and read on from */
  beats("w/w", 1000000);
}
static void w_joins_and_owns_d(void) {
  worker("w", NULL);
  PUT("l/d", "owner=w." INCARNATION, "epoch#1", "pos=0:oldest");
  beats("w/w", 1000000);
}

TEST(a_worker_that_begins_meanwhile_is_no_failure_when_all_is_there) {
  begin(LINEAGE);
  harmed.before_write = w_joins_and_owns_d;
  import(token_of(C_IS_READ), 1, 0);
  becomes("c", SLP_IMPORT_MADE, SLP_POSITION_AFTER, 0);
  done();
}

TEST(rows_that_a_worker_makes_meanwhile_are_in_the_way_and_the_others_counted) {
  begin("a b c d");
  static const char all[] =
      "\"active\": [\"a\", \"b\", \"c\", \"d\"], \"shards\": [{\"shard_id\": \"a\"}, "
      "{\"shard_id\": \"b\"}, {\"shard_id\": \"c\"}, {\"shard_id\": \"d\"}]";
  harmed.before_write = w_joins;
  import(token_of(all), 1, SLOOP_ELEASE);
  CHECK_STR(message(), "1 rows are in conflict: they appeared meanwhile; 3 of 4 positions are written");
  becomes("a", SLP_IMPORT_DIFFERS, SLP_POSITION_AT, 0);
  becomes("b", SLP_IMPORT_MADE, SLP_POSITION_OLDEST, 0);
  done();
}

TEST(rows_that_were_made_count_wherever_their_reader_has_got) {
  begin("a b");
  static const char both[] =
      "\"active\": [\"a\", \"b\"], \"shards\": [{\"shard_id\": \"a\"}, {\"shard_id\": \"b\"}]";
  harmed.before_list = w_joins;
  import(token_of(both), 1, 0);
  becomes("a", SLP_IMPORT_MADE, SLP_POSITION_OLDEST, 0);
  becomes("b", SLP_IMPORT_MADE, SLP_POSITION_OLDEST, 0);
  CHECK_STR(get("l/a", "pos"), "1:00277:0000000000");
  done();
}

/* The answers of all tries of two rows are lost, and none of them was made; then a worker is there. */
static void w_joins_and_two_fail(void) {
  worker("w", NULL);
  beats("w/w", 1000000);
  harmed.writes_fail = SLP_TRANSIENT;
  harmed.fails_n = 10;
}
static void the_second_on(void) { harmed.before_write = w_joins_and_two_fail; }

TEST(a_worker_that_is_found_after_some_writes_is_told_with_their_number) {
  begin("a b c");
  static const char all[] =
      "\"active\": [\"a\", \"b\", \"c\"], \"shards\": [{\"shard_id\": \"a\"}, "
      "{\"shard_id\": \"b\"}, {\"shard_id\": \"c\"}]";
  harmed.before_write = the_second_on;
  import(token_of(all), 1, SLOOP_ELEASE);
  CHECK_STR(message(), "worker w." INCARNATION
                       " is alive: stop it first; 1 of 3 positions are already written; run the same command "
                       "again to continue");
  becomes("a", SLP_IMPORT_MADE, SLP_POSITION_OLDEST, 0);
  becomes("b", SLP_IMPORT_SENT, SLP_POSITION_OLDEST, 0);
  slp_timer_clear(&f.h, &heart.timer);
  harmed.writes_fail = SLP_FINE;
  import(token_of(all), 1, 0);
  becomes("a", SLP_IMPORT_THERE, SLP_POSITION_OLDEST, 0);
  becomes("b", SLP_IMPORT_MADE, SLP_POSITION_OLDEST, 0);
  done();
}

TEST(a_worker_that_lives_and_one_that_does_not) {
  begin("a");
  static const char one[] = "\"active\": [\"a\"], \"shards\": [{\"shard_id\": \"a\"}]";
  worker("w", NULL);
  beats("w/w", 3600000);
  import(token_of(one), 1, SLOOP_EOWNED);
  CHECK_STR(message(), "worker w." INCARNATION " is alive: stop it first; nothing was written");
  CHECK_INT(harmed.writes, 0);
  slp_timer_clear(&f.h, &heart.timer);
  import(token_of(one), 1, 0);
  CHECK(took_us >= 10000000 && took_us < 14000000);
  CHECK_INT(harmed.writes, 1);
  done();
}

TEST(a_worker_that_has_left_is_not_waited_for) {
  begin("a");
  worker("w", "gone=w." INCARNATION);
  import(token_of("\"active\": [\"a\"], \"shards\": [{\"shard_id\": \"a\"}]"), 1, 0);
  CHECK(took_us < 1000000);
  done();
}

TEST(positions_that_a_layout_has_no_word_for) {
  static const char places[] =
      "\"active\": [\"a\", \"b\", \"c\", \"d\"], \"shards\": [{\"shard_id\": \"a\", \"iterator_type\": "
      "\"latest\"}, "
      "{\"shard_id\": \"b\", \"iterator_type\": \"at_sequence\", \"sequence_number\": \"42\"}, "
      "{\"shard_id\": \"c\", "
      "\"not_before\": \"1767225600000\"}, {\"shard_id\": \"d\", \"iterator_type\": \"at_sequence\", "
      "\"sequence_number\": \"42\", \"sub_sequence\": \"2\"}]";
  begin("a b c d");
  import(token_of(places), 0, 0);
  becomes("a", SLP_IMPORT_MISSING, SLP_POSITION_TIME, 0);
  becomes("b", SLP_IMPORT_MISSING, SLP_POSITION_AT, 0);
  becomes("c", SLP_IMPORT_MISSING, SLP_POSITION_TIME, 0);
  done();
  kcl = 1;
  begin("a b c d");
  import(token_of(places), 1, SLOOP_ELEASE);
  becomes("a", SLP_IMPORT_MISSING, SLP_POSITION_LATEST, 0);
  becomes("b", SLP_IMPORT_POSITION, SLP_POSITION_AT, 0);
  becomes("c", SLP_IMPORT_START, SLP_POSITION_TIME, 0);
  becomes("d", SLP_IMPORT_MISSING, SLP_POSITION_AT, 0); /* after sub-record 1 */
  CHECK_INT(harmed.writes, 0);
  done();
}

/* ---- surveys ------------------------------------------------------------------------------------------- */

static void survey(int code) {
  if (admin) over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_SURVEY}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, code);
}

/* The worker's next signs of life do not matter to a snapshot, which neither waits nor writes. */
TEST(a_snapshot_of_rows_whose_worker_lives) {
  begin("a b");
  worker("w", NULL);
  beats("w/w", 3600000);
  PUT("l/a", "epoch#3", "pos=1:00242:0000000004");
  survey(SLOOP_EOWNED);
  CHECK_STR(message(),
            "worker w." INCARNATION " is alive: stop it first, or take a snapshot; nothing was written");
  over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_SURVEY, .in_use = 1}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, 0);
  CHECK(took_us < 1000000);
  CHECK_INT(harmed.writes, 0);
  CHECK_INT(slp_admin_placed(admin)->n, 2);
  CHECK_INT(slp_admin_placed(admin)->all[0].position.kind, SLP_POSITION_AFTER);
  slp_timer_clear(&f.h, &heart.timer);
  done();
}

static void token_is(const char *want) {
  slp_buf text;
  slp_buf_init(&text, mem, 1 << 20);
  CHECK_INT(slp_placed_token(admin, &text), 0);
  CHECK_STR(slp_buf_z(&text), want);
  slp_buf_free(&text);
}

/* A child waits for each parent that is not read; ends are left out. */
TEST(rows_become_a_token) {
  begin("a! b! c<a,b d<c");
  PUT("l/a", "epoch#3", "pos=9:end");
  PUT("l/b", "epoch#3", "pos=1:00242:0000000004");
  survey(0);
  token_is(
      "{\"stream_arn\": \"orders\", \"active\": [\"b\"], \"shards\": [{\"shard_id\": \"b\", "
      "\"iterator_type\": "
      "\"after_sequence\", \"sequence_number\": \"42\", \"sub_sequence\": \"3\"}, {\"shard_id\": \"c\", "
      "\"parent\": "
      "\"b\"}, {\"shard_id\": \"d\", \"parent\": \"c\"}]}");
  PUT("l/b", "pos=9:end");
  PUT("l/c", "epoch#3", "pos=9:end");
  PUT("l/d", "epoch#3", "pos=9:end");
  survey(0);
  slp_buf text;
  slp_buf_init(&text, mem, 1 << 20);
  CHECK_INT(slp_placed_token(admin, &text), SLOOP_ELEASE);
  slp_buf_free(&text);
  done();
}

TEST(counters_that_move_are_alive) {
  kcl = 1;
  begin("a b");
  PUT("a", "leaseCounter#9", "checkpoint=SHARD_END",
      "leaseOwner=u1"); /* an ended one keeps its owner's name */
  PUT("b", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u2");
  survey(0);
  CHECK(took_us >= 10000000 && took_us < 11000000);
  token_is(
      "{\"stream_arn\": \"orders\", \"active\": [\"b\"], \"shards\": [{\"shard_id\": \"b\", "
      "\"iterator_type\": "
      "\"after_sequence\", \"sequence_number\": \"42\"}]}");
  PUT("b", "-leaseOwner");
  survey(0);
  CHECK(took_us < 1000000);
  done();
}

TEST(rules_that_change) {
  kcl = 1;
  begin("a");
  PUT("a", "leaseCounter#9", "checkpoint=TRIM_HORIZON");
  static const struct {
    const char *word;
    int survey, import;
  } words[] = {{"cv=CLIENT_VERSION_2X", 0, 0},
               {"cv=CLIENT_VERSION_UPGRADE_FROM_2X", SLOOP_ELEASE, SLOOP_ELEASE},
               {"cv=CLIENT_VERSION_3X", 0, 0},
               {"cv=CLIENT_VERSION_9X", SLOOP_ELEASE, SLOOP_ELEASE}};
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    PUT("Migration3.0", "entityType=COORDINATOR_STATE", words[i].word);
    survey(words[i].survey);
    import(token_of("\"active\": [\"a\"], \"shards\": [{\"shard_id\": \"a\"}]"), 1, words[i].import);
    CHECK_INT(harmed.writes, 0);
  }
  done();
}

static int tells_on;
static void tells(slp_timer *t) {
  char lut[40];
  snprintf(lut, sizeof lut, "lut#%lld", (long long)(slp_wall_ms(&f.h) / 1000));
  PUT("w.1", "entityType=WORKER_METRIC_STATS", lut);
  if (tells_on) CHECK_INT(slp_timer_set(&f.h, t, slp_now_us(&f.h) + 30000000), 0);
}

/* It has no lease whose counter would move: what it tells each half a minute is all there is of it. */
TEST(a_worker_of_kcl_3_without_a_lease) {
  static const char one[] = "\"active\": [\"a\"], \"shards\": [{\"shard_id\": \"a\"}]";
  slp_timer timer = {.at_us = UINT64_MAX, .run = tells};
  kcl = 1;
  begin("a");
  PUT("Migration3.0", "entityType=COORDINATOR_STATE", "cv=CLIENT_VERSION_3X");
  tells_on = 0;
  tells(&timer);
  import(token_of(one), 1, 0); /* it died just now */
  CHECK(took_us > 55000000 && took_us < 70000000);
  CHECK_INT(harmed.writes, 1);
  tells_on = 1;
  tells(&timer);
  import(token_of(one), 1, SLOOP_EOWNED);
  CHECK_STR(message(), "worker w.1 is alive: stop it first; nothing was written");
  CHECK_INT(harmed.writes, 1);
  survey(SLOOP_EOWNED);
  slp_timer_clear(&f.h, &timer);
  done();
}

TEST(no_memory_is_told) {
  static const char one[] = "\"active\": [\"a\"], \"shards\": [{\"shard_id\": \"a\"}]";
  int fine = 0;
  for (int64_t n = 0; !fine; n++) {
    begin("a b<a");
    memory.left = n;
    int r = ask(&(slp_admin_opts){.task = SLP_ADMIN_IMPORT, .token = token_of(one), .apply = 1});
    memory.left = -1;
    if (r == 0) {
      fine = slp_admin_fail(admin)->class == SLP_FINE;
      if (!fine) CHECK_INT(slp_admin_fail(admin)->class, SLP_NOMEM);
      over();
    }
    end();
    CHECK(n < 2000);
  }
}
