/* shown_time.c - points in time as people read them, in zones with whole, half and negative offsets. */
#include "program/shown_time.h"

#include <stdlib.h>
#include <time.h>

#include "check.h"

static const char *shown(int64_t at_ms, int utc, int with_ms) {
  static char out[SLP_SHOWN_TIME];
  slp_shown_time(at_ms, utc, with_ms, out);
  return out;
}

static void go_to_zone(const char *zone) {
  setenv("TZ", zone, 1);
  tzset();
}

TEST(the_zone_is_always_there) {
  go_to_zone("CET-1CEST,M3.5.0,M10.5.0/3");
  CHECK_STR(shown(1769861405123, 0, 1), "2026-01-31T13:10:05.123+01:00");
  CHECK_STR(shown(1782820805000, 0, 0), "2026-06-30T14:00:05+02:00");
  CHECK_STR(shown(1769861405123, 1, 1), "2026-01-31T12:10:05.123Z");
  CHECK_STR(shown(1769861405123, 1, 0), "2026-01-31T12:10:05Z");
  go_to_zone("<+0530>-5:30");
  CHECK_STR(shown(1769861405123, 0, 0), "2026-01-31T17:40:05+05:30");
  go_to_zone("<-0330>3:30");
  CHECK_STR(shown(1769861405123, 0, 0), "2026-01-31T08:40:05-03:30");
  go_to_zone("UTC");
  CHECK_STR(shown(1769861405123, 0, 0), "2026-01-31T12:10:05+00:00");
}

TEST(a_time_that_is_not_known_is_a_dash) { CHECK_STR(shown(-1, 0, 1), "-"); }
