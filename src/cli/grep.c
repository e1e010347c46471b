/* grep.c - regular expressions by libc. */
#include "cli/grep.h"

#include <limits.h>
#include <regex.h>
#include <stdio.h>

struct slp_grep {
  slp_mem *mem;
  regex_t *each; /* owned: `n` compiled, the first wanted_n of them wanted */
  size_t n, wanted_n;
  slp_buf text; /* a copy of the payload, ended by a NUL, for wrappers of regexec that look for one */
};

/* Is there a \\1 to \\9, which stands for what a group matched before? In brackets a backslash is itself. */
static int has_back_reference(const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '\\' && c[1]) {
      c++;
      if (*c >= '1' && *c <= '9') return 1;
    } else if (*c == '[') {
      c += c[1] == '^';
      c += c[1] == ']'; /* the first of them is not the end */
      while (c[1] && c[1] != ']') {
        c++;
        char kind = *c == '[' ? c[1] : 0; /* [:alpha:], [.x.], [=x=] */
        if (kind != ':' && kind != '.' && kind != '=') continue;
        const char *end = c + 2;
        while (*end && !(end[0] == kind && end[1] == ']')) end++;
        if (*end) c = end + 1;
      }
      c += c[1] == ']';
    }
  }
  return 0;
}

static int compile(regex_t *re, const char *name, const char *text, char why[200]) {
  if (has_back_reference(text)) {
    /* libc tries every way to match: two kilobytes of a hostile record take for ever, and gigabytes. */
    snprintf(why, 200, "%s: \"%.60s\" has a back-reference, and its matching takes without bound", name,
             text);
    return SLP_EINVAL;
  }
  int r = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
  if (r == 0) return 0;
  char said[80] = "";
  regerror(r, re, said, sizeof said);
  snprintf(why, 200, "%s: \"%.60s\" is not a regular expression: %s", name, text, said);
  return r == REG_ESPACE ? SLP_ENOMEM : SLP_EINVAL;
}

int slp_grep_new(slp_mem *mem, const char *const *wanted, size_t wanted_n, const char *const *unwanted,
                 size_t unwanted_n, slp_grep **ret, char why[200]) {
  slp_grep *g = SLP_NEW(mem, slp_grep);
  if (!g) return SLP_ENOMEM;
  g->mem = mem;
  g->wanted_n = wanted_n;
  slp_buf_init(&g->text, mem, INT_MAX);
  g->each = slp_zalloc_n(mem, wanted_n + unwanted_n + 1, sizeof *g->each);
  int r = g->each ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < wanted_n + unwanted_n && !r; i++) {
    int first = i < wanted_n;
    r = compile(&g->each[i], first ? "--grep" : "--grepv", first ? wanted[i] : unwanted[i - wanted_n], why);
    if (!r) g->n++;
  }
  if (r) {
    slp_grep_free(g);
    return r;
  }
  *ret = g;
  return 0;
}

void slp_grep_free(slp_grep *g) {
  if (!g) return;
  for (size_t i = 0; i < g->n; i++) regfree(&g->each[i]);
  slp_buf_free(&g->text);
  slp_free(g->mem, g->each);
  slp_free(g->mem, g);
}

static int matches(const regex_t *re, const slp_buf *text) {
  regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)text->n};
  return regexec(re, text->p, 1, &range, REG_STARTEND) == 0; /* NULs inside are bytes like others */
}

int slp_grep_passes(slp_grep *g, slp_str text) {
  slp_buf_clear(&g->text);
  if (slp_buf_reserve(&g->text, text.n + 1) != 0 || slp_buf_add_str(&g->text, text) != 0) return SLP_ENOMEM;
  g->text.p[text.n] = 0;
  int wanted = g->wanted_n == 0;
  for (size_t i = 0; i < g->wanted_n && !wanted; i++) wanted = matches(&g->each[i], &g->text);
  for (size_t i = g->wanted_n; i < g->n && wanted; i++) wanted = !matches(&g->each[i], &g->text);
  return wanted;
}
