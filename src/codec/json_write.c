/* json_write.c - writes JSON into a slp_buf. */
#include "codec/json_write.h"

#include "base/buf.h"
#include "base/clean.h"
#include "codec/base64.h"
#include "codec/utf8.h"

#ifdef __SSE2__
#include <tmmintrin.h>
#else
#include "codec/json_plain.h"
#endif

/* ---- strings: blocks of 16 bytes, and single characters where a block can't be written ---- */

#define BLOCK 16
#define SSSE3 __attribute__((target("ssse3")))
#define ESCAPE 6 /* the longest escape of one byte: \u001f */
/* The room that a block may take: an escape for each byte, and a whole block that is stored behind them. */
#define BLOCK_ROOM ((size_t)BLOCK * ESCAPE + BLOCK)

/* Writes a byte as an escape. Returns the place behind it. */
static char *put_escape(char *to, uint8_t c) {
  static const char hex[] = "0123456789abcdef";
  static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
  char letter = c == '"' || c == '\\' ? (char)c : c < sizeof letters ? letters[c] : 0;
  to[0] = '\\';
  to[1] = letter ? letter : 'u';
  if (letter) return to + 2;
  to[2] = to[3] = '0';
  to[4] = hex[c >> 4];
  to[5] = hex[c & 15];
  return to + ESCAPE;
}

static int put_u_escape(slp_buf *b, uint32_t unit) {
  static const char digits[] = "0123456789abcdef";
  char out[6] = {
      '\\', 'u', digits[unit >> 12 & 15], digits[unit >> 8 & 15], digits[unit >> 4 & 15], digits[unit & 15]};
  return slp_buf_add(b, out, 6);
}

/* Returns the code point of a sequence of two or three bytes; 0 for a longer one. */
static uint32_t code_point(const char *p, size_t len) {
  const uint8_t *u = (const uint8_t *)p;
  if (len == 2) return (u[0] & 0x1Fu) << 6 | (u[1] & 0x3Fu);
  return len == 3 ? (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu) : 0;
}

/* Writes the character at s.p[at], escaped if it must be. Returns its length, or 0 if it is not UTF-8. */
static size_t put_character(slp_buf *b, slp_str s, size_t at, int one_line) {
  const char *from = s.p + at;
  uint8_t c = (uint8_t)*from;
  char escape[ESCAPE];
  if (c == '"' || c == '\\' || c < 0x20 || (one_line && c == 0x7F)) {
    slp_buf_add(b, escape, (size_t)(put_escape(escape, c) - escape));
    return 1;
  }
  size_t len = c < 0x80 ? 1 : slp_utf8_length(from, s.n - at);
  if (len > 1 && one_line && slp_may_be_unsafe(*from) && slp_unsafe_length(from, len))
    put_u_escape(b, code_point(from, len));
  else
    slp_buf_add(b, from, len);
  return len;
}

#ifdef __SSE2__
/* Loads 1 to 16 bytes, and not one byte behind them. The rest of the register is 0, or repeats bytes. */
static __m128i load_part(const char *p, size_t n) {
  uint64_t low = 0, high = 0;
  uint32_t first, last;
  if (n == BLOCK) return _mm_loadu_si128((const __m128i *)(const void *)p);
  if (n >= 8) {
    memcpy(&low, p, 8);
    memcpy(&high, p + n - 8, 8);
    high = n == 8 ? 0 : high >> 8 * (BLOCK - n);
  } else if (n >= 4) {
    memcpy(&first, p, 4);
    memcpy(&last, p + n - 4, 4);
    low = first | (uint64_t)last << 8 * (n - 4);
  } else {
    low = (uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << 8 * (n / 2) |
          (uint64_t)(uint8_t)p[n - 1] << 8 * (n - 1);
  }
  return _mm_set_epi64x((long long)high, (long long)low);
}

/* Returns a bit for each byte that can't be written as it is, or that is not ASCII. */
static unsigned find_stops(__m128i v, int one_line) {
  __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  /* the comparison is signed, so bytes from 0x80 on are less than a space too */
  stop = _mm_or_si128(stop, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
  if (one_line) stop = _mm_or_si128(stop, _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F)));
  return (unsigned)_mm_movemask_epi8(stop);
}

/* En(a, b, c, d): the places of four bytes. Each byte k for which bit k of n is set has place 8 before it,
 * where the backslash stands. */
#define E0(a, b, c, d) a, b, c, d
#define E1(a, b, c, d) 8, a, b, c, d
#define E2(a, b, c, d) a, 8, b, c, d
#define E3(a, b, c, d) 8, a, 8, b, c, d
#define E4(a, b, c, d) a, b, 8, c, d
#define E5(a, b, c, d) 8, a, b, 8, c, d
#define E6(a, b, c, d) a, 8, b, 8, c, d
#define E7(a, b, c, d) 8, a, 8, b, 8, c, d
#define E8(a, b, c, d) a, b, c, 8, d
#define E9(a, b, c, d) 8, a, b, c, 8, d
#define E10(a, b, c, d) a, 8, b, c, 8, d
#define E11(a, b, c, d) 8, a, 8, b, c, 8, d
#define E12(a, b, c, d) a, b, 8, c, 8, d
#define E13(a, b, c, d) 8, a, b, 8, c, 8, d
#define E14(a, b, c, d) a, 8, b, 8, c, 8, d
#define E15(a, b, c, d) 8, a, 8, b, 8, c, 8, d
/* The rows of `spread` whose higher four bits are n. */
#define ROW(low, n) \
  { E##low(0, 1, 2, 3), E##n(4, 5, 6, 7) }
#define ROWS(n)                                                                                      \
  ROW(0, n), ROW(1, n), ROW(2, n), ROW(3, n), ROW(4, n), ROW(5, n), ROW(6, n), ROW(7, n), ROW(8, n), \
      ROW(9, n), ROW(10, n), ROW(11, n), ROW(12, n), ROW(13, n), ROW(14, n), ROW(15, n)
/* spread[m]: how eight bytes become up to sixteen, with a backslash before each byte k whose bit in m is
 * set. */
static const uint8_t spread[256][BLOCK] = {ROWS(0),  ROWS(1),  ROWS(2),  ROWS(3), ROWS(4),  ROWS(5),
                                           ROWS(6),  ROWS(7),  ROWS(8),  ROWS(9), ROWS(10), ROWS(11),
                                           ROWS(12), ROWS(13), ROWS(14), ROWS(15)};
static const uint8_t bits_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* Writes eight bytes with a backslash before each whose bit in m is set. v: the bytes, and a backslash. */
SSSE3 static inline char *put_spread(char *to, __m128i v, unsigned m) {
  __m128i order = _mm_loadu_si128((const __m128i *)(const void *)spread[m]);
  _mm_storeu_si128((__m128i *)(void *)to, _mm_shuffle_epi8(v, order));
  return to + 8 + bits_of[m & 15] + bits_of[m >> 4];
}

/* Replaces the bytes that have an escape of a letter, such as a newline, by that letter. *ret_known: a bit
 * for each of them. */
SSSE3 static __m128i put_letters(__m128i v, unsigned *ret_known) {
  const __m128i letters = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0);
  __m128i letter = _mm_and_si128(_mm_shuffle_epi8(letters, v), _mm_cmplt_epi8(v, _mm_set1_epi8(16)));
  __m128i has_letter = _mm_cmpgt_epi8(letter, _mm_setzero_si128());
  *ret_known = (unsigned)_mm_movemask_epi8(has_letter);
  return _mm_or_si128(_mm_andnot_si128(has_letter, v), letter);
}

/* Writes a block whose escapes all have two characters, as \" and \n have. Bit i of `stops` is set if byte i
 * must be escaped. Returns the end of the block; or NULL, and has written nothing, if another escape is
 * needed. */
SSSE3 static inline char *put_short_escapes(char *to, __m128i v, unsigned stops) {
  const __m128i backslash = _mm_set1_epi8('\\');
  __m128i quoted = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, backslash));
  unsigned others = stops & ~(unsigned)_mm_movemask_epi8(quoted), known = 0;
  if (others) v = put_letters(v, &known);
  if (others & ~known) return NULL;
  to = put_spread(to, _mm_unpacklo_epi64(v, backslash), stops & 255);
  return put_spread(to, _mm_unpackhi_epi64(v, backslash), stops >> 8);
}

/* A place in the output and one in a text. */
typedef struct places {
  char *to;
  size_t at;
} places;

/* Writes the blocks from s.p[at] on that put_short_escapes() can write, up to the first that needs no escape
 * at all. `last`: the last place at which a block has room. */
SSSE3 static places put_escaped_blocks(places p, const char *last, slp_str s, int one_line) {
  while (s.n - p.at >= BLOCK && p.to <= last) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s.p + p.at));
    unsigned stops = find_stops(v, one_line);
    char *end = stops ? put_short_escapes(p.to, v, stops) : NULL;
    if (!end) break;
    p.to = end;
    p.at += BLOCK;
  }
  return p;
}

/* Writes the last block of n bytes (1 to 16) if put_short_escapes() can write it. Returns its end, or
 * NULL. */
SSSE3 static char *put_escaped_last(char *to, __m128i v, size_t n, unsigned stops) {
  char *end = put_short_escapes(to, v, stops);
  return end ? end - (BLOCK - n) : NULL; /* behind the n bytes stand bytes without escapes */
}

/* Writes the n bytes at `from` with escapes, up to the first byte that is not ASCII. Bit i of `stops` is set
 * if byte i can't be written as it is. The caller has copied the block to `to` already, without escapes; 32
 * bytes can be read from `from`. Returns the end of what was written; *ret_read: how many of the n bytes were
 * used. */
static char *put_with_escapes(char *to, const char *from, size_t n, unsigned stops, size_t *ret_read) {
  size_t at = 0;
  *ret_read = n;
  for (; stops; stops &= stops - 1) {
    size_t stop = (size_t)__builtin_ctz(stops);
    to += stop - at;
    if ((uint8_t)from[stop] >= 0x80) {
      *ret_read = stop;
      return to;
    }
    to = put_escape(to, (uint8_t)from[stop]);
    at = stop + 1;
    memcpy(to, from + at, BLOCK); /* the rest of the block, and what comes behind it */
  }
  return to + (n - at);
}

/* Writes the last block of n bytes (1 to 16) as put_with_escapes() does. */
static char *put_last(char *to, const char *from, size_t n, int one_line, size_t *ret_read) {
  char block[2 * BLOCK] = {0};
  __m128i v = load_part(from, n);
  unsigned stops = find_stops(v, one_line) & ((1u << n) - 1);
  *ret_read = n;
  _mm_storeu_si128((__m128i *)(void *)to, v);
  if (!stops) return to + n;
  char *end = __builtin_cpu_supports("ssse3") ? put_escaped_last(to, v, n, stops) : NULL;
  if (end) return end;
  _mm_storeu_si128((__m128i *)(void *)block, v);
  return put_with_escapes(to, block, n, stops, ret_read);
}

/* Writes the last bytes of s, 1 to 15, by storing the last 16 bytes of s as one block. s.p[at] is the first
 * byte that is not written yet, and `at` is at least 16. Returns 0, and writes nothing, if a byte of that
 * block needs an escape or is not ASCII. */
static int put_rest(char *to, slp_str s, size_t at, int one_line) {
  __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s.p + s.n - BLOCK));
  if (find_stops(v, one_line)) return 0;
  /* the bytes before `at` need no escape, so they stand before `to` as they are */
  _mm_storeu_si128((__m128i *)(void *)(to + (s.n - at) - BLOCK), v);
  return 1;
}

/* Writes from s.p[at] on while the buffer has room for blocks and the text is ASCII. Returns the new `at`. */
static size_t put_blocks(slp_buf *b, slp_str s, size_t at, int one_line) {
  size_t n = BLOCK, took = BLOCK;
  size_t room = b->cap < b->max ? b->cap : b->max;
  if (room < BLOCK_ROOM) return at;
  char *to = b->p + b->n;
  const char *last = b->p + room - BLOCK_ROOM; /* the last place at which a block has room */
  while (s.n - at >= BLOCK && to <= last) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s.p + at));
    unsigned stops = find_stops(v, one_line);
    if (stops && __builtin_cpu_supports("ssse3")) {
      places p = put_escaped_blocks((places){to, at}, last, s, one_line);
      to = p.to;
      if (at < p.at) {
        at = p.at;
        continue;
      }
    }
    if (stops && s.n - at < 2 * BLOCK) break;
    _mm_storeu_si128((__m128i *)(void *)to, v);
    if (stops) {
      to = put_with_escapes(to, s.p + at, BLOCK, stops, &took);
      at += took;
      if (took < BLOCK) break;
    } else {
      to += BLOCK;
      at += BLOCK;
    }
  }
  if (at >= BLOCK && at < s.n && s.n - at < BLOCK && to <= last && put_rest(to, s, at, one_line)) {
    to += s.n - at;
    at = s.n;
  }
  while (at < s.n && s.n - at < 2 * BLOCK && to <= last && took == n) {
    n = s.n - at < BLOCK ? s.n - at : BLOCK;
    to = put_last(to, s.p + at, n, one_line, &took);
    at += took;
  }
  b->n = (size_t)(to - b->p);
  return at;
}
#else
/* Writes the plain bytes from s.p[at] on. Returns the new `at`. */
static size_t put_blocks(slp_buf *b, slp_str s, size_t at, int one_line) {
  size_t end = slp_json_plain_end(s.p, at, s.n);
  const char *del = one_line && end > at ? memchr(s.p + at, 0x7F, end - at) : NULL;
  if (del) end = (size_t)(del - s.p);
  slp_buf_add(b, s.p + at, end - at);
  return end;
}
#endif

static int is_continuation_byte(char c) { return ((uint8_t)c & 0xC0) == 0x80; }

/* Returns the length of the character at s.p[at] if it has two or three bytes, and is UTF-8 without a need
 * for an escape at the first look. Returns 0 if put_character() must look closer. */
static size_t plain_length(slp_str s, size_t at) {
  uint8_t c = (uint8_t)s.p[at];
  if (c < 0xC3 || c > 0xEF || s.n - at < 3 || !is_continuation_byte(s.p[at + 1])) return 0;
  if (c < 0xE0) return c != 0xD8 ? 2 : 0;
  return c != 0xE0 && c != 0xE2 && c != 0xED && is_continuation_byte(s.p[at + 2]) ? 3 : 0;
}

/* Writes the characters that are not ASCII from s.p[at] on, with single spaces between them. Returns the new
 * `at`, or SIZE_MAX if what comes is not UTF-8. */
static size_t put_beyond_ascii(slp_buf *b, slp_str s, size_t at, int one_line) {
  while (at < s.n && (uint8_t)s.p[at] >= 0x80) {
    size_t from = at, len;
    while (at < s.n && (len = plain_length(s, at))) {
      at += len;
      if (s.n - at >= 2 && s.p[at] == ' ' && (uint8_t)s.p[at + 1] >= 0x80) at++;
    }
    slp_buf_add(b, s.p + from, at - from);
    if (at == s.n || (uint8_t)s.p[at] < 0x80) break;
    len = put_character(b, s, at, one_line);
    if (!len) return SIZE_MAX;
    at += len;
  }
  return at;
}

/* Writes s with its quotes. Returns 1; or 0 if s is not UTF-8, and then the buffer is as it was. */
static int put_text(slp_buf *b, slp_str s, int one_line) {
  size_t was = b->n, at = 0;
  if (slp_buf_reserve(b, s.n + 2)) return 1;
  b->p[b->n++] = '"';
  while (at < s.n && !slp_buf_failed(b)) {
    at = put_blocks(b, s, at, one_line);
    if (at < s.n && (uint8_t)s.p[at] < 0x80) at += put_character(b, s, at, one_line);
    at = put_beyond_ascii(b, s, at, one_line);
    if (at == SIZE_MAX) {
      b->n = was;
      return 0;
    }
  }
  if (slp_buf_add_char(b, '"')) b->n = was;
  return 1;
}

static int must_put(slp_buf *b, slp_str s, int one_line) {
  if (!put_text(b, s, one_line)) slp_buf_fail(b, SLP_EBADDATA);
  return slp_buf_failed(b);
}

int slp_json_put_string(slp_buf *b, slp_str s) { return must_put(b, s, 0); }
int slp_json_put_line_string(slp_buf *b, slp_str s) { return must_put(b, s, 1); }
int slp_json_try_line_string(slp_buf *b, slp_str s) { return put_text(b, s, 1); }

/* ---- values ---- */

slp_buf *slp_jw_value(slp_jw *w, const char *name) {
  slp_buf *b = w->b;
  if (!name && !w->comma) {
    w->comma = 1;
    return b;
  }
  slp_str key = slp_str_of(name);
  size_t space = w->spaced != 0;
  size_t need = (w->comma ? 1 + space : 0) + (name ? key.n + 3 + space : 0);
  if (slp_buf_reserve(b, need)) return b;
  char *at = b->p + b->n;
  if (w->comma) *at++ = ',';
  if (w->comma && space) *at++ = ' ';
  if (name) {
    *at++ = '"';
    if (key.n) memcpy(at, key.p, key.n);
    at += key.n;
    *at++ = '"';
    *at++ = ':';
    if (space) *at = ' ';
  }
  b->n += need;
  w->comma = 1;
  return b;
}

slp_jw slp_jw_begin(slp_buf *b) {
  slp_jw w = {.b = b};
  slp_jw_object(&w, NULL);
  return w;
}

static void open_with(slp_jw *w, const char *name, char c) {
  slp_buf_add_char(slp_jw_value(w, name), c);
  w->comma = 0;
}

static int close_with(slp_jw *w, char c) {
  w->comma = 1;
  return slp_buf_add_char(w->b, c);
}

void slp_jw_object(slp_jw *w, const char *name) { open_with(w, name, '{'); }
int slp_jw_object_end(slp_jw *w) { return close_with(w, '}'); }
void slp_jw_array(slp_jw *w, const char *name) { open_with(w, name, '['); }
int slp_jw_array_end(slp_jw *w) { return close_with(w, ']'); }

void slp_jw_key(slp_jw *w, slp_str key) {
  slp_jw_str(w, NULL, key);
  slp_buf_add(w->b, ": ", w->spaced ? 2 : 1);
  w->comma = 0;
}

void slp_jw_str(slp_jw *w, const char *name, slp_str s) { must_put(slp_jw_value(w, name), s, w->one_line); }
void slp_jw_z(slp_jw *w, const char *name, const char *z) { slp_jw_str(w, name, slp_str_of(z)); }

void slp_jw_z_or_null(slp_jw *w, const char *name, const char *z) {
  if (z && *z)
    slp_jw_z(w, name, z);
  else
    slp_jw_null(w, name);
}

void slp_jw_base64(slp_jw *w, const char *name, slp_str bytes) {
  slp_buf_add_char(slp_jw_value(w, name), '"');
  slp_base64_encode(w->b, bytes);
  slp_buf_add_char(w->b, '"');
}

void slp_jw_u64(slp_jw *w, const char *name, uint64_t v) { slp_buf_add_u64(slp_jw_value(w, name), v); }
void slp_jw_i64(slp_jw *w, const char *name, int64_t v) { slp_buf_add_i64(slp_jw_value(w, name), v); }

void slp_jw_i64_or_null(slp_jw *w, const char *name, int64_t v) {
  if (v < 0)
    slp_jw_null(w, name);
  else
    slp_jw_i64(w, name, v);
}

void slp_jw_scaled(slp_jw *w, const char *name, uint64_t v, unsigned decimals) {
  slp_buf_add_scaled(slp_jw_value(w, name), v, decimals);
}

void slp_jw_bool(slp_jw *w, const char *name, int on) {
  slp_jw_raw(w, name, on ? SLP_STR("true") : SLP_STR("false"));
}
void slp_jw_null(slp_jw *w, const char *name) { slp_jw_raw(w, name, SLP_STR("null")); }
void slp_jw_raw(slp_jw *w, const char *name, slp_str json) { slp_buf_add_str(slp_jw_value(w, name), json); }
