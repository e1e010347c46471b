/* delay.c - what is learned from delays, against drawn ones: how many records come after later ones were let
 * out, and how long all of them wait for that. */
#include "core/delay.h"
#include "base/base.h"
#include "check.h"

#include <math.h>

#define S 1000000u
#define CLOCKS_MS 1700000000123 /* the service's less ours */

static uint64_t seed;
static double draw(void) { /* above 0, below 1 */
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) { return sqrt(-2 * log(draw())) * cos(6.283185307179586 * draw()); }

static void learn(slp_delay *d, uint64_t stored_us, uint64_t delay_us) {
  int64_t stamp_ms = (int64_t)(stored_us / 1000) + CLOCKS_MS;
  slp_delay_learn(d, stamp_ms, stamp_ms, stored_us + delay_us);
}

TEST(nothing_is_known_before_some_events_came_and_nonsense_teaches_nothing) {
  slp_delay d = {0};
  for (int i = 0; i < 7; i++) learn(&d, 10 * S, 70000);
  slp_delay_learn(&d, -1, 5, 10 * S);
  slp_delay_learn(&d, 6, 5, 10 * S);
  slp_delay_learn(&d, 5, INT64_MAX, 10 * S);
  CHECK(slp_delay_over_us(&d, CLOCKS_MS) == UINT64_MAX);
  CHECK(slp_delay_came_until_ms(&d, 10 * S) == INT64_MIN);
  learn(&d, 10 * S, 70000);
  CHECK_INT(slp_delay_over_us(&d, CLOCKS_MS + 10000), 10072000);
  CHECK_INT(slp_delay_came_until_ms(&d, 10072000), CLOCKS_MS + 10000);
  CHECK(slp_delay_over_us(&d, INT64_MAX) == UINT64_MAX);
  CHECK(slp_delay_over_us(&d, -1) == UINT64_MAX);
  learn(&d, 10 * S, 20 * S); /* a clock was set */
  CHECK(slp_delay_over_us(&d, CLOCKS_MS) == UINT64_MAX);
}

TEST(the_first_record_of_an_event_waited_longest) {
  slp_delay d = {0};
  for (int i = 0; i < 1000; i++) {
    int64_t last_ms = 10000 + i * 10 + CLOCKS_MS;
    slp_delay_learn(&d, last_ms - 40, last_ms, (uint64_t)(10000 + i * 10) * 1000 + 5000);
  }
  /* 5 to 45 ms; a quarter and a little more for what was not seen. */
  uint64_t over_us = slp_delay_over_us(&d, CLOCKS_MS + 30000);
  CHECK(over_us >= 30055000 && over_us < 30060000);
}

TEST(what_was_slow_is_forgotten_only_after_enough_events) {
  slp_delay d = {0};
  for (int i = 0; i < 100; i++) learn(&d, 10 * S + (uint64_t)i * 1000, i == 50 ? 150000 : 50000);
  CHECK(slp_delay_over_us(&d, CLOCKS_MS) > 150000);
  for (uint64_t i = 0; i < 60; i++) learn(&d, 100 * S + i * S, 50000); /* a minute, but few of them */
  CHECK(slp_delay_over_us(&d, CLOCKS_MS) > 150000);
  for (uint64_t i = 0; i < 80; i++) learn(&d, 200 * S + i * S, 50000);
  CHECK(slp_delay_over_us(&d, CLOCKS_MS) < 60000);
}

typedef struct service {
  double each_s, middle_s, sigma; /* one record each, delays log-normal */
} service;

/* 20,000 records of many shards; a record is let out when all earlier ones should be here. late: those that come
 * after a later one was let out. */
static void play(const service *sv, uint64_t from, uint32_t *ret_late, double *ret_longest_s) {
  enum { N = 20000 };
  static uint64_t stored[N], came[N];
  static uint32_t order[N];
  slp_delay d = {0};
  double at_s = 100;
  seed = from;
  for (uint32_t i = 0; i < N; i++) {
    at_s -= sv->each_s * log(draw());
    stored[i] = (uint64_t)(at_s * 1e6);
    came[i] = stored[i] + (uint64_t)(sv->middle_s * exp(sv->sigma * normal()) * 1e6);
    uint32_t k = i;
    for (; k > 0 && came[order[k - 1]] > came[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  *ret_late = 0;
  *ret_longest_s = 0;
  int64_t out_ms = INT64_MIN; /* all that is older may be out */
  for (uint32_t k = 0; k < N; k++) {
    uint64_t now_us = came[order[k]];
    int64_t stamp_ms = (int64_t)(stored[order[k]] / 1000) + CLOCKS_MS;
    out_ms = slp_max_i64(out_ms, slp_delay_came_until_ms(&d, now_us));
    *ret_late += stamp_ms < out_ms;
    learn(&d, stored[order[k]], came[order[k]] - stored[order[k]]);
    if (k > N / 2) {
      double waits_s = (double)(slp_delay_over_us(&d, stamp_ms) - stored[order[k]]) * 1e-6;
      if (waits_s > *ret_longest_s) *ret_longest_s = waits_s;
    }
  }
}

TEST(fewer_than_one_in_a_thousand_comes_too_late_and_the_wait_is_as_long_as_delays_differ) {
  static const service services[] = {
      {0.5, 0.06, 0.25}, {0.05, 0.06, 0.25}, {0.005, 0.06, 0.25}, {0.0005, 0.06, 0.25},
      {0.05, 0.07, 0.4}, {0.005, 0.07, 0.4}, {0.01, 0.001, 0.5},  {0.001, 0.0005, 0.5},
  };
  for (size_t i = 0; i < SLP_COUNT(services); i++) {
    for (uint64_t from = 1; from <= 3; from++) {
      uint32_t late;
      double longest_s, most_s = services[i].middle_s * exp(services[i].sigma * 5); /* one in three million */
      play(&services[i], from, &late, &longest_s);
      if (late > 20) CHECK_FAIL("service %zu: %u of 20000 late", i, late);
      if (longest_s > 1.5 * most_s + 0.004) CHECK_FAIL("service %zu: %.3f s", i, longest_s);
    }
  }
}
