/* shown_time.h - writes points in time for people, in local time or in UTC. For cli/. Points in time that
 * programs read are written by codec/date.h. */
#ifndef SLP_PROGRAM_SHOWN_TIME_H
#define SLP_PROGRAM_SHOWN_TIME_H

#include "base/buf.h"

#define SLP_SHOWN_TIME 32 /* room for a point in time with its NUL */

/* Writes a point in time with its zone: 2026-01-31T13:10:05.123+01:00, or with Z if `utc` is 1. Leaves the
 * milliseconds out if with_ms is 0. Writes "-" if at_ms is negative, because then the time is not known. */
void slp_shown_time(int64_t at_ms, int utc, int with_ms, char out[SLP_SHOWN_TIME]);

/* Checks a form: a text with conversions of strftime(3), such as "%H:%M", that describes how to write a point
 * in time. strftime's modifiers E and O are not accepted, names of days and months are those of the C locale,
 * and %3N stands for the milliseconds. Returns SLP_EINVAL and the offset of the first conversion that is not
 * known; otherwise 0. */
int slp_time_form_check(slp_str form, size_t *ret_at);
/* Appends a point in time in a form that slp_time_form_check() accepts; "-" if at_ms is negative. Returns 0
 * or the error of b. */
int slp_time_form_add(slp_buf *b, slp_str form, int64_t at_ms, int utc);

#endif
