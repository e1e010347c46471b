/* highlight.c - which parts of a text match: several expressions, overlaps, whole characters, bounds. */
#include "cli/highlight.h"

#include "check.h"
#include "cli/perl.h"
#include "cpu.h"
#include "sanitized.h"

/* Returns the spans of a text as "FROM-TO ...". */
static const char *found(const char *const *expressions, size_t n, int folds, slp_str text) {
  static char out[400];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_highlight *h = NULL;
  CHECK_INT(slp_highlight_new(mem, expressions, n, folds, &h), 0);
  for (int again = 0; again < 2; again++) { /* a search leaves nothing behind for the next */
    *out = 0;
    slp_highlight_begin(h, text);
    while (slp_highlight_step(h)) {
    }
    slp_spans s = slp_highlight_spans(h);
    for (size_t i = 0; i < s.n && i < 20; i++)
      snprintf(out + strlen(out), sizeof out - strlen(out), "%zu-%zu ", s.list[i].from, s.list[i].to);
  }
  slp_highlight_free(h);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return out;
}
#define FOUND(text, ...) \
  found((const char *[]){__VA_ARGS__}, SLP_COUNT(((const char *[]){__VA_ARGS__})), 0, SLP_STR(text))

TEST(all_matches_of_all_expressions) {
  if (!slp_perl_known()) return; /* nothing is shown then */
  CHECK_STR(FOUND("an error, an Error", "error"), "3-8 ");
  CHECK_STR(FOUND("aXbXc", "X"), "1-2 3-4 ");
  CHECK_STR(FOUND("aXXb", "X"), "1-3 "); /* two matches that touch */
  CHECK_STR(FOUND("abcdef", "bcd", "de", "f$"), "1-6 ");
  CHECK_STR(FOUND("abcdef", "^", "x*", "$"), "");
  CHECK_STR(FOUND("foo bar foobar", "(?<=foo)bar", "\\bf"), "0-1 8-9 11-14 ");
  CHECK_STR(FOUND("a+b", "(a|b)"), "0-1 2-3 ");
  CHECK_STR(FOUND("", "a*"), "");
  static const char *const folded = "ERR";
  CHECK_STR(found(&folded, 1, 1, SLP_STR("error Err")), "0-3 6-9 ");
}

TEST(characters_are_never_cut) {
  if (!slp_perl_known()) return;
  CHECK_STR(FOUND("gr\xc3\xb6\xc3\x9f"
                  "e",
                  "\xc3\xb6"),
            "2-4 ");
  CHECK_STR(FOUND("gr\xc3\xb6\xc3\x9f"
                  "e",
                  "."),
            "0-7 ");
  CHECK_STR(FOUND("gr\xc3\xb6\xc3\x9f"
                  "e",
                  "\xb6"),
            "2-4 "); /* an expression of bytes */
  CHECK_STR(FOUND("\xff"
                  "a\xff"
                  "b",
                  "a"),
            "1-2 ");
}

TEST(the_search_is_bounded) {
  static char text[1 << 20];
  if (!slp_perl_known()) return;
  memset(text, 'a', sizeof text);
  static const char *const bad[] = {"^((a+)+)+\\2[b-c]", "(a*)*b", "a|b"};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_highlight *h = NULL;
  CHECK_INT(slp_highlight_new(mem, bad, 3, 0, &h), 0);
  uint64_t begun_us = cpu_us();
  int slices = 0;
  for (slp_highlight_begin(h, (slp_str){text, sizeof text}); slp_highlight_step(h); slices++) {
  }
  uint64_t took_us = cpu_us() - begun_us;
  CHECK(slices <= 200);
  if (!SANITIZED) CHECK(took_us < 500000);
  slp_highlight_free(h);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
