/* buf.c - growable bytes with a maximum. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

void slp_buf_init(slp_buf *b, slp_mem *mem, size_t max) {
  *b = (slp_buf){.mem = mem, .max = max < UINT32_MAX ? (uint32_t)max : UINT32_MAX};
}

void slp_buf_free(slp_buf *b) {
  if (b->p) slp_free(b->mem, b->p);
  b->p = NULL;
  b->n = b->cap = 0;
  b->failed = 0;
}

int slp_buf_fail(slp_buf *b, int error) {
  if (!b->failed) b->failed = error;
  return b->failed;
}

int slp_buf_grow(slp_buf *b, size_t more) {
  if (b->failed) return b->failed;
  if (more > b->max || b->n > b->max - more) return b->failed = SLP_ELIMIT;
  size_t need = b->n + more;
  if (b->p && need <= b->cap) return 0;
  size_t cap = b->cap ? b->cap : 64;
  while (cap < need) cap = cap > SIZE_MAX / 2 ? need : cap * 2;
  if (cap > b->max) cap = b->max;
  char *p = slp_realloc(b->mem, b->p, cap + 1);
  if (!p) return b->failed = SLP_ENOMEM;
  b->p = p;
  b->cap = cap;
  return 0;
}

int slp_buf_reserve_exactly(slp_buf *b, size_t more) {
  size_t need = b->n + more;
  if (b->p && need <= b->cap) return 0;
  char *p = slp_realloc(b->mem, b->p, need + 1);
  if (!p) return SLP_ENOMEM;
  b->p = p;
  b->cap = need;
  return 0;
}

int slp_buf_add_z(slp_buf *b, const char *z) { return slp_buf_add(b, z, strlen(z)); }

/* Writes v < 10^8 as eight digits. Splits it into halves, these into pairs, and these into digits; one
 * multiplication splits all parts. */
static void put_eight_digits(char *to, uint32_t v) {
  uint64_t halves = v / 10000 | (uint64_t)(v % 10000) << 32;
  uint64_t hundreds = (halves * 10486 >> 20) & UINT64_C(0x7f0000007f); /* halves / 100 */
  uint64_t pairs = hundreds | (halves - hundreds * 100) << 16;
  uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* pairs / 10 */
  uint64_t digits = tens | (pairs - tens * 10) << 8;
  digits += UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(to, &digits, sizeof digits);
#else
  for (int i = 0; i < 8; i++) to[i] = (char)(digits >> 8 * i);
#endif
}

int slp_buf_add_u64(slp_buf *b, uint64_t v) {
  char digits[24]; /* three groups of eight digits */
  size_t i = sizeof digits;
  if (v < 10) return slp_buf_add_char(b, (char)('0' + v));
  do {
    put_eight_digits(digits + (i -= 8), (uint32_t)(v % 100000000));
    v /= 100000000;
  } while (v);
  while (digits[i] == '0') i++;
  return slp_buf_add(b, digits + i, sizeof digits - i);
}

int slp_buf_add_i64(slp_buf *b, int64_t v) {
  if (v >= 0) return slp_buf_add_u64(b, (uint64_t)v);
  slp_buf_add_char(b, '-');
  return slp_buf_add_u64(b, (uint64_t) - (v + 1) + 1);
}

int slp_buf_add_scaled(slp_buf *b, uint64_t v, unsigned decimals) {
  char digits[21]; /* either 20 digits, or "0." and 19 decimals */
  size_t i = sizeof digits;
  for (; decimals && v % 10 == 0; decimals--) v /= 10;
  for (unsigned behind = decimals; behind; behind--, v /= 10) digits[--i] = (char)('0' + v % 10);
  if (decimals) digits[--i] = '.';
  do {
    digits[--i] = (char)('0' + v % 10);
    v /= 10;
  } while (v);
  return slp_buf_add(b, digits + i, sizeof digits - i);
}

int slp_buf_addf(slp_buf *b, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (n < 0) return slp_buf_fail(b, SLP_EINVAL);
  int r = slp_buf_reserve(b, (size_t)n);
  if (r) return r;
  va_start(args, fmt);
  vsnprintf(b->p + b->n, (size_t)n + 1, fmt, args);
  va_end(args);
  b->n += (size_t)n;
  return 0;
}

const char *slp_buf_z(slp_buf *b) {
  if (!b->p) return "";
  b->p[b->n] = 0;
  return b->p;
}

void slp_buf_move(slp_buf *to, slp_buf *from) {
  SLP_CHECK(!to->p);
  uint32_t max = to->max ? to->max : from->max;
  *to = *from;
  to->max = max;
  from->p = NULL;
  from->n = from->cap = 0;
  from->failed = 0;
}
