/* shown_time.h - writes points in time for people, in local time or in UTC. For cli/; what a program reads
 * is written by codec/date.h. */
#ifndef SLP_PROGRAM_SHOWN_TIME_H
#define SLP_PROGRAM_SHOWN_TIME_H

#include "base/base.h"

#define SLP_SHOWN_TIME 32 /* room for a point in time with its NUL */

/* Writes a point in time with its zone: 2026-01-31T13:10:05.123+01:00, or with Z if `utc` is 1. Leaves the
 * milliseconds out if with_ms is 0. Writes "-" if at_ms is negative, because then the time is not known. */
void slp_shown_time(int64_t at_ms, int utc, int with_ms, char out[SLP_SHOWN_TIME]);

#endif
