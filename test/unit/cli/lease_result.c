/* cli/lease_result.c: what an operator may change, and what becomes of it, from the rows to the words. Rows are looked
 * at by the test's own reads. */
#include "cli/lease_result.h"

#include "admin_table.h"

static const char *words(void) {
  static slp_buf b;
  static slp_mem *of_words;
  const sloop_admin_result_t *r = slp_admin_answered(admin)->result;
  if (!of_words) of_words = slp_mem_new(NULL, NULL);
  if (!b.mem) slp_buf_init(&b, of_words, 1 << 20);
  slp_buf_clear(&b);
  if (r) CHECK_INT(slp_lease_result(&b, slp_admin_fail(admin)->code, r), 0);
  return slp_buf_z(&b);
}

#define P "1:00242:0000000001"

static const slp_position oldest = {.kind = SLP_POSITION_OLDEST};

static void fails(int code, const char *text) {
  CHECK_INT(slp_admin_fail(admin)->code, code);
  CHECK_STR(message(), text);
}

static void says(const char *text) {
  CHECK_STR(message(), "");
  CHECK_STR(words(), text);
  over();
}

static void release(const char *name) {
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_RELEASE, .name = slp_str_of(name)}), 0);
}

static void reset(const char *shard, slp_position to, int force) {
  slp_admin_opts o = {.task = SLP_ADMIN_RESET, .name = slp_str_of(shard), .to = to, .force = (uint8_t)force};
  CHECK_INT(ask(&o), 0);
}

static void two(const char *shards) {
  begin(shards);
  worker("a", NULL);
  worker("b", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
}

static const char *so_far(const sloop_change_kind_t *kinds, size_t n, sloop_eviction_t eviction) {
  static char out[200];
  sloop_change_t all[4];
  const sloop_change_t *list[4];
  for (size_t i = 0; i < n; i++) {
    all[i] = (sloop_change_t){.shard = "s", .kind = kinds[i], .was_owner = ""};
    list[i] = &all[i];
  }
  sloop_admin_result_t r = {.changes = list, .changes_n = n, .eviction = eviction, .worker = "w"};
  slp_lease_done_so_far(&r, "set", out);
  return out;
}

TEST(what_is_done_so_far_is_counted) {
  static const sloop_change_kind_t some[] = {SLOOP_CHANGE_DONE, SLOOP_CHANGE_WAS_SO, SLOOP_CHANGE_CONFLICT,
                                             SLOOP_CHANGE_UNKNOWN};
  CHECK_STR(so_far(NULL, 0, SLOOP_EVICTION_NONE), "nothing was changed");
  CHECK_STR(so_far(some, 3, SLOOP_EVICTION_NONE),
            "2 of 3 leases are set; run the same command again to continue");
  CHECK_STR(so_far(some, 4, SLOOP_EVICTION_NONE),
            "2 of 4 leases are set, and 1 more may be; run the same command again to continue");
  CHECK_STR(so_far(NULL, 0, SLOOP_EVICTION_DONE), "the worker is evicted");
  CHECK_STR(so_far(some, 1, SLOOP_EVICTION_DONE), "the worker is evicted");
  char out[200];
  slp_lease_done_so_far(NULL, "set", out);
  CHECK_STR(out, "all, some or none of the change may be made; see --leases");
}

/* ---- releasing a lease --------------------------------------------------------------------------------- */

TEST(a_lease_that_is_nobodys_stays_so) {
  two("s1 s2!");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=9:end");
  release("s1");
  says("s1 already has no owner\n");
  release("s2");
  says("s2 was read to its end: there is nothing to release\n");
  CHECK_STR(get("l/s1", "epoch"), "5");
  CHECK_INT(harmed.writes, 0);
  end();
}

TEST(a_parked_lease_is_parked_no_more) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "park=a." INCARNATION, "avoid=b." INCARNATION, "lag#7", "theirs=stays");
  release("s1");
  says("s1: released, no longer parked; its position stays after 42\n");
  CHECK_STR(get("l/s1", "park"), "");
  CHECK_STR(get("l/s1", "avoid"), "");
  CHECK_STR(get("l/s1", "pos"), P);
  CHECK_STR(get("l/s1", "lag"), "7");
  CHECK_STR(get("l/s1", "epoch"), "6");
  CHECK_STR(get("l/s1", "theirs"), "stays");
  CHECK_STR(get("w/a", "pv"), "1"); /* the leader hears of it */
  CHECK_STR(get("w/b", "pv"), "");
  end();
}

TEST(a_dead_owner_loses_its_lease) {
  two("s1");
  PUT("w/b", "gone=a." INCARNATION);
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION, "claim=a." INCARNATION, "cv#9");
  release("s1");
  says("s1: released, taken from b." INCARNATION "; its position stays after 42\n");
  CHECK_STR(get("l/s1", "owner"), "");
  CHECK_STR(get("l/s1", "claim"), "");
  CHECK_STR(get("l/s1", "epoch"), "6");
  PUT("l/s1", "owner=b.fedcba9876543210"); /* a life before */
  release("s1");
  says("s1: released, taken from b.fedcba9876543210; its position stays after 42\n");
  PUT("l/s1", "owner=an operator's wish"); /* none of ours: it could never be evicted */
  release("s1");
  says("s1: released, taken from an operator's wish; its position stays after 42\n");
  CHECK(took_us < 100000);
  end();
}

TEST(a_living_owner_keeps_it) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  beats("w/b", 3600000);
  release("s1");
  fails(SLOOP_EOWNED, "s1 belongs to b." INCARNATION
                      ", which is alive: stop it, or release the worker; nothing was changed");
  CHECK(took_us < 6000000);
  over();
  CHECK_STR(get("l/s1", "owner"), "b." INCARNATION);
  CHECK_STR(get("l/s1", "epoch"), "5");
  CHECK_STR(get("w/b", "gone"), "");
  CHECK_INT(harmed.writes, 0);
  end();
}

/* By the command's own clock for a whole lease of the owner's, and by at least three reads; its stamps, an
 * hour old here, prove nothing. */
TEST(a_silent_owner_is_watched_for_a_whole_lease) {
  two("s1");
  PUT("w/b", "ts#1767320000000", "lease#20000");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  release("s1");
  CHECK(took_us >= 20000000 && took_us < 21000000);
  CHECK(harmed.lists >= 3);
  says("s1: released, taken from b." INCARNATION "; its position stays after 42\n");
  CHECK(strncmp(get("w/b", "gone"), "operator.", 9) == 0);
  CHECK_STR(get("w/b", "ctr"), "7");
  CHECK_STR(get("l/s1", "owner"), "");
  end();
}

/* A worker that may not have been heard because of trouble with the table gets a whole lease again. */
TEST(trouble_of_the_table_begins_the_watch_anew) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  harmed.list_fails = 4; /* at 7.5 s */
  release("s1");
  CHECK(took_us >= 17500000 && took_us < 20000000);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  end();
}

static void b_beats(void) { PUT("w/b", "ctr#8"); }

/* It beats between the last look and the write: the write's own condition saves it. */
TEST(an_owner_that_comes_back_at_the_last_moment) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  harmed.before_write = b_beats;
  release("s1");
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_EOWNED);
  over();
  CHECK_STR(get("w/b", "gone"), "");
  CHECK_STR(get("l/s1", "owner"), "b." INCARNATION);
  end();
}

TEST(an_owner_without_a_row_is_missed_for_a_whole_lease) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=c." INCARNATION);
  release("s1");
  CHECK(took_us >= 10000000 && took_us < 11000000);
  says("s1: released, taken from c." INCARNATION "; its position stays after 42\n");
  end();
}

TEST(a_write_that_got_no_answer_is_found_out) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "park=a." INCARNATION);
  harmed.no_answer = 1;
  release("s1");
  says("s1: released, no longer parked; its position stays after 42\n");
  CHECK_STR(get("l/s1", "epoch"), "6"); /* once */
  CHECK_STR(get("w/a", "pv"), "1");
  end();
}

TEST(a_missing_permission_is_named) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "park=a." INCARNATION);
  harmed.writes_fail = SLP_ACCESS;
  release("s1");
  fails(SLOOP_EACCESS, "no permission for dynamodb:UpdateItem");
  CHECK_STR(words(), "s1: not changed\n");
  over();
  release("b");
  fails(SLOOP_EACCESS, "no permission for dynamodb:UpdateItem");
  over();
  CHECK_STR(get("w/b", "gone"), "");
  end();
}

TEST(names_that_are_nobodys) {
  two("s1 s2");
  release("s9");
  fails(SLOOP_ENOWORKER, "there is no lease and no worker s9 of orders");
  over();
  release("shardId-000000000009");
  fails(SLOOP_ENOSHARD, "there is no lease and no worker shardId-000000000009 of orders");
  over();
  release("b.fedcba9876543210"); /* a life that is over */
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ENOWORKER);
  over();
  release("s1");
  says("s1 has no lease that can be read: there is nothing to release\n");
  end();
}

/* ---- releasing a worker -------------------------------------------------------------------------------- */

#define TILL_THEN                                                                                       \
  "if it is alive, it notices at its next heartbeat, within about 5000 ms, and registers again; until " \
  "then it may deliver records that others also read, and its checkpoints are refused\n"

TEST(a_worker_loses_all_it_has) {
  two("s1 s2 s3");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  PUT("l/s2", "epoch#5", "pos=" P, "owner=a." INCARNATION);
  PUT("l/s3", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  beats("w/b", 100000);
  release("b");
  says("worker b." INCARNATION
       " is evicted\ns1: free for other workers\ns3: free for other workers\n" TILL_THEN);
  CHECK(strncmp(get("w/b", "gone"), "operator.", 9) == 0);
  CHECK_STR(get("w/a", "gone"), "");
  CHECK_STR(get("w/a", "pv"), "1");
  CHECK_STR(get("l/s1", "owner"), "b." INCARNATION); /* its lease is taken by whoever is planned */
  CHECK_STR(get("l/s1", "epoch"), "5");
  release("b." INCARNATION);
  says("worker b." INCARNATION
       " was evicted already\ns1: free for other workers\ns3: free for other workers\n");
  PUT("w/b", "st=leave");
  PUT("l/s1", "-owner");
  PUT("l/s3", "-owner");
  release("b");
  says("worker b." INCARNATION " has left already\nit had no lease\n");
  end();
}

TEST(a_worker_is_declared_dead_though_nobody_answers) {
  two("s1");
  harmed.no_answer = 1;
  release("b." INCARNATION);
  says("worker b." INCARNATION " is evicted\nit had no lease\n" TILL_THEN);
  CHECK(strncmp(get("w/b", "gone"), "operator.", 9) == 0);
  CHECK_STR(get("w/a", "pv"), "1");
  end();
}

static void b_is_reborn(void) {
  PUT("w/b", "boot=fedcba9876543210");
  PUT("l/s1", "epoch#6", "owner=b.fedcba9876543210");
}

TEST(a_worker_that_no_write_reaches_stays_alive_and_that_is_said) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  harmed.writes_fail = SLP_TRANSIENT;
  release("b");
  fails(SLOOP_ELEASE, "worker b could not be evicted");
  over();
  CHECK_STR(get("w/b", "gone"), "");
  CHECK_STR(get("l/s1", "owner"), "b." INCARNATION);
  end();
}

TEST(only_the_life_that_was_meant) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  harmed.before_write = b_is_reborn;
  release("b"); /* that life had a lease, whoever has it by now */
  says("worker b." INCARNATION " is evicted\ns1: free for other workers\n" TILL_THEN);
  CHECK_STR(get("w/b", "gone"), "");
  end();
}

/* ---- setting positions --------------------------------------------------------------------------------- */

TEST(all_begin_again) {
  two("s0! s1<s0! s2<s1 s5");
  PUT("w/b", "gone=b." INCARNATION, "st=leave");
  PUT("l/old", "epoch#9", "pos=9:end");
  PUT("l/s0", "epoch#1", "pos=9:end");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION, "lag#5");
  PUT("l/s2", "epoch#3", "pos=" P, "park=b." INCARNATION);
  PUT("l/s3", "epoch#3", "pos=never");
  reset(NULL, oldest, 0);
  says(
      "s0: set to oldest; it was at end\n"
      "s1: set to oldest; it was at after 42\n"
      "s2: set to oldest; it was at after 42\n"
      "1 leases of shards that are no longer listed were not changed\n"
      "1 listed shards have no lease that can be read; a missing one is created with the application's "
      "starting position\n"
      "1 rows are invalid and were ignored\n");
  const char *const rows[] = {"l/s0", "l/s1", "l/s2"}, *const epochs[] = {"2", "6", "4"};
  for (int i = 0; i < 3; i++) {
    CHECK_STR(get(rows[i], "pos"), "0:oldest");
    CHECK_STR(get(rows[i], "epoch"), epochs[i]);
    CHECK_STR(get(rows[i], "owner"), "");
    CHECK_STR(get(rows[i], "park"), "");
    CHECK_STR(get(rows[i], "lag"), "");
  }
  CHECK_STR(get("l/old", "pos"), "9:end");
  CHECK_STR(get("l/s3", "pos"), "never");
  CHECK_STR(get("w/a", "pv"), "1");
  CHECK(took_us < 100000);
  reset(NULL, oldest, 0);
  CHECK(strstr(words(), "s1: no change was needed\n"));
  over();
  CHECK_STR(get("l/s1", "epoch"), "6");
  end();
}

/* The latest is a moment: closed shards whose children have leases have nothing behind it. */
TEST(the_latest_is_now) {
  two("s0! s1<s0 s2! s3<s2 s4!");
  PUT("l/s0", "epoch#1", "pos=0:oldest");
  PUT("l/s1", "epoch#1", "pos=0:oldest");
  PUT("l/s2", "epoch#1", "pos=0:oldest"); /* s3 has no row */
  PUT("l/s4", "epoch#1", "pos=9:end");    /* no children */
  reset(NULL, (slp_position){.kind = SLP_POSITION_LATEST}, 0);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  CHECK_STR(get("l/s0", "pos"), "9:end");
  CHECK_STR(get("l/s1", "pos"), get("l/s2", "pos"));
  CHECK_STR(get("l/s1", "pos"), get("l/s4", "pos"));
  char now[40];
  snprintf(now, sizeof now, "0:time:%lld", (long long)NOW);
  CHECK(strncmp(get("l/s1", "pos"), now, strlen(now) - 3) == 0);
  end();
}

TEST(one_to_a_time_or_a_record) {
  two("s0! s1<s0 s2<s1");
  PUT("l/s0", "epoch#1", "pos=" P);
  PUT("l/s1", "epoch#1", "pos=9:end", "parents+s0");
  PUT("l/s2", "epoch#1", "pos=" P, "parents+s1", "owner=a." INCARNATION);
  reset("s1", (slp_position){.kind = SLP_POSITION_TIME, .at_ms = 1700000000123}, 0);
  says(
      "s1: set to time:1700000000123; it was at end\n"
      "its parent s0 is not read to its end: it comes first\n"
      "its child s2 is not reset: it is read at the same time, from its own position\n");
  CHECK_STR(get("l/s1", "pos"), "0:time:1700000000123");
  CHECK_STR(get("l/s0", "pos"), P);
  slp_position at = {.kind = SLP_POSITION_AT};
  slp_mark_set(&at.mark, SLP_STR("4711"), 3, -1);
  reset("s1", at, 0);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  CHECK_STR(get("l/s1", "pos"), "1:0044711:0000000003");
  end();
}

TEST(what_is_not_there_is_not_set) {
  two("s1");
  PUT("l/s2", "epoch#1", "pos=" P);
  reset("s1", oldest, 0);
  fails(SLOOP_ENOSHARD, "there is no lease of s1 that can be read");
  over();
  reset("s2", oldest, 1);
  fails(SLOOP_ENOSHARD, "orders no longer lists s2: it can't be read");
  over();
  reset("s3", oldest, 0);
  fails(SLOOP_ENOSHARD, "there is no lease of s3");
  over();
  end();
  two("s1");
  reset(NULL, oldest, 1);
  fails(SLOOP_ENOSHARD, "this application has no leases of orders");
  over();
  end();
}

TEST(one_living_owner_and_nothing_is_set) {
  two("s1 s2 s3");
  worker("c", NULL);
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  PUT("l/s3", "epoch#5", "pos=" P, "owner=c." INCARNATION); /* silent: but one is enough */
  beats("w/b", 3600000);
  reset(NULL, oldest, 0);
  fails(SLOOP_EOWNED,
        "s2 belongs to b." INCARNATION ", which is alive: stop it, or use force; nothing was changed");
  CHECK_STR(words(), "");
  over();
  CHECK_INT(harmed.writes, 0);
  end();
}

TEST(force_declares_the_living_dead_first) {
  two("s1 s2 s3");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=a." INCARNATION);
  PUT("l/s2", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  PUT("l/s3", "epoch#5", "pos=" P, "owner=c." INCARNATION); /* without a row: it finds out */
  beats("w/b", 100000);
  reset("s2", oldest, 1);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  CHECK(strncmp(get("w/b", "gone"), "operator.", 9) == 0);
  CHECK_STR(get("w/a", "gone"), "");
  CHECK_STR(get("l/s2", "pos"), "0:oldest");
  CHECK_STR(get("l/s1", "pos"), P);
  reset(NULL, oldest, 1);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  CHECK(took_us < 3000000);
  over();
  CHECK(strncmp(get("w/a", "gone"), "operator.", 9) == 0);
  for (int i = 0; i < 3; i++) {
    const char *const rows[] = {"l/s1", "l/s2", "l/s3"};
    CHECK_STR(get(rows[i], "pos"), "0:oldest");
    CHECK_STR(get(rows[i], "owner"), "");
    CHECK_STR(get(rows[i], "epoch"), "6");
  }
  end();
}

static int thefts;
static void a_takes(void) {
  PUT("l/s1", "owner=a." INCARNATION, "epoch#6");
  if (--thefts > 0) harmed.before_write = a_takes;
}

/* Somebody takes it between the look and the write: its condition refuses, and the next round knows. */
TEST(a_lease_taken_meanwhile) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=" P);
  beats("w/a", 1000000);
  thefts = 1;
  harmed.before_write = a_takes;
  reset(NULL, oldest, 0);
  fails(SLOOP_ELEASE, "1 of 2 leases could not be changed");
  CHECK_STR(words(),
            "s1: not changed: a worker has taken it in the meantime\n"
            "s2: set to oldest; it was at after 42\n");
  over();
  CHECK_STR(get("l/s1", "pos"), P);
  CHECK_STR(get("l/s1", "owner"), "a." INCARNATION);
  PUT("l/s1", "-owner", "epoch#5");
  harmed.before_write = a_takes;
  reset(NULL, oldest, 1);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  CHECK_STR(get("l/s1", "pos"), "0:oldest");
  CHECK_STR(get("l/s1", "epoch"), "7");
  CHECK(strncmp(get("w/a", "gone"), "operator.", 9) == 0);
  end();
}

/* More leases and more owners than are written at once, and some answers lost. */
TEST(many) {
  static char shards[60 * 5];
  char row[20], owner[40];
  for (int i = 0; i < 50; i++) sprintf(shards + strlen(shards), "%ss%02d", i ? " " : "", i);
  begin("");
  for (int i = 0; i < 50; i++) {
    snprintf(row, sizeof row, "l/s%02d", i);
    snprintf(owner, sizeof owner, "owner=w%02d." INCARNATION, i % 25);
    PUT(row, "epoch#5", owner, "pos=" P);
    snprintf(row, sizeof row, "w%02d", i % 25);
    if (i < 25) worker(row, NULL);
  }
  stream.shards = shards;
  harmed.no_answer = 20;
  reset(NULL, oldest, 1);
  CHECK_STR(message(), "");
  over();
  for (int i = 0; i < 50; i++) {
    snprintf(row, sizeof row, "l/s%02d", i);
    CHECK_STR(get(row, "pos"), "0:oldest");
    CHECK_STR(get(row, "epoch"), "6");
    CHECK_STR(get(row, "owner"), "");
  }
  end();
}

/* ---- leases with counters ------------------------------------------------------------------------------ */

static void counters(const char *shards) {
  kcl = 1;
  begin(shards);
  PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  PUT("s2", "leaseCounter#2", "checkpoint=TRIM_HORIZON", "leaseOwner=u2");
  PUT("s3", "leaseCounter#4", "checkpoint=SHARD_END", "leaseOwner=u1");
}

TEST(counters_that_stand_still_for_a_lease_are_taken) {
  counters("s1 s2 s3!");
  release("s1");
  CHECK(took_us >= 10000000 && took_us < 11000000);
  says("s1: released, taken from u1; its position stays after 42\n");
  CHECK_STR(get("s1", "leaseOwner"), "");
  CHECK_STR(get("s1", "leaseCounter"), "10");
  CHECK_STR(get("s1", "checkpoint"), "42");
  release("u2"); /* a worker that is named is not waited for */
  CHECK(took_us < 1000000);
  says("s2: released, taken from u2; its position stays oldest\n");
  CHECK_STR(get("s2", "leaseOwner"), "");
  CHECK_STR(get("s2", "checkpoint"), "TRIM_HORIZON");
  release("u1"); /* has only one that is ended */
  CHECK_INT(slp_admin_fail(admin)->code, SLOOP_ENOWORKER);
  over();
  CHECK_STR(get("s3", "leaseCounter"), "4");
  end();
}

static void s1_renewed(slp_timer *t) {
  (void)t;
  PUT("s1", "leaseCounter#10");
}

TEST(counters_that_move_are_alive) {
  counters("s1 s2 s3!");
  heart.timer = (slp_timer){.at_us = UINT64_MAX, .run = s1_renewed};
  CHECK_INT(slp_timer_set(&f.h, &heart.timer, slp_now_us(&f.h) + 3000000), 0);
  reset(NULL, oldest, 0);
  fails(SLOOP_EOWNED, "s1 belongs to u1, which is alive: stop it, or use force; nothing was changed");
  over();
  CHECK_INT(slp_timer_set(&f.h, &heart.timer, slp_now_us(&f.h) + 3000000), 0);
  PUT("s1", "leaseCounter#9");
  release("s1");
  fails(SLOOP_EOWNED,
        "s1 belongs to u1, which is alive: stop it, or release the worker; nothing was changed");
  over();
  CHECK_INT(harmed.writes, 0);
  CHECK_STR(get("s1", "leaseOwner"), "u1");
  reset(NULL, oldest, 0); /* now they are still */
  CHECK(took_us >= 10000000 && took_us < 11000000);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  const char *const rows[] = {"s1", "s2", "s3"}, *const epochs[] = {"11", "3", "5"};
  for (int i = 0; i < 3; i++) {
    CHECK_STR(get(rows[i], "checkpoint"), "TRIM_HORIZON");
    CHECK_STR(get(rows[i], "leaseCounter"), epochs[i]);
    CHECK_STR(get(rows[i], "leaseOwner"), "");
  }
  end();
}

TEST(words_that_rows_of_counters_have) {
  counters("s1 s2 s3!");
  reset(NULL, (slp_position){.kind = SLP_POSITION_LATEST}, 1);
  CHECK_INT(slp_admin_fail(admin)->class, SLP_FINE);
  over();
  CHECK_STR(get("s1", "checkpoint"), "LATEST");
  reset("s1", (slp_position){.kind = SLP_POSITION_TIME, .at_ms = 5}, 1);
  fails(SLOOP_EOPTION, "rows of schema kcl store no times");
  over();
  slp_position at = {.kind = SLP_POSITION_AT};
  slp_mark_set(&at.mark, SLP_STR("4711"), 0, -1);
  reset("s1", at, 1);
  fails(SLOOP_ELEASE, "1 of 1 leases could not be changed");
  CHECK_STR(words(), "s1: not changed: rows of this layout can't store that position\n");
  over();
  CHECK_STR(get("s1", "checkpoint"), "LATEST");
  end();
}
