/* schema_sloop_pos.c - writes a position as text. The later position has the greater text, compared byte by
 * byte. So a condition on the text is enough for the table to refuse a step backwards:
 *
 *   0:oldest   0:time:MS   <   1:LLLDIGITS:SUB   <   1:LLLDIGITS:idle:MS   <   9:end
 *
 * LLL is the number of digits as three digits, so that numbers of any length compare correctly as text.
 * The number DIGITS has the leading zeros that core/mark.c gives it, and no others. SUB has ten digits:
 * 0000000000 is at the record, k+1 is after its sub-record k, 9999999999 is after the whole record.
 *
 * `idle` means that no record has the number DIGITS: the service gave the number when no further record had
 * come until the time MS, which has thirteen digits. */
#include "base/num.h"
#include "core/mark.h"
#include "core/position.h"
#include "store/schema_sloop.h"

#include <stdio.h>

#define WHOLE UINT64_C(9999999999)
/* the greatest number of thirteen digits, a time in the year 2286 */
#define IDLE_MS_MAX INT64_C(9999999999999)

size_t slp_pos_write(const slp_position *position, char out[SLP_POS_TEXT]) {
  const slp_mark *m = &position->mark;
  int n = 0;
  switch (position->kind) {
    case SLP_POSITION_NONE:
    case SLP_POSITION_LATEST: return 0;
    case SLP_POSITION_OLDEST: n = snprintf(out, SLP_POS_TEXT, "0:oldest"); break;
    case SLP_POSITION_TIME: n = snprintf(out, SLP_POS_TEXT, "0:time:%lld", (long long)position->at_ms); break;
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER: {
      uint64_t sub = (uint64_t)m->sub + (position->kind == SLP_POSITION_AFTER);
      if (position->kind == SLP_POSITION_AFTER && m->sub == UINT32_MAX) sub = WHOLE;
      if (position->kind == SLP_POSITION_AFTER && m->idle) {
        n = snprintf(out, SLP_POS_TEXT, "1:%03u%.*s:idle:%013lld", (unsigned)m->seq_n, (int)m->seq_n, m->seq,
                     (long long)slp_min_i64(slp_max_i64(m->arrived_ms, 0), IDLE_MS_MAX));
        break;
      }
      n = snprintf(out, SLP_POS_TEXT, "1:%03u%.*s:%010llu", (unsigned)m->seq_n, (int)m->seq_n, m->seq,
                   (unsigned long long)sub);
      break;
    }
    case SLP_POSITION_END: n = snprintf(out, SLP_POS_TEXT, "9:end"); break;
  }
  SLP_CHECK(n > 0 && n < SLP_POS_TEXT);
  return (size_t)n;
}

static int cut_text_start(slp_str s, const char *with, slp_str *ret_rest) {
  size_t n = strlen(with);
  if (s.n < n || memcmp(s.p, with, n) != 0) return 0;
  *ret_rest = (slp_str){s.p + n, s.n - n};
  return 1;
}

static slp_position read_record(slp_str rest) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  uint64_t digits, sub, ms;
  if (rest.n < 3 + 1 + 11 || slp_parse_u64((slp_str){rest.p, 3}, &digits)) return position;
  slp_str seq = {rest.p + 3, (size_t)digits};
  if (digits < 1 || digits > SLP_SEQ_MAX || rest.n < 3 + digits + 11 || !slp_num_valid(seq)) return position;
  slp_str tail = {rest.p + 3 + digits, rest.n - 3 - (size_t)digits}, at;
  if (cut_text_start(tail, ":idle:", &at)) {
    if (at.n != 13 || slp_parse_u64(at, &ms)) return position;
    position.kind = SLP_POSITION_AFTER;
    slp_mark_set(&position.mark, seq, UINT32_MAX, (int64_t)ms);
    position.mark.idle = 1;
    return position;
  }
  if (tail.n != 11 || tail.p[0] != ':' || slp_parse_u64((slp_str){tail.p + 1, 10}, &sub)) return position;
  if (sub != WHOLE && sub > UINT32_MAX) return position;
  position.kind = sub ? SLP_POSITION_AFTER : SLP_POSITION_AT;
  slp_mark_set(&position.mark, seq, sub == WHOLE ? UINT32_MAX : sub ? (uint32_t)(sub - 1) : 0, -1);
  return position;
}

slp_position slp_pos_read(slp_str text) {
  slp_position position = {.kind = SLP_POSITION_NONE};
  slp_str rest;
  uint64_t ms;
  if (cut_text_start(text, "9:end", &rest) && !rest.n) {
    position.kind = SLP_POSITION_END;
  } else if (cut_text_start(text, "0:oldest", &rest) && !rest.n) {
    position.kind = SLP_POSITION_OLDEST;
  } else if (cut_text_start(text, "0:time:", &rest) && slp_parse_u64(rest, &ms) == 0 && ms <= INT64_MAX) {
    position.kind = SLP_POSITION_TIME;
    position.at_ms = (int64_t)ms;
  } else if (cut_text_start(text, "1:", &rest)) {
    position = read_record(rest);
  }
  return position;
}
