/* store/dynamo_ask.c: requests, word for word. That servers take them, the suite of all stores shows. */
#include "store/dynamo_ask.h"

#include "check.h"

#define S(z) ((slp_val){.kind = SLP_VAL_S, .s = SLP_STR(z)})
#define N(z) ((slp_val){.kind = SLP_VAL_N, .s = SLP_STR(z)})

static const slp_table_spec table = {"t", "app", "row"}, flat = {"t", "shard", NULL};
static slp_mem *mem;
static slp_buf b;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 10000);
}
static void says(int r, const char *want) {
  CHECK_INT(r, 0);
  CHECK_STR(slp_buf_z(&b), want);
  slp_buf_clear(&b);
}
static void end(void) {
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(tables) {
  begin();
  says(slp_dynamo_ask_describe(&b, &table), "{\"TableName\":\"t\"}");
  says(slp_dynamo_ask_create(&b, &flat),
       "{\"TableName\":\"t\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
       "\"AttributeName\":\"shard\","
       "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"shard\",\"KeyType\":\"HASH\"}]}");
  end();
}

TEST(reads) {
  slp_row_key keys[] = {{SLP_STR("a"), SLP_STR("1")}, {SLP_STR("a"), SLP_STR("2")}};
  slp_store_get g = {.keys = keys, .keys_n = 1, .consistent = 1};
  slp_store_list l = {.hash = SLP_STR("a"), .prefix = SLP_STR("p/")};
  begin();
  says(slp_dynamo_ask_get(&b, &table, &g),
       "{\"TableName\":\"t\",\"Key\":{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"1\"}},\"ConsistentRead\":true,"
       "\"ReturnConsumedCapacity\":\"TOTAL\"}");
  g.keys_n = 2;
  g.consistent = 0;
  says(slp_dynamo_ask_get(&b, &table, &g),
       "{\"RequestItems\":{\"t\":{\"Keys\":[{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"1\"}},{\"app\":{\"S\":"
       "\"a\"},"
       "\"row\":{\"S\":\"2\"}}]}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  slp_row_key twice[] = {keys[0], keys[0], keys[1], keys[0], keys[1]};
  slp_store_get more = {.keys = twice, .keys_n = 5};
  says(slp_dynamo_ask_get(&b, &table, &more),
       "{\"RequestItems\":{\"t\":{\"Keys\":[{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"1\"}},{\"app\":{\"S\":"
       "\"a\"},"
       "\"row\":{\"S\":\"2\"}}]}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  says(slp_dynamo_ask_rest(&b, SLP_STR("{\"t\":{}}")),
       "{\"RequestItems\":{\"t\":{}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  says(slp_dynamo_ask_list(&b, &table, &l, SLP_STR("{\"k\":1}")),
       "{\"TableName\":\"t\",\"KeyConditionExpression\":\"#h=:h AND "
       "begins_with(#r,:r)\",\"ExpressionAttributeNames\":{"
       "\"#h\":\"app\",\"#r\":\"row\"},\"ExpressionAttributeValues\":{\":h\":{\"S\":\"a\"},\":r\":{\"S\":\"p/"
       "\"}},"
       "\"ExclusiveStartKey\":{\"k\":1},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  says(slp_dynamo_ask_list(&b, &flat, &l, SLP_STR("")),
       "{\"TableName\":\"t\",\"ReturnConsumedCapacity\":\"TOTAL\"}");
  end();
}

TEST(writes) {
  slp_atom when[] = {{SLP_STR("boot"), SLP_TEST_ABSENT, {0}, 1},
                     {SLP_STR("boot"), SLP_TEST_EQ, S("b"), 0},
                     {SLP_STR("ctr"), SLP_TEST_LT, N("7"), 0}};
  slp_change c[] = {{SLP_STR("gone"), SLP_REMOVE, {0}},
                    {SLP_STR("ctr"), SLP_SET, N("7")},
                    {SLP_STR("start"), SLP_SET_IF_ABSENT, S("s")},
                    {SLP_STR("pv"), SLP_ADD_N, N("1")}};
  slp_store_write w = {
      .key = {SLP_STR("a"), SLP_STR("w/1")}, .when = when, .when_n = 3, .changes = c, .changes_n = 4};
  begin();
  says(slp_dynamo_ask_write(&b, &table, &w),
       "{\"TableName\":\"t\",\"Key\":{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"w/1\"}},\"UpdateExpression\":\" "
       "SET #u1=:u1,"
       "#u2=if_not_exists(#u2,:u2) REMOVE #u0 ADD #u3 "
       ":u3\",\"ConditionExpression\":\"(attribute_not_exists(#c0) OR "
       "#c1=:c1) AND "
       "#c2<:c2\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\",\"ExpressionAttributeNames\":{"
       "\"#u0\":\"gone\",\"#u1\":\"ctr\",\"#u2\":\"start\",\"#u3\":\"pv\",\"#c0\":\"boot\",\"#c1\":\"boot\","
       "\"#c2\":\"ctr\"},\"ExpressionAttributeValues\":{\":u1\":{\"N\":\"7\"},\":u2\":{\"S\":\"s\"},\":u3\":{"
       "\"N\":\"1\"},"
       "\":c1\":{\"S\":\"b\"},\":c2\":{\"N\":\"7\"}},\"ReturnValues\":\"ALL_NEW\",\"ReturnConsumedCapacity\":"
       "\"TOTAL\"}");
  w.kind = SLP_WRITE_DELETE;
  w.when_n = 0;
  says(slp_dynamo_ask_write(&b, &table, &w),
       "{\"TableName\":\"t\",\"Key\":{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"w/"
       "1\"}},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  w.kind = SLP_WRITE_PUT;
  w.when_n = 1; /* or_next of the last one means nothing */
  w.changes = c + 1;
  w.changes_n = 1;
  says(slp_dynamo_ask_write(&b, &table, &w),
       "{\"TableName\":\"t\",\"Item\":{\"app\":{\"S\":\"a\"},\"row\":{\"S\":\"w/1\"},\"ctr\":{\"N\":\"7\"}},"
       "\"ConditionExpression\":\"attribute_not_exists(#c0)\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_"
       "OLD\","
       "\"ExpressionAttributeNames\":{\"#c0\":\"boot\"},\"ReturnConsumedCapacity\":\"TOTAL\"}");
  w.changes = &(slp_change){SLP_STR("x"), SLP_SET, S("\xff")};
  CHECK_INT(slp_dynamo_ask_write(&b, &table, &w), SLP_EBADDATA);
  end();
}
