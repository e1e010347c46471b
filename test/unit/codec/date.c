/* Dates: vectors, and libc's calendar (timegm, gmtime_r, strftime) as the second opinion. */
#include "codec/date.h"

#include <time.h>

#include "check.h"

static uint64_t state = 362436069;
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static int iso(const char *text, int64_t *ms) { return slp_date_parse_iso(slp_str_of(text), ms); }
static int http(const char *text, int64_t *ms) { return slp_date_parse_http(slp_str_of(text), ms); }

TEST(texts_are_libcs_texts_and_read_back) {
  const int64_t least = -62167219200, span = 253402300800 + 62167219200; /* years 0 to 9999 */
  for (int i = 0; i < 200000; i++) {
    int64_t s = least + (int64_t)(next_random() % (uint64_t)span),
            ms = s * 1000 + (int64_t)(next_random() % 1000);
    time_t t = (time_t)s;
    struct tm tm;
    char ours[40], theirs[200];
    int64_t back;
    if (t != s) continue; /* libc has 32 bits for it */
    gmtime_r(&t, &tm);
    snprintf(theirs, sizeof theirs, "%04d%02d%02dT%02d%02d%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    slp_date_basic(ms, ours);
    CHECK_STR(ours, theirs);
    snprintf(theirs, sizeof theirs, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms - s * 1000));
    slp_date_iso(ms, ours);
    CHECK_STR(ours, theirs);
    CHECK_INT(iso(ours, &back), 0);
    CHECK_INT(back, ms);
    strftime(theirs, sizeof theirs, "%a, %d %b ", &tm);
    snprintf(theirs + strlen(theirs), 100, "%04d %02d:%02d:%02d GMT", tm.tm_year + 1900, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
    slp_date_http(ms, ours);
    CHECK_STR(ours, theirs);
    CHECK_INT(http(ours, &back), 0);
    CHECK_INT(back, s * 1000);
  }
}

TEST(times_beyond_the_calendar_are_clamped) {
  char out[30];
  slp_date_iso(INT64_MIN, out);
  CHECK_STR(out, "0000-01-01T00:00:00.000Z");
  slp_date_iso(INT64_MAX, out);
  CHECK_STR(out, "9999-12-31T23:59:59.999Z");
}

TEST(iso_forms) {
  int64_t ms = 7, base;
  CHECK_INT(iso("2026-01-02", &base), 0);
  CHECK_INT(base, 1767312000000);
  static const struct {
    const char *text;
    int64_t after;
  } good[] = {{"2026-01-02T03:04", 11040000},
              {"2026-01-02 03:04:05", 11045000},
              {"2026-01-02t03:04:05z", 11045000},
              {"2026-01-02T03:04:05.6", 11045600},
              {"2026-01-02T03:04:05.6789999Z", 11045678},
              {"2026-01-02T03:04:05+01:00", 7445000},
              {"2026-01-02T03:04-0130", 16440000},
              {"2026-01-02T23:59:60Z", 86400000}};
  for (size_t i = 0; i < SLP_COUNT(good); i++) {
    CHECK_INT(iso(good[i].text, &ms), 0);
    CHECK_INT(ms - base, good[i].after);
  }
  static const char *const wrong[] = {"",
                                      "2026",
                                      "2026-1-2",
                                      "2026-13-01",
                                      "2026-00-01",
                                      "2026-02-29",
                                      "2024-02-30",
                                      "2026-04-31",
                                      "2026-01-02T",
                                      "2026-01-02T03",
                                      "2026-01-02T24:00",
                                      "2026-01-02T03:60",
                                      "2026-01-02T03:04:61",
                                      "2026-01-02T03:04:05.",
                                      "2026-01-02T03:04:05ZZ",
                                      "2026-01-02T03:04:05+1",
                                      "2026-01-02T03:04:05+24:00",
                                      "2026-01-02Z",
                                      "2026-01-02T03:04:05 ",
                                      " 2026-01-02",
                                      "2026-01-02T03:04:05.Z",
                                      "-026-01-02",
                                      "1900-02-29"};
  ms = 7;
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    if (iso(wrong[i], &ms) != SLP_EBADDATA) CHECK_FAIL("%s was taken", wrong[i]);
    CHECK_INT(ms, 7);
  }
  CHECK_INT(iso("2000-02-29", &ms), 0);
}

TEST(http_dates_have_one_form) {
  int64_t ms;
  CHECK_INT(http("Sun, 06 Nov 1994 08:49:37 GMT", &ms), 0); /* RFC 9110 section 5.6.7 */
  CHECK_INT(ms, 784111777000);
  static const char *const wrong[] = {"",
                                      "Sunday, 06-Nov-94 08:49:37 GMT",
                                      "Sun Nov  6 08:49:37 1994",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 nov 1994 08:49:37 GMT",
                                      "Sun, 31 Nov 1994 08:49:37 GMT",
                                      "Xxx, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 25:49:37 GMT"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    if (http(wrong[i], &ms) != SLP_EBADDATA) CHECK_FAIL("%s was taken", wrong[i]);
  }
}
