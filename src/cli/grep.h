/* grep.h - --grep, --grepv and --key: decides which payloads or keys are wanted, by regular expressions. */
#ifndef SLP_CLI_GREP_H
#define SLP_CLI_GREP_H

#include "base/mem.h"
#include "cli/matcher.h"

#define SLP_GREP_WHY 200

typedef struct slp_grep slp_grep;
/* The expressions are in Perl's dialect. cli/regex.h says which parts match characters and which match
 * bytes. */
typedef struct slp_grep_opts {
  const char *const *wanted, *const *unwanted;
  size_t wanted_n, unwanted_n;
  const char *name; /* the option that gives `wanted`, for messages; NULL: --grep */
  uint8_t folds;    /* -i: upper and lower case count as the same */
} slp_grep_opts;

/* Prepares the search. A payload passes if it matches at least one of `wanted`, or `wanted` is empty, and if
 * it matches none of `unwanted`. The expressions must live as long as *ret. Returns 0; SLP_ENOMEM; or
 * SLP_EINVAL and a sentence in `why` that says which expression is wrong, and where. */
int slp_grep_new(slp_mem *mem, const slp_grep_opts *o, slp_grep **ret, char why[SLP_GREP_WHY]);
void slp_grep_free(slp_grep *g); /* g may be NULL */
/* Starts to search a payload, which must live until it is decided. Drops an unfinished search. */
void slp_grep_begin(slp_grep *g, slp_str payload);
/* Does one slice of the search. Returns
 *     SLP_MATCH_YES: the payload passes;
 *     SLP_MATCH_NO: the payload does not pass;
 *     SLP_MATCH_MORE: call again;
 *     SLP_MATCH_UNDECIDED: an expression reached a bound; slp_grep_undecided() says which. */
slp_match slp_grep_step(slp_grep *g);
/* After SLP_MATCH_UNDECIDED: writes which expression reached which bound. */
void slp_grep_undecided(const slp_grep *g, char why[100]);

#endif
