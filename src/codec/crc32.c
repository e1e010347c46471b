/* crc32.c - sums bytes of any length by carry-less multiplication, or by zlib where the CPU has none.
 *
 * A checksum is the remainder of the bytes, taken as a polynomial, by a polynomial P. Multiplying a block by
 * x^N mod P moves it N bits on without a change of the remainder, so that it can be added to the block that
 * stands there. Four blocks of 16 bytes are moved on side by side, then joined into one, and that is reduced.
 * The constants are those of V. Gopal and others, "Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction" (Intel, 2009), for the bit-reflected P of IEEE 802.3. */
#include "codec/crc32.h"

#include "base/library.h"

#include <zlib.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

#define FOLD_MIN 64u /* bytes of four blocks */
#define SIMD __attribute__((target("pclmul,sse4.1")))

SIMD static inline __m128i load_block(const unsigned char *p) {
  return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Moves a block on by the two constants of `by`, and adds the block that stands there. */
SIMD static inline __m128i fold_block(__m128i block, __m128i by, __m128i there) {
  __m128i low = _mm_clmulepi64_si128(block, by, 0x00), high = _mm_clmulepi64_si128(block, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/* Returns the remainder of 128 bits. */
SIMD static uint32_t reduce_block(__m128i block) {
  const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0), by_64 = _mm_set_epi64x(0, 0x0163cd6124);
  const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641); /* P and its inverse */
  const __m128i low_words = _mm_setr_epi32(-1, 0, -1, 0);
  __m128i part = _mm_clmulepi64_si128(block, by_128, 0x10);
  block = _mm_xor_si128(_mm_srli_si128(block, 8), part);
  part = _mm_clmulepi64_si128(_mm_and_si128(block, low_words), by_64, 0x00);
  block = _mm_xor_si128(_mm_srli_si128(block, 4), part);
  part = _mm_clmulepi64_si128(_mm_and_si128(block, low_words), barrett, 0x10);
  part = _mm_clmulepi64_si128(_mm_and_si128(part, low_words), barrett, 0x00);
  return (uint32_t)_mm_extract_epi32(_mm_xor_si128(block, part), 1);
}

/* Continues the checksum over the n bytes at p; n is a multiple of 16 and at least FOLD_MIN. */
SIMD static uint32_t sum_by_folding(uint32_t before, const unsigned char *p, size_t n) {
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i a = load_block(p), b = load_block(p + 16), c = load_block(p + 32), d = load_block(p + 48);
  a = _mm_xor_si128(a, _mm_cvtsi32_si128((int)~before));
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    a = fold_block(a, by_512, load_block(p));
    b = fold_block(b, by_512, load_block(p + 16));
    c = fold_block(c, by_512, load_block(p + 32));
    d = fold_block(d, by_512, load_block(p + 48));
  }
  a = fold_block(fold_block(fold_block(a, by_128, b), by_128, c), by_128, d);
  for (; n >= 16; p += 16, n -= 16) a = fold_block(a, by_128, load_block(p));
  return ~reduce_block(a);
}

/* Sums as many bytes at the front of s as folding takes. Returns how many. */
static size_t sum_front(uint32_t *sum, slp_str s) {
  if (s.n < FOLD_MIN || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return 0;
  size_t n = s.n & ~(size_t)15;
  *sum = sum_by_folding(*sum, (const unsigned char *)s.p, n);
  return n;
}
#else
static size_t sum_front(uint32_t *sum, slp_str s) {
  (void)sum, (void)s;
  return 0;
}
#endif

uint32_t slp_crc32_more(uint32_t before, slp_str s) {
  if (!s.n) return before;
  size_t n = sum_front(&before, s);
  return n < s.n ? (uint32_t)crc32_z(before, (const unsigned char *)s.p + n, s.n - n) : before;
}

uint32_t slp_crc32(slp_str s) { return slp_crc32_more(0, s); }

slp_library slp_zlib(void) { return (slp_library){"zlib", zlibVersion(), (void (*)(void))zlibVersion}; }
