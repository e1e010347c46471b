/* decode_json.c - JSON on one line, and DynamoDB's types taken off. test/process/cli_decoders.py compares with
 * boto3. */
#include "cli/decode_json.h"
#include "check.h"

static slp_mem *mem;
static slp_buf out;
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&out, mem, 1 << 24);
}
static void end(void) {
  slp_buf_free(&out);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

typedef int (*decode_fn)(slp_buf *ret, slp_str in);

static void makes(decode_fn decode, const char *in, const char *want) {
  begin();
  char *copy = malloc(strlen(in) + 1); /* of exact size, and it must stay as it is */
  memcpy(copy, in, strlen(in) + 1);
  if (decode(&out, slp_str_of(copy)) != 0) CHECK_FAIL("%s is refused", in);
  CHECK_STR(slp_buf_z(&out), want);
  CHECK_STR(copy, in);
  free(copy);
  end();
}

static void refuses(decode_fn decode, const char *in) {
  begin();
  if (decode(&out, slp_str_of(in)) != SLP_EBADDATA) CHECK_FAIL("%s is taken", in);
  end();
}

TEST(json_on_one_line_is_the_same_json) {
  makes(slp_decode_plain_json,
        " {\"a\" : [ 1 , 2.50 ,-0e+1, {} , [ ] ] ,\n\"b\":{\"c\":null,\"d\":true,\"d\":false}}\r\n",
        "{\"a\":[1,2.50,-0e+1,{},[]],\"b\":{\"c\":null,\"d\":true,\"d\":false}}");
  makes(slp_decode_plain_json, "\"x\\ny \\u00e9\\\"\"", "\"x\\ny \xc3\xa9\\\"\"");
  makes(slp_decode_plain_json, "7", "7");
  makes(slp_decode_plain_json, "[\"[\",\"{\",\":\",\",\"]", "[\"[\",\"{\",\":\",\",\"]");
  refuses(slp_decode_plain_json, "");
  refuses(slp_decode_plain_json, "{");
  refuses(slp_decode_plain_json, "[1,]");
  refuses(slp_decode_plain_json, "1 2");
  refuses(slp_decode_plain_json, "{\"a\":\"\xff\"}");
}

TEST(an_item_by_itself) {
  makes(slp_decode_ddb_json, "{}", "{}");
  makes(slp_decode_ddb_json,
        "{\"s\":{\"S\":\"x\"},\"n\":{\"N\":\"-1.50\"},\"b\":{\"B\":\"AAE=\"},\"t\":{\"BOOL\":true},\"f\":{"
        "\"BOOL\":false},"
        "\"z\":{\"NULL\":true},\"l\":{\"L\":[{\"S\":\"a\"},{\"L\":[]}]},\"m\":{\"M\":{\"S\":{\"S\":\"S\"}}},"
        "\"ss\":{\"SS\":[\"a\",\"b\"]},\"ns\":{\"NS\":[\"1\",\"2\"]},\"bs\":{\"BS\":[\"AA==\"]}}",
        "{\"s\":\"x\",\"n\":-1.50,\"b\":\"AAE=\",\"t\":true,\"f\":false,\"z\":null,\"l\":[\"a\",[]],\"m\":{"
        "\"S\":\"S\"},"
        "\"ss\":[\"a\",\"b\"],\"ns\":[1,2],\"bs\":[\"AA==\"]}");
}

TEST(numbers_json_does_not_know_stay_strings) {
  makes(slp_decode_ddb_json,
        "{\"a\":{\"N\":\"1E+30\"},\"b\":{\"N\":\"007\"},\"c\":{\"N\":\".5\"},\"d\":{\"N\":\"\"},"
        "\"e\":{\"NS\":[\"+1\",\"0\",\"1.\",\"1e\"]}}",
        "{\"a\":1E+30,\"b\":\"007\",\"c\":\".5\",\"d\":\"\",\"e\":[\"+1\",0,\"1.\",\"1e\"]}");
}

TEST(a_change_keeps_what_is_not_typed) {
  makes(slp_decode_ddb_json,
        "{\"ApproximateCreationDateTime\":1700000000,\"Keys\":{\"id\":{\"N\":\"1\"}},\"NewImage\":{\"id\":{"
        "\"N\":\"1\"}},"
        "\"SizeBytes\":26,\"StreamViewType\":\"NEW_IMAGE\",\"OldImage\":null}",
        "{\"ApproximateCreationDateTime\":1700000000,\"Keys\":{\"id\":1},\"NewImage\":{\"id\":1},"
        "\"SizeBytes\":26,\"StreamViewType\":\"NEW_IMAGE\",\"OldImage\":null}");
  /* what DynamoDB writes into a Kinesis stream */
  makes(slp_decode_ddb_json,
        "{\"eventName\":\"INSERT\",\"userIdentity\":{\"type\":null},\"dynamodb\":{\"Keys\":{\"id\":{\"S\":"
        "\"k\"}}}}",
        "{\"eventName\":\"INSERT\",\"userIdentity\":{\"type\":null},\"dynamodb\":{\"Keys\":{\"id\":\"k\"}}}");
}

TEST(an_item_with_an_attribute_named_keys_is_still_an_item) {
  makes(slp_decode_ddb_json, "{\"Keys\":{\"S\":\"x\"},\"a\":{\"N\":\"1\"}}", "{\"Keys\":\"x\",\"a\":1}");
}

TEST(what_is_not_dynamodb_s_is_refused) {
  static const char *const bad[] = {"",
                                    "[]",
                                    "7",
                                    "{\"a\":1}",
                                    "{\"a\":{}}",
                                    "{\"a\":{\"X\":\"1\"}}",
                                    "{\"a\":{\"S\":1}}",
                                    "{\"a\":{\"N\":1}}",
                                    "{\"a\":{\"S\":\"x\",\"N\":\"1\"}}",
                                    "{\"a\":{\"BOOL\":\"true\"}}",
                                    "{\"a\":{\"NULL\":false}}",
                                    "{\"a\":{\"L\":{}}}",
                                    "{\"a\":{\"L\":[\"x\"]}}",
                                    "{\"a\":{\"SS\":[1]}}",
                                    "{\"a\":{\"M\":[]}}",
                                    "{\"Keys\":{\"id\":{\"N\":\"1\"}}",
                                    "{\"Keys\":{\"id\":5}}",
                                    "{\"Keys\":{\"id\":{\"N\":\"1\"}}} x"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) refuses(slp_decode_ddb_json, bad[i]);
}

TEST(depth_has_an_end) {
  char deep[2000] = "{\"a\":";
  for (int i = 0; i < 70; i++) strcat(deep, "{\"L\":[");
  refuses(slp_decode_ddb_json, deep);
  memset(deep, '[', 100);
  deep[100] = 0;
  refuses(slp_decode_plain_json, deep);
}
