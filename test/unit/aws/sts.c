/* sts.c - one question to STS by itself; provider_profile.c and provider_web.c have the rest. */
#include "aws/sts.h"

#include "aws_sources.h"
#include "sloop.h"

static slp_sts sts;
static int done;

static void on_done(slp_sts *s) {
  CHECK(s == &sts);
  done++;
}

static void open_it(void) {
  static const fake_pair env[] = {{"AWS_REGION", "eu-west-1"}, {NULL, NULL}};
  sources_open(env, NULL, NULL);
  slp_sts_init(&sts, aws);
  sts.role_arn = "r";
  sts.session = "me";
  sts.sign_with = (slp_sign_keys){SLP_STR("K"), SLP_STR("S"), {NULL, 0}};
  sts.on_done = on_done;
  done = 0;
}

static void close_it(void) {
  slp_sts_free(&sts);
  sources_close();
}

TEST(keys_are_there_until_the_next_question) {
  open_it();
  fake_script(&f, 200, STS_XML("AssumeRole", "1", SOON));
  slp_sts_send(&sts);
  CHECK_INT(done, 0);
  fake_run(&f, 60000000);
  CHECK_INT(done, 1);
  CHECK_INT(sts.call.fail.class, SLP_FINE);
  CHECK(slp_str_is(sts.keys.key_id, "ASIA1") && slp_str_is(sts.keys.secret, "s+1/=") &&
        slp_str_is(sts.keys.token, "t+1"));
  CHECK_INT(sts.keys.expires_at_ms, FAKE_WALL_MS + 3600000);
  fake_script(&f, 403, "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>");
  slp_sts_send(&sts);
  CHECK(!sts.keys.key_id.p);
  fake_run(&f, 60000000);
  CHECK_INT(done, 2);
  CHECK_INT(sts.call.fail.class, SLP_ACCESS);
  CHECK_STR(sts.call.fail.aws_code, "AccessDenied");
  close_it();
}

TEST(a_token_that_fills_the_form_is_refused_here) {
  static char token[40000];
  memset(token, '/', sizeof token); /* three bytes each */
  open_it();
  sts.web_token = (slp_str){token, sizeof token};
  slp_sts_send(&sts);
  fake_run(&f, 1000000);
  CHECK_INT(done, 1);
  CHECK_INT(sts.call.fail.class, SLP_REFUSED);
  CHECK_INT(f.sent_n, 0);
  close_it();
}

TEST(a_code_of_a_second_factor_is_hidden_in_what_is_told) {
  open_it();
  sts.mfa_serial = "arn:aws:iam::1:mfa/me";
  sts.mfa_code = "271828";
  fake_script(&f, 403,
              "<ErrorResponse><Error><Code>AccessDenied</Code><Message>the code 271828 was used before"
              "</Message></Error></ErrorResponse>");
  slp_sts_send(&sts);
  fake_run(&f, 60000000);
  CHECK_INT(done, 1);
  CHECK_STR(sts.call.fail.aws_code, "AccessDenied");
  CHECK(strstr(sts.call.fail.message, "the code ****** was used before"));
  close_it();
}

TEST(cancelled_it_is_silent) {
  open_it();
  fake_script(&f, 200, "")->hang = 1;
  slp_sts_send(&sts);
  fake_run(&f, 1000000);
  slp_sts_cancel(&sts);
  fake_run(&f, 60000000);
  CHECK_INT(done, 0);
  CHECK(!sts.body.p && !sts.answer.p && !sts.text.p);
  close_it();
}
