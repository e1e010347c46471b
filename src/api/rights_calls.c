/* rights_calls.c - the table of rights, with a row for each. Kinesis has DryRun for GetShardIterator,
 * GetRecords, SubscribeToShard, and for puts (botocore 1.44.8, service model kinesis 2013-12-02). A call with
 * DryRun that would succeed is answered with DryRunOperationException. DynamoDB and DynamoDB Streams have no
 * DryRun. */
#include "api/rights_calls.h"

#include "api/rights.h"
#include "aws/aws.h"
#include "base/fail.h"
#include "codec/json_write.h"

#include <stdio.h>

static int is_arn(const char *z) { return strncmp(z, "arn:", 4) == 0; }

static void keep_first_text(char *to, size_t size, slp_str text) {
  if (text.p && !to[0]) snprintf(to, size, "%.*s", (int)slp_min_u64(text.n, size - 1), text.p);
}

/* ---- Kinesis ------------------------------------------------------------------------------------------- */
static void put_stream(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  (void)f;
  slp_jw_z(w, is_arn(r->of) ? "StreamARN" : "StreamName", r->of);
}

static void take_arn(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text) {
  if (depth == 2 && slp_str_is(name, "StreamARN")) keep_first_text(f->arn, sizeof f->arn, text);
}

static void put_first_shard(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_stream(w, r, f);
  slp_jw_u64(w, "MaxResults", 1);
}

static void take_shard(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text) {
  (void)depth;
  if (slp_str_is(name, "ShardId")) keep_first_text(f->shard, sizeof f->shard, text);
}

/* Returns the id of a shard for the call. If ListShards has returned no shard, returns the id that the first
 * shard of every new stream has. */
static const char *shard_of(const slp_right_facts *f) {
  return f->shard[0] ? f->shard : "shardId-000000000000";
}

static void put_place(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_stream(w, r, f);
  slp_jw_z(w, "ShardId", shard_of(f));
  slp_jw_z(w, "ShardIteratorType", "LATEST");
}

static void take_iterator(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text) {
  if (depth == 1 && slp_str_is(name, "ShardIterator")) keep_first_text(f->iterator, sizeof f->iterator, text);
}

static const char *lacks_iterator(const slp_right *r, const slp_right_facts *f) {
  (void)r;
  return f->iterator[0] ? NULL : "it needs an iterator, and GetShardIterator gave none";
}

/* Writes the body of a call for one record after the tip of the shard. Even a server that does not know
 * DryRun reads no more than this. */
static void put_records(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  if (is_arn(r->of)) slp_jw_z(w, "StreamARN", r->of);
  slp_jw_z(w, "ShardIterator", f->iterator);
  slp_jw_u64(w, "Limit", 1);
}

static void put_consumer(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_z(w, "StreamARN", is_arn(r->of) ? r->of : f->arn);
  slp_jw_z(w, "ConsumerName", r->consumer);
}

static const char *lacks_stream_arn(const slp_right *r, const slp_right_facts *f) {
  return is_arn(r->of) || f->arn[0] ? NULL : "it needs the stream's ARN, and DescribeStreamSummary gave none";
}

static void take_consumer(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text) {
  if (depth == 2 && slp_str_is(name, "ConsumerARN"))
    keep_first_text(f->consumer_arn, sizeof f->consumer_arn, text);
}

static void put_consumers(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_z(w, "StreamARN", is_arn(r->of) ? r->of : f->arn);
  slp_jw_u64(w, "MaxResults", 1);
}

static void put_subscription(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_z(w, "ConsumerARN", is_arn(r->consumer) ? r->consumer : f->consumer_arn);
  slp_jw_z(w, "ShardId", shard_of(f));
  slp_jw_object(w, "StartingPosition");
  slp_jw_z(w, "Type", "LATEST");
  slp_jw_object_end(w);
}

static const char *lacks_consumer(const slp_right *r, const slp_right_facts *f) {
  return is_arn(r->consumer) || f->consumer_arn[0]
             ? NULL
             : "it needs the consumer's ARN, and DescribeStreamConsumer gave none: the consumer has to be "
               "registered first";
}

/* Writes the body of a call for one record without a payload. */
static void put_a_record(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_stream(w, r, f);
  slp_jw_array(w, "Records");
  slp_jw_object(w, NULL);
  slp_jw_base64(w, "Data", SLP_STR(""));
  slp_jw_z(w, "PartitionKey", "dry-run");
  slp_jw_object_end(w);
  slp_jw_array_end(w);
}

/* ---- DynamoDB and its streams -------------------------------------------------------------------------- */
static const char *table_of(const slp_right *r) {
  return is_arn(r->of) ? r->of : r->of + strlen("dynamodb:");
}

static void put_table(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  (void)f;
  slp_jw_z(w, "TableName", table_of(r));
}

/* Takes members of `Table` from the answer: LatestStreamArn, which is a text, and KeySchema, which is a list
 * of objects. */
static void take_table(slp_right_facts *f, uint32_t depth, slp_str name, slp_str text) {
  if (depth == 2) snprintf(f->section, sizeof f->section, "%.*s", (int)slp_min_u64(name.n, 23), name.p);
  if (depth == 2 && slp_str_is(name, "KeySchema")) f->keys_n = 0;
  if (depth == 2 && slp_str_is(name, "LatestStreamArn")) keep_first_text(f->arn, sizeof f->arn, text);
  if (depth != 4 || !text.p) return;
  if (strcmp(f->section, "KeySchema") == 0 && slp_str_is(name, "AttributeName") &&
      f->keys_n < SLP_RIGHTS_KEYS_MAX) {
    f->keys[f->keys_n][0] = 0;
    keep_first_text(f->keys[f->keys_n++], sizeof f->keys[0], text);
  }
}

static const char *stream_of(const slp_right *r, const slp_right_facts *f) {
  return strstr(r->of, "/stream/") ? r->of : f->arn;
}

static const char *lacks_stream(const slp_right *r, const slp_right_facts *f) {
  return *stream_of(r, f) ? NULL : "it needs the ARN of the table's stream, and DescribeTable gave none";
}

static void put_stream_arn(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_z(w, "StreamArn", stream_of(r, f));
  slp_jw_u64(w, "Limit", 1);
}

static const char *lacks_shard(const slp_right *r, const slp_right_facts *f) {
  if (!*stream_of(r, f)) return lacks_stream(r, f);
  return f->shard[0] ? NULL : "it needs a shard, and DescribeStream gave none";
}

static void put_changes_place(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_z(w, "StreamArn", stream_of(r, f));
  slp_jw_z(w, "ShardId", f->shard);
  slp_jw_z(w, "ShardIteratorType", "LATEST");
}

static void put_changes(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  (void)r;
  slp_jw_z(w, "ShardIterator", f->iterator);
  slp_jw_u64(w, "Limit", 1);
}

const char slp_rights_no_table[] = "there is no such table yet";

static const char *lacks_table(const slp_right *r, const slp_right_facts *f) {
  (void)r;
  return f->absent ? slp_rights_no_table : NULL;
}

static const char *lacks_key(const slp_right *r, const slp_right_facts *f) {
  if (f->absent) return lacks_table(r, f);
  return f->keys_n ? NULL : "it needs the table's key, and DescribeTable gave none";
}

/* Writes the member `name`: a key's value that no row of a lease table has, so that the call finds nothing.
 * The keys of lease tables are texts. */
static void put_value(slp_jw *w, const char *name) {
  slp_jw_object(w, name);
  slp_jw_z(w, "S", "stream-tail --iam --try");
  slp_jw_object_end(w);
}

static void put_key(slp_jw *w, const char *name, const slp_right_facts *f) {
  slp_jw_object(w, name);
  for (size_t i = 0; i < f->keys_n; i++) put_value(w, f->keys[i]);
  slp_jw_object_end(w);
}

static void put_item(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_table(w, r, f);
  put_key(w, "Key", f);
}

static void put_items(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  slp_jw_object(w, "RequestItems");
  slp_jw_object(w, table_of(r));
  slp_jw_array(w, "Keys");
  put_key(w, NULL, f);
  slp_jw_array_end(w);
  slp_jw_object_end(w);
  slp_jw_object_end(w);
}

static void put_query(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_table(w, r, f);
  slp_jw_z(w, "KeyConditionExpression", "#k = :v");
  slp_jw_object(w, "ExpressionAttributeNames");
  slp_jw_z(w, "#k", f->keys[0]);
  slp_jw_object_end(w);
  slp_jw_object(w, "ExpressionAttributeValues");
  put_value(w, ":v");
  slp_jw_object_end(w);
  slp_jw_u64(w, "Limit", 1);
}

static void put_scan(slp_jw *w, const slp_right *r, const slp_right_facts *f) {
  put_table(w, r, f);
  slp_jw_u64(w, "Limit", 1);
}

/* ---- the table ----------------------------------------------------------------------------------------- */
#define KINESIS(name) "kinesis:" name, SLP_SVC_KINESIS, "Kinesis_20131202." name
#define TABLES(name) "dynamodb:" name, SLP_SVC_DYNAMODB, "DynamoDB_20120810." name
#define CHANGES(name) "dynamodb:" name, SLP_SVC_STREAMS, "DynamoDBStreams_20120810." name
#define NEVER(name, why) \
  { name, SLP_SVC_KINESIS, NULL, .why_not = why }
#define WRITES "it would write, and the service has no DryRun for it"

static const slp_right_call kinesis_calls[] = {
    {KINESIS("DescribeStreamSummary"), .put = put_stream, .take = take_arn},
    {KINESIS("ListShards"), .put = put_first_shard, .take = take_shard},
    {KINESIS("GetShardIterator"), .put = put_place, .take = take_iterator},
    {KINESIS("GetRecords"), .put = put_records, .lacks = lacks_iterator, .dry = 1},
    {KINESIS("DescribeStreamConsumer"), .put = put_consumer, .take = take_consumer,
     .lacks = lacks_stream_arn},
    {KINESIS("SubscribeToShard"), .put = put_subscription, .lacks = lacks_consumer, .dry = 1, .needs_dry = 1,
     .harm = "it would end another reader's subscription"},
    {KINESIS("PutRecords"), .put = put_a_record, .dry = 1, .needs_dry = 1, .harm = "it would put a record"},
    {KINESIS("ListStreamConsumers"), .put = put_consumers, .lacks = lacks_stream_arn},
    NEVER("kinesis:RegisterStreamConsumer", WRITES),
    NEVER("kinesis:DeregisterStreamConsumer", WRITES),
    NEVER("cloudwatch:PutMetricData", WRITES),
    NEVER("glue:GetSchemaVersion", "it needs the id of a schema, which only a record tells"),
};

static const slp_right_call dynamodb_calls[] = {
    {TABLES("DescribeTable"), .put = put_table, .take = take_table},
    {CHANGES("DescribeStream"), .put = put_stream_arn, .take = take_shard, .lacks = lacks_stream},
    {CHANGES("GetShardIterator"), .put = put_changes_place, .take = take_iterator, .lacks = lacks_shard},
    {CHANGES("GetRecords"), .put = put_changes, .lacks = lacks_iterator},
    {TABLES("GetItem"), .put = put_item, .lacks = lacks_key},
    {TABLES("BatchGetItem"), .put = put_items, .lacks = lacks_key},
    {TABLES("Query"), .put = put_query, .lacks = lacks_key},
    {TABLES("Scan"), .put = put_scan, .lacks = lacks_table},
    NEVER("dynamodb:CreateTable", WRITES),
    NEVER("dynamodb:PutItem", WRITES),
    NEVER("dynamodb:UpdateItem", WRITES),
    NEVER("dynamodb:DeleteItem", WRITES),
};

const slp_right_call slp_right_dry_run_probe = {
    .svc = SLP_SVC_KINESIS, .target = "Kinesis_20131202.GetShardIterator", .put = put_place, .dry = 1};

static const slp_right_call *find(const slp_right_call *rows, size_t n, const char *action) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(rows[i].action, action) == 0) return &rows[i];
  return NULL;
}

const slp_right_call *slp_right_call_of(const char *action) {
  const slp_right_call *row = find(kinesis_calls, SLP_COUNT(kinesis_calls), action);
  return row ? row : find(dynamodb_calls, SLP_COUNT(dynamodb_calls), action);
}

/* A service checks the rights of a request before anything else (IAM User Guide, "How IAM works"). So a
 * request that is refused because a consumer does not exist, or because of another subscription, shows that
 * the user has the right. */
int slp_right_shown_by(const slp_right_call *call, const slp_fail *f) {
  if (call->dry && strcmp(f->aws_code, "DryRunOperationException") == 0) return 1;
  if (call->needs_dry && strcmp(f->aws_code, "ResourceInUseException") == 0) return 1;
  return call->take == take_consumer && strcmp(f->aws_code, "ResourceNotFoundException") == 0;
}

int slp_right_finds_no_table(const slp_right_call *call, const slp_right *r, const slp_fail *f) {
  return r->leases && call->take == take_table && strcmp(f->aws_code, "ResourceNotFoundException") == 0;
}
