/* date.h - converts points in time, in ms since 1970, to text and back. Proleptic Gregorian calendar, UTC, no
 * leap seconds, no time functions of libc. */
#ifndef SLP_CODEC_DATE_H
#define SLP_CODEC_DATE_H

#include "base/base.h"

/* Writes "20260102T030405Z" (16 + NUL). Years 0 to 9999; others are clamped. */
void slp_date_basic(int64_t ms, char out[17]);
/* Writes "2026-01-02T03:04:05.678Z" (24 + NUL). */
void slp_date_iso(int64_t ms, char out[25]);
/* Writes "Fri, 02 Jan 2026 03:04:05 GMT" (29 + NUL). */
void slp_date_http(int64_t ms, char out[30]);
/* Reads an IMF-fixdate, the form that slp_date_http() writes, and no other form. Returns 0 or
 * SLP_EBADDATA. */
int slp_date_parse_http(slp_str s, int64_t *ret_ms);
/* Reads 2026-01-02 | 2026-01-02T03:04[:05[.fff…]] with T or a space, then nothing (UTC), Z, or +hh:mm /
 * -hhmm. Returns 0 or SLP_EBADDATA. */
int slp_date_parse_iso(slp_str s, int64_t *ret_ms);

#endif
