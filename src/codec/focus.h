/* focus.h - nineteen digits of a sequence number as one word. The merge orders shards by such words, and a
 * page has them in its table. They are made while the text is in the CPU's cache, because it lies in cold
 * memory when the record's turn comes. core/merge.c chooses which digits these are. */
#ifndef SLP_CODEC_FOCUS_H
#define SLP_CODEC_FOCUS_H

#include "base/base.h"
#include "codec/digits.h"

#define SLP_FOCUS_DIGITS 19

typedef struct slp_focus {
  uint64_t id;      /* another one for each choice of digits; 0: no focus at all */
  size_t length;    /* of numbers that begin with `shared`, without zeros in front; 0: none are known */
  size_t from;      /* digits before the nineteen: none, or at least eight */
  char shared[112]; /* the digits before the nineteen */
} slp_focus;

/* Words of numbers that do not begin with `shared`: they sort before or behind those that do. */
#define SLP_FOCUS_BELOW 0
#define SLP_FOCUS_ABOVE UINT64_MAX

static inline uint64_t slp_focus_load(const char *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

/* Returns 1 if n bytes are equal; n is 0 or at least 8. */
static inline int slp_focus_same(const char *a, const char *b, size_t n) {
  if (!n) return 1;
  uint64_t differ = slp_focus_load(a + n - 8) ^ slp_focus_load(b + n - 8);
  for (size_t i = 0; i + 8 < n; i += 8) differ |= slp_focus_load(a + i) ^ slp_focus_load(b + i);
  return !differ;
}

/* Returns the word of a number that is longer than f->length and has zeros in front. */
uint64_t slp_focus_word_padded(const slp_focus *f, slp_str seq);

/* Returns the word of a number. Of two numbers with different words, the one with the lower word is less.
 * Empty text is below all numbers. */
static inline uint64_t slp_focus_word(const slp_focus *f, slp_str seq) {
  if (seq.n && seq.n == f->length) {
    if (!f->from && *seq.p == '0') return SLP_FOCUS_BELOW; /* like shorter numbers, which may be greater */
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
