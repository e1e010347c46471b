/* fuzz_date.c - times as text against libc's strptime and timegm: what is taken means the same to both, what
 * we would write is taken, and what is written of any number of milliseconds reads as that number. */
#include "codec/date.h"

#include <time.h>

#include "fuzz.h"

#define YEAR_0 INT64_C(-62167219200000)    /* 0000-01-01T00:00:00.000Z */
#define YEAR_9999 INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

static int64_t libc_ms(const struct tm *tm) {
  struct tm copy = *tm;
  return (int64_t)timegm(&copy) * 1000;
}

static void http(const char *z, size_t n) {
  struct tm tm = {0};
  int64_t ms = INT64_MIN;
  char again[30];
  int r = slp_date_parse_http((slp_str){z, n}, &ms);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && ms == INT64_MIN));
  const char *end = memchr(z, 0, n) ? NULL : strptime(z, "%a, %d %b %Y %H:%M:%S GMT", &tm);
  if (r == 0) {
    REQUIRE(end && !*end && ms == libc_ms(&tm));
    slp_date_http(ms, again);
    /* The name of the day is not compared with the date, and a leap second is the next one. */
    REQUIRE(tm.tm_sec == 60 || memcmp(again + 3, z + 3, 26) == 0);
  } else if (end && !*end && tm.tm_year >= -1900 && tm.tm_year <= 8099) {
    slp_date_http(libc_ms(&tm), again);
    REQUIRE(n != 29 || memcmp(again, z, 29) != 0);
  }
}

/* Reads the text behind the minutes: [:SS[.f...]][zone], as the header says it. */
static int64_t rest_ms(const char *at) {
  int64_t ms = 0, weight = 100;
  if (*at == ':') {
    ms = strtol(at + 1, NULL, 10) * 1000;
    at += 3;
  }
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++, weight /= 10) ms += (*at - '0') * weight;
  if (*at != '+' && *at != '-') return ms;
  int64_t hours = (at[1] - '0') * 10 + at[2] - '0';
  const char *minutes = at + (at[3] == ':' ? 4 : 3);
  int64_t offset = (hours * 60 + (minutes[0] - '0') * 10 + minutes[1] - '0') * 60000;
  return *at == '+' ? ms - offset : ms + offset;
}

static void iso(const char *z, size_t n) {
  struct tm tm = {0};
  int64_t ms = INT64_MIN, again;
  char text[25];
  int r = slp_date_parse_iso((slp_str){z, n}, &ms);
  REQUIRE(r == 0 || (r == SLP_EBADDATA && ms == INT64_MIN));
  if (r) return;
  const char *end = strptime(z, "%Y-%m-%d", &tm);
  REQUIRE(end == z + 10);
  if (n > 10) {
    end = strptime(z + 11, "%H:%M", &tm);
    REQUIRE(end == z + 16);
  }
  REQUIRE(ms == libc_ms(&tm) + rest_ms(end));
  if (ms < YEAR_0 || ms > YEAR_9999) return; /* by its zone */
  slp_date_iso(ms, text);
  REQUIRE(slp_date_parse_iso(slp_str_of(text), &again) == 0 && again == ms);
}

static int64_t floor_seconds(int64_t ms) { return ms / 1000 * 1000 - (ms % 1000 < 0 ? 1000 : 0); }

static void written(int64_t ms) {
  char basic[17], text[25], http_text[30], want[40];
  int64_t again;
  slp_date_basic(ms, basic);
  slp_date_iso(ms, text);
  slp_date_http(ms, http_text);
  REQUIRE(strlen(basic) == 16 && strlen(text) == 24 && strlen(http_text) == 29);
  int64_t clamped = ms < YEAR_0 ? YEAR_0 : ms > YEAR_9999 ? YEAR_9999 : ms;
  REQUIRE(slp_date_parse_iso(slp_str_of(text), &again) == 0 && again == clamped);
  REQUIRE(slp_date_parse_http(slp_str_of(http_text), &again) == 0 && again == floor_seconds(clamped));
  time_t s = (time_t)(floor_seconds(clamped) / 1000);
  struct tm tm;
  REQUIRE(gmtime_r(&s, &tm));
  snprintf(want, sizeof want, "%04d%02d%02dT%02d%02d%02dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
           tm.tm_hour, tm.tm_min, tm.tm_sec);
  REQUIRE(strcmp(basic, want) == 0);
  REQUIRE(strftime(want, sizeof want, "%a, %d %b", &tm) && memcmp(http_text, want, strlen(want)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int64_t ms;
  char *z = malloc(size + 1);
  REQUIRE(z != NULL);
  memcpy(z, data, size);
  z[size] = 0;
  http(z, size);
  iso(z, size);
  if (size >= sizeof ms) {
    memcpy(&ms, data, sizeof ms);
    written(ms);
    written(ms >> 16); /* mostly within the years there are */
  }
  free(z);
  return 0;
}
