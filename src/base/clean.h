/* clean.h - makes text safe for a terminal or a log: nothing in it may move the cursor, end the line or
 * change the direction of text, and no URL in it may tell a user name or a password. */
#ifndef SLP_BASE_CLEAN_H
#define SLP_BASE_CLEAN_H

#include "base/base.h"

/* Returns the length of what must not reach a terminal, at the beginning of p[0, n); 0: there is none. Unsafe
 * are a control character (C0 with tab and newline, DEL, C1), a separator of lines (U+2028, U+2029), a mark
 * or embedding of direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and a byte that is
 * not UTF-8. */
size_t slp_unsafe_length(const char *p, size_t n);
/* Returns 1 if an unsafe character may begin with this byte. Quicker, for text that is UTF-8. */
static inline int slp_may_be_unsafe(char byte) {
  unsigned char c = (unsigned char)byte;
  return c < 0x20 || (c >= 0x7f && (c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2));
}
/* Returns the length of the valid UTF-8 sequence at the beginning; 0: there is none. */
size_t slp_safe_length(const char *p, size_t n);
/* Puts *** over the user name and password of each URL (SCHEME://USER:PASSWORD@HOST), in place. A URL that
 * was cut off before its @ is known by a ':' without a port behind it. Returns the new length, which is not
 * greater. */
size_t slp_hide_passwords(char *p, size_t n);
int slp_has_password(const char *text); /* 1: slp_hide_passwords would hide something */
/* Makes each unsafe character a '?', in place, and hides passwords of URLs. Returns the new length, which is
 * not greater. */
size_t slp_clean(char *p, size_t n);
/* Copies a text into a caller's room: cut to fit, then cleaned, so that no character is halved. room 0: does
 * nothing. */
void slp_clean_copy(char *to, size_t room, const char *text);

/* Returns 1 if it can be the id of a shard, by the services' own pattern: [a-zA-Z0-9_.-]{1,128}. */
int slp_is_shard_id(slp_str s);

#endif
