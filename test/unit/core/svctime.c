/* svctime.c - the service's clock is bracketed by the Date headers, against a known truth. */
#include "core/svctime.h"
#include "check.h"

#define S 1000000u

TEST(a_few_dozen_answers_give_the_clock_to_milliseconds_and_never_ahead) {
  slp_svctime t = {0};
  const int64_t truth_us = 1700000000123456; /* service minus ours */
  uint64_t now = 5 * S, x = 12345;
  for (int i = 0; i < 60; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint64_t sent = now, done = sent + 2000 + (x >> 33) % 8000;
    int64_t at_service = truth_us + (int64_t)(sent + (done - sent) / 2);
    slp_svctime_learn(&t, at_service / 1000000 * 1000, sent, done);
    int64_t real_ms = (truth_us + (int64_t)done) / 1000;
    CHECK(slp_svctime_low_ms(&t, done) <= real_ms);
    CHECK(slp_svctime_high_ms(&t, done) >= real_ms);
    now = done + 300000 + (x >> 20) % 700000;
  }
  CHECK(slp_svctime_high_ms(&t, now) - slp_svctime_low_ms(&t, now) < 60);
}

/* Ten answers a second for ten minutes, against a clock that runs 0.08 % slow. */
TEST(drift_between_the_clocks_never_puts_it_ahead) {
  slp_svctime t = {0};
  const int64_t base_us = 1700000000123456;
  for (uint64_t now = 5 * S; now < 605 * (uint64_t)S; now += 100000) {
    uint64_t done = now + 3000;
    int64_t service_us = base_us + (int64_t)now - (int64_t)(now / 1000000 * 800);
    slp_svctime_learn(&t, service_us / 1000000 * 1000, now, done);
    int64_t real_ms = (base_us + (int64_t)done - (int64_t)(done / 1000000 * 800)) / 1000;
    CHECK(slp_svctime_low_ms(&t, done) <= real_ms + 1);
    CHECK(slp_svctime_high_ms(&t, done) >= real_ms - 1);
  }
}

TEST(a_clock_that_was_set_is_believed_at_once) {
  slp_svctime t = {0};
  slp_svctime_learn(&t, 1000000, 10 * S, 10 * S + 1000);
  slp_svctime_learn(&t, 5000000, 11 * S, 11 * S + 1000);
  CHECK(slp_svctime_low_ms(&t, 11 * S + 1000) >= 5000000 - 2);
  slp_svctime_learn(&t, 900000, 12 * S, 12 * S + 1000);
  CHECK(slp_svctime_high_ms(&t, 12 * S) <= 901002);
}

TEST(nothing_is_known_before_the_first_answer_and_nonsense_teaches_nothing) {
  slp_svctime t = {0};
  CHECK(slp_svctime_low_ms(&t, S) == INT64_MIN && slp_svctime_high_ms(&t, S) == INT64_MAX);
  slp_svctime_learn(&t, -1, S, 2 * S);
  slp_svctime_learn(&t, INT64_MAX, S, 2 * S);
  slp_svctime_learn(&t, 1000, 2 * S, S);
  CHECK(!t.known);
}
