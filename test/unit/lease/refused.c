/* refused.c - the note of a position that the service refuses, and how long it holds. */
#include "lease/refused.h"

#include "check.h"

static slp_lease_row row_at(const char *seq) {
  slp_lease_row row = {.position.kind = *seq ? SLP_POSITION_AFTER : SLP_POSITION_OLDEST};
  slp_mark_set(&row.position.mark, slp_str_of(seq), UINT32_MAX, -1);
  return row;
}

static uint32_t count_of(const char *text, const char *seq) {
  slp_lease_row row = row_at(seq);
  slp_refused_read(slp_str_of(text), &row);
  return row.refused_n;
}

TEST(a_note_is_of_one_position) {
  char out[SLP_REFUSED_TEXT];
  slp_operation i = {.refused_n = 3, .wall_ms = 1767225600000, .position = row_at("1234").position};
  slp_str text = {out, slp_refused_write(&i, out)};
  CHECK(slp_str_is(text, "3:1767225600000:1234"));
  slp_lease_row row = row_at("1234");
  slp_refused_read(text, &row);
  CHECK_INT(row.refused_n, 3);
  CHECK_INT(row.refused_ms, 1767225600000);
  CHECK_INT(count_of("3:1767225600000:1234", "001234"), 3); /* by value */
  CHECK_INT(count_of("3:1767225600000:1234", "1235"), 0);
  CHECK_INT(count_of("3:1767225600000:1234", ""), 0); /* set to the oldest since */
  CHECK_INT(count_of("3:1767225600000:", ""), 3);
  CHECK_INT(count_of("3:1767225600000:", "1234"), 0);
  i.position.mark.seq_n = 0;
  text.n = slp_refused_write(&i, out);
  CHECK(slp_str_is(text, "3:1767225600000:"));
}

TEST(what_makes_no_sense_is_no_note) {
  static const char *const bad[] = {"",
                                    "3",
                                    "3:",
                                    ":1:1234",
                                    "3:1",
                                    "0:1:1234",
                                    "-1:1:1234",
                                    "3:x:1234",
                                    "1001:1:1234",
                                    "3:1:12x4",
                                    "3:1:1234:",
                                    "3:99999999999999999999:1234",
                                    "3:9223372036854775808:1234"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) CHECK_INT(count_of(bad[i], "1234"), 0);
  slp_lease_row row = row_at("1234");
  row.position.kind = SLP_POSITION_END;
  slp_refused_read(SLP_STR("3:1:1234"), &row);
  CHECK_INT(row.refused_n, 0);
}

static void grows(const char *seq, const int64_t *spans, uint32_t spans_n) {
  for (uint32_t n = 1; n <= spans_n; n++) {
    slp_lease_row row = row_at(seq);
    row.refused_n = n;
    row.refused_ms = 1000000000;
    CHECK_INT(slp_refused_until_ms(&row), 1000000000 + spans[n - 1]);
    CHECK(slp_refused_waits(&row, 1000000000) && slp_refused_waits(&row, 1000000000 + spans[n - 1] - 1));
    CHECK(!slp_refused_waits(&row, 1000000000 + spans[n - 1]));
    CHECK(slp_refused_waits(&row, 1000000000 - 300000)); /* its writer's clock is ahead */
    CHECK(!slp_refused_waits(&row, 1000000000 - 900000));
  }
}

TEST(the_back_off_grows_to_ten_minutes_and_ends) {
  static const int64_t number[] = {60000, 120000, 240000, 480000, 600000, 600000};
  static const int64_t other[] = {5000, 10000, 20000, 40000, 80000, 160000, 320000, 600000, 600000};
  grows("1234", number, SLP_COUNT(number));
  grows("", other, SLP_COUNT(other));
  slp_lease_row none = {.refused_n = 0}, most = row_at("1");
  CHECK(!slp_refused_waits(&none, 0));
  most.refused_n = 1000;
  CHECK_INT(slp_refused_until_ms(&most), 600000);
}
