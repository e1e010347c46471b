/* hide.c - what of a text is a secret's; secrets.c asks what messages hold in the end. */
#include "aws/hide.h"

#include "aws_quotes.h"

static const char token[] = "FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken";
static const slp_secrets sent = {{{token, sizeof token - 1}, {"2", 1}, {NULL, 0}, {"abcdefghijklmnop", 16}}};

static const char *hidden(const char *text, size_t least) {
  static char room[400];
  slp_hiding h;
  snprintf(room, sizeof room, "%s", text);
  slp_hiding_begin(&h, &sent);
  slp_hiding_put(&h, room, strlen(room), least);
  return room;
}

TEST(any_run_of_eight_is_hidden_and_no_shorter_one) {
  CHECK_STR(hidden("x FwoGZXIvYXdz y", 1), "x ************ y");
  CHECK_STR(hidden("x FwoGZXIv", 1), "x ********");
  CHECK_STR(hidden("x FwoGZXI FwoGZXI", 1), "x FwoGZXI FwoGZXI");
  CHECK_STR(hidden("cd==TheRest, then RestOfTheToken", 1), "***********, then **************");
  CHECK_STR(hidden("FwoGZXIvYXdz-BYaDH/ab+", 1), "************-*********");
  CHECK_STR(hidden("", 1), "");
}

TEST(however_it_is_escaped) {
  CHECK_STR(hidden("YaDH\\/ab+cd=", 1), "************");
  CHECK_STR(hidden("YaDH%2Fab%2bcd%3D.", 1), "*****************.");
  CHECK_STR(hidden("YaDH\\u002fab\\u002Bcd=", 1), "*********************");
  CHECK_STR(hidden("%46%77%6f%47%5A%58%49%76!", 1), "************************!");
  CHECK_STR(hidden("YaDH%6", 1), "YaDH%6"); /* too little */
  CHECK_STR(hidden("\\u00", 1), "\\u00");   /* no escape */
  CHECK_STR(hidden("\\", 1), "\\");
  CHECK_STR(hidden("%\\u1234%g0", 1), "%\\u1*34%g0");
}

TEST(short_secrets_are_found_whole_and_where_they_are_asked_for) {
  CHECK_STR(hidden("no 2, 22", 1), "no *, **");
  CHECK_STR(hidden("no 2 %32 \\2", 1), "no * *** **");
  CHECK_STR(hidden("no 2", SLP_SECRET_RUN), "no 2");
  CHECK_STR(hidden("abcdefgh FwoGZXIvYX", 17), "abcdefgh **********");
}

TEST(every_way_to_quote_it) {
  char text[QUOTE_ROOM];
  for (int as = 0; as < QUOTES; as++) {
    for (size_t cut = 0; cut < 60; cut++) {
      quote(text, token, as, 5);
      if (cut + 5 < strlen(text)) text[strlen(text) - cut] = 0;
      slp_hide_text(&sent, text, strlen(text));
      quotes_nothing(text, token, "hidden");
      CHECK(strncmp(text, "ppppp", 5) == 0);
    }
  }
}

/* "metadata" and "container" are our words, though a token may have them too. */
TEST(words_of_ours_stay_in_a_message) {
  static const slp_secrets made_up = {{SLP_STR("the-container-token-of-metadata")}};
  char text[100];
  snprintf(text, sizeof text, "no metadata of the container: container-t");
  slp_hide(&made_up, text);
  CHECK_STR(text, "no metadata of the container: container-t");
  snprintf(text, sizeof text, "a container: container-to, -token-of-meta");
  slp_hide(&made_up, text);
  CHECK_STR(text, "a container: ************, **************");
}

TEST(all_texts_of_a_failure) {
  slp_fail f;
  slp_fail_clear(&f);
  slp_fail_set(&f, SLP_TRANSIENT, -1, "the answer 2 of %s", token);
  snprintf(f.request_id, sizeof f.request_id, "%s", token + 10);
  snprintf(f.aws_code, sizeof f.aws_code, "%s", "abcdefghijklm");
  slp_hide_fail(&sent, &f);
  CHECK(strncmp(f.message, "the answer 2 of ***", 19) == 0 &&
        strspn(f.message + 16, "*") == sizeof token - 1);
  CHECK_INT(strspn(f.request_id, "*"), sizeof token - 11);
  CHECK_STR(f.aws_code, "*************");
  CHECK_INT(f.class, SLP_TRANSIENT);
}

TEST(is_it_in_there) {
  CHECK(slp_secret_in(&sent, SLP_STR("x.YaDH%2Fab+cd")));
  CHECK(!slp_secret_in(&sent, SLP_STR("us-east-2")));
  CHECK(!slp_secret_in(&(slp_secrets){{{NULL, 0}}}, SLP_STR("us-east-2")));
}
