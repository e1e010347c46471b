/* streams.c - DynamoDB Streams as a table of ops over a scripted transport: requests to both
 * services, answers, checksums, failures, failing memory. Covers streams.c, and of
 * service.c, answers.c and json_members.c what Kinesis' test (call.c) does not reach. */
#include "aws/aws.h"
#include "aws_fake_host.h"
#include "scarce.h"
#include "codec/crc32.h"
#include "sloop.h"

#define TABLE_ARN "arn:aws:dynamodb:us-east-1:123456789012:table/orders"
#define STREAM_ARN TABLE_ARN "/stream/2026-01-02T03:04:05.678"
#define RECORD(seq)                                                            \
  "{\"eventID\":\"e" seq                                                       \
  "\",\"eventName\":\"INSERT\",\"dynamodb\":{\"Keys\":{\"id\":{\"S\":\"k\"}}," \
  "\"SequenceNumber\":\"" seq "\",\"ApproximateCreationDateTime\":1767323045}}"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_ops *ops;
static int done;
static const fake_pair env[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                {"AWS_SECRET_ACCESS_KEY", "secret"},
                                {"AWS_REGION", "us-east-1"},
                                {NULL, NULL}};

static void open_at(const char *url) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env;
  slp_aws_options o = {.endpoint = url, .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(slp_streams_new(&ops, aws), 0);
  done = 0;
}

static void close_all(void) {
  slp_streams_free(ops);
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n); /* the whole script was played */
  fake_end(&f, mem);
}

static void on_done(slp_op *op) {
  CHECK(op->impl == NULL);
  done++;
}

static void play(void) {
  int before = done;
  fake_run(&f, 600000000);
  CHECK_INT(done, before + 1);
}

static slp_op_describe describe(slp_str name, slp_str arn) {
  slp_op_describe d = {.op = {.on_done = on_done}, .name = name, .arn = arn};
  ops->describe(ops, &d);
  play();
  return d;
}

/* ---- describe ------------------------------------------------------------------------------------------ */
static const char table_answer[] =
    "{\"Table\":{\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],\"TableName\":"
    "\"orders\","
    "\"TableArn\":\"" TABLE_ARN
    "\",\"TableStatus\":\"ACTIVE\",\"StreamSpecification\":{\"StreamEnabled\":true,"
    "\"StreamArn\":\"none of it\"},\"LatestStreamArn\":\"" STREAM_ARN "\"}}";

static const char *stream_answer(const char *status) {
  static char text[600];
  snprintf(
      text, sizeof text,
      "{\"StreamDescription\":{\"StreamArn\":\"" STREAM_ARN
      "\",\"StreamStatus\":\"%s\",\"TableName\":\"orders\","
      "\"CreationRequestDateTime\":1767323045.678,\"KeySchema\":[{\"AttributeName\":\"id\"}],\"Shards\":[{}],"
      "\"LastEvaluatedShardId\":\"x\"}}",
      status);
  return text;
}

TEST(a_table_leads_to_its_latest_stream) {
  open_at(NULL);
  fake_script(&f, 200, table_answer);
  fake_script(&f, 200, stream_answer("ENABLED"));
  slp_op_describe d = describe(SLP_STR("orders"), (slp_str){NULL, 0});
  CHECK_INT(d.op.fail.class, SLP_FINE);
  CHECK_STR(d.ret_name, "orders");
  CHECK_STR(d.ret_arn, STREAM_ARN);
  CHECK_INT(d.status, SLP_STREAM_ACTIVE);
  CHECK_INT(d.created_ms, 1767323045678);
  CHECK_INT(d.retention_hours, 24);
  CHECK_STR(f.sent[0].url, "https://dynamodb.us-east-1.amazonaws.com/");
  CHECK_STR(f.sent[0].target, "DynamoDB_20120810.DescribeTable");
  CHECK_STR(f.sent[0].type, "application/x-amz-json-1.0");
  CHECK_STR(f.sent[0].body, "{\"TableName\":\"orders\"}");
  CHECK_STR(f.sent[1].url, "https://123456789012.streams-ddb.us-east-1.amazonaws.com/");
  CHECK_STR(f.sent[1].target, "DynamoDBStreams_20120810.DescribeStream");
  CHECK_STR(f.sent[1].body, "{\"StreamArn\":\"" STREAM_ARN "\",\"Limit\":1}");
  for (size_t i = 0; i < 2; i++) { /* both are signed as dynamodb */
    CHECK(strstr(f.sent[i].authorization, "/us-east-1/dynamodb/aws4_request") != NULL);
    CHECK_INT(f.sent[i].lane, SLP_LANE_CONTROL);
  }
  CHECK_INT(d.op.tries, 1);
  close_all();
}

TEST(arns_of_tables_and_streams) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, table_answer);
  fake_script(&f, 200, stream_answer("DISABLED"));
  slp_op_describe d = describe(SLP_STR("orders"), SLP_STR(TABLE_ARN));
  CHECK_STR(f.sent[0].body, "{\"TableName\":\"" TABLE_ARN "\"}");
  CHECK_INT(d.status, SLP_STREAM_ACTIVE); /* it can be read to its end */
  fake_script(&f, 200, stream_answer("ENABLING"));
  d = describe(SLP_STR("orders"), SLP_STR(STREAM_ARN));
  CHECK_STR(f.sent[2].target, "DynamoDBStreams_20120810.DescribeStream");
  CHECK_INT(d.status, SLP_STREAM_CREATING);
  CHECK_STR(d.ret_arn, STREAM_ARN);
  close_all();
}

TEST(a_table_without_a_stream_says_how_to_get_one) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, "{\"Table\":{\"TableName\":\"orders\",\"TableStatus\":\"ACTIVE\"}}");
  slp_op_describe d = describe(SLP_STR("orders"), (slp_str){NULL, 0});
  CHECK_INT(d.op.fail.class, SLP_GONE);
  CHECK_INT(d.op.fail.code, SLOOP_ENOSTREAM);
  CHECK(strstr(d.op.fail.message, "table orders has no stream") != NULL);
  CHECK(strstr(d.op.fail.message, "update-table") != NULL);
  fake_script(
      &f, 400,
      "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException\",\"message\":\"gone\"}");
  d = describe(SLP_STR("orders"), (slp_str){NULL, 0});
  CHECK_INT(d.op.fail.class, SLP_GONE);
  CHECK_STR(d.op.fail.aws_code, "ResourceNotFoundException");
  close_all();
}

TEST(the_second_request_of_a_description_may_fail_and_be_repeated) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, table_answer);
  fake_script(&f, 400, "{\"__type\":\"ThrottlingException\",\"message\":\"slow down\"}");
  fake_script(&f, 200, stream_answer("ENABLED"));
  slp_op_describe d = {.op = {.on_done = on_done, .tries_max = 3}, .name = SLP_STR("orders")};
  ops->describe(ops, &d);
  play();
  CHECK_INT(d.op.fail.class, SLP_FINE);
  CHECK_STR(f.sent[2].target,
            "DynamoDBStreams_20120810.DescribeStream"); /* the table is not asked for again */
  fake_script(&f, 200, table_answer);
  fake_script(&f, 500, "<html>");
  d = describe(SLP_STR("orders"), (slp_str){NULL, 0});
  CHECK_INT(d.op.fail.class, SLP_TRANSIENT);
  close_all();
}

/* ---- listings ------------------------------------------------------------------------------------------ */
static slp_op_list_shards list(slp_str next, slp_str children_of) {
  slp_op_list_shards l;
  slp_op_list_init(&l, mem);
  l.op.on_done = on_done;
  l.arn = SLP_STR(STREAM_ARN);
  l.next_token = next;
  l.children_of = children_of;
  ops->list_shards(ops, &l);
  play();
  return l;
}

#define SHARDS                                                                                            \
  "[{\"ShardId\":\"shardId-1\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"5\","                \
  "\"EndingSequenceNumber\":"                                                                             \
  "\"9\"}},{\"ParentShardId\":\"shardId-1\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"10\"}," \
  "\"ShardId\":\"shardId-2\"},{\"ShardId\":\"shardId-3\",\"ParentShardId\":\"shardId-0\"}]"

TEST(listings_come_in_pages) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200,
              "{\"StreamDescription\":{\"LastEvaluatedShardId\":\"shardId-3\",\"Shards\":" SHARDS
              ",\"StreamStatus\":\"ENABLED\"},\"New\":{\"Shards\":[]}}");
  slp_op_list_shards l = list((slp_str){NULL, 0}, (slp_str){NULL, 0});
  CHECK_INT(l.op.fail.class, SLP_FINE);
  CHECK_STR(f.sent[0].body, "{\"StreamArn\":\"" STREAM_ARN "\"}");
  CHECK_INT(l.shards_n, 3);
  CHECK(slp_str_is(l.shards[0].seq_end, "9") && l.shards[0].parent.p == NULL);
  CHECK(slp_str_is(l.shards[1].id, "shardId-2") && slp_str_is(l.shards[1].parent, "shardId-1"));
  CHECK(slp_str_is(l.shards[1].seq_start, "10") && l.shards[1].seq_end.p == NULL);
  CHECK(slp_str_is(l.ret_next, "shardId-3"));
  CHECK_INT(l.stream_ended, 0);
  fake_script(
      &f, 200,
      "{\"StreamDescription\":{\"StreamStatus\":\"DISABLED\",\"Shards\":[],\"LastEvaluatedShardId\":null}}");
  slp_op_list_shards next = list(l.ret_next, (slp_str){NULL, 0});
  CHECK_STR(f.sent[1].body, "{\"StreamArn\":\"" STREAM_ARN "\",\"ExclusiveStartShardId\":\"shardId-3\"}");
  CHECK_INT(next.shards_n, 0);
  CHECK(next.ret_next.p == NULL);
  CHECK_INT(next.stream_ended, 1);
  slp_op_list_free(&l);
  slp_op_list_free(&next);
  close_all();
}

TEST(children_are_asked_for_and_strangers_dropped) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, "{\"StreamDescription\":{\"Shards\":" SHARDS "}}"); /* the filter was ignored */
  slp_op_list_shards l = list((slp_str){NULL, 0}, SLP_STR("shardId-1"));
  CHECK_STR(f.sent[0].body, "{\"StreamArn\":\"" STREAM_ARN
                            "\",\"ShardFilter\":{\"Type\":\"CHILD_SHARDS\",\"ShardId\":\"shardId-1\"}}");
  CHECK_INT(l.shards_n, 1);
  CHECK(slp_str_is(l.shards[0].id, "shardId-2"));
  slp_op_list_free(&l);
  close_all();
}

TEST(listings_that_make_no_sense_are_protocol_errors) {
  static const char *const bad[] = {
      "", "{}", "null", "{\"StreamDescription\":null}", "{\"StreamDescription\":{}}",
      "{\"StreamDescription\":[]}", "{\"Shards\":[]}", "{\"StreamDescription\":{\"Shards\":{}}}",
      "{\"StreamDescription\":{\"Shards\":[1]}}", "{\"StreamDescription\":{\"Shards\":[{}]}}",
      "{\"StreamDescription\":{\"Shards\":[]}} x",
      "{\"StreamDescription\":{\"Shards\":[],\"StreamStatus\":7}}", "{\"StreamDescription\":{\"Shards\":[]}",
#define SHARD(id, more) "{\"StreamDescription\":{\"Shards\":[{\"ShardId\":\"" id "\"" more "}]}}"
      /* no terminal may get an id from outside that moves it */
      SHARD("shardId-\\u001b[2J", ""), SHARD("shardId 1", ""),
      SHARD("a", ",\"ParentShardId\":\"\\u009b31m\""),
      SHARD("a", ",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\\u0007\"}"),
      SHARD("a",
            ",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\","
            "\"EndingSequenceNumber\":\"0x10\"}")};
  open_at("http://127.0.0.1:4567");
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    fake_script(&f, 200, bad[i]);
    slp_op_list_shards l = list((slp_str){NULL, 0}, (slp_str){NULL, 0});
    if (l.op.fail.class != SLP_TRANSIENT || l.op.fail.code != SLOOP_EPROTO) CHECK_FAIL("%s", bad[i]);
    slp_op_list_free(&l);
  }
  close_all();
}

TEST(the_last_of_two_listings_counts) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200,
              "{\"StreamDescription\":{\"Shards\":[{\"ShardId\":\"a\"},{\"ShardId\":\"b\"}],\"Shards\":[{"
              "\"ShardId\":\"c\"}]}}");
  slp_op_list_shards l = list((slp_str){NULL, 0}, (slp_str){NULL, 0});
  CHECK_INT(l.shards_n, 1);
  CHECK(slp_str_is(l.shards[0].id, "c"));
  slp_op_list_free(&l);
  close_all();
}

/* Rows are read some hundred at a time; reading goes on where it was, the object around included. */
TEST(a_listing_longer_than_a_slice) {
  open_at("http://127.0.0.1:4567");
  slp_buf body;
  slp_buf_init(&body, mem, 1 << 20);
  slp_buf_add_z(&body, "{\"StreamDescription\":{\"Shards\":[");
  for (int i = 0; i < 1000; i++) slp_buf_addf(&body, "%s{\"ShardId\":\"shardId-%04d\"}", i ? "," : "", i);
  slp_buf_add_z(&body, "],\"StreamStatus\":\"DISABLED\"},\"x\":1}");
  fake_script(&f, 200, "")->body = slp_buf_str(&body);
  slp_op_list_shards l = list((slp_str){NULL, 0}, (slp_str){NULL, 0});
  CHECK_INT(l.shards_n, 1000);
  CHECK_INT(l.stream_ended, 1);
  slp_op_list_free(&l);
  slp_buf_free(&body);
  close_all();
}

/* ---- places -------------------------------------------------------------------------------------------- */
TEST(places_and_a_request_that_is_too_long) {
  open_at("http://127.0.0.1:4567");
  static const struct {
    slp_iter_kind kind;
    const char *body;
  } places[] = {
      {SLP_ITER_OLDEST, "\"TRIM_HORIZON\"}"},
      {SLP_ITER_LATEST, "\"LATEST\"}"},
      {SLP_ITER_AT_SEQ, "\"AT_SEQUENCE_NUMBER\",\"SequenceNumber\":\"77\"}"},
      {SLP_ITER_AFTER_SEQ, "\"AFTER_SEQUENCE_NUMBER\",\"SequenceNumber\":\"77\"}"},
      {SLP_ITER_AT_TIME, "\"AT_TIMESTAMP\",\"Timestamp\":1791316726.480}"},
  };
  slp_op_iterator it = {
      .op = {.on_done = on_done}, .arn = SLP_STR(STREAM_ARN), .shard = SLP_STR("shardId-1")};
  it.seq = SLP_STR("77");
  it.at_ms = INT64_C(1791316726480);
  slp_buf_init(&it.iterator, mem, 4096);
  for (size_t i = 0; i < SLP_COUNT(places); i++) {
    char want[400];
    fake_script(&f, 200, "{\"ShardIterator\":\"" STREAM_ARN "|1|AAAA\"}");
    it.kind = places[i].kind;
    ops->iterator(ops, &it);
    play();
    CHECK_INT(it.op.fail.class, SLP_FINE);
    CHECK(slp_str_is(slp_buf_str(&it.iterator), STREAM_ARN "|1|AAAA"));
    snprintf(want, sizeof want,
             "{\"StreamArn\":\"" STREAM_ARN "\",\"ShardId\":\"shardId-1\",\"ShardIteratorType\":%s",
             places[i].body);
    CHECK_STR(f.sent[i].body, want);
    CHECK_STR(f.sent[i].target, "DynamoDBStreams_20120810.GetShardIterator");
  }
  slp_buf endless;
  slp_buf_init(&endless, mem, 4 << 20);
  for (int i = 0; i < 3 << 20; i++) CHECK_INT(slp_buf_add(&endless, "1", 1), 0);
  it.shard = slp_buf_str(&endless);
  ops->iterator(ops, &it);
  CHECK_INT(done, (long long)SLP_COUNT(places)); /* never inside the call */
  play();
  CHECK_INT(it.op.fail.code, SLOOP_EPROTO);
  CHECK_INT(f.sent_n, (long long)SLP_COUNT(places));
  ops->iterator(ops, &it); /* and it can be cancelled before it fails */
  ops->cancel(ops, &it.op);
  fake_run(&f, 1000000);
  CHECK_INT(done, (long long)SLP_COUNT(places) + 1);
  slp_buf_free(&endless);
  slp_buf_free(&it.iterator);
  close_all();
}

/* ---- records ------------------------------------------------------------------------------------------- */
static slp_fail get(slp_page *page, uint32_t limit, uint32_t tries_max) {
  slp_page_reset(page);
  slp_op_records op = {.op = {.on_done = on_done, .tries_max = tries_max},
                       .arn = SLP_STR(STREAM_ARN),
                       .iterator = SLP_STR("it|1"),
                       .limit = limit,
                       .page = page};
  ops->records(ops, &op);
  play();
  if (op.op.fail.class == SLP_FINE) CHECK(op.body_bytes > 0);
  return op.op.fail;
}

TEST(records_and_the_limit_of_the_service) {
  open_at("http://127.0.0.1:4567");
  slp_page *page = slp_page_new(mem);
  fake_script(&f, 200, "{\"NextShardIterator\":\"next\",\"Records\":[" RECORD("41") "," RECORD("42") "]}");
  CHECK_INT(get(page, 5000, 1).class, SLP_FINE);
  CHECK_STR(f.sent[0].body, "{\"ShardIterator\":\"it|1\",\"Limit\":1000}");
  CHECK_STR(f.sent[0].target, "DynamoDBStreams_20120810.GetRecords");
  CHECK_INT(f.sent[0].lane, SLP_LANE_PAGES);
  CHECK_INT(page->recs_n, 2);
  CHECK(slp_str_is(slp_rec_seq(page, &page->recs[1]), "42"));
  CHECK(slp_str_is(slp_rec_key(page, &page->recs[0]), "{\"id\":{\"S\":\"k\"}}"));
  CHECK_INT(page->changes[1].event_n, 6);
  CHECK(slp_str_is(page->next, "next"));
  fake_script(&f, 200, "{\"Records\":[]}");
  CHECK_INT(get(page, 0, 1).class, SLP_FINE);
  CHECK_STR(f.sent[1].body, "{\"ShardIterator\":\"it|1\",\"Limit\":1}");
  slp_page_free(page);
  close_all();
}

TEST(errors_of_reading) {
  static const struct {
    int status;
    const char *body;
    slp_class class;
  } errors[] = {
      {400, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#LimitExceededException\"}", SLP_THROTTLE},
      {400, "{\"__type\":\"ThrottlingException\",\"message\":\"Rate exceeded\"}", SLP_THROTTLE},
      {400, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException\"}", SLP_TRIMMED},
      {400, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ExpiredIteratorException\"}", SLP_EXPIRED},
      {400, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException\"}", SLP_GONE},
      {500, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\"}", SLP_TRANSIENT},
      {400, "{\"__type\":\"com.amazon.coral.validate#ValidationException\"}", SLP_REFUSED},
      {400, "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\"}", SLP_ACCESS},
      {400, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ExpiredTokenException\"}", SLP_AUTH},
      {400, "{\"__type\":\"com.amazon.coral.service#UnrecognizedClientException\"}", SLP_AUTH},
      {500, "<!doctype html><title>500 Internal Server Error</title>", SLP_TRANSIENT}, /* moto */
      {503, "", SLP_TRANSIENT},
      {200, "<html>", SLP_TRANSIENT},
      {200, "{\"Records\":[{}]}", SLP_TRANSIENT},
  };
  open_at("http://127.0.0.1:4567");
  slp_page *page = slp_page_new(mem);
  for (size_t i = 0; i < SLP_COUNT(errors); i++) {
    fake_script(&f, errors[i].status, errors[i].body);
    slp_fail fail = get(page, 10, 1);
    if (fail.class != errors[i].class) CHECK_FAIL("%s is %s", errors[i].body, slp_class_name(fail.class));
    CHECK_INT(page->recs_n + page->body.n, 0);
  }
  slp_page_free(page);
  close_all();
}

/* ---- checksums ----------------------------------------------------------------------------------------- */
TEST(a_damaged_answer_is_asked_for_again) {
  open_at("http://127.0.0.1:4567");
  slp_page *page = slp_page_new(mem);
  static const char good[] = "{\"Records\":[" RECORD("41") "]}", bad[] = "{\"Records\":[" RECORD("91") "]}";
  uint32_t sum = slp_crc32(slp_str_of(good));
  fake_script(&f, 200, bad)->crc32 = sum;
  fake_script(&f, 200, good)->crc32 = sum;
  CHECK_INT(get(page, 10, 2).class, SLP_FINE);
  CHECK(slp_str_is(slp_rec_seq(page, &page->recs[0]), "41"));
  fake_script(&f, 200, bad)->crc32 = sum;
  slp_fail fail = get(page, 10, 1);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EPROTO);
  CHECK(strstr(fail.message, "checksum") != NULL);
  fake_script(&f, 200, "{\"Records\":[")->crc32 = sum; /* what is not JSON because of it, too */
  fail = get(page, 10, 1);
  CHECK(strstr(fail.message, "checksum") != NULL);
  slp_page_free(page);
  close_all();
}

TEST(checksums_of_small_answers) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, stream_answer("ENABLED"))->crc32 = 1;
  slp_op_describe d = describe(SLP_STR("orders"), SLP_STR(STREAM_ARN));
  CHECK_INT(d.op.fail.class, SLP_TRANSIENT);
  fake_script(&f, 200, "{\"StreamDescription\":{\"Shards\":" SHARDS "}}")->crc32 = 1;
  slp_op_list_shards l = list((slp_str){NULL, 0}, (slp_str){NULL, 0});
  CHECK_INT(l.op.fail.class, SLP_TRANSIENT);
  slp_op_list_free(&l);
  close_all();
}

/* Escapes are undone behind the answer, and the sum is taken in slices. */
TEST(checksums_of_long_pages) {
  open_at("http://127.0.0.1:4567");
  slp_page *page = slp_page_new(mem);
  slp_buf body;
  slp_buf_init(&body, mem, 1 << 22);
  slp_buf_add_z(&body, "{\"Records\":[");
  for (int i = 0; i < 900; i++) {
    slp_buf_addf(&body, "%s{\"eventID\":\"\\u0041%d\",\"dynamodb\":{\"SequenceNumber\":\"%d\",\"x\":\"",
                 i ? "," : "", i, i + 1);
    for (int k = 0; k < 500; k++) slp_buf_add_char(&body, 'a');
    slp_buf_add_z(&body, "\"}}");
  }
  slp_buf_add_z(&body, "]}");
  for (int wrong = 0; wrong < 2; wrong++) {
    fake_answer *a = fake_script(&f, 200, "");
    a->body = slp_buf_str(&body);
    a->crc32 = slp_crc32(a->body) + (uint32_t)wrong;
    CHECK_INT(get(page, 1000, 1).class, wrong ? SLP_TRANSIENT : SLP_FINE);
    CHECK_INT(page->recs_n, wrong ? 0 : 900);
  }
  slp_buf_free(&body);
  slp_page_free(page);
  close_all();
}

/* ---- cancelling, failing memory ------------------------------------------------------------------------ */
TEST(cancelled_between_the_two_requests_of_a_description) {
  open_at("http://127.0.0.1:4567");
  fake_script(&f, 200, table_answer);
  fake_script(&f, 200, "")->hang = 1;
  slp_op_describe d = {.op = {.on_done = on_done}, .name = SLP_STR("orders")};
  ops->describe(ops, &d);
  fake_run(&f, 1000000);
  CHECK_INT(f.sent_n, 2);
  ops->cancel(ops, &d.op);
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  CHECK_INT(f.cancelled_n, 1);
  close_all();
}

static int story(long n) {
  char why[160];
  int fine = 0;
  scarce memory = {.left = n};
  mem = slp_mem_new(scarce_alloc, &memory);
  if (!mem) return 0;
  fake_init(&f, mem);
  f.env = env;
  slp_aws_options o = {.getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why) == 0) {
    if (slp_streams_new(&ops, aws) == 0) {
      fake_script(&f, 200, table_answer);
      fake_script(&f, 200, stream_answer("ENABLED"));
      slp_op_describe d = {.op = {.on_done = on_done}, .name = SLP_STR("orders")};
      done = 0;
      ops->describe(ops, &d);
      for (int turns = 0; turns < 50 && !done; turns++) {
        f.mono_us += 1000000;
        slp_host_turn(&f.h);
      }
      CHECK_INT(done, 1);
      fine = d.op.fail.class == SLP_FINE;
      if (!fine && d.op.fail.class != SLP_NOMEM) CHECK_FAIL("%ld: %s", n, d.op.fail.message);
      slp_streams_free(ops);
    }
    slp_aws_drop(aws);
  }
  fake_end(&f, mem);
  return fine;
}

TEST(every_failing_allocation_ends_the_op_and_leaks_nothing) {
  long n = 0;
  while (!story(n)) CHECK(++n < 1000);
  CHECK(n > 20);
}
