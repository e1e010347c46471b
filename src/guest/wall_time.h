/* wall_time.h - writes and reads times in the forms that other systems' programs write into rows. The read
 * functions accept only texts that the write functions would write, because conditions compare texts. Pure.
 * (wall_time.c) */
#ifndef SLP_GUEST_WALL_TIME_H
#define SLP_GUEST_WALL_TIME_H

#include "base/base.h"

#define SLP_WALL_TEXT 32

/* Writes a time, in nanoseconds since 1970, in the form of Go's RFC3339Nano in UTC: "2026-01-02T03:04:05.6Z".
 * The fraction has up to nine digits and no zeros at its end; if it is 0, it is left out. Returns the length
 * of the text, which has no NUL. */
size_t slp_go_time_write(uint64_t ns, char out[SLP_WALL_TEXT]);
/* Reads a time in that form. Returns nanoseconds since 1970; 0 if the time is before 1970 or after 2554, or
 * if Go would write it in another way. */
uint64_t slp_go_time_read(slp_str s);

/* Writes a time, in seconds since 1970, in the form of Ruby's Time#to_s in UTC: "2026-01-02 03:04:05 UTC".
 * Returns the length of the text, which has no NUL. */
size_t slp_ruby_time_write(uint64_t s, char out[SLP_WALL_TEXT]);
/* Reads a time in that form. Returns seconds since 1970; 0 if the text is no time, or if Ruby would write it
 * in another way. */
uint64_t slp_ruby_time_read(slp_str s);

#endif
