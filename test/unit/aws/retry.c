/* retry.c - waits stay within their bounds, are spread over all of them, and heed the service's wish. */
#include "aws/retry.h"
#include "check.h"

TEST(ceilings_double_from_the_first_to_the_cap) {
  CHECK_INT(slp_retry_ceiling_us(SLP_TRANSIENT, 1), 50000);
  CHECK_INT(slp_retry_ceiling_us(SLP_TRANSIENT, 2), 100000);
  CHECK_INT(slp_retry_ceiling_us(SLP_THROTTLE, 1), 1000000);
  CHECK_INT(slp_retry_ceiling_us(SLP_THROTTLE, 3), 4000000);
  for (uint32_t tries = 0; tries < 100; tries++) {
    CHECK(slp_retry_ceiling_us(SLP_TRANSIENT, tries) <= SLP_RETRY_CAP_US);
    CHECK(slp_retry_ceiling_us(SLP_TRANSIENT, tries + 1) >= slp_retry_ceiling_us(SLP_TRANSIENT, tries));
  }
  CHECK_INT(slp_retry_ceiling_us(SLP_THROTTLE, UINT32_MAX), SLP_RETRY_CAP_US);
}

TEST(waits_fill_the_whole_range_and_never_leave_it) {
  uint64_t random = 12345;
  unsigned low = 0, high = 0;
  for (int i = 0; i < 10000; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint64_t wait = slp_retry_wait_us(SLP_THROTTLE, 2, random ^ (random >> 29), 0);
    CHECK(wait <= 2000000);
    low += wait < 200000;
    high += wait > 1800000;
  }
  CHECK(low > 800 && low < 1200);
  CHECK(high > 800 && high < 1200);
  CHECK_INT(slp_retry_wait_us(SLP_TRANSIENT, 1, 0, 0), 0);
  CHECK(slp_retry_wait_us(SLP_TRANSIENT, 1, UINT64_MAX, 0) <= 50000);
}

TEST(the_services_wish_lengthens_a_wait_by_five_seconds_at_most) {
  CHECK_INT(slp_retry_wait_us(SLP_TRANSIENT, 1, 0, 700000), 700000);
  CHECK_INT(slp_retry_wait_us(SLP_TRANSIENT, 1, 0, 3600000000u), 5000000);
  CHECK_INT(slp_retry_wait_us(SLP_TRANSIENT, 1, 40000, 10), 40000); /* never shortens */
}

TEST(settings_of_tries) {
  uint32_t tries = 9;
  char why[160] = "";
  CHECK_INT(slp_retry_tries(NULL, NULL, &tries, why), 0);
  CHECK_INT(tries, 0); /* nothing was said */
  CHECK_INT(slp_retry_tries("legacy", NULL, &tries, why), 0);
  CHECK_INT(tries, 5);
  CHECK_INT(slp_retry_tries("standard", NULL, &tries, why), 0);
  CHECK_INT(tries, 3);
  CHECK_INT(slp_retry_tries("adaptive", "7", &tries, why), 0);
  CHECK_INT(tries, 7);
  CHECK_INT(slp_retry_tries(NULL, "1", &tries, why), 0);
  CHECK_INT(tries, 1);
  static const char *const bad[] = {"0", "-1", "x", "3 ", "1001", "99999999999999999999"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    why[0] = 0;
    CHECK_INT(slp_retry_tries(NULL, bad[i], &tries, why), SLP_EBADDATA);
    CHECK(strstr(why, bad[i]) != NULL);
  }
  CHECK_INT(slp_retry_tries("fast", "3", &tries, why), SLP_EBADDATA);
  CHECK(strstr(why, "fast") != NULL);
}
