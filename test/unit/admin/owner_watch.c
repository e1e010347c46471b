/* admin/owner_watch.c: a command that is stopped, and goes on, does not count that time against the owners that it
 * watches: they may have been stopped with it, and go on a moment later. */
#include "admin_table.h"

#define S UINT64_C(1000000)

static slp_timer standing;
static uint64_t pause_us, late_us; /* so long everything stands; the heart beats so long after it goes on */

static void stand(slp_timer *t) {
  (void)t;
  f.mono_us += pause_us;
  if (late_us) CHECK_INT(slp_timer_set(&f.h, &heart.timer, f.mono_us + late_us), 0);
}

static void begin_with_owner(int by_kcl) {
  kcl = by_kcl;
  begin("s1");
  if (kcl) {
    PUT("s1", "leaseCounter#9", "checkpoint=42", "checkpointSubSequenceNumber#0", "leaseOwner=u1");
  } else {
    worker("a", NULL);
    worker("b", NULL);
    PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
    PUT("l/s1", "epoch#5", "pos=1:00242:0000000001", "owner=b." INCARNATION);
  }
}

static int release_while_all_stand(uint64_t at_us, uint64_t us, uint64_t late) {
  standing = (slp_timer){.at_us = UINT64_MAX, .run = stand};
  pause_us = us;
  late_us = late;
  CHECK_INT(slp_timer_set(&f.h, &standing, slp_now_us(&f.h) + at_us), 0);
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_RELEASE, .name = SLP_STR("s1")}), 0);
  return slp_admin_fail(admin)->code;
}

static void done(void) {
  over();
  end();
}

TEST(an_owner_that_was_stopped_with_the_command_lives) {
  for (uint64_t us = 6 * S; us <= 60 * S; us += 9 * S) {
    begin_with_owner(0);
    beats("w/b", 3600 * S);
    CHECK_INT(release_while_all_stand(5 * S, us, 4 * S), SLOOP_EOWNED);
    CHECK_INT(harmed.writes, 0);
    CHECK_STR(get("w/b", "gone"), "");
    done();
  }
}

TEST(a_dead_owner_is_given_a_lease_after_the_command_went_on) {
  for (int by_kcl = 0; by_kcl < 2; by_kcl++) {
    begin_with_owner(by_kcl);
    CHECK_INT(release_while_all_stand(5 * S, 30 * S, 0), 0);
    CHECK(took_us >= 45 * S && took_us < 50 * S);
    CHECK(harmed.writes > 0);
    done();
  }
}

/* Less than two fifths of a lease: that is a slow machine, and nothing begins anew. */
TEST(a_short_stand_costs_no_time) {
  begin_with_owner(0);
  CHECK_INT(release_while_all_stand(5 * S, 2 * S, 0), 0);
  CHECK(took_us >= 10 * S && took_us < 13 * S);
  done();
}

/* Its stamp is old, so the command looks once more before it calls it silent, and stands meanwhile. */
TEST(an_owner_that_was_stopped_with_the_command_is_not_called_silent) {
  begin_with_owner(0);
  PUT("w/b", "ts#1767320000000");
  beats("w/b", 3600 * S);
  standing = (slp_timer){.at_us = UINT64_MAX, .run = stand};
  pause_us = 30 * S;
  late_us = 2 * S;
  CHECK_INT(slp_timer_set(&f.h, &standing, slp_now_us(&f.h) + 3 * S), 0);
  CHECK_INT(ask(&(slp_admin_opts){.task = SLP_ADMIN_EXPLAIN, .name = SLP_STR("s1")}), 0);
  CHECK(slp_admin_answered(admin)->explanation->why != SLOOP_WHY_OWNER_SILENT);
  done();
}
