/* wall_time.h - writes and reads times in the forms that other systems' programs write into rows. The read
 * functions accept exactly those texts that the write functions write, because conditions compare texts.
 * Pure. (wall_time.c) */
#ifndef SLP_GUEST_WALL_TIME_H
#define SLP_GUEST_WALL_TIME_H

#include "base/base.h"

#define SLP_WALL_TEXT 32

/* Writes nanoseconds since 1970 in the form of Go's RFC3339Nano in UTC: "2026-01-02T03:04:05.6Z". The
 * fraction has up to nine digits and no zeros at its end. It is left out if it is 0. Returns the length of
 * the text, which has no NUL. */
size_t slp_go_time_write(uint64_t ns, char out[SLP_WALL_TEXT]);
/* Returns nanoseconds since 1970. Returns 0 if the time is before 1970 or after 2554, or if Go would not
 * write it so. */
uint64_t slp_go_time_read(slp_str s);

/* Writes seconds since 1970 in the form of Ruby's Time#to_s in UTC: "2026-01-02 03:04:05 UTC". Returns the
 * length of the text, which has no NUL. */
size_t slp_ruby_time_write(uint64_t s, char out[SLP_WALL_TEXT]);
/* Returns seconds since 1970. Returns 0 if the text is no time, or if Ruby would write that time in
 * another way. */
uint64_t slp_ruby_time_read(slp_str s);

#endif
