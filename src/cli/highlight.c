/* highlight.c - searches a text for each expression in turn, and joins matches that overlap. */
#include "cli/highlight.h"

#include "base/mem.h"
#include "cli/matcher.h"
#include "cli/perl.h"
#include "cli/regex.h"

#include <stdlib.h>

/* Bounds of the search in one text: matches that are kept, and slices. */
#define SPANS_MAX 256
#define SLICES_MAX 200u

typedef struct expression {
  slp_perl *perl; /* owned */
} expression;

struct slp_highlight {
  slp_mem *mem;
  expression *each; /* owned */
  size_t n;
  slp_str text;
  size_t at;       /* index in `each` of the expression that is searched for; n: the search is over */
  uint8_t begun;   /* 1: the search for this expression has started */
  uint32_t slices; /* slices that the search in this text has taken */
  slp_span spans[SPANS_MAX];
  size_t spans_n;
};

int slp_highlight_new(slp_mem *mem, const char *const *expressions, size_t n, int folds,
                      slp_highlight **ret) {
  slp_highlight *h = SLP_NEW(mem, slp_highlight);
  if (!h) return SLP_ENOMEM;
  h->mem = mem;
  h->each = slp_zalloc_n(mem, n ? n : 1, sizeof *h->each);
  int r = h->each ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < n && !r && slp_perl_known(); i++) {
    char why[SLP_REGEX_WHY];
    r = slp_perl_new(mem, expressions[i], &(slp_perl_opts){.kind = SLP_PERL_COUNTED, .folds = folds != 0},
                     &h->each[h->n].perl, why);
    if (!r) h->n++;
    if (r == SLP_EINVAL) r = 0; /* slp_grep_new() has told the user what is wrong */
  }
  if (r)
    slp_highlight_free(h);
  else
    *ret = h;
  return r;
}

void slp_highlight_free(slp_highlight *h) {
  if (!h) return;
  for (size_t i = 0; i < h->n && h->each; i++) slp_perl_free(h->each[i].perl);
  slp_free(h->mem, h->each);
  slp_free(h->mem, h);
}

void slp_highlight_begin(slp_highlight *h, slp_str text) {
  h->text = text;
  h->at = h->begun = 0;
  h->slices = 0;
  h->spans_n = 0;
}

static int is_inside_character(slp_str text, size_t at) {
  return at < text.n && ((uint8_t)text.p[at] & 0xc0) == 0x80;
}

/* Adds the match that was found, as whole characters. Returns the offset at which the search goes on. */
static size_t add_match(slp_highlight *h) {
  slp_span span;
  slp_perl_span(h->each[h->at].perl, &span.from, &span.to);
  size_t next = span.to > span.from ? span.to : span.to + 1;
  while (is_inside_character(h->text, next)) next++;
  while (span.from > 0 && is_inside_character(h->text, span.from)) span.from--;
  while (is_inside_character(h->text, span.to)) span.to++;
  if (span.to > span.from) h->spans[h->spans_n++] = span;
  return next;
}

static int by_place(const void *a, const void *b) {
  const slp_span *x = a, *y = b;
  return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts the matches of all expressions, and joins those that touch. */
static void join_spans(slp_highlight *h) {
  size_t n = 0;
  qsort(h->spans, h->spans_n, sizeof *h->spans, by_place);
  for (size_t i = 0; i < h->spans_n; i++) {
    slp_span *last = n ? &h->spans[n - 1] : NULL;
    if (last && h->spans[i].from <= last->to)
      last->to = slp_max_u64(last->to, h->spans[i].to);
    else
      h->spans[n++] = h->spans[i];
  }
  h->spans_n = n;
}

/* Searches one slice for one expression. Returns 0 if no match of it is left. */
static int search_one(slp_highlight *h) {
  slp_perl *p = h->each[h->at].perl;
  if (!h->begun) slp_perl_begin(p, h->text);
  h->begun = 1;
  slp_match is = slp_perl_step(p);
  if (is == SLP_MATCH_MORE) return 1;
  if (is != SLP_MATCH_YES) return 0;
  size_t next = add_match(h);
  if (next > h->text.n || h->spans_n == SPANS_MAX) return 0;
  slp_perl_go_on(p, next);
  return 1;
}

int slp_highlight_step(slp_highlight *h) {
  while (h->at < h->n && h->spans_n < SPANS_MAX && h->slices < SLICES_MAX) {
    if (search_one(h)) {
      h->slices++;
      return 1;
    }
    h->at++;
    h->begun = 0;
  }
  h->at = h->n;
  join_spans(h);
  return 0;
}

slp_spans slp_highlight_spans(const slp_highlight *h) { return (slp_spans){h->spans, h->spans_n}; }
