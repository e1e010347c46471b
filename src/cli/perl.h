/* perl.h - one regular expression, searched for by PCRE2 in slices, with bounds on time and memory. In a
 * build without PCRE2, slp_perl_known() returns 0, and no other function of this file may be called.
 *
 * A call of PCRE2 can't be interrupted, so each call is kept short in one of two ways:
 *   SLP_PERL_FINITE   the expression has no unbounded repetition; a call tries a limited number of places
 *                     where a match may begin, and a limited number of ways at each;
 *   SLP_PERL_COUNTED  PCRE2 calls back between the parts of the expression, and the work done is counted.
 * The counts depend only on expression and text, so the same search has the same outcome in every run. */
#ifndef SLP_CLI_PERL_H
#define SLP_CLI_PERL_H

#include "base/mem.h"
#include "cli/matcher.h"
#include "cli/regex.h"

typedef enum { SLP_PERL_FINITE, SLP_PERL_COUNTED } slp_perl_kind;

typedef struct slp_perl_opts {
  slp_perl_kind kind;
  uint8_t folds;   /* 1: upper and lower case count as the same */
  uint8_t literal; /* 1: the expression is a plain text in which no character is special */
  /* 1: match bytes, not characters. Right only if all parts that match beyond ASCII are literal text */
  uint8_t bytes;
  size_t steps; /* SLP_PERL_FINITE: how many steps (regex.h) the expression has; a match takes no more */
} slp_perl_opts;

typedef struct slp_perl slp_perl;
int slp_perl_known(void);
/* Compiles the expression. On success returns 0 and sets *ret, which the caller owns. Returns SLP_EINVAL
 * if the expression is wrong; then `why` says what is wrong and where. Returns SLP_ENOMEM if there is no
 * memory. */
int slp_perl_new(slp_mem *mem, const char *text, const slp_perl_opts *o, slp_perl **ret,
                 char why[SLP_REGEX_WHY]);
void slp_perl_free(slp_perl *p); /* p may be NULL */
/* Begins to search `text`, which must live until the search is over. A search that was not finished is
 * abandoned. */
void slp_perl_begin(slp_perl *p, slp_str text);
/* Searches one slice of the text. Returns SLP_MATCH_MORE if the search is not over: call again. Returns
 * SLP_MATCH_UNDECIDED if a bound on the work was reached; slp_perl_bound() returns a sentence for that
 * bound. */
slp_match slp_perl_step(slp_perl *p);
const char *slp_perl_bound(const slp_perl *p);
/* After SLP_MATCH_YES: sets *ret_from and *ret_to to the offsets of the match's first byte and of the byte
 * after it. */
void slp_perl_span(const slp_perl *p, size_t *ret_from, size_t *ret_to);
/* After SLP_MATCH_YES: goes on to search the same text, from the offset `from` on. The bounds on the work are
 * for all searches in the text together. */
void slp_perl_go_on(slp_perl *p, size_t from);

#endif
