/* matcher.c - texts of every length, in slices, with states that are forgotten on the way. Whether what is
 * found is right is judged by PCRE2 in fuzz/fuzz_regex.c. */
#include "cli/matcher.h"
#include "check.h"
#include "cpu.h"

static slp_mem *mem;
static slp_regex regex;
static slp_matcher *matcher;

static void open_one(const char *text) {
  char why[SLP_REGEX_WHY] = "";
  slp_regex_traits traits;
  mem = slp_mem_new(NULL, NULL);
  slp_regex_init(&regex, mem);
  if (slp_regex_add(&regex, text, 0, &traits, why)) CHECK_FAIL("%s: %s", text, why);
  matcher = slp_matcher_new(mem, &regex);
  CHECK(matcher);
}
static void close_one(void) {
  slp_matcher_free(matcher);
  slp_regex_free(&regex);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static uint64_t longest_us, slices;
static int find(const char *text, size_t n) {
  slp_match is;
  longest_us = slices = 0;
  slp_matcher_begin(matcher, (slp_str){text, n});
  do {
    uint64_t from = cpu_us(), us;
    is = slp_matcher_step(matcher);
    us = cpu_us() - from;
    longest_us = us > longest_us ? us : longest_us;
    slices++;
  } while (is == SLP_MATCH_MORE);
  return is == SLP_MATCH_YES;
}

#define LARGE ((size_t)16 << 20)
static char *large(const char *of) {
  char *p = malloc(LARGE);
  size_t n = strlen(of);
  CHECK(p);
  for (size_t i = 0; i < LARGE; i++) p[i] = of[i % n];
  return p;
}

/* A backtracking engine needs seconds to hours for these expressions. A slice of the matcher takes at most
 * about 100 us. The test allows 20 ms, because other work of the machine may interrupt a slice. */
TEST(a_large_text_goes_in_short_slices_whatever_the_expression) {
  static const char *const all[] = {"a.*b.*zz",          "(a|b)*c{20}",
                                    "(.*a){20}zz",       "((a?){30}a{30}){4}z",
                                    "(a*)*(b*)*zz",      "^(([a-z])+.)+[A-Z]([a-z])+$",
                                    "\\ba\\w{3}\\b\\Bzz"};
  char *text = large("ab ababba\n");
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    open_one(all[i]);
    size_t peak = mem->peak_bytes;
    if (find(text, LARGE)) CHECK_FAIL("%s is found", all[i]);
    if (longest_us > 20000) CHECK_FAIL("%s: a slice of %llu us", all[i], (unsigned long long)longest_us);
    CHECK(slices >= LARGE / 65536);
    CHECK_INT(mem->peak_bytes, peak);
    CHECK(peak < 2 << 20);
    close_one();
  }
  free(text);
}

/* Each byte leads to a state that was never met, so all is forgotten again and again; 4 MiB are as the
 * first. */
TEST(states_are_forgotten_and_what_is_found_stays_right) {
  open_one("a.{60}b.{60}c");
  char text[40000];
  uint64_t state = 7;
  for (size_t i = 0; i < sizeof text; i++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    text[i] = "abx"[(state >> 33) % 3];
  }
  CHECK(!find(text, sizeof text));
  CHECK(slices > 2);
  text[39999] = 'c', text[39999 - 61] = 'b', text[39999 - 122] = 'a';
  CHECK(find(text, sizeof text));
  CHECK(!find(text, sizeof text - 1));
  close_one();
}

TEST(a_match_at_the_last_byte_of_a_slice_and_behind_it) {
  char *text = large("x");
  open_one("yz$");
  for (size_t end = 65536 - 3; end < 65536 + 3; end++) {
    text[end - 1] = 'z', text[end - 2] = 'y';
    CHECK(find(text, end));
    CHECK(!find(text, end - 1));
    CHECK(!find(text, end + 1));
    text[end - 1] = text[end - 2] = 'x';
  }
  close_one();
  free(text);
}

TEST(several_expressions_are_alternatives) {
  char why[SLP_REGEX_WHY];
  slp_regex_traits traits;
  static const char *const all[] = {"", "b$", "c|d", "()"};
  mem = slp_mem_new(NULL, NULL);
  for (size_t from = 0; from < 2; from++) {
    slp_regex_init(&regex, mem);
    for (size_t i = from; i < 3; i++) CHECK_INT(slp_regex_add(&regex, all[i], 0, &traits, why), 0);
    matcher = slp_matcher_new(mem, &regex);
    CHECK_INT(find("xb", 2), 1);
    CHECK_INT(find("xd.", 3), 1);
    CHECK_INT(find("bx", 2), from == 0);
    slp_matcher_free(matcher);
    slp_regex_free(&regex);
  }
  slp_mem_drop(mem);
}

/* The last newline is the end of a text for $ and \\Z, and a byte like others for everything else. */
TEST(a_text_may_end_with_a_newline) {
  static const struct {
    const char *expression, *text;
    int is;
  } all[] = {{"a$", "a", 1},     {"a$", "a\n", 1},       {"a$", "a\n\n", 0},  {"a\\z", "a\n", 0},
             {"a\\Z", "a\n", 1}, {"a\\n$", "a\n", 1},    {"a$\\n", "a\n", 1}, {"^$", "\n", 1},
             {"a.$", "a\n", 0},  {"(?s)a.\\z", "a\n", 1}};
  for (size_t i = 0; i < SLP_COUNT(all); i++) {
    open_one(all[i].expression);
    if (find(all[i].text, strlen(all[i].text)) != all[i].is)
      CHECK_FAIL("%s in \"%s\"", all[i].expression, all[i].text);
    close_one();
  }
}
