/* trouble_lines.c - of each kind of trouble one line in five seconds, and every other one counted and named. */
#include "cli/trouble_lines.h"
#include "check.h"

#include <stdio.h>

static slp_told t;

static int of(int kind, const char *shard, const char *what, uint64_t at_ms) {
  char text[SLP_TOLD_LINE];
  snprintf(text, sizeof text, "%s%s%s", shard, *shard ? ": " : "", what);
  slp_told_line l = {.kind = kind, .shard = slp_str_of(shard), .what = slp_str_of(what), .text = text};
  return slp_told_now(&t, &l, at_ms * 1000);
}
static int now(int kind, const char *what, uint64_t at_ms) { return of(kind, "", what, at_ms); }

static char text[SLP_TOLD_TEXT];
static const char *next(uint64_t at_ms) { return slp_told_next(&t, at_ms * 1000, 0, text) ? text : ""; }
static const char *rest(uint64_t at_ms) { return slp_told_next(&t, at_ms * 1000, 1, text) ? text : ""; }

static void begin(void) { t = (slp_told){0}; }

TEST(the_same_is_told_once_in_five_seconds) {
  begin();
  CHECK(now(-1, "slow", 1000));
  CHECK(!now(-1, "slow", 1001));
  CHECK(!now(-1, "slow", 5998));
  CHECK(!now(-1, "slow", 5999));
  CHECK_STR(next(5999), "");
  CHECK_STR(next(6000), "slow (and 2 more like it)");
  CHECK_STR(next(60000), "");
  CHECK(!now(-1, "slow", 10999)); /* five seconds from then */
  CHECK(now(-2, "down", 10999));  /* another kind */
  CHECK_STR(next(11000), "slow");
  CHECK(now(-1, "slow", 16000));
}

TEST(each_that_says_something_else_is_told_when_its_time_comes) {
  begin();
  CHECK(now(-1, "a", 1000));
  CHECK(!now(-1, "b", 1100));
  CHECK(!now(-1, "c", 1200));
  CHECK(!now(-1, "b", 1300));
  CHECK_STR(next(5999), "");
  CHECK_STR(next(6000), "b (and 1 more like it)");
  CHECK_STR(next(6000), "c");
  CHECK_STR(next(60000), "");
}

TEST(shards_with_the_same_trouble_are_named) {
  begin();
  CHECK(of(-1, "s-0", "gone", 1000));
  CHECK(!of(-1, "s-1", "gone", 1000));
  CHECK_STR(next(6000), "s-1: gone");
  CHECK(!of(-1, "s-2", "gone", 7000));
  CHECK(!of(-1, "s-3", "gone", 7000));
  CHECK_STR(next(11000), "s-2: gone (and 1 more shard: s-3)");
  for (int i = 0; i < 2; i++) {
    CHECK(!of(-1, "s-4", "gone", 12000));
    CHECK(!of(-1, "s-5", "gone", 12000));
    CHECK(!of(-1, "s-55", "gone", 12000));
  }
  CHECK_STR(next(16000), "s-4: gone (and 5 more like it, also of s-5, s-55)");
}

TEST(what_waits_at_the_end_is_told) {
  begin();
  CHECK(of(-1, "s-0", "gone", 1000));
  CHECK(!of(-1, "s-1", "gone", 1000));
  CHECK(!of(-1, "s-2", "lost", 1000));
  CHECK(!of(-1, "s-3", "gone", 1000));
  CHECK_STR(next(1001), "");
  CHECK_STR(rest(1001), "s-1: gone (and 1 more shard: s-3)");
  CHECK_STR(rest(1001), "s-2: lost");
  CHECK_STR(rest(1001), "");
}

TEST(some_kinds_have_many_lines_at_once) {
  char shard[16];
  begin();
  for (int i = 0; i < 12; i++) {
    snprintf(shard, sizeof shard, "s-%d", i);
    slp_told_line l = {
        .kind = 7, .at_once = 10, .shard = slp_str_of(shard), .what = SLP_STR("x"), .text = shard};
    CHECK_INT(slp_told_now(&t, &l, 1000000), i < 10);
  }
  CHECK_STR(rest(1000), "s-10 (and 1 more shard: s-11)");
}

/* However many shards there are: each line is counted, and memory is bounded. */
TEST(of_thousands_some_are_named_and_all_are_counted) {
  char shard[40];
  begin();
  for (int i = 0; i < 5001; i++) {
    snprintf(shard, sizeof shard, "shardId-%012d", i);
    CHECK_INT(of(-1, shard, "gone", 1000), i == 0);
  }
  const char *told = next(6000);
  int named = 0;
  for (const char *p = told; (p = strstr(p, "shardId-")); p++) named++;
  char end[100];
  CHECK(strstr(told, "shardId-000000000001: gone (and 4999 more like it, also of shardId-000000000002, ") ==
        told);
  snprintf(end, sizeof end, "; %d of them of shards not named here)", 5000 - named);
  CHECK_STR(told + strlen(told) - strlen(end), end);
  CHECK(named > 15);
  CHECK_STR(next(60000), "");
}

TEST(without_room_a_line_is_counted_with_others_of_its_kind) {
  char what[16];
  begin();
  CHECK(now(-1, "first", 1000));
  for (int i = 0; i < SLP_TOLD_HELD + 3; i++) {
    snprintf(what, sizeof what, "w%d", i);
    CHECK(!of(-1, i < SLP_TOLD_HELD ? "" : "s-9", what, 1000));
  }
  CHECK(now(-2, "first", 1000));
  CHECK(now(-2, "of a kind that has no line there is told at once", 1000));
  for (int i = 0; i + 1 < SLP_TOLD_HELD; i++) {
    snprintf(what, sizeof what, "w%d", i);
    CHECK_STR(next(6000), what);
  }
  snprintf(what, sizeof what, "w%d", SLP_TOLD_HELD - 1);
  const char *told = next(6000);
  CHECK(strncmp(told, what, strlen(what)) == 0);
  CHECK_STR(told + strlen(what), " (and 3 more of its kind, also of s-9)");
}

TEST(many_kinds_push_out_no_line_that_waits) {
  char what[8];
  begin();
  CHECK(now(-1, "a", 1000));
  CHECK(!now(-1, "b", 1001));
  for (int i = 0; i < 3 * SLP_TOLD_KINDS; i++) {
    snprintf(what, sizeof what, "%d", i);
    CHECK(now(i + 1, what, 2000 + (uint64_t)i));
  }
  CHECK_STR(next(6000), "b");
}

TEST(what_the_last_line_says_is_not_told_before_it) {
  begin();
  CHECK(now(-1, "slow", 1000));
  CHECK(!now(-1, "slow", 1001));
  CHECK(!now(-1, "down", 1002));
  slp_told_drop(&t, "slow; is the address right?");
  CHECK_STR(rest(1003), "down");
  CHECK_STR(rest(1003), "");
}
