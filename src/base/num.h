/* num.h - unsigned decimal numbers of any length, as text. Sequence numbers (up to 129 digits) and hash keys
 * (39 digits) do not fit machine words.
 *
 * Zeros in front are valid here and change no order. core/mark.c brings sequence numbers into the one form in
 * which their service knows them. */
#ifndef SLP_BASE_NUM_H
#define SLP_BASE_NUM_H

#include "base/base.h"

/* Returns 1 if s is one digit or more, and nothing else. */
int slp_num_valid(slp_str s);
/* Returns 1 if s also has no zeros in front, as the services' own pattern wants it: 0|([1-9]\d{0,128}). */
int slp_num_plain(slp_str s);
slp_str slp_num_trim(slp_str s); /* without zeros in front, but with one digit at least */
/* Returns s with at most `most` digits, by leaving out zeros in front. {NULL, 0}: it is no number, or a
 * longer one. */
slp_str slp_num_fit(slp_str s, size_t most);
__attribute__((cold)) int slp_num_cmp_lengths(slp_str a, slp_str b);
/* Returns -1, 0 or 1 by value. Both must be valid, or empty, which is below all numbers. */
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
/* Does the same into 16 bytes, the most significant first, so that hash keys compare as bytes. */
int slp_parse_u128(slp_str s, uint8_t ret[16]);

#endif
