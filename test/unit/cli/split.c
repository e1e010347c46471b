/* split.c - records at delimiters, however the input is cut into pieces. */
#include "cli/split.h"
#include "check.h"

static slp_mem *mem;

/* Splits `text` fed in pieces of `size` bytes. Writes "record|record|" with "<n" for parts of a long one, and
 * "!" behind what had no delimiter. */
static void split(const char *text, size_t size, const char *delimiter, size_t max, char *ret, size_t room) {
  slp_splitter s;
  size_t at = 0, n = strlen(text);
  mem = slp_mem_new(NULL, NULL);
  slp_splitter_init(&s, mem, slp_str_of(delimiter), max);
  *ret = 0;
  for (;;) {
    /* each piece is a block of its own, so that sanitizers find a slice that points into an earlier piece */
    size_t now = slp_min_u64(size, n - at);
    char *piece = malloc(now + 1);
    slp_str left = {piece, now};
    memcpy(piece, text + at, now);
    at += now;
    for (int last = now == 0;;) {
      int kind = last ? slp_splitter_end(&s) : slp_splitter_next(&s, &left);
      CHECK(kind >= 0);
      if (kind == SLP_SPLIT_MORE) break;
      size_t end = strlen(ret);
      snprintf(ret + end, room - end, "%s%.*s%s", kind == SLP_SPLIT_RECORD ? "" : "<", (int)s.text.n,
               s.text.p,
               kind == SLP_SPLIT_LONG_PART ? ""
               : s.delimited               ? "|"
                                           : "!");
      if (last) break;
    }
    CHECK_INT(left.n, 0);
    free(piece);
    if (!now) break;
  }
  slp_splitter_free(&s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(any_pieces_give_the_same_records) {
  static const struct {
    const char *text, *delimiter, *want;
  } rows[] = {
      {"one\ntwo\n\nthree", "\n", "one|two||three!"},
      {"one\n", "\n", "one|"},
      {"", "\n", ""},
      {"a--b-c---d--", "--", "a|b-c|-d|"},
      {"aaa", "aa", "|a!"},
      {"xabcabcyab", "abc", "x||yab!"},
      {"abababc", "abc", "abab|"},
      {"whole\nfile\n", "", "whole\nfile\n!"},
  };
  char got[200];
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    for (size_t size = 1; size < 14; size++) {
      split(rows[i].text, size, rows[i].delimiter, 100, got, sizeof got);
      if (strcmp(got, rows[i].want) != 0)
        CHECK_FAIL("\"%s\" in pieces of %zu: \"%s\", not \"%s\"", rows[i].text, size, got, rows[i].want);
    }
}

/* Removes the marks of parts, so that only what came out counts. */
static void without(char *text, char c) {
  char *to = text;
  for (const char *p = text; *p; p++)
    if (*p != c) *to++ = *p;
  *to = 0;
}

TEST(a_long_record_comes_in_parts_and_the_next_one_is_whole) {
  char got[200];
  for (size_t size = 1; size < 30; size++) {
    split("ab\n0123456789012345\ncd", size, "\n", 5, got, sizeof got);
    CHECK(strchr(got, '<') > got && strncmp(got, "ab|<", 4) == 0);
    without(got, '<');
    CHECK_STR(got, "ab|0123456789012345|cd!");
    split("012345678901234--x--", size, "--", 5, got, sizeof got);
    without(got, '<');
    CHECK_STR(got, "012345678901234|x|");
    split("01234567", size, "\n", 5, got, sizeof got);
    CHECK(strchr(got, '<'));
    without(got, '<');
    CHECK_STR(got, "01234567!");
  }
}

TEST(records_are_numbered_and_long_ones_take_one_number) {
  slp_splitter s;
  mem = slp_mem_new(NULL, NULL);
  slp_splitter_init(&s, mem, SLP_STR("\n"), 4);
  slp_str piece = SLP_STR("a\n1234567");
  CHECK_INT(slp_splitter_next(&s, &piece), SLP_SPLIT_RECORD);
  CHECK_INT(s.number, 1);
  CHECK_INT(slp_splitter_next(&s, &piece), SLP_SPLIT_LONG_PART);
  CHECK_INT(s.number, 2);
  piece = SLP_STR("89");
  CHECK_INT(slp_splitter_next(&s, &piece), SLP_SPLIT_LONG_PART);
  piece = SLP_STR("x\nb\n");
  CHECK_INT(slp_splitter_next(&s, &piece), SLP_SPLIT_LONG_END);
  CHECK_INT(s.number, 2);
  CHECK_INT(slp_splitter_next(&s, &piece), SLP_SPLIT_RECORD);
  CHECK_INT(s.number, 3);
  CHECK_INT(slp_splitter_end(&s), SLP_SPLIT_MORE);
  slp_splitter_free(&s);
  slp_mem_drop(mem);
}
