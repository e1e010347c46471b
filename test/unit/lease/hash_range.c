/* The hash ring: which part of it no unfinished lease covers. */
#include "lease/hash_range.h"

#include "check.h"

#define LAST "340282366920938463463374607431768211455"

static slp_mem *mem;

static slp_lease_row lease(const char *from, const char *to, int ended) {
  slp_lease_row l = {.hash_start = slp_str_of(from), .hash_end = slp_str_of(to)};
  l.position.kind = ended ? SLP_POSITION_END : SLP_POSITION_OLDEST;
  return l;
}

static void check(const slp_lease_row *l, size_t n, const char *from, const char *to) {
  char a[40], b[40];
  mem = slp_mem_new(NULL, NULL);
  int r = slp_hash_range_hole(mem, l, n, a, b);
  CHECK_INT(r, from != NULL);
  if (from) CHECK_STR(a, from);
  if (from) CHECK_STR(b, to);
  slp_mem_drop(mem);
}

TEST(a_whole_ring_has_no_hole) {
  slp_lease_row l[] = {lease("10", LAST, 0), lease("0", "9", 0)};
  check(l, 2, NULL, NULL);
}

TEST(parents_and_children_may_overlap) {
  slp_lease_row l[] = {lease("0", "99", 0), lease("0", "49", 0), lease("50", "99", 0), lease("100", LAST, 0)};
  check(l, 4, NULL, NULL);
}

TEST(a_hole_at_the_beginning_within_and_at_the_end) {
  slp_lease_row l[] = {lease("10", "19", 0), lease("30", LAST, 0)};
  check(l, 2, "0", "9");
  l[0] = lease("0", "19", 0);
  check(l, 2, "20", "29");
  l[1] = lease("20", "340282366920938463463374607431768211454", 0);
  check(l, 2, LAST, LAST);
}

TEST(an_ended_lease_covers_nothing) {
  slp_lease_row l[] = {lease("0", "9", 1), lease("10", LAST, 0)};
  check(l, 2, "0", "9");
}

/* As rows that an older KCL has made, beside those of children that a newer one makes. */
TEST(a_lease_that_does_not_tell_its_range_may_cover_any_hole) {
  slp_lease_row l[] = {lease("", "", 0), lease("0", "49", 0), lease("50", "99", 0)};
  check(l, 3, NULL, NULL);
  l[0] = lease("no number", "49", 0);
  check(l, 3, NULL, NULL);
  l[0] = lease("", "", 1);
  check(l, 3, "100", LAST);
}

TEST(leases_without_ranges_are_no_ring) {
  slp_lease_row l[] = {lease("", "", 0)};
  check(l, 1, NULL, NULL);
}
