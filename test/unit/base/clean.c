/* clean.c - what text from outside loses, and what it keeps. */
#include "base/clean.h"

#include <stdlib.h>

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

TEST(the_quick_look_misses_none) {
  size_t unsafe = 0, looked_at = 0;
  for (uint32_t c = 0; c < 0x10000; c++) { /* above there are none: their first bytes are others */
    char u[3] = {(char)c};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    if (n == 2) u[0] = (char)(0xc0 | c >> 6), u[1] = (char)(0x80 | (c & 63));
    if (n == 3)
      u[0] = (char)(0xe0 | c >> 12), u[1] = (char)(0x80 | (c >> 6 & 63)), u[2] = (char)(0x80 | (c & 63));
    if (c >= 0xd800 && c < 0xe000) continue;
    unsafe += slp_unsafe_length(u, n) > 0;
    looked_at += slp_may_be_unsafe(u[0]) != 0;
    if (slp_unsafe_length(u, n) && !slp_may_be_unsafe(u[0])) CHECK_FAIL("U+%04X", c);
  }
  CHECK(unsafe == 32 + 33 + 3 + 2 + 5 + 4 && looked_at < 5000); /* no text of letters is looked at */
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

TEST(no_url_tells_its_password) {
  CHECK_STR(cleaned("http://user:secret@host:1/a?b is down"), "http://***@host:1/a?b is down");
  CHECK_STR(cleaned("\"https://token@h\", then socks5h://a:b@c: no"),
            "\"https://***@h\", then socks5h://***@c: no");
  CHECK_STR(cleaned("http://u:p@ss@host"), "http://***@host");
  CHECK_STR(cleaned("http://user:p\xc3\xa4ss@host"), "http://***@host");
  CHECK_STR(cleaned("http://user:\xc3\xa4@host"), "http://***@host");
  CHECK_STR(cleaned("http://a@h http://ab@h http://@h"), "http://*@h http://**@h http://@h");
  CHECK_STR(cleaned("http://user:secr"), "http://***"); /* cut off */
  CHECK_STR(cleaned("\"http://user:secr\" is none"), "\"http://***\" is none");
  CHECK_STR(cleaned("://://a:b@c"), "://://***@c");
  CHECK_STR(cleaned("http://user:\x1b[31m@host"), "http://user:?[31m@host");
  static const char *const fine[] = {"http://host:8080/a@b",
                                     "http://host:8080",
                                     "http://host:",
                                     "http://[::1]:80/ [::1]:x",
                                     "http://host/?x=a:b@c",
                                     "http:// a:b@c",
                                     "mail@host, key:user@host",
                                     "set it: http://USER:PASSWORD@host:3128, percent-encoded",
                                     "it looks like http://HOST:PORT",
                                     "://",
                                     "://@"};
  for (size_t i = 0; i < SLP_COUNT(fine); i++) {
    CHECK_STR(cleaned(fine[i]), fine[i]);
    CHECK(!slp_has_password(fine[i]));
  }
  CHECK(slp_has_password("a=http://h and http://x@h"));
}

/* The first unsafe character of random texts, at every place in a block of 16 bytes, as found one by one. */
TEST(the_run_without_an_unsafe_character_ends_at_the_first) {
  static const char *const parts[] = {
      "a",  "~",    " ",        "\xc3\xa9",     "\xe2\x82\xac", "\xd8\xa1", "\xc2\xa0", "\xf0\x9f\x98\x80",
      "\n", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xd8\x9c"};
  uint32_t seed = 3;
  size_t whole = 0, ended = 0;
  for (int round = 0; round < 20000; round++) {
    char text[120];
    size_t n = 0, want = SIZE_MAX;
    while (n < 100 && (seed = seed * 1103515245u + 12345u) >> 16 & 63) {
      uint32_t pick = seed >> 22;
      const char *part = parts[pick % 97 == 0 ? pick % 5 + 8 : pick % 8];
      if (want == SIZE_MAX && slp_unsafe_length(part, strlen(part))) want = n;
      memcpy(text + n, part, strlen(part));
      n += strlen(part);
    }
    char *exact = malloc(n + 1); /* what is read behind it shows with a sanitizer */
    memcpy(exact, text, n);
    CHECK_INT(slp_harmless_run(exact, n), want == SIZE_MAX ? n : want);
    free(exact);
    whole += want == SIZE_MAX;
    ended += want != SIZE_MAX;
  }
  CHECK(whole > 1000 && ended > 1000);
}
