/* md5_many.c - computes MD5 (RFC 1321) of strings that fit one block. Each step is done for all strings at
 * once, in a vector. */
#include "codec/md5_many.h"

typedef uint32_t lanes __attribute__((vector_size(4 * SLP_MD5_MANY)));
#define BLOCK 64

/* sines[i] is floor(2^32 * |sin(i + 1)|). */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

/* Converts between this CPU's byte order and little-endian, the byte order of MD5. */
static inline uint32_t to_little_endian(uint32_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap32(v);
#endif
  return v;
}

/* Writes the MD5 block of a string, with its padding, into one lane of `words`. */
static inline void load_lane_block(uint32_t (*words)[SLP_MD5_MANY], size_t lane, slp_str s) {
  union {
    uint8_t bytes[BLOCK];
    uint32_t words[BLOCK / 4];
  } block = {{0}};
  SLP_CHECK(s.n <= SLP_MD5_SHORT_MAX);
  if (s.n) memcpy(block.bytes, s.p, s.n);
  block.bytes[s.n] = 0x80;
  block.words[14] = to_little_endian((uint32_t)s.n * 8);
  for (size_t i = 0; i < 16; i++) words[i][lane] = to_little_endian(block.words[i]);
}

#define MIX_1(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define MIX_2(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define MIX_3(b, c, d) ((b) ^ (c) ^ (d))
#define MIX_4(b, c, d) ((c) ^ ((b) | ~(d)))
#define STEP(mix, a, b, c, d, word, i, turn)    \
  do {                                          \
    (a) += mix(b, c, d) + (word) + sines[i];    \
    (a) = (a) << (turn) | (a) >> (32 - (turn)); \
    (a) += (b);                                 \
  } while (0)
/* One round of MD5: steps `from` to from + 15. Step from + i uses the word (first + stride * i) mod 16. */
#define ROUND(mix, from, first, stride, t0, t1, t2, t3)                                \
  for (unsigned i = 0; i < 16; i += 4) {                                               \
    STEP(mix, a, b, c, d, x[((first) + (stride)*i) & 15], (from) + i, t0);             \
    STEP(mix, d, a, b, c, x[((first) + (stride) * (i + 1)) & 15], (from) + i + 1, t1); \
    STEP(mix, c, d, a, b, x[((first) + (stride) * (i + 2)) & 15], (from) + i + 2, t2); \
    STEP(mix, b, c, d, a, x[((first) + (stride) * (i + 3)) & 15], (from) + i + 3, t3); \
  }

void slp_md5_many(const slp_str *in, size_t n, uint8_t (*out)[16]) {
  uint32_t words[16][SLP_MD5_MANY], sums[4][SLP_MD5_MANY];
  lanes x[16], a = {0}, b = a, c = a, d = a;
  SLP_CHECK(n <= SLP_MD5_MANY);
  for (size_t lane = 0; lane < SLP_MD5_MANY; lane++)
    load_lane_block(words, lane, lane < n ? in[lane] : SLP_STR(""));
  memcpy(x, words, sizeof x);
  a += 0x67452301u, b += 0xefcdab89u, c += 0x98badcfeu, d += 0x10325476u;
  ROUND(MIX_1, 0, 0, 1, 7, 12, 17, 22)
  ROUND(MIX_2, 16, 1, 5, 5, 9, 14, 20)
  ROUND(MIX_3, 32, 5, 3, 4, 11, 16, 23)
  ROUND(MIX_4, 48, 0, 7, 6, 10, 15, 21)
  a += 0x67452301u, b += 0xefcdab89u, c += 0x98badcfeu, d += 0x10325476u;
  memcpy(sums[0], &a, sizeof a);
  memcpy(sums[1], &b, sizeof b);
  memcpy(sums[2], &c, sizeof c);
  memcpy(sums[3], &d, sizeof d);
  for (size_t lane = 0; lane < n; lane++) {
    for (size_t i = 0; i < 4; i++) {
      uint32_t v = to_little_endian(sums[i][lane]);
      memcpy(&out[lane][4 * i], &v, 4);
    }
  }
}
