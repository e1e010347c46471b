/* wall_time.h - writes and reads points in time as other systems' programs have them in rows. Reading accepts
 * exactly the texts that writing makes, because conditions compare the text. Pure. (wall_time.c) */
#ifndef SLP_GUEST_WALL_TIME_H
#define SLP_GUEST_WALL_TIME_H

#include "base/base.h"

#define SLP_WALL_TEXT 32

/* Writes nanoseconds since 1970 as Go's RFC3339Nano in UTC: "2026-01-02T03:04:05.6Z". The fraction has up to
 * nine digits and no zeros at its end, and is left out if it is 0. Returns the length; there is no NUL. */
size_t slp_go_time_write(uint64_t ns, char out[SLP_WALL_TEXT]);
/* Returns nanoseconds since 1970. 0: the time is before 1970 or after 2554, or not as Go writes it. */
uint64_t slp_go_time_read(slp_str s);

/* Writes seconds since 1970 as Ruby's Time#to_s in UTC: "2026-01-02 03:04:05 UTC". Returns the length; there
 * is no NUL. */
size_t slp_ruby_time_write(uint64_t s, char out[SLP_WALL_TEXT]);
/* Returns seconds since 1970. 0: the text is no time, or not the text that Ruby would write for it. */
uint64_t slp_ruby_time_read(slp_str s);

#endif
