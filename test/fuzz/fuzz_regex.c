/* fuzz_regex.c - expressions of --grep and texts, of every byte: what cli/regex.h can read must be one for
 * PCRE2 too, and cli/matcher.h and cli/grep.h must find what PCRE2 finds without any of ours around it, in
 * slices and with bounds or without. An expression, a NUL, and a text; with case and without. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "cli/grep.h"
#include "codec/json.h"
#include "fuzz.h"

#define EXPRESSION_MAX 60
#define TEXT_MAX 200

typedef enum { NO, YES, NO_EXPRESSION, UNKNOWN } verdict;

static int has(const char *expression, const char *const *parts) {
  for (; *parts; parts++)
    if (strstr(expression, *parts)) return 1;
  return 0;
}

/* PCRE2's interpreter judges texts in UTF-8. Of others, version 10.42's takes the last place for no end of
 * the text, or for more ends than one, and its JIT has \D match nothing beyond ASCII: they are for the one
 * of the two that is right. \b and \B beside such bytes are for neither, and what a back-reference is to a
 * group in a possessive repetition that was gone back over. */
static verdict judge(const char *expression, int folds, slp_str text, int *ret_error) {
  static const char *const negations[] = {"\\D", "\\W", "\\S", NULL},
                           *const references[] = {"\\1", "\\2", "\\g", "\\k", NULL},
                           *const possessive[] = {"*+", "++", "?+", "}+", NULL},
                           *const edges[] = {"\\b", "\\B", NULL}, *const ends[] = {"$", "\\z", "\\Z", NULL};
  size_t at;
  int utf8 = slp_utf8_valid(slp_str_of(expression)), valid = slp_utf8_valid(text);
  int negates = has(expression, negations), asks_for_end = has(expression, ends);
  uint32_t options = PCRE2_NEVER_BACKSLASH_C | (folds ? PCRE2_CASELESS : 0);
  if (utf8) options |= PCRE2_UTF | (valid ? 0 : PCRE2_MATCH_INVALID_UTF);
  pcre2_code *code =
      pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, options, ret_error, &at, NULL);
  if (!code) return NO_EXPRESSION;
  pcre2_match_data *data = pcre2_match_data_create(1, NULL);
  pcre2_match_context *bounds = pcre2_match_context_create(NULL);
  REQUIRE(data && bounds);
  pcre2_set_match_limit(bounds, 20000);
  pcre2_set_heap_limit(bounds, 4096);
  if (utf8 && !valid && !negates) (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  int r = pcre2_match(code, (PCRE2_SPTR)text.p, text.n, 0, 0, data, bounds);
  if (has(expression, references) && has(expression, possessive)) r = PCRE2_ERROR_INTERNAL;
  if (utf8 && !valid && ((negates && asks_for_end) || has(expression, edges))) r = PCRE2_ERROR_INTERNAL;
  pcre2_match_context_free(bounds);
  pcre2_match_data_free(data);
  pcre2_code_free(code);
  return r >= 0 ? YES : r == PCRE2_ERROR_NOMATCH ? NO : UNKNOWN;
}

static slp_match by_matcher(slp_mem *mem, const slp_regex *regex, slp_str text) {
  slp_matcher *m = slp_matcher_new(mem, regex);
  REQUIRE(m != NULL);
  slp_matcher_begin(m, text);
  slp_match is;
  do is = slp_matcher_step(m);
  while (is == SLP_MATCH_MORE);
  slp_matcher_free(m);
  return is;
}

static slp_match by_grep(slp_grep *g, slp_str text) {
  slp_match is;
  slp_grep_begin(g, text);
  do is = slp_grep_step(g);
  while (is == SLP_MATCH_MORE);
  return is;
}

static void agree(const char *who, const char *expression, int folds, slp_str text, verdict right,
                  slp_match is) {
  if (right == UNKNOWN || is == (right == YES ? SLP_MATCH_YES : SLP_MATCH_NO)) return;
  fprintf(stderr, "%s: \"%s\"%s on \"%.*s\": %d, and PCRE2 says %d\n", who, expression, folds ? " -i" : "",
          (int)text.n, text.p, (int)is, (int)right);
  REQUIRE(!"it agrees with PCRE2");
}

static void try_all(slp_mem *mem, const char *expression, int folds, slp_str text) {
  char why[SLP_GREP_WHY] = "";
  int error = 0;
  verdict right = judge(expression, folds, text, &error);
  slp_regex regex;
  slp_regex_traits traits;
  slp_grep *wanted = NULL, *unwanted = NULL;
  slp_regex_init(&regex, mem);
  int other = slp_regex_check_dialect(expression, why);
  int r = slp_regex_add(&regex, expression, folds, &traits, why);
  if (!other && !r) {
    /* Two groups of one name are one more way to write a group here. */
    REQUIRE(right != NO_EXPRESSION || error == PCRE2_ERROR_DUPLICATE_SUBPATTERN_NAME);
    slp_match is = by_matcher(mem, &regex, text);
    if (right != NO_EXPRESSION) agree("matcher", expression, folds, text, right, is);
  }
  if (r) REQUIRE(r == SLP_EINVAL && strlen(why) < SLP_REGEX_WHY - 1);
  slp_regex_free(&regex);
  why[0] = 0;
  r = slp_grep_new(mem, &(slp_grep_opts){.wanted = &expression, .wanted_n = 1, .folds = folds != 0}, &wanted,
                   why);
  REQUIRE(slp_grep_new(mem, &(slp_grep_opts){.unwanted = &expression, .unwanted_n = 1, .folds = folds != 0},
                       &unwanted, why) == r);
  REQUIRE((r != 0) == (other != 0 || right == NO_EXPRESSION));
  if (r) REQUIRE(r == SLP_EINVAL && !wanted && !unwanted && why[0] && strlen(why) < SLP_GREP_WHY - 1);
  if (r) return;
  slp_match is = by_grep(wanted, text), not_is = by_grep(unwanted, text);
  if (is == SLP_MATCH_UNDECIDED)
    REQUIRE(not_is == SLP_MATCH_UNDECIDED);
  else
    REQUIRE((is == SLP_MATCH_YES) != (not_is == SLP_MATCH_YES));
  if (is != SLP_MATCH_UNDECIDED) agree("grep", expression, folds, text, right, is);
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
  for (int folds = 0; folds < 2; folds++) try_all(mem, expression, folds, (slp_str){text, size - n});
  REQUIRE(mem->live_blocks == 0);
  slp_mem_drop(mem);
  free(text);
  free(expression);
  return 0;
}
