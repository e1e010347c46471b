/* stream_pattern.c - which names a pattern matches; fnmatch() of the C library is the judge. */
#include "cli/stream_pattern.h"

#include <fnmatch.h>

#include "check.h"

static int matches(const char *glob, const char *name) {
  return slp_glob_matches(slp_str_of(glob), slp_str_of(name));
}

TEST(each_kind_of_wildcard) {
  CHECK(matches("pay*", "pay") && matches("pay*", "payments"));
  CHECK(!matches("pay*", "repay") && !matches("pay*", "Pay"));
  CHECK(matches("*pay", "repay") && matches("*", "") && matches("**", "a"));
  CHECK(matches("a?c", "abc") && !matches("a?c", "ac") && !matches("a?c", "abbc"));
  CHECK(matches("s-[0-9]", "s-7") && !matches("s-[0-9]", "s-x") && !matches("s-[0-9]", "s-77"));
  CHECK(matches("s-[!0-9]", "s-x") && !matches("s-[!0-9]", "s-7") && matches("[a-]", "-"));
  CHECK(matches("*-eu-*", "a-eu-b-eu-c") && !matches("*-eu-*x", "a-eu-b"));
  CHECK(!matches("", "a") && matches("", ""));
}

TEST(thousands_of_patterns_match_as_fnmatch_says) {
  static const char *const parts[] = {"*", "?", "a", "b", "-", "[ab]", "[!a]", "[a-b]", "[-b]", "**"};
  static const char letters[] = "ab-c";
  uint32_t seed = 1, yes = 0;
  for (int i = 0; i < 20000; i++) {
    char glob[64] = "", name[16] = "";
    size_t glob_n = (seed = seed * 1664525u + 1013904223u) >> 16 & 7;
    for (size_t k = 0; k < glob_n; k++)
      strcat(glob, parts[((seed = seed * 1664525u + 1013904223u) >> 16) % SLP_COUNT(parts)]);
    size_t name_n = (seed = seed * 1664525u + 1013904223u) >> 16 & 7;
    for (size_t k = 0; k < name_n; k++) name[k] = letters[(seed = seed * 1664525u + 1013904223u) >> 16 & 3];
    int want = fnmatch(glob, name, 0) == 0;
    if (matches(glob, name) != want) printf("\"%s\" and \"%s\": not %d\n", glob, name, want);
    CHECK_INT(matches(glob, name), want);
    yes += (uint32_t)want;
  }
  CHECK(yes > 1000 && yes < 19000); /* both answers are tried */
}

TEST(a_pattern_with_many_stars_takes_no_time) {
  char name[256];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = 0;
  CHECK(!matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

/* Returns what would be typed for the listed stream; "": the pattern does not match it. */
static const char *taken(const char *word, const char *listed) {
  static char text[600];
  slp_stream_pattern p;
  slp_buf b;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char why[200];
  *text = 0;
  if (slp_stream_pattern_read(word, &p, why)) {
    slp_mem_drop(mem);
    snprintf(text, sizeof text, "%s", why);
    return text;
  }
  slp_buf_init(&b, mem, 1000);
  int takes = slp_stream_pattern_takes(&p, listed, &b);
  if (takes) snprintf(text, sizeof text, "%s", slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return text;
}

TEST(streams_of_kinesis_and_of_tables_are_told_apart) {
  CHECK_STR(taken("pay*", "payments"), "payments");
  CHECK_STR(taken("*", "dynamodb:payments"), "");
  CHECK_STR(taken("dynamodb:pay*", "dynamodb:payments"), "dynamodb:payments");
  CHECK_STR(taken("dynamodb:pay*", "payments"), "");
  /* an older stream of a table, which is listed by its ARN */
  CHECK_STR(taken("dynamodb:*", "arn:aws:dynamodb:eu-west-1:123:table/pay/stream/2026"), "");
}

TEST(an_arn_may_have_a_pattern_in_its_name) {
  CHECK_STR(taken("arn:aws:kinesis:eu-west-1:123:stream/pay*", "payments"),
            "arn:aws:kinesis:eu-west-1:123:stream/payments");
  CHECK_STR(taken("arn:aws:dynamodb:eu-west-1:123:table/p?ts", "dynamodb:pets"),
            "arn:aws:dynamodb:eu-west-1:123:table/pets");
  CHECK_STR(taken("arn:aws:kinesis:eu-west-1:123:stream/pay*", "dynamodb:payments"), "");
}

TEST(what_is_no_pattern_is_refused_with_its_reason) {
  CHECK_STR(taken("pay[", "x"), "\"pay[\" is no pattern of names: a [ has no ]");
  CHECK_STR(taken("*]", "x"), "\"*]\" is no pattern of names: a ] has no [");
  CHECK_STR(taken("pay *", "x"), "\"pay *\" is no pattern of names: no stream's name has such a character");
  CHECK_STR(
      taken("[[:digit:]]", "x"),
      "\"[[:digit:]]\" is no pattern of names: a class such as [:digit:] is not known here; write [0-9]");
  CHECK_STR(
      taken("arn:aws:kinesis:*:123:stream/x", "x"),
      "\"arn:aws:kinesis:*:123:stream/x\" is no pattern of names: in an ARN only the name may be a pattern");
  CHECK(strstr(taken("arn:aws:s3:::a*", "x"), "in an ARN only the name of a stream") != NULL);
  CHECK(strstr(taken("arn:aws:dynamodb:e:1:table/a*/stream/2026", "x"), "such a character") != NULL);
}

static const char *policy_of(const char *glob, int *ret_wider) {
  static char text[100];
  slp_buf b;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1000);
  *ret_wider = slp_stream_pattern_for_iam(slp_str_of(glob), &b);
  snprintf(text, sizeof text, "%s", slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return text;
}

TEST(a_policy_knows_no_brackets) {
  int wider;
  CHECK_STR(policy_of("pay-?*", &wider), "pay-?*");
  CHECK_INT(wider, 0);
  CHECK_STR(policy_of("pay-[0-9][ab]x", &wider), "pay-??x");
  CHECK_INT(wider, 1);
}

TEST(the_stem_is_what_all_names_begin_with) {
  slp_stream_pattern p;
  char why[200], stem[8];
  CHECK_INT(slp_stream_pattern_read("dynamodb:pay*ments", &p, why), 0);
  CHECK_INT((int)slp_stream_pattern_stem(&p, stem, sizeof stem), 3);
  CHECK_STR(stem, "pay");
  CHECK_INT(slp_stream_pattern_read("*x", &p, why), 0);
  CHECK_INT((int)slp_stream_pattern_stem(&p, stem, sizeof stem), 0);
}
