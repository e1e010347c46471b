/* clean.c - finds what text from outside must not contain. */
#include "base/clean.h"

#include <stdio.h>

/* The character at the beginning and its length; 0: no UTF-8 (overlong forms, surrogates, above U+10FFFF). */
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

size_t slp_safe_length(const char *p, size_t n) {
  uint32_t c;
  return n ? read_one((const unsigned char *)p, n, &c) : 0;
}

size_t slp_clean(char *p, size_t n) {
  size_t to = 0;
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
