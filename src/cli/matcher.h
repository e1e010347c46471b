/* matcher.h - searches a text for regular expressions in a single pass, slice by slice. Each byte is read
 * once, whatever the expressions are. slp_matcher_new allocates all memory. */
#ifndef SLP_CLI_MATCHER_H
#define SLP_CLI_MATCHER_H

#include "base/mem.h"
#include "cli/regex.h"

typedef enum {
  SLP_MATCH_NO,       /* the text does not match */
  SLP_MATCH_YES,      /* the text matches */
  SLP_MATCH_MORE,     /* the search is not finished: call slp_matcher_step again */
  SLP_MATCH_UNDECIDED /* an expression reached a bound of cli/perl.h; slp_matcher_step never returns this */
} slp_match;

typedef struct slp_matcher slp_matcher;
/* r must live as long as the matcher; returns NULL if there is no memory */
slp_matcher *slp_matcher_new(slp_mem *mem, const slp_regex *r);
void slp_matcher_free(slp_matcher *m); /* m may be NULL */
/* Starts to search `text`, which must live until the search is over. Drops an unfinished search. */
void slp_matcher_begin(slp_matcher *m, slp_str text);
/* Searches the next slice, which is about 64 KiB of text or about 100 us of work. */
slp_match slp_matcher_step(slp_matcher *m);

#endif
