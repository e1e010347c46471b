/* fuzz_regex.c - expressions of --grep against libc's reading of the same, and against a naive one: what is
 * accepted, and what matches. An expression, a NUL, and a text. libc is not asked about ^ and the like inside of
 * ( ), or where there is a newline: glibc 2.36 says that "^(a|^b)+$" matches "aab", and "a$." an a and a newline,
 * also without REG_NEWLINE. */
#include <regex.h>

#include "cli/grep.h"
#include "fuzz.h"

#define EXPRESSION_MAX 40
#define TEXT_MAX 63

/* libc copies what + and { } repeat, and goes through all that is repeated once for each way to read nothing in it:
 * it takes a minute to read "((()++++)++++)++++", 29 s for "((()+)?){8}{3}", over 3 s for "(\\B)+++*", and for each
 * further \B in "(\\B\\B\\B)+*" ten times as long. Of 190,000 such expressions that were drawn it read each of
 * those that it is asked about in 60 ms, without sanitizers. */
static int libc_takes_long(const char *expression) {
  int loops = 0, copies = 0, nothing = 0; /* nothing: places where nothing is read */
  for (const char *c = expression; *c; c++) {
    if (*c == '\\' && c[1]) {
      nothing += strchr("`'bB<>", *++c) != NULL;
      continue;
    }
    loops += strchr("*+{", *c) != NULL;
    copies += strchr("+{", *c) != NULL;
    nothing += strchr("^$?", *c) != NULL || (strchr("(|", *c) && c[1] && strchr(")|", c[1]));
  }
  return loops && nothing && nothing + copies + (loops > 1 ? 2 : 0) > 4;
}

/* The naive one goes through each repetition. */
static int naive_takes_long(const char *expression) {
  int bounds = 0, loops = 0, digits = 0, longest = 0;
  for (const char *c = expression; *c; c++) {
    bounds += *c == '{';
    loops += *c == '*' || *c == '+';
    digits = *c >= '0' && *c <= '9' ? digits + 1 : 0;
    longest = digits > longest ? digits : longest;
  }
  return bounds > 2 || (bounds && longest > 1) || loops > 10;
}

/* Is ^ or the like inside of ( ), or outside and there is a newline? In a [ ] too: some are left out for nothing. */
static int libc_errs(const char *expression, const char *text, size_t n) {
  int nested = 0, newline = n && memchr(text, '\n', n) != NULL;
  for (const char *c = expression; *c; c++) {
    if (*c == '\\' && c[1]) c++;
    nested += *c == '(';
    if ((nested || newline) && strchr("^$`'bB<>", *c)) return 1;
  }
  return 0;
}

/* ---- naive: which places a piece of an expression leads to, from which places ---------------------------- */
/* A place is a bit. The expression is known to be right. */
typedef struct naive {
  const char *at;
  const uint8_t *text;
  size_t n;
} naive;

static uint64_t all_of(naive *v, uint64_t from, int nested);

static int word(const naive *v, size_t i) { /* is text[i] one of a word? */
  return i < v->n && v->text[i] &&
         strchr("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", v->text[i]);
}

static int check_holds(const naive *v, char c, size_t i) {
  int before = i > 0 && word(v, i - 1), next = word(v, i);
  switch (c) {
    case '^':
    case '`': return i == 0;
    case '$':
    case '\'': return i == v->n;
    case 'b': return before != next;
    case 'B': return before == next;
    case '<': return !before && next;
    default: return before && !next;
  }
}

/* Is c in the [ ] at *at, behind the [? libc is asked about the set alone. */
static uint64_t set_leads(naive *v, uint64_t from) {
  const char *end = v->at;
  end += *end == '^';
  for (int first = 1; first || *end != ']'; first = 0) {
    if (*end == '[' && strchr(":.=", end[1]) && end[1]) {
      char kind = end[1];
      for (end += 2; !(end[0] == kind && end[1] == ']');) end++;
      end++;
    }
    end++;
  }
  char set[EXPRESSION_MAX + 8];
  snprintf(set, sizeof set, "^[%.*s]$", (int)(end - v->at), v->at);
  v->at = end + 1;
  regex_t re;
  uint64_t to = 0;
  REQUIRE(regcomp(&re, set, REG_EXTENDED | REG_NOSUB) == 0);
  for (size_t i = 0; i < v->n; i++) {
    regmatch_t range = {.rm_so = 0, .rm_eo = 1};
    char one[2] = {(char)v->text[i], 0};
    if (from >> i & 1 && regexec(&re, one, 1, &range, REG_STARTEND) == 0) to |= UINT64_C(2) << i;
  }
  regfree(&re);
  return to;
}

static uint64_t byte_leads(const naive *v, uint64_t from, char kind, char c) {
  uint64_t to = 0;
  for (size_t i = 0; i < v->n; i++) {
    uint8_t is = v->text[i];
    int fits = kind == '.' ? is != 0 : is == (uint8_t)c;
    if (kind == 'w' || kind == 'W') fits = word(v, i) == (kind == 'w');
    if (kind == 's' || kind == 'S') fits = (is == ' ' || (is >= 9 && is <= 13)) == (kind == 's');
    if (from >> i & 1 && fits) to |= UINT64_C(2) << i;
  }
  return to;
}

static uint64_t one(naive *v, uint64_t from, int nested, int *ret_check) {
  char c = *v->at++;
  if (c == '(') {
    uint64_t to = all_of(v, from, nested + 1);
    v->at++;
    return to;
  }
  if (c == '[') return set_leads(v, from);
  if (c == '.') return byte_leads(v, from, '.', 0);
  int escaped = c == '\\';
  if (escaped) c = *v->at++;
  *ret_check = escaped ? strchr("`'bB<>", c) != NULL : c == '^' || c == '$';
  if (!*ret_check) return byte_leads(v, from, escaped && strchr("wWsS", c) ? c : 0, c);
  uint64_t to = 0;
  for (size_t i = 0; i <= v->n; i++)
    if (from >> i & 1 && check_holds(v, c, i)) to |= UINT64_C(1) << i;
  return to;
}

/* What stands at `piece` with its first `repetitions` of * + ? { }, which are read behind it. */
static uint64_t repeated(naive *v, const char *piece, int repetitions, uint64_t from, int nested) {
  int check = 0;
  v->at = piece;
  uint64_t to = one(v, repetitions ? 0 : from, nested, &check);
  if (!repetitions) return to;
  long least = 0, most = -1;
  for (int i = 1; i < repetitions; i++) {
    if (*v->at == '{') v->at = strchr(v->at, '}');
    v->at++;
  }
  char c = *v->at++;
  if (c == '+') least = 1;
  if (c == '?') most = 1;
  if (c == '{') {
    char *end;
    least = most = strtol(v->at, &end, 10);
    if (*end == ',') most = end[1] == '}' ? -1 : strtol(end + 1, &end, 10);
    v->at = strchr(end, '}') + 1;
  }
  const char *behind = v->at;
  uint64_t seen = least == 0 ? from : 0;
  if (most > 200) most = 200; /* more than there are places: once more changes nothing */
  for (long i = 1; (most < 0 ? i <= least + 64 : i <= most) && from; i++) {
    from = repeated(v, piece, repetitions - 1, from, nested);
    if (i >= least && !(from & ~seen)) break;
    if (i >= least) seen |= from;
  }
  v->at = behind;
  return seen;
}

static uint64_t all_of(naive *v, uint64_t from, int nested) {
  uint64_t to = from, sum = 0;
  for (;;) {
    while (*v->at && *v->at != '|' && !(*v->at == ')' && nested)) {
      const char *piece = v->at;
      int check = 0, n = 0;
      one(v, 0, nested, &check);
      while (!check && *v->at && strchr("*+?{", *v->at)) {
        if (*v->at == '{') v->at = strchr(v->at, '}');
        v->at++;
        n++;
      }
      to = repeated(v, piece, n, to, nested);
    }
    sum |= to;
    if (*v->at != '|') return sum;
    v->at++;
    to = from;
  }
}

static int naive_matches(const char *expression, const char *text, size_t n) {
  naive v = {expression, (const uint8_t *)text, n};
  return all_of(&v, n == 63 ? UINT64_MAX : (UINT64_C(1) << (n + 1)) - 1, 0) != 0;
}

/* ---- the product --------------------------------------------------------------------------------------- */

static int passes(slp_grep *g, slp_str text) {
  slp_match is;
  slp_grep_begin(g, text);
  do is = slp_grep_step(g);
  while (is == SLP_MATCH_MORE);
  return is == SLP_MATCH_YES;
}

static void compare(slp_mem *mem, const char *expression, char *text, size_t n) {
  char why[200] = "";
  slp_grep *wanted = NULL, *unwanted = NULL;
  int r = slp_grep_new(mem, &expression, 1, NULL, 0, &wanted, why);
  REQUIRE(slp_grep_new(mem, NULL, 0, &expression, 1, &unwanted, why) == r);
  regex_t re;
  regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)n};
  if (r) {
    REQUIRE(r == SLP_EINVAL && !wanted && why[0] && strlen(why) < 199);
    if (strstr(why, "too large") || strstr(why, "too deeply") || strstr(why, "back-reference") ||
        strstr(why, "{N,M}"))
      return; /* bounds of ours */
    if (libc_takes_long(expression)) return;
    r = regcomp(&re, expression, REG_EXTENDED | REG_NOSUB);
    if (r == 0) regfree(&re);
    REQUIRE(r != 0);
    return;
  }
  int matches = naive_matches(expression, text, n);
  if (!libc_takes_long(expression)) {
    char ended[TEXT_MAX + 1]; /* sanitizers' regexec looks for a NUL */
    memcpy(ended, text, n);
    ended[n] = 0;
    REQUIRE(regcomp(&re, expression, REG_EXTENDED | REG_NOSUB) == 0);
    if (!libc_errs(expression, text, n))
      REQUIRE((regexec(&re, ended, 1, &range, REG_STARTEND) == 0) == matches);
    regfree(&re);
  }
  if (passes(wanted, (slp_str){text, n}) != matches || passes(unwanted, (slp_str){text, n}) == matches)
    fprintf(stderr, "\"%s\" on \"%.*s\" matches: %d\n", expression, (int)n, text, matches);
  REQUIRE(passes(wanted, (slp_str){text, n}) == matches);
  REQUIRE(passes(unwanted, (slp_str){text, n}) == !matches);
  slp_grep_free(wanted);
  slp_grep_free(unwanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *nul = memchr(data, 0, size);
  if (!nul || (size_t)(nul - data) > EXPRESSION_MAX || size - (size_t)(nul + 1 - data) > TEXT_MAX) return 0;
  size_t n = (size_t)(nul + 1 - data);
  char *expression = fuzz_copy(data, n), *text = fuzz_copy(data + n, size - n);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  REQUIRE(mem != NULL);
  if (!naive_takes_long(expression)) compare(mem, expression, text, size - n);
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(text);
  free(expression);
  return 0;
}
