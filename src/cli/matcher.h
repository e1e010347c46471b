/* matcher.h - searches a text for regular expressions in one pass, slice by slice. Each byte is looked at
 * once, whatever the expressions are. All memory is allocated by slp_matcher_new. */
#ifndef SLP_CLI_MATCHER_H
#define SLP_CLI_MATCHER_H

#include "cli/regex.h"

typedef enum {
  SLP_MATCH_NO,       /* the text does not match */
  SLP_MATCH_YES,      /* the text matches */
  SLP_MATCH_MORE,     /* not known yet: call slp_matcher_step again */
  SLP_MATCH_UNDECIDED /* a bound of cli/perl.h was reached; slp_matcher_step never returns this */
} slp_match;

typedef struct slp_matcher slp_matcher;
slp_matcher *slp_matcher_new(slp_mem *mem, const slp_regex *r); /* borrows r; NULL: no memory */
void slp_matcher_free(slp_matcher *m);                          /* NULL is fine */
/* Begins to search `text`, which must live until the search is over. Abandons an unfinished search. */
void slp_matcher_begin(slp_matcher *m, slp_str text);
/* Searches one slice: about 64 KiB of text, or about 100 us of work. */
slp_match slp_matcher_step(slp_matcher *m);

#endif
