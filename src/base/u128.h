/* u128.h - unsigned numbers of 128 bits, such as hash keys. No compiler has a type for them on 32-bit
 * processors. Sums, differences and products are kept modulo 2^128. */
#ifndef SLP_BASE_U128_H
#define SLP_BASE_U128_H

#include "base/base.h"

typedef struct slp_u128 {
  uint64_t hi, lo;
} slp_u128;

#define SLP_U128(v) ((slp_u128){0, (v)})
#define SLP_U128_MAX ((slp_u128){UINT64_MAX, UINT64_MAX})

/* Returns -1, 0 or 1. */
static inline int slp_u128_cmp(slp_u128 a, slp_u128 b) {
  if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
  return (a.lo > b.lo) - (a.lo < b.lo);
}
static inline int slp_u128_eq(slp_u128 a, slp_u128 b) { return a.hi == b.hi && a.lo == b.lo; }
/* Returns 1 if from <= v <= to. */
static inline int slp_u128_within(slp_u128 v, slp_u128 from, slp_u128 to) {
  return slp_u128_cmp(from, v) <= 0 && slp_u128_cmp(v, to) <= 0;
}
static inline slp_u128 slp_u128_add(slp_u128 a, slp_u128 b) {
  uint64_t lo = a.lo + b.lo;
  return (slp_u128){a.hi + b.hi + (lo < a.lo), lo};
}
static inline slp_u128 slp_u128_sub(slp_u128 a, slp_u128 b) {
  return (slp_u128){a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
}
static inline slp_u128 slp_u128_half(slp_u128 a) { return (slp_u128){a.hi >> 1, a.hi << 63 | a.lo >> 1}; }
/* Returns the number in the middle of from <= to, the lower one if there are two. */
static inline slp_u128 slp_u128_middle(slp_u128 from, slp_u128 to) {
  return slp_u128_add(from, slp_u128_half(slp_u128_sub(to, from)));
}
/* Returns the whole product of two 64-bit numbers. */
static inline slp_u128 slp_u128_product(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0, left = a1 * b0, right = a0 * b1;
  uint64_t middle = (low >> 32) + (uint32_t)left + (uint32_t)right;
  return (slp_u128){a1 * b1 + (left >> 32) + (right >> 32) + (middle >> 32), middle << 32 | (uint32_t)low};
}
static inline slp_u128 slp_u128_times(slp_u128 a, uint64_t by) {
  slp_u128 v = slp_u128_product(a.lo, by);
  v.hi += a.hi * by;
  return v;
}
/* Returns a / by, and sets *rest to a % by. `by` must not be 0. */
slp_u128 slp_u128_div(slp_u128 a, uint64_t by, uint64_t *rest);
/* The part of slp_u128_div() for compilers without a type of 128 bits. a.hi must be less than `by`. */
uint64_t slp_u128_div_bits(slp_u128 a, uint64_t by, uint64_t *rest);
void slp_u128_text(slp_u128 v, char out[40]); /* writes decimal digits and a NUL */

#endif
