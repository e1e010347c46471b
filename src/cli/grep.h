/* grep.h - --grep and --grepv: which payloads are printed. */
#ifndef SLP_CLI_GREP_H
#define SLP_CLI_GREP_H

#include "cli/matcher.h"

typedef struct slp_grep slp_grep;
/* Extended regular expressions over bytes: a payload must match one of `wanted`, when there are any, and none
 * of `unwanted`. SLP_EINVAL and `why` names the expression; SLP_ENOMEM. */
int slp_grep_new(slp_mem *mem, const char *const *wanted, size_t wanted_n, const char *const *unwanted,
                 size_t unwanted_n, slp_grep **ret, char why[200]);
void slp_grep_free(slp_grep *g); /* NULL is fine */
/* The payload must live until it is searched; what was left of another one is forgotten. */
void slp_grep_begin(slp_grep *g, slp_str payload);
/* Does a slice, as slp_matcher_step. SLP_MATCH_YES: it passes. */
slp_match slp_grep_step(slp_grep *g);

#endif
