/* iam.c - writes an IAM policy for the streams of the command line. */
#include "cli/iam.h"

#include "aws/endpoint.h"
#include "codec/json_write.h"

static const char *const kinesis[] = {"kinesis:DescribeStreamSummary", "kinesis:ListShards",
                                      "kinesis:GetShardIterator", "kinesis:GetRecords", NULL};
/* A consumer's resource is its stream's ARN with more behind it. */
static const char *const pushed[] = {
    "kinesis:DescribeStreamSummary", "kinesis:ListShards", "kinesis:RegisterStreamConsumer",
    "kinesis:GetShardIterator",      "kinesis:GetRecords", NULL};
static const char *const shards[] = {"kinesis:DescribeStreamSummary", "kinesis:ListShards", NULL};
static const char *const subscribed[] = {"kinesis:SubscribeToShard", NULL};
static const char *const consumer[] = {"kinesis:DescribeStreamConsumer", "kinesis:SubscribeToShard", NULL};
/* An operator's. */
static const char *const listed[] = {"kinesis:DescribeStreamSummary", "kinesis:ListStreamConsumers", NULL};
static const char *const deregistered[] = {"kinesis:DeregisterStreamConsumer", NULL};
static const char *const changes[] = {"dynamodb:DescribeStream", "dynamodb:GetShardIterator",
                                      "dynamodb:GetRecords", NULL};
static const char *const table[] = {"dynamodb:DescribeTable", NULL};

/* The rights on the lease table, which is made when it is not there. Layouts other than ours have no key to
 * query by, so their rows are scanned. */
#define LEASES                                                                                   \
  "dynamodb:DescribeTable", "dynamodb:CreateTable", "dynamodb:GetItem", "dynamodb:BatchGetItem", \
      "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"
static const char *const leases[] = {LEASES, "dynamodb:Query", NULL};
static const char *const leases_scanned[] = {LEASES, "dynamodb:Scan", NULL};
/* Tables that KCL 3.0 to 3.4 has beside that of the leases; they are never made. */
static const char *const beside[] = {"dynamodb:DescribeTable", "dynamodb:Scan", NULL};
static const char *const loads[] = {"dynamodb:DescribeTable", "dynamodb:Scan",       "dynamodb:GetItem",
                                    "dynamodb:UpdateItem",    "dynamodb:DeleteItem", NULL};

static int is_arn(const char *stream) { return strncmp(stream, "arn:", 4) == 0; }

static int is_dynamodb(const char *stream) {
  return strncmp(stream, "dynamodb:", 9) == 0 || (is_arn(stream) && strstr(stream, ":dynamodb:") != NULL);
}

static int is_stream_arn(const char *stream) { return is_arn(stream) && strstr(stream, "/stream/") != NULL; }

/* Unknown parts of an ARN become "*". `suffix`: of a table's streams. */
static void add_resource(slp_buf *b, const slp_args *a, const char *stream, const char *suffix) {
  slp_buf arn;
  slp_buf_init(&arn, b->mem, 1 << 16);
  char real[64];
  slp_str given = slp_str_of(a->opts.region);
  const char *region = "*";
  if (slp_region_valid(given)) {
    slp_region_real(given, real);
    region = real;
  }
  if (is_arn(stream))
    slp_buf_addf(&arn, "%s%s", stream, suffix);
  else if (is_dynamodb(stream))
    slp_buf_addf(&arn, "arn:aws:dynamodb:%s:*:table/%s%s", region, stream + 9, suffix);
  else
    slp_buf_addf(&arn, "arn:aws:kinesis:%s:*:stream/%s%s", region, stream, suffix);
  if (slp_buf_failed(&arn)) slp_buf_fail(b, slp_buf_failed(&arn));
  slp_buf_add_z(b, ",\n      \"Resource\": ");
  slp_json_put_string(b, slp_buf_str(&arn));
  slp_buf_free(&arn);
}

static void begin_statement(slp_buf *b, int *first) {
  slp_buf_addf(b, "%s    {\n      \"Effect\": \"Allow\",\n      \"Action\": [", *first ? "" : ",\n");
  *first = 0;
}

static void add_statement(slp_buf *b, const slp_args *a, const char *const *actions, const char *stream,
                          const char *suffix, int *first) {
  begin_statement(b, first);
  for (size_t i = 0; actions[i]; i++) slp_buf_addf(b, "%s\"%s\"", i ? ", " : "", actions[i]);
  slp_buf_add_char(b, ']');
  add_resource(b, a, stream, suffix);
  slp_buf_add_z(b, "\n    }");
}

/* name NULL: the application's with this behind it. */
static void add_beside(slp_buf *b, const slp_args *a, const char *const *actions, const char *name,
                       const char *behind, int *first) {
  slp_buf to;
  slp_buf_init(&to, b->mem, 1 << 16);
  if (slp_buf_addf(&to, "dynamodb:%s%s", name ? name : a->opts.app, name ? "" : behind))
    slp_buf_fail(b, slp_buf_failed(&to));
  add_statement(b, a, actions, slp_buf_z(&to), "", first);
  slp_buf_free(&to);
}

static void add_leases(slp_buf *b, const slp_args *a, int *first) {
  static const char named[] = "dynamodb:";
  const char *store = a->opts.store ? a->opts.store : "dynamodb";
  int foreign = a->opts.schema && strcmp(a->opts.schema, "sloop") != 0;
  if (!a->opts.app || strncmp(store, "dynamodb", sizeof named - 2) != 0) return;
  const char *name = strncmp(store, named, sizeof named - 1) == 0 ? store + sizeof named - 1
                     : foreign                                    ? a->opts.app
                                                                  : "sloop";
  int several = a->opts.schema && strcmp(a->opts.schema, "kinsumer") == 0;
  static const char *const ends[] = {"_checkpoints", "_clients", "_metadata"};
  for (size_t i = 0; i < (several ? SLP_COUNT(ends) : 1); i++) {
    slp_buf stream;
    slp_buf_init(&stream, b->mem, 1 << 16);
    if (slp_buf_addf(&stream, "dynamodb:%s%s", name, several ? ends[i] : ""))
      slp_buf_fail(b, slp_buf_failed(&stream));
    add_statement(b, a, foreign ? leases_scanned : leases, slp_buf_z(&stream), "", first);
    slp_buf_free(&stream);
  }
  if (strcmp(a->opts.schema ? a->opts.schema : "", "kcl") != 0) return;
  add_beside(b, a, beside, a->opts.kcl_coordinator, "-CoordinatorState", first);
  add_beside(b, a, loads, a->opts.kcl_metrics, "-WorkerMetricStats", first);
}

/* The right to put metrics has no resource. */
static void add_metrics(slp_buf *b, const slp_args *a, int *first) {
  const char *ns = a->metrics.cloudwatch               ? a->metrics.cloudwatch
                   : a->metrics.cloudwatch_as_motorway ? "Motorway/Kinesis"
                                                       : NULL;
  if (!ns) return;
  begin_statement(b, first);
  slp_buf_add_z(b,
                "\"cloudwatch:PutMetricData\"],\n      \"Resource\": \"*\",\n"
                "      \"Condition\": {\"StringEquals\": {\"cloudwatch:namespace\": ");
  slp_json_put_string(b, slp_str_of(ns));
  slp_buf_add_z(b, "}}\n    }");
}

int slp_iam(slp_buf *b, const slp_args *a) {
  int first = 1;
  slp_buf_add_z(b, "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n");
  for (size_t i = 0; i < a->streams_n; i++) {
    const char *stream = a->streams[i];
    if (a->iam_of) {
      add_statement(b, a, listed, stream, "", &first);
      if (a->iam_of == SLP_MODE_DEREGISTER) add_statement(b, a, deregistered, stream, "/consumer/*", &first);
      continue;
    }
    if (!is_dynamodb(stream) && a->opts.retrieval != SLOOP_RETRIEVAL_POLL && a->opts.push_consumer &&
        is_arn(a->opts.push_consumer)) {
      int or_poll = a->opts.retrieval == SLOOP_RETRIEVAL_AUTO;
      add_statement(b, a, or_poll ? kinesis : shards, stream, "", &first);
      add_statement(b, a, subscribed, a->opts.push_consumer, "", &first);
    } else if (!is_dynamodb(stream) && a->opts.retrieval != SLOOP_RETRIEVAL_POLL) {
      add_statement(b, a, pushed, stream, "", &first);
      add_statement(b, a, consumer, stream, "/consumer/*", &first);
    } else if (!is_dynamodb(stream)) {
      add_statement(b, a, kinesis, stream, "", &first);
    } else if (is_stream_arn(stream)) {
      add_statement(b, a, changes, stream, "", &first);
    } else {
      add_statement(b, a, table, stream, "", &first);
      add_statement(b, a, changes, stream, "/stream/*", &first);
    }
  }
  if (!a->iam_of) add_leases(b, a, &first);
  if (!a->iam_of) add_metrics(b, a, &first);
  return slp_buf_add_z(b, "\n  ]\n}\n");
}
