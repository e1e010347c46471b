/* mark.c - the one form of a sequence number, and the form that a row has. */
#include "core/mark.h"

#include "check.h"

#include <stdio.h>

static slp_mark of(const char *seq, uint32_t sub) {
  slp_mark m;
  slp_mark_set(&m, slp_str_of(seq), sub, 7);
  return m;
}

TEST(a_number_has_one_form_whoever_wrote_it) {
  static const struct {
    const char *text, *kinesis, *changes;
  } cases[] = {{"100", "100", "000000000000000000100"},
               {"0000100", "100", "000000000000000000100"},
               {"000000000000000000100", "100", "000000000000000000100"},
               {"0000000000000000000000000100", "100", "000000000000000000100"},
               {"0", "0", "000000000000000000000"},
               {"000", "0", "000000000000000000000"},
               {"300000000000000499659", "300000000000000499659", "300000000000000499659"},
               {"00300000000000000499659", "300000000000000499659", "300000000000000499659"},
               {"1234567890123456789012345", "1234567890123456789012345", "1234567890123456789012345"}};
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    for (unsigned least = 0; least < 2; least++) {
      slp_mark m = of(cases[i].text, 4);
      slp_mark_canonical(&m, least);
      CHECK(slp_str_is(slp_mark_seq(&m), cases[i].kinesis) && m.sub == 4 && m.arrived_ms == 7 && !m.row_n);
    }
    slp_mark m = of(cases[i].text, 4);
    slp_mark_canonical(&m, 21);
    CHECK(slp_str_is(slp_mark_seq(&m), cases[i].changes) && m.sub == 4);
    slp_mark_canonical(&m, 21); /* and stays so */
    CHECK(slp_str_is(slp_mark_seq(&m), cases[i].changes));
  }
  slp_mark none = of("", 0);
  slp_mark_canonical(&none, 21);
  CHECK_INT(none.seq_n, 0);
}

/* botocore's model of Kinesis: 0|([1-9]\d{0,128}). */
TEST(a_number_that_has_been_made_canonical_is_one_that_kinesis_takes) {
  char text[SLP_SEQ_MAX + 1];
  for (size_t zeros = 0; zeros <= SLP_SEQ_MAX; zeros++) {
    memset(text, '0', zeros);
    memset(text + zeros, '7', SLP_SEQ_MAX - zeros);
    text[SLP_SEQ_MAX] = 0;
    slp_mark m = of(text, 0);
    slp_mark_canonical(&m, 1);
    CHECK(slp_num_plain(slp_mark_seq(&m)));
    CHECK_INT(slp_num_cmp(slp_mark_seq(&m), slp_str_of(text)), 0);
  }
}

TEST(a_row_is_asked_for_by_the_digits_that_it_has) {
  static const char *const rows[] = {"100", "0000100", "000000000000000000100",
                                     "0",   "00",      "00300000000000000499659"};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    for (unsigned least = 1; least <= 21; least += 20) {
      slp_mark m = of(rows[i], 3);
      slp_mark_read_canonical(&m, least);
      slp_mark back = slp_mark_of_row(&m);
      CHECK(slp_str_is(slp_mark_seq(&back), rows[i]) && back.sub == 3 && !back.row_n);
      CHECK_INT(m.row_n != 0, !slp_str_is(slp_mark_seq(&m), rows[i]));
    }
  }
  slp_mark m = of("00100", 3);
  slp_mark_read_canonical(&m, 1);
  slp_mark_set(&m, SLP_STR("101"), 0, 1);
  CHECK_INT(m.row_n, 0); /* another number is no row's */
}
