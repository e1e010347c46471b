/* token.c - tokens: what bloop writes is read, what is damaged is refused with its place, what we write
 * is read back the same. */
#include "core/token.h"
#include "check.h"
#include "scarce.h"

#include <sloop.h>

static slp_mem *mem;

static slp_token *read_good(const char *text) {
  char why[160] = "";
  slp_token *t;
  mem = slp_mem_new(NULL, NULL);
  if (slp_token_read(&t, mem, slp_str_of(text), why)) CHECK_FAIL("%s: %s", why, text);
  return t;
}

static void done(slp_token *t) {
  slp_token_free(t);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

#define SHARD(t, id) slp_token_find((t), SLP_STR(id))

TEST(a_token_of_bloop_is_read) {
  slp_token *t = read_good(
      "{\"stream_arn\": \"arn:aws:dynamodb:us-west-2:123456789012:table/T/stream/2016-10-23T07:26:33.312\",\n"
      " \"active\": [\"shardId-00000002-b\", \"shardId-00000001-a\"],\n"
      " \"shards\": [\n"
      "  {\"shard_id\": \"shardId-00000002-b\", \"iterator_type\": \"trim_horizon\", \"parent\": "
      "\"shardId-00000001-a\"},\n"
      "  {\"shard_id\": \"shardId-00000003-c\", \"parent\": \"shardId-00000002-b\"},\n"
      "  {\"shard_id\": \"shardId-00000001-a\", \"iterator_type\": \"after_sequence\", \"sequence_number\": "
      "\"800000000007366876936\"}]}");
  CHECK_TEXT(t->stream, "arn:aws:dynamodb:us-west-2:123456789012:table/T/stream/2016-10-23T07:26:33.312");
  CHECK_INT(t->shards_n, 3);
  CHECK(SHARD(t, "shardId-00000001-a")->active && SHARD(t, "shardId-00000002-b")->active);
  CHECK(!SHARD(t, "shardId-00000003-c")->active);
  CHECK_INT(SHARD(t, "shardId-00000001-a")->from.kind, SLP_POSITION_AFTER);
  CHECK_TEXT(slp_mark_seq(&SHARD(t, "shardId-00000001-a")->from.mark), "800000000007366876936");
  CHECK_INT(SHARD(t, "shardId-00000002-b")->from.kind, SLP_POSITION_OLDEST);
  CHECK_TEXT(SHARD(t, "shardId-00000003-c")->parent, "shardId-00000002-b");
  CHECK(SHARD(t, "shardId-00000001-a")->parent.p == NULL);
  done(t);
}

TEST(duplicates_nulls_and_unknown_keys_are_taken) {
  slp_token *t = read_good(
      "{\"shards\": [{\"shard_id\": \"a\", \"iterator_type\": null, \"sequence_number\": null, \"parent\": "
      "null,"
      " \"later\": [1, {\"x\": \"y\"}]},"
      "{\"shard_id\": \"b\", \"iterator_type\": \"latest\"},"
      "{\"shard_id\": \"b\", \"iterator_type\": \"at_sequence\", \"sequence_number\": \"7\"}],"
      "\"version\": 2, \"active\": [\"a\", \"b\", \"b\", \"a\"], \"stream_arn\": \"orders\"}");
  CHECK_INT(t->shards_n, 2);
  CHECK_INT(SHARD(t, "a")->from.kind, SLP_POSITION_OLDEST);
  CHECK_INT(SHARD(t, "b")->from.kind, SLP_POSITION_AT); /* the last one counts */
  CHECK(SHARD(t, "a")->active && SHARD(t, "b")->active);
  CHECK(SHARD(t, "c") == NULL);
  done(t);
}

TEST(our_own_keys_are_read_as_text_and_as_numbers) {
  slp_token *t = read_good(
      "{\"stream_arn\":\"s\",\"active\":[\"a\"],\"shards\":["
      "{\"shard_id\":\"a\",\"iterator_type\":\"after_sequence\",\"sequence_number\":\"12\","
      "\"sub_sequence\":\"3\",\"arrived_at\":\"1790000000123\"},"
      "{\"shard_id\":\"b\",\"iterator_type\":\"trim_horizon\",\"not_before\":1790000000000}]}");
  CHECK_INT(SHARD(t, "a")->from.mark.sub, 3);
  CHECK_INT(SHARD(t, "a")->from.mark.arrived_ms, INT64_C(1790000000123));
  CHECK(SHARD(t, "a")->not_before_ms == INT64_MIN);
  CHECK_INT(SHARD(t, "b")->not_before_ms, INT64_C(1790000000000));
  CHECK_INT(SHARD(t, "b")->from.mark.arrived_ms, -1);
  done(t);
}

#define HEAD "{\"stream_arn\":\"s\",\"active\":[\"a\"],\"shards\":["

TEST(what_is_wrong_is_named_with_its_place) {
  static const struct {
    const char *text, *why;
  } bad[] = {
      {"", "token: not JSON at byte 0"},
      {"{", "token: not JSON at byte 1"},
      {"{} x", "token: not JSON at byte 3"},
      {"[]", "token: it is not a JSON object"},
      {"{}", "token: stream_arn is missing"},
      {"{\"stream_arn\":\"\"}", "token: stream_arn is empty"},
      {"{\"stream_arn\":3}", "token: stream_arn is not a string"},
      {"{\"stream_arn\":\"s\"}", "token: no shard of it is active"},
      {"{\"stream_arn\":\"s\",\"active\":{}}", "token: active is not a list"},
      {"{\"stream_arn\":\"s\",\"active\":[1]}", "token: active[0] is not a string"},
      {"{\"stream_arn\":\"s\",\"active\":[\"a\",\"b\"],\"shards\":[{\"shard_id\":\"a\"}]}",
       "token: active[1] names a shard that is not among shards"},
      {"{\"stream_arn\":\"s\",\"active\":[],\"shards\":[{\"shard_id\":\"a\"}]}",
       "token: no shard of it is active"},
      {"{\"stream_arn\":\"s\",\"shards\":3}", "token: shards is not a list"},
      {HEAD "7]}", "token: shards[0] is not an object"},
      {HEAD "{}]}", "token: shards[0] has no shard_id"},
      {HEAD "{\"shard_id\":\"a\"},{\"shard_id\":\"\"}]}", "token: shards[1].shard_id is empty"},
      {HEAD "{\"shard_id\":\"a\\u0000b\"}]}", "token: shards[0].shard_id holds a zero byte"},
      {HEAD "{\"shard_id\":\"a\",\"parent\":[]}]}", "token: shards[0].parent is not a string"},
      {HEAD "{\"shard_id\":\"a\",\"iterator_type\":\"TRIM\"}]}",
       "token: shards[0].iterator_type is none of trim_horizon"},
      {HEAD "{\"shard_id\":\"a\",\"iterator_type\":\"at_sequence\"}]}",
       "token: shards[0] has no sequence_number"},
      {HEAD "{\"shard_id\":\"a\"},{\"shard_id\":\"b\",\"sequence_number\":\"1x\"}]}",
       "token: shards[1].sequence_number is not a sequence number"},
      {HEAD "{\"shard_id\":\"a\",\"sequence_number\":12}]}",
       "token: shards[0].sequence_number is not a string"},
      {HEAD "{\"shard_id\":\"a\",\"sub_sequence\":\"4294967296\"}]}",
       "token: shards[0].sub_sequence is out of range"},
      {HEAD "{\"shard_id\":\"a\",\"no_record\":2}]}", "token: shards[0].no_record is out of range"},
      {HEAD
       "{\"shard_id\":\"a\",\"iterator_type\":\"at_sequence\",\"sequence_number\":\"1\",\"no_record\":1}]}",
       "token: shards[0] has no_record, but not after_sequence"},
      {HEAD "{\"shard_id\":\"a\",\"sub_sequence\":-1}]}", "token: shards[0].sub_sequence is not a number"},
      {HEAD "{\"shard_id\":\"a\",\"arrived_at\":1.5}]}", "token: shards[0].arrived_at is not a number"},
      {HEAD "{\"shard_id\":\"a\",\"not_before\":true}]}", "token: shards[0].not_before is not a number"},
      {HEAD "{\"shard_id\":\"a\"}],\"x\":[}", "token: not JSON at byte"},
  };
  mem = slp_mem_new(NULL, NULL);
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    char why[160] = "";
    slp_token *t;
    CHECK_INT(slp_token_read(&t, mem, slp_str_of(bad[i].text), why), SLOOP_ETOKEN);
    if (strncmp(why, bad[i].why, strlen(bad[i].why)))
      CHECK_FAIL("\"%s\", not \"%s\", for %s", why, bad[i].why, bad[i].text);
    CHECK(t == NULL);
    CHECK_INT(mem->live_blocks, 0);
  }
  slp_mem_drop(mem);
}

TEST(a_sequence_number_has_at_most_129_digits_and_an_id_128_characters) {
  char text[400], why[160], digits[131], id[130];
  slp_token *t;
  mem = slp_mem_new(NULL, NULL);
  for (int over = 0; over < 2; over++) {
    memset(digits, '7', sizeof digits);
    digits[129 + over] = 0;
    snprintf(text, sizeof text,
             HEAD "{\"shard_id\":\"a\",\"iterator_type\":\"at_sequence\",\"sequence_number\":\"%s\"}]}",
             digits);
    CHECK_INT(slp_token_read(&t, mem, slp_str_of(text), why), over ? SLOOP_ETOKEN : 0);
    slp_token_free(t);
    memset(id, 'i', sizeof id);
    id[128 + over] = 0;
    snprintf(text, sizeof text, HEAD "{\"shard_id\":\"a\"},{\"shard_id\":\"%s\"}]}", id);
    CHECK_INT(slp_token_read(&t, mem, slp_str_of(text), why), over ? SLOOP_ETOKEN : 0);
    slp_token_free(t);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(what_is_written_is_bloops_format_to_the_byte) {
  slp_token_shard shards[4] = {
      {.id = SLP_STR("a"), .from.kind = SLP_POSITION_AFTER, .not_before_ms = INT64_MIN, .active = 1},
      {.id = SLP_STR("b"),
       .parent = SLP_STR("a"),
       .from.kind = SLP_POSITION_OLDEST,
       .from.mark.arrived_ms = -1,
       .not_before_ms = INT64_MIN},
      {.id = SLP_STR("c\""),
       .from.kind = SLP_POSITION_OLDEST,
       .from.mark.arrived_ms = -1,
       .not_before_ms = 1790000000000,
       .active = 1},
      {.id = SLP_STR("d"), .from.kind = SLP_POSITION_AFTER, .not_before_ms = INT64_MIN, .active = 1}};
  slp_mark_set(&shards[3].from.mark, SLP_STR("77"), UINT32_MAX, 1790000000123);
  shards[3].from.mark.idle = 1;
  slp_mark_set(&shards[0].from.mark, SLP_STR("800000000007366876936"), 2, 1790000000123);
  shards[0].from.mark.clear_ms = 1790003600000;
  slp_buf text;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&text, mem, 4096);
  CHECK_INT(slp_token_write(&text, SLP_STR("arn:x"), shards, 4), 0);
  CHECK_STR(
      slp_buf_z(&text),
      "{\"stream_arn\": \"arn:x\", \"active\": [\"a\", \"c\\\"\", \"d\"], \"shards\": ["
      "{\"shard_id\": \"a\", \"iterator_type\": \"after_sequence\", \"sequence_number\": "
      "\"800000000007366876936\", \"sub_sequence\": \"2\", \"arrived_at\": \"1790000000123\", "
      "\"clear_until\": \"1790003600000\"}, "
      "{\"shard_id\": \"b\", \"parent\": \"a\"}, "
      "{\"shard_id\": \"c\\\"\", \"iterator_type\": \"trim_horizon\", \"not_before\": \"1790000000000\"}, "
      "{\"shard_id\": \"d\", \"iterator_type\": \"after_sequence\", \"sequence_number\": \"77\", "
      "\"arrived_at\": "
      "\"1790000000123\", \"no_record\": \"1\"}]}");
  char why[160];
  slp_token *t;
  CHECK_INT(slp_token_read(&t, mem, slp_buf_str(&text), why), 0);
  slp_buf redelivered;
  slp_buf_init(&redelivered, mem, 4096);
  CHECK_INT(slp_token_write(&redelivered, t->stream, t->shards, t->shards_n), 0);
  CHECK_STR(slp_buf_z(&redelivered), slp_buf_z(&text));
  slp_token_free(t);
  slp_buf_free(&text);
  slp_buf_free(&redelivered);
  slp_mem_drop(mem);
}

TEST(without_memory_nothing_is_left_behind) {
  int ok = 0;
  for (int64_t n = 0; !ok; n++) {
    scarce memory = {.left = -1};
    mem = slp_mem_new(scarce_alloc, &memory);
    memory.left = n;
    slp_token *t;
    char why[160];
    int r = slp_token_read(&t, mem, slp_str_of(HEAD "{\"shard_id\":\"a\"},{\"shard_id\":\"b\"}]}"), why);
    CHECK(r == 0 || r == SLP_ENOMEM);
    ok = r == 0;
    slp_token_free(t);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
    CHECK(n < 100 && (n > 0 || !ok));
  }
}
