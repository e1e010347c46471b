/* shown_time.c - points in time as people read them, in zones with whole, half and negative offsets. */
#include "program/shown_time.h"

#include <stdio.h>
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

static const char *formed(const char *form, int64_t at_ms, int utc) {
  static char out[200];
  size_t bad = 0;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  CHECK_INT(slp_time_form_check(slp_str_of(form), &bad), 0);
  CHECK_INT(slp_time_form_add(&b, slp_str_of(form), at_ms, utc), 0);
  snprintf(out, sizeof out, "%s", slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return out;
}

TEST(forms_are_those_of_strftime) {
  static const char all[] =
      "%a %A %b %B %c %C %d %D %e %F %g %G %h %H %I %j %m %M %n %p %r %R %S %t %T %u %U %V %w %W "
      "%x %X %y %Y %z %Z %% end";
  char want[600];
  time_t at = 1769861405;
  struct tm tm;
  go_to_zone("CET-1CEST,M3.5.0,M10.5.0/3");
  for (int utc = 0; utc < 2; utc++) {
    CHECK(utc ? gmtime_r(&at, &tm) : localtime_r(&at, &tm));
    CHECK(strftime(want, 200, all, &tm) > 0 || strftime(want, sizeof want, all, &tm) > 0);
    want[199] = 0; /* the length of `formed` */
    CHECK_STR(formed(all, 1769861405123, utc), want);
  }
  CHECK_STR(formed("%H:%M:%S.%3N %s %z", 1769861405007, 0), "13:10:05.007 1769861405 +0100");
  CHECK_STR(formed("%s", 1769861405007, 1), "1769861405");
  CHECK_STR(formed("%k|%l %P", 1769861405007, 1), "12|12 pm");
  CHECK_STR(formed("%k|%l %P", 1769819405007, 1), " 0|12 am");
  CHECK_STR(formed("%k|%l %P", 1769841405007, 1), " 6| 6 am");
  CHECK_STR(formed("", 5, 1), "");
  CHECK_STR(formed("%F", -1, 1), "-");
}

TEST(other_conversions_are_refused_with_their_place) {
  static const struct {
    const char *form;
    size_t at;
  } bad[] = {{"%", 0}, {"%Q", 0}, {"%H:%", 3}, {"ab%Ey", 2}, {"%3", 0}, {"%N", 0}, {"%%%-d", 2}};
  size_t at = 99;
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(slp_time_form_check(slp_str_of(bad[i].form), &at), SLP_EINVAL);
    CHECK_INT(at, bad[i].at);
  }
  CHECK_INT(slp_time_form_check((slp_str){"%\0", 2}, &at), SLP_EINVAL);
}
