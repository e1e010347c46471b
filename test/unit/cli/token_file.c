/* token_file.c - files of tokens: ours, bloop's, other people's, damaged ones. */
#include "cli/token_file.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "check.h"

#define KINESIS(name) "arn:aws:kinesis:eu-west-1:1:stream/" name
#define TABLE(name) "arn:aws:dynamodb:eu-west-1:1:table/" name "/stream/2026-01-01T00:00:00.000"
#define TOKEN(arn, rest) "{\"stream_arn\":\"" arn "\",\"active\":[],\"shards\":[]" rest "}"

static int belongs(const char *stream, const char *arn) { return slp_token_belongs(stream, slp_str_of(arn)); }

TEST(a_stream_is_known_by_every_name_it_has) {
  CHECK_INT(belongs("orders", KINESIS("orders")), 1);
  CHECK_INT(belongs(KINESIS("orders"), KINESIS("orders")), 1);
  CHECK_INT(belongs("orders", KINESIS("orders2")), 0);
  CHECK_INT(belongs("orders2", KINESIS("orders")), 0);
  CHECK_INT(belongs("orders", TABLE("orders")), 0);
  CHECK_INT(belongs("dynamodb:orders", TABLE("orders")), 1);
  CHECK_INT(belongs("dynamodb:order", TABLE("orders")), 0);
  CHECK_INT(belongs("dynamodb:orders", KINESIS("orders")), 0);
  CHECK_INT(belongs("arn:aws:dynamodb:eu-west-1:1:table/orders", TABLE("orders")), 1);
  CHECK_INT(belongs("arn:aws:dynamodb:eu-west-1:1:table/order", TABLE("orders")), 0);
  CHECK_INT(belongs("arn:aws:dynamodb:eu-west-2:1:table/orders", TABLE("orders")), 0);
  CHECK_INT(belongs("arn:aws-cn:kinesis:cn-north-1:1:stream/x", "arn:aws-cn:kinesis:cn-north-1:1:stream/x"),
            1);
  CHECK_INT(belongs("orders", "orders"), 1);
  CHECK_INT(belongs("orders", "something"), -1);
}

static char path[] = "/tmp/tokens-XXXXXX";
static char why[SLP_TOKEN_WHY];
static const char *const streams[] = {"orders", "dynamodb:customers"};
static const char *tokens[2];
static slp_mem *mem;
static slp_buf text;

static int others; /* 1: tokens of other streams are left out */

static int read_file(const char *content, size_t n) {
  if (!mem) {
    mem = slp_mem_new(NULL, NULL);
    slp_buf_init(&text, mem, 1 << 20);
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
  }
  slp_buf_free(&text);
  FILE *f = fopen(path, "w");
  CHECK(f && fwrite(content, 1, strlen(content), f) == strlen(content));
  fclose(f);
  int r = slp_tokens_read(path, streams, n, others, &text, tokens, why);
  unlink(path);
  if (r == 0 && !others) CHECK_STR(why, "");
  if (r == SLP_EINVAL && !strstr(why, path)) CHECK_FAIL("\"%s\" does not name the file", why);
  return r;
}

TEST(one_stream) {
  CHECK_INT(read_file(TOKEN(KINESIS("orders"), "") "\n", 1), 0);
  CHECK_STR(tokens[0], TOKEN(KINESIS("orders"), "")); /* without the blanks behind it */
  CHECK_INT(read_file(TOKEN(KINESIS("orders"), ""), 1), 0);
  CHECK_INT(read_file("\n" TOKEN(KINESIS("orders"), ",\"more\":{\"a\":[null]}") "\r\n\n", 1), 0);
  /* as json.dump(..., indent=1) writes it */
  CHECK_INT(
      read_file("{\n \"stream_arn\": \"" KINESIS("orders") "\",\n \"active\": [],\n \"shards\": []\n}", 1),
      0);
  CHECK(tokens[0] && strstr(tokens[0], "\"active\""));
  /* the library judges a token whose ARN has an unknown form */
  CHECK_INT(read_file(TOKEN("local", ""), 1), 0);
  CHECK(tokens[0] != NULL);
}

TEST(several_in_any_order) {
  CHECK_INT(read_file(TOKEN(TABLE("customers"), "") "\n" TOKEN(KINESIS("orders"), "") "\n", 2), 0);
  CHECK_STR(tokens[0], TOKEN(KINESIS("orders"), ""));
  CHECK_STR(tokens[1], TOKEN(TABLE("customers"), ""));
  CHECK_INT(read_file(TOKEN(TABLE("customers"), "") "\n", 2), 0);
  CHECK(!tokens[0] && tokens[1]);
}

TEST(tokens_of_streams_that_are_gone_are_left_out_if_that_is_wanted) {
  others = 1;
  CHECK_INT(read_file(TOKEN(KINESIS("gone"), "") "\n" TOKEN(KINESIS("orders"), "") "\n", 2), 0);
  CHECK(tokens[0] && !tokens[1]);
  CHECK(strstr(why, "the position of " KINESIS("gone") " is dropped: no such stream is there") != NULL);
  CHECK_INT(read_file(TOKEN(KINESIS("orders"), "") "\n", 2), 0);
  CHECK_STR(why, "");
  CHECK_INT(read_file("hello\n", 2), SLP_EINVAL); /* what is no token is still refused */
}

static void refused(const char *content, size_t n, const char *part) {
  CHECK_INT(read_file(content, n), SLP_EINVAL);
  if (!strstr(why, part)) CHECK_FAIL("\"%s\" lacks \"%s\"", why, part);
}

TEST(what_is_wrong_is_said) {
  refused("", 1, "empty");
  refused(" \n", 1, "empty");
  refused("hello\n", 1, "line 1 is not a token");
  refused("{}", 1, "line 1 is not a token");
  refused("[]", 1, "line 1 is not a token");
  refused("{\"stream_arn\":\"x\"}", 1, "is not a token");
  refused("{\"stream_arn\":7,\"shards\":[]}", 1, "is not a token");
  refused(TOKEN(KINESIS("orders"), "") "\n\n" TOKEN(TABLE("customers"), "") "x", 2, "line 3 is not a token");
  refused(TOKEN(KINESIS("other"), ""), 1, "belongs to " KINESIS("other") ", which is not the stream to read");
  refused(TOKEN(KINESIS("other"), ""), 2, "not among the streams");
  refused(TOKEN("local", ""), 2, "not among the streams");
  refused(TOKEN(KINESIS("orders"), "") "\n" TOKEN(KINESIS("orders"), ""), 2, "two tokens of orders");
  static const char whole[] = TOKEN(KINESIS("orders"), "");
  for (size_t cut = 1; cut < sizeof whole - 1; cut++) { /* cut off anywhere */
    char part[sizeof whole];
    memcpy(part, whole, cut);
    part[cut] = 0;
    refused(part, 1, "is not a token");
  }
}

TEST(no_file_is_no_failure) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&text, mem, 1 << 20);
  CHECK_INT(slp_tokens_read("/nonexistent/x", streams, 2, 0, &text, tokens, why), SLP_ENOENT);
  CHECK(!tokens[0] && !tokens[1]);
  CHECK_INT(slp_tokens_read("/tmp", streams, 2, 0, &text, tokens, why), SLP_EINVAL);
  CHECK(strstr(why, "/tmp: "));
}

TEST(a_machine_without_descriptors_is_no_wrong_name) {
  struct rlimit before, none;
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 3;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
  slp_buf_init(&text, mem, 1 << 20);
  CHECK_INT(slp_tokens_read("/tmp/token", streams, 2, 0, &text, tokens, why), -EMFILE);
  char want[100];
  snprintf(want, sizeof want, "can't read /tmp/token: %s", strerror(EMFILE));
  CHECK_STR(why, want);
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0); /* sanitizers look round at the end */
}
