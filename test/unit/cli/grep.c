/* grep.c - which payloads pass, bytes of every kind included, and what is refused. */
#include "cli/grep.h"
#include "check.h"

static int search(slp_grep *g, slp_str text) {
  slp_match is;
  slp_grep_begin(g, text);
  do is = slp_grep_step(g);
  while (is == SLP_MATCH_MORE);
  return is == SLP_MATCH_YES;
}

static int passes(const char *wanted, const char *unwanted, const char *text, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  CHECK_INT(slp_grep_new(mem, &wanted, wanted != NULL, &unwanted, unwanted != NULL, &g, why), 0);
  int yes = search(g, (slp_str){text, n});
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
  CHECK(search(g, SLP_STR("b")));
  CHECK(search(g, SLP_STR("a")));
  CHECK(!search(g, SLP_STR("c")));
  CHECK(!search(g, SLP_STR("a z")));
  CHECK(!search(g, SLP_STR("b y")));
  slp_grep_free(g);
  slp_mem_drop(mem);
}

TEST(what_is_no_expression_is_said) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  const char *good = "a", *bad = "a(b";
  CHECK_INT(slp_grep_new(mem, &good, 1, &bad, 1, &g, why), SLP_EINVAL);
  CHECK(strstr(why, "--grepv: \"a(b\": it has a ( without its )"));
  CHECK(!g);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
