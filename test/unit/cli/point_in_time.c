/* point_in_time.c - points in time: every way to write them, zones, and what is refused. */
#include "cli/point_in_time.h"
#include "check.h"

#define NOW_MS INT64_C(1700000000000) /* 2023-11-14T22:13:20Z */
#define HOUR_MS INT64_C(3600000)

static int64_t two_hours(int64_t at_ms) {
  (void)at_ms;
  return 2 * HOUR_MS;
}
static int64_t minus_five_and_a_half(int64_t at_ms) {
  (void)at_ms;
  return -5 * HOUR_MS - HOUR_MS / 2;
}
/* Clocks go back an hour on 2023-11-15 at 01:00 UTC: summer time is two hours ahead, winter time one. */
static int64_t autumn(int64_t at_ms) { return at_ms < INT64_C(1700010000000) ? 2 * HOUR_MS : HOUR_MS; }

static void check(const char *text, const slp_clock *clock, int64_t want_ms) {
  int64_t ms = -7;
  if (slp_when_parse(slp_str_of(text), clock, &ms) != 0) CHECK_FAIL("\"%s\" is refused", text);
  if (ms != want_ms) CHECK_FAIL("\"%s\" is %lld, not %lld", text, (long long)ms, (long long)want_ms);
}

TEST(numbers_dates_and_ago) {
  slp_clock utc = {NOW_MS, NULL};
  check("1700000000", &utc, NOW_MS);
  check("1700000000123", &utc, NOW_MS + 123);
  check("1000000000", &utc, INT64_C(1000000000000));
  check("1000000000000", &utc, INT64_C(1000000000000));
  check("9999999999", &utc, INT64_C(9999999999000));
  check("9999999999999", &utc, INT64_C(9999999999999));
  check("10m", &utc, NOW_MS - 600000);
  check("2h30m", &utc, NOW_MS - 9000000);
  check("1d", &utc, NOW_MS - 86400000);
  check("1w2d3h4m5s", &utc, NOW_MS - (((7 + 2) * 24 + 3) * 60 + 4) * INT64_C(60000) - 5000);
  check("1000000w", &utc, 0); /* before the epoch: from the beginning */
  check("2023-11-14T22:13:20Z", &utc, NOW_MS);
  check("2023-11-14 22:13:20", &utc, NOW_MS);
  check("2023-11-14T23:13:20.5+01:00", &utc, NOW_MS + 500);
  check("2023-11-14", &utc, INT64_C(1699920000000));
}

TEST(a_zone_of_this_machine_does_not_touch_dates) {
  slp_clock local = {NOW_MS, two_hours};
  check("2023-11-14", &local, INT64_C(1699920000000));
  check("2023-11-14T22:13", &local, NOW_MS - 20000);
}

TEST(a_time_of_day_is_today_in_local_time) {
  slp_clock utc = {NOW_MS, NULL}, east = {NOW_MS, two_hours}, west = {NOW_MS, minus_five_and_a_half};
  check("13:10", &utc, INT64_C(1699967400000));
  check("13:10:05", &utc, INT64_C(1699967405000));
  /* Two hours ahead it is the 15th already: its 00:10 was three minutes ago. */
  check("00:10", &east, INT64_C(1700000000000) - 200000);
  check("13:10", &east, INT64_C(1699967400000) + 24 * HOUR_MS - 2 * HOUR_MS);
  check("13:10", &west, INT64_C(1699967400000) + 5 * HOUR_MS + HOUR_MS / 2);
  check("23:59:59", &utc, INT64_C(1700006399000)); /* later today */
}

TEST(a_change_of_clocks_on_that_day_is_honoured) {
  slp_clock noon = {INT64_C(1700046000000), autumn};     /* in winter time */
  check("09:00", &noon, INT64_C(1700035200000));         /* 08:00 UTC */
  check("00:30", &noon, INT64_C(1700001000000));         /* still summer: 22:30 UTC the day before */
  slp_clock midnight = {INT64_C(1699999200000), autumn}; /* 00:00 of that day, in summer time */
  check("23:00", &midnight, INT64_C(1700085600000));     /* 22:00 UTC: winter by then */
}

TEST(what_is_no_time_is_refused) {
  static const char *const bad[] = {"",
                                    "0",
                                    "30",
                                    "2026",
                                    "20260101",
                                    "999999999",
                                    "0999999999",
                                    "17672256000",
                                    "202601011200",
                                    "20260101120000",
                                    "m",
                                    "x",
                                    "10x",
                                    "10m5h",
                                    "10m10m",
                                    "-5m",
                                    "10 m",
                                    "5m3",
                                    "2023-13-01",
                                    "1.5h",
                                    "24:00",
                                    "13:60",
                                    "1:10",
                                    "13:1",
                                    "13:10:",
                                    "13:10:60",
                                    "13:10:05.5",
                                    "13:10Z",
                                    "99999999999999999999",
                                    "9223372036854775807w",
                                    "9223372036854775807",
                                    "253402300800000",
                                    "2023-11-14T25:00:00Z",
                                    "1960-01-01"};
  slp_clock utc = {NOW_MS, NULL};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    int64_t ms = -7;
    if (slp_when_parse(slp_str_of(bad[i]), &utc, &ms) == 0) CHECK_FAIL("\"%s\" is taken", bad[i]);
    CHECK_INT(ms, -7);
  }
}

TEST(lengths_of_time) {
  static const struct {
    const char *text;
    int64_t ms;
  } all[] = {{"0s", 0}, {"90s", 90000}, {"2h30m", 9000000}, {"1w", 604800000}, {"", -1},
             {"5", -1}, {"m", -1},      {"1s2m", -1},       {"-1s", -1},       {"1 s", -1}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    int64_t ms = -1;
    int r = slp_when_parse_span(slp_str_of(all[i].text), &ms);
    CHECK_INT(r, all[i].ms < 0 ? SLP_EBADDATA : 0);
    if (!r) CHECK_INT(ms, all[i].ms);
  }
}
