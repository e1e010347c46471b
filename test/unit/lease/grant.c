/* grant.c - the waits of checkpoints against a table that serves so many of them a second and no more. */
#include "lease/grant.h"
#include "check.h"

#define S UINT64_C(1000000)

TEST(a_refusal_doubles_and_one_burst_of_them_counts_once) {
  slp_grant g = {0};
  CHECK(slp_grant_us(&g, 5 * S) == 5 * S);
  for (uint64_t k = 0; k < 100; k++) slp_grant_refused(&g, 10 * S + k);
  CHECK(slp_grant_us(&g, 5 * S) == 10 * S);
  slp_grant_refused(&g, 14 * S); /* what the change has brought is not seen yet */
  CHECK(slp_grant_us(&g, 5 * S) == 10 * S);
  slp_grant_refused(&g, 16 * S);
  CHECK(slp_grant_us(&g, 5 * S) == 20 * S);
}

TEST(fewer_writes_are_under_way_at_a_time) {
  slp_grant g = {0};
  CHECK_INT(slp_grant_window(&g, 16), 16);
  slp_grant_refused(&g, S);
  CHECK_INT(slp_grant_window(&g, 16), 8);
  slp_grant_refused(&g, 100 * S);
  CHECK_INT(slp_grant_window(&g, 16), 4);
  CHECK_INT(slp_grant_window(&g, 1), 1);
}

TEST(it_ends_at_64_times_as_long) {
  slp_grant g = {0};
  for (uint64_t now = S; now < 10000 * S; now += S) slp_grant_refused(&g, now);
  CHECK(slp_grant_us(&g, S) == 64 * S);
}

TEST(it_comes_back_while_nothing_is_refused_and_never_below_the_period) {
  slp_grant g = {0};
  slp_grant_refused(&g, S);
  slp_grant_served(&g, 2 * S);
  CHECK(slp_grant_us(&g, 4 * S) == 8 * S);
  slp_grant_served(&g, 7 * S);
  CHECK(slp_grant_us(&g, 4 * S) == 7 * S);
  for (uint64_t now = 8 * S; now < 100 * S; now += S) slp_grant_served(&g, now);
  CHECK(slp_grant_us(&g, 4 * S) == 4 * S && g.stretch == 0);
  slp_grant_served(&g, 200 * S);
  CHECK(g.stretch == 0);
}

/* So many leases, each written once a period, on a table that serves fewer a second: after the first minutes nearly
 * everything is served, and most of what is granted is used. Every period and every table. */
TEST(what_is_asked_settles_at_what_is_granted) {
  static const uint32_t granted[] = {2, 5, 10, 19};
  for (size_t k = 0; k < SLP_COUNT(granted); k++) {
    slp_grant g = {0};
    double asked = 0, used = 0, refused = 0;
    for (uint64_t s = 1; s <= 3600; s++) {
      asked += 100.0 * (double)S / (double)slp_grant_us(&g, 5 * S); /* 20 a second at most */
      uint32_t n = (uint32_t)asked, over = n > granted[k] ? n - granted[k] : 0;
      asked -= n;
      for (uint32_t i = 0; i < n - over; i++) slp_grant_served(&g, s * S);
      for (uint32_t i = 0; i < over; i++) slp_grant_refused(&g, s * S + 1);
      if (s <= 600) continue;
      used += n - over;
      refused += over;
    }
    CHECK(used / 3000 > 0.5 * granted[k]);
    CHECK(refused < used / 5);
  }
}
