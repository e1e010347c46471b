/* regex.h - reads POSIX's extended regular expressions, over bytes, as a small program for cli/matcher.h.
 * What GNU adds is known: \w \W \s \S \b \B \< \> \` \'. Back-references are refused, since their matching
 * takes without bound. */
#ifndef SLP_CLI_REGEX_H
#define SLP_CLI_REGEX_H

#include "base/mem.h"

/* Steps of a program: "a{1,50}" makes a hundred of them. */
#define SLP_REGEX_STEPS_MAX 8192u

typedef enum {
  SLP_REGEX_BYTE, /* takes a byte of set number `to`, and goes on behind it */
  SLP_REGEX_FORK, /* goes on at `to` and at `or_to`, both counted from here, as for */
  SLP_REGEX_JUMP, /* `to` */
  SLP_REGEX_CHECK /* goes on if what slp_regex_check `to` says holds here */
} slp_regex_op;

typedef enum {
  SLP_REGEX_BEGIN, /* of the text, as ^ and \` */
  SLP_REGEX_END,   /* $ and \' */
  SLP_REGEX_WORD_EDGE,
  SLP_REGEX_NO_WORD_EDGE,
  SLP_REGEX_WORD_BEGIN,
  SLP_REGEX_WORD_END
} slp_regex_check;

typedef struct slp_regex_step {
  uint8_t op;
  int16_t to, or_to;
} slp_regex_step;

typedef struct slp_regex_set { /* of bytes */
  uint64_t bits[4];
} slp_regex_set;
static inline int slp_regex_in(const slp_regex_set *s, uint8_t c) { return s->bits[c / 64] >> (c % 64) & 1; }
void slp_regex_put_words(slp_regex_set *s); /* the bytes of words */

typedef struct slp_regex {
  slp_mem *mem;
  slp_regex_step *steps; /* owned, as the next; behind the last one it matches */
  slp_regex_set *sets;
  size_t n, cap, sets_n, sets_cap;
  uint8_t words; /* some check asks where words begin or end */
} slp_regex;

void slp_regex_init(slp_regex *r, slp_mem *mem);
void slp_regex_free(slp_regex *r);
/* One more expression, as an alternative to those before. SLP_EINVAL and a few words in `why`; SLP_ENOMEM.
 * Only slp_regex_free() is left to do after a failure. */
int slp_regex_add(slp_regex *r, const char *text, char why[100]);

#endif
