/* when.h - parses points in time as people write them on a command line. */
#ifndef SLP_CLI_WHEN_H
#define SLP_CLI_WHEN_H

#include "base/base.h"

typedef struct slp_clock {             /* defines "now" and "local"; a parameter, so that tests choose */
  int64_t now_ms;                      /* Unix time */
  int64_t (*offset_ms)(int64_t at_ms); /* how far local time is ahead of UTC then; NULL: not at all */
} slp_clock;

/* Unix seconds (10 digits) or milliseconds (13 digits); ISO 8601, a date alone too, UTC unless it names a
 * zone; how long ago: 90s, 10m, 2h30m, 1d, 1w; 13:10 or 13:10:05: today, local time. SLP_EBADDATA. */
int slp_when_parse(slp_str text, const slp_clock *clock, int64_t *ret_ms);
/* Returns what a bare number should be that slp_when_parse() refuses: "a time: ..."; NULL: the text is no
 * number. */
const char *slp_when_number_remedy(slp_str text);
/* A length of time: 0s, 90s, 10m, 2h30m, 1d, 1w. SLP_EBADDATA. */
int slp_when_parse_span(slp_str text, int64_t *ret_ms);

#endif
