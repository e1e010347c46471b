/* regex.c - what is an expression of --grep, and how large its program may be. What they match is judged by libc
 * in fuzz/fuzz_regex.c. */
#include "cli/regex.h"
#include "check.h"

static int read_one(const char *text, char why[100], size_t *ret_steps) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_regex r;
  slp_regex_init(&r, mem);
  int e = slp_regex_add(&r, text, why);
  if (ret_steps) *ret_steps = r.n;
  slp_regex_free(&r);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return e;
}

static void refused(const char *text, const char *part) {
  char why[100] = "";
  if (read_one(text, why, NULL) != SLP_EINVAL || !strstr(why, part)) CHECK_FAIL("%s: \"%s\"", text, why);
}
static size_t steps(const char *text) {
  char why[100] = "";
  size_t n = 0;
  if (read_one(text, why, &n) != 0) CHECK_FAIL("%s: %s", text, why);
  return n;
}

TEST(what_is_wrong_is_said) {
  refused("(", "( without its )");
  refused("a(b|(c)", "( without its )");
  refused("[a", "[ without its ]");
  refused("[[:alpha:]", "[ without its ]");
  refused("[[:alpha]", "[ without its ]");
  refused("[[:letters:]]", "class");
  refused("[[.ab.]]", "more than one");
  refused("[b-a]", "range");
  refused("[a-[=c=]]", "range");
  refused("[a-c-e]", "no range");
  refused("*a", "nothing to repeat");
  refused("a|+", "nothing to repeat");
  refused("^*", "nothing to repeat");
  refused("a{1", "{ }");
  refused("a{}", "{ }");
  refused("a{1,2,3}", "{ }");
  refused("a{3,2}", "less than its N");
  refused("a\\", "backslash");
}

TEST(a_program_is_bounded) {
  CHECK_INT(steps("a{0}"), 1);
  CHECK_INT(steps("a{8192}"), SLP_REGEX_STEPS_MAX);
  refused("a{8193}", "too large");
  refused("a{32768}", "too large");
  refused("a{99999999999999999999}", "too large");
  refused("((a{1,255}){1,255}){1,255}", "too large");
  refused("(((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9})", "too large");
  CHECK_INT(steps("((a{0,100}){0}){32767}"), 1);
}

TEST(groups_are_nested_so_deep_and_no_deeper) {
  char text[2002];
  for (int depth = 200; depth <= 201; depth++) {
    memset(text, '(', (size_t)depth);
    memset(text + depth, ')', (size_t)depth);
    text[depth * 2] = 0;
    if (depth == 200)
      CHECK_INT(steps(text), 1);
    else
      refused(text, "too deeply");
  }
}

TEST(back_references_are_refused) {
  static const char *const bad[] = {"(a*)*\\1",    "(.)\\9x",           "[]\\1](b)\\1",
                                    "[^]x](b)\\1", "[[:alpha:]](b)\\1", "\\\\(b)\\2"};
  static const char *const good[] = {"\\\\1",          "[\\1]", "[]\\1]",    "[^]\\1]",
                                     "[[:alpha:]\\1]", "a\\.1", "[[.].]\\1]"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) refused(bad[i], "back-reference");
  for (size_t i = 0; i < SLP_COUNT(good); i++) CHECK(steps(good[i]) > 0);
}
