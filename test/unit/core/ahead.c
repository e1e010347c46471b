/* ahead.c - how much is fetched ahead follows the pace at which pages come back and the shortest round trip. */
#include "core/ahead.h"
#include "check.h"

#define MS 1000u
#define MB 1000000u

/* For for_ms, each every_ms, a page comes back and the next one arrives after a round trip of trip_us. */
static uint64_t play(slp_ahead *a, uint64_t from_us, uint64_t for_ms, uint64_t every_ms, uint64_t page_bytes,
                     uint64_t trip_us) {
  uint64_t now_us = from_us;
  for (; now_us < from_us + for_ms * MS; now_us += every_ms * MS) {
    slp_ahead_came_back(a, page_bytes);
    slp_ahead_trip(a, trip_us, now_us);
  }
  return now_us;
}

TEST(before_anything_came_back_pages_are_small) {
  slp_ahead a;
  slp_ahead_init(&a);
  CHECK_INT(slp_ahead_needs(&a), 0);
  CHECK_INT(slp_ahead_page(slp_ahead_needs(&a), 0), SLP_AHEAD_PAGE_MIN);
  CHECK_INT(slp_ahead_page(slp_ahead_needs(&a), 8), SLP_AHEAD_PAGE_MIN);
  CHECK_INT(slp_ahead_most(slp_ahead_needs(&a), 1), 3 * SLP_AHEAD_PAGE_MIN);
  CHECK_INT(slp_ahead_most(slp_ahead_needs(&a), 8), 10 * SLP_AHEAD_PAGE_MIN);
  CHECK_INT(slp_ahead_most(slp_ahead_needs(&a), 64), 80 * SLP_AHEAD_PAGE_MIN);
}

TEST(twice_what_comes_back_in_a_round_trip_is_needed) {
  slp_ahead a;
  slp_ahead_init(&a);
  play(&a, 1, 2000, 10, MB, 50 * MS); /* 100 MB/s */
  uint64_t needs = slp_ahead_needs(&a);
  CHECK(needs >= 10 * MB && needs < 11 * MB);
  CHECK_INT(slp_ahead_page(slp_ahead_needs(&a), 8), needs / 8);
  CHECK_INT(slp_ahead_page(slp_ahead_needs(&a), 100), SLP_AHEAD_PAGE_MIN);
  CHECK(slp_ahead_most(slp_ahead_needs(&a), 8) >= 2 * needs - 8 &&
        slp_ahead_most(slp_ahead_needs(&a), 8) <= 2 * needs);
}

TEST(a_round_trip_that_waited_for_something_else_does_not_count) {
  slp_ahead a;
  slp_ahead_init(&a);
  uint64_t now_us = 1;
  for (int i = 0; i < 20; i++) now_us = play(&a, now_us, 100, 10, MB, i % 3 ? 400 * MS : 1 * MS);
  CHECK(slp_ahead_needs(&a) < MB / 4);
}

TEST(what_a_fast_consumer_needed_is_forgotten_within_a_second_of_a_slow_one) {
  slp_ahead a;
  slp_ahead_init(&a);
  uint64_t now_us = play(&a, 1, 2000, 10, MB, 50 * MS);
  now_us = play(&a, now_us, 1000, 100, MB, 50 * MS);
  uint64_t needs = slp_ahead_needs(&a);
  CHECK(needs >= MB && needs < 2 * MB);
  play(&a, now_us + UINT64_C(3600000000), 1, 1, MB, 50 * MS); /* an hour at the tip */
  play(&a, now_us + UINT64_C(3601000000), 1, 1, MB, 50 * MS);
  CHECK(slp_ahead_needs(&a) < MB);
}

TEST(a_joined_consumer_that_brings_no_full_page_for_20_s_needs_nothing) {
  slp_ahead a, slow;
  slp_ahead_init(&a);
  slp_ahead_forget_old(&a, UINT64_C(3600000000)); /* no page has come yet */
  uint64_t now_us = play(&a, 1, 2000, 10, MB, 50 * MS);
  slp_ahead_forget_old(&a, now_us + 19 * UINT64_C(1000000));
  CHECK(slp_ahead_needs(&a) >= 10 * MB);
  slp_ahead_forget_old(&a, now_us + 21 * UINT64_C(1000000));
  CHECK_INT(slp_ahead_needs(&a), 0);
  slp_ahead_init(&slow); /* a round trip as long as any that counts */
  for (now_us = 1; now_us < UINT64_C(100000000); now_us += 10000 * MS) {
    slp_ahead_forget_old(&slow, now_us + 9000 * MS);
    slp_ahead_came_back(&slow, MB);
    slp_ahead_trip(&slow, 10000 * MS, now_us);
  }
  CHECK_INT(slp_ahead_needs(&slow), 2 * MB);
}

TEST(a_shard_that_brings_a_page_in_each_round_trip_gets_larger_pages) {
  slp_ahead a;
  slp_ahead_init(&a);
  CHECK_INT(slp_ahead_page_after(&a, MB, 50 * MS), 0);
  play(&a, 1, 300, 50, MB, 50 * MS);
  CHECK_INT(slp_ahead_page_after(&a, MB, 50 * MS), 4 * MB);
  CHECK_INT(slp_ahead_page_after(&a, MB, 1), 4 * MB);
  CHECK_INT(slp_ahead_page_after(&a, MB, 200 * MS), MB);
  CHECK_INT(slp_ahead_page_after(&a, MB, 1000 * MS), MB / 5);
}

TEST(near_the_service_pages_do_not_grow) {
  slp_ahead a;
  slp_ahead_init(&a);
  play(&a, 1, 300, 1, MB, 1 * MS);
  CHECK_INT(slp_ahead_page_after(&a, MB, 1 * MS), MB * 2 / 5);
}

TEST(absurd_numbers_overflow_nothing) {
  slp_ahead a;
  slp_ahead_init(&a);
  play(&a, 1, 1000, 250, UINT64_MAX / 4, UINT64_MAX / 4);
  CHECK(slp_ahead_needs(&a) > UINT64_C(1) << 38);
  CHECK(slp_ahead_page(slp_ahead_needs(&a), UINT32_MAX) >= SLP_AHEAD_PAGE_MIN);
  CHECK(slp_ahead_page_after(&a, UINT64_MAX, UINT64_MAX) <= UINT64_C(1) << 40);
  CHECK(slp_ahead_page_after(&a, UINT64_MAX, 0) == UINT64_C(1) << 40);
  CHECK(slp_ahead_most(slp_ahead_needs(&a), UINT32_MAX) > slp_ahead_page(slp_ahead_needs(&a), UINT32_MAX));
}
