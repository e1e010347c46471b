/* perl.h - one regular expression by PCRE2, searched for in slices, with bounds on time and memory. In a
 * build without PCRE2, slp_perl_known() is 0 and nothing else may be called.
 *
 * A search by PCRE2 can't be interrupted, so each call of it is kept short in one of two ways:
 *   SLP_PERL_FINITE   the expression has no repetition without bound; a call tries a limited number of places
 *                     where a match may begin, and a limited number of ways at each;
 *   SLP_PERL_COUNTED  PCRE2 calls back between the parts of the expression, and the work done is counted.
 * What the counts say depends on expression and text alone, so the same search ends in the same way
 * everywhere. */
#ifndef SLP_CLI_PERL_H
#define SLP_CLI_PERL_H

#include "base/mem.h"
#include "cli/matcher.h"

typedef enum { SLP_PERL_FINITE, SLP_PERL_COUNTED } slp_perl_kind;

typedef struct slp_perl_opts {
  slp_perl_kind kind;
  uint8_t folds;   /* upper and lower case are the same */
  uint8_t literal; /* the expression is a text, each character of which stands for itself */
  uint8_t bytes;   /* nothing but texts in it takes characters beyond ASCII */
  size_t steps;    /* SLP_PERL_FINITE: how many steps one way through it takes at most */
} slp_perl_opts;

typedef struct slp_perl slp_perl;
int slp_perl_known(void);
/* SLP_EINVAL, and `why` says what is wrong and where; SLP_ENOMEM. */
int slp_perl_new(slp_mem *mem, const char *text, const slp_perl_opts *o, slp_perl **ret,
                 char why[SLP_REGEX_WHY]);
void slp_perl_free(slp_perl *p); /* NULL is fine */
/* The text must live until it is searched; what was left of another one is forgotten. */
void slp_perl_begin(slp_perl *p, slp_str text);
/* Does a slice. SLP_MATCH_UNDECIDED: a bound was met; slp_perl_bound() names it. */
slp_match slp_perl_step(slp_perl *p);
const char *slp_perl_bound(const slp_perl *p);

#endif
