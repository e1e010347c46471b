/* grep.c - which payloads pass, bytes of every kind included, and what is refused. */
#include "cli/grep.h"
#include "check.h"
#include "cli/perl.h"

static int search(slp_grep *g, slp_str text) {
  slp_match is;
  slp_grep_begin(g, text);
  do is = slp_grep_step(g);
  while (is == SLP_MATCH_MORE);
  return is == SLP_MATCH_YES;
}

static uint8_t folds; /* -i */

static int passes(const char *wanted, const char *unwanted, const char *text, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_grep *g = NULL;
  char why[200] = "";
  slp_grep_opts o = {.wanted = &wanted,
                     .wanted_n = wanted != NULL,
                     .unwanted = &unwanted,
                     .unwanted_n = unwanted != NULL,
                     .folds = folds};
  if (slp_grep_new(mem, &o, &g, why)) CHECK_FAIL("%s", why);
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
  CHECK_INT(slp_grep_new(
                mem, &(slp_grep_opts){.wanted = wanted, .wanted_n = 2, .unwanted = unwanted, .unwanted_n = 2},
                &g, why),
            0);
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
  CHECK_INT(
      slp_grep_new(mem, &(slp_grep_opts){.wanted = &good, .wanted_n = 1, .unwanted = &bad, .unwanted_n = 1},
                   &g, why),
      SLP_EINVAL);
  CHECK(strncmp(why, "--grepv: \"a(b\": ", 16) == 0);
  CHECK(strstr(why,
               slp_perl_known() ? "missing closing parenthesis, at byte 4" : "( without its ), at byte 4"));
  CHECK(!g);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(case_is_ignored) {
  CHECK(!PASSES("error", NULL, "an ERROR"));
  CHECK(PASSES("(?i)error", NULL, "an ERROR"));
  CHECK(PASSES("a(?i:B)c", NULL, "abc"));
  CHECK(!PASSES("a(?i:B)c", NULL, "abC"));
  folds = 1;
  CHECK(PASSES("error", NULL, "an ERROR"));
  CHECK(PASSES("ask [a-f]+", NULL, "TASK BEEF"));
  CHECK(!PASSES(NULL, "debug", "DEBUG: x"));
  folds = 0;
}

TEST(a_character_is_one_whatever_bytes_it_has) {
  CHECK(PASSES("^gr.{2}e$", NULL,
               "gr\xc3\xb6\xc3\x9f"
               "e"));
  CHECK(PASSES("^\\W$", NULL, "\xe2\x82\xac"));
  CHECK(PASSES("^[^a]$", NULL, "\xf0\x9f\x98\x80"));
  CHECK(!PASSES("^.$", NULL, "\xff")); /* no character */
  CHECK(PASSES("a.*b", NULL, "\xff\x00 a b"));
  CHECK(!PASSES("a.b", NULL, "a\nb"));
  CHECK(PASSES("(?s)a.b", NULL, "a\nb"));
}

/* cli/regex.h can't read these expressions, so PCRE2 matches them. The JIT of PCRE2 10.42 would not let \D,
 * \W and \S match characters beyond ASCII, so cli/perl.c gives it [\D], [\W] and [\S] instead. */
TEST(the_rest_of_the_dialect) {
  if (!slp_perl_known()) return;
  CHECK(PASSES("(\\w)\\1{2}", NULL, "looong"));
  CHECK(!PASSES("(\\w)\\1{2}", NULL, "long"));
  CHECK(PASSES("(?<!not )found", NULL, "was found"));
  CHECK(!PASSES("(?<!not )found", NULL, "not found"));
  CHECK(PASSES("^(?>\\D\\W\\S)$", NULL, "\xe2\x82\xac\xe2\x82\xac\xc3\xa4"));
  CHECK(PASSES("(?=\\D)[\\D]\\Q\\D\\E", NULL, "\xe2\x82\xac\\D"));
  CHECK(PASSES("^[\xc3\xa4\xc3\xb6]+$", NULL, "\xc3\xa4\xc3\xb6"));
  folds = 1;
  CHECK(PASSES("\xc3\xa4", NULL, "\xc3\x84"));
  folds = 0;
}

/* If every match contains a literal text, a payload without that text's rarest byte is passed over. Here the
 * rarest byte is x; it stands at each place of a literal, and the literal at each place of a payload. */
TEST(a_text_that_every_match_contains_is_looked_for_first) {
  static const char *const literals[] = {"x", "xa", "ax", "axa", "aax"};
  char text[400];
  for (size_t i = 0; i < SLP_COUNT(literals); i++) {
    size_t n = strlen(literals[i]);
    for (size_t at = 0; at + n <= 300; at++) {
      memset(text, 'e', sizeof text);
      memcpy(text + at, literals[i], n);
      CHECK(passes(literals[i], NULL, text, at + n));
      CHECK(passes(literals[i], NULL, text, sizeof text));
      CHECK(!passes(literals[i], NULL, text, at + n - 1));
    }
    /* Here the payload is full of x, so the whole literal must be compared. */
    memset(text, 'x', sizeof text);
    CHECK(passes(literals[i], NULL, text, sizeof text) == (n == 1));
    memcpy(text + sizeof text - n, literals[i], n);
    CHECK(passes(literals[i], NULL, text, sizeof text));
  }
  CHECK(!PASSES("x", NULL, ""));
  CHECK(PASSES("abx[0-9]*y", NULL, "abx12y"));
  CHECK(!PASSES("abx[0-9]*y", NULL, "ab12y"));
}
