/* base64.c - decodes and encodes RFC 4648 section 4, by SIMD where the CPU has it.
 *
 * Decoding may happen in place: 3 bytes are written for each 4 that were read, so the output never passes the
 * input. A SIMD step stores a whole register, which is more than it decoded (AVX2: 32 bytes for 24). In
 * place, the surplus overwrites input that was read already. In a separate buffer the surplus needs room: the
 * room for the characters that follow. So a SIMD step runs only if at least 16 characters follow it. */
#include "codec/base64.h"

#include "base/buf.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

/* values[c]: bit 7 is set if c is in the alphabet; the low 6 bits are the value of c. */
#define V(x) (0x80 | (x))
static const uint8_t values[256] = {
    ['A'] = V(0),  ['B'] = V(1),  ['C'] = V(2),  ['D'] = V(3),  ['E'] = V(4),  ['F'] = V(5),  ['G'] = V(6),
    ['H'] = V(7),  ['I'] = V(8),  ['J'] = V(9),  ['K'] = V(10), ['L'] = V(11), ['M'] = V(12), ['N'] = V(13),
    ['O'] = V(14), ['P'] = V(15), ['Q'] = V(16), ['R'] = V(17), ['S'] = V(18), ['T'] = V(19), ['U'] = V(20),
    ['V'] = V(21), ['W'] = V(22), ['X'] = V(23), ['Y'] = V(24), ['Z'] = V(25), ['a'] = V(26), ['b'] = V(27),
    ['c'] = V(28), ['d'] = V(29), ['e'] = V(30), ['f'] = V(31), ['g'] = V(32), ['h'] = V(33), ['i'] = V(34),
    ['j'] = V(35), ['k'] = V(36), ['l'] = V(37), ['m'] = V(38), ['n'] = V(39), ['o'] = V(40), ['p'] = V(41),
    ['q'] = V(42), ['r'] = V(43), ['s'] = V(44), ['t'] = V(45), ['u'] = V(46), ['v'] = V(47), ['w'] = V(48),
    ['x'] = V(49), ['y'] = V(50), ['z'] = V(51), ['0'] = V(52), ['1'] = V(53), ['2'] = V(54), ['3'] = V(55),
    ['4'] = V(56), ['5'] = V(57), ['6'] = V(58), ['7'] = V(59), ['8'] = V(60), ['9'] = V(61), ['+'] = V(62),
    ['/'] = V(63),
};
#undef V
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { LEVEL_TABLE, LEVEL_SSE41, LEVEL_AVX2 };

/* Decodes groups of four characters, up to the first group with padding or with a character outside the
 * alphabet. Returns the number of characters decoded. */
static size_t groups_by_table(char *out, const char *in, size_t n) {
  size_t i = 0;
  for (; n - i >= 4; i += 4, out += 3) {
    uint8_t a = values[(uint8_t)in[i]], b = values[(uint8_t)in[i + 1]];
    uint8_t c = values[(uint8_t)in[i + 2]], d = values[(uint8_t)in[i + 3]];
    if (!(a & b & c & d & 0x80)) break;
    uint32_t v = (uint32_t)(a & 63) << 18 | (uint32_t)(b & 63) << 12 | (uint32_t)(c & 63) << 6 | (d & 63);
    out[0] = (char)(v >> 16);
    out[1] = (char)(v >> 8);
    out[2] = (char)v;
  }
  return i;
}

#ifdef HAVE_X86
/* The alphabet by high nibble: 2x holds + and /, 3x 0-9, 4x A-O, 5x P-Z, 6x a-o, 7x p-z. A character is
 * outside the alphabet if the class bit of its high nibble is among the bits that its low nibble forbids.
 * Class bits, with the low nibbles that are in the alphabet: 1 for 2x (B, F), 2 for 3x (0-9), 4 for 4x and 6x
 * (1-F), 8 for 5x and 7x (0-A). 16 is for the other rows; every low nibble forbids it. */
#define CLASS_OF_HIGH 16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16
#define FORBIDDEN_BY_LOW 21, 17, 17, 17, 17, 17, 17, 17, 17, 17, 19, 26, 27, 27, 27, 26
/* The number to add to a character to get its value, by high nibble. '/' uses row 1x, which no character of
 * the alphabet has. */
#define SHIFT_OF_HIGH 0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0
/* The order of bytes in the output: three of each 32-bit word, the highest first. */
#define BYTES_OF_WORDS 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1

__attribute__((target("sse4.1"))) static size_t groups_by_sse41(char *out, const char *in, size_t n) {
  const __m128i class_of_high = _mm_setr_epi8(CLASS_OF_HIGH), forbidden = _mm_setr_epi8(FORBIDDEN_BY_LOW);
  const __m128i shift_of_high = _mm_setr_epi8(SHIFT_OF_HIGH), order = _mm_setr_epi8(BYTES_OF_WORDS);
  const __m128i nibble = _mm_set1_epi8(15), slash = _mm_set1_epi8('/');
  const __m128i pairs = _mm_set1_epi32(0x01400140), quads = _mm_set1_epi32(0x00011000);
  size_t i = 0;
  for (; n - i >= 32; i += 16, out += 12) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(in + i));
    __m128i high = _mm_and_si128(_mm_srli_epi32(v, 4), nibble), low = _mm_and_si128(v, nibble);
    if (!_mm_testz_si128(_mm_shuffle_epi8(class_of_high, high), _mm_shuffle_epi8(forbidden, low))) break;
    /* where v is '/', the comparison gives -1 and so changes its row from 2x to 1x */
    __m128i row = _mm_add_epi8(high, _mm_cmpeq_epi8(v, slash));
    v = _mm_add_epi8(v, _mm_shuffle_epi8(shift_of_high, row));
    v = _mm_madd_epi16(_mm_maddubs_epi16(v, pairs), quads); /* joins 6-bit values to 12, then to 24 bits */
    _mm_storeu_si128((__m128i *)(void *)out, _mm_shuffle_epi8(v, order));
  }
  return i;
}

__attribute__((target("avx2"))) static size_t groups_by_avx2(char *out, const char *in, size_t n,
                                                             int *ret_ended) {
  const __m256i class_of_high = _mm256_setr_epi8(CLASS_OF_HIGH, CLASS_OF_HIGH);
  const __m256i forbidden = _mm256_setr_epi8(FORBIDDEN_BY_LOW, FORBIDDEN_BY_LOW);
  const __m256i shift_of_high = _mm256_setr_epi8(SHIFT_OF_HIGH, SHIFT_OF_HIGH);
  const __m256i order = _mm256_setr_epi8(BYTES_OF_WORDS, BYTES_OF_WORDS);
  /* puts the 12 bytes of each half side by side */
  const __m256i halves = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
  const __m256i nibble = _mm256_set1_epi8(15), slash = _mm256_set1_epi8('/');
  const __m256i pairs = _mm256_set1_epi32(0x01400140), quads = _mm256_set1_epi32(0x00011000);
  size_t i = 0;
  for (; n - i >= 48; i += 32, out += 24) {
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(in + i));
    __m256i high = _mm256_and_si256(_mm256_srli_epi32(v, 4), nibble), low = _mm256_and_si256(v, nibble);
    __m256i held = _mm256_shuffle_epi8(class_of_high, high), refused = _mm256_shuffle_epi8(forbidden, low);
    int ends = !_mm256_testz_si256(held, refused);
    __m256i row = _mm256_add_epi8(high, _mm256_cmpeq_epi8(v, slash));
    v = _mm256_add_epi8(v, _mm256_shuffle_epi8(shift_of_high, row));
    v = _mm256_madd_epi16(_mm256_maddubs_epi16(v, pairs), quads);
    v = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, order), halves);
    if (ends) {
      char last[32];
      __m256i fine = _mm256_cmpeq_epi8(_mm256_and_si256(held, refused), _mm256_setzero_si256());
      unsigned whole = (unsigned)__builtin_ctz(~(unsigned)_mm256_movemask_epi8(fine)) / 4;
      _mm256_storeu_si256((__m256i *)(void *)last, v);
      memcpy(out, last, whole * 3);
      i += whole * 4;
      *ret_ended = 1;
      break;
    }
    _mm256_storeu_si256((__m256i *)(void *)out, v);
  }
  /* gcc 12 does not add vzeroupper to a function with a target attribute. Without it, SSE code that ran later
   * was 3 times slower. */
  _mm256_zeroupper();
  return i;
}

/* ---- encoding: 12 bytes become 16 characters ---- */
/* Gives each 32-bit word the three bytes that become its four characters, as 2nd, 1st, 3rd, 2nd. */
#define WORDS_OF_BYTES 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10
/* The number to add to a 6-bit value to get its character, by row: row 0 has the small letters, 1 to 10 the
 * digits, 11 '+', 12 '/', 13 the capitals. */
#define CHARACTER_OF_ROW 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0

__attribute__((target("sse4.1"))) static size_t encode_by_sse41(char *out, const char *in, size_t n) {
  const __m128i order = _mm_setr_epi8(WORDS_OF_BYTES), characters = _mm_setr_epi8(CHARACTER_OF_ROW);
  size_t i = 0;
  for (; n - i >= 16; i += 12, out += 16) {
    __m128i v = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(in + i)), order);
    /* moves the 1st and 3rd value of each word by a multiplication, then the 2nd and 4th */
    __m128i odd = _mm_mulhi_epu16(_mm_and_si128(v, _mm_set1_epi32(0x0fc0fc00)), _mm_set1_epi32(0x04000040));
    __m128i even = _mm_mullo_epi16(_mm_and_si128(v, _mm_set1_epi32(0x003f03f0)), _mm_set1_epi32(0x01000010));
    v = _mm_or_si128(odd, even);
    __m128i capital = _mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), v), _mm_set1_epi8(13));
    __m128i row = _mm_or_si128(_mm_subs_epu8(v, _mm_set1_epi8(51)), capital);
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi8(v, _mm_shuffle_epi8(characters, row)));
  }
  return i;
}

__attribute__((target("avx2"))) static size_t encode_by_avx2(char *out, const char *in, size_t n) {
  const __m256i order = _mm256_setr_epi8(WORDS_OF_BYTES, WORDS_OF_BYTES);
  const __m256i characters = _mm256_setr_epi8(CHARACTER_OF_ROW, CHARACTER_OF_ROW);
  size_t i = 0;
  for (; n - i >= 28; i += 24, out += 32) {
    __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(in + i)));
    v = _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(const void *)(in + i + 12)), 1);
    v = _mm256_shuffle_epi8(v, order);
    __m256i odd = _mm256_and_si256(v, _mm256_set1_epi32(0x0fc0fc00));
    __m256i even = _mm256_and_si256(v, _mm256_set1_epi32(0x003f03f0));
    odd = _mm256_mulhi_epu16(odd, _mm256_set1_epi32(0x04000040));
    even = _mm256_mullo_epi16(even, _mm256_set1_epi32(0x01000010));
    v = _mm256_or_si256(odd, even);
    __m256i capital = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), v), _mm256_set1_epi8(13));
    __m256i row = _mm256_or_si256(_mm256_subs_epu8(v, _mm256_set1_epi8(51)), capital);
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_add_epi8(v, _mm256_shuffle_epi8(characters, row)));
  }
  _mm256_zeroupper(); /* see groups_by_avx2() */
  return i;
}
#endif

int slp_base64_level(void) {
#ifdef HAVE_X86
  if (__builtin_cpu_supports("avx2")) return LEVEL_AVX2;
  if (__builtin_cpu_supports("sse4.1")) return LEVEL_SSE41;
#endif
  return LEVEL_TABLE;
}

/* Decodes groups like groups_by_table(), by the fastest code that `level` allows. Returns the number of
 * characters decoded. */
static size_t decode_groups_at_level(int level, char *out, const char *in, size_t n) {
  size_t used = 0;
#ifdef HAVE_X86
  int ended = 0; /* 1: the AVX2 code has reached the group at which decoding must stop */
  if (level == LEVEL_AVX2 && n >= 48) used = groups_by_avx2(out, in, n, &ended);
  if (ended) return used;
  if (level >= LEVEL_SSE41 && n - used >= 32)
    used += groups_by_sse41(out + used / 4 * 3, in + used, n - used);
#else
  (void)level;
#endif
  return used + groups_by_table(out + used / 4 * 3, in + used, n - used);
}

size_t slp_base64_decode_padded(char *out, const char *in) {
  uint8_t a = values[(uint8_t)in[0]], b = values[(uint8_t)in[1]], c = values[(uint8_t)in[2]];
  if (!(a & b & 0x80) || in[3] != '=') return 0;
  if (!(c & 0x80) && in[2] != '=') return 0;
  out[0] = (char)((a & 63) << 2 | (b & 63) >> 4);
  if (!(c & 0x80)) return 1;
  out[1] = (char)((b & 15) << 4 | (c & 63) >> 2);
  return 2;
}

static int64_t decode_base64_at_level(int level, char *out, const char *in, size_t n) {
  if (n % 4) return SLP_EBADDATA;
  size_t used = decode_groups_at_level(level, out, in, n), out_n = used / 4 * 3;
  if (used == n) return (int64_t)out_n;
  size_t rest = n - used == 4 ? slp_base64_decode_padded(out + out_n, in + used) : 0;
  return rest ? (int64_t)(out_n + rest) : SLP_EBADDATA;
}

int64_t slp_base64_decode(char *out, const char *in, size_t n) {
  return decode_base64_at_level(slp_base64_level(), out, in, n);
}

int64_t slp_base64_decode_with(int level, char *out, const char *in, size_t n) {
  return level < 0 || level > slp_base64_level() ? SLP_ENOENT : decode_base64_at_level(level, out, in, n);
}

size_t slp_base64_decode_groups(char *out, const char *in, size_t n) {
  return decode_groups_at_level(slp_base64_level(), out, in, n & ~(size_t)3);
}

static void encode_group(char *out, const char *in) {
  uint32_t v = (uint32_t)(uint8_t)in[0] << 16 | (uint32_t)(uint8_t)in[1] << 8 | (uint8_t)in[2];
  out[0] = alphabet[v >> 18];
  out[1] = alphabet[v >> 12 & 63];
  out[2] = alphabet[v >> 6 & 63];
  out[3] = alphabet[v & 63];
}

void slp_base64_encode_back(char *text, size_t from, size_t to) {
  for (size_t i = to; i > from; i--) {
    char three[3];
    memcpy(three, text + 3 * (i - 1), 3); /* copied, because the encoded group may overwrite it */
    encode_group(text + 4 * (i - 1), three);
  }
}

/* Encodes by SIMD as many bytes as possible. Returns how many bytes were encoded, a multiple of 3. */
static size_t encode_vectors(char *out, const char *in, size_t n) {
  size_t used = 0;
#ifdef HAVE_X86
  int level = slp_base64_level();
  if (level == LEVEL_AVX2 && n >= 28) used = encode_by_avx2(out, in, n);
  if (level >= LEVEL_SSE41 && n - used >= 16)
    used += encode_by_sse41(out + used / 3 * 4, in + used, n - used);
#else
  (void)out, (void)in, (void)n;
#endif
  return used;
}

int slp_base64_encode(slp_buf *b, slp_str in) {
  if (in.n > SIZE_MAX / 4) return slp_buf_fail(b, SLP_ELIMIT);
  int r = slp_buf_reserve(b, (in.n + 2) / 3 * 4);
  if (r) return r;
  char *out = b->p + b->n;
  size_t i = encode_vectors(out, in.p, in.n);
  out += i / 3 * 4;
  for (; in.n - i >= 3; i += 3, out += 4) encode_group(out, in.p + i);
  if (i < in.n) {
    char last[3] = {in.p[i], in.n - i == 2 ? in.p[i + 1] : 0, 0};
    encode_group(out, last);
    out[3] = '=';
    if (in.n - i == 1) out[2] = '=';
    out += 4;
  }
  b->n = (size_t)(out - b->p);
  return 0;
}
