/* perl.c - tests the bounds of cli/perl.h: no slice is long, whatever the expression and the text are, and a
 * search that ends as SLP_MATCH_UNDECIDED does so in each run. fuzz/fuzz_regex.c tests which texts match. */
#include "cli/perl.h"
#include "check.h"
#include "cpu.h"

static slp_mem *mem;
static slp_perl *perl;
static uint64_t slices, longest_us;

static void open_one(const char *text, slp_perl_kind kind, size_t steps) {
  char why[SLP_REGEX_WHY] = "";
  slp_perl_opts o = {.kind = kind, .steps = steps};
  mem = slp_mem_new(NULL, NULL);
  if (slp_perl_new(mem, text, &o, &perl, why)) CHECK_FAIL("%s: %s", text, why);
}
static void close_one(void) {
  slp_perl_free(perl);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_match find(const char *text, size_t n) {
  slp_match is;
  slices = longest_us = 0;
  slp_perl_begin(perl, (slp_str){text, n});
  do {
    uint64_t from = cpu_us();
    is = slp_perl_step(perl);
    longest_us = slp_max_u64(longest_us, cpu_us() - from);
    slices++;
  } while (is == SLP_MATCH_MORE);
  return is;
}

static char *repeat(const char *of, size_t n) {
  char *p = malloc(n), *to = p;
  CHECK(p);
  for (size_t i = 0; i < n; i++) *to++ = of[i % strlen(of)];
  return p;
}

/* An engine without bounds needs seconds to years for each of these. The expressions have nested repetitions,
 * overlapping alternatives, neighbouring repetitions that match the same text, or references to groups in a
 * repetition. Most end in a set, because PCRE2 would search for a last letter first and find at once that the
 * text has none. The units counted in cli/perl.c bound a slice to some ms. The test measures CPU time and
 * allows 20 ms, because the machine may be busy. */
TEST(no_slice_is_long_whatever_expression_and_text) {
  static const struct {
    const char *expression, *text;
    slp_perl_kind kind;
    size_t steps;
  } all[] = {{"^((a+)+)+\\2[b-c]", "a", SLP_PERL_COUNTED, 0},
             {"(?:(a|ab|b|ba)+)+\\1(?=c)", "ab", SLP_PERL_COUNTED, 0},
             {"(.*)(.*)(.*)(.*)\\4\\3[y-z]", "ab ", SLP_PERL_COUNTED, 0},
             {"(\\w+\\s?)*(?<!x)[y-z]", "aaa b ", SLP_PERL_COUNTED, 0},
             {"(?=(a*))\\1*[c-d]", "a", SLP_PERL_COUNTED, 0},
             {"^(?:(?R)|a)+?[b-c]", "a", SLP_PERL_COUNTED, 0},
             {"(?:a++b?)++[c-d](?<=d)", "ab", SLP_PERL_COUNTED, 0},
             {"(?:a?){30}a{30}[y-z]", "a", SLP_PERL_FINITE, 121},
             {"(?:a|aa|ab|b){1,40}[y-z]", "aab", SLP_PERL_FINITE, 600},
             {"[a-z]{1,200}[1-9]", "a", SLP_PERL_FINITE, 600}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    for (size_t n = 100; n <= (size_t)1 << 20; n *= 100) {
      char *text = repeat(all[i].text, n);
      open_one(all[i].expression, all[i].kind, all[i].steps);
      slp_match first = find(text, n);
      size_t peak = mem->peak_bytes;
      CHECK(first == SLP_MATCH_NO || first == SLP_MATCH_UNDECIDED);
      if (first == SLP_MATCH_UNDECIDED) CHECK(slp_perl_bound(perl)[0]);
      if (longest_us > 20000)
        CHECK_FAIL("%s on %zu bytes: a slice of %llu us", all[i].expression, n,
                   (unsigned long long)longest_us);
      uint64_t had = slices;
      CHECK_INT(find(text, n), first);
      CHECK_INT(slices, had);
      CHECK(mem->peak_bytes == peak && peak < 2 << 20);
      close_one();
      free(text);
    }
  }
}

/* The work is counted by what was done, so an ordinary search of a large text is decided. */
TEST(a_large_text_is_decided) {
  char *text = repeat("an order of user 42 was placed, and all is well; ", (size_t)1 << 20);
  open_one("(?<!not )found", SLP_PERL_COUNTED, 0);
  CHECK_INT(find(text, (size_t)1 << 20), SLP_MATCH_NO);
  close_one();
  open_one("(\\w)\\1{3}", SLP_PERL_COUNTED, 0);
  CHECK_INT(find(text, (size_t)1 << 20), SLP_MATCH_NO);
  CHECK(slices > 10);
  memcpy(text + ((size_t)1 << 20) - 4, "oooo", 4);
  CHECK_INT(find(text, (size_t)1 << 20), SLP_MATCH_YES);
  close_one();
  free(text);
}

/* The match moves over the end of a slice: first it ends in that slice, then it begins in the slice and ends
 * behind it, and at last it begins at the first place of the next slice. */
TEST(a_match_at_the_edges_of_slices) {
  char *text = repeat(".", 300000);
  open_one("ab.cd", SLP_PERL_FINITE, 1000);
  for (size_t at = 4186; at < 4200; at++) {
    memcpy(text + at, "ab-cd", 5);
    CHECK_INT(find(text, 300000), SLP_MATCH_YES);
    CHECK_INT(find(text, at + 5), SLP_MATCH_YES);
    CHECK_INT(find(text, at + 4), SLP_MATCH_NO);
    memcpy(text + at, ".....", 5);
  }
  CHECK_INT(find(text, 300000), SLP_MATCH_NO);
  CHECK(slices > 50);
  close_one();
  free(text);
}

/* A slice may begin within a character. */
TEST(characters_at_the_edges_of_slices) {
  char *text = repeat("\xe2\x82\xac", 30000);
  open_one(".ab[^c]$", SLP_PERL_FINITE, 1000);
  for (size_t at = 4182; at < 4200; at++) {
    memcpy(text + at, "ab\xc3\xa4", 4);
    CHECK_INT(find(text, at + 4), at % 3 ? SLP_MATCH_NO : SLP_MATCH_YES);
    CHECK_INT(find(text, at + 5), SLP_MATCH_NO);
    for (size_t i = at; i < at + 4; i++) text[i] = "\xe2\x82\xac"[i % 3];
  }
  close_one();
  free(text);
}
