/* clean.h - makes text safe for a terminal or a log: no character of it may move the cursor, end the line or
 * change the direction of text, and no URL in it may show a user name or a password. */
#ifndef SLP_BASE_CLEAN_H
#define SLP_BASE_CLEAN_H

#include "base/base.h"

/* Returns the length of the unsafe character at the beginning of p[0, n); 0: the beginning is safe. Unsafe
 * are control characters (C0 with tab and newline, DEL, C1), line separators (U+2028, U+2029), characters
 * that change the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and bytes
 * that are not UTF-8. */
size_t slp_unsafe_length(const char *p, size_t n);
/* Returns 1 if an unsafe character may begin with this byte. A quick check before slp_unsafe_length(), for
 * text that is known to be UTF-8. */
static inline int slp_may_be_unsafe(char byte) {
  unsigned char c = (unsigned char)byte;
  return c < 0x20 || (c >= 0x7f && (c == 0x7f || c == 0xc2 || c == 0xd8 || c == 0xe2));
}
/* Returns the offset of the first unsafe character of p[0, n), which must be UTF-8; n: there is none. */
size_t slp_harmless_run(const char *p, size_t n);
/* Returns the length of the valid UTF-8 sequence at the beginning of p[0, n); 0: there is none. */
size_t slp_safe_length(const char *p, size_t n);
/* Replaces the user name and password of each URL (SCHEME://USER:PASSWORD@HOST) by ***, in place. A URL may
 * have been cut off before its @: then everything behind :// is replaced, if a ':' is followed by something
 * that is no port. Returns the new length, at most n. */
size_t slp_hide_passwords(char *p, size_t n);
int slp_has_password(const char *text); /* returns 1 if slp_hide_passwords() would hide something */
/* Replaces each unsafe character by '?', in place, and hides passwords of URLs. Returns the new length, at
 * most n. */
size_t slp_clean(char *p, size_t n);
/* Copies `text` into to[room], cut to fit, and cleans the copy: a character that the cut has split becomes
 * '?'. Does nothing if room is 0. */
void slp_clean_copy(char *to, size_t room, const char *text);

/* Returns 1 if s can be a shard id by the services' own pattern: [a-zA-Z0-9_.-]{1,128}. */
int slp_is_shard_id(slp_str s);

#endif
