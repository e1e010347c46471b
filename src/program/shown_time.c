/* shown_time.c - writes points in time for people. */
#include "program/shown_time.h"

#include "codec/date.h"
#include "program/local.h"

#include <stdio.h>

void slp_shown_time(int64_t at_ms, int utc, int with_ms, char out[SLP_SHOWN_TIME]) {
  char text[25], zone[16] = "Z";
  if (at_ms < 0) {
    snprintf(out, SLP_SHOWN_TIME, "-");
    return;
  }
  int64_t offset_ms = utc ? 0 : slp_local_offset_ms(at_ms);
  unsigned minutes = (unsigned)((offset_ms < 0 ? -offset_ms : offset_ms) / 60000);
  if (!utc)
    snprintf(zone, sizeof zone, "%c%02u:%02u", offset_ms < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
  slp_date_iso(at_ms + offset_ms, text);
  snprintf(out, SLP_SHOWN_TIME, "%.*s%s", with_ms ? 23 : 19, text, zone);
}
