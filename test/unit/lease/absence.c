/* lease/absence.c: a gap between two notes is an absence if it is longer than what was planned can be. */
#include "lease/absence.h"

#include "check.h"

#define L UINT64_C(10000000)

TEST(who_notes_as_planned_was_never_away) {
  slp_absence a = {.seen_us = 0};
  uint64_t now = UINT64_C(1) << 40; /* the clock's beginning is nobody's absence */
  for (int i = 0; i < 100; i++, now += slp_absence_every_us(L)) CHECK(slp_absence_note(&a, now, L) == 0);
  CHECK(slp_absence_note(&a, now + L * 2 / 10, L) == 0); /* late, and no absence */
}

TEST(a_gap_is_an_absence_that_ends_with_the_note_behind_it) {
  slp_absence a = {.seen_us = 0};
  slp_absence_note(&a, 1000, L);
  CHECK(slp_absence_note(&a, 1000 + L / 5 * 2, L) == 0);
  uint64_t back = 1001 + L / 5 * 4;
  CHECK(slp_absence_note(&a, back, L) == back);
  CHECK(slp_absence_note(&a, back + 1, L) == back); /* and is remembered */
  CHECK(slp_absence_note(&a, back + 2 * L, L) == back + 2 * L);
}

TEST(a_clock_that_was_read_before_undoes_nothing) {
  slp_absence a = {.seen_us = 0};
  slp_absence_note(&a, 5 * L, L);
  CHECK(slp_absence_note(&a, 4 * L, L) == 0);
  CHECK(slp_absence_note(&a, 5 * L + 1, L) == 0);
}
