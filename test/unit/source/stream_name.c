/* stream_name.c - what the option `stream` may be, and what it names. */
#include "source/stream_name.h"

#include "check.h"
#include "sloop.h"

static slp_stream_name named;
static const char *why;

static int read_z(const char *text) { return slp_stream_name_read(slp_str_of(text), &named, &why); }

TEST(names_and_arns_of_both_services) {
  static const struct {
    const char *text;
    slp_names what;
    const char *name;
    int has_arn;
  } good[] = {
      {"orders", SLP_NAMES_KINESIS, "orders", 0},
      {"a", SLP_NAMES_KINESIS, "a", 0},
      {"my_stream.1-A", SLP_NAMES_KINESIS, "my_stream.1-A", 0},
      {"dynamodb", SLP_NAMES_KINESIS, "dynamodb", 0},
      {"arn:aws:kinesis:us-east-1:123456789012:stream/orders", SLP_NAMES_KINESIS, "orders", 1},
      {"arn:aws-cn:kinesis:cn-north-1:1:stream/x", SLP_NAMES_KINESIS, "x", 1},
      {"dynamodb:Orders", SLP_NAMES_DYNAMODB, "Orders", 0},
      {"dynamodb:a.b", SLP_NAMES_DYNAMODB, "a.b", 0},
      {"arn:aws:dynamodb:us-east-1:123456789012:table/Orders", SLP_NAMES_DYNAMODB, "Orders", 1},
      {"arn:aws:dynamodb:us-east-1:123456789012:table/Orders/stream/2026-01-02T03:04:05.678",
       SLP_NAMES_DYNAMODB, "Orders", 1},
      {"arn:aws-cn:dynamodb:cn-north-1:1:table/Orders", SLP_NAMES_DYNAMODB, "Orders", 1},
      {"arn:aws-us-gov:dynamodb:us-gov-west-1:1:table/Orders/stream/x", SLP_NAMES_DYNAMODB, "Orders", 1},
      {"arn:aws:dynamodb:ddblocal:000000000000:table/Orders/stream/2026-01-02T03:04:05.678",
       SLP_NAMES_DYNAMODB, "Orders", 1}, /* DynamoDB Local */
  };
  for (size_t i = 0; i < SLP_COUNT(good); i++) {
    if (read_z(good[i].text)) CHECK_FAIL("%s: %s", good[i].text, why);
    CHECK_INT(named.what, good[i].what);
    CHECK_MEM(named.name.p, named.name.n, good[i].name, strlen(good[i].name));
    if (good[i].has_arn)
      CHECK_MEM(named.arn.p, named.arn.n, good[i].text, strlen(good[i].text));
    else
      CHECK(named.arn.p == NULL);
  }
}

TEST(queues_are_named) {
  static const char *const queues[] = {"arn:aws:kinesis:us-east-1:123456789012:queue/q",
                                       "arn:aws:sqs:us-east-1:123456789012:q"};
  for (size_t i = 0; i < SLP_COUNT(queues); i++) {
    CHECK_INT(read_z(queues[i]), SLOOP_EOPTION);
    CHECK(strstr(why, "a queue, which has no shards") != NULL);
  }
}

TEST(everything_else_is_refused_in_words) {
  static const char *const bad[] = {"",
                                    "a b",
                                    "a/b",
                                    "dynamodb:",
                                    "dynamodb:ab",
                                    "dynamodb:a b c",
                                    "dynamodb:arn:aws:dynamodb:us-east-1:1:table/Orders",
                                    "arn:",
                                    "arn:aws",
                                    "arn:aws:s3:::bucket",
                                    "arn:aws:sqs:us-east-1:1:stream/n",
                                    "arn:aws:kinesis:us-east-1:1:stream/",
                                    "arn:aws:kinesis:us-east-1:1:table/Orders",
                                    "arn:aws:kinesis::1:stream/n",
                                    "arn::kinesis:us-east-1:1:stream/n",
                                    "arn:aws:kinesis:r:1:stream/n/consumer/c:1",
                                    "arn:aws:kinesis:r\n:1:stream/n",
                                    "arn:aws:dynamodb:us-east-1:1:stream/Orders",
                                    "arn:aws:dynamodb:us-east-1:1:table/",
                                    "arn:aws:dynamodb:us-east-1:1:table/ab",
                                    "arn:aws:dynamodb:us-east-1:1:table/Orders/",
                                    "arn:aws:dynamodb:us-east-1:1:table/Orders/stream",
                                    "arn:aws:dynamodb:us-east-1:1:table/Orders/stream/",
                                    "arn:aws:dynamodb:us-east-1:1:table/Orders/stream/x/y",
                                    "arn:aws:dynamodb:us-east-1:1:table/Orders/index/x",
                                    "arn:aws:dynamodb:us-east-1:1"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    why = NULL;
    if (read_z(bad[i]) != SLOOP_EOPTION) CHECK_FAIL("%s was taken", bad[i]);
    CHECK(why && why[0]);
  }
}

TEST(the_longest_names) {
  char text[700];
  for (int extra = 0; extra < 2; extra++) {
    memset(text, 'x', sizeof text);
    CHECK_INT(slp_stream_name_read((slp_str){text, 128 + (size_t)extra}, &named, &why),
              extra ? SLOOP_EOPTION : 0);
    memcpy(text, "dynamodb:", 9);
    CHECK_INT(slp_stream_name_read((slp_str){text, 9 + 255 + (size_t)extra}, &named, &why),
              extra ? SLOOP_EOPTION : 0);
    int n = snprintf(text, sizeof text, "arn:aws:dynamodb:us-east-1:1:table/Orders/stream/");
    memset(text + n, 'x', sizeof text - (size_t)n);
    CHECK_INT(slp_stream_name_read((slp_str){text, SLP_STREAM_ARN_MAX + (size_t)extra}, &named, &why),
              extra ? SLOOP_EOPTION : 0);
  }
}

TEST(a_consumer_is_a_name_or_an_arn) {
  slp_consumer_name c;
  char text[SLP_CONSUMER_ARN_MAX + 100];
  CHECK_INT(slp_consumer_name_read(SLP_STR("stream-tail"), &c, &why), 0);
  CHECK_TEXT(c.name, "stream-tail");
  CHECK(!c.stream_arn.p);
  CHECK_INT(slp_consumer_name_read(
                SLP_STR("arn:aws-cn:kinesis:cn-north-1:12:stream/a/consumer/me.x:1700000000"), &c, &why),
            0);
  CHECK_TEXT(c.name, "me.x");
  CHECK_TEXT(c.stream_arn, "arn:aws-cn:kinesis:cn-north-1:12:stream/a");
  static const char *const bad[] = {"",
                                    "a/b",
                                    "arn:aws:kinesis:r:1:stream/a",
                                    "arn:aws:kinesis:r:1:stream/a/consumer/me",
                                    "arn:aws:kinesis:r:1:stream/a/consumer/me:",
                                    "arn:aws:kinesis:r:1:stream/a/consumer/me:x",
                                    "arn:aws:kinesis:r:1:stream/a/consumer/:1",
                                    "arn:aws:kinesis:r:1:stream//consumer/me:1",
                                    "arn:aws:kinesis:r:1:stream/a/consumer/me:1:2",
                                    "arn:aws:dynamodb:r:1:table/abc/consumer/me:1",
                                    "arn:aws:kinesis::1:stream/a/consumer/me:1"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    if (slp_consumer_name_read(slp_str_of(bad[i]), &c, &why) != SLOOP_EOPTION) CHECK_FAIL("%s", bad[i]);
  int n = snprintf(text, sizeof text, "arn:aws:kinesis:r:1:stream/a/consumer/me:");
  memset(text + n, '1', sizeof text - (size_t)n);
  CHECK_INT(slp_consumer_name_read((slp_str){text, SLP_CONSUMER_ARN_MAX}, &c, &why), 0);
  CHECK_INT(slp_consumer_name_read((slp_str){text, SLP_CONSUMER_ARN_MAX + 1}, &c, &why), SLOOP_EOPTION);
}
