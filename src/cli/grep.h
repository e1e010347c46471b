/* grep.h - --grep and --grepv: which payloads are printed. */
#ifndef SLP_CLI_GREP_H
#define SLP_CLI_GREP_H

#include "cli/matcher.h"

#define SLP_GREP_WHY 200

typedef struct slp_grep slp_grep;
typedef struct slp_grep_opts { /* regular expressions of Perl's dialect; cli/regex.h says of what */
  const char *const *wanted, *const *unwanted;
  size_t wanted_n, unwanted_n;
  uint8_t folds; /* -i */
} slp_grep_opts;

/* A payload must match one of `wanted`, when there are any, and none of `unwanted`. SLP_EINVAL and `why`
 * name the expression, what is wrong and where; SLP_ENOMEM. The expressions must live as long. */
int slp_grep_new(slp_mem *mem, const slp_grep_opts *o, slp_grep **ret, char why[SLP_GREP_WHY]);
void slp_grep_free(slp_grep *g); /* NULL is fine */
/* The payload must live until it is searched; what was left of another one is forgotten. */
void slp_grep_begin(slp_grep *g, slp_str payload);
/* Does a slice, as slp_matcher_step. SLP_MATCH_YES: it passes. SLP_MATCH_UNDECIDED: whether it passes
 * depends on an expression whose bounds were met; slp_grep_undecided() says which. */
slp_match slp_grep_step(slp_grep *g);
void slp_grep_undecided(const slp_grep *g, char why[100]);

#endif
