/* grep.c - chooses how to search for each expression of --grep and --grepv, and searches for it.
 *
 *     FINITE   PCRE2 searches. If PCRE2 reaches one of its bounds, the side's matcher decides.
 *     ENDLESS  A part may repeat without bound. PCRE2 only searches for a text that every match contains. If
 *              the payload has that text, or if no such text is known, the side's matcher decides.
 *     COUNTED  Only PCRE2 can read the expression. If PCRE2 reaches a bound, the payload is undecided.
 *
 * If every match contains one of a few known texts, a payload without them is rejected at once.
 *
 * A side is --grep or --grepv. All expressions of a side that cli/regex.h can read are one program, which one
 * matcher runs. */
#include "cli/grep.h"

#include "base/mem.h"
#include "cli/matcher.h"
#include "cli/needles.h"
#include "cli/perl.h"
#include "cli/regex.h"

#include <stdio.h>

typedef enum { WANTED, UNWANTED, OVER } which;
typedef enum { FINITE, ENDLESS, COUNTED } how;

typedef struct expression {
  const char *text; /* borrowed */
  how how;
  slp_needles needles; /* texts of which every match contains at least one */
  /* owned; NULL: only the matcher searches for the expression, as always in a build without PCRE2 */
  slp_perl *perl;
} expression;

typedef struct side {
  expression *list; /* owned */
  size_t n;
  slp_regex regex;      /* the program of all expressions in `list` that cli/regex.h can read */
  slp_matcher *matcher; /* owned; runs `regex`; NULL: no expression of this side is in `regex` */
} side;

struct slp_grep {
  slp_mem *mem;
  const char *name; /* borrowed; the option whose expressions a record must match */
  side sides[OVER];
  slp_str payload;
  /* the side (--grep or --grepv) whose expressions are being tried; OVER: the payload is decided */
  which at;
  size_t next;   /* index in `list` of the expression that is being tried; n: the matcher is searching */
  uint8_t begun; /* 1: the search for that expression or by the matcher has started */
  /* 1: PCRE2 has not decided about at least one expression of this side, so the matcher must search */
  uint8_t matcher_decides;
  const expression *met; /* an expression for which PCRE2 reached one of its bounds; NULL: there is none */
  which met_of;          /* the side that `met` belongs to */
};

static const char *name_of(const slp_grep *g, which to) { return to == WANTED ? g->name : "--grepv"; }

/* ---- making and freeing ---------------------------------------------------------------------------- */

/* Returns 0 if cli/regex.h can read the expression and the side's program has room for it. Otherwise returns
 * an error, with the reason in `why`. */
static int try_to_read(const side *s, const char *text, int folds, slp_regex_traits *ret,
                       char why[SLP_REGEX_WHY]) {
  slp_regex alone;
  slp_regex_init(&alone, s->regex.mem);
  int r = slp_regex_add(&alone, text, folds, ret, why);
  size_t all = alone.n + s->regex.n + 2;
  slp_regex_free(&alone);
  if (r || all <= SLP_REGEX_STEPS_MAX) return r;
  snprintf(why, SLP_REGEX_WHY, "it is too large, alone or with those before it");
  return SLP_EINVAL;
}

static int compile_perl(slp_mem *mem, expression *e, const slp_regex_traits *t, int folds,
                        char why[SLP_REGEX_WHY]) {
  slp_perl_opts o = {.folds = folds != 0, .steps = t->steps};
  const char *text = e->text;
  if (e->how == COUNTED) o.kind = SLP_PERL_COUNTED;
  o.bytes = e->how == FINITE && !t->beyond_ascii;
  if (e->how == ENDLESS) {
    if (!t->literal[0]) return 0;
    o.literal = 1;
    o.folds = t->literal_folds;
    o.steps = strlen(t->literal);
    text = t->literal;
  }
  return slp_perl_new(mem, text, &o, &e->perl, why);
}

/* Returns 0 if PCRE2 accepts the expression, otherwise an error with PCRE2's reason in `why`. */
static int check_by_perl(slp_mem *mem, const char *text, int folds, char why[SLP_REGEX_WHY]) {
  slp_perl *p = NULL;
  int r = slp_perl_new(mem, text, &(slp_perl_opts){.folds = folds != 0}, &p, why);
  slp_perl_free(p);
  return r;
}

static int compile_expression(slp_grep *g, side *s, const char *text, int folds, char why[SLP_REGEX_WHY]) {
  slp_regex_traits traits = {.steps = 0};
  char unread[SLP_REGEX_WHY];
  expression *e = &s->list[s->n];
  *e = (expression){.text = text, .how = COUNTED};
  int r = slp_regex_check_dialect(text, why);
  if (!r && slp_perl_known()) r = check_by_perl(g->mem, text, folds, why);
  if (r) return r;
  r = try_to_read(s, text, folds, &traits, unread);
  if (r == SLP_ENOMEM) return r;
  if (r && !slp_perl_known()) {
    memcpy(why, unread, sizeof unread);
    return r;
  }
  if (!r) {
    e->how = traits.loops ? ENDLESS : FINITE;
    slp_needles_of(&e->needles, &traits);
    r = slp_regex_add(&s->regex, text, folds, &traits, why);
    if (r) return r;
  }
  if (slp_perl_known())
    r = compile_perl(g->mem, e, &traits, folds, why);
  else
    r = 0;
  if (!r) s->n++;
  return r;
}

static int open_side(slp_grep *g, which to, const char *const *texts, size_t n, int folds,
                     char why[SLP_GREP_WHY]) {
  side *s = &g->sides[to];
  char said[SLP_REGEX_WHY] = "";
  slp_regex_init(&s->regex, g->mem);
  if (n == 0) return 0;
  s->list = slp_zalloc_n(g->mem, n, sizeof *s->list);
  if (!s->list) return SLP_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    int r = compile_expression(g, s, texts[i], folds, said);
    if (r == SLP_EINVAL) snprintf(why, SLP_GREP_WHY, "%s: \"%.60s\": %s", name_of(g, to), texts[i], said);
    if (r) return r;
  }
  if (s->regex.n == 0) return 0;
  s->matcher = slp_matcher_new(g->mem, &s->regex);
  return s->matcher ? 0 : SLP_ENOMEM;
}

int slp_grep_new(slp_mem *mem, const slp_grep_opts *o, slp_grep **ret, char why[SLP_GREP_WHY]) {
  slp_grep *g = SLP_NEW(mem, slp_grep);
  if (!g) return SLP_ENOMEM;
  g->mem = mem;
  g->name = o->name ? o->name : "--grep";
  g->at = OVER;
  int r = open_side(g, WANTED, o->wanted, o->wanted_n, o->folds, why);
  if (!r) r = open_side(g, UNWANTED, o->unwanted, o->unwanted_n, o->folds, why);
  if (r)
    slp_grep_free(g);
  else
    *ret = g;
  return r;
}

void slp_grep_free(slp_grep *g) {
  if (!g) return;
  for (int i = 0; i < OVER; i++) {
    side *s = &g->sides[i];
    for (size_t k = 0; k < s->n; k++) slp_perl_free(s->list[k].perl);
    slp_free(g->mem, s->list);
    slp_matcher_free(s->matcher);
    if (s->regex.mem) slp_regex_free(&s->regex);
  }
  slp_free(g->mem, g);
}

/* ---- payloads ------------------------------------------------------------------------------------------ */

/* Moves the search to the first expression of side `to`, or of a later side if `to` has no expressions. */
static void go_to(slp_grep *g, which to) {
  while (to < OVER && g->sides[to].n == 0) to++;
  g->at = to;
  g->next = 0;
  g->begun = g->matcher_decides = 0;
}

void slp_grep_begin(slp_grep *g, slp_str payload) {
  g->payload = payload;
  g->met = NULL;
  go_to(g, WANTED);
}

/* Does one slice of PCRE2's search for one expression. Returns SLP_MATCH_NO also if PCRE2 can't decide and
 * the matcher must. */
static slp_match search_one(slp_grep *g, const expression *e) {
  slp_match is = SLP_MATCH_UNDECIDED;
  if (!g->begun && !slp_needles_may_be_in(&e->needles, g->payload)) return SLP_MATCH_NO;
  if (e->perl) {
    if (!g->begun) slp_perl_begin(e->perl, g->payload);
    g->begun = 1;
    is = slp_perl_step(e->perl);
  }
  if (is == SLP_MATCH_MORE || is == SLP_MATCH_NO) return is;
  if (e->how == ENDLESS || (e->how == FINITE && is == SLP_MATCH_UNDECIDED)) {
    g->matcher_decides = 1;
    return SLP_MATCH_NO;
  }
  if (is == SLP_MATCH_UNDECIDED) g->met = e, g->met_of = g->at;
  return is;
}

static slp_match search_side(slp_grep *g) {
  side *s = &g->sides[g->at];
  slp_match undecided = g->met && g->met_of == g->at ? SLP_MATCH_UNDECIDED : SLP_MATCH_NO;
  while (g->next < s->n) {
    const expression *e = &s->list[g->next];
    slp_match is = search_one(g, e);
    if (is == SLP_MATCH_MORE || is == SLP_MATCH_YES) return is;
    if (is == SLP_MATCH_UNDECIDED) undecided = is;
    g->next++;
    g->begun = 0;
  }
  if (!g->matcher_decides) return undecided;
  if (!g->begun) slp_matcher_begin(s->matcher, g->payload);
  g->begun = 1;
  slp_match is = slp_matcher_step(s->matcher);
  return is == SLP_MATCH_NO ? undecided : is;
}

slp_match slp_grep_step(slp_grep *g) {
  while (g->at < OVER) {
    slp_match is = search_side(g);
    if (is == SLP_MATCH_MORE) return is;
    if (is != SLP_MATCH_UNDECIDED && (is == SLP_MATCH_YES) != (g->at == WANTED)) {
      g->at = OVER;
      return SLP_MATCH_NO;
    }
    /* an expression of --grep matches, so it no longer matters that another one reached its bound */
    if (is == SLP_MATCH_YES) g->met = NULL;
    go_to(g, g->at + 1);
  }
  return g->met ? SLP_MATCH_UNDECIDED : SLP_MATCH_YES;
}

void slp_grep_undecided(const slp_grep *g, char why[100]) {
  snprintf(why, 100, "%s \"%.30s\": undecided: %.40s", name_of(g, g->met_of), g->met ? g->met->text : "",
           g->met ? slp_perl_bound(g->met->perl) : "");
}
