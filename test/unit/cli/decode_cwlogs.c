/* decode_cwlogs.c - the events of a record of CloudWatch Logs. test/process/cli_decoders.py packs real-looking
 * ones. */
#include <zlib.h>

#include "check.h"
#include "cli/decode_cwlogs.h"

static char told[1000];

static char more[400];

static void on_event(const slp_log_event *e) {
  size_t n = strlen(more);
  snprintf(more + n, sizeof more - n, "%.*s|%.*s;", (int)e->more.n, e->more.p, (int)e->record.n, e->record.p);
  n = strlen(told);
  snprintf(told + n, sizeof told - n, "%.*s/%.*s/%.*s/%.*s/%lld/%.*s;", (int)e->owner.n, e->owner.p,
           (int)e->group.n, e->group.p, (int)e->stream.n, e->stream.p, (int)e->id.n, e->id.p,
           (long long)e->ts_ms, (int)e->message.n, e->message.p);
}

static int decode(slp_str in) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  *told = *more = 0;
  slp_cwlogs l;
  slp_cwlogs_init(&l, mem);
  int r = slp_cwlogs_begin(&l, in, 1 << 20);
  if (!r) do {
      r = slp_cwlogs_step(&l);
      if (r == SLP_CWLOGS_EVENT) on_event(&l.event);
    } while (r == SLP_CWLOGS_EVENT || r == SLP_CWLOGS_MORE);
  slp_cwlogs_free(&l);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return r;
}

static const char record[] =
    "{\"messageType\":\"DATA_MESSAGE\",\"owner\":\"123\",\"logGroup\":\"g\",\"logStream\":\"s\","
    "\"subscriptionFilters\":[\"f\"],"
    "\"logEvents\":[{\"id\":\"1\",\"timestamp\":1700000000123,\"message\":\"one\\ntwo\"},"
    "{\"message\":\"three\",\"id\":\"2\",\"extractedFields\":{\"a\":[1]}}]}";
#define EVENTS "123/g/s/1/1700000000123/one\ntwo;123/g/s/2/-1/three;"

TEST(events_in_their_order) {
  CHECK_INT(decode(slp_str_of(record)), 0);
  CHECK_STR(told, EVENTS);
}

TEST(members_that_are_not_known_are_handed_on) {
  CHECK_INT(decode(slp_str_of(record)), 0);
  CHECK_STR(
      more,
      "|\"subscriptionFilters\":[\"f\"];\"extractedFields\":{\"a\":[1]}|\"subscriptionFilters\":[\"f\"];");
  CHECK_INT(
      decode(SLP_STR(
          "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"message\":\"m\",\"stream\": 1 ,"
          "\"\\u0000\":\"\\n\",\"extractedFields\":{\"@aws.region\":\"us-east-1\"}}],\"policyLevel\":null}")),
      0);
  CHECK_STR(more,
            "\"event.stream\":1,\"\\u0000\":\"\\n\",\"extractedFields\":{\"@aws.region\":\"us-east-1\"}|"
            "\"policyLevel\":null;");
  CHECK_INT(decode(SLP_STR("{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"x\":}]}")), SLP_EBADDATA);
}

TEST(a_line_ends_where_its_text_does) {
  static const char *const ends[] = {"a", "a\n", "a\r\n", "a\n\n\r\n", "a\r"};
  for (size_t i = 0; i < SLP_COUNT(ends); i++) CHECK_INT(slp_log_line(slp_str_of(ends[i])).n, 1);
  CHECK_INT(slp_log_line(SLP_STR("a\nb\n")).n, 3);
  CHECK_INT(slp_log_line(SLP_STR("\r\n")).n, 0);
  CHECK_INT(slp_log_line(SLP_STR(" a ")).n, 3);
}

TEST(packed_as_the_service_does) {
  Bytef packed[1000];
  z_stream z = {0};
  CHECK_INT(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)record;
  z.avail_in = sizeof record - 1;
  z.next_out = packed;
  z.avail_out = sizeof packed;
  CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
  slp_str in = {(const char *)packed, sizeof packed - z.avail_out};
  deflateEnd(&z);
  CHECK_INT(decode(in), 0);
  CHECK_STR(told, EVENTS);
  in.n--;
  CHECK_INT(decode(in), SLP_EBADDATA);
}

TEST(members_may_come_in_any_order) {
  CHECK_INT(decode(SLP_STR(
                "{\"logEvents\":[{\"message\":\"m\"}],\"logStream\":\"s\",\"owner\":\"o\",\"logGroup\":\"g\","
                "\"messageType\":\"DATA_MESSAGE\"}")),
            0);
  CHECK_STR(told, "o/g/s//-1/m;");
}

TEST(a_control_message_has_no_events) {
  CHECK_INT(
      decode(SLP_STR(
          "{\"messageType\":\"CONTROL_MESSAGE\",\"logEvents\":[{\"message\":\"CWL CONTROL MESSAGE\"}]}")),
      0);
  CHECK_STR(told, "");
}

TEST(anything_else_is_refused) {
  static const char *const bad[] = {"",
                                    "x",
                                    "[]",
                                    "{}",
                                    "{\"messageType\":\"OTHER\"}",
                                    "{\"messageType\":7}",
                                    "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":{}}",
                                    "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[1]}",
                                    "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[{\"message\":1}]}",
                                    "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":[]} x",
                                    "{\"messageType\":\"DATA_MESSAGE\",\"logEvents\":["};
  for (size_t i = 0; i < SLP_COUNT(bad); i++)
    if (decode(slp_str_of(bad[i])) != SLP_EBADDATA) CHECK_FAIL("%s is taken", bad[i]);
}
