/* Reads that fail: told of when that lasts, ever more seldom, each kind by itself. */
#include "lease/fleet_inside.h"

#include "check.h"

static int told;
static char last[512];

static void on_event(void *arg, const slp_fleet_event *ev) {
  (void)arg;
  CHECK_INT(ev->kind, SLP_FLEET_TROUBLE);
  snprintf(last, sizeof last, "%.*s", (int)ev->text.n, ev->text.p);
  told++;
}

static slp_fleet fleet(void) {
  slp_fleet f;
  memset(&f, 0, sizeof f);
  f.o.on_event = on_event;
  f.stats.heartbeats = 1; /* it has joined */
  return f;
}

static slp_store_req refused(void) {
  slp_store_req rq;
  memset(&rq, 0, sizeof rq);
  slp_fail_set(&rq.fail, SLP_ACCESS, SLP_EINVAL, "no permission for dynamodb:Query");
  return rq;
}

TEST(what_comes_is_not_told_of) {
  slp_fleet f = fleet();
  slp_store_req rq = {.fail = {.class = SLP_FINE}};
  for (int i = 0; i < 10; i++) CHECK(slp_read_came(&f, SLP_READ_SNAPSHOT, &rq));
  CHECK_INT(told, 0);
}

TEST(what_fails_is_told_of_ever_more_seldom_and_by_name) {
  slp_fleet f = fleet();
  slp_store_req rq = refused();
  for (int i = 0; i < 3; i++) CHECK(!slp_read_came(&f, SLP_READ_SNAPSHOT, &rq));
  CHECK_INT(told, 0);
  for (int i = 3; i < 100; i++) slp_read_came(&f, SLP_READ_SNAPSHOT, &rq);
  CHECK_INT(told, 5); /* at 4, 8, 16, 32, 64 */
  CHECK(strstr(last, "failed 64 times") && strstr(last, "no permission for dynamodb:Query"));
}

TEST(what_waiting_will_not_mend_is_told_at_once_to_who_has_not_joined) {
  slp_fleet f = fleet();
  slp_store_req rq = refused(), slow = refused();
  slp_fail_set(&slow.fail, SLP_TRANSIENT, SLP_EINVAL, "no answer");
  f.stats.heartbeats = 0;
  slp_read_came(&f, SLP_READ_MINE, &slow);
  CHECK_INT(told, 0);
  slp_read_came(&f, SLP_READ_LEADER, &rq);
  CHECK_INT(told, 1);
  CHECK(strstr(last, "failed 1 time: no permission"));
}

TEST(each_kind_counts_by_itself_and_from_the_last_that_came) {
  slp_fleet f = fleet();
  slp_store_req rq = refused(), fine = {.fail = {.class = SLP_FINE}};
  for (int i = 0; i < 20; i++) {
    slp_read_came(&f, SLP_READ_MINE, &rq);
    slp_read_came(&f, SLP_READ_LEADER, &fine);
    if (i % 3 == 2) slp_read_came(&f, SLP_READ_MINE, &fine);
    if (i < 3) slp_read_came(&f, SLP_READ_ASSIGNMENT, &rq);
  }
  CHECK_INT(told, 0);
}
