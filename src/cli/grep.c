/* grep.c - the expressions of each option are one program, and one of each is searched after the other. */
#include "cli/grep.h"

#include <stdio.h>

typedef enum { WANTED, UNWANTED, OVER } side;

struct slp_grep {
  slp_mem *mem;
  slp_regex regex[OVER];
  slp_matcher *matcher[OVER]; /* owned; NULL: the option was not given */
  slp_str payload;
  side at;
};

static int compile(slp_grep *g, side to, const char *const *texts, size_t n, char why[200]) {
  char said[100] = "";
  int r = 0;
  for (size_t i = 0; i < n && !r; i++) {
    r = slp_regex_add(&g->regex[to], texts[i], said);
    if (r == SLP_EINVAL)
      snprintf(why, 200, "%s: \"%.60s\": %s", to == WANTED ? "--grep" : "--grepv", texts[i], said);
  }
  if (r || n == 0) return r;
  g->matcher[to] = slp_matcher_new(g->mem, &g->regex[to]);
  return g->matcher[to] ? 0 : SLP_ENOMEM;
}

int slp_grep_new(slp_mem *mem, const char *const *wanted, size_t wanted_n, const char *const *unwanted,
                 size_t unwanted_n, slp_grep **ret, char why[200]) {
  slp_grep *g = SLP_NEW(mem, slp_grep);
  if (!g) return SLP_ENOMEM;
  g->mem = mem;
  g->at = OVER;
  for (int i = 0; i < OVER; i++) slp_regex_init(&g->regex[i], mem);
  int r = compile(g, WANTED, wanted, wanted_n, why);
  if (!r) r = compile(g, UNWANTED, unwanted, unwanted_n, why);
  if (r) {
    slp_grep_free(g);
    return r;
  }
  *ret = g;
  return 0;
}

void slp_grep_free(slp_grep *g) {
  if (!g) return;
  for (int i = 0; i < OVER; i++) {
    slp_matcher_free(g->matcher[i]);
    slp_regex_free(&g->regex[i]);
  }
  slp_free(g->mem, g);
}

/* On to the next matcher there is. */
static void go_on(slp_grep *g, side to) {
  while (to < OVER && !g->matcher[to]) to++;
  g->at = to;
  if (to < OVER) slp_matcher_begin(g->matcher[to], g->payload);
}

void slp_grep_begin(slp_grep *g, slp_str payload) {
  g->payload = payload;
  go_on(g, WANTED);
}

slp_match slp_grep_step(slp_grep *g) {
  if (g->at == OVER) return SLP_MATCH_YES;
  slp_match is = slp_matcher_step(g->matcher[g->at]);
  if (is == SLP_MATCH_MORE) return is;
  if ((is == SLP_MATCH_YES) != (g->at == WANTED)) {
    g->at = OVER;
    return SLP_MATCH_NO;
  }
  go_on(g, g->at + 1);
  return g->at == OVER ? SLP_MATCH_YES : SLP_MATCH_MORE;
}
