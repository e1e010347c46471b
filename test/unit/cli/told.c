/* told.c - of each kind of trouble one line in five seconds, and what is told only once. */
#include "cli/told.h"
#include "check.h"

#include <stdio.h>

static slp_told t;
static uint32_t kept_back;

static int now(int kind, const char *what, uint64_t at_ms) {
  return slp_told_now(&t, kind, slp_str_of(what), what, at_ms * 1000, &kept_back);
}

static const char *later(uint64_t at_ms) {
  static char line[SLP_TOLD_LINE];
  return slp_told_later(&t, at_ms * 1000, line, &kept_back) ? line : "";
}

static void begin(void) { t = (slp_told){0}; }

TEST(the_same_is_told_once_in_five_seconds) {
  begin();
  CHECK(now(-1, "slow", 1000));
  CHECK_INT(kept_back, 0);
  CHECK(!now(-1, "slow", 1001));
  CHECK(!now(-1, "slow", 5999));
  CHECK_STR(later(7000), "");
  CHECK(now(-1, "slow", 7000));
  CHECK_INT(kept_back, 2);
  CHECK(now(-2, "down", 7000)); /* another kind */
}

TEST(what_says_something_else_is_told_when_its_time_comes) {
  begin();
  CHECK(now(-1, "it is disabled", 1000));
  CHECK(!now(-1, "there is another", 1500));
  CHECK(!now(-1, "it is disabled", 2000));
  CHECK_STR(later(5999), "");
  CHECK_STR(later(6000), "there is another");
  CHECK_INT(kept_back, 1);
  CHECK_STR(later(6000), "");
  CHECK_STR(later(60000), "");
  CHECK(!now(-1, "there is another", 10999)); /* five seconds from then */
  CHECK_STR(later(20000), "");
}

TEST(of_several_the_last_is_told) {
  begin();
  CHECK(now(-1, "a", 1000));
  CHECK(!now(-1, "b", 1100));
  CHECK(!now(-1, "c", 1200));
  CHECK_STR(later(6000), "c");
  CHECK_INT(kept_back, 1);
}

TEST(many_kinds_push_out_no_line_that_waits) {
  char what[8];
  begin();
  CHECK(now(-1, "a", 1000));
  CHECK(!now(-1, "b", 1001));
  for (int i = 0; i < 3 * SLP_TOLD_MAX; i++) {
    snprintf(what, sizeof what, "%d", i);
    CHECK(now(i + 1, what, 2000 + (uint64_t)i));
  }
  CHECK_STR(later(6000), "b");
}
