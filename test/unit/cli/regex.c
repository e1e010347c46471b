/* regex.c - tests how cli/regex.h reads an expression of --grep: which expressions it accepts, how large a
 * program may be, which traits it reports, and which expressions it refuses because dialects differ on them.
 * fuzz/fuzz_regex.c compares what the expressions match with PCRE2. */
#include "cli/regex.h"
#include "check.h"

static slp_regex_traits traits;

static int read_one(const char *text, int folds, char why[SLP_REGEX_WHY], size_t *ret_steps) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_regex r;
  slp_regex_init(&r, mem);
  int e = slp_regex_add(&r, text, folds, &traits, why);
  if (ret_steps) *ret_steps = r.n;
  slp_regex_free(&r);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return e;
}

static void refused(const char *text, const char *part) {
  char why[SLP_REGEX_WHY] = "";
  if (read_one(text, 0, why, NULL) != SLP_EINVAL || !strstr(why, part)) CHECK_FAIL("%s: \"%s\"", text, why);
}
static size_t steps(const char *text) {
  char why[SLP_REGEX_WHY] = "";
  size_t n = 0;
  if (read_one(text, 0, why, &n) != 0) CHECK_FAIL("%s: %s", text, why);
  return n;
}

TEST(what_is_wrong_is_said_and_where) {
  refused("(", "( without its ), at byte 2");
  refused("a(b|(c)", "( without its )");
  refused("a)", ") without its (, at byte 2");
  refused("[a", "[ without its ]");
  refused("[[:alpha:]", "[ without its ]");
  refused("[[:letters:]]", "no such class");
  refused("[:alpha:]", "[[:class:]]");
  refused("[[.a.]]", "[. .]");
  refused("[b-a]", "range");
  refused("*a", "nothing to repeat, at byte 1");
  refused("a|+", "nothing to repeat, at byte 3");
  refused("^*", "nothing to repeat");
  refused("a{2}{3}", "repetition of a repetition");
  refused("a{3,2}", "less than its N");
  refused("a\\", "backslash");
  refused("\\x{zz}", "\\x{");
}

/* A build without PCRE2 has only this reader. */
TEST(what_only_pcre2_knows_is_refused_by_name) {
  static const struct {
    const char *text, *name;
  } all[] = {{"(.)\\1", "back-reference"},
             {"\\pL", "\\p"},
             {"\\h", "\\h"},
             {"a(?=b)", "(?"},
             {"(?<!a)b", "(?"},
             {"(?>a)", "(?"},
             {"a++", "possessive"},
             {"(?x)a b", "(?"},
             {"(*UCP)\\w", "(*"},
             {"[a\xc3\xa4]", "beyond ASCII"},
             {"(?i)\xc3\xa4", "beyond ASCII"},
             {"\\xe4", "beyond ASCII"},
             {"(?m)^a", "(?"},
             {"\\Qa.b\\E", "\\Q"}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    refused(all[i].text, all[i].name);
    refused(all[i].text, "built with PCRE2, at byte ");
  }
}

TEST(a_program_is_bounded) {
  CHECK_INT(steps("a{0}"), 1);
  CHECK_INT(steps("a{8192}"), SLP_REGEX_STEPS_MAX);
  refused("a{8193}", "too large");
  refused("a{65536}", "too large");
  refused("a{99999999999999999999}", "too large");
  refused("((a{1,255}){1,255}){1,255}", "too large");
  refused("(((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9})", "too large");
  CHECK_INT(steps("((a{0,100}){0}){65535}"), 1);
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

TEST(a_text_that_every_match_contains) {
  static const struct {
    const char *expression, *literal;
    int folds, loops, beyond;
  } all[] = {{"zzzq[0-9]+x", "zzzq", 0, 1, 0},
             {"[a-z]+[0-9]{4}x", "x", 0, 1, 0},
             {"error|fatal", "", 0, 0, 0},
             {"a(b|c)defg*h", "def", 0, 1, 0},
             {"ab?cd", "cd", 0, 0, 0},
             {"\\bid\\.x\\b", "id.x", 0, 0, 0},
             {"(?i)error.*b", "error", 1, 1, 1},
             {"ab(?i)cde", "cde", 1, 0, 0},
             {"\xc3\xa4\xc3\xb6[0-9]+", "\xc3\xa4\xc3\xb6", 0, 1, 0},
             {"x{2}yz.", "yz", 0, 0, 1},
             {"[^a]b", "b", 0, 0, 1}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    steps(all[i].expression);
    if (strcmp(traits.literal, all[i].literal) != 0 ||
        (traits.literal[0] && traits.literal_folds != all[i].folds) || traits.loops != all[i].loops ||
        traits.beyond_ascii != all[i].beyond)
      CHECK_FAIL("%s: \"%s\" %d %d %d", all[i].expression, traits.literal, traits.literal_folds, traits.loops,
                 traits.beyond_ascii);
  }
}

TEST(what_dialects_read_in_different_ways_is_refused) {
  static const struct {
    const char *text, *remedy;
    int at;
  } bad[] = {{"a\\<b", "write \\b or [<]", 2}, {"\\>", "write \\b or [<]", 1},
             {"\\`a", "write \\A", 1},         {"a\\'", "write \\A, \\z", 2},
             {"\\Ga", "write \\A", 1},         {"a{,3}", "write {N}, {N,}, {0,N}", 2},
             {"a{ 1, 2 }", "or \\{", 2},       {"x[a-z&&[^c]]", "of a set once", 2},
             {"[a~~b]", "of a set once", 1},   {"[a-z--[b]]", "of a set once", 1}};
  static const char *const good[] = {"a\\\\<b",          "\\Q\\<{,3}\\E", "\\{,3}", "[{,3}]",
                                     "{\"id\":7}",       "a{2,}",         "[&]&&",  "[+--]",
                                     "[[:alpha:]\\]&]&", "<>`'",          "\\c<"};
  char why[SLP_REGEX_WHY] = "", place[20];
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(slp_regex_check_dialect(bad[i].text, why), SLP_EINVAL);
    snprintf(place, sizeof place, ", at byte %d", bad[i].at);
    if (!strstr(why, bad[i].remedy) || !strstr(why, place)) CHECK_FAIL("%s: %s", bad[i].text, why);
  }
  for (size_t i = 0; i < SLP_COUNT(good); i++)
    if (slp_regex_check_dialect(good[i], why) != 0) CHECK_FAIL("%s: %s", good[i], why);
}
