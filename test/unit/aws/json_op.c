/* aws/json_op.c: one call in JSON: what is sent again and what never is, checksums, answers read in slices.
 */
#include "aws/json_op.h"

#include "aws_fake_host.h"
#include "codec/crc32.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_json_op op;
static int done, reads, begins, slices, bad_reads;
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};

static int on_read(slp_json_op *o, int begin, const char **why) {
  CHECK(o == &op);
  reads++;
  begins += begin;
  if (bad_reads > 0 && bad_reads--) {
    *why = "it has no head";
    return SLP_EBADDATA;
  }
  return reads % slices ? SLP_MORE : 0;
}
static void on_done(slp_json_op *o) {
  CHECK(o == &op);
  done++;
}

static void open_op(int once) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env_keys;
  slp_aws_options o = {.endpoint = "http://127.0.0.1:8000", .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  slp_json_op_init(&op, aws, 100000);
  op.svc = SLP_SVC_DYNAMODB;
  op.lane = SLP_LANE_LEASES;
  op.target = SLP_STR("DynamoDB_20120810.UpdateItem");
  op.ms_max = 4321;
  op.tries_max = 3;
  op.once = (uint8_t)once;
  op.read = on_read;
  op.on_done = on_done;
  slices = 1;
  CHECK_INT(slp_buf_add_z(&op.request, "{\"TableName\":\"t\"}"), 0);
}

static slp_class send(void) {
  done = reads = begins = 0;
  slp_json_op_send(&op);
  CHECK_INT(done, 0); /* never inside the call */
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
  return op.fail.class;
}

static void close_op(void) {
  slp_json_op_free(&op);
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}

TEST(it_is_sent_as_the_service_wants_it_and_read_in_slices) {
  open_op(0);
  slices = 3;
  fake_script(&f, 200, "{}")->crc32 = slp_crc32(SLP_STR("{}"));
  CHECK_INT(send(), SLP_FINE);
  CHECK_INT(reads, 3);
  CHECK_INT(begins, 1);
  CHECK_STR(f.sent[0].target, "DynamoDB_20120810.UpdateItem");
  CHECK_STR(f.sent[0].type, "application/x-amz-json-1.0");
  CHECK_STR(f.sent[0].body, "{\"TableName\":\"t\"}");
  CHECK_INT(f.sent[0].lane, SLP_LANE_LEASES);
  CHECK_INT(f.sent[0].total_ms_max, 4321);
  CHECK(strstr(f.sent[0].authorization, "/us-east-1/dynamodb/aws4_request"));
  CHECK(slp_str_is(slp_buf_str(&op.answer), "{}"));
  close_op();
}

#define THROTTLED "{\"__type\":\"x#ProvisionedThroughputExceededException\",\"message\":\"slow down\"}"
#define FAILED                                                                                               \
  "{\"__type\":\"x#ConditionalCheckFailedException\",\"message\":\"no\",\"Item\":{\"a\":{\"S\":\"\\u0041\"}" \
  "}}"

TEST(a_read_is_sent_again_after_any_passing_failure) {
  open_op(0);
  bad_reads = 1;
  fake_script(&f, 500, "");
  fake_script(&f, 200, "{}"); /* can't be read */
  fake_script(&f, 200, "{}");
  CHECK_INT(send(), SLP_FINE);
  fake_script(&f, 200, "{}")->crc32 = 1;
  fake_script(&f, 200, "")->error = -ECONNRESET;
  fake_script(&f, 200, "{}");
  CHECK_INT(send(), SLP_FINE);
  close_op();
}

TEST(what_may_have_happened_is_not_sent_again) {
  open_op(1);
  for (int i = 0; i < 5; i++) {
    bad_reads = i == 4;
    fake_answer *a = fake_script(&f, i == 0 ? 500 : 200, i == 0 ? "" : "{}");
    if (i == 1) a->error = -ECONNRESET;
    if (i == 2) a->error = SLP_ETIMEDOUT;
    if (i == 1) a->reused = 1; /* a kept connection is no excuse */
    if (i == 3) a->crc32 = 1;
    CHECK_INT(send(), SLP_TRANSIENT);
    CHECK_INT(f.sent_n, i + 1);
  }
  CHECK(strstr(op.fail.message, "it has no head"));
  close_op();
}

TEST(what_was_throttled_has_not_happened_and_is_sent_again) {
  open_op(1);
  fake_script(&f, 400, THROTTLED);
  fake_script(&f, 400, THROTTLED);
  fake_script(&f, 200, "{}");
  uint64_t began = slp_now_refresh_us(&f.h);
  CHECK_INT(send(), SLP_FINE);
  CHECK_INT(op.throttles, 2);
  CHECK(op.sent_us == began && op.done_us > began); /* not later than the first try */
  op.tries_max = 1;
  fake_script(&f, 400, THROTTLED);
  CHECK_INT(send(), SLP_THROTTLE);
  CHECK_INT(op.throttles, 1);
  close_op();
}

TEST(the_body_of_a_refusal_is_kept_as_it_came) {
  open_op(1);
  fake_script(&f, 400, FAILED);
  CHECK_INT(send(), SLP_REFUSED);
  CHECK_STR(op.fail.aws_code, "ConditionalCheckFailedException");
  CHECK(slp_str_is(slp_buf_str(&op.refusal), FAILED));
  fake_script(&f, 400, FAILED)->crc32 = 1; /* damaged: it says nothing */
  CHECK_INT(send(), SLP_TRANSIENT);
  fake_script(&f, 200, "{}");
  CHECK_INT(send(), SLP_FINE);
  CHECK_INT(op.refusal.n, 0);
  close_op();
}

TEST(a_cancelled_call_is_silent) {
  open_op(0);
  slices = 1000000;
  fake_script(&f, 200, "{}")->hang = 1;
  slp_json_op_send(&op);
  fake_run(&f, 1000);
  slp_json_op_cancel(&op);
  fake_script(&f, 200, "{}"); /* between two slices */
  done = 0;
  slp_json_op_send(&op);
  for (int i = 0; i < 3; i++) slp_host_turn(&f.h);
  CHECK(reads > 1);
  slp_json_op_cancel(&op);
  fake_run(&f, 1000000);
  CHECK_INT(done, 0);
  close_op();
}
