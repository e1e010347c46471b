/* admin/edits.c, release_lease.c, reset.c, owner_watch.c: what became of each lease, as data. The rows, and the words:
 * cli/lease_result.c. */
#include "admin_table.h"

#define P "1:00242:0000000001"

static const slp_position oldest = {.kind = SLP_POSITION_OLDEST};
static const sloop_admin_result_t *r;

static void answered_with(int code) {
  CHECK_INT(slp_admin_fail(admin)->code, code);
  r = slp_admin_answered(admin)->result;
  CHECK(!slp_admin_answered(admin)->leases && !slp_admin_answered(admin)->explanation);
}

static void release(const char *name, int code) {
  if (admin) over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_RELEASE, .name = slp_str_of(name)}), 0);
  answered_with(code);
}

static void reset(const char *shard, slp_position to, int force, int code) {
  slp_admin_opts o = {.task = SLP_ADMIN_RESET, .name = slp_str_of(shard), .to = to, .force = (uint8_t)force};
  if (admin) over();
  CHECK_INT(ask(&o), 0);
  answered_with(code);
}

static const sloop_change_t *change(size_t at, const char *shard, sloop_change_kind_t kind) {
  CHECK(r && at < r->changes_n);
  CHECK_STR(r->changes[at]->shard, shard);
  CHECK_INT(r->changes[at]->kind, kind);
  return r->changes[at];
}

static void two(const char *shards) {
  begin(shards);
  worker("a", NULL);
  worker("b", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
}

static void done(void) {
  over();
  end();
}

TEST(nothing_to_release) {
  two("s1 s2! s3");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=9:end");
  release("s1", 0);
  change(0, "s1", SLOOP_CHANGE_UNOWNED);
  release("s2", 0);
  change(0, "s2", SLOOP_CHANGE_ENDED);
  release("s3", 0);
  change(0, "s3", SLOOP_CHANGE_NO_LEASE);
  CHECK(r->changes_n == 1 && r->eviction == SLOOP_EVICTION_NONE && harmed.writes == 0);
  release("s9", SLOOP_ENOWORKER);
  CHECK(!r);
  done();
}

TEST(a_lease_is_released) {
  two("s1");
  PUT("w/b", "gone=a." INCARNATION);
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION, "park=a." INCARNATION);
  release("s1", 0);
  const sloop_change_t *c = change(0, "s1", SLOOP_CHANGE_DONE);
  CHECK(c->to.kind == 0 && c->was.kind == SLOOP_AFTER_SEQ && c->was_parked);
  CHECK_STR(c->was.seq, "42");
  CHECK_STR(c->was_owner, "b." INCARNATION);
  done();
}

TEST(a_living_owner_and_there_is_no_result) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  beats("w/b", 3600000);
  release("s1", SLOOP_EOWNED);
  CHECK(!r && harmed.writes == 0);
  reset("s1", oldest, 1, 0); /* by force */
  CHECK_STR(change(0, "s1", SLOOP_CHANGE_DONE)->was_owner, "b." INCARNATION);
  done();
}

TEST(a_worker_is_evicted_once) {
  two("s1 s2 s3");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  PUT("l/s2", "epoch#5", "pos=" P, "owner=a." INCARNATION);
  PUT("l/s3", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  PUT("w/b", "lease#8000");
  release("b", 0);
  CHECK_INT(r->eviction, SLOOP_EVICTION_DONE);
  CHECK_STR(r->worker, "b." INCARNATION);
  CHECK_INT(r->worker_lease_ms, 8000);
  change(0, "s1", SLOOP_CHANGE_FREE);
  change(1, "s3", SLOOP_CHANGE_FREE);
  CHECK_INT(r->changes_n, 2);
  release("b." INCARNATION, 0);
  CHECK(r->eviction == SLOOP_EVICTION_WAS_SO && r->changes_n == 2);
  PUT("w/b", "st=leave");
  PUT("l/s1", "-owner");
  PUT("l/s3", "-owner");
  release("b", 0);
  CHECK(r->eviction == SLOOP_EVICTION_HAD_LEFT && r->changes_n == 0);
  done();
}

TEST(all_are_reset_and_what_is_left_alone_is_counted) {
  two("s0! s1<s0 s2<s1 s5");
  PUT("l/old", "epoch#9", "pos=9:end");
  PUT("l/s0", "epoch#1", "pos=9:end");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#3", "pos=0:oldest");
  PUT("l/s3", "epoch#3", "pos=never");
  reset(NULL, oldest, 0, 0);
  CHECK_INT(r->changes_n, 3);
  CHECK_INT(change(0, "s0", SLOOP_CHANGE_DONE)->was.kind, SLOOP_AT_END);
  CHECK_INT(change(1, "s1", SLOOP_CHANGE_DONE)->to.kind, SLOOP_OLDEST);
  CHECK_INT(change(2, "s2", SLOOP_CHANGE_WAS_SO)->was.kind, 0);
  CHECK(r->unlisted_n == 1 && r->missing_n == 1 && r->bad_rows_n == 1);
  done();
}

TEST(a_lease_under_another_key_is_reset) {
  two("shardId-000000000002 shardId-000000000000");
  PUT("lead", "epoch#3", "start=0:oldest", "fmt#2", "keys#16", "block#2");
  PUT("+1/s/shardId-000000000002", "epoch#5", "pos=" P);
  reset("shardId-000000000002", oldest, 0, 0);
  CHECK_INT(change(0, "shardId-000000000002", SLOOP_CHANGE_DONE)->to.kind, SLOOP_OLDEST);
  CHECK_STR(get("+1/s/shardId-000000000002", "pos"), "0:oldest");
  CHECK_STR(get("+1/s/shardId-000000000002", "epoch"), "6");
  CHECK_STR(get("l/shardId-000000000002", "pos"), "");
  done();
}

TEST(one_is_reset_and_its_relatives_are_named) {
  two("s0! s1<s0 s2<s1 s3<s1");
  PUT("l/s0", "epoch#1", "pos=" P);
  PUT("l/s1", "epoch#1", "pos=9:end", "parents+s0");
  PUT("l/s2", "epoch#1", "pos=" P, "parents+s1");
  PUT("l/s3", "epoch#1", "pos=0:oldest", "parents+s1"); /* has not begun */
  reset("s1", (slp_position){.kind = SLP_POSITION_TIME, .at_ms = 1700000000123}, 0, 0);
  const sloop_change_t *c = change(0, "s1", SLOOP_CHANGE_DONE);
  CHECK(c->to.kind == SLOOP_AT_TIME && c->to.at_ms == 1700000000123);
  CHECK(r->unfinished_parents_n == 1 && r->children_ahead_n == 1);
  CHECK_STR(r->unfinished_parents[0], "s0");
  CHECK_STR(r->children_ahead[0], "s2");
  done();
}

static int thefts;
static void a_takes(void) {
  PUT("l/s1", "owner=a." INCARNATION, "epoch#6");
  if (--thefts > 0) harmed.before_write = a_takes;
}

TEST(what_was_not_changed_comes_first_beside_the_failure) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=" P);
  beats("w/a", 1000000);
  thefts = 1;
  harmed.before_write = a_takes;
  reset(NULL, oldest, 0, SLOOP_ELEASE);
  change(0, "s1", SLOOP_CHANGE_TAKEN);
  change(1, "s2", SLOOP_CHANGE_DONE);
  done();
  two("s0 s1");
  PUT("l/s0", "epoch#5", "pos=" P);
  PUT("l/s1", "epoch#5", "pos=" P);
  harmed.writes_fail = SLP_ACCESS;
  reset(NULL, oldest, 0, SLOOP_EACCESS);
  change(0, "s0", SLOOP_CHANGE_CONFLICT);
  change(1, "s1", SLOOP_CHANGE_CONFLICT);
  done();
}

static void lists_fail(void) { harmed.lists_fail = SLP_ACCESS; }

TEST(what_was_done_before_the_rows_can_t_be_read_any_more_is_told) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=" P);
  harmed.silent_row = "s1";
  harmed.before_list = lists_fail;
  reset(NULL, oldest, 0, SLOOP_EACCESS);
  change(0, "s1", SLOOP_CHANGE_UNKNOWN);
  change(1, "s2", SLOOP_CHANGE_DONE);
  done();
}

static void a_takes_what_was_set(void) { PUT("l/s1", "owner=a." INCARNATION, "epoch#7"); }

TEST(a_write_without_an_answer_is_not_called_undone_because_a_worker_has_the_lease_then) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P);
  beats("w/a", 1000000);
  harmed.silent_row = "s1"; /* it is written */
  harmed.before_list = a_takes_what_was_set;
  reset("s1", oldest, 0, SLOOP_ELEASE);
  change(0, "s1", SLOOP_CHANGE_UNKNOWN);
  CHECK_INT(slp_admin_reason_of(admin).unknown, 1);
  over();
  CHECK_STR(get("l/s1", "pos"), "0:oldest");
  end();
}

static void b_takes(void) { PUT("l/s1", "owner=b." INCARNATION, "epoch#6", "pos=0:time:17"); }

TEST(an_owner_that_came_before_the_write_that_was_done_is_told) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P);
  harmed.before_write = b_takes;
  reset("s1", oldest, 1, 0);
  const sloop_change_t *c = change(0, "s1", SLOOP_CHANGE_DONE);
  CHECK_STR(c->was_owner, "b." INCARNATION);
  CHECK(c->was.kind == SLOOP_AT_TIME && c->was.at_ms == 17);
  done();
}

static void b_sets_it_so(void) { PUT("l/s1", "epoch#7", "pos=0:oldest"); }

TEST(what_has_become_so_by_itself_is_not_told_as_done) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P);
  harmed.before_write = b_sets_it_so;
  reset("s1", oldest, 0, 0);
  change(0, "s1", SLOOP_CHANGE_WAS_SO);
  done();
}

TEST(an_eviction_that_is_done_is_told_beside_what_failed_then) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "owner=b." INCARNATION);
  harmed.before_list = lists_fail;
  release("b", SLOOP_EACCESS);
  CHECK(r && r->eviction == SLOOP_EVICTION_DONE);
  change(0, "s1", SLOOP_CHANGE_FREE);
  done();
}

static void s2_goes(void) { PUT("l/s2", "pos=nowhere", "epoch#6"); }

TEST(a_row_that_can_t_be_read_any_more) {
  two("s1 s2");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=" P);
  harmed.before_write = s2_goes;
  reset(NULL, oldest, 0, SLOOP_ELEASE);
  change(0, "s2", SLOOP_CHANGE_NO_ROW);
  change(1, "s1", SLOOP_CHANGE_DONE);
  done();
}

TEST(the_service_is_asked_for_a_number_before_anything_is_written) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P);
  slp_position at = {.kind = SLP_POSITION_AT};
  slp_mark_set(&at.mark, SLP_STR("1"), 0, -1);
  reset("s1", at, 0, SLOOP_EPOSITION);
  CHECK(!r && harmed.writes == 0);
  CHECK(slp_admin_reason_of(admin).reason == SLP_ADMIN_REFUSED_POSITION);
  CHECK(slp_str_is(slp_admin_reason_of(admin).name, "s1"));
  reset("s1", at, 1, SLOOP_EPOSITION); /* nor by force */
  CHECK(harmed.writes == 0);
  over();
  CHECK_STR(get("l/s1", "pos"), P);
  stream.locate_fails = 2; /* what passes is asked again */
  slp_mark_set(&at.mark, SLP_STR("4711"), 0, -1);
  reset("s1", at, 0, 0);
  over();
  CHECK_STR(get("l/s1", "pos"), "1:0044711:0000000000");
  end();
}

TEST(a_note_that_the_service_refused_is_taken_off) {
  two("s1");
  PUT("l/s1", "epoch#5", "pos=" P, "refused=3:1000:42");
  release("s1", 0);
  change(0, "s1", SLOOP_CHANGE_DONE);
  over();
  CHECK_STR(get("l/s1", "refused"), "");
  CHECK_STR(get("l/s1", "pos"), P);
  end();
}

TEST(a_position_that_rows_can_t_hold) {
  kcl = 1;
  begin("s1");
  PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  slp_position at = {.kind = SLP_POSITION_AT};
  slp_mark_set(&at.mark, SLP_STR("4711"), 0, -1);
  reset("s1", at, 1, SLOOP_ELEASE);
  CHECK_STR(change(0, "s1", SLOOP_CHANGE_POSITION)->to.seq, "4711");
  release("u1", 0);
  CHECK_STR(change(0, "s1", SLOOP_CHANGE_DONE)->was_owner, "u1");
  done();
}
