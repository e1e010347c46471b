/* svctime.c - the service's clock is bracketed by the Date headers, against a known truth. */
#include "core/svctime.h"
#include "base/base.h"
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

/* An answer each gap_us, for two minutes: how far the surest time is behind at most. Our clock gains so
 * much. */
static int64_t surely_behind_ms(uint64_t gains_ppm, uint64_t gap_us) {
  slp_svctime t = {0};
  const uint64_t base_us = 1700000000123456;
  int64_t most = 0;
  for (uint64_t real = 5 * S; real < 125 * (uint64_t)S; real += gap_us) {
    uint64_t sent = real + real * gains_ppm / 1000000, done = sent + 3000;
    int64_t real_ms = (int64_t)((base_us + real) / 1000);
    if (t.known) {
      int64_t sure_ms = slp_svctime_sure_ms(&t, sent);
      CHECK(sure_ms <= real_ms);
      most = slp_max_i64(most, real_ms - sure_ms);
    }
    slp_svctime_learn(&t, real_ms / 1000 * 1000, sent, done);
  }
  return most;
}

TEST(the_surest_time_is_never_ahead_though_our_clock_runs_too_fast) {
  CHECK(surely_behind_ms(0, 100000) < 700); /* a second begins: from there on it loses a half */
  CHECK(surely_behind_ms(83333, 100000) < 700);
  CHECK(surely_behind_ms(400000, 130000) < 700);
  CHECK(surely_behind_ms(1000000, 700000) < 2000);
  CHECK(surely_behind_ms(83333, 5100000) < 4000);
}

TEST(a_clock_that_was_set_is_believed_at_once) {
  slp_svctime t = {0};
  slp_svctime_learn(&t, 1000000, 10 * S, 10 * S + 1000);
  slp_svctime_learn(&t, 5000000, 11 * S, 11 * S + 1000);
  CHECK(slp_svctime_low_ms(&t, 11 * S + 1000) >= 5000000 - 2);
  slp_svctime_learn(&t, 900000, 12 * S, 12 * S + 1000);
  CHECK(slp_svctime_high_ms(&t, 12 * S) <= 901002);
  CHECK(slp_svctime_sure_ms(&t, 12 * S + 1000) <= 900001 && slp_svctime_sure_ms(&t, 14 * S + 1000) == 901000);
}

TEST(nothing_is_known_before_the_first_answer_and_nonsense_teaches_nothing) {
  slp_svctime t = {0};
  CHECK(slp_svctime_low_ms(&t, S) == INT64_MIN && slp_svctime_high_ms(&t, S) == INT64_MAX);
  CHECK(slp_svctime_sure_ms(&t, S) == INT64_MIN);
  slp_svctime_learn(&t, -1, S, 2 * S);
  slp_svctime_learn(&t, INT64_MAX, S, 2 * S);
  slp_svctime_learn(&t, 1000, 2 * S, S);
  CHECK(!t.known);
}

/* Dates that were far ahead, and then right; and then a second's part ahead, which contradicts nothing at first. */
TEST(a_moment_is_no_later_than_what_is_known_now_allows) {
  const int64_t truth_ms = 1700000000000; /* service minus ours */
  slp_svctime t = {0};
  slp_moment m = {INT64_MIN, 0};
  CHECK_INT(slp_svctime_moment_ms(&t, &m), INT64_MIN);
  slp_svctime_learn(&t, INT64_C(4070908800000), 10 * S, 10 * S + 5000);
  slp_svctime_raise(&t, &m, (slp_moment){slp_svctime_low_ms(&t, 10 * S), 10 * S});
  CHECK(slp_svctime_moment_ms(&t, &m) > INT64_C(4070908700000));
  slp_svctime_learn(&t, truth_ms + 12000, 12 * S, 12 * S + 5000);
  int64_t ms = slp_svctime_moment_ms(&t, &m);
  CHECK(ms <= truth_ms + 10000 && ms >= truth_ms + 10000 - 1000 - 5);
  slp_moment earlier = {truth_ms + 8000, 8 * S}, later = {truth_ms + 12000 - 5, 12 * S};
  slp_svctime_raise(&t, &m, earlier);
  CHECK_INT(m.us, 10 * S);
  slp_svctime_raise(&t, &m, later); /* though it has fewer milliseconds */
  CHECK_INT(m.us, 12 * S);
  CHECK_INT(slp_svctime_moment_ms(&t, &m), truth_ms + 12000 - 5);
  /* What is known less well later takes no more from it than our clocks may have drifted apart meanwhile. */
  slp_svctime_learn(&t, truth_ms + 62000, 62 * S + 900000, 62 * S + 990000);
  ms = slp_svctime_moment_ms(&t, &m);
  CHECK(ms < truth_ms + 12000 && ms >= truth_ms + 12000 - 5 - 51);
}
