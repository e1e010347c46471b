/* clean.c - finds and replaces what text from outside must not show: control characters, and passwords in
 * URLs. */
#include "base/clean.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdio.h>

/* Decodes the UTF-8 character at p. Returns its length; 0: p[0, n) does not begin with valid UTF-8 (overlong
 * forms, surrogates and code points above U+10FFFF are not valid). */
static size_t read_one(const unsigned char *p, size_t n, uint32_t *ret) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t len = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
  if (len == 0 || len > n) return 0;
  uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (p[i] & 0x3fu);
  }
  if (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) return 0;
  *ret = c;
  return len;
}

static int is_unsafe(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t slp_unsafe_length(const char *p, size_t n) {
  uint32_t c = 0;
  if (n == 0) return 0;
  if (*p >= 0x20 && *p < 0x7f) return 0;
  size_t len = read_one((const unsigned char *)p, n, &c);
  return len == 0 ? 1 : is_unsafe(c) ? len : 0;
}

/* Returns the place of the first byte at or after i with which an unsafe character may begin; n: there is
 * none. */
static size_t find_suspect(const char *p, size_t i, size_t n) {
#ifdef __SSE2__
  for (; i + 16 <= n; i += 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v); /* less than a space */
    __m128i c2 = _mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xc2));
    __m128i d8 = _mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xd8));
    __m128i e2 = _mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xe2));
    __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));
    __m128i any = _mm_or_si128(_mm_or_si128(_mm_or_si128(low, del), _mm_or_si128(c2, d8)), e2);
    int bits = _mm_movemask_epi8(any);
    if (bits) return i + (size_t)__builtin_ctz((unsigned)bits);
  }
#endif
  while (i < n && !slp_may_be_unsafe(p[i])) i++;
  return i;
}

size_t slp_harmless_run(const char *p, size_t n) {
  for (size_t i = 0;; i++) {
    i = find_suspect(p, i, n);
    if (i == n || slp_unsafe_length(p + i, n - i)) return i;
  }
}

size_t slp_safe_length(const char *p, size_t n) {
  uint32_t c;
  return n ? read_one((const unsigned char *)p, n, &c) : 0;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Returns 1 if c ends the authority of a URL (user, host, port), or ends the URL itself. */
static int ends_authority(char c) { return (unsigned char)c <= ' ' || strchr("/?#\"'<>,;()", c) != NULL; }

/* Returns how many bytes at the beginning of the authority [from, end) are user name and password: all up to
 * its last @; or the whole authority, if it was cut off inside the password; or 0. */
static size_t length_of_secret(const char *from, const char *end) {
  static const char ours[] = "USER:PASSWORD@"; /* a placeholder that error messages print; no secret */
  size_t n = (size_t)(end - from);
  const char *at = n ? slp_last_char(from, '@', n) : NULL, *colon = n ? memchr(from, ':', n) : NULL;
  if (n >= sizeof ours - 1 && memcmp(from, ours, sizeof ours - 1) == 0) return 0;
  if (at) return (size_t)(at - from);
  if (*from == '[' || !colon || colon + 1 == end || is_digit(colon[1])) return 0;
  return memcmp(colon, ":PORT", slp_min_u64(5, (size_t)(end - colon))) != 0 ? n : 0;
}

/* Returns the length of the user name and password that begin at p[at], right behind "://"; 0: there are
 * none. */
static size_t secret_behind(const char *p, size_t at, size_t n) {
  size_t end = at;
  while (end < n && !ends_authority(p[end])) end++;
  return end > at ? length_of_secret(p + at, p + end) : 0;
}

int slp_has_password(const char *text) {
  for (const char *p = text; (p = strstr(p, "://")); p += 3)
    if (secret_behind(p, 3, strlen(p))) return 1;
  return 0;
}

size_t slp_hide_passwords(char *p, size_t n) {
  size_t to = 0, at = 0;
  while (at < n) {
    p[to++] = p[at++];
    if (to < 3 || memcmp(p + to - 3, "://", 3) != 0) continue;
    size_t secret = secret_behind(p, at, n);
    for (size_t i = 0; i < secret && i < 3; i++) p[to++] = '*';
    at += secret;
  }
  return to;
}

size_t slp_clean(char *p, size_t n) {
  size_t to = 0;
  n = slp_hide_passwords(p, n);
  for (size_t at = 0; at < n;) {
    size_t bad = slp_unsafe_length(p + at, n - at);
    size_t len = bad ? bad : slp_safe_length(p + at, n - at);
    if (bad)
      p[to++] = '?';
    else
      for (size_t i = 0; i < len; i++) p[to++] = p[at + i];
    at += len;
  }
  return to;
}

int slp_is_shard_id(slp_str s) {
  if (s.n == 0 || s.n > 128) return 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.' || c == '-';
    if (!ok) return 0;
  }
  return 1;
}

void slp_clean_copy(char *to, size_t room, const char *text) {
  if (!to || !room) return;
  snprintf(to, room, "%s", text);
  to[slp_clean(to, strlen(to))] = 0;
}
