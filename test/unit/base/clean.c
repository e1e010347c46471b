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
