/* admin/pause_shard.c: one shard is paused, and read again. */
#include "admin_table.h"

static sloop_change_kind_t pause_it(const char *shard, int on, uint32_t limit_ms, int code) {
  if (admin) over();
  CHECK_INT(
      ask(&(slp_admin_opts){
          .task = SLP_ADMIN_PAUSE, .name = slp_str_of(shard), .hold_on = (uint8_t)on, .limit_ms = limit_ms}),
      0);
  CHECK_INT(slp_admin_fail(admin)->code, code);
  const sloop_admin_result_t *r = slp_admin_answered(admin)->result;
  CHECK(r || code);
  return r ? r->changes[0]->kind : 0;
}

static void done(void) {
  over();
  end();
}

TEST(a_free_shard_is_paused_at_once) {
  begin("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest");
  CHECK_INT(pause_it("s1", 1, 1000, 0), SLOOP_CHANGE_DONE);
  CHECK(strncmp(get("l/s1", "pause"), "operator.", 9) == 0);
  CHECK_INT(pause_it("s1", 1, 1000, 0), SLOOP_CHANGE_WAS_SO);
  CHECK_INT(pause_it("s1", 0, 1000, 0), SLOOP_CHANGE_DONE);
  CHECK_STR(get("l/s1", "pause"), "");
  CHECK_INT(pause_it("s1", 0, 1000, 0), SLOOP_CHANGE_WAS_SO);
  done();
}

TEST(the_owner_is_waited_for) {
  begin("s1");
  worker("a", NULL);
  beats("w/a", 1000000);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=0:oldest");
  PUT("w/a", "ts#4000000000000"); /* by its stamp it lives */
  CHECK_INT(pause_it("s1", 1, 20000, SLOOP_ELEASE), SLOOP_CHANGE_DONE);
  CHECK_STR(message(), "a." INCARNATION " has not given up s1 in time; the shard stays paused");
  CHECK(strncmp(get("l/s1", "pause"), "operator.", 9) == 0);
  CHECK_STR(get("w/a", "pv"), "1");
  CHECK_INT(pause_it("s1", 1, 20000, SLOOP_ELEASE), SLOOP_CHANGE_WAS_SO);
  slp_timer_clear(&f.h, &heart.timer);
  done();
}

/* By its stamp it has been silent for long; that proves nothing before it was watched for its lease. */
TEST(a_silent_owner_is_evicted) {
  begin("s1");
  worker("a", NULL);
  PUT("lead", "owner=a." INCARNATION, "epoch#3", "start=0:oldest", "fmt#1");
  PUT("l/s1", "owner=a." INCARNATION, "epoch#5", "pos=0:oldest");
  CHECK_INT(pause_it("s1", 1, 60000, 0), SLOOP_CHANGE_DONE);
  CHECK(took_us >= 10000000 && took_us < 14000000);
  CHECK(strncmp(get("w/a", "gone"), "operator.", 9) == 0);
  done();
}

TEST(parking_is_ended_as_well) {
  begin("s1");
  PUT("l/s1", "epoch#5", "pos=0:oldest", "park=a." INCARNATION);
  CHECK_INT(pause_it("s1", 0, 1000, 0), SLOOP_CHANGE_DONE);
  CHECK_STR(get("l/s1", "park"), "");
  done();
}

TEST(what_can_not_be_paused) {
  begin("s1 s2");
  PUT("l/s2", "epoch#5", "pos=9:end");
  pause_it("s1", 1, 1000, SLOOP_ENOSHARD);
  CHECK_STR(message(), "there is no lease of s1");
  pause_it("s9", 1, 1000, SLOOP_ENOSHARD);
  CHECK_STR(message(), "orders lists no shard s9, and there is no lease of it");
  CHECK_INT(pause_it("s2", 1, 1000, 0), SLOOP_CHANGE_ENDED);
  CHECK_INT(harmed.writes, 0);
  done();
}
