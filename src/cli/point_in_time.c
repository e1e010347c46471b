/* point_in_time.c - parses points in time and lengths of time. */
#include "cli/point_in_time.h"

#include "base/num.h"
#include "codec/date.h"

#define DAY_MS INT64_C(86400000)
/* How many digits a Unix time has from 2001-09-09 to 2286-11-20. A number with another count of digits is
 * refused. It may be a length of time without its unit (30), a date without its dashes (20260101), or a
 * time in another unit. */
#define SECONDS_DIGITS 10
#define MS_DIGITS 13
/* The last millisecond of the year 9999. Dates have four digits for the year, and calculations with later
 * times would overflow. */
#define LAST_MS INT64_C(253402300799999)

static int all_digits(slp_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  return s.n > 0;
}

static int64_t unit_ms(char unit) {
  switch (unit) {
    case 's': return 1000;
    case 'm': return 60 * 1000;
    case 'h': return 60 * 60 * 1000;
    case 'd': return DAY_MS;
    case 'w': return 7 * DAY_MS;
    default: return 0;
  }
}

/* Parses lengths of time such as 2h30m: numbers, each with a unit that is smaller than the unit before. */
int slp_when_parse_span(slp_str text, int64_t *ret_ms) {
  int64_t sum_ms = 0, last_unit_ms = INT64_MAX;
  if (!text.n) return SLP_EBADDATA;
  while (text.n > 0) {
    size_t digits = 0;
    while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9') digits++;
    uint64_t count;
    if (digits == text.n || slp_parse_u64((slp_str){text.p, digits}, &count) != 0) return SLP_EBADDATA;
    int64_t each_ms = unit_ms(text.p[digits]);
    if (each_ms == 0 || each_ms >= last_unit_ms) return SLP_EBADDATA;
    if (count > (uint64_t)(INT64_MAX / 4 / each_ms)) return SLP_EBADDATA;
    sum_ms += (int64_t)count * each_ms;
    if (sum_ms > INT64_MAX / 2) return SLP_EBADDATA;
    last_unit_ms = each_ms;
    text.p += digits + 1;
    text.n -= digits + 1;
  }
  *ret_ms = sum_ms;
  return 0;
}

/* Reads a number of two digits at the beginning of *s, and moves *s behind them. Returns 0 if there is no
 * such number, or if it is above `max`. */
static int take_two(slp_str *s, int max, int *ret) {
  if (s->n < 2 || !all_digits((slp_str){s->p, 2})) return 0;
  *ret = (s->p[0] - '0') * 10 + s->p[1] - '0';
  *s = (slp_str){s->p + 2, s->n - 2};
  return *ret <= max;
}

static int take_colon(slp_str *s) {
  if (!s->n || *s->p != ':') return 0;
  *s = (slp_str){s->p + 1, s->n - 1};
  return 1;
}

static int64_t offset_at(const slp_clock *clock, int64_t at_ms) {
  return clock->offset_ms ? clock->offset_ms(at_ms) : 0;
}

/* Parses 13:10[:05], a local time of today. The UTC offset of now decides which date is today; the UTC offset
 * at the parsed time decides the moment. The two offsets differ if the clocks change today. */
static int parse_today(slp_str s, const slp_clock *clock, int64_t *ret_ms) {
  int hour, minute, second = 0;
  if (!take_two(&s, 23, &hour) || !take_colon(&s) || !take_two(&s, 59, &minute)) return SLP_EBADDATA;
  if (s.n && (!take_colon(&s) || !take_two(&s, 59, &second) || s.n)) return SLP_EBADDATA;
  int64_t now_offset = offset_at(clock, clock->now_ms), local_now = clock->now_ms + now_offset;
  int64_t day = local_now / DAY_MS - (local_now % DAY_MS < 0);
  int64_t local = day * DAY_MS + ((hour * INT64_C(60) + minute) * 60 + second) * 1000;
  *ret_ms = local - offset_at(clock, local - now_offset);
  return 0;
}

int slp_when_parse(slp_str text, const slp_clock *clock, int64_t *ret_ms) {
  if (text.n == 0) return SLP_EBADDATA;
  if (all_digits(text)) {
    int64_t v;
    if (*text.p == '0' || slp_parse_i64(text, &v) != 0) return SLP_EBADDATA;
    if (text.n != SECONDS_DIGITS && text.n != MS_DIGITS) return SLP_EBADDATA;
    *ret_ms = text.n == SECONDS_DIGITS ? v * 1000 : v;
    return 0;
  }
  int64_t ms;
  if (slp_when_parse_span(text, &ms) == 0) {
    *ret_ms = ms < clock->now_ms ? clock->now_ms - ms : 0;
    return 0;
  }
  if (parse_today(text, clock, &ms) != 0 && slp_date_parse_iso(text, &ms) != 0) return SLP_EBADDATA;
  if (ms < 0 || ms > LAST_MS) return SLP_EBADDATA;
  *ret_ms = ms;
  return 0;
}

const char *slp_when_number_remedy(slp_str text) {
  if (!all_digits(text)) return NULL;
  return "a time: Unix time has 10 digits, or 13 in milliseconds; use 30s, 30m or 30h (ago), or 2026-01-01";
}
