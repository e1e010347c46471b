/* Positions as text: their byte order is progress, and what is written is read. */
#include "store/schema_sloop.h"

#include "check.h"

static slp_position position(slp_position_kind kind, const char *seq, uint32_t sub) {
  slp_position s = {.kind = kind};
  if (seq) slp_mark_set(&s.mark, slp_str_of(seq), sub, -1);
  return s;
}

static slp_position idle(const char *seq, int64_t at_ms) {
  slp_position s = position(SLP_POSITION_AFTER, seq, UINT32_MAX);
  s.mark.idle = 1;
  s.mark.arrived_ms = at_ms;
  return s;
}

static slp_str text_of(const slp_position *s, char out[SLP_POS_TEXT]) {
  return (slp_str){out, slp_pos_write(s, out)};
}

static int bytes_cmp(slp_str a, slp_str b) {
  int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
  return c ? c : (a.n > b.n) - (a.n < b.n);
}

TEST(byte_order_is_progress) {
  char long_seq[130];
  memset(long_seq, '9', 129);
  long_seq[129] = 0;
  slp_position ladder[] = {
      position(SLP_POSITION_OLDEST, NULL, 0),
      position(SLP_POSITION_AT, "0", 0),
      position(SLP_POSITION_AFTER, "9", 0),
      position(SLP_POSITION_AT, "10", 0),
      position(SLP_POSITION_AFTER, "10", 0),
      position(SLP_POSITION_AFTER, "10", 1),
      position(SLP_POSITION_AFTER, "10", 999999999),
      position(SLP_POSITION_AFTER, "10", UINT32_MAX),
      idle("10", 999999999999),
      idle("10", 1790000000123),
      position(SLP_POSITION_AT, "11", 0),
      position(SLP_POSITION_AFTER, "49590338271490256608559692538361571095921575989136588898", 7),
      position(SLP_POSITION_AFTER, long_seq, 0),
      position(SLP_POSITION_END, NULL, 0),
  };
  for (size_t i = 0; i < SLP_COUNT(ladder); i++) {
    char a[SLP_POS_TEXT], b[SLP_POS_TEXT];
    slp_str x = text_of(&ladder[i], a);
    slp_position back = slp_pos_read(x);
    CHECK(back.kind == ladder[i].kind && back.mark.sub == ladder[i].mark.sub);
    CHECK_INT(back.mark.idle, ladder[i].mark.idle);
    if (back.mark.idle) CHECK_INT(back.mark.arrived_ms, ladder[i].mark.arrived_ms);
    CHECK(slp_str_eq(slp_mark_seq(&back.mark), slp_mark_seq(&ladder[i].mark)));
    for (size_t k = 0; k < SLP_COUNT(ladder); k++) {
      int want = (i > k) - (i < k);
      CHECK(bytes_cmp(x, text_of(&ladder[k], b)) * want > 0 ||
            (!want && slp_str_eq(x, text_of(&ladder[k], b))));
      CHECK(slp_position_cmp(&ladder[i], &ladder[k]) * want > 0 ||
            (!want && !slp_position_cmp(&ladder[i], &ladder[k])));
    }
  }
}

TEST(a_number_keeps_its_zeros_in_front) {
  static const char *const padded[] = {"000000000000000000000", "000000000000000000099",
                                       "000000000000000000100"};
  char a[SLP_POS_TEXT], b[SLP_POS_TEXT];
  for (size_t i = 0; i < SLP_COUNT(padded); i++) {
    slp_position all[] = {position(SLP_POSITION_AT, padded[i], 0), position(SLP_POSITION_AFTER, padded[i], 3),
                          idle(padded[i], 1790000000123)};
    for (size_t k = 0; k < SLP_COUNT(all); k++) {
      slp_position back = slp_pos_read(text_of(&all[k], a));
      CHECK_INT(back.kind, all[k].kind);
      CHECK(slp_str_is(slp_mark_seq(&back.mark), padded[i]) && slp_position_same(&back, &all[k]));
      if (!i) continue;
      slp_position before = position(SLP_POSITION_AFTER, padded[i - 1], UINT32_MAX);
      CHECK(bytes_cmp(text_of(&before, b), text_of(&all[k], a)) < 0);
    }
  }
}

TEST(a_time_comes_before_every_record) {
  slp_position t = {.kind = SLP_POSITION_TIME, .at_ms = 1767225600000};
  slp_position first = position(SLP_POSITION_AT, "0", 0);
  char a[SLP_POS_TEXT], b[SLP_POS_TEXT];
  CHECK(bytes_cmp(text_of(&t, a), text_of(&first, b)) < 0);
  CHECK(slp_pos_read(text_of(&t, a)).at_ms == 1767225600000);
  CHECK(slp_position_cmp(&t, &first) < 0);
}

TEST(what_is_no_position_is_none) {
  static const char *const bad[] = {"",
                                    "0:",
                                    "0:oldest ",
                                    "9:en",
                                    "9:ends",
                                    "1:",
                                    "1:0015",
                                    "1:001a:0000000000",
                                    "1:0025:0000000000",
                                    "1:001:0000000000",
                                    "1:0015:000000000",
                                    "1:0015:00000000000",
                                    "1:0020x:0000000000",
                                    "1:0015:5000000000",
                                    "2:oldest",
                                    "0:time:",
                                    "0:time:-1",
                                    "0:time:99999999999999999999",
                                    "LATEST",
                                    "1:0015:idle:",
                                    "1:0015:idle:179000000012",
                                    "1:0015:idle:17900000001230",
                                    "1:0015:idle:179000000012x",
                                    "1::idle:1790000000123",
                                    "1:0015:000000000x"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    if (slp_pos_read(slp_str_of(bad[i])).kind != SLP_POSITION_NONE)
      CHECK_FAIL("taken for a position: %s", bad[i]);
}

TEST(places_that_no_row_holds_have_no_text) {
  char out[SLP_POS_TEXT];
  slp_position none = {.kind = SLP_POSITION_NONE}, latest = {.kind = SLP_POSITION_LATEST};
  CHECK_INT(slp_pos_write(&none, out), 0);
  CHECK_INT(slp_pos_write(&latest, out), 0);
}
