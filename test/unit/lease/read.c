/* Reads that fail: told of when that lasts, ever more seldom, each kind by itself. */
#include "lease/fleet_inside.h"

#include "check.h"

#include <errno.h>

static int told;
static char last[512];

static void on_event(void *arg, const slp_fleet_event *ev) {
  (void)arg;
  CHECK_INT(ev->kind, SLP_FLEET_TROUBLE);
  snprintf(last, sizeof last, "%.*s", (int)ev->text.n, ev->text.p);
  told++;
}

static slp_fleet f;

static slp_read a_read(const char *of) {
  slp_read r;
  f.o.on_event = on_event;
  f.stats.heartbeats = 1; /* it has joined */
  slp_read_init(&r, &f, of, 3);
  return r;
}

static slp_fail refused(void) {
  slp_fail fail;
  memset(&fail, 0, sizeof fail);
  slp_fail_set(&fail, SLP_ACCESS, SLP_EINVAL, "no permission for dynamodb:Query");
  return fail;
}

/* Where a table grants several requests a second many rows fit into each of them. */
TEST(rows_asked_for_at_once_follow_the_gap) {
  static const struct row {
    uint64_t gap_us;
    size_t most;
  } table[] = {{0, 100}, {100000, 100}, {200000, 25}, {500000, 4}, {1000000, 1}, {5000000, 1}};
  for (size_t i = 0; i < SLP_COUNT(table); i++) {
    f.reads.gate.gap_us = table[i].gap_us;
    CHECK_INT(slp_reads_at_once(&f, 100), table[i].most);
  }
  f.reads.gate.gap_us = 0;
}

TEST(what_comes_is_not_told_of) {
  slp_read r = a_read("leases");
  slp_fail fine = {.class = SLP_FINE};
  for (int i = 0; i < 10; i++) CHECK(slp_read_count(&r, &fine));
  CHECK_INT(told, 0);
}

TEST(what_fails_is_told_of_ever_more_seldom_and_by_name) {
  slp_read r = a_read("the whole fleet");
  slp_fail fail = refused();
  for (int i = 0; i < 3; i++) CHECK(!slp_read_count(&r, &fail));
  CHECK_INT(told, 0);
  for (int i = 3; i < 100; i++) slp_read_count(&r, &fail);
  CHECK_INT(told, 5); /* at 4, 8, 16, 32, 64 */
  CHECK(strstr(last, "the whole fleet in the lease table failed 64 times"));
  CHECK(strstr(last, "no permission for dynamodb:Query"));
}

TEST(what_waiting_will_not_mend_is_told_at_once_to_who_has_not_joined) {
  slp_read mine = a_read("this worker's own row"), leader = a_read("the leader");
  slp_fail fail = refused(), slow = refused();
  slp_fail_set(&slow, SLP_TRANSIENT, SLP_EINVAL, "no answer");
  f.stats.heartbeats = 0;
  slp_read_count(&mine, &slow);
  CHECK_INT(told, 0);
  slp_read_count(&leader, &fail);
  CHECK_INT(told, 1);
  CHECK(strstr(last, "failed 1 time: no permission"));
}

TEST(a_disk_that_fails_and_threads_that_are_not_free_are_told_at_once) {
  slp_read r = a_read("leases");
  slp_fail fail = refused();
  slp_fail_set(&fail, SLP_TRANSIENT, -EIO, "lease file l has not answered for 5 s");
  for (int i = 0; i < 5; i++) slp_read_count(&r, &fail);
  CHECK_INT(told, 2); /* at 1 and 4 */
  CHECK(strstr(last, "lease file l has not answered for 5 s"));
  slp_read none = a_read("leases");
  slp_fail_set(&fail, SLP_TRANSIENT, -EAGAIN, "lease file l: no thread of libuv's pool was free for 5 s");
  for (int i = 0; i < 5; i++) slp_read_count(&none, &fail);
  CHECK_INT(told, 4);
}

TEST(each_read_counts_by_itself_and_from_the_last_that_came) {
  slp_read mine = a_read("this worker's own row"), leader = a_read("the leader"), other = a_read("leases");
  slp_fail fail = refused(), fine = {.class = SLP_FINE};
  for (int i = 0; i < 20; i++) {
    slp_read_count(&mine, &fail);
    slp_read_count(&leader, &fine);
    if (i % 3 == 2) slp_read_count(&mine, &fine);
    if (i < 3) slp_read_count(&other, &fail);
  }
  CHECK_INT(told, 0);
}

/* A list whose pages bring nothing takes eight seconds to be given up. */
TEST(a_long_answer_that_makes_no_sense_is_told_of_the_first_time) {
  for (int slow = 0; slow < 2; slow++) {
    for (int sense = 0; sense < 2; sense++) {
      slp_read r = a_read("all leases");
      slp_fail fail = refused();
      slp_fail_set(&fail, SLP_TRANSIENT, sense ? SLP_ETIMEDOUT : SLOOP_EPROTO, "there is always a next one");
      told = 0;
      r.rq = &r.list.rq;
      r.rq->sent_us = 1000000;
      r.rq->done_us = slow ? 6000000 : 5999999;
      CHECK(!slp_read_count(&r, &fail));
      CHECK_INT(told, slow && !sense);
      for (int i = 1; i < 8; i++) slp_read_count(&r, &fail);
      CHECK_INT(told, (slow && !sense) + 2); /* and then at 4 and 8 */
      CHECK(strstr(last, "all leases in the lease table failed 8 times: there is always a next one"));
    }
  }
}

/* One read may ask for a row and then for a list, or for one table after the other, and begins again with the
 * first when the last fails. */
TEST(a_question_that_fails_is_told_of_though_those_before_it_are_answered) {
  for (int tables = 0; tables < 2; tables++) {
    slp_read r = a_read("the row of leadership");
    slp_fail fail = refused(), fine = {.class = SLP_FINE};
    told = 0;
    for (int i = 0; i < 8; i++) {
      r.rq = tables ? &r.list.rq : &r.get.rq;
      r.rq->table = (uint8_t)tables;
      CHECK(slp_read_count(&r, &fine));
      r.rq = &r.list.rq;
      r.rq->table = 0;
      CHECK(!slp_read_count(&r, &fail));
    }
    CHECK_INT(told, 2); /* at 4 and 8 */
    CHECK(slp_read_count(&r, &fine));
    CHECK_INT(r.failed, 0);
  }
}
