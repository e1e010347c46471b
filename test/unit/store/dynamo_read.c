/* store/dynamo_read.c: answers of DynamoDB. */
#include "store/dynamo_read.h"

#include "check.h"

static slp_mem *mem;
static slp_store_rows rows;
static slp_buf rest;
static slp_dynamo_reader r;
static char body[1 << 16];

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_store_rows_init(&rows, mem);
  slp_buf_init(&rest, mem, 10000);
}
static int read_all(const char *text, size_t bytes_max, int *ret_slices) {
  int q, slices = 0;
  snprintf(body, sizeof body, "%s", text);
  slp_store_rows_free(&rows);
  slp_buf_clear(&rest);
  slp_dynamo_reader_begin(&r, (slp_str){body, strlen(body)}, &rows, &rest);
  do slices++;
  while ((q = slp_dynamo_read(&r, bytes_max)) == SLP_MORE);
  if (ret_slices) *ret_slices = slices;
  return q;
}
static void end(void) {
  slp_store_rows_free(&rows);
  slp_buf_free(&rest);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

#define ROW(n) "{\"row\":{\"S\":\"" n "\"}}"

TEST(rows_wherever_they_stand) {
  int slices;
  begin();
  CHECK_INT(read_all("{}", 9, NULL), 0);
  CHECK_INT(rows.n + rest.n, 0);
  CHECK_INT(
      read_all("{\"Item\":" ROW("a") ",\"ConsumedCapacity\":{\"TableName\":\"t\",\"CapacityUnits\":0.5}}", 9,
               NULL),
      0);
  CHECK_INT(rows.n, 1);
  CHECK_INT(r.units, 500);
  CHECK_INT(read_all("{\"Attributes\":" ROW("a") "}", 9, NULL), 0);
  CHECK_INT(rows.n, 1);
  CHECK_INT(read_all("{\"Count\":3,\"Items\":[" ROW("a") "," ROW("b") "," ROW(
                         "c") "],\"LastEvaluatedKey\": {\"row\":"
                              "{\"S\":\"\\u0063\\\"\"}} ,\"ScannedCount\":3}",
                     1, &slices),
            0);
  CHECK_INT(rows.n, 3);
  CHECK_INT(slices, 4);
  CHECK_STR(slp_buf_z(&rest), "{\"row\":{\"S\":\"\\u0063\\\"\"}}");
  CHECK_INT(read_all("{\"Responses\":{\"t\":[" ROW("a") "," ROW(
                         "b") "]},\"UnprocessedKeys\":{\"t\":{\"Keys\":[]}},"
                              "\"ConsumedCapacity\":[{\"TableName\":\"t\",\"CapacityUnits\":2,\"Table\":{"
                              "\"CapacityUnits\":2}}]}",
                     9, NULL),
            0);
  CHECK_INT(rows.n, 2);
  CHECK_INT(r.units, 2000);
  CHECK_STR(slp_buf_z(&rest), "{\"t\":{\"Keys\":[]}}");
  CHECK_INT(read_all("{\"Responses\":{},\"UnprocessedKeys\":{ },\"LastEvaluatedKey\":null,\"Items\":null}", 9,
                     NULL),
            0);
  CHECK_INT(rows.n + rest.n, 0);
  CHECK_INT(read_all("{\"__type\":\"x\",\"message\":\"no\",\"Item\":" ROW("a") "}", 9, NULL), 0);
  CHECK_INT(rows.n, 1);
  end();
}

TEST(a_slice_ends_by_bytes) {
  static char text[40000];
  int slices, n = snprintf(text, sizeof text, "{\"Items\":[");
  begin();
  for (int i = 0; i < 300; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"row\":{\"S\":\"%0100d\"}}", i ? "," : "", i);
  snprintf(text + n, sizeof text - (size_t)n, "]}");
  CHECK_INT(read_all(text, 1200, &slices), 0); /* a row and its comma are 117 bytes: 11 of them */
  CHECK_INT(rows.n, 300);
  CHECK_INT(slices, 28);
  CHECK_INT(read_all(text, 0, &slices), 0);
  CHECK_INT(slices, 301);
  end();
}

TEST(what_is_no_answer_is_told) {
  static const char *const bad[] = {"",
                                    "null",
                                    "[]",
                                    "{",
                                    "{\"Items\":{}}",
                                    "{\"Items\":[1]}",
                                    "{\"Items\":[null]}",
                                    "{\"Items\":[" ROW("a") "}",
                                    "{\"Responses\":[]}",
                                    "{\"Responses\":{\"t\":null}}",
                                    "{\"Responses\":{\"t\":[],\"u\":[]}}",
                                    "{\"Item\":3}",
                                    "{} {}"};
  begin();
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    if (read_all(bad[i], 9, NULL) != SLP_EBADDATA) CHECK_FAIL("%s is read", bad[i]);
    CHECK(r.j.why);
  }
  end();
}

TEST(tables) {
  slp_dynamo_table t;
  const char *why;
  begin();
  snprintf(
      body, sizeof body,
      "{\"Table\":{\"AttributeDefinitions\":[{\"AttributeName\":\"g\",\"AttributeType\":\"N\"},{"
      "\"AttributeName\":"
      "\"app\",\"AttributeType\":\"S\"},{\"AttributeType\":\"S\",\"AttributeName\":\"row\"}],\"KeySchema\":[{"
      "\"KeyType\":\"RANGE\",\"AttributeName\":\"row\"},{\"AttributeName\":\"app\",\"KeyType\":\"HASH\"}],"
      "\"GlobalSecondaryIndexes\":[{\"KeySchema\":[]}],\"TableStatus\":\"ACTIVE\"}}");
  CHECK_INT(slp_dynamo_read_table((slp_str){body, strlen(body)}, &t, &why), 0);
  CHECK_STR(t.status, "ACTIVE");
  CHECK_STR(t.hash, "app");
  CHECK_STR(t.range, "row");
  CHECK_INT(t.not_text, 0);
  snprintf(body, sizeof body,
           "{\"Table\":{\"AttributeDefinitions\":[{\"AttributeName\":\"k\",\"AttributeType\":\"N\"}],"
           "\"KeySchema\":[{"
           "\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],\"TableStatus\":\"CREATING\"}}");
  CHECK_INT(slp_dynamo_read_table((slp_str){body, strlen(body)}, &t, &why), 0);
  CHECK_STR(t.range, "");
  CHECK_INT(t.not_text, 1);
  static const char *const bad[] = {
      "{}",
      "{\"Table\":{}}",
      "{\"Table\":{\"TableStatus\":\"ACTIVE\"}}",
      "{\"Table\":[]}",
      "{\"Table\":{\"KeySchema\":[1]}}",
      "{\"Table\":{\"TableStatus\":\"ACTIVE\",\"KeySchema\":[{\"KeyType\":\"HASH\"}]}}",
      "{\"Table\":{\"TableStatus\":7}}"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    snprintf(body, sizeof body, "%s", bad[i]);
    CHECK_INT(slp_dynamo_read_table((slp_str){body, strlen(body)}, &t, &why), SLP_EBADDATA);
    CHECK(why);
  }
  end();
}
