/* num.h - unsigned decimal numbers of any length, as text. Sequence numbers (up to 129 digits) and hash keys
 * (39 digits) do not fit machine words.
 *
 * Leading zeros are valid here and do not change the order. core/mark.c pads sequence numbers to the width
 * that their service expects. */
#ifndef SLP_BASE_NUM_H
#define SLP_BASE_NUM_H

#include "base/base.h"
#include "base/mutant.h"

/* Returns 1 if s consists of one or more digits and nothing else. */
int slp_num_valid(slp_str s);
/* Returns 1 if s is valid and has no leading zero, as in the services' own pattern 0|([1-9]\d{0,128}). */
int slp_num_plain(slp_str s);
slp_str slp_num_trim(slp_str s); /* drops leading zeros, but keeps one digit at least */
/* Drops leading zeros until s has at most `most` digits. Returns {NULL, 0} if s is no number, or if it still
 * has more digits. */
slp_str slp_num_fit(slp_str s, size_t most);
/* The part of slp_num_cmp() for numbers of different lengths. */
__attribute__((cold)) int slp_num_cmp_lengths(slp_str a, slp_str b);
/* Compares by value. Returns -1, 0 or 1. a and b must be valid numbers or empty; empty is less than every
 * number. */
static inline int slp_num_cmp(slp_str a, slp_str b) {
  if (SLP_MUTANT(numbers_as_text)) return slp_str_cmp(a, b);
  if (a.n != b.n) return slp_num_cmp_lengths(a, b);
  int c = a.n ? memcmp(a.p, b.p, a.n) : 0;
  return c < 0 ? -1 : c > 0;
}
/* Parses the whole text as u64 or i64; neither a plus sign nor spaces are allowed. Returns 0, SLP_EBADDATA or
 * SLP_ELIMIT. */
int slp_parse_u64(slp_str s, uint64_t *ret);
int slp_parse_i64(slp_str s, int64_t *ret);
/* Parses the whole text as a 128-bit number into 16 bytes, the most significant first, so that hash keys
 * compare as bytes. Returns as slp_parse_u64(). */
int slp_parse_u128(slp_str s, uint8_t ret[16]);

#endif
