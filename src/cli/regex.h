/* regex.h - compiles a regular expression of Perl's dialect to a small program for cli/matcher.h. It covers
 * the part of the dialect that can be matched in one pass over the text. Any other construct is refused here,
 * with a message that says which; cli/perl.h handles these.
 *
 * An expression that is valid UTF-8 matches characters: "." and [^a] match a whole character, and nothing
 * matches bytes that are not UTF-8. Any other expression matches bytes. \d \w \s \b and classes know ASCII
 * only. */
#ifndef SLP_CLI_REGEX_H
#define SLP_CLI_REGEX_H

#include "base/mem.h"

/* The most steps that a program may have. "a{1,50}" has about a hundred steps. */
#define SLP_REGEX_STEPS_MAX 8192u
#define SLP_REGEX_WHY 120 /* bytes for a sentence that says what is wrong */

typedef enum {
  SLP_REGEX_BYTE, /* takes a byte that is in set number `to`, and goes on at the next step */
  SLP_REGEX_FORK, /* goes on at two places: at `to` and at `or_to`, both relative to this step */
  SLP_REGEX_JUMP, /* goes on at `to`, relative to this step */
  SLP_REGEX_CHECK /* goes on at the next step if the check `to` (slp_regex_check) holds here */
} slp_regex_op;

typedef enum {
  SLP_REGEX_BEGIN,    /* ^ and \A: the beginning of the text */
  SLP_REGEX_END,      /* $ and \Z: the end of the text, or the place before a newline that is its last byte */
  SLP_REGEX_VERY_END, /* \z: the end of the text */
  SLP_REGEX_WORD_EDGE,   /* \b: the beginning or the end of a word */
  SLP_REGEX_NO_WORD_EDGE /* \B: not at the beginning or the end of a word */
} slp_regex_check;

typedef struct slp_regex_step {
  uint8_t op;
  int16_t to, or_to;
} slp_regex_step;

typedef struct slp_regex_set { /* a set of bytes */
  uint64_t bits[4];
} slp_regex_set;
static inline int slp_regex_in(const slp_regex_set *s, uint8_t c) { return s->bits[c / 64] >> (c % 64) & 1; }
void slp_regex_put_words(slp_regex_set *s); /* Adds the bytes of words: letters, digits and '_'. */

typedef struct slp_regex {
  slp_mem *mem;
  slp_regex_step *steps; /* owned, like `sets`; when the program passes the last step, the text matches */
  slp_regex_set *sets;
  size_t n, cap, sets_n, sets_cap;
  uint8_t words; /* 1: a step checks for a word edge */
} slp_regex;

#define SLP_REGEX_ANY_MAX 8

typedef struct slp_regex_text { /* a text without a NUL in it */
  char text[64];                /* NUL-terminated */
  uint8_t folds;                /* 1: it may be in upper or lower case */
} slp_regex_text;

typedef struct slp_regex_traits { /* what is known about one expression */
  size_t steps;                   /* about how many steps its program has */
  char literal[64];      /* a NUL-terminated text that every match contains; "": no such text is known */
  uint8_t literal_folds; /* 1: a match may contain `literal` in upper or lower case */
  /* every match contains at least one of these texts; any_n 0: no such texts are known. Alternatives outside
   * of all groups have a text each */
  slp_regex_text any[SLP_REGEX_ANY_MAX];
  size_t any_n;
  uint8_t loops; /* 1: the expression has a repetition without limit */
  /* 1: a part of the expression matches one of several characters, some of them beyond ASCII */
  uint8_t beyond_ascii;
} slp_regex_traits;

void slp_regex_init(slp_regex *r, slp_mem *mem);
void slp_regex_free(slp_regex *r);
/* Adds an expression as one more alternative. `folds`: upper and lower case count as the same. Returns 0,
 * SLP_EINVAL or SLP_ENOMEM. With SLP_EINVAL, `why` says what is wrong and where. After a failure only
 * slp_regex_free() may be called. */
int slp_regex_add(slp_regex *r, const char *text, int folds, slp_regex_traits *ret, char why[SLP_REGEX_WHY]);
/* Refuses constructs that other dialects of regular expressions would read differently without a warning.
 * Returns 0, or SLP_EINVAL; then `why` says what, where, and how to write it instead. */
int slp_regex_check_dialect(const char *text, char why[SLP_REGEX_WHY]);
/* Returns a pointer to the end of the element that begins at c. An element is a [ ], \Q \E, an escape, or one
 * byte. */
const char *slp_regex_next(const char *c);

#endif
