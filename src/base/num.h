/* num.h - unsigned decimal numbers of any length, as text. Sequence numbers (up to 129 digits) and
 * hash keys (39 digits) do not fit machine words. */
#ifndef SLP_BASE_NUM_H
#define SLP_BASE_NUM_H

#include "base/base.h"

/* 1 when s is `0` or a digit 1-9 followed by digits (Kinesis pattern 0|([1-9]\d{0,128})). */
int slp_num_valid(slp_str s);
/* -1, 0, 1. Both valid: no leading zeros, so length decides first and bytes after. */
static inline int slp_num_cmp(slp_str a, slp_str b) {
  if (SLP_MUTANT(numbers_as_text)) return slp_str_cmp(a, b);
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  int c = a.n ? memcmp(a.p, b.p, a.n) : 0;
  return c < 0 ? -1 : c > 0;
}
/* Whole text as u64 or i64, no sign of plus, no spaces. SLP_EBADDATA or SLP_ELIMIT. */
int slp_parse_u64(slp_str s, uint64_t *ret);
int slp_parse_i64(slp_str s, int64_t *ret);
/* Likewise, as 16 bytes, the greatest first: hash keys, which compare as bytes do. */
int slp_parse_u128(slp_str s, uint8_t ret[16]);

#endif
