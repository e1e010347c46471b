/* poll_coalescing.c - polls go out together where their spans of time allow it, and never outside of those. */
#include "core/pace.h"
#include "base/base.h"
#include "check.h"

TEST(one_goes_with_another_when_its_span_allows_that_and_with_the_first) {
  slp_meet m = {0};
  CHECK_INT(slp_meet_at(&m, 1000000, 1050000), 1000000); /* alone: as early as it may */
  CHECK_INT(slp_meet_at(&m, 1010000, 1050000), 1010000); /* that one goes too early for it */
  CHECK_INT(slp_meet_at(&m, 900000, 1000000), 1000000);
  CHECK_INT(slp_meet_at(&m, 900000, 999999), 900000);
  CHECK_INT(slp_meet_at(&m, 1040000, 1090000), 1040000);
  CHECK_INT(slp_meet_at(&m, 990000, 1040000), 1000000); /* the first of three */
  CHECK_INT(slp_meet_at(&m, 1000001, 1040000), 1010000);
}

TEST(no_more_go_together_than_one_event_starts) {
  slp_meet m = {0};
  for (unsigned i = 0; i < SLP_MEET_MOST; i++) CHECK_INT(slp_meet_at(&m, 5000000 - i, 5100000), 5000000);
  CHECK_INT(slp_meet_at(&m, 4999000, 5100000), 4999000);
}

TEST(a_moment_that_takes_the_place_of_another_is_not_taken_for_it) {
  slp_meet m = {0};
  const uint64_t round_us = SLP_MEET_PLACES * UINT64_C(8192);
  CHECK_INT(slp_meet_at(&m, 1000000, 1000000), 1000000);
  CHECK_INT(slp_meet_at(&m, 1000000 + round_us, 1000100 + round_us), 1000000 + round_us);
  CHECK_INT(slp_meet_at(&m, 999000, 1000100), 999000);
  CHECK_INT(slp_meet_at(&m, 600000, 1100000), 999000);
}

/* A thousand shards at a poll a second, each up to a tenth early: nobody goes sooner or later than it may, and most
 * have company. */
TEST(thousand_shards_go_in_groups_and_each_within_its_span) {
  static uint64_t next[1000];
  slp_meet m = {0};
  uint64_t seed = 7, groups = 0, polls = 0, last = 0;
  for (unsigned i = 0; i < SLP_COUNT(next); i++) next[i] = i * 1000;
  while (polls < 100000) {
    unsigned first = 0;
    for (unsigned i = 1; i < SLP_COUNT(next); i++)
      if (next[i] < next[first]) first = i;
    groups += next[first] != last;
    last = next[first];
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    uint64_t from = last + 900000 + (seed >> 33) % 100000, until = last + 1000000;
    next[first] = slp_meet_at(&m, from, until);
    CHECK(next[first] >= from && next[first] <= until);
    polls++;
  }
  CHECK(groups < polls / 4);
}
