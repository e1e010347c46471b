/* highlight.h - finds where the expressions of --grep or --key match a text, to show the matches in colour.
 * For lines on a terminal only, which people read. */
#ifndef SLP_CLI_HIGHLIGHT_H
#define SLP_CLI_HIGHLIGHT_H

#include "base/mem.h"

typedef struct slp_span { /* a part of a text */
  size_t from, to;        /* offsets of its first byte, and of the byte after it */
} slp_span;

typedef struct slp_spans { /* parts of a text, in rising order, apart from each other; borrowed */
  const slp_span *list;
  size_t n;
} slp_spans;

typedef struct slp_highlight slp_highlight;
/* Prepares the search for expressions that slp_grep_new() has accepted. They must live as long as *ret. In a
 * build without PCRE2 nothing is ever found. Returns 0 or SLP_ENOMEM. */
int slp_highlight_new(slp_mem *mem, const char *const *expressions, size_t n, int folds, slp_highlight **ret);
void slp_highlight_free(slp_highlight *h); /* h may be NULL */
/* Starts to search a text, which must live until the search is over. Drops an unfinished search. */
void slp_highlight_begin(slp_highlight *h, slp_str text);
/* Does one slice of the search. Returns 1 if the search is not over: call again. Returns 0 when it is over.
 * The search is bounded: it may leave out matches far behind, or after much work. */
int slp_highlight_step(slp_highlight *h);
/* Returns the matches, whole characters each. They are valid until the next slp_highlight_begin(). */
slp_spans slp_highlight_spans(const slp_highlight *h);

#endif
