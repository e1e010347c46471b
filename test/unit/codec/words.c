/* words.c - command lines to words; test/contract/vectors compares with Python's shlex. */
#include "codec/words.h"

#include "check.h"

static const char *split(const char *line) {
  static char got[300];
  const char *why = "";
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf words;
  size_t n = 0;
  slp_buf_init(&words, mem, 200);
  int r = slp_words_split(slp_str_of(line), &words, &n, &why);
  got[0] = 0;
  const char *at = words.p;
  for (size_t i = 0; i < n && !r; i++, at += strlen(at) + 1) {
    strcat(got, "<");
    strcat(got, at);
    strcat(got, ">");
  }
  if (r) snprintf(got, sizeof got, "%d %s", r, why);
  slp_buf_free(&words);
  slp_mem_drop(mem);
  return got;
}

TEST(words) {
  CHECK_STR(split(""), "");
  CHECK_STR(split(" \t\r\n"), "");
  CHECK_STR(split("a"), "<a>");
  CHECK_STR(split("  a  b\tc\n"), "<a><b><c>");
  CHECK_STR(split("'a b' \"c d\""), "<a b><c d>");
  CHECK_STR(split("a'b'\"c\"d"), "<abcd>");
  CHECK_STR(split("'' \"\""), "<><>");
  CHECK_STR(split("a\\ b \\'"), "<a b><'>");
  CHECK_STR(split("'a\\b' \"a\\b\\\"\\\\\""), "<a\\b><a\\b\"\\>");
  CHECK_STR(split("\"it's\" '\"'"), "<it's><\">");
  CHECK_STR(split("a#b # c"), "<a#b><#><c>");
}

TEST(what_is_not_closed) {
  CHECK_STR(split("a 'b"), "-6001 a quote is not closed");
  CHECK_STR(split("\"b\\\""), "-6001 a quote is not closed");
  CHECK_STR(split("a\\"), "-6001 it ends with a backslash");
}

TEST(longer_than_its_room) {
  char line[400];
  memset(line, 'x', sizeof line - 1);
  line[sizeof line - 1] = 0;
  CHECK_STR(split(line), "-6002 ");
}
