/* needles.h - looks for texts of which every match of an expression contains at least one. A payload without
 * them can't match, and is passed over at the speed of a search for two bytes. */
#ifndef SLP_CLI_NEEDLES_H
#define SLP_CLI_NEEDLES_H

#include "base/base.h"
#include "cli/regex.h"

typedef struct slp_needle {
  char text[sizeof((slp_regex_traits *)0)->literal]; /* in lower case if `folds` */
  uint8_t n, folds;
  uint8_t at[2];      /* offsets of its two rarest bytes; the same offset twice if n is 1 */
  uint8_t low_bit[2]; /* 0x20: that byte is a letter in either case; 0: it is as it is */
  uint8_t rare;       /* 1: the first of these bytes is so rare that it is looked for alone at first */
} slp_needle;

typedef struct slp_needles {
  slp_needle list[SLP_REGEX_ANY_MAX];
  size_t n; /* 0: nothing is known about what a match contains */
} slp_needles;

/* Makes needles of what is known about an expression. */
void slp_needles_of(slp_needles *ret, const slp_regex_traits *traits);
/* Returns 0 if the text has none of the needles. Returns 1 if it has one, if there are no needles, or if the
 * search stops early because it would take long. */
int slp_needles_may_be_in(const slp_needles *needles, slp_str text);

#endif
