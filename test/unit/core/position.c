/* position.c - positions of the header as core has them, and which is further on in a shard. */
#include "core/position.h"
#include "check.h"

static slp_position at(slp_position_kind kind, const char *seq, uint32_t sub) {
  slp_position p = {.kind = kind};
  if (seq) slp_mark_set(&p.mark, slp_str_of(seq), sub, -1);
  return p;
}

TEST(a_position_of_the_header_is_the_same_in_core) {
  static const struct {
    sloop_position_t from;
    slp_position_kind kind;
  } cases[] = {
      {{.kind = SLOOP_OLDEST}, SLP_POSITION_OLDEST},
      {{.kind = SLOOP_LATEST}, SLP_POSITION_LATEST},
      {{.kind = SLOOP_AT_TIME, .at_ms = 70}, SLP_POSITION_TIME},
      {{.kind = SLOOP_AT_SEQ, .seq = "495", .sub = 3}, SLP_POSITION_AT},
      {{.kind = SLOOP_AFTER_SEQ, .seq = "495", .sub = 3}, SLP_POSITION_AFTER},
      {{.kind = SLOOP_AT_END}, SLP_POSITION_END},
      {{.kind = SLOOP_AT_TOKEN, .token = "{}"}, SLP_POSITION_NONE}, /* many positions */
  };
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_position p = slp_position_of(&cases[i].from);
    CHECK_INT(p.kind, cases[i].kind);
    CHECK_INT(p.at_ms, cases[i].from.at_ms);
    CHECK_INT(p.mark.seq_n, cases[i].from.seq ? 3 : 0);
    CHECK_INT(p.mark.sub, cases[i].from.sub);
    char seq[SLP_SEQ_MAX + 1] = "";
    sloop_position_t again;
    slp_position_tell(&p, &again, seq);
    if (!p.kind) continue;
    CHECK_INT(again.kind, cases[i].from.kind);
    CHECK_INT(again.at_ms, cases[i].from.at_ms);
    CHECK_INT(again.sub, cases[i].from.sub);
    CHECK(!again.seq == !cases[i].from.seq && !again.token && !again.shard);
    if (again.seq) CHECK_STR(again.seq, cases[i].from.seq);
  }
}

/* Each is further on than all in front of it; those of one row are equally far. */
TEST(positions_are_in_the_order_of_the_shard) {
  const slp_position rows[][3] = {
      {at(SLP_POSITION_NONE, NULL, 0), at(SLP_POSITION_NONE, NULL, 0), at(SLP_POSITION_NONE, NULL, 0)},
      {at(SLP_POSITION_OLDEST, NULL, 0), at(SLP_POSITION_LATEST, NULL, 0), at(SLP_POSITION_TIME, NULL, 0)},
      {at(SLP_POSITION_AT, "9", 0), at(SLP_POSITION_AT, "9", 0), at(SLP_POSITION_AT, "9", 0)},
      {at(SLP_POSITION_AFTER, "9", 0), at(SLP_POSITION_AT, "9", 1), at(SLP_POSITION_AFTER, "9", 0)},
      {at(SLP_POSITION_AFTER, "9", 1), at(SLP_POSITION_AT, "9", 2), at(SLP_POSITION_AFTER, "9", 1)},
      {at(SLP_POSITION_AT, "10", 0), at(SLP_POSITION_AT, "10", 0),
       at(SLP_POSITION_AT, "10", 0)}, /* numbers */
      {at(SLP_POSITION_END, NULL, 0), at(SLP_POSITION_END, NULL, 0), at(SLP_POSITION_END, NULL, 0)},
  };
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    for (size_t k = 0; k < SLP_COUNT(rows); k++) {
      for (int n = 0; n < 9; n++) {
        int c = slp_position_cmp(&rows[i][n / 3], &rows[k][n % 3]);
        CHECK_INT((c > 0) - (c < 0), (i > k) - (i < k));
      }
    }
  }
}

TEST(reading_begins_the_same_way) {
  slp_position noon = at(SLP_POSITION_TIME, NULL, 0), one = noon;
  slp_position oldest = at(SLP_POSITION_OLDEST, NULL, 0), latest = at(SLP_POSITION_LATEST, NULL, 0);
  slp_position behind = at(SLP_POSITION_AFTER, "9", 0), next = at(SLP_POSITION_AT, "9", 1);
  one.at_ms = 1;
  CHECK(slp_position_same(&noon, &noon) && slp_position_same(&oldest, &oldest));
  CHECK(!slp_position_same(&noon, &one) && !slp_position_same(&oldest, &latest));
  CHECK(slp_position_same(&behind, &next) && !slp_position_same(&behind, &oldest));
}
