/* lease/clear.c: the note tells of one number only, and nonsense is no note. */
#include "lease/clear.h"
#include "check.h"

static slp_position after(const char *seq, int64_t clear_ms) {
  slp_position p = {.kind = SLP_POSITION_AFTER};
  slp_mark_set(&p.mark, slp_str_of(seq), 7, -1);
  p.mark.clear_ms = clear_ms;
  return p;
}

static int64_t reads(const char *text, slp_position p) {
  p.mark.clear_ms = -1;
  slp_clear_read(slp_str_of(text), &p);
  return p.mark.clear_ms;
}

TEST(what_is_written_is_read) {
  char out[SLP_CLEAR_TEXT];
  slp_position p = after("495", 1700000000123);
  slp_str text = {out, slp_clear_write(&p, out)};
  CHECK_TEXT(text, "1700000000123:495");
  slp_clear_read(text, &p);
  CHECK(p.mark.clear_ms == 1700000000123);
  CHECK(reads("1700000000123:0495", after("495", 0)) == 1700000000123);
}

TEST(nothing_is_said_of_other_positions) {
  char out[SLP_CLEAR_TEXT];
  slp_position p = after("495", -1);
  CHECK_INT(slp_clear_write(&p, out), 0);
  p = after("495", 5);
  p.kind = SLP_POSITION_AT;
  CHECK_INT(slp_clear_write(&p, out), 0);
  p = after("495", 5);
  p.mark.idle = 1;
  CHECK_INT(slp_clear_write(&p, out), 0);
}

TEST(a_note_of_another_number_is_void_and_so_is_nonsense) {
  CHECK(reads("1700000000123:496", after("495", 0)) == -1);
  static const char *const nonsense[] = {"",      ":495", "5",       "x:495",  "-5:495",
                                         "5:49x", "5:",   "5:495:1", " 5:495", "18446744073709551615:495"};
  for (size_t i = 0; i < SLP_COUNT(nonsense); i++) CHECK(reads(nonsense[i], after("495", 0)) == -1);
}
