/* kinesis.c - what is taken of the consumers registered with a stream. */
#include "aws/kinesis.h"
#include "check.h"

static int read_one(const char *name, const char *arn, const char **ret_why) {
  static slp_op_consumer op;
  static char body[4096];
  static slp_consumer_row rows[SLP_CONSUMERS_MAX];
  op = (slp_op_consumer){.what = SLP_CONSUMER_LIST, .rows = rows};
  int n = snprintf(body, sizeof body, "{\"Consumers\":[{\"ConsumerName\":\"%s\",\"ConsumerARN\":\"%s\"}]}",
                   name, arn);
  return slp_kinesis_read_consumer((slp_str){body, (size_t)n}, &op, ret_why);
}

TEST(a_consumer_has_a_name_and_an_arn_that_can_be_shown) {
  static const char good[] = "arn:aws:kinesis:us-east-1:000000000000:stream/s/consumer/app:1";
  static const char *const bad[] = {"\\u001b[2J", "a b", "\\u202e", "\xc2\x9b", "a\\nb", "a/b"};
  const char *why = "";
  char arn[100];
  CHECK_INT(read_one("my_app.2-x", good, &why), 0);
  CHECK_INT(read_one("", good, &why), 0); /* a server that leaves it out */
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(read_one(bad[i], good, &why), SLP_EBADDATA);
    CHECK_STR(why, "a consumer without a usable name or ARN");
    snprintf(arn, sizeof arn, "arn:aws:%s", bad[i]);
    CHECK_INT(read_one("app", arn, &why), i == 5 ? 0 : SLP_EBADDATA);
  }
}
