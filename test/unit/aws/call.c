/* call.c - one call to Kinesis from end to end over a scripted transport: the happy paths and each
 * remedy. */
#include "aws/aws.h"
#include "aws_fake_host.h"
#include "scarce.h"
#include "codec/cbor.h"
#include "sloop.h"

#define PAGE                                                                                 \
  "{\"Records\":[{\"SequenceNumber\":\"49\",\"PartitionKey\":\"k\",\"Data\":\"aGVsbG8=\"}]," \
  "\"NextShardIterator\":\"next\",\"MillisBehindLatest\":7}"
#define HTML "<html>Internal Server Error</html>"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_ops *ops;
static slp_page *page;
static int done;
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};

static void open_with(slp_aws_options o) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env_keys;
  o.getenv_fn = fake_getenv;
  o.getenv_ctx = &f;
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(slp_kinesis_new(&ops, aws), 0);
  page = slp_page_new(mem);
  done = 0;
}

static void open_at(const char *url, slp_wire wire) {
  open_with((slp_aws_options){.endpoint = url, .wire = wire});
}

static void close_all(void) {
  slp_page_free(page);
  slp_kinesis_free(ops);
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n); /* the whole script was played */
  fake_end(&f, mem);
}

static void on_done(slp_op *op) {
  CHECK(op->impl == NULL);
  done++;
}

static slp_op_records records_op(uint32_t tries_max) {
  slp_page_reset(page);
  return (slp_op_records){.op = {.on_done = on_done, .tries_max = tries_max},
                          .iterator = SLP_STR("it"),
                          .limit = 500,
                          .page = page};
}

static slp_fail get(uint32_t tries_max) {
  slp_op_records op = records_op(tries_max);
  int before = done;
  ops->records(ops, &op);
  CHECK_INT(done, before); /* never inside the call */
  fake_run(&f, 600000000);
  CHECK_INT(done, before + 1);
  if (op.op.fail.class != SLP_FINE) CHECK_INT(page->recs_n + page->body.n, 0);
  return op.op.fail;
}

static slp_buf cbor_page(void) {
  slp_buf b;
  slp_buf_init(&b, mem, 10000);
  slp_cbor_put_map(&b, UINT64_MAX);
  slp_cbor_put_text(&b, SLP_STR("Records"));
  slp_cbor_put_array(&b, 1);
  slp_cbor_put_map(&b, 3);
  slp_cbor_put_text(&b, SLP_STR("SequenceNumber"));
  slp_cbor_put_text(&b, SLP_STR("49"));
  slp_cbor_put_text(&b, SLP_STR("PartitionKey"));
  slp_cbor_put_text(&b, SLP_STR("k"));
  slp_cbor_put_text(&b, SLP_STR("Data"));
  slp_cbor_put_bytes(&b, SLP_STR("hello"));
  slp_cbor_put_text(&b, SLP_STR("NextShardIterator"));
  slp_cbor_put_text(&b, SLP_STR("next"));
  slp_cbor_put_text(&b, SLP_STR("MillisBehindLatest"));
  slp_cbor_put_i64(&b, 7);
  slp_cbor_put_break(&b);
  return b;
}

static fake_answer *script_cbor(slp_str body) {
  fake_answer *a = fake_script(&f, 200, "");
  a->content_type = "application/x-amz-cbor-1.1";
  a->body = body;
  return a;
}

static void check_page(void) {
  CHECK_INT(page->recs_n, 1);
  CHECK(slp_str_is(slp_rec_data(page, &page->recs[0]), "hello"));
  CHECK(slp_str_is(page->next, "next"));
  CHECK_INT(page->behind_ms, 7);
}

TEST(records_as_json) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  check_page();
  CHECK_STR(f.sent[0].url, "http://127.0.0.1:4567/");
  CHECK_STR(f.sent[0].target, "Kinesis_20131202.GetRecords");
  CHECK_STR(f.sent[0].type, "application/x-amz-json-1.1");
  CHECK_STR(f.sent[0].body, "{\"ShardIterator\":\"it\",\"Limit\":500}");
  CHECK_INT(f.sent[0].lane, SLP_LANE_PAGES);
  CHECK_INT(f.sent[0].total_ms_max, 30000);
  CHECK(strstr(f.sent[0].authorization, "Credential=AKID/20260102/us-east-1/kinesis/") != NULL);
  CHECK_STR(f.sent[0].token, "");
  close_all();
}

TEST(records_as_cbor_and_files_that_nothing_depends_on_may_be_broken) {
  static const fake_pair env[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                  {"AWS_SECRET_ACCESS_KEY", "secret"},
                                  {"AWS_REGION", "us-east-1"},
                                  {"HOME", "/home/x"},
                                  {NULL, NULL}};
  static const fake_pair files[] = {{"/home/x/.aws/config", "what is this\n"}, {NULL, NULL}};
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  f.env = env;
  f.files = files;
  slp_buf body = cbor_page();
  script_cbor(slp_buf_str(&body));
  CHECK_INT(get(1).class, SLP_FINE);
  check_page();
  CHECK_STR(f.sent[0].type, "application/x-amz-cbor-1.1");
  CHECK_INT((unsigned char)f.sent[0].body[0], 0xa2);
  CHECK_INT(f.sent_n, 1);
  slp_buf_free(&body);
  close_all();
}

TEST(a_description_tells_what_decides_on_shards) {
  static const struct {
    const char *member;
    sloop_placement_t placement;
  } cases[] = {{"", SLOOP_PLACED_BY_KEY},
               {",\"RecordDistributionStrategy\":null", SLOOP_PLACED_BY_KEY},
               {",\"RecordDistributionStrategy\":\"USER_PARTITION_KEY\"", SLOOP_PLACED_BY_KEY_NOW},
               {",\"RecordDistributionStrategy\":\"AUTO\"", SLOOP_PLACED_ANYWHERE},
               {",\"RecordDistributionStrategy\":\"LATER\"", SLOOP_PLACED_ANYWHERE}};
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char body[300];
    snprintf(body, sizeof body, "{\"StreamDescriptionSummary\":{\"StreamStatus\":\"ACTIVE\"%s}}",
             cases[i].member);
    fake_script(&f, 200, body);
    slp_op_describe d = {.op = {.on_done = on_done}, .name = SLP_STR("s"), .placement = 77};
    ops->describe(ops, &d);
    fake_run(&f, 1000000);
    CHECK_INT(d.op.fail.class, SLP_FINE);
    CHECK_INT(d.placement, cases[i].placement);
  }
  close_all();
}

TEST(small_calls_are_json_and_read_whole) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  fake_script(
      &f, 200,
      "{\"StreamDescriptionSummary\":{\"StreamName\":\"s\",\"StreamARN\":\"arn:x\",\"StreamStatus\":"
      "\"UPDATING\",\"StreamModeDetails\":{\"StreamMode\":\"PROVISIONED\"},\"RetentionPeriodHours\":48,"
      "\"StreamCreationTimestamp\":1.4412154108679E9,\"OpenShardCount\":4,\"Tags\":[1,{\"a\":null}]}}");
  slp_op_describe d = {.op = {.on_done = on_done}, .name = SLP_STR("s"), .arn = SLP_STR("arn:x")};
  ops->describe(ops, &d);
  fake_run(&f, 1000000);
  CHECK_INT(d.op.fail.class, SLP_FINE);
  CHECK_STR(d.ret_name, "s");
  CHECK_STR(d.ret_arn, "arn:x");
  CHECK_INT(d.status, SLP_STREAM_UPDATING);
  CHECK_INT(d.retention_hours, 48);
  CHECK_INT(d.open_shards, 4);
  CHECK_INT(d.created_ms, 1441215410868);
  CHECK_STR(f.sent[0].body, "{\"StreamName\":\"s\",\"StreamARN\":\"arn:x\"}");
  CHECK_STR(f.sent[0].type, "application/x-amz-json-1.1");
  CHECK_INT(f.sent[0].lane, SLP_LANE_CONTROL);
  CHECK_INT(f.sent[0].total_ms_max, 10000);
  fake_script(&f, 200, "{\"ShardIterator\":\"AAA/+==\"}");
  slp_op_iterator it = {.op = {.on_done = on_done},
                        .name = SLP_STR("s"),
                        .shard = SLP_STR("shardId-000000000001"),
                        .kind = SLP_ITER_AT_TIME,
                        .at_ms = 1441215410867};
  slp_buf_init(&it.iterator, mem, 4096);
  ops->iterator(ops, &it);
  fake_run(&f, 1000000);
  CHECK_INT(it.op.fail.class, SLP_FINE);
  CHECK_STR(slp_buf_z(&it.iterator), "AAA/+==");
  CHECK_STR(f.sent[1].body,
            "{\"StreamName\":\"s\",\"ShardId\":\"shardId-000000000001\",\"ShardIteratorType\":"
            "\"AT_TIMESTAMP\",\"Timestamp\":1441215410.867}");
  slp_buf_free(&it.iterator);
  close_all();
}

TEST(listings_of_many_rows_are_read_in_slices) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  slp_buf body;
  slp_buf_init(&body, mem, 1 << 20);
  slp_buf_add_z(&body, "{\"NextToken\":\"t\\\"1\",\"Shards\":[");
  for (unsigned i = 0; i < 1000; i++) {
    slp_buf_addf(&body,
                 "%s{\"ShardId\":\"shardId-%012u\",\"ParentShardId\":null,\"AdjacentParentShardId\":\"\","
                 "\"HashKeyRange\":{\"StartingHashKey\":\"0\",\"EndingHashKey\":\"9\"},\"New\":{\"x\":[]},"
                 "\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"%u\"}}",
                 i ? "," : "", i, i);
  }
  slp_buf_add_z(&body, "]}");
  fake_script(&f, 200, "")->body = slp_buf_str(&body);
  slp_op_list_shards l;
  slp_op_list_init(&l, mem);
  l.op.on_done = on_done;
  l.name = SLP_STR("s");
  ops->list_shards(ops, &l);
  fake_run(&f, 1000000);
  CHECK_INT(l.op.fail.class, SLP_FINE);
  CHECK_INT(l.shards_n, 1000);
  CHECK(slp_str_is(l.shards[999].id, "shardId-000000000999"));
  CHECK(slp_str_is(l.shards[999].seq_start, "999"));
  CHECK(l.shards[999].seq_end.p == NULL && l.shards[999].parent.p == NULL &&
        l.shards[999].adjacent_parent.p == NULL);
  CHECK(slp_str_is(l.ret_next, "t\"1"));
  CHECK_STR(f.sent[0].body, "{\"StreamName\":\"s\"}");
  fake_script(&f, 200, "{\"Shards\":[]}");
  slp_op_list_shards next;
  slp_op_list_init(&next, mem);
  next.op.on_done = on_done;
  next.name = SLP_STR("s");
  next.next_token = l.ret_next;
  ops->list_shards(ops, &next);
  fake_run(&f, 1000000);
  CHECK_STR(f.sent[1].body, "{\"NextToken\":\"t\\\"1\"}"); /* alone */
  CHECK(next.ret_next.p == NULL);
  slp_op_list_free(&l);
  slp_op_list_free(&next);
  slp_buf_free(&body);
  close_all();
}

TEST(answers_that_make_no_sense_are_protocol_errors) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  const char *bad[] = {"",
                       "{",
                       "[]",
                       "{}",
                       "null",
                       "{\"StreamDescriptionSummary\":null}",
                       "{\"StreamDescriptionSummary\":{}} x",
                       "{\"StreamDescriptionSummary\":{\"StreamStatus\":7}}"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    fake_script(&f, 200, bad[i]);
    slp_op_describe d = {.op = {.on_done = on_done}, .name = SLP_STR("s")};
    ops->describe(ops, &d);
    fake_run(&f, 1000000);
    CHECK_INT(d.op.fail.class, SLP_TRANSIENT);
    CHECK_INT(d.op.fail.code, SLOOP_EPROTO);
    CHECK_INT(d.op.fail.http_status, 200);
  }
  fake_script(&f, 200, "{\"Records\":[");
  slp_fail fail = get(1);
  CHECK_INT(fail.code, SLOOP_EPROTO);
  CHECK(strstr(fail.message, "byte ") != NULL);
  close_all();
}

TEST(throttled_and_failed_tries_are_repeated_with_growing_waits) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 400, "{\"__type\":\"ProvisionedThroughputExceededException\"}");
  fake_script(&f, 500, "{\"__type\":\"InternalFailure\"}");
  fake_script(&f, 0, "")->error = -ECONNREFUSED;
  fake_script(&f, 200, PAGE);
  slp_op_records op = records_op(4);
  ops->records(ops, &op);
  fake_run(&f, 60000000);
  CHECK_INT(op.op.fail.class, SLP_FINE);
  CHECK_INT(op.op.tries, 4);
  check_page();
  CHECK(f.sent[1].at_us - f.sent[0].at_us <= 1001000 + 1000);
  CHECK_INT(slp_aws_stats_of(aws)->throttles, 1);
  CHECK_INT(slp_aws_stats_of(aws)->retries, 3);
  CHECK_INT(slp_aws_stats_of(aws)->calls, 4);
  close_all();
}

TEST(tries_end_and_the_last_failure_is_told) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 503, HTML);
  fake_script(&f, 500, "{\"__type\":\"InternalFailure\",\"message\":\"oh\"}");
  slp_fail fail = get(2);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EREMOTE);
  CHECK_INT(fail.http_status, 500);
  CHECK_STR(fail.aws_code, "InternalFailure");
  CHECK_STR(fail.request_id, "rq-2");
  CHECK_STR(fail.message, "oh");
  fake_script(&f, 0, "")->error = -ECONNREFUSED;
  fail = get(0); /* counts as one try */
  CHECK_INT(fail.code, -ECONNREFUSED);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  fake_script(&f, 0, "")->error = SLOOP_ETLS;
  fail = get(5); /* not repeated */
  CHECK_INT(fail.code, SLOOP_ETLS);
  fake_script(&f, 0, "")->error = SLOOP_EPROXY;
  fail = get(5); /* nor this */
  CHECK_INT(fail.code, SLOOP_EPROXY);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  fake_script(&f, 400, "{\"__type\":\"InvalidArgumentException\",\"message\":\"bad\"}");
  fail = get(5);
  CHECK_INT(fail.class, SLP_REFUSED);
  CHECK_INT(fail.code, SLOOP_EREFUSED);
  close_all();
}

TEST(the_services_wish_delays_the_next_try) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 500, "{}")->retry_after_ms = 3000;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(2).class, SLP_FINE);
  CHECK(f.sent[1].at_us - f.sent[0].at_us >= 3000000);
  close_all();
}

TEST(a_stale_connection_costs_no_try_once) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_answer *a = fake_script(&f, 0, "");
  a->error = -ECONNRESET;
  a->reused = 1;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(f.sent[1].at_us - f.sent[0].at_us, 1000); /* at once */
  for (int i = 0; i < 2; i++) {
    a = fake_script(&f, 0, "");
    a->error = -ECONNRESET;
    a->reused = 1;
  }
  CHECK_INT(get(1).code, -ECONNRESET);
  a = fake_script(&f, 0, "");
  a->error = SLP_ETIMEDOUT; /* it was sent, and nobody answered: not stale */
  a->reused = 1;
  CHECK_INT(get(1).code, SLP_ETIMEDOUT);
  close_all();
}

/* ---- CBOR ---------------------------------------------------------------------------------------------- */
TEST(an_answer_without_cbor_is_asked_again_as_json_and_two_pin_it) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  for (int i = 0; i < 2; i++) {
    fake_script(&f, 500, HTML)->content_type = "text/html";
    fake_script(&f, 200, PAGE);
    slp_op_records op = records_op(1);
    ops->records(ops, &op);
    fake_run(&f, 1000000);
    CHECK_INT(op.op.fail.class, SLP_FINE);
    CHECK_INT(op.op.tries, 1);
    check_page();
  }
  CHECK(strstr(f.sent[2].type, "cbor") != NULL);
  CHECK(strstr(f.sent[3].body, "\"ShardIterator\":\"it\"") != NULL);
  fake_script(&f, 200, PAGE); /* pinned: JSON at once */
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK(strstr(f.sent[4].type, "json") != NULL);
  CHECK_INT(slp_aws_stats_of(aws)->cbor_refused, 2);
  close_all();
}

TEST(cut_cbor_with_status_200_is_asked_again_as_json) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  slp_buf body = cbor_page();
  script_cbor((slp_str){body.p, body.n - 5});
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  check_page();
  CHECK_INT(f.sent_n, 2);
  slp_buf_free(&body);
  close_all();
}

TEST(an_outage_says_nothing_about_cbor) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  for (int i = 0; i < 3; i++) { /* fails as JSON too */
    fake_script(&f, 503, HTML)->content_type = "text/html";
    fake_script(&f, 503, HTML)->content_type = "text/html";
    CHECK_INT(get(1).class, SLP_TRANSIENT);
  }
  for (int i = 0; i < 3; i++) { /* empty: not asked again */
    fake_script(&f, 503, "")->content_type = "";
    CHECK_INT(get(1).class, SLP_TRANSIENT);
  }
  slp_buf body = cbor_page();
  script_cbor(slp_buf_str(&body));
  CHECK_INT(get(1).class, SLP_FINE);
  slp_buf_free(&body);
  close_all();
}

TEST(cbor_errors_are_read_as_cbor) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_AUTO);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  slp_cbor_put_map(&b, 1);
  slp_cbor_put_text(&b, SLP_STR("__type"));
  slp_cbor_put_text(&b, SLP_STR("ExpiredIteratorException"));
  fake_answer *a = script_cbor(slp_buf_str(&b));
  a->status = 400;
  CHECK_INT(get(1).class, SLP_EXPIRED);
  slp_buf_free(&b);
  close_all();
}

TEST(forced_cbor_never_falls_back) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_CBOR);
  fake_script(&f, 500, HTML)->content_type = "text/html";
  slp_fail fail = get(1);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EREMOTE);
  slp_buf body = cbor_page();
  script_cbor((slp_str){body.p, body.n - 5});
  fail = get(1);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EPROTO);
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).code, SLOOP_EPROTO);
  slp_buf_free(&body);
  close_all();
}

TEST(an_error_does_not_repeat_the_secret_key) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 400, "{\"__type\":\"AccessDeniedException\",\"message\":\"signed with secret!\"}");
  slp_fail fail = get(1);
  CHECK_STR(fail.message, "no permission for kinesis:GetRecords: signed with ******!");
  close_all();
}

/* ---- clock --------------------------------------------------------------------------------------------- */
TEST(a_wrong_clock_is_corrected_once_and_stays_corrected) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  const char *refused = "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature expired\"}";
  fake_script(&f, 400, refused)->date_off_ms = 3600000;
  fake_script(&f, 200, PAGE)->date_off_ms = 3600000;
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_STR(f.sent[0].date, "20260102T030405Z");
  CHECK_STR(f.sent[1].date, "20260102T040405Z");
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK(strncmp(f.sent[2].date, "20260102T0404", 13) == 0);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 1);
  f.wall_off_ms = 3600000; /* the machine's clock is set right while we run */
  fake_script(&f, 400, refused)->date_off_ms = 0;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 2);
  close_all();
}

TEST(a_clock_set_wrong_again_behind_any_other_end_of_a_try_is_corrected_again) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  const char *refused = "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature expired\"}";
  fake_script(&f, 400, refused)->date_off_ms = 3600000;
  fake_script(&f, 400, "{\"__type\":\"LimitExceededException\"}");
  fake_script(&f, 400, refused)->date_off_ms = 7200000;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(5).class, SLP_FINE);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 2);
  fake_script(&f, 400, refused)->date_off_ms = 10800000;
  fake_script(&f, 0, "")->error = -ECONNRESET;
  fake_script(&f, 400, refused)->date_off_ms = 14400000;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(5).class, SLP_FINE);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 4);
  close_all();
}

#define MINUTE_US UINT64_C(60000000)

/* Refused for a wrong clock, and frozen before that is read: the Date is as old as that. */
TEST(a_refusal_read_long_after_it_was_made_sets_no_clock_and_is_asked_again) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  const char *refused = "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature expired\"}";
  fake_answer *late = fake_script(&f, 400, refused);
  late->date_off_ms = 3600000;
  late->late_us = 6 * MINUTE_US;
  fake_script(&f, 400, refused)->date_off_ms = 3600000;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_STR(f.sent[1].date, "20260102T031005Z");
  CHECK_STR(f.sent[2].date, "20260102T041005Z");
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 1);
  close_all();
}

/* The machine slept: its monotonic clock stood still. */
TEST(a_refusal_read_behind_a_jump_of_the_clock_is_asked_again) {
  open_at("http://kin.example", SLP_WIRE_JSON);
  const char *refused = "{\"__type\":\"InvalidSignatureException\",\"message\":\"Signature expired\"}";
  fake_script(&f, 400, refused)->jump_ms = 300000;
  fake_script(&f, 400, refused)->jump_ms = -300000;
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 0);
  close_all();
}

TEST(refusals_read_late_are_asked_again_three_times_and_a_bad_key_at_once_tells) {
  open_at("http://kin.example", SLP_WIRE_JSON);
  const char *refused = "{\"__type\":\"SignatureDoesNotMatch\"}";
  for (int i = 0; i < 4; i++) fake_script(&f, 403, refused)->late_us = 5 * MINUTE_US;
  CHECK_INT(get(1).class, SLP_AUTH);
  fake_script(&f, 403, refused)->late_us = 5 * MINUTE_US;
  fake_script(&f, 403, refused);
  CHECK_INT(get(5).class, SLP_AUTH);
  fake_script(&f, 403, refused)->late_us = 3 * MINUTE_US;
  CHECK_INT(get(5).class, SLP_AUTH);
  close_all();
}

TEST(a_refused_signature_with_the_right_time_is_final) {
  open_at("https://kin.example", SLP_WIRE_JSON);
  fake_script(&f, 403, "{\"__type\":\"SignatureDoesNotMatch\"}")->date_off_ms = 239000;
  slp_fail fail = get(5);
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_INT(fail.code, SLOOP_EAUTH);
  fake_script(&f, 403, "{\"__type\":\"SignatureDoesNotMatch\"}")->date_off_ms = FAKE_NO_DATE;
  CHECK_INT(get(5).class, SLP_AUTH);
  for (int i = 0; i < 2; i++)
    fake_script(&f, 403, "{\"__type\":\"SignatureDoesNotMatch\"}")->date_off_ms =
        -900000 * (i + 1);           /* a Date that runs away */
  CHECK_INT(get(5).class, SLP_AUTH); /* once more, then no more */
  close_all();
}

TEST(dates_of_plain_http_hosts_far_away_are_not_believed) {
  open_at("http://kin.example", SLP_WIRE_JSON);
  fake_script(&f, 403, "{\"__type\":\"RequestExpired\"}")->date_off_ms = 3600000;
  CHECK_INT(get(5).class, SLP_AUTH);
  CHECK_INT(slp_aws_stats_of(aws)->clock_fixes, 0);
  close_all();
}

/* ---- credentials --------------------------------------------------------------------------------------- */
static int asked;
static const char *next_key;
static int answer_later;
static int64_t expires_ms;
static void give_keys(void *ctx, slp_aws *a) {
  (void)ctx;
  asked++;
  if (answer_later) return;
  slp_aws_keys keys = {slp_str_of(next_key), SLP_STR("secret"), SLP_STR("token"), expires_ms};
  slp_aws_keys_done(a, next_key ? 0 : -1, &keys, "the vault is sealed");
}

static void open_with_callback(void) {
  asked = answer_later = 0;
  next_key = "FIRST";
  expires_ms = SLP_KEYS_NEVER;
  open_with((slp_aws_options){.endpoint = "http://localhost:1", .wire = SLP_WIRE_JSON, .creds = give_keys});
}

TEST(expired_keys_are_fetched_anew_and_the_call_repeated_at_once) {
  open_with_callback();
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(asked, 1);
  CHECK_STR(f.sent[0].token, "token");
  next_key = "SECOND";
  fake_script(&f, 400, "{\"__type\":\"ExpiredTokenException\"}");
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(asked, 2);
  CHECK(strstr(f.sent[2].authorization, "Credential=SECOND/") != NULL);
  CHECK(strstr(f.sent[2].authorization, "x-amz-security-token") != NULL);
  close_all();
}

/* The answer of one bad front end, or of somebody on the way to a plain local one. */
TEST(one_refusal_with_a_date_of_another_year_stops_nothing) {
  static const char skewed[] = "{\"__type\":\"RequestTimeTooSkewed\"}";
  static const int64_t years[] = {73, -40, 1};
  for (size_t i = 0; i < SLP_COUNT(years); i++) {
    open_with_callback();
    expires_ms = FAKE_WALL_MS + 6 * 3600000;
    fake_script(&f, 200, PAGE);
    CHECK_INT(get(1).class, SLP_FINE);
    fake_script(&f, 403, skewed)->date_off_ms = years[i] * 365 * 86400 * 1000;
    fake_script(&f, 403, skewed); /* now it is wrong */
    CHECK_INT(get(1).class, SLP_AUTH);
    fake_script(&f, 403, skewed);
    fake_script(&f, 200, PAGE);
    CHECK_INT(get(1).class, SLP_FINE);
    CHECK(strncmp(f.sent[4].date, "20260102T03", 11) == 0);
    CHECK(asked <= 3);
    int before = asked;
    f.mono_us += 5 * 60 * MINUTE_US;
    fake_script(&f, 200, PAGE);
    CHECK_INT(get(1).class, SLP_FINE);
    CHECK_INT(asked, before);
    close_all();
  }
}

TEST(keys_that_stay_the_same_are_not_tried_again) {
  open_with_callback();
  fake_script(&f, 400, "{\"__type\":\"UnrecognizedClientException\",\"message\":\"who?\"}");
  slp_fail fail = get(5);
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_INT(fail.code, SLOOP_EAUTH);
  CHECK_STR(fail.message, "who?");
  CHECK_INT(asked, 2);
  fake_script(&f, 400, "{\"__type\":\"UnrecognizedClientException\",\"message\":\"who?\"}");
  CHECK_INT(get(5).class, SLP_AUTH);
  CHECK_INT(asked, 2); /* a moment ago */
  close_all();
}

TEST(why_there_are_no_new_keys_is_told_with_the_refusal_of_the_old_ones) {
  open_with_callback();
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  next_key = NULL;
  fake_script(&f, 400, "{\"__type\":\"ExpiredTokenException\",\"message\":\"It is expired.\"}");
  slp_fail fail = get(1);
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_STR(fail.aws_code, "ExpiredTokenException");
  CHECK_STR(fail.message, "It is expired. No new keys: the creds callback gave none: the vault is sealed");
  CHECK_INT(asked, 2);
  close_all();
}

TEST(keys_that_fit_into_no_request_are_told_as_what_they_are) {
  static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};
  static char text[70001];
  memset(text, 'k', sizeof text - 1);
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    fake_pair env[] = {
        {names[0], "AKID"}, {names[1], "secret"}, {names[2], "token"}, {"AWS_REGION", "r"}, {0}};
    env[i].value = text;
    open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
    f.env = env;
    slp_fail fail = get(1);
    CHECK_INT(fail.class, SLP_AUTH);
    CHECK_INT(fail.code, SLOOP_EAUTH);
    CHECK(strstr(fail.message, "the keys are too long: access key id ") && strstr(fail.message, " 70000"));
    close_all();
  }
}

TEST(many_calls_wait_for_one_attempt) {
  open_with_callback();
  answer_later = 1;
  slp_op_iterator its[5];
  for (int i = 0; i < 5; i++) {
    its[i] = (slp_op_iterator){
        .op = {.on_done = on_done}, .name = SLP_STR("s"), .shard = SLP_STR("x"), .kind = SLP_ITER_LATEST};
    slp_buf_init(&its[i].iterator, mem, 4096);
    ops->iterator(ops, &its[i]);
  }
  fake_run(&f, 1000000);
  CHECK_INT(asked, 1);
  CHECK_INT(f.sent_n, 0);
  ops->cancel(ops, &its[2].op);
  for (int i = 0; i < 4; i++) fake_script(&f, 200, "{\"ShardIterator\":\"i\"}");
  slp_aws_keys keys = {SLP_STR("LATE"), SLP_STR("secret"), {NULL, 0}, SLP_KEYS_NEVER};
  slp_aws_keys_done(aws, 0, &keys, NULL);
  slp_aws_keys_done(aws, 0, &keys, NULL); /* a second answer is ignored */
  fake_run(&f, 1000000);
  CHECK_INT(done, 4);
  for (int i = 0; i < 5; i++) slp_buf_free(&its[i].iterator);
  close_all();
}

TEST(a_callback_that_never_answers_ends_the_call_with_its_reason) {
  open_with_callback();
  answer_later = 1;
  slp_fail fail = get(1);
  CHECK_INT(fail.class, SLP_TRANSIENT);
  CHECK_INT(fail.code, SLOOP_EAUTH);
  CHECK(strstr(fail.message, "60 seconds") != NULL);
  close_all();
}

TEST(a_callback_that_fails_is_asked_again_later_not_at_once) {
  open_with_callback();
  answer_later = 1;
  for (int i = 0; i < 3; i++) {
    slp_op_records op = records_op(1);
    ops->records(ops, &op);
    fake_run(&f, 1000);
    slp_aws_keys_done(aws, -1, NULL, "vault is sealed");
    fake_run(&f, 1000);
    CHECK_INT(done, i + 1);
    CHECK_INT(op.op.fail.class, SLP_AUTH);
    CHECK_STR(op.op.fail.message, "the creds callback gave none: vault is sealed");
  }
  CHECK_INT(asked, 1);
  close_all();
}

TEST(missing_settings_are_told_with_their_remedy) {
  static const fake_pair nothing[] = {
      {"HOME", "/home/x"}, {"AWS_EC2_METADATA_DISABLED", "true"}, {NULL, NULL}};
  open_with((slp_aws_options){.region = "us-east-1", .wire = SLP_WIRE_JSON});
  f.env = nothing;
  slp_fail fail = get(5);
  CHECK_INT(fail.class, SLP_AUTH);
  CHECK_INT(fail.code, SLOOP_EAUTH);
  CHECK_STR(
      fail.message,
      "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put them in ~/.aws/credentials "
      "(no /home/x/.aws/credentials, no /home/x/.aws/config; no role of this machine or container was found "
      "either)");
  close_all();
  open_with((slp_aws_options){.wire = SLP_WIRE_JSON, .endpoint = "http://127.0.0.1:1"});
  f.env = nothing;
  fail = get(5);
  CHECK_INT(fail.class, SLP_REFUSED);
  CHECK_INT(fail.code, SLOOP_EOPTION);
  CHECK(strstr(fail.message, "AWS_REGION") != NULL);
  close_all();
}

TEST(region_keys_and_url_come_from_the_files_when_the_environment_is_empty) {
  static const fake_pair home[] = {{"HOME", "/home/x"}, {NULL, NULL}};
  static const fake_pair files[] = {
      {"/home/x/.aws/credentials", "[default]\naws_access_key_id = FILEKEY\naws_secret_access_key = s\n"},
      {"/home/x/.aws/config", "[default]\nregion = eu-north-1\nendpoint_url = http://localhost:7\n"},
      {NULL, NULL}};
  open_with((slp_aws_options){.wire = SLP_WIRE_JSON});
  f.env = home;
  f.files = files;
  fake_script(&f, 200, PAGE);
  fake_script(&f, 200, PAGE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_STR(f.sent[0].url, "http://localhost:7/");
  CHECK(strstr(f.sent[0].authorization, "Credential=FILEKEY/20260102/eu-north-1/kinesis/") != NULL);
  CHECK_INT(f.file_reads_n, 4); /* once for the settings, once for the keys */
  close_all();
}

#define ACCOUNT_ENV(...)                                                                             \
  (const fake_pair[]) {                                                                              \
    {"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "secret"}, {"AWS_REGION", "us-east-1"}, \
        __VA_ARGS__, {                                                                               \
      NULL, NULL                                                                                     \
    }                                                                                                \
  }

static void get_at(const fake_pair *env, slp_str arn, const char *want_url) {
  open_with((slp_aws_options){.wire = SLP_WIRE_JSON});
  f.env = env;
  fake_script(&f, 200, PAGE);
  slp_op_records op = records_op(1);
  op.arn = arn;
  ops->records(ops, &op);
  fake_run(&f, 600000000);
  CHECK_INT(op.op.fail.class, SLP_FINE);
  CHECK_STR(f.sent[0].url, want_url);
  close_all();
}

TEST(a_call_goes_to_the_host_of_its_account) {
  const slp_str arn = SLP_STR("arn:aws:kinesis:us-east-1:222222222222:stream/s"), none = {NULL, 0};
  get_at(ACCOUNT_ENV({"AWS_ACCOUNT_ID", "111111111111"}), none,
         "https://111111111111.data-kinesis.us-east-1.amazonaws.com/");
  get_at(ACCOUNT_ENV({"AWS_ACCOUNT_ID", "111111111111"}), arn,
         "https://222222222222.data-kinesis.us-east-1.amazonaws.com/");
  get_at(ACCOUNT_ENV({NULL, NULL}), arn, "https://222222222222.data-kinesis.us-east-1.amazonaws.com/");
  get_at(ACCOUNT_ENV({NULL, NULL}), none, "https://kinesis.us-east-1.amazonaws.com/");
  get_at(ACCOUNT_ENV({"AWS_ACCOUNT_ID", "111111111111"}, {"AWS_ACCOUNT_ID_ENDPOINT_MODE", "Disabled"}), arn,
         "https://kinesis.us-east-1.amazonaws.com/");
  get_at(ACCOUNT_ENV({"AWS_ACCOUNT_ID", "111111111111"}, {"AWS_ACCOUNT_ID_ENDPOINT_MODE", "required"},
                     {"AWS_ENDPOINT_URL", "http://h:1"}),
         arn, "http://h:1/");
}

/* The signature is made over the host that the request goes to. */
TEST(the_host_of_the_account_is_the_one_that_is_signed) {
  char authorization[6000];
  get_at(ACCOUNT_ENV({"AWS_ENDPOINT_URL", "https://1.data-kinesis.us-east-1.amazonaws.com"}), SLP_STR(""),
         "https://1.data-kinesis.us-east-1.amazonaws.com/");
  memcpy(authorization, f.sent[0].authorization, sizeof authorization);
  get_at(ACCOUNT_ENV({"AWS_ACCOUNT_ID", "1"}), SLP_STR(""),
         "https://1.data-kinesis.us-east-1.amazonaws.com/");
  CHECK_STR(f.sent[0].authorization, authorization);
}

TEST(an_account_that_is_required_and_not_known_is_told_and_nothing_sent) {
  open_with((slp_aws_options){.wire = SLP_WIRE_JSON});
  f.env = ACCOUNT_ENV({"AWS_ACCOUNT_ID_ENDPOINT_MODE", "required"});
  slp_fail fail = get(3);
  CHECK_INT(fail.class, SLP_REFUSED);
  CHECK_INT(fail.code, SLOOP_EOPTION);
  CHECK(strstr(fail.message, "set AWS_ACCOUNT_ID, or aws_account_id in the profile") != NULL);
  CHECK_INT(f.sent_n, 0);
  close_all();
  open_with((slp_aws_options){.wire = SLP_WIRE_JSON});
  f.env = ACCOUNT_ENV({"AWS_ACCOUNT_ID_ENDPOINT_MODE", "always"});
  CHECK(strstr(get(3).message, "AWS_ACCOUNT_ID_ENDPOINT_MODE always is none of preferred, disabled") != NULL);
  CHECK_INT(f.sent_n, 0);
  close_all();
}

TEST(bad_options_are_refused_at_once) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  CHECK_INT(slp_aws_new(&aws, &f.h, &(slp_aws_options){.endpoint = "localhost"}, why), SLOOP_EOPTION);
  CHECK(strstr(why, "http://") != NULL);
  CHECK_INT(slp_aws_new(&aws, &f.h, &(slp_aws_options){.region = "a b"}, why), SLOOP_EOPTION);
  fake_end(&f, mem);
}

/* ---- flow ---------------------------------------------------------------------------------------------- */
static size_t allowed;
static int grow(slp_op_records *op, size_t more) { return op->page->body.n + more <= allowed; }

TEST(a_body_that_outgrows_its_leave_waits_for_resume) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  fake_script(&f, 200, PAGE)->piece = 16;
  slp_op_records op = records_op(1);
  op.may_grow = grow;
  allowed = 40;
  ops->records(ops, &op);
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  CHECK_INT(page->body.n, 32);
  allowed = 10000;
  ops->resume(ops, &op.op);
  fake_run(&f, 1000000);
  CHECK_INT(done, 1);
  CHECK_INT(f.resumed_n, 1);
  CHECK_INT(op.body_bytes, strlen(PAGE));
  check_page();
  close_all();
}

TEST(cancel_is_silent_in_every_state) {
  open_at("http://127.0.0.1:4567", SLP_WIRE_JSON);
  slp_op_records op = records_op(5);
  ops->cancel(ops, &op.op); /* not sent */
  ops->records(ops, &op);   /* waits for credentials */
  ops->cancel(ops, &op.op);
  fake_run(&f, 1000000);
  fake_script(&f, 0, "")->hang = 1;
  op = records_op(5);
  ops->records(ops, &op);
  fake_run(&f, 1000000);
  CHECK_INT(f.sent_n, 1);
  ops->cancel(ops, &op.op); /* in flight */
  CHECK_INT(f.cancelled_n, 1);
  fake_script(&f, 400, "{\"__type\":\"LimitExceededException\"}")->retry_after_ms = 3000;
  op = records_op(5);
  ops->records(ops, &op);
  fake_run(&f, 100000);
  CHECK_INT(f.sent_n, 2);
  ops->cancel(ops, &op.op); /* waits to try again */
  fake_run(&f, 60000000);
  CHECK_INT(f.sent_n, 2);
  slp_buf big; /* in the middle of parsing */
  slp_buf_init(&big, mem, 1 << 20);
  slp_buf_add_z(&big, "{\"Records\":[");
  for (int i = 0; i < 2000; i++) {
    slp_buf_addf(&big, "%s{\"SequenceNumber\":\"%d\",\"PartitionKey\":\"k\",\"Data\":\"\"}", i ? "," : "",
                 i + 1);
  }
  slp_buf_add_z(&big, "],\"NextShardIterator\":\"n\"}");
  fake_script(&f, 200, "")->body = slp_buf_str(&big);
  op = records_op(5);
  ops->records(ops, &op);
  f.tick_us = 400; /* a turn has time for few slices of 256 records */
  slp_host_turn(&f.h);
  CHECK(page->recs_n > 0 && page->recs_n < 2000);
  ops->cancel(ops, &op.op);
  f.tick_us = 0;
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  fake_script(&f, 200, "")->body = slp_buf_str(&big);
  CHECK_INT(get(1).class, SLP_FINE);
  CHECK_INT(page->recs_n, 2000);
  slp_buf_free(&big);
  close_all();
}

/* ---- memory -------------------------------------------------------------------------------------------- */
/* Plays the whole story, with the n-th allocation and all after it failing. 1: it ended well. */
static int story(long n) {
  char why[160];
  int fine = 0;
  scarce memory = {.left = n};
  mem = slp_mem_new(scarce_alloc, &memory);
  if (!mem) return 0;
  fake_init(&f, mem);
  f.env = env_keys;
  slp_aws_options o = {
      .wire = SLP_WIRE_AUTO, .getenv_fn = fake_getenv, .getenv_ctx = &f, .stream_arn = "arn:x"};
  ops = NULL;
  if (slp_aws_new(&aws, &f.h, &o, why) == 0) {
    if (slp_kinesis_new(&ops, aws) == 0) {
      slp_op_list_shards l;
      slp_op_list_init(&l, mem);
      l.op.on_done = on_done;
      l.name = SLP_STR("s");
      fake_script(&f, 200, "{\"Shards\":[{\"ShardId\":\"a\"}]}");
      done = 0;
      ops->list_shards(ops, &l);
      for (int turns = 0; turns < 50 && !done; turns++) { /* even if no timer could be set */
        f.mono_us += 1000000;
        slp_host_turn(&f.h);
      }
      CHECK_INT(done, 1);
      fine = l.op.fail.class == SLP_FINE;
      if (!fine && l.op.fail.class != SLP_NOMEM) {
        CHECK_FAIL("%ld: %s: %s", n, slp_class_name(l.op.fail.class), l.op.fail.message);
      }
      slp_op_list_free(&l);
      slp_kinesis_free(ops);
    }
    slp_aws_drop(aws);
  }
  fake_end(&f, mem);
  return fine;
}

TEST(every_failing_allocation_ends_the_call_and_leaks_nothing) {
  long n = 0;
  while (!story(n)) CHECK(++n < 1000);
  CHECK(n > 20);
}
