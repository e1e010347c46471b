/* num.c - decimal text: checks, comparison, bounded parsing. */
#include "base/num.h"

int slp_num_valid(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return 0;
  }
  return s.n > 0;
}

int slp_num_plain(slp_str s) { return slp_num_valid(s) && (s.p[0] != '0' || s.n == 1); }

slp_str slp_num_trim(slp_str s) {
  while (s.n > 1 && *s.p == '0') s = (slp_str){s.p + 1, s.n - 1};
  return s;
}

slp_str slp_num_fit(slp_str s, size_t most) {
  if (!slp_num_valid(s)) return (slp_str){NULL, 0};
  while (s.n > most && *s.p == '0') s = (slp_str){s.p + 1, s.n - 1};
  return s.n <= most ? s : (slp_str){NULL, 0};
}

/* Compares numbers with different numbers of digits. Once leading zeros are dropped, the longer number is
 * greater; if both are equally long, their bytes decide. */
int slp_num_cmp_lengths(slp_str a, slp_str b) {
  a = slp_num_trim(a);
  b = slp_num_trim(b);
  return a.n != b.n ? (a.n < b.n ? -1 : 1) : slp_str_cmp(a, b);
}

int slp_parse_u64(slp_str s, uint64_t *ret) {
  uint64_t v = 0;
  if (s.n == 0) return SLP_EBADDATA;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return SLP_EBADDATA;
    uint64_t d = (uint64_t)(s.p[i] - '0');
    if (v > (UINT64_MAX - d) / 10) return SLP_ELIMIT;
    v = v * 10 + d;
  }
  *ret = v;
  return 0;
}

int slp_parse_i64(slp_str s, int64_t *ret) {
  uint64_t v;
  int minus = s.n > 0 && s.p[0] == '-';
  if (minus) s = (slp_str){s.p + 1, s.n - 1};
  int r = slp_parse_u64(s, &v);
  if (r) return r;
  if (v > (uint64_t)INT64_MAX + (minus ? 1 : 0)) return SLP_ELIMIT;
  *ret = minus ? (v ? -(int64_t)(v - 1) - 1 : 0) : (int64_t)v;
  return 0;
}

/* Computes v = v * 10 + digit. v is four 32-bit limbs, the least significant first. Returns the carry; if it
 * is not 0, the number does not fit. */
static uint64_t shift_in(uint32_t v[4], unsigned digit) {
  uint64_t carry = digit;
  for (int i = 0; i < 4; i++) {
    carry += (uint64_t)v[i] * 10;
    v[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return carry;
}

int slp_parse_u128(slp_str s, uint8_t ret[16]) {
  uint32_t v[4] = {0};
  if (s.n == 0) return SLP_EBADDATA;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return SLP_EBADDATA;
    if (shift_in(v, (unsigned)(s.p[i] - '0'))) return SLP_ELIMIT;
  }
  for (int i = 0; i < 16; i++) ret[i] = (uint8_t)(v[3 - i / 4] >> (24 - i % 4 * 8));
  return 0;
}
