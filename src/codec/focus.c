/* focus.c - the slow part of focus.h: numbers with leading zeros. */
#include "codec/focus.h"

uint64_t slp_focus_word_padded(const slp_focus *f, slp_str seq) {
  while (seq.n && *seq.p == '0') seq = (slp_str){seq.p + 1, seq.n - 1};
  return slp_focus_word(f, seq);
}
