/* throttling.c - when the user hears that the table throttles. */
#include "lease/throttling.h"
#include "check.h"

#define S UINT64_C(1000000)

TEST(what_lasts_is_told_within_seconds) {
  slp_throttling t = {0};
  uint64_t told_us = 0;
  for (uint64_t now = 100 * S; now < 110 * S && !told_us; now += S / 4)
    if (slp_throttling_saw(&t, now, 0)) told_us = now;
  CHECK(told_us == 102 * S);
  CHECK_STR(slp_throttling_lacks(&t), "read units");
}

TEST(a_burst_that_is_over_is_not_told) {
  slp_throttling t = {0};
  for (uint64_t k = 0; k < 1000; k++) CHECK(!slp_throttling_saw(&t, S + k, 1));
  CHECK(!slp_throttling_saw(&t, 90 * S, 1)); /* long after it: another one begins */
}

TEST(a_few_refusals_over_long_are_told) {
  slp_throttling t = {0};
  CHECK(!slp_throttling_saw(&t, S, 0));
  CHECK(!slp_throttling_saw(&t, 20 * S, 1));
  CHECK(slp_throttling_saw(&t, 40 * S, 0));
  CHECK_STR(slp_throttling_lacks(&t), "read and write units");
}

TEST(it_is_told_ever_more_seldom) {
  slp_throttling t = {0};
  unsigned told = 0;
  for (uint64_t now = S; now < 3600 * S; now += S) told += (unsigned)slp_throttling_saw(&t, now, 1);
  CHECK(told >= 5 && told <= 7); /* after 2 s, then 1, 2, 4, 8 minutes and so on */
  CHECK_STR(slp_throttling_lacks(&t), "write units");
}

TEST(writes_are_throttled_for_a_minute_after_a_refusal) {
  slp_throttling t = {0};
  CHECK(!slp_throttling_of_writes(&t, 100 * S));
  slp_throttling_saw(&t, 100 * S, 0);
  CHECK(!slp_throttling_of_writes(&t, 101 * S));
  slp_throttling_saw(&t, 102 * S, 1);
  CHECK(slp_throttling_of_writes(&t, 160 * S) && !slp_throttling_of_writes(&t, 163 * S));
}
