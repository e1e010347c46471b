/* date.c - converts days and seconds since 1970 to calendar text and back, by arithmetic alone. */
#include "codec/date.h"

#define DAY_S 86400

typedef struct civil {
  int64_t year;
  unsigned month, day, hour, minute, second, ms, weekday; /* month: 1 to 12; weekday: 0 is Sunday */
} civil;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Returns the days from 1970-01-01 to a date. Years are counted from March, so that the leap day is the last
 * day of a year. Month m (0 is March) then begins (153 m + 2) / 5 days after March 1, and 400 years have
 * 146097 days. 719468 days lie between 0000-03-01 and 1970-01-01. */
static int64_t days_of(int64_t year, unsigned month, unsigned day) {
  int64_t y = month <= 2 ? year - 1 : year;
  int64_t era = floor_div(y, 400), of_era = y - era * 400;
  int64_t of_year = (153 * (int64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of_days(int64_t days, civil *c) {
  int64_t z = days + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  int64_t m = (5 * of_year + 2) / 153;
  c->day = (unsigned)(of_year - (153 * m + 2) / 5 + 1);
  c->month = (unsigned)(m < 10 ? m + 3 : m - 9);
  c->year = year + era * 400 + (c->month <= 2);
  /* day 0, 1970-01-01, was a Thursday, which is weekday 4 */
  c->weekday = (unsigned)(((days + 4) % 7 + 7) % 7);
}

static void civil_of(int64_t ms, civil *c) {
  int64_t least = days_of(0, 1, 1) * DAY_S * 1000, most = days_of(10000, 1, 1) * DAY_S * 1000 - 1;
  ms = slp_min_i64(slp_max_i64(ms, least), most);
  int64_t days = floor_div(ms, DAY_S * 1000), rest = ms - days * DAY_S * 1000;
  date_of_days(days, c);
  c->ms = (unsigned)(rest % 1000);
  c->second = (unsigned)(rest / 1000 % 60);
  c->minute = (unsigned)(rest / 60000 % 60);
  c->hour = (unsigned)(rest / 3600000);
}

/* Writes v < 10^width as `width` digits, at most 4. */
static char *put_digits(char *out, uint64_t v, int width) {
  /* v / 1000 as a number with 32 bits behind the point, rounded up. Its digit before the point is the next;
   * then `rest` is what stands behind the point, times ten. */
  uint64_t rest = v * ((UINT64_C(1) << 32) / 1000 + 1);
  for (int i = 0; i < 4; i++, rest = (rest & 0xffffffffu) * 10) {
    if (i >= 4 - width) *out++ = (char)('0' + (rest >> 32));
  }
  return out;
}

static char *put_text(char *out, const char *text, size_t n) {
  memcpy(out, text, n);
  return out + n;
}

void slp_date_basic(int64_t ms, char out[17]) {
  civil c;
  civil_of(ms, &c);
  out = put_digits(out, (uint64_t)c.year, 4);
  out = put_digits(out, c.month, 2);
  out = put_digits(out, c.day, 2);
  *out++ = 'T';
  out = put_digits(out, c.hour, 2);
  out = put_digits(out, c.minute, 2);
  out = put_digits(out, c.second, 2);
  put_text(out, "Z", 2);
}

void slp_date_iso(int64_t ms, char out[25]) {
  civil c;
  civil_of(ms, &c);
  out = put_digits(out, (uint64_t)c.year, 4);
  *out++ = '-';
  out = put_digits(out, c.month, 2);
  *out++ = '-';
  out = put_digits(out, c.day, 2);
  *out++ = 'T';
  out = put_digits(out, c.hour, 2);
  *out++ = ':';
  out = put_digits(out, c.minute, 2);
  *out++ = ':';
  out = put_digits(out, c.second, 2);
  *out++ = '.';
  out = put_digits(out, c.ms, 3);
  put_text(out, "Z", 2);
}

static const char weekdays[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

void slp_date_http(int64_t ms, char out[30]) {
  civil c;
  civil_of(ms, &c);
  out = put_text(out, weekdays + 3 * c.weekday, 3);
  out = put_text(out, ", ", 2);
  out = put_digits(out, c.day, 2);
  *out++ = ' ';
  out = put_text(out, months + 3 * (c.month - 1), 3);
  *out++ = ' ';
  out = put_digits(out, (uint64_t)c.year, 4);
  *out++ = ' ';
  out = put_digits(out, c.hour, 2);
  *out++ = ':';
  out = put_digits(out, c.minute, 2);
  *out++ = ':';
  out = put_digits(out, c.second, 2);
  put_text(out, " GMT", 5);
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Takes exactly `width` digits off the front of s. Returns 1, or 0 if s begins with fewer digits. */
static int take_digits(slp_str *s, size_t width, unsigned *ret) {
  unsigned v = 0;
  if (s->n < width) return 0;
  for (size_t i = 0; i < width; i++) {
    if (s->p[i] < '0' || s->p[i] > '9') return 0;
    v = v * 10 + (unsigned)(s->p[i] - '0');
  }
  *s = (slp_str){s->p + width, s->n - width};
  *ret = v;
  return 1;
}

static int take_char(slp_str *s, char c) {
  if (!s->n || s->p[0] != c) return 0;
  *s = (slp_str){s->p + 1, s->n - 1};
  return 1;
}

static int take_text(slp_str *s, slp_str text) {
  if (s->n < text.n || memcmp(s->p, text.p, text.n) != 0) return 0;
  *s = (slp_str){s->p + text.n, s->n - text.n};
  return 1;
}

/* Takes one of the three-letter names off the front of s. Returns its index in `names`, or -1. */
static int take_name(slp_str *s, const char *names, int count) {
  for (int i = 0; i < count; i++) {
    if (take_text(s, (slp_str){names + 3 * i, 3})) return i;
  }
  return -1;
}

/* Computes the Unix time in ms. Returns 1, or 0 if the date does not exist. A leap second (:60) is read as
 * the second after it. */
static int civil_ms(const civil *c, int64_t *ret_ms) {
  static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (c->month < 1 || c->month > 12 || c->day < 1 || c->hour > 23 || c->minute > 59 || c->second > 60)
    return 0;
  int leap = c->year % 4 == 0 && (c->year % 100 != 0 || c->year % 400 == 0);
  if (c->day > lengths[c->month - 1] + (leap && c->month == 2 ? 1u : 0u)) return 0;
  int64_t seconds = days_of(c->year, c->month, c->day) * DAY_S + c->hour * 3600 + c->minute * 60 + c->second;
  *ret_ms = seconds * 1000 + c->ms;
  return 1;
}

int slp_date_parse_http(slp_str s, int64_t *ret_ms) {
  civil c = {0};
  unsigned year;
  int64_t ms;
  if (take_name(&s, weekdays, 7) < 0 || !take_text(&s, SLP_STR(", ")) || !take_digits(&s, 2, &c.day) ||
      !take_char(&s, ' ')) {
    return SLP_EBADDATA;
  }
  c.month = (unsigned)(take_name(&s, months, 12) + 1);
  if (!take_char(&s, ' ') || !take_digits(&s, 4, &year) || !take_char(&s, ' ') ||
      !take_digits(&s, 2, &c.hour) || !take_char(&s, ':') || !take_digits(&s, 2, &c.minute) ||
      !take_char(&s, ':') || !take_digits(&s, 2, &c.second) || !take_text(&s, SLP_STR(" GMT")) || s.n) {
    return SLP_EBADDATA;
  }
  c.year = year;
  if (!civil_ms(&c, &ms)) return SLP_EBADDATA;
  *ret_ms = ms;
  return 0;
}

/* Reads the digits of a fraction of a second, behind its dot. Digits below a millisecond are cut off. Returns
 * 1, or 0 if there is no digit. */
static int take_fraction(slp_str *s, unsigned *ret_ms) {
  unsigned digit, weight = 100, ms = 0;
  if (!take_digits(s, 1, &digit)) return 0;
  do {
    ms += digit * weight;
    weight /= 10;
  } while (take_digits(s, 1, &digit));
  *ret_ms = ms;
  return 1;
}

/* Reads a time zone (nothing, Z, +hh:mm or -hhmm), behind which the text must end. Returns 1, or 0 if the
 * text is something else. */
static int take_zone(slp_str *s, int64_t *ret_offset_ms) {
  unsigned hours, minutes;
  *ret_offset_ms = 0;
  if (!s->n) return 1;
  if (take_char(s, 'Z') || take_char(s, 'z')) return s->n == 0;
  int minus = s->p[0] == '-';
  if (!take_char(s, '+') && !take_char(s, '-')) return 0;
  if (!take_digits(s, 2, &hours)) return 0;
  take_char(s, ':');
  if (!take_digits(s, 2, &minutes) || s->n || hours > 23 || minutes > 59) return 0;
  int64_t offset = ((int64_t)hours * 60 + minutes) * 60000;
  *ret_offset_ms = minus ? -offset : offset;
  return 1;
}

int slp_date_parse_iso(slp_str s, int64_t *ret_ms) {
  civil c = {0};
  unsigned year;
  int64_t ms, offset = 0;
  if (!take_digits(&s, 4, &year) || !take_char(&s, '-') || !take_digits(&s, 2, &c.month) ||
      !take_char(&s, '-') || !take_digits(&s, 2, &c.day)) {
    return SLP_EBADDATA;
  }
  c.year = year;
  if (s.n) {
    if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' ')) return SLP_EBADDATA;
    if (!take_digits(&s, 2, &c.hour) || !take_char(&s, ':') || !take_digits(&s, 2, &c.minute))
      return SLP_EBADDATA;
    if (take_char(&s, ':')) {
      if (!take_digits(&s, 2, &c.second)) return SLP_EBADDATA;
      if (take_char(&s, '.') && !take_fraction(&s, &c.ms)) return SLP_EBADDATA;
    }
    if (!take_zone(&s, &offset)) return SLP_EBADDATA;
  }
  if (!civil_ms(&c, &ms)) return SLP_EBADDATA;
  *ret_ms = ms - offset;
  return 0;
}
