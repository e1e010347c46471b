/* clean.c - what text from outside loses, and what it keeps. */
#include "base/clean.h"
#include "check.h"

static const char *cleaned(const char *text) {
  static char room[200];
  snprintf(room, sizeof room, "%s", text);
  room[slp_clean(room, strlen(room))] = 0;
  return room;
}

TEST(controls_and_what_turns_a_line_become_a_mark) {
  CHECK_STR(cleaned("a\x1b[31m\r\n\tb\x7f"), "a?[31m???b?");
  CHECK_STR(cleaned("\xc2\x9b"
                    "31m \xc2\x85 \xc2\xa0"),
            "?31m ? \xc2\xa0");
  CHECK_STR(cleaned("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f"), "??????");
  CHECK_STR(cleaned("\x9b"
                    "31m \xff \xc3"),
            "?31m ? ?"); /* no UTF-8; 0x9b moves some terminals */
  CHECK_STR(cleaned("\xe0\x80\x9b \xed\xa0\x80 \xf4\x90\x80\x80"), "??? ??? ????");
}

TEST(everything_else_stays) {
  static const char *const fine[] = {"", "plain ~", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x80\x93",
                                     "\xef\xbf\xbd"};
  for (size_t i = 0; i < SLP_COUNT(fine); i++) CHECK_STR(cleaned(fine[i]), fine[i]);
}

TEST(ids_of_shards_have_an_alphabet_and_a_length) {
  char longest[130];
  memset(longest, 'a', 129);
  CHECK(slp_is_shard_id((slp_str){longest, 128}) && !slp_is_shard_id((slp_str){longest, 129}));
  CHECK(slp_is_shard_id(SLP_STR("shardId-00000001695097258468-a.b_C9")));
  for (int c = 0; c < 256; c++) {
    char id[] = {'s', (char)c};
    int fine = c < 128 && (strchr("_.-", c)
                               ? c != 0
                               : (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    CHECK_INT(slp_is_shard_id((slp_str){id, 2}), fine);
  }
  CHECK(!slp_is_shard_id(SLP_STR("")));
}
