/* json_plain.h - finds where the plain part of a string ends, for the JSON reader and writer. */
#ifndef SLP_CODEC_JSON_PLAIN_H
#define SLP_CODEC_JSON_PLAIN_H

#ifdef __SSE2__
#include <emmintrin.h>
#include <stdint.h>
#endif

/* Returns the first place in p[i, end) that ends a plain run of string text: a quote, a backslash, a control
 * character or a byte that is not ASCII; or end. */
static inline size_t slp_json_plain_end(const char *p, size_t i, size_t end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
  while (i + 16 <= end) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
    /* The comparison is signed, so bytes from 0x80 on are less than a space too. */
    __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                _mm_cmplt_epi8(v, space));
    int bits = _mm_movemask_epi8(stop);
    if (bits) return i + (size_t)__builtin_ctz((unsigned)bits);
    i += 16;
  }
#endif
  while (i < end) {
    uint8_t c = (uint8_t)p[i];
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80) break;
    i++;
  }
  return i;
}

#endif
