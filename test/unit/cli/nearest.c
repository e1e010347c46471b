/* nearest.c - what is suggested for a name that does not exist. */
#include "cli/nearest.h"
#include "check.h"

static const char *const names[] = {"leases", "lag-over", "list",   "release", "reset",
                                    "since",  "until",    "unique", "x"};

static const char *suggested(const char *word) {
  static char text[200];
  slp_nearest t;
  slp_nearest_begin(&t, slp_str_of(word));
  for (size_t i = 0; i < SLP_COUNT(names); i++) slp_nearest_offer(&t, names[i]);
  slp_nearest_text(&t, "--", text, sizeof text);
  return text;
}

TEST(a_letter_too_many_too_few_wrong_or_swapped) {
  CHECK_STR(suggested("leasess"), "; did you mean --leases?");
  CHECK_STR(suggested("unti"), "; did you mean --until?");
  CHECK_STR(suggested("sinca"), "; did you mean --since?");
  CHECK_STR(suggested("lsit"), "; did you mean --list?");
  CHECK_STR(suggested("UNIQUE"), "; did you mean --unique?");
}

TEST(the_beginning_of_a_name_comes_before_its_middle) {
  CHECK_STR(suggested("lea"), "; did you mean --leases or --release?");
  CHECK_STR(suggested("eas"), "; did you mean --leases or --release?");
}

TEST(what_is_like_nothing_has_no_suggestion) {
  CHECK_STR(suggested("frobnicate"), "");
  CHECK_STR(suggested(""), "");
  CHECK_STR(suggested("y"), "");
  CHECK_STR(suggested("-"), "");
}

TEST(at_most_three_the_best_first_and_only_those_that_fit) {
  static const char *const many[] = {"orders-4", "orders-2", "a-orders", "orderz", "other"};
  char text[200];
  slp_nearest t;
  slp_nearest_begin(&t, SLP_STR("orders"));
  for (size_t i = 0; i < SLP_COUNT(many); i++) slp_nearest_offer(&t, many[i]);
  slp_nearest_text(&t, "", text, sizeof text);
  CHECK_STR(text, "; did you mean orders-4, orders-2 or orderz?");
  for (size_t room = 1; room < sizeof text; room++) {
    slp_nearest_text(&t, "", text, room);
    CHECK(strlen(text) < room);
    CHECK(!*text || text[strlen(text) - 1] == '?' || strlen(text) == room - 1);
  }
  slp_nearest_text(&t, "", text, 30);
  CHECK_STR(text, "; did you mean orders-4?");
}

TEST(a_name_from_outside_moves_no_terminal) {
  char text[200], longest[SLP_NEAREST_BYTES * 2];
  slp_nearest t;
  slp_nearest_begin(&t, SLP_STR("orders"));
  slp_nearest_offer(&t, "orders\033[2J");
  memset(longest, 'o', sizeof longest);
  longest[sizeof longest - 1] = 0;
  slp_nearest_offer(&t, longest);
  slp_nearest_text(&t, "", text, sizeof text);
  CHECK_STR(text, "; did you mean orders?[2J?");
}
