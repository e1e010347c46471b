/* pace.c - how much is asked for and how long is waited stays within its bounds. */
#include "core/pace.h"
#include "check.h"

TEST(a_shard_at_its_tip_is_asked_about_once_a_period_and_one_behind_at_once) {
  slp_pace p;
  slp_pace_init(&p);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 1000, 0, 500), 0); /* the first call of all */
  slp_pace_page(&p, 10, 100, 0, 1, 10000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 1000, 0, 0), 1000000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 1000, 0, 500), 950000);
  CHECK(slp_pace_wait_us(&p, 0, 0, 1000, 0, 999) >= 900000);
  CHECK_INT(slp_pace_wait_us(&p, 1, 1, 1000, 0, 500), 0);
  CHECK_INT(slp_pace_wait_us(&p, 1, 1, 1000, 1, 500), 200000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 1, 1000, 0, 500), 200000); /* a short page */
}

TEST(refused_pages_come_farther_apart_and_closer_again_when_answered) {
  slp_pace p;
  slp_pace_init(&p);
  slp_pace_page(&p, 10, 100, 0, 1, 10000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 200, 0, 999), 200000); /* not early: the floor was asked for */
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 100, 0, 0), 100000);   /* no server of Amazon's */
  slp_pace_throttled(&p);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 200, 1, 500), 225000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 1000, 1, 0), 1000000);
  CHECK(slp_pace_gap_wait_us(&p, 0) == 225000 && slp_pace_gap_wait_us(&p, 999) < 225000 * 5 / 4);
  for (int i = 0; i < 100; i++) slp_pace_page(&p, 0, 0, 0, 1, 10000);
  CHECK(slp_pace_wait_us(&p, 0, 0, 200, 1, 500) > 210000);
  for (int i = 0; i < 200; i++) slp_pace_page(&p, 0, 0, 0, 1, 10000);
  CHECK_INT(slp_pace_wait_us(&p, 0, 0, 200, 1, 500), 200000);
  for (int i = 0; i < 1000; i++) slp_pace_throttled(&p);
  CHECK_INT(slp_pace_wait_us(&p, 1, 1, 200, 1, 500), SLP_PACE_GAP_US_MAX);
}

TEST(calls_made_in_haste_count_for_a_second) {
  slp_pace p;
  slp_pace_init(&p);
  slp_pace_sent(&p, 1000, 0); /* the first call of all, soon after the start */
  CHECK_INT(slp_pace_haste_over_us(&p), 0);
  slp_pace_page(&p, 500, 100, 1, 1, 10000);
  slp_pace_sent(&p, 51000, 0);
  CHECK_INT(slp_pace_haste_over_us(&p), 1051000);
  slp_pace_sent(&p, 251000, 0); /* as the service lets all do */
  CHECK_INT(slp_pace_haste_over_us(&p), 1051000);
  slp_pace_sent(&p, 351000, 1); /* a poll period below the floor was asked for */
  CHECK_INT(slp_pace_haste_over_us(&p), 1051000);
}

/* Makes n calls, gap_us apart, each of which brings a full page. Returns when the last one began. */
static uint64_t call_often(slp_pace *p, int n, uint64_t gap_us) {
  for (int i = 0; i < n; i++) {
    slp_pace_sent(p, 1000000 + (uint64_t)i * gap_us, 0);
    slp_pace_page(p, 500, 100, i + 1 < n, 1, 10000);
  }
  return 1000000 + (uint64_t)(n - 1) * gap_us;
}

TEST(the_first_page_with_records_that_reaches_the_tip_is_confirmed_soon_and_only_that_one) {
  slp_pace p;
  slp_pace_init(&p);
  call_often(&p, 2, 1000);
  CHECK(!slp_pace_confirms_tip(&p, 500, 1, 0));  /* more waits, so the next call is made at once */
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, 30)); /* behind its tip */
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, -1)); /* the service does not say */
  CHECK(slp_pace_confirms_tip(&p, 500, 0, 0));
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, 0));
  slp_pace_init(&p);
  call_often(&p, 1, 0);
  CHECK(!slp_pace_confirms_tip(&p, 0, 0, 0)); /* an empty page says it all */
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, 0));
}

TEST(a_tip_is_not_confirmed_by_a_sixth_call_within_a_second) {
  slp_pace p;
  slp_pace_init(&p);
  call_often(&p, 4, 1000);
  CHECK(slp_pace_confirms_tip(&p, 500, 0, 0)); /* by the fifth call */
  slp_pace_init(&p);
  call_often(&p, 5, 1000);
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, 0));
  slp_pace_init(&p);
  call_often(&p, 300, 200000); /* none of them is hasty */
  CHECK(slp_pace_confirms_tip(&p, 500, 0, 0));
  slp_pace_init(&p);
  uint64_t last_us = call_often(&p, 300, 1000);
  for (int i = 1; i <= 4; i++) slp_pace_sent(&p, last_us + (uint64_t)i * 200000, 0);
  CHECK(slp_pace_confirms_tip(&p, 500, 0, 0)); /* the last hasty call will be a second old */
  slp_pace_init(&p);
  last_us = call_often(&p, 300, 1000);
  for (int i = 1; i <= 3; i++) slp_pace_sent(&p, last_us + (uint64_t)i * 200000, 0);
  CHECK(!slp_pace_confirms_tip(&p, 500, 0, 0));
}

TEST(empty_pages_of_a_shard_behind_become_no_hot_loop) {
  slp_pace p;
  slp_pace_init(&p);
  for (int i = 0; i < 20; i++) {
    slp_pace_page(&p, 0, 0, 0, 0, 10000);
    CHECK(slp_pace_wait_us(&p, 0, 1, 1000, 0, 500) >= (i < 4 ? 200000u : 900000u));
  }
}

TEST(back_off_doubles_is_capped_and_is_never_nothing) {
  for (uint32_t i = 1; i < 1000; i++) {
    for (uint32_t dice = 0; dice < 1000; dice += 111) {
      uint64_t throttled = slp_pace_backoff_us(i, 1, dice), failed = slp_pace_backoff_us(i, 0, dice);
      CHECK(throttled >= 200000 && throttled <= 20000000);
      CHECK(failed >= 40000 && failed <= 20000000);
    }
  }
  CHECK(slp_pace_backoff_us(1, 1, 999) <= 1000000 && slp_pace_backoff_us(3, 1, 999) > 3000000);
}

TEST(the_reservation_follows_the_traffic_and_never_exceeds_its_share) {
  slp_pace p;
  uint32_t limit;
  slp_pace_init(&p);
  slp_pace_reserve(&p, 16 << 20, 15 << 20, &limit);
  CHECK_INT(limit, SLP_PACE_FIRST_LIMIT);
  for (int i = 0; i < 10; i++) slp_pace_page(&p, limit, 1000, 1, 1, 10000);
  CHECK(slp_pace_reserve(&p, 16 << 20, 15 << 20, &limit) <= 15 << 20);
  CHECK_INT(limit, 10000);
  for (int i = 0; i < 10; i++) slp_pace_page(&p, 3, 10 << 20, 0, 1, 10000);
  CHECK(slp_pace_reserve(&p, 1 << 20, 15 << 20, &limit) <= 1 << 20);
  CHECK_INT(limit, 1);
  slp_pace_page(&p, 0, 0, 0, 1, 10000);
  CHECK(slp_pace_reserve(&p, 16 << 20, 15 << 20, &limit) <= 65536);
}

TEST(a_shard_at_its_tip_may_wait_for_others_until_its_period_is_over_and_one_behind_may_not) {
  CHECK_INT(slp_pace_slack_us(930000, 0, 0, 1000), 70000);
  CHECK_INT(slp_pace_slack_us(200000, 0, 0, 200),
            5000); /* the floor is no sooner than that, so a bit later */
  CHECK_INT(slp_pace_slack_us(100000, 0, 0, 100), 2500);
  CHECK_INT(slp_pace_slack_us(2000000, 0, 0, 1000), 5000);
  CHECK_INT(slp_pace_slack_us(10000000, 0, 0, 10000), 5000);
  CHECK_INT(slp_pace_slack_us(200000, 0, 1, 1000), 0);
  CHECK_INT(slp_pace_slack_us(200000, 1, 1, 1000), 0);
  CHECK_INT(slp_pace_slack_us(0, 0, 0, 1000), 0); /* the first call of all */
}
