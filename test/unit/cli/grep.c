/* grep.c - which payloads pass, bytes of every kind included. */
#include "cli/grep.h"
#include "check.h"

static int passes(const char *wanted, const char *unwanted, const char *text, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  CHECK_INT(slp_grep_new(mem, &wanted, wanted != NULL, &unwanted, unwanted != NULL, &g, why), 0);
  int yes = slp_grep_passes(g, (slp_str){text, n});
  slp_grep_free(g);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return yes;
}
#define PASSES(wanted, unwanted, text) passes(wanted, unwanted, text, sizeof(text) - 1)

TEST(wanted_and_unwanted) {
  CHECK(PASSES("err(or)?", NULL, "an error here"));
  CHECK(!PASSES("^error", NULL, "an error here"));
  CHECK(PASSES("[0-9]{3}$", NULL, "code 500"));
  CHECK(PASSES(NULL, "debug", "info"));
  CHECK(!PASSES(NULL, "debug", "debug: x"));
  CHECK(!PASSES("x", "debug", "debug: x"));
  CHECK(PASSES("x", "debug", "info: x"));
  CHECK(PASSES("", NULL, ""));
}

TEST(a_payload_ends_where_it_ends_and_not_at_a_nul) {
  CHECK(PASSES("after", NULL, "before\0after"));
  CHECK(!passes("after", NULL, "before after", 8));
  CHECK(PASSES("\xff", NULL, "\xfe\xff"));
  CHECK(passes("", NULL, NULL, 0));
}

TEST(several_of_a_kind_are_alternatives) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  static const char *const wanted[] = {"a", "b"}, *const unwanted[] = {"y", "z"};
  CHECK_INT(slp_grep_new(mem, wanted, 2, unwanted, 2, &g, why), 0);
  CHECK(slp_grep_passes(g, SLP_STR("b")));
  CHECK(slp_grep_passes(g, SLP_STR("a")));
  CHECK(!slp_grep_passes(g, SLP_STR("c")));
  CHECK(!slp_grep_passes(g, SLP_STR("a z")));
  CHECK(!slp_grep_passes(g, SLP_STR("b y")));
  slp_grep_free(g);
  slp_mem_drop(mem);
}

TEST(what_is_no_expression_is_said) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  const char *good = "a", *bad = "a(b";
  CHECK_INT(slp_grep_new(mem, &good, 1, &bad, 1, &g, why), SLP_EINVAL);
  CHECK(strstr(why, "--grepv: \"a(b\" is not a regular expression: "));
  CHECK(!g);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(back_references_are_refused) {
  static const char *const bad[] = {"(a*)*\\1",    "(.)\\9x",           "[]\\1](b)\\1",
                                    "[^]x](b)\\1", "[[:alpha:]](b)\\1", "\\\\(b)\\2"};
  static const char *const good[] = {"\\\\1",          "[\\1]", "[]\\1]",    "[^]\\1]",
                                     "[[:alpha:]\\1]", "a\\.1", "[[.].]\\1]"};
  for (size_t i = 0; i < SLP_COUNT(bad) + SLP_COUNT(good); i++) {
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_grep *g = NULL;
    char why[200] = "";
    int is_bad = i < SLP_COUNT(bad);
    const char *text = is_bad ? bad[i] : good[i - SLP_COUNT(bad)];
    int r = slp_grep_new(mem, &text, 1, NULL, 0, &g, why);
    if (r != (is_bad ? SLP_EINVAL : 0)) CHECK_FAIL("%s: %d %s", text, r, why);
    if (is_bad) CHECK(strstr(why, "back-reference"));
    slp_grep_free(g);
    slp_mem_drop(mem);
  }
}
