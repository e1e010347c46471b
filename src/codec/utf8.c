/* utf8.c - checks UTF-8 by the well-formed byte table of the Unicode Standard (table 3-7). */
#include "codec/utf8.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static int is_continuation_byte(char c) { return ((uint8_t)c & 0xC0) == 0x80; }

size_t slp_utf8_length(const char *p, size_t n) {
  uint8_t a = (uint8_t)p[0];
  if (a < 0x80) return 1;
  if (a < 0xC2 || a > 0xF4 || n < 2) return 0;
  uint8_t b = (uint8_t)p[1];
  if (!is_continuation_byte(p[1])) return 0;
  if (a < 0xE0) return 2;
  if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F)) return 0;
  if (n < 3 || !is_continuation_byte(p[2])) return 0;
  if (a < 0xF0) return 3;
  if ((a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F)) return 0;
  return n >= 4 && is_continuation_byte(p[3]) ? 4 : 0;
}

/* Returns the place of the first byte at or after i that is not ASCII, but at most `stop`. */
static size_t pass_ascii(const char *p, size_t i, size_t stop) {
#ifdef __SSE2__
  while (i + 16 <= stop) {
    int bits = _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + i)));
    if (bits) return i + (size_t)__builtin_ctz((unsigned)bits);
    i += 16;
  }
#else
  while (i + 8 <= stop) {
    uint64_t word;
    memcpy(&word, p + i, 8);
    if (word & 0x8080808080808080u) break;
    i += 8;
  }
#endif
  while (i < stop && (uint8_t)p[i] < 0x80) i++;
  return i;
}

size_t slp_utf8_run(const char *p, size_t n, size_t stop) {
  size_t i = 0;
  if (stop > n) stop = n;
  for (;;) {
    i = pass_ascii(p, i, stop);
    if (i >= stop) return i;
    size_t len = slp_utf8_length(p + i, n - i);
    if (!len) return SIZE_MAX;
    i += len;
  }
}
