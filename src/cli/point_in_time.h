/* point_in_time.h - parses points in time as people write them on a command line. */
#ifndef SLP_CLI_POINT_IN_TIME_H
#define SLP_CLI_POINT_IN_TIME_H

#include "base/base.h"

/* The present time and the time zone. The caller passes them in, so that tests can choose them. */
typedef struct slp_clock {
  int64_t now_ms; /* the present Unix time */
  /* Returns by how much local time is ahead of UTC at the moment at_ms. NULL: local time is UTC. */
  int64_t (*offset_ms)(int64_t at_ms);
} slp_clock;

/* Parses a point in time, in one of these forms:
 *   - Unix seconds (10 digits) or milliseconds (13 digits);
 *   - ISO 8601, also a date alone, in UTC unless the text has a zone;
 *   - how long ago: 90s, 10m, 2h30m, 1d, 1w;
 *   - a time of today, in local time: 13:10 or 13:10:05.
 * Returns 0 or SLP_EBADDATA. */
int slp_when_parse(slp_str text, const slp_clock *clock, int64_t *ret_ms);
/* Returns the end of an error message, which says how to write a time, if the text is a bare number that
 * slp_when_parse() refuses. Returns NULL for any other text. */
const char *slp_when_number_remedy(slp_str text);
/* Parses a length of time: 0s, 90s, 10m, 2h30m, 1d, 1w. Returns 0 or SLP_EBADDATA. */
int slp_when_parse_span(slp_str text, int64_t *ret_ms);

#endif
