/* matcher.h - finds regular expressions in a text, slice by slice. Each byte is looked at once, whatever the
 * expressions are; memory is that of its birth. */
#ifndef SLP_CLI_MATCHER_H
#define SLP_CLI_MATCHER_H

#include "cli/regex.h"

typedef enum {
  SLP_MATCH_NO,
  SLP_MATCH_YES,
  SLP_MATCH_MORE,
  SLP_MATCH_UNDECIDED /* the bounds of cli/perl.h were met; never of a slp_matcher */
} slp_match;

typedef struct slp_matcher slp_matcher;
slp_matcher *slp_matcher_new(slp_mem *mem, const slp_regex *r); /* `r` is borrowed. NULL: no memory */
void slp_matcher_free(slp_matcher *m);                          /* NULL is fine */
/* The text must live until it is searched; what was left of another one is forgotten. */
void slp_matcher_begin(slp_matcher *m, slp_str text);
/* Does a slice, of about 64 KiB of text or 100 us. SLP_MATCH_MORE: call again. */
slp_match slp_matcher_step(slp_matcher *m);

#endif
