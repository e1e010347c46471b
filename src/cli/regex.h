/* regex.h - reads a regular expression of Perl's dialect as a small program for cli/matcher.h: the part of
 * the dialect whose matching takes one look at each byte. The rest of the dialect is refused by name here,
 * and known to cli/perl.h.
 *
 * An expression in UTF-8 is of characters: "." and [^a] take a whole one, and nothing takes bytes that are
 * not UTF-8. Any other expression is of bytes. \d \w \s \b and classes know ASCII only. */
#ifndef SLP_CLI_REGEX_H
#define SLP_CLI_REGEX_H

#include "base/mem.h"

/* Steps of a program: "a{1,50}" makes a hundred of them. */
#define SLP_REGEX_STEPS_MAX 8192u
#define SLP_REGEX_WHY 120

typedef enum {
  SLP_REGEX_BYTE, /* takes a byte of set number `to`, and goes on behind it */
  SLP_REGEX_FORK, /* goes on at `to` and at `or_to`, both counted from here, as for */
  SLP_REGEX_JUMP, /* `to` */
  SLP_REGEX_CHECK /* goes on if what slp_regex_check `to` says holds here */
} slp_regex_op;

typedef enum {
  SLP_REGEX_BEGIN,    /* of the text: ^ and \A */
  SLP_REGEX_END,      /* $ and \Z: the text's end, or the place before a newline that is its last byte */
  SLP_REGEX_VERY_END, /* \z */
  SLP_REGEX_WORD_EDGE,
  SLP_REGEX_NO_WORD_EDGE
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

typedef struct slp_regex_traits { /* of one expression */
  size_t steps;                   /* about how many steps of the program it makes */
  char literal[64];               /* a text that every match contains, NUL-ended; "": none is known */
  uint8_t literal_folds;          /* in upper or lower case */
  uint8_t loops;                  /* some part of it may be repeated without bound */
  uint8_t beyond_ascii; /* some part takes one character of several, and some of them are beyond ASCII */
} slp_regex_traits;

void slp_regex_init(slp_regex *r, slp_mem *mem);
void slp_regex_free(slp_regex *r);
/* Adds an expression as an alternative to those before; `folds`: upper and lower case are the same.
 * Returns SLP_EINVAL and says in `why` what is wrong and where, or SLP_ENOMEM. After a failure only
 * slp_regex_free() is left to do. */
int slp_regex_add(slp_regex *r, const char *text, int folds, slp_regex_traits *ret, char why[SLP_REGEX_WHY]);
/* Refuses what dialects of regular expressions read in different ways, and no tool tells: SLP_EINVAL and
 * `why` say what, where, and how to write it. */
int slp_regex_check_dialect(const char *text, char why[SLP_REGEX_WHY]);
/* The end of what begins at c in an expression: a [ ], \Q \E, an escape, or one byte. */
const char *slp_regex_next(const char *c);

#endif
