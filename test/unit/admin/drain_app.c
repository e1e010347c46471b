/* admin/drain_app.c: when a drain is done, whom it waits for, and whom it evicts. */
#include "admin_table.h"

#define OBEYS "obeys=" INCARNATION ":2"

static const sloop_drain_t *drain(int on, uint32_t limit_ms, int code) {
  if (admin) over();
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_DRAIN, .hold_on = (uint8_t)on, .limit_ms = limit_ms}), 0);
  CHECK_INT(slp_admin_fail(admin)->code, code);
  return slp_admin_answered(admin)->drain;
}

static void led(const char *more) {
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1", more);
}

static void done(void) {
  over();
  end();
}

static void a_obeys(void) { PUT("w/a", OBEYS); }

TEST(a_drain_writes_the_switch_and_notifies_the_leader) {
  begin("s1");
  worker("a", NULL);
  PUT("w/a", "held#0");
  harmed.before_write = a_obeys;
  PUT("l/s1", "epoch#5", "pos=0:oldest");
  led("epoch#3");
  const sloop_drain_t *d = drain(1, 60000, 0);
  CHECK(d->on && !d->was_so && d->workers_n == 1 && d->leases_n == 1 && !d->waits_for_n);
  CHECK_STR(get("lead", "hv"), "2");
  CHECK(strncmp(get("lead", "hold"), "operator.", 9) == 0);
  CHECK_STR(d->by, get("lead", "hold"));
  CHECK_STR(get("w/a", "pv"), "1");
  d = drain(1, 60000, 0);
  CHECK(d->on && d->was_so);
  CHECK_STR(get("lead", "hv"), "2");
  d = drain(0, 60000, 0);
  CHECK(!d->on && !d->was_so);
  CHECK_STR(get("lead", "hv"), "4");
  CHECK_STR(get("lead", "hold"), "");
  d = drain(0, 60000, 0);
  CHECK(!d->on && d->was_so);
  CHECK_STR(get("lead", "hv"), "4");
  done();
}

/* What a former incarnation told, what was told of an older drain, and a lease that is left: none of it counts. */
TEST(a_drain_waits_for_whoever_may_read) {
  static const struct {
    const char *obeys, *held;
  } cases[] = {{"cap#1", "held#0"},
               {"obeys=0000000000000000:1", "held#0"},
               {"obeys=" INCARNATION ":0", "held#0"},
               {"obeys=" INCARNATION, "held#0"},
               {OBEYS, "held#1"}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    begin("s1");
    worker("a", cases[i].obeys);
    PUT("w/a", cases[i].held);
    beats("w/a", 1000000);
    led("epoch#3");
    const sloop_drain_t *d = drain(1, 30000, SLOOP_ELEASE);
    CHECK(took_us >= 30000000 && took_us < 32000000);
    CHECK(d && d->on && d->waits_for_n == 1);
    CHECK_STR(d->waits_for[0], "a." INCARNATION);
    CHECK_STR(message(), "1 worker has not stopped reading in time; the application stays drained");
    CHECK_STR(get("w/a", "gone"), "");
    slp_timer_clear(&f.h, &heart.timer);
    done();
  }
}

TEST(a_drain_evicts_the_silent) {
  begin("s1");
  worker("a", OBEYS);
  PUT("w/a", "held#0");
  worker("b", NULL);
  beats("w/a", 1000000);
  led("hv#1");
  PUT("lead", "hold=operator.x");
  const sloop_drain_t *d = drain(1, 60000, 0);
  CHECK(took_us >= 10000000 && took_us < 14000000);
  CHECK(strncmp(get("w/b", "gone"), "operator.", 9) == 0);
  CHECK_STR(get("w/a", "gone"), "");
  CHECK_INT(d->workers_n, 1);
  slp_timer_clear(&f.h, &heart.timer);
  done();
}

/* A worker may read until its lease deadline, unless a row says that the worker was silent when it was evicted, or
 * that it had stopped before. */
TEST(a_drain_waits_a_lease_for_one_that_an_operator_has_evicted_while_it_may_have_read) {
  static const struct {
    const char *by, *obeys, *held;
    uint64_t least_us;
  } cases[] = {{"gone=operator.0123456789abcdef", "cap#1", "held#0", 10000000},
               {"gone=operator.0123456789abcdef", OBEYS, "held#1", 10000000},
               {"gone=operator.0123456789abcdef", "obeys=" INCARNATION ":1", "held#0", 10000000},
               {"gone=operator.0123456789abcdef", OBEYS, "held#0", 0},
               {"gone=c." INCARNATION, "cap#1", "held#0", 0}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    begin("s1");
    worker("a", OBEYS);
    PUT("w/a", "held#0");
    worker("b", cases[i].by);
    PUT("w/b", cases[i].obeys, cases[i].held);
    beats("w/a", 1000000);
    led("hv#2");
    PUT("lead", "hold=operator.x");
    (void)drain(1, 60000, 0);
    CHECK(took_us >= cases[i].least_us && took_us < cases[i].least_us + 4000000);
    slp_timer_clear(&f.h, &heart.timer);
    done();
  }
}

TEST(the_end_of_a_drain_waits_for_nobody) {
  begin("s1");
  worker("a", NULL);
  worker("b", NULL);
  led("hv#7");
  PUT("lead", "hold=operator.x");
  const sloop_drain_t *d = drain(0, 60000, 0);
  CHECK(took_us < 1000000 && !d->on && !d->was_so);
  CHECK_STR(get("lead", "hv"), "9");
  CHECK_STR(get("w/a", "pv"), "1");
  CHECK_STR(get("w/b", "pv"), "");
  done();
}

/* An operator has deleted the row of leadership since: what workers know must not be newer than a new hold. The
 * leader may be about to end hold 7 by hold 8, and two holds of one version could not be told apart. */
TEST(a_version_is_newer_than_all_that_workers_may_know) {
  begin("s1");
  worker("a", "obeys=" INCARNATION ":7");
  PUT("a/b", "v#9", "hv#4");
  led("epoch#3");
  drain(1, 1000, SLOOP_ELEASE);
  CHECK_STR(get("lead", "hv"), "9");
  done();
}

TEST(what_can_not_be_drained) {
  begin("s1");
  drain(1, 1000, SLOOP_ELEASE);
  CHECK(strstr(message(), "no leases"));
  CHECK_INT(harmed.writes, 0);
  done();
  kcl = 1;
  begin("s1");
  PUT("s1", "leaseCounter#1", "checkpoint=TRIM_HORIZON", "checkpointSubSequenceNumber#0",
      "ownerSwitchesSinceCheckpoint#0");
  drain(1, 1000, SLOOP_EOPTION);
  CHECK_STR(message(),
            "rows of schema kcl can't say that an application is drained: stop its workers instead; "
            "nothing was changed");
  CHECK_INT(harmed.writes, 0);
  done();
}

/* The leader is another one by the time the switch is in the table. */
static void another_leads(void) {
  PUT("w/a", "gone=b." INCARNATION);
  PUT("lead", "owner=b." INCARNATION, "epoch#4");
}

TEST(the_leader_that_leads_now_is_notified) {
  begin("s1");
  worker("a", NULL);
  worker("b", NULL);
  led("hv#1");
  PUT("lead", "hold=operator.x");
  harmed.before_write = another_leads;
  drain(0, 60000, 0);
  CHECK_STR(get("lead", "hv"), "3");
  CHECK_STR(get("w/a", "pv"), "");
  CHECK_STR(get("w/b", "pv"), "1");
  done();
}
