/* core/desk_change.c, desk_release.c, desk_reset.c, desk_watch.c, desk_write.c: what an operator may change, and
 * what becomes of it. Rows are looked at by the test's own reads. */
#include "core_desk.h"

#define P "1:00242:0000000001"

static const slp_spot oldest = {.kind = SLP_SPOT_OLDEST};

static void fails(int code, const char *message) {
  CHECK_INT(slp_desk_fail(desk)->code, code);
  CHECK_STR(slp_desk_fail(desk)->message, message);
}

static void says(const char *text) {
  CHECK_STR(slp_desk_fail(desk)->message, "");
  CHECK_STR(slp_desk_text(desk), text);
  over();
}

static void release(const char *name) {
  CHECK_INT(ask(&(slp_desk_opts){.task = SLP_DESK_RELEASE, .name = slp_str_of(name)}), 0);
}

static void reset(const char *shard, slp_spot to, int force) {
  slp_desk_opts o = {.task = SLP_DESK_RESET, .name = slp_str_of(shard), .to = to, .force = (uint8_t)force};
  CHECK_INT(ask(&o), 0);
}

static void two(const char *shards) {
  begin(shards);
  worker("a", NULL);
  worker("b", NULL);
  PUT("lead", "owner=a." BOOT, "epoch#3", "start=0:oldest", "fmt#1");
}

/* ---- releasing a lease ----------------------------------------------------------------------------------- */

TEST(a_lease_that_is_nobodys_stays_so) {
  two("s1 s2!");
  PUT("l/s1", "epoch#5", "pos=" P);
  PUT("l/s2", "epoch#5", "pos=9:end");
  release("s1");
  says("s1 is nobody's already\n");
  release("s2");
  says("s2 was read to its end: there is nothing to release\n");
  CHECK_STR(get("l/s1", "epoch"), "5");
  CHECK_INT(harmed.writes, 0);
  end();
}

CHECK_MAIN()
