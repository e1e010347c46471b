/* shown_time.c - writes points in time for people. */
#include "program/shown_time.h"

#include "base/buf.h"
#include "codec/date.h"
#include "program/local.h"

#include <time.h>

static char *put_pair(char *to, unsigned v) {
  *to++ = (char)('0' + v / 10 % 10);
  *to++ = (char)('0' + v % 10);
  return to;
}

void slp_shown_time(int64_t at_ms, int utc, int with_ms, char out[SLP_SHOWN_TIME]) {
  char text[25];
  if (at_ms < 0) {
    memcpy(out, "-", 2);
    return;
  }
  int64_t offset_ms = utc ? 0 : slp_local_offset_ms(at_ms);
  unsigned minutes = (unsigned)((offset_ms < 0 ? -offset_ms : offset_ms) / 60000);
  slp_date_iso(at_ms + offset_ms, text);
  memcpy(out, text, sizeof text);
  out += with_ms ? 23 : 19;
  if (utc) {
    *out++ = 'Z';
  } else {
    *out++ = offset_ms < 0 ? '-' : '+';
    out = put_pair(out, minutes / 60 % 100);
    *out++ = ':';
    out = put_pair(out, minutes % 60);
  }
  *out = 0;
}

/* Returns the length of the conversion that begins with the '%' at form.p[at], or 0 if there is none. */
static size_t conversion_length(slp_str form, size_t at) {
  static const char letters[] = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";
  if (at + 1 >= form.n) return 0;
  if (form.n - at >= 3 && memcmp(form.p + at, "%3N", 3) == 0) return 3;
  return form.p[at + 1] && strchr(letters, form.p[at + 1]) ? 2 : 0;
}

int slp_time_form_check(slp_str form, size_t *ret_at) {
  for (size_t at = 0; at < form.n;) {
    size_t took = form.p[at] == '%' ? conversion_length(form, at) : 1;
    if (!took) {
      *ret_at = at;
      return SLP_EINVAL;
    }
    at += took;
  }
  return 0;
}

/* Appends the text of one conversion of strftime, such as %H. POSIX does not have %k, %l and %P, and neither
 * does musl. */
static void add_conversion(slp_buf *b, char letter, const struct tm *tm) {
  char conversion[] = {'%', letter, 0}, text[80];
  switch (letter) {
    case 'k': slp_buf_addf(b, "%2d", tm->tm_hour); return;
    case 'l': slp_buf_addf(b, "%2d", (tm->tm_hour + 11) % 12 + 1); return;
    case 'P': slp_buf_add_z(b, tm->tm_hour < 12 ? "am" : "pm"); return;
    default: slp_buf_add(b, text, strftime(text, sizeof text, conversion, tm)); return;
  }
}

int slp_time_form_add(slp_buf *b, slp_str form, int64_t at_ms, int utc) {
  time_t at_s = (time_t)(at_ms / 1000);
  struct tm tm = {0};
  if (at_ms < 0 || !(utc ? gmtime_r(&at_s, &tm) : localtime_r(&at_s, &tm))) return slp_buf_add_char(b, '-');
  for (size_t at = 0, took; at < form.n; at += took) {
    took = form.p[at] == '%' ? conversion_length(form, at) : 0;
    if (!took) {
      slp_buf_add_char(b, form.p[at]);
      took = 1;
    } else if (took == 3) {
      slp_buf_addf(b, "%03d", (int)(at_ms % 1000));
    } else if (form.p[at + 1] == 's') {
      /* not by strftime, which computes %s as if `tm` were local time, although it may be UTC */
      slp_buf_add_i64(b, at_ms / 1000);
    } else {
      add_conversion(b, form.p[at + 1], &tm);
    }
  }
  return slp_buf_failed(b);
}
