/* grep.h - --grep and --grepv: decides which payloads are printed. */
#ifndef SLP_CLI_GREP_H
#define SLP_CLI_GREP_H

#include "cli/matcher.h"

#define SLP_GREP_WHY 200

typedef struct slp_grep slp_grep;
/* regular expressions of Perl's dialect; cli/regex.h says which match characters and which bytes */
typedef struct slp_grep_opts {
  const char *const *wanted, *const *unwanted;
  size_t wanted_n, unwanted_n;
  uint8_t folds; /* -i: upper and lower case are the same */
} slp_grep_opts;

/* Prepares the search. A payload passes if it matches one of `wanted`, when there are any, and none of
 * `unwanted`. The expressions must live as long as the result. Returns 0; SLP_ENOMEM; or SLP_EINVAL, and then
 * `why` names the expression, what is wrong and where. */
int slp_grep_new(slp_mem *mem, const slp_grep_opts *o, slp_grep **ret, char why[SLP_GREP_WHY]);
void slp_grep_free(slp_grep *g); /* NULL is fine */
/* Begins with a payload, which must live until it is decided. Drops the search through another one. */
void slp_grep_begin(slp_grep *g, slp_str payload);
/* Does a slice. Returns
 *     SLP_MATCH_YES: the payload passes;
 *     SLP_MATCH_NO: it does not;
 *     SLP_MATCH_MORE: call again;
 *     SLP_MATCH_UNDECIDED: an expression met its bounds, and slp_grep_undecided() says which. */
slp_match slp_grep_step(slp_grep *g);
/* Writes which expression has met which bound, after SLP_MATCH_UNDECIDED. */
void slp_grep_undecided(const slp_grep *g, char why[100]);

#endif
