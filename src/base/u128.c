/* u128.c - divides numbers of 128 bits, and writes them as text. */
#include "base/u128.h"

slp_u128 slp_u128_div(slp_u128 a, uint64_t by, uint64_t *rest) {
  SLP_CHECK(by > 0);
  slp_u128 v = {a.hi / by, 0};
  uint64_t r = a.hi % by;
  if (by <= UINT32_MAX) { /* two steps with 32 bits of `a` each, in which nothing overflows */
    r = r << 32 | a.lo >> 32;
    v.lo = r / by << 32;
    r = r % by << 32 | (uint32_t)a.lo;
    v.lo |= r / by;
    *rest = r % by;
    return v;
  }
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  wide w = (wide)r << 64 | a.lo;
  v.lo = (uint64_t)(w / by);
  *rest = (uint64_t)(w % by);
#else
  v.lo = slp_u128_div_bits((slp_u128){r, a.lo}, by, rest);
#endif
  return v;
}

uint64_t slp_u128_div_bits(slp_u128 a, uint64_t by, uint64_t *rest) {
  uint64_t v = 0, r = a.hi;
  for (int bit = 63; bit >= 0; bit--) {
    uint64_t above = r >> 63; /* the bit that r << 1 has no room for */
    r = r << 1 | (a.lo >> bit & 1);
    v <<= 1;
    if (above || r >= by) {
      r -= by;
      v |= 1;
    }
  }
  *rest = r;
  return v;
}

void slp_u128_text(slp_u128 v, char out[40]) {
  char digits[40];
  size_t n = 0;
  do {
    uint64_t digit;
    v = slp_u128_div(v, 10, &digit);
    digits[n++] = (char)('0' + (int)digit);
  } while (v.hi || v.lo);
  for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
  out[n] = 0;
}
