/* focus.h - computes the word of a sequence number: the value of nineteen of its digits, as a 64-bit integer.
 * The focus determines which nineteen digits these are; core/merge.c chooses the focus. The merge orders
 * shards by words, because comparing texts would be slower. Each row of a page's table contains a word. The
 * word is computed when the record is read, because the text of the number is in the CPU's cache then. */
#ifndef SLP_CODEC_FOCUS_H
#define SLP_CODEC_FOCUS_H

#include "base/base.h"
#include "codec/digits.h"

#define SLP_FOCUS_DIGITS 19

typedef struct slp_focus {
  uint64_t id; /* identifies this choice of digits, and differs for each choice; 0: there is no focus */
  /* number of digits of a number that begins with `shared`, without leading zeros; 0: not known */
  size_t length;
  size_t from;      /* number of digits in front of the nineteen that make the word: 0, or at least 8 */
  char shared[112]; /* the digits in front of the nineteen */
} slp_focus;

/* The words of numbers that do not begin with `shared`. Each of them is below, or above, all numbers that
 * begin with `shared`. */
#define SLP_FOCUS_BELOW 0
#define SLP_FOCUS_ABOVE UINT64_MAX

static inline uint64_t slp_focus_load(const char *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

/* Returns 1 if the n bytes at a and at b are equal. n must be 0 or at least 8. */
static inline int slp_focus_same(const char *a, const char *b, size_t n) {
  if (!n) return 1;
  uint64_t differ = slp_focus_load(a + n - 8) ^ slp_focus_load(b + n - 8);
  for (size_t i = 0; i + 8 < n; i += 8) differ |= slp_focus_load(a + i) ^ slp_focus_load(b + i);
  return !differ;
}

/* Returns the word of a number that is longer than f->length because of leading zeros. */
uint64_t slp_focus_word_padded(const slp_focus *f, slp_str seq);

/* Returns the word of a number: its nineteen digits as an integer. Of two numbers with different words, the
 * one with the lower word is less. Empty text has the lowest word. */
static inline uint64_t slp_focus_word(const slp_focus *f, slp_str seq) {
  if (seq.n && seq.n == f->length) {
    /* seq has leading zeros, so it may be less than a shorter number. The word of that number is
     * SLP_FOCUS_BELOW, so seq must get SLP_FOCUS_BELOW too */
    if (!f->from && *seq.p == '0') return SLP_FOCUS_BELOW;
    if (!slp_focus_same(seq.p, f->shared, f->from))
      return memcmp(seq.p, f->shared, f->from) < 0 ? SLP_FOCUS_BELOW : SLP_FOCUS_ABOVE;
    const char *p = seq.p + f->from;
    uint64_t last = (uint64_t)(p[16] - '0') * 100 + (uint64_t)(p[17] - '0') * 10 + (uint64_t)(p[18] - '0');
    return 1 + slp_eight_digits(p) * 100000000000u + (slp_eight_digits(p + 8) * 1000 + last);
  }
  if (seq.n <= f->length) return SLP_FOCUS_BELOW;
  return *seq.p == '0' ? slp_focus_word_padded(f, seq) : SLP_FOCUS_ABOVE;
}

#endif
