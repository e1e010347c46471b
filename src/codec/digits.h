/* digits.h - checks quickly whether a text consists of digits. Inline, because every record of a page has a
 * sequence number of 56 digits. */
#ifndef SLP_CODEC_DIGITS_H
#define SLP_CODEC_DIGITS_H

#ifdef __SSE2__
#include <emmintrin.h>
#include <stdint.h>
#include <string.h>
#endif

/* Returns 1 if all n bytes are digits. Checks eight bytes at once: XOR with '0' turns a digit into 0 to 9,
 * and any other byte into 10 or more. A byte of 10 or more has its high bit set, or gets a high bit when 0x76
 * is added. */
static inline int slp_all_digits_by_words(const char *p, size_t n) {
  const uint64_t zeros = 0x3030303030303030u, to_high = 0x7676767676767676u, high = 0x8080808080808080u;
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t w;
    memcpy(&w, p + i, sizeof w);
    w ^= zeros;
    seen |= w | (w + to_high);
  }
  unsigned wrong = (seen & high) != 0;
  for (; i < n; i++) wrong |= (unsigned)((uint8_t)(p[i] - '0') > 9);
  return !wrong;
}

/* Returns the value of eight bytes that are known to be digits. */
static inline uint64_t slp_eight_digits(const char *p) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t v; /* joins digits to pairs, pairs to groups of four, and these to the value */
  memcpy(&v, p, sizeof v);
  v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
#else
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v = v * 10 + (uint64_t)(p[i] - '0');
  return v;
#endif
}

#ifdef __SSE2__
/* Loads 16 bytes and returns 0 for each byte that is a digit: subtracts '0', then 9 with saturation at 0. */
static inline __m128i slp_no_digits(const char *p) {
  __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
  return _mm_subs_epu8(_mm_sub_epi8(v, _mm_set1_epi8('0')), _mm_set1_epi8(9));
}
#endif

static inline int slp_all_digits(const char *p, size_t n) {
#ifdef __SSE2__
  if (n >= 16) { /* checks the last 16 bytes first; they may overlap the block before them */
    __m128i seen = slp_no_digits(p + n - 16);
    for (size_t i = 0; i + 16 < n; i += 16) seen = _mm_or_si128(seen, slp_no_digits(p + i));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(seen, _mm_setzero_si128())) == 0xffff;
  }
#endif
  return slp_all_digits_by_words(p, n);
}

/* Returns how many digits the text begins with. */
static inline size_t slp_digits_end(const char *p, size_t n) {
  size_t i = 0;
#ifdef __SSE2__
  for (; i + 16 <= n; i += 16) {
    int digits = _mm_movemask_epi8(_mm_cmpeq_epi8(slp_no_digits(p + i), _mm_setzero_si128()));
    if (digits != 0xffff) return i + (size_t)__builtin_ctz(~(unsigned)digits);
  }
#endif
  while (i < n && (uint8_t)(p[i] - '0') <= 9) i++;
  return i;
}

#endif
