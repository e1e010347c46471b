/* needles.c - a payload is passed over only if it has none of the texts, at each place and each length. */
#include "cli/needles.h"

#include <stdlib.h>

#include "check.h"

static slp_needles made_of(const char *expression, int folds) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_regex regex;
  slp_regex_traits traits;
  slp_needles needles;
  char why[SLP_REGEX_WHY];
  slp_regex_init(&regex, mem);
  CHECK_INT(slp_regex_add(&regex, expression, folds, &traits, why), 0);
  slp_needles_of(&needles, &traits);
  slp_regex_free(&regex);
  slp_mem_drop(mem);
  return needles;
}

/* The texts, separated by spaces; in ( ): of either case. */
static const char *texts_of(const char *expression, int folds) {
  static char text[1000];
  slp_needles needles = made_of(expression, folds);
  *text = 0;
  for (size_t i = 0; i < needles.n; i++) {
    const slp_needle *k = &needles.list[i];
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, k->folds ? "%s(%.*s)" : "%s%.*s", n ? " " : "", (int)k->n, k->text);
  }
  return text;
}

TEST(every_alternative_has_its_text) {
  CHECK_STR(texts_of("hello", 0), "hello");
  CHECK_STR(texts_of("error|fatal", 0), "error fatal");
  CHECK_STR(texts_of("error[0-9]|x*fatal|a?bc", 0), "error fatal bc");
  CHECK_STR(texts_of("Error|FATAL", 1), "(error) (fatal)");
  CHECK_STR(texts_of("one|(?i)Two", 0), "one (two)");
  CHECK_STR(texts_of("(error|fatal)", 0), "");
  CHECK_STR(texts_of("(a|b)cd|ef", 0), "cd ef");
  CHECK_STR(texts_of("error|", 0), "");
  CHECK_STR(texts_of("|error", 0), "");
  CHECK_STR(texts_of("error|[a-z]", 0), "");
  CHECK_STR(texts_of("error|f*", 0), "");
  CHECK_STR(texts_of("a|b|c|d|e|f|g|h", 0), "a b c d e f g h");
  CHECK_STR(texts_of("a|b|c|d|e|f|g|h|i", 0), "");
  /* U+212A is a k where case is ignored, and U+017F an s */
  CHECK_STR(texts_of("status", 1), "(tatu)");
  CHECK_STR(texts_of("kiosk", 1), "(io)");
  CHECK_STR(texts_of("sks", 1), "");
  CHECK_STR(texts_of("sks", 0), "sks");
}

static char as_other_case(char c) { return (char)(c >= 'a' && c <= 'z' ? c - 32 : c); }

/* Each text at each place of payloads of each length, in memory that ends with the payload. */
TEST(a_text_is_found_wherever_it_stands) {
  static const char *const all[] = {"x",       "xy", "ab", "aab", "zebra crossing", "0123456789abcdefghijkl",
                                    "a|bc|def"};
  for (size_t e = 0; e < SLP_COUNT(all); e++) {
    for (int folds = 0; folds < 2; folds++) {
      slp_needles needles = made_of(all[e], folds);
      const slp_needle *k = &needles.list[needles.n - 1];
      for (size_t n = 0; n < 70; n++) {
        char *text = malloc(n + 1);
        memset(text, '-', n);
        CHECK_INT(slp_needles_may_be_in(&needles, (slp_str){text, n}), 0);
        for (size_t at = 0; at + k->n <= n; at++) {
          memset(text, '-', n);
          for (size_t i = 0; i < k->n; i++)
            text[at + i] = folds && i % 2 ? as_other_case(k->text[i]) : k->text[i];
          CHECK_INT(slp_needles_may_be_in(&needles, (slp_str){text, n}), 1);
          text[at + k->n / 2] = '+';
          CHECK_INT(slp_needles_may_be_in(&needles, (slp_str){text, n}), 0);
        }
        free(text);
      }
    }
  }
}

TEST(a_search_that_would_take_long_ends) {
  size_t n = (size_t)3 << 20;
  char *text = malloc(n);
  memset(text, 'a', n);
  slp_needles one = made_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 0), two = made_of("xyz|zyx", 0);
  CHECK_INT(slp_needles_may_be_in(&one, (slp_str){text, n}), 0); /* there is no b */
  memset(text + 1000, 'b', n - 1000);
  for (size_t i = 0; i < n; i += 2) text[i] = 'a';
  slp_needles odd = made_of("ababababababababababababababababababababc?[x]a", 0);
  CHECK_INT(odd.n, 1);
  CHECK_INT(slp_needles_may_be_in(&odd, (slp_str){text, n}), 1);
  CHECK_INT(slp_needles_may_be_in(&two, (slp_str){text, n}), 1);
  CHECK_INT(slp_needles_may_be_in(&two, (slp_str){text, n / 2}), 0);
  free(text);
}
