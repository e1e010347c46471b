/* wall_time.h - points in time as other systems' programs write them into rows. What is read must be exactly
 * what would be written: their conditions compare the text. Pure. */
#ifndef SLP_GUEST_WALL_TIME_H
#define SLP_GUEST_WALL_TIME_H

#include "base/base.h"

#define SLP_WALL_TEXT 32

/* Go's RFC3339Nano, UTC: "2026-01-02T03:04:05.6Z"; up to nine digits, no zeros at the end, no fraction when
 * it is 0. Nanoseconds since 1970. Returns the length; there is no NUL. */
size_t slp_go_time_write(uint64_t ns, char out[SLP_WALL_TEXT]);
/* 0 is no such time, as is what is before 1970, behind 2554, or not as Go writes it. */
uint64_t slp_go_time_read(slp_str s);

/* Ruby's Time#to_s in UTC, "2026-01-02 03:04:05 UTC", in seconds since 1970. Returns its length. */
size_t slp_ruby_time_write(uint64_t s, char out[SLP_WALL_TEXT]);
/* 0: it is none, or not the text that Ruby would write for it. */
uint64_t slp_ruby_time_read(slp_str s);

#endif
