/* gate.c - requests are spaced by what is refused and served, against a table that grants so much a second. */
#include "lease/gate.h"
#include "check.h"

#define S UINT64_C(1000000)

/* Every request is sent when the gate lets it pass; the table has so many units a second and one saved up. */
typedef struct table {
  double units_s, left;
  uint64_t at_us, served, refused;
} table;

static uint64_t dice = 1;
static uint64_t roll(void) { return dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u; }

static void ask(slp_gate *g, table *t, uint64_t now_us) {
  if (!slp_gate_passes(g, now_us, roll() >> 33)) return;
  t->left += (double)(now_us - t->at_us) / 1e6 * t->units_s;
  if (t->left > 1) t->left = 1;
  t->at_us = now_us;
  if (t->left >= 1) {
    t->left -= 1;
    t->served++;
    slp_gate_served(g);
  } else {
    t->refused++;
    slp_gate_refused(g, now_us, now_us, roll() >> 33);
  }
}

TEST(an_open_gate_holds_nobody_up) {
  slp_gate g = {0};
  for (uint64_t now = S; now < 2 * S; now += 10) CHECK(slp_gate_passes(&g, now, 7));
  slp_gate_served(&g);
  CHECK(slp_gate_is_open(&g));
}

TEST(requests_that_were_refused_together_count_once) {
  slp_gate g = {0};
  for (uint64_t k = 0; k < 50; k++) slp_gate_refused(&g, S, S + 1000 + k, 0);
  uint64_t gap_us = g.gap_us;
  CHECK(gap_us > 0 && gap_us < S / 10);
  slp_gate_refused(&g, S + 500, S + 2000, 0); /* sent before the gap was widened */
  CHECK(g.gap_us == gap_us);
  slp_gate_refused(&g, S + 1500, S + 3000, 0);
  CHECK(g.gap_us > gap_us);
}

TEST(a_closed_gate_lets_one_pass_and_then_waits) {
  slp_gate g = {0};
  slp_gate_refused(&g, S, S, 0);
  CHECK(!slp_gate_passes(&g, S, 0));
  uint64_t at_us = g.next_us;
  CHECK(!slp_gate_passes(&g, at_us - 1, 0) && slp_gate_passes(&g, at_us, 0) &&
        !slp_gate_passes(&g, at_us, 0));
}

/* A worker alone uses half of what the table grants at least, whether that is a unit in three seconds or
 * twenty a second, and refusals stay few. */
TEST(it_finds_what_the_table_grants) {
  static const double grants[] = {0.3, 1, 5, 20};
  for (size_t i = 0; i < SLP_COUNT(grants); i++) {
    slp_gate g = {0};
    table t = {.units_s = grants[i], .at_us = S};
    for (uint64_t now = S; now < 300 * S; now += 1000) ask(&g, &t, now);
    double most = 300 * grants[i];
    if ((double)t.served < 0.5 * most || (double)t.refused > 3 * most)
      CHECK_FAIL("of %.0f units %llu were used, %llu times it was refused", most,
                 (unsigned long long)t.served, (unsigned long long)t.refused);
  }
}

/* One has been held back for long, the other not at all: after a minute neither has twice as much as the
 * other. */
TEST(two_gates_come_to_equal_shares) {
  slp_gate slow = {0}, fast = {0};
  table t = {.units_s = 4, .at_us = S};
  for (uint64_t now = S; slow.gap_us < 5 * S; now += 10 * S) slp_gate_refused(&slow, now, now, 0);
  slow.next_us = slow.changed_us = 0;
  for (uint64_t now = 2 * S; now < 60 * S; now += 1000) {
    ask(&slow, &t, now);
    ask(&fast, &t, now);
  }
  uint64_t served[2] = {0, 0};
  for (uint64_t now = 60 * S; now < 360 * S; now += 1000) {
    uint64_t before = t.served;
    ask(&slow, &t, now);
    served[0] += t.served - before;
    before = t.served;
    ask(&fast, &t, now);
    served[1] += t.served - before;
  }
  if (served[0] > 2 * served[1] || served[1] > 2 * served[0])
    CHECK_FAIL("one was served %llu times, the other %llu times", (unsigned long long)served[0],
               (unsigned long long)served[1]);
}

/* Many workers that asked at the same moment were refused again and again; then the table grants all. */
TEST(a_gate_that_a_burst_has_closed_is_open_within_five_seconds) {
  slp_gate g = {0};
  uint64_t now = S;
  for (; g.gap_us < 300000; now += S / 5) slp_gate_refused(&g, now, now, roll() >> 33);
  uint64_t from_us = now;
  for (; !slp_gate_is_open(&g) && now < from_us + 60 * S; now += 1000)
    if (slp_gate_passes(&g, now, roll() >> 33)) slp_gate_served(&g);
  if (now - from_us > 5 * S) CHECK_FAIL("it is open after %.1f s", (double)(now - from_us) / 1e6);
}

TEST(idle_time_opens_it) {
  slp_gate g = {0};
  for (uint64_t now = S; g.gap_us < 3 * S; now += S) slp_gate_refused(&g, now, now, 0);
  uint64_t long_ago = g.next_us;
  CHECK(slp_gate_passes(&g, long_ago + 120 * S, 0));
  CHECK(slp_gate_is_open(&g));
}
