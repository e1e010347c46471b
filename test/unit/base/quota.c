/* quota.c - turns of calls that are counted for an account: never more than the limit in a second, in the order of
 * asking, and slower after a refusal. */
#include "base/quota.h"

#include <stdio.h>

#include "check.h"

static slp_quotas quotas;

static uint64_t take(const char *kind, uint32_t a_second, uint64_t now_us) {
  return slp_quota_take(&quotas, slp_str_of(kind), a_second, now_us);
}

TEST(as_many_as_the_limit_go_at_once_and_the_next_a_window_later) {
  for (int i = 0; i < 10; i++) CHECK_INT(take("a", 10, 1000000), 1000000);
  for (int i = 0; i < 10; i++) CHECK_INT(take("a", 10, 1000000), 1000000 + SLP_QUOTA_WINDOW_US);
  CHECK_INT(take("a", 10, 1000000), 1000000 + 2 * SLP_QUOTA_WINDOW_US);
}

/* Whatever the times of asking, in any window there are as many as the limit at most, and not fewer than asked. */
TEST(no_window_has_more_than_the_limit) {
  for (uint32_t limit = 1; limit <= SLP_QUOTA_CALLS_MAX; limit++) {
    uint64_t at[400], now = 5;
    quotas = (slp_quotas){0};
    for (uint32_t i = 0; i < SLP_COUNT(at); i++) {
      now += i % 7 * 13000 + i % 50 * 1000;
      at[i] = take("a", limit, now);
      CHECK(at[i] >= now && (i == 0 || at[i] >= at[i - 1]));
      if (i >= limit) CHECK(at[i] - at[i - limit] >= SLP_QUOTA_WINDOW_US);
      if (at[i] > now) CHECK_INT(at[i], at[i - limit] + SLP_QUOTA_WINDOW_US);
    }
  }
}

TEST(kinds_are_counted_apart) {
  for (int i = 0; i < 10; i++) CHECK_INT(take("a", 10, 7), 7);
  CHECK_INT(take("b", 10, 7), 7);
  CHECK(take("a", 10, 7) > 7);
}

/* More kinds than there is room for: those not used lately go, and no limit is broken when none can. */
TEST(many_kinds_share_rather_than_break_a_limit) {
  char kind[20];
  for (unsigned k = 0; k < 3 * SLP_QUOTA_KINDS_MAX; k++) {
    snprintf(kind, sizeof kind, "k%u", k);
    uint64_t first = take(kind, 1, 1000000);
    CHECK(k < SLP_QUOTA_KINDS_MAX ? first == 1000000 : first > 1000000);
  }
  quotas = (slp_quotas){0};
  for (unsigned k = 0; k < 3 * SLP_QUOTA_KINDS_MAX; k++) {
    snprintf(kind, sizeof kind, "k%u", k);
    uint64_t now = 1000000 + k * UINT64_C(20000000);
    CHECK_INT(take(kind, 1, now), now);
  }
}

TEST(a_refusal_halves_the_calls_and_a_quiet_time_doubles_them_again) {
  uint64_t now = 1000000;
  CHECK_INT(take("a", 1, now), now);
  for (int i = 0; i < 5; i++)
    slp_quota_refused(&quotas, SLP_STR("a"), now); /* of calls that were out together */
  CHECK_INT(take("a", 1, now), now + 2 * SLP_QUOTA_WINDOW_US);
  for (int i = 0; i < 6; i++) slp_quota_refused(&quotas, SLP_STR("a"), now += 9 * SLP_QUOTA_WINDOW_US);
  uint64_t was = take("a", 1, now);
  CHECK_INT(take("a", 1, was), was + 8 * SLP_QUOTA_WINDOW_US);
  now = was + 10 * (uint64_t)SLP_QUOTA_SLOWED_US;
  CHECK_INT(take("a", 1, now), now);
  CHECK_INT(take("a", 1, now), now + SLP_QUOTA_WINDOW_US);
}
