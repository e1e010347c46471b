/* iam.c - the policy of each way to name a stream. */
#include "cli/iam.h"
#include "check.h"

static void check(const char *stream, const char *region, const char *store, const char *schema,
                  const char *const *parts) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_args *args = calloc(1, sizeof *args);
  slp_buf_init(&b, mem, 1 << 20);
  args->streams[0] = stream;
  args->streams_n = 1;
  args->opts.region = region;
  args->opts.app = store || schema ? "app" : NULL;
  args->opts.store = store;
  args->opts.schema = schema;
  CHECK_INT(slp_iam(&b, args), 0);
  for (; *parts; parts++)
    if (!strstr(slp_buf_z(&b), *parts)) CHECK_FAIL("%s lacks %s", slp_buf_z(&b), *parts);
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  free(args);
}
#define CHECK_POLICY(stream, region, ...) \
  check(stream, region, NULL, NULL, (const char *const[]){__VA_ARGS__, NULL})
#define CHECK_LEASES(store, schema, ...) \
  check("s", "r", store, schema, (const char *const[]){__VA_ARGS__, NULL})

TEST(resources) {
  CHECK_POLICY("orders", NULL, "\"kinesis:GetRecords\"", "\"arn:aws:kinesis:*:*:stream/orders\"");
  CHECK_POLICY("orders", "eu-west-1", "\"arn:aws:kinesis:eu-west-1:*:stream/orders\"");
  CHECK_POLICY("orders", "us-west-2-fips", "\"arn:aws:kinesis:us-west-2:*:stream/orders\"");
  CHECK_POLICY("arn:aws:kinesis:r:1:stream/o", "x", "\"kinesis:ListShards\"",
               "\"arn:aws:kinesis:r:1:stream/o\"");
  CHECK_POLICY("dynamodb:t", NULL, "\"dynamodb:DescribeTable\"", "\"arn:aws:dynamodb:*:*:table/t\"",
               "\"dynamodb:GetRecords\"", "\"arn:aws:dynamodb:*:*:table/t/stream/*\"");
  CHECK_POLICY("arn:aws:dynamodb:r:1:table/t", NULL, "\"dynamodb:DescribeTable\"",
               "\"arn:aws:dynamodb:r:1:table/t/stream/*\"");
  CHECK_POLICY("arn:aws:dynamodb:r:1:table/t/stream/x", NULL, "\"dynamodb:DescribeStream\"",
               "\"arn:aws:dynamodb:r:1:table/t/stream/x\"");
}

TEST(a_consumer_given_by_its_arn_needs_one_right) {
  static const char arn[] = "arn:aws:kinesis:r:1:stream/s/consumer/c:1";
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_args *args = calloc(1, sizeof *args);
  for (int or_poll = 0; or_poll < 2; or_poll++) {
    slp_buf b;
    slp_buf_init(&b, mem, 1 << 20);
    args->streams[0] = "arn:aws:kinesis:r:1:stream/s";
    args->streams_n = 1;
    args->opts.retrieval = or_poll ? SLOOP_RETRIEVAL_AUTO : SLOOP_RETRIEVAL_PUSH;
    args->opts.push_consumer = arn;
    CHECK_INT(slp_iam(&b, args), 0);
    CHECK(strstr(slp_buf_z(&b), "\"kinesis:SubscribeToShard\"") && strstr(slp_buf_z(&b), arn));
    CHECK(!strstr(slp_buf_z(&b), "StreamConsumer"));
    CHECK_INT(strstr(slp_buf_z(&b), "GetRecords") != NULL, or_poll);
    slp_buf_free(&b);
  }
  slp_mem_drop(mem);
  free(args);
}

TEST(registered_consumers) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_args *args = calloc(1, sizeof *args);
  for (int removes = 0; removes < 2; removes++) {
    slp_buf b;
    slp_buf_init(&b, mem, 1 << 20);
    args->streams[0] = "s";
    args->streams_n = 1;
    args->iam_of = removes ? SLP_MODE_DEREGISTER : SLP_MODE_CONSUMERS;
    CHECK_INT(slp_iam(&b, args), 0);
    CHECK(strstr(slp_buf_z(&b), "\"kinesis:ListStreamConsumers\"") && !strstr(slp_buf_z(&b), "GetRecords"));
    CHECK_INT(strstr(slp_buf_z(&b), "\"kinesis:DeregisterStreamConsumer\"") != NULL, removes);
    CHECK_INT(strstr(slp_buf_z(&b), "stream/s/consumer/*") != NULL, removes);
    slp_buf_free(&b);
  }
  slp_mem_drop(mem);
  free(args);
}

TEST(putting_records_needs_one_right) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_args *args = calloc(1, sizeof *args);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  args->streams[0] = "s";
  args->streams_n = 1;
  args->iam_of = SLP_MODE_PRODUCE;
  CHECK_INT(slp_iam(&b, args), 0);
  CHECK(strstr(slp_buf_z(&b), "\"Action\": [\"kinesis:PutRecords\"]") && !strstr(slp_buf_z(&b), "Get"));
  slp_buf_clear(&b);
  args->aggregate = 1; /* aggregates are made by the shards that there are */
  CHECK_INT(slp_iam(&b, args), 0);
  CHECK(strstr(slp_buf_z(&b), "\"kinesis:ListShards\", \"kinesis:PutRecords\"]"));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  free(args);
}

TEST(leases_need_their_table) {
  CHECK_LEASES("dynamodb", NULL, "\"dynamodb:UpdateItem\"", "\"dynamodb:CreateTable\"", "\"dynamodb:Query\"",
               "\"arn:aws:dynamodb:r:*:table/sloop\"", "\"kinesis:GetRecords\"");
  CHECK_LEASES("dynamodb:mine", NULL, "\"arn:aws:dynamodb:r:*:table/mine\"");
  CHECK_LEASES(NULL, "kcl", "\"dynamodb:Scan\"", "\"arn:aws:dynamodb:r:*:table/app\"",
               "\"arn:aws:dynamodb:r:*:table/app-CoordinatorState\"",
               "\"arn:aws:dynamodb:r:*:table/app-WorkerMetricStats\"", "\"dynamodb:DeleteItem\"");
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_args *args = calloc(1, sizeof *args);
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  args->streams[0] = "s";
  args->streams_n = 1;
  args->opts.app = "app";
  args->opts.store = "sqlite:file";
  CHECK_INT(slp_iam(&b, args), 0);
  CHECK(!strstr(slp_buf_z(&b), "dynamodb")); /* nor anything of a table when they are in a file */
  slp_buf_free(&b);
  slp_mem_drop(mem);
  free(args);
}

static char *policy_with_metrics(const char *ns, const char *set) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_args *args = calloc(1, sizeof *args);
  slp_buf_init(&b, mem, 1 << 20);
  args->streams[0] = "s";
  args->streams_n = 1;
  args->metrics.cloudwatch = ns;
  args->metrics.cloudwatch_set = set;
  CHECK_INT(slp_iam(&b, args), 0);
  char *text = strdup(slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  free(args);
  return text;
}

TEST(metrics) {
  char *none = policy_with_metrics(NULL, NULL), *mine = policy_with_metrics("My \"Own\"", "motorway"),
       *motorway = policy_with_metrics(NULL, "motorway");
  CHECK(!strstr(none, "cloudwatch"));
  CHECK(strstr(
      mine,
      "},\n    {\n      \"Effect\": \"Allow\",\n      \"Action\": [\"cloudwatch:PutMetricData\"],\n      "
      "\"Resource\": \"*\""));
  CHECK(strstr(mine, "{\"StringEquals\": {\"cloudwatch:namespace\": \"My \\\"Own\\\"\"}}\n    }\n  ]\n}\n"));
  CHECK(strstr(motorway, "\"Motorway/Kinesis\""));
  free(none);
  free(mine);
  free(motorway);
}
