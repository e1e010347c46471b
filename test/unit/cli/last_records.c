/* last_records.c - which of the records that are read are among the last N. */
#include "cli/last_records.h"

#include "check.h"

static int has(slp_last_records *l, int64_t at_ms) {
  sloop_record_t r = {.arrived_at_ms = at_ms};
  return slp_last_records_has(l, &r);
}

TEST(records_of_the_first_moment_that_are_too_many_are_left_out) {
  slp_last_records l = {.state = SLP_LAST_FOUND, .start_ms = 100, .skip = 2, .left = 2};
  CHECK(!has(&l, 100) && !has(&l, 100));
  CHECK(has(&l, 100) && !slp_last_records_over(&l) && has(&l, 101));
  CHECK(slp_last_records_over(&l) && has(&l, 102));
}

TEST(an_older_record_behind_a_newer_one_takes_nobodys_place) {
  slp_last_records l = {.state = SLP_LAST_FOUND, .start_ms = 100, .left = 2};
  CHECK(has(&l, 100) && !has(&l, 98) && !slp_last_records_over(&l));
  CHECK(has(&l, 105) && slp_last_records_over(&l));
}
