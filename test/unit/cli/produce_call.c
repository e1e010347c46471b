/* produce_call.c - the request of PutRecords, and every kind of answer. */
#include "cli/produce_call.h"
#include "check.h"

#include <errno.h>
#include <sloop.h>

static slp_mem *mem;
static slp_put_call call;

static int answer(const char *text, size_t n) {
  const char *why = NULL;
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  slp_buf_add_z(&b, text);
  call.n = n;
  int r = slp_put_answer(&b, &call, &why);
  CHECK((r != 0) == (why != NULL));
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return r;
}

TEST(a_request) {
  slp_put_record one = {.key = SLP_STR("k\"\xc3\xbc"), .data = SLP_STR("\xff"), .hash_key = SLP_STR("7")},
                 two = {.key = SLP_STR("l"), .data = SLP_STR("")};
  slp_put_call c = {.stream = "orders", .records = {&one, &two}, .n = 2};
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_put_request(&b, &c), 0);
  CHECK_STR(slp_buf_z(&b),
            "{\"StreamName\":\"orders\",\"Records\":[{\"Data\":\"/w==\",\"PartitionKey\":"
            "\"k\\\"\xc3\xbc\",\"ExplicitHashKey\":\"7\"},{\"Data\":\"\",\"PartitionKey\":\"l\"}]}");
  slp_buf_clear(&b);
  c = (slp_put_call){.stream = "arn:aws:kinesis:x", .records = {&two}, .n = 1};
  CHECK_INT(slp_put_request(&b, &c), 0);
  CHECK_STR(slp_buf_z(&b),
            "{\"StreamARN\":\"arn:aws:kinesis:x\",\"Records\":[{\"Data\":\"\",\"PartitionKey\":\"l\"}]}");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(answers) {
  CHECK_INT(answer("{\"FailedRecordCount\":0,\"Records\":[{\"SequenceNumber\":\"1\",\"ShardId\":\"s\"}]}", 1),
            0);
  CHECK(call.outcomes[0] == SLP_FINE && !call.why[0] && call.shards[0].n == 1);
  /* kinesis-mock writes what is absent as null */
  CHECK_INT(
      answer("{\"Records\":[{\"SequenceNumber\":\"1\",\"ErrorCode\":null,\"ErrorMessage\":null},"
             "{\"ErrorCode\":\"ProvisionedThroughputExceededException\",\"ErrorMessage\":\"Rate\\n\"},"
             "{\"ErrorCode\":\"InternalFailure\",\"ErrorMessage\":\"no\"}],\"EncryptionType\":\"NONE\"}",
             3),
      0);
  CHECK_INT(call.outcomes[0], SLP_FINE);
  CHECK_INT(call.outcomes[1], SLP_THROTTLE);
  CHECK_INT(call.outcomes[2], SLP_TRANSIENT);
  CHECK_STR(call.why, "ProvisionedThroughputExceededException: Rate?");
  CHECK_INT(answer("{\"Records\":[{\"ErrorCode\":\"X\"}]}", 1), 0);
  CHECK_INT(call.outcomes[0], SLP_TRANSIENT); /* nobody knows it: it is put again */
  CHECK_STR(call.why, "X: ");
  /* kinesis-mock says so of a record that is too large for the stream */
  CHECK_INT(
      answer("{\"Records\":[{\"ErrorCode\":\"InternalFailure\"},{\"ErrorCode\":\"InvalidArgumentException\","
             "\"ErrorMessage\":\"too large\"},{\"ErrorCode\":\"KMSDisabledException\"}]}",
             3),
      0);
  CHECK_INT(call.outcomes[1], SLP_REFUSED);
  CHECK_INT(call.outcomes[2], SLP_ACCESS);
  CHECK_STR(call.why, "InternalFailure: ");
}

/* Two records of one call may be refused for two reasons. */
TEST(each_record_has_its_own_words) {
  static const char text[] =
      "{\"Records\":[{\"ErrorCode\":\"InvalidArgumentException\",\"ErrorMessage\":\"too large\"},"
      "{\"SequenceNumber\":\"1\"},{\"ErrorCode\":\"ValidationException\",\"ErrorMessage\":\"a key\\u0007\"},"
      "{\"ErrorCode\":\"InvalidArgumentException\"}]}";
  static const char *const words[] = {"InvalidArgumentException: too large", "",
                                      "ValidationException: a key?", "InvalidArgumentException: "};
  char why[SLP_PUT_WHY];
  const char *wrong;
  slp_buf b;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
  slp_buf_add_z(&b, text);
  call.n = SLP_COUNT(words);
  CHECK_INT(slp_put_answer(&b, &call, &wrong), 0);
  for (size_t i = 0; i < SLP_COUNT(words); i++) {
    slp_put_call_why(&call, i, why);
    CHECK_STR(why, words[i]);
  }
  CHECK_STR(call.why, words[0]);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

/* After some failures it is certain that a call has put no record; after others it is not. */
TEST(a_call_that_was_not_sent_has_put_nothing) {
  static const int unsent[] = {-ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH, -ENETDOWN,
                               -3008,         -3000,         SLOOP_ETLS,   SLOOP_EPROXY};
  static const int open[] = {-ECONNRESET, -EPIPE, -ETIMEDOUT, SLOOP_EREMOTE, SLOOP_EPROTO};
  slp_fail f = {.class = SLP_TRANSIENT};
  for (size_t i = 0; i < SLP_COUNT(unsent); i++) {
    f.code = unsent[i];
    CHECK(!slp_put_call_may_have_put(&f));
  }
  for (size_t i = 0; i < SLP_COUNT(open); i++) {
    f.code = open[i];
    CHECK(slp_put_call_may_have_put(&f));
  }
  f = (slp_fail){.class = SLP_THROTTLE, .code = SLOOP_ETHROTTLE};
  CHECK(!slp_put_call_may_have_put(&f));
}

TEST(an_answer_that_proves_nothing_is_none) {
  static const char *const bad[] = {
      "",
      "{}",
      "[]",
      "{\"Records\":null}",
      "{\"Records\":[{}]}",
      "{\"Records\":[{\"ShardId\":\"s\"}]}",
      "{\"Records\":[{\"SequenceNumber\":7}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\"},{\"SequenceNumber\":\"2\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\"}]",
      "{\"Records\":[{\"SequenceNumber\":\"1\"}]} x",
      "{\"Records\":[]}",
      "{\"Records\":[7]}",
  };
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    if (answer(bad[i], 1) == 0) CHECK_FAIL("taken: %s", bad[i]);
}
