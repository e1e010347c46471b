/* The lines of the MultiLangDaemon: cli/multilang_protocol.c. The expected lines are what Jackson writes of
 * that project's messages. */
#include "cli/multilang_protocol.h"

#include "check.h"

static slp_mem *mem;
static slp_buf b;

static const char *made(int r) {
  CHECK_INT(r, 0);
  const char *z = slp_buf_z(&b);
  slp_buf_cut(&b, 0);
  return z;
}

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 1 << 20);
}

TEST(what_is_said_to_a_child) {
  begin();
  CHECK_STR(
      made(slp_ml_put_initialize(&b, "shardId-000000000001", "TRIM_HORIZON", 0)),
      "{\"action\":\"initialize\",\"shardId\":\"shardId-000000000001\",\"sequenceNumber\":\"TRIM_HORIZON\","
      "\"subSequenceNumber\":0}\n");
  CHECK_STR(made(slp_ml_put_action(&b, SLP_ML_LEASE_LOST)), "{\"action\":\"leaseLost\"}\n");
  CHECK_STR(made(slp_ml_put_action(&b, SLP_ML_SHARD_ENDED)), "{\"action\":\"shardEnded\"}\n");
  CHECK_STR(made(slp_ml_put_action(&b, SLP_ML_SHUTDOWN_REQUESTED)), "{\"action\":\"shutdownRequested\"}\n");
  sloop_record_t r = {.seq = {"12", 2}, .sub = 3, .data = {"hi", 2}, .arrived_at_ms = 1700000000001};
  r.key = (sloop_str_t){"a\"\\/\n\t\x01\x1f\x7f\xc3\xa9\xff", 12};
  slp_ml_put_records_begin(&b);
  slp_ml_put_record(&b, &r, 1);
  r.arrived_at_ms = -1;
  r.key.len = 1;
  slp_ml_put_record(&b, &r, 0);
  CHECK_STR(made(slp_ml_put_records_end(&b, -1)),
            "{\"action\":\"processRecords\",\"records\":[{\"data\":\"aGk=\",\"partitionKey\":\"a\\\"\\\\/"
            "\\n\\t\\u0001"
            "\\u001F\x7f\xc3\xa9\xef\xbf\xbd\",\"sequenceNumber\":\"12\",\"approximateArrivalTimestamp\":"
            "1700000000001,"
            "\"subSequenceNumber\":3,\"action\":\"record\"},{\"data\":\"aGk=\",\"partitionKey\":\"a\","
            "\"sequenceNumber\":\"12\",\"approximateArrivalTimestamp\":null,\"subSequenceNumber\":3,"
            "\"action\":\"record\"}],\"millisBehindLatest\":null}\n");
  slp_ml_put_records_begin(&b);
  CHECK_STR(made(slp_ml_put_records_end(&b, 70)),
            "{\"action\":\"processRecords\",\"records\":[],\"millisBehindLatest\":70}\n");
  r.key.len = 0; /* a record without a key is told from one with an empty key */
  slp_ml_put_record(&b, &r, 1);
  r.flags = SLOOP_REC_KEYLESS;
  slp_ml_put_record(&b, &r, 0);
  CHECK_STR(
      made(slp_buf_failed(&b)),
      "{\"data\":\"aGk=\",\"partitionKey\":\"\",\"sequenceNumber\":\"12\",\"approximateArrivalTimestamp\":"
      "null,\"subSequenceNumber\":3,\"action\":\"record\"},{\"data\":\"aGk=\",\"partitionKey\":null,"
      "\"sequenceNumber\":\"12\",\"approximateArrivalTimestamp\":null,\"subSequenceNumber\":3,"
      "\"action\":\"record\"}");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

static slp_ml_message got;
static char line[300];

static slp_ml_kind kind_of(const char *z) {
  snprintf(line, sizeof line, "%s", z);
  slp_ml_read(line, strlen(line), &got);
  return got.kind;
}

TEST(what_a_child_says) {
  CHECK_INT(kind_of(""), SLP_ML_EMPTY);
  CHECK_INT(kind_of("\r"), SLP_ML_EMPTY);
  CHECK_INT(kind_of("{\"action\": \"status\", \"responseFor\": \"initialize\"}"), SLP_ML_STATUS);
  CHECK_TEXT(got.text, "initialize");
  CHECK_INT(kind_of("{\"responseFor\":\"x\",\"action\":\"status\"}\r"), SLP_ML_STATUS);
  CHECK_TEXT(got.text, "x");
  CHECK_INT(kind_of("{\"action\":\"status\",\"responseFor\":null}"), SLP_ML_STATUS);
  CHECK_INT(got.has_text, 0);
  CHECK_INT(kind_of("{\"action\":\"checkpoint\",\"sequenceNumber\":null,\"subSequenceNumber\":null}"),
            SLP_ML_CHECKPOINT);
  CHECK_INT(got.has_text || got.has_sub, 0);
  CHECK_INT(kind_of("{\"action\":\"checkpoint\",\"sequenceNumber\":\"49\"}"), SLP_ML_CHECKPOINT); /* Node's */
  CHECK_INT(got.has_sub, 0);
  CHECK_TEXT(got.text, "49");
  CHECK_INT(kind_of("{\"action\":\"checkpoint\",\"sequenceNumber\":49,\"subSequenceNumber\":\"-2\"}"),
            SLP_ML_CHECKPOINT);
  CHECK_TEXT(got.text, "49");
  CHECK_INT(got.sub, -2);
  CHECK_INT(kind_of("{\"action\":\"status\",\"responseFor\":\"initialize\",\"responseFor\":null}"),
            SLP_ML_STATUS);
  CHECK_INT(got.has_text || got.text.n, 0); /* of two the last one counts */
  CHECK_INT(kind_of("{\"action\":\"checkpoint\",\"subSequenceNumber\":7,\"subSequenceNumber\":null}"),
            SLP_ML_CHECKPOINT);
  CHECK_INT(got.has_sub || got.sub, 0);
  CHECK_INT(kind_of("{\"action\":\"leaseLost\"}"), SLP_ML_OTHER);
  static const char *const junk[] = {"hello",
                                     "{",
                                     "[]",
                                     "{\"action\":\"dance\"}",
                                     "{\"action\":null}",
                                     "{}",
                                     "{\"action\":\"status\"} x",
                                     "{\"action\":[\"status\"]}",
                                     "12",
                                     "{\"action\":\"checkpoint\",\"subSequenceNumber\":1.5}"};
  for (size_t i = 0; i < SLP_COUNT(junk); i++)
    if (kind_of(junk[i]) != SLP_ML_JUNK) CHECK_FAIL("%s", junk[i]);
}

TEST(the_answer_to_a_checkpoint_repeats_it) {
  begin();
  slp_ml_message m = {.kind = SLP_ML_CHECKPOINT};
  CHECK_STR(
      made(slp_ml_put_checkpoint(&b, &m, NULL)),
      "{\"action\":\"checkpoint\",\"sequenceNumber\":null,\"subSequenceNumber\":null,\"error\":null}\n");
  m = (slp_ml_message){.text = SLP_STR("49"), .has_text = 1, .has_sub = 1, .sub = 7};
  CHECK_STR(made(slp_ml_put_checkpoint(&b, &m, "ShutdownException")),
            "{\"action\":\"checkpoint\",\"sequenceNumber\":\"49\",\"subSequenceNumber\":7,\"error\":"
            "\"ShutdownException\"}\n");
  slp_buf_free(&b);
  slp_mem_drop(mem);
}
