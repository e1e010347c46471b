/* aws/cloudwatch.c: a call's words and limits, and its outcome. The vectors (botocore) and
 * process/metrics.py (moto) show that services accept it. */
#include "aws/cloudwatch.h"

#include "aws_fake_host.h"
#include "sloop.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_cw_put put;
static int done;
static const fake_pair keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                 {"AWS_SECRET_ACCESS_KEY", "secret"},
                                 {"AWS_REGION", "us-east-1"},
                                 {"AWS_ENDPOINT_URL_CLOUDWATCH", "http://127.0.0.1:9"},
                                 {NULL, NULL}};

static void on_done(slp_cw_put *p) {
  CHECK(p == &put);
  done++;
}

static void begin(void) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = keys;
  /* The stream's own endpoint is not CloudWatch's. */
  slp_aws_options o = {.endpoint = "http://127.0.0.1:8000", .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  slp_cw_put_init(&put, aws);
  put.on_done = on_done;
  CHECK_INT(slp_cw_put_begin(&put, SLP_STR("My/Space"), 1767323045120), 0);
}
static void end(void) {
  slp_cw_put_free(&put);
  slp_aws_drop(aws);
  CHECK_INT(f.answered_n, f.answers_n);
  fake_end(&f, mem);
}

static slp_cw_datum lag(slp_str shard, uint64_t ms) {
  return (slp_cw_datum){
      "MillisBehindLatest", "Milliseconds", ms, 0, 2, {{"Stream", SLP_STR("orders")}, {"Shard", shard}}};
}
static void add(slp_str shard, uint64_t ms) {
  slp_cw_datum d = lag(shard, ms);
  CHECK_INT(slp_cw_put_add(&put, &d), 0);
}
static slp_class send(void) {
  done = 0;
  slp_cw_put_send(&put);
  CHECK_INT(done, 0); /* never inside the call */
  fake_run(&f, 600000000);
  CHECK_INT(done, 1);
  return put.fail.class;
}

TEST(what_is_sent) {
  begin();
  add(SLP_STR("shard-\"1\""), 1500);
  slp_cw_datum d = {"StoreUnits", "Count", 1500, 3, 0, {{NULL, {NULL, 0}}}};
  CHECK_INT(slp_cw_put_add(&put, &d), 0);
  CHECK_INT(put.data_n, 2);
  fake_script(&f, 200, "{}");
  CHECK_INT(send(), SLP_FINE);
  CHECK_STR(f.sent[0].url, "http://127.0.0.1:9/");
  CHECK_STR(f.sent[0].target, "GraniteServiceVersion20100801.PutMetricData");
  CHECK_STR(f.sent[0].type, "application/x-amz-json-1.0");
  CHECK(strstr(f.sent[0].authorization, "/us-east-1/monitoring/aws4_request"));
  CHECK_STR(
      f.sent[0].body,
      "{\"Namespace\":\"My/Space\",\"MetricData\":[{\"MetricName\":\"MillisBehindLatest\",\"Dimensions\":[{"
      "\"Name\":\"Stream\",\"Value\":\"orders\"},{\"Name\":\"Shard\",\"Value\":\"shard-\\\"1\\\"\"}],"
      "\"Timestamp\":1767323045.12,\"Value\":1500,\"Unit\":\"Milliseconds\"},{\"MetricName\":\"StoreUnits\","
      "\"Dimensions\":[],\"Timestamp\":1767323045.12,\"Value\":1.5,\"Unit\":\"Count\"}]}");
  end();
}

TEST(a_thousand_are_full) {
  begin();
  for (unsigned i = 0; i < SLP_CLOUDWATCH_DATA_MAX; i++) add(SLP_STR("s"), i);
  slp_cw_datum d = lag(SLP_STR("s"), 1);
  size_t n = put.op.request.n;
  CHECK_INT(slp_cw_put_add(&put, &d), SLP_MORE);
  CHECK_INT(put.op.request.n, n);
  CHECK_INT(put.data_n, 1000);
  CHECK_INT(slp_cw_put_begin(&put, SLP_STR("My/Space"), 0), 0);
  CHECK_INT(put.data_n, 0);
  CHECK_INT(slp_cw_put_add(&put, &d), 0);
  end();
}

TEST(a_megabyte_is_full) {
  static char name[SLP_CLOUDWATCH_VALUE_MAX];
  int r = 0;
  begin();
  memset(name, '"', sizeof name); /* each becomes two */
  slp_cw_datum d = lag((slp_str){name, sizeof name}, 1);
  while (!r) r = slp_cw_put_add(&put, &d);
  CHECK_INT(r, SLP_MORE);
  CHECK(put.op.request.n <= 1000000 && put.op.request.n > 1000000 - 2400);
  CHECK(put.data_n > 400 && put.data_n < SLP_CLOUDWATCH_DATA_MAX);
  slp_str body = slp_buf_str(&put.op.request);
  CHECK(memcmp(body.p + body.n - 3, "}]}", 3) == 0); /* whole, without the one that did not fit */
  end();
}

TEST(what_the_service_would_refuse_is_left_out) {
  static char name[SLP_CLOUDWATCH_VALUE_MAX + 1];
  begin();
  memset(name, 'a', sizeof name);
  add(SLP_STR("good"), 1);
  size_t n = put.op.request.n;
  slp_str bad[] = {{name, sizeof name}, SLP_STR(""), SLP_STR("\xff")};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    slp_cw_datum d = lag(bad[i], 1);
    CHECK_INT(slp_cw_put_add(&put, &d), SLP_EBADDATA);
    CHECK_INT(put.op.request.n, n);
  }
  add((slp_str){name, sizeof name - 1}, 2);
  CHECK_INT(put.data_n, 2);
  fake_script(&f, 200, "");
  CHECK(put.op.request.n < sizeof f.sent[0].body);
  CHECK_INT(send(), SLP_FINE);
  CHECK(!strstr(f.sent[0].body, ",,") &&
        strstr(f.sent[0].body, "\"Value\":1,\"Unit\":\"Milliseconds\"},{\"MetricName\""));
  end();
}

TEST(namespaces) {
  static char name[256];
  memset(name, 'a', sizeof name);
  CHECK(!slp_cw_namespace_wrong(SLP_STR("Motorway/Kinesis")));
  CHECK(!slp_cw_namespace_wrong(SLP_STR("AWSome")));
  CHECK(!slp_cw_namespace_wrong((slp_str){name, 255}));
  CHECK(slp_cw_namespace_wrong((slp_str){name, 256}));
  CHECK(slp_cw_namespace_wrong(SLP_STR("")));
  CHECK(slp_cw_namespace_wrong(SLP_STR(":x")));
  CHECK(slp_cw_namespace_wrong(SLP_STR("AWS/Kinesis")));
  CHECK(slp_cw_namespace_wrong(SLP_STR("a\xff")));
}

TEST(a_missing_right_is_named) {
  begin();
  add(SLP_STR("s"), 1);
  fake_script(&f, 400,
              "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\",\"Message\":\"User: x is not "
              "authorized "
              "to perform: cloudwatch:PutMetricData\"}");
  CHECK_INT(send(), SLP_ACCESS);
  CHECK_INT(put.fail.code, SLOOP_EACCESS);
  CHECK_STR(put.fail.aws_code, "AccessDeniedException");
  CHECK(strstr(put.fail.message, "no permission for cloudwatch:PutMetricData: User: x is not") ==
        put.fail.message);
  end();
}

TEST(what_passes_is_tried_again_and_what_does_not_is_not) {
  begin();
  add(SLP_STR("s"), 1);
  fake_script(&f, 500, "{\"__type\":\"InternalServiceFault\"}");
  fake_script(&f, 400, "{\"__type\":\"Throttling\"}");
  fake_script(&f, 200, "{}");
  CHECK_INT(send(), SLP_FINE);
  const slp_aws_stats *stats = slp_aws_stats_of(aws); /* of reading: this is none */
  CHECK_INT(stats->calls + stats->retries + stats->throttles, 0);
  fake_script(&f, 400, "{\"__type\":\"InvalidParameterValueException\",\"message\":\"no\"}");
  CHECK_INT(send(), SLP_REFUSED);
  for (int i = 0; i < 3; i++) fake_script(&f, 200, "<html>sign in</html>");
  CHECK_INT(send(), SLP_TRANSIENT);
  CHECK_INT(put.fail.code, SLOOP_EPROTO);
  end();
}

TEST(cancelled) {
  begin();
  add(SLP_STR("s"), 1);
  fake_script(&f, 200, "{}")->hang = 1;
  done = 0;
  slp_cw_put_send(&put);
  fake_run(&f, 1000);
  slp_cw_put_cancel(&put);
  fake_run(&f, 600000000);
  CHECK_INT(done, 0);
  end();
}
