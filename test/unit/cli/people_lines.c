/* people_lines.c - a line of what is printed: nothing that others wrote moves a terminal or ends it. */
#include "cli/people_lines.h"
#include "check.h"

TEST(a_line_is_one_line_whatever_is_in_it) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"plain \xc3\xa9 \xe2\x82\xac", "[plain \xc3\xa9 \xe2\x82\xac]\n"},
      {"", "[]\n"},
      {"\x1b[2J\x1b]0;t\x07", "[?[2J?]0;t?]\n"},
      {"a\r\nb\tc\x7f", "[a??b?c?]\n"},
      {"\xc2\x9b\x33\x31m", "[?31m]\n"},
      {"\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xd8\x9c", "[????]\n"},
      {"\x9b\xff\xe2\x80", "[????]\n"},
  };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    slp_buf_clear(&b);
    CHECK_INT(slp_say_to(&b, "[%s]", cases[i].text), 0);
    CHECK_STR(slp_buf_z(&b), cases[i].want);
  }
  CHECK_INT(slp_say_to(&b, "%0995d", 1), SLP_ELIMIT);
  CHECK_INT(slp_buf_failed(&b), SLP_ELIMIT);
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
