/* rules.c - the table of operations and of the rules for their inputs, and the check of a request against
 * these rules. The messages are the service's. */
#include "base/num.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/metric_data.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdarg.h>
#include <stdio.h>

typedef enum { R_TEXT, R_INT, R_BLOB, R_TIME, R_MAP, R_LIST, R_BOOL } rule_kind;
typedef enum { P_NONE, P_NAME, P_SEQUENCE, P_HASH, P_ARN, P_TABLE } rule_pattern;

typedef struct slp_box_rule {
  const char *name;
  rule_kind kind;
  uint8_t required;
  rule_pattern pattern;
  int64_t min, max; /* limits of the number, or of the length; the length of a text is in characters */
  const char *const *one_of;        /* the words that are allowed; the last is NULL */
  const struct slp_box_rule *inner; /* rules for the members of a map, or of each map in a list */
  uint8_t inner_n;
} slp_box_rule;

static const char *const pattern_text[] = {[P_NONE] = "",
                                           [P_NAME] = "[a-zA-Z0-9_.-]+",
                                           [P_SEQUENCE] = "0|([1-9]\\d{0,128})",
                                           [P_HASH] = "0|([1-9]\\d{0,38})",
                                           [P_ARN] = "arn:aws.*:kinesis:.*:\\d{12}:stream/\\S+",
                                           [P_TABLE] = "[a-zA-Z0-9_.-]+"};

#define NAME(member, needed) \
  { member, R_TEXT, needed, P_NAME, 1, 128, NULL, NULL, 0 }
#define STREAM \
  NAME("StreamName", 0), { "StreamARN", R_TEXT, 0, P_ARN, 1, 2048, NULL, NULL, 0 }
#define TEXT(member, needed, pattern, most) \
  { member, R_TEXT, needed, pattern, 1, most, NULL, NULL, 0 }
#define INT(member, needed, least, most) \
  { member, R_INT, needed, P_NONE, least, most, NULL, NULL, 0 }
#define ENUM(member, needed, values) \
  { member, R_TEXT, needed, P_NONE, 0, INT32_MAX, values, NULL, 0 }
#define TIME(member) \
  { member, R_TIME, 0, P_NONE, 0, 0, NULL, NULL, 0 }
#define TABLE(member, needed) \
  { member, R_TEXT, needed, P_TABLE, 3, 255, NULL, NULL, 0 }
#define OF_TABLE \
  { "TableName", R_TEXT, 1, P_NONE, 1, 1024, NULL, NULL, 0 }
#define LIST(member, needed) \
  { member, R_LIST, needed, P_NONE, 0, INT32_MAX, NULL, NULL, 0 }
#define BOOL(member) \
  { member, R_BOOL, 0, P_NONE, 0, 0, NULL, NULL, 0 }
#define ANY_MAP(member, needed) \
  { member, R_MAP, needed, P_NONE, 0, 0, NULL, NULL, 0 }
#define ANY_TEXT(member) \
  { member, R_TEXT, 0, P_NONE, 0, INT32_MAX, NULL, NULL, 0 }
#define CHANGE_STREAM \
  { "StreamArn", R_TEXT, 1, P_NONE, 37, 1024, NULL, NULL, 0 }
#define CHANGE_SHARD(member, needed) \
  { member, R_TEXT, needed, P_NONE, 28, 65, NULL, NULL, 0 }
#define MAP(member, rules) \
  { member, R_MAP, 0, P_NONE, 0, 0, NULL, rules, SLP_COUNT(rules) }
#define BLOB(member, needed, most) \
  { member, R_BLOB, needed, P_NONE, 0, most, NULL, NULL, 0 }

static const char *const iterator_types[] = {
    "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP", NULL};
static const char *const filter_types[] = {"AFTER_SHARD_ID",
                                           "AT_TRIM_HORIZON",
                                           "FROM_TRIM_HORIZON",
                                           "AT_LATEST",
                                           "AT_TIMESTAMP",
                                           "FROM_TIMESTAMP",
                                           NULL};
static const char *const modes[] = {"PROVISIONED", "ON_DEMAND", NULL};
static const char *const strategies[] = {"AUTO", "USER_PARTITION_KEY", NULL};
static const char *const scalings[] = {"UNIFORM_SCALING", NULL};

static const slp_box_rule mode_rules[] = {ENUM("StreamMode", 1, modes)};
static const slp_box_rule create_rules[] = {
    NAME("StreamName", 1), INT("ShardCount", 0, 1, INT32_MAX), MAP("StreamModeDetails", mode_rules),
    INT("MaxRecordSizeInKiB", 0, 1024, 10240), ENUM("RecordDistributionStrategy", 0, strategies)};
static const slp_box_rule stream_rules[] = {STREAM};
static const slp_box_rule describe_rules[] = {STREAM, INT("Limit", 0, 1, 10000),
                                              NAME("ExclusiveStartShardId", 0)};
static const slp_box_rule streams_rules[] = {INT("Limit", 0, 1, 10000), NAME("ExclusiveStartStreamName", 0),
                                             TEXT("NextToken", 0, P_NONE, 1048576)};
static const slp_box_rule filter_rules[] = {ENUM("Type", 1, filter_types), NAME("ShardId", 0),
                                            TIME("Timestamp")};
static const slp_box_rule shards_rules[] = {STREAM,
                                            TEXT("NextToken", 0, P_NONE, 1048576),
                                            NAME("ExclusiveStartShardId", 0),
                                            INT("MaxResults", 0, 1, 10000),
                                            TIME("StreamCreationTimestamp"),
                                            MAP("ShardFilter", filter_rules)};
static const slp_box_rule iterator_rules[] = {
    STREAM,
    NAME("ShardId", 1),
    ENUM("ShardIteratorType", 1, iterator_types),
    {"StartingSequenceNumber", R_TEXT, 0, P_SEQUENCE, 1, 129, NULL, NULL, 0},
    TIME("Timestamp"),
    BOOL("DryRun")};
static const slp_box_rule get_rules[] = {TEXT("ShardIterator", 1, P_NONE, 512),
                                         INT("Limit", 0, 1, INT32_MAX),
                                         {"StreamARN", R_TEXT, 0, P_ARN, 1, 2048, NULL, NULL, 0},
                                         BOOL("DryRun")};
/* PartitionKey is not required by these rules: whether a record needs a key depends on the stream, and
 * put_records.c checks it. */
static const slp_box_rule put_rules[] = {STREAM,
                                         BLOB("Data", 1, SLP_BOX_RECORD_BYTES),
                                         TEXT("PartitionKey", 0, P_NONE, 256),
                                         TEXT("ExplicitHashKey", 0, P_HASH, 39),
                                         TEXT("SequenceNumberForOrdering", 0, P_SEQUENCE, 129),
                                         BOOL("DryRun")};
static const slp_box_rule entry_rules[] = {BLOB("Data", 1, SLP_BOX_RECORD_BYTES),
                                           TEXT("PartitionKey", 0, P_NONE, 256),
                                           TEXT("ExplicitHashKey", 0, P_HASH, 39)};
static const slp_box_rule put_many_rules[] = {
    STREAM,
    {"Records", R_LIST, 1, P_NONE, 1, 500, NULL, entry_rules, SLP_COUNT(entry_rules)},
    BOOL("DryRun")};
static const slp_box_rule split_rules[] = {STREAM, NAME("ShardToSplit", 1),
                                           TEXT("NewStartingHashKey", 1, P_HASH, 39)};
static const slp_box_rule merge_rules[] = {STREAM, NAME("ShardToMerge", 1), NAME("AdjacentShardToMerge", 1)};
static const slp_box_rule delete_rules[] = {STREAM, BOOL("EnforceConsumerDeletion")};
#define STREAM_ARN \
  { "StreamARN", R_TEXT, 1, P_ARN, 1, 2048, NULL, NULL, 0 }
#define CONSUMER_ARN(needed) \
  { "ConsumerARN", R_TEXT, needed, P_ARN, 1, 2048, NULL, NULL, 0 }
static const slp_box_rule register_rules[] = {STREAM_ARN, NAME("ConsumerName", 1), ANY_MAP("Tags", 0)};
static const slp_box_rule consumer_rules[] = {
    {"StreamARN", R_TEXT, 0, P_ARN, 1, 2048, NULL, NULL, 0}, NAME("ConsumerName", 0), CONSUMER_ARN(0)};
static const slp_box_rule consumers_rules[] = {STREAM_ARN, TEXT("NextToken", 0, P_NONE, 1048576),
                                               INT("MaxResults", 0, 1, 10000),
                                               TIME("StreamCreationTimestamp")};
static const slp_box_rule starting_rules[] = {
    ENUM("Type", 1, iterator_types),
    {"SequenceNumber", R_TEXT, 0, P_SEQUENCE, 1, 129, NULL, NULL, 0},
    TIME("Timestamp")};
static const slp_box_rule subscribe_rules[] = {
    CONSUMER_ARN(1),
    NAME("ShardId", 1),
    {"StartingPosition", R_MAP, 1, P_NONE, 0, 0, NULL, starting_rules, SLP_COUNT(starting_rules)},
    BOOL("DryRun")};
static const slp_box_rule strategy_rules[] = {STREAM_ARN, ENUM("RecordDistributionStrategy", 1, strategies)};
static const slp_box_rule resize_rules[] = {STREAM, INT("TargetShardCount", 1, 1, SLP_BOX_SHARDS_MAX / 4),
                                            ENUM("ScalingType", 1, scalings)};
static const slp_box_rule retention_rules[] = {STREAM, INT("RetentionPeriodHours", 1, INT32_MIN, INT32_MAX)};

/* ---- tables ------------------------------------------------------------------------------------- */
static const char *const billings[] = {"PROVISIONED", "PAY_PER_REQUEST", NULL};
static const char *const capacities[] = {"INDEXES", "TOTAL", "NONE", NULL};
static const char *const metrics[] = {"SIZE", "NONE", NULL};
static const char *const returns[] = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW", NULL};
static const char *const operators[] = {"OR", "AND", NULL};
static const char *const selects[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                      "ALL_PROJECTED_ATTRIBUTES", NULL};
static const slp_box_rule create_table_rules[] = {TABLE("TableName", 1), LIST("AttributeDefinitions", 1),
                                                  LIST("KeySchema", 1), ENUM("BillingMode", 0, billings),
                                                  BOOL("DeletionProtectionEnabled")};
static const slp_box_rule update_table_rules[] = {OF_TABLE, ENUM("BillingMode", 0, billings),
                                                  BOOL("DeletionProtectionEnabled")};
static const slp_box_rule table_rules[] = {OF_TABLE};
static const slp_box_rule tables_rules[] = {TABLE("ExclusiveStartTableName", 0), INT("Limit", 0, 1, 100)};
#define OF_RESOURCE \
  { "ResourceArn", R_TEXT, 1, P_NONE, 1, 1283, NULL, NULL, 0 }
static const slp_box_rule tag_rules[] = {OF_RESOURCE, LIST("Tags", 1)};
static const slp_box_rule untag_rules[] = {OF_RESOURCE, LIST("TagKeys", 1)};
static const slp_box_rule tags_rules[] = {OF_RESOURCE};
static const slp_box_rule recovery_rules[] = {BOOL("PointInTimeRecoveryEnabled")};
static const slp_box_rule backups_rules[] = {OF_TABLE,
                                             {"PointInTimeRecoverySpecification", R_MAP, 1, P_NONE, 0, 0,
                                              NULL, recovery_rules, SLP_COUNT(recovery_rules)}};
static const slp_box_rule ttl_rules[] = {OF_TABLE, ANY_MAP("TimeToLiveSpecification", 1)};
#define WRITE                                                                                \
  OF_TABLE, ENUM("ReturnValues", 0, returns), ENUM("ReturnConsumedCapacity", 0, capacities), \
      ENUM("ReturnItemCollectionMetrics", 0, metrics), ENUM("ConditionalOperator", 0, operators)
static const slp_box_rule put_item_rules[] = {WRITE, ANY_MAP("Item", 1)};
static const slp_box_rule change_item_rules[] = {WRITE, ANY_MAP("Key", 1)};
static const slp_box_rule get_item_rules[] = {OF_TABLE, ANY_MAP("Key", 1), BOOL("ConsistentRead"),
                                              ENUM("ReturnConsumedCapacity", 0, capacities)};
#define READ                                                                                  \
  OF_TABLE, TABLE("IndexName", 0), INT("Limit", 0, 1, INT32_MAX), ENUM("Select", 0, selects), \
      BOOL("ConsistentRead"), ENUM("ReturnConsumedCapacity", 0, capacities),                  \
      ENUM("ConditionalOperator", 0, operators), ANY_TEXT("FilterExpression"),                \
      ANY_TEXT("ProjectionExpression"), ANY_TEXT("KeyConditionExpression")
static const slp_box_rule query_rules[] = {READ, BOOL("ScanIndexForward")};
static const slp_box_rule scan_rules[] = {READ, INT("Segment", 0, 0, 999999),
                                          INT("TotalSegments", 0, 1, 1000000)};
static const slp_box_rule batch_get_rules[] = {ANY_MAP("RequestItems", 1),
                                               ENUM("ReturnConsumedCapacity", 0, capacities)};
static const slp_box_rule batch_write_rules[] = {ANY_MAP("RequestItems", 1),
                                                 ENUM("ReturnConsumedCapacity", 0, capacities),
                                                 ENUM("ReturnItemCollectionMetrics", 0, metrics)};
static const slp_box_rule transact_get_rules[] = {{"TransactItems", R_LIST, 1, P_NONE, 1, 100, NULL, NULL, 0},
                                                  ENUM("ReturnConsumedCapacity", 0, capacities)};
static const slp_box_rule transact_write_rules[] = {
    {"TransactItems", R_LIST, 1, P_NONE, 1, 100, NULL, NULL, 0},
    TEXT("ClientRequestToken", 0, P_NONE, 36),
    ENUM("ReturnConsumedCapacity", 0, capacities),
    ENUM("ReturnItemCollectionMetrics", 0, metrics)};

/* ---- streams of changes ------------------------------------------------------------------------- */
static const slp_box_rule change_streams_rules[] = {TEXT("ExclusiveStartStreamArn", 0, P_NONE, 1024),
                                                    TABLE("TableName", 0), INT("Limit", 0, 1, 100)};
static const char *const change_filters[] = {"CHILD_SHARDS", NULL};
static const slp_box_rule change_filter_rules[] = {ENUM("Type", 0, change_filters),
                                                   CHANGE_SHARD("ShardId", 0)};
static const slp_box_rule change_describe_rules[] = {CHANGE_STREAM, INT("Limit", 0, 1, 100),
                                                     CHANGE_SHARD("ExclusiveStartShardId", 0),
                                                     MAP("ShardFilter", change_filter_rules)};
/* AT_TIMESTAMP is in the service model dynamodbstreams 2012-08-10 of botocore 1.44.8; older models do not
 * have it. */
static const char *const change_positions[] = {"TRIM_HORIZON",          "LATEST",       "AT_SEQUENCE_NUMBER",
                                               "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP", NULL};
static const slp_box_rule change_iterator_rules[] = {
    CHANGE_STREAM,
    CHANGE_SHARD("ShardId", 1),
    ENUM("ShardIteratorType", 1, change_positions),
    {"SequenceNumber", R_TEXT, 0, P_NONE, 21, 40, NULL, NULL, 0},
    TIME("Timestamp")};
static const slp_box_rule change_get_rules[] = {TEXT("ShardIterator", 1, P_NONE, 2048),
                                                INT("Limit", 0, 1, 1000)};

#define OPERATION(name, run, rules) \
  { SLP_BOX_KINESIS, name, name, run, rules, SLP_COUNT(rules) }
#define NO_INPUT(name, run) \
  { SLP_BOX_KINESIS, name, name, run, NULL, 0 }
#define OF_TABLES(name, run, rules) \
  { SLP_BOX_DYNAMODB, name, name, run, rules, SLP_COUNT(rules) }
#define OF_METRICS(name, run) \
  { SLP_BOX_CLOUDWATCH, name, name, run, NULL, 0 }
#define OF_CHANGES(name, run, rules) \
  { SLP_BOX_CHANGES, name, "DynamoDBStreams." name, run, rules, SLP_COUNT(rules) }
static const slp_box_operation operations[] = {
    OPERATION("GetRecords", slp_box_op_get, get_rules),
    OPERATION("GetShardIterator", slp_box_op_iterator, iterator_rules),
    OPERATION("ListShards", slp_box_op_shards, shards_rules),
    OPERATION("PutRecord", slp_box_op_put, put_rules),
    OPERATION("PutRecords", slp_box_op_put_many, put_many_rules),
    OPERATION("DescribeStreamSummary", slp_box_op_summary, stream_rules),
    OPERATION("DescribeStream", slp_box_op_describe, describe_rules),
    OPERATION("ListStreams", slp_box_op_streams, streams_rules),
    OPERATION("CreateStream", slp_box_op_create, create_rules),
    OPERATION("DeleteStream", slp_box_op_delete, delete_rules),
    OPERATION("UpdateStreamRecordDistributionStrategy", slp_box_op_strategy, strategy_rules),
    NO_INPUT("DescribeLimits", slp_box_op_limits),
    NO_INPUT("DescribeAccountSettings", slp_box_op_account),
    OPERATION("RegisterStreamConsumer", slp_consumers_op_register, register_rules),
    OPERATION("DescribeStreamConsumer", slp_consumers_op_describe, consumer_rules),
    OPERATION("ListStreamConsumers", slp_consumers_op_list, consumers_rules),
    OPERATION("DeregisterStreamConsumer", slp_consumers_op_deregister, consumer_rules),
    OPERATION("SubscribeToShard", slp_push_op_subscribe, subscribe_rules),
    OPERATION("SplitShard", slp_box_op_split, split_rules),
    OPERATION("MergeShards", slp_box_op_merge, merge_rules),
    OPERATION("UpdateShardCount", slp_box_op_resize, resize_rules),
    OPERATION("IncreaseStreamRetentionPeriod", slp_box_op_retention_up, retention_rules),
    OPERATION("DecreaseStreamRetentionPeriod", slp_box_op_retention_down, retention_rules),
    OF_TABLES("GetItem", slp_read_op_get, get_item_rules),
    OF_TABLES("UpdateItem", slp_write_op_update, change_item_rules),
    OF_TABLES("PutItem", slp_write_op_put, put_item_rules),
    OF_TABLES("DeleteItem", slp_write_op_delete, change_item_rules),
    OF_TABLES("Query", slp_read_op_query, query_rules),
    OF_TABLES("Scan", slp_read_op_scan, scan_rules),
    OF_TABLES("BatchGetItem", slp_batch_op_get, batch_get_rules),
    OF_TABLES("BatchWriteItem", slp_batch_op_write, batch_write_rules),
    OF_TABLES("TransactGetItems", slp_transact_op_get, transact_get_rules),
    OF_TABLES("TransactWriteItems", slp_transact_op_write, transact_write_rules),
    OF_TABLES("CreateTable", slp_table_op_create, create_table_rules),
    OF_TABLES("UpdateTable", slp_table_op_update, update_table_rules),
    OF_TABLES("DeleteTable", slp_table_op_delete, table_rules),
    OF_TABLES("DescribeTable", slp_table_op_describe, table_rules),
    OF_TABLES("ListTables", slp_table_op_list, tables_rules),
    OF_TABLES("UpdateTimeToLive", slp_table_op_ttl, ttl_rules),
    OF_TABLES("DescribeTimeToLive", slp_table_op_describe_ttl, table_rules),
    OF_TABLES("TagResource", slp_table_op_tag, tag_rules),
    OF_TABLES("UntagResource", slp_table_op_untag, untag_rules),
    OF_TABLES("ListTagsOfResource", slp_table_op_list_tags, tags_rules),
    OF_TABLES("UpdateContinuousBackups", slp_table_op_backups, backups_rules),
    OF_TABLES("DescribeContinuousBackups", slp_table_op_describe_backups, table_rules),
    /* no rules for members: slp_metrics_op_put checks the input itself */
    OF_METRICS("PutMetricData", slp_metrics_op_put),
    OF_CHANGES("GetRecords", slp_changes_op_get, change_get_rules),
    OF_CHANGES("GetShardIterator", slp_changes_op_iterator, change_iterator_rules),
    OF_CHANGES("DescribeStream", slp_changes_op_describe, change_describe_rules),
    OF_CHANGES("ListStreams", slp_changes_op_list, change_streams_rules),
};
_Static_assert(SLP_COUNT(operations) <= SLP_BOX_OPERATIONS, "room for every operation's counters");

const slp_box_operation *slp_box_operation_find(slp_box_service service, slp_str name, uint32_t *ret_number) {
  for (uint32_t i = 0; i < SLP_COUNT(operations); i++) {
    if (operations[i].service != service || !slp_str_is(name, operations[i].name)) continue;
    *ret_number = i;
    return &operations[i];
  }
  return NULL;
}

int slp_box_operation_known(slp_str name) {
  for (uint32_t i = 0; i < SLP_COUNT(operations); i++) {
    if (slp_str_is(name, operations[i].name)) return 1;
  }
  return 0;
}

const char *slp_box_operation_label(uint32_t number) {
  return number < SLP_COUNT(operations) ? operations[number].label : NULL;
}

/* ---- checking ---------------------------------------------------------------------------------------- */
#define FINDINGS_MAX 10
typedef struct check {
  slp_box_call *c;
  uint32_t findings;
  size_t text_n;
  char text[900];
} check;

static void add_finding(check *k, const char *path, const slp_value *v, const char *fmt, ...)
    SLP_PRINTF(4, 5);
static void add_finding(check *k, const char *path, const slp_value *v, const char *fmt, ...) {
  char what[320], value[96] = "null";
  va_list args;
  if (++k->findings > FINDINGS_MAX) return;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  if (v && v->kind == SLP_VALUE_TEXT) {
    snprintf(value, sizeof value, "'%.*s'", (int)slp_min_u64(v->text.n, 80), v->text.p);
  } else if (v && v->kind == SLP_VALUE_INT) {
    snprintf(value, sizeof value, "'%lld'", (long long)v->i);
  } else if (v) {
    snprintf(value, sizeof value, "'[...]'");
  }
  int n = snprintf(k->text + k->text_n, sizeof k->text - k->text_n,
                   "%sValue %s at '%s' failed to satisfy constraint: %s", k->text_n ? "; " : "", value, path,
                   what);
  k->text_n = slp_min_u64(k->text_n + (size_t)n, sizeof k->text - 1);
}

static int digits_at_most(slp_str s, size_t most) { return s.n <= most && slp_num_plain(s); }

static int plain_characters(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (!slp_box_name_valid((slp_str){s.p + i, 1})) return 0;
  }
  return 1;
}

static int fits_pattern(rule_pattern pattern, slp_str s) {
  switch (pattern) {
    case P_NONE: return 1;
    /* names that are too long pass here, because their length has an error of its own */
    case P_NAME: return s.n > 128 || slp_box_name_valid(s);
    case P_SEQUENCE: return digits_at_most(s, 129);
    case P_HASH: return digits_at_most(s, 39);
    case P_TABLE: return plain_characters(s);
    case P_ARN: return s.n > 8 && memcmp(s.p, "arn:aws", 7) == 0;
  }
  return 1;
}

static uint64_t count_utf8_characters(slp_str s) {
  uint64_t n = 0;
  for (size_t i = 0; i < s.n; i++) n += ((uint8_t)s.p[i] & 0xc0) != 0x80;
  return n;
}

static void check_text(check *k, const slp_box_rule *r, const char *path, const slp_value *v) {
  char all[160];
  size_t at = 0;
  uint64_t n = count_utf8_characters(v->text);
  if (n < (uint64_t)r->min && r->min > 0) {
    add_finding(k, path, v, "Member must have length greater than or equal to %lld", (long long)r->min);
  }
  if (n > (uint64_t)r->max) {
    add_finding(k, path, v, "Member must have length less than or equal to %lld", (long long)r->max);
  }
  if (n > 0 && !fits_pattern(r->pattern, v->text)) {
    add_finding(k, path, v, "Member must satisfy regular expression pattern: %s", pattern_text[r->pattern]);
  }
  if (!r->one_of) return;
  for (int i = 0; r->one_of[i]; i++) {
    if (slp_str_is(v->text, r->one_of[i])) return;
    at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", r->one_of[i]);
    SLP_CHECK(at < sizeof all);
  }
  add_finding(k, path, v, "Member must satisfy enum value set: [%s]", all);
}

static int wrong_type(slp_box_call *c, const char *path) {
  return slp_box_fail(c, "SerializationException", "Member '%s' is not of the type it must have.", path);
}

/* Checks one value, without the members of a map or list. Returns -1 if the value has the wrong type. */
static int check_value(check *k, const slp_box_rule *r, const char *path, slp_value *v) {
  int64_t ms;
  if (!v) {
    if (r->required) add_finding(k, path, NULL, "Member must not be null");
    return 0;
  }
  switch (r->kind) {
    case R_TEXT:
      if (v->kind != SLP_VALUE_TEXT) return wrong_type(k->c, path);
      check_text(k, r, path, v);
      return 0;
    case R_INT:
      if (v->kind != SLP_VALUE_INT) return wrong_type(k->c, path);
      if (v->i < r->min)
        add_finding(k, path, v, "Member must have value greater than or equal to %lld", (long long)r->min);
      if (v->i > r->max)
        add_finding(k, path, v, "Member must have value less than or equal to %lld", (long long)r->max);
      return 0;
    case R_BLOB:
      if (slp_box_tree_blob(k->c->in, v)) return wrong_type(k->c, path);
      if (v->text.n > (uint64_t)r->max) {
        add_finding(k, path, v, "Member must have length less than or equal to %lld", (long long)r->max);
      }
      return 0;
    case R_TIME: return slp_box_tree_time_ms(k->c->in, v, &ms) ? wrong_type(k->c, path) : 0;
    case R_BOOL: return v->kind == SLP_VALUE_BOOL ? 0 : wrong_type(k->c, path);
    case R_MAP: return v->kind == SLP_VALUE_MAP ? 0 : wrong_type(k->c, path);
    case R_LIST:
      if (v->kind != SLP_VALUE_LIST) return wrong_type(k->c, path);
      if (v->count < r->min || v->count > r->max) {
        add_finding(k, path, v, "Member must have length %s than or equal to %lld",
                    v->count < r->min ? "greater" : "less", (long long)(v->count < r->min ? r->min : r->max));
      }
      return 0;
  }
  return 0;
}

/* Writes the path of a member. In the service's messages it begins with a small letter. */
static void path_of(char out[128], const char *prefix, const char *name) {
  snprintf(out, 128, "%s%c%s", prefix, name[0] + ('a' - 'A'), name + 1);
}

static int check_inner(check *k, const slp_box_rule *r, const char *path, uint32_t node) {
  char prefix[64], full[128];
  snprintf(prefix, sizeof prefix, "%.48s.", path);
  for (uint8_t i = 0; i < r->inner_n; i++) {
    const slp_box_rule *in = &r->inner[i];
    path_of(full, prefix, in->name);
    if (check_value(k, in, full, slp_box_tree_get(k->c->in, node, in->name))) return -1;
  }
  return 0;
}

static int check_list(check *k, const slp_box_rule *r, const char *path, uint32_t list) {
  char item[64];
  uint32_t number = 1;
  for (uint32_t i = k->c->in->v[list].child; i; i = k->c->in->v[i].next) {
    snprintf(item, sizeof item, "%.24s.%u.member", path, number++);
    if (k->c->in->v[i].kind != SLP_VALUE_MAP) return wrong_type(k->c, item);
    if (check_inner(k, r, item, i)) return -1;
  }
  return 0;
}

/* Members that are ignored, because they change nothing that a client of the sandbox could notice. StreamId:
 * "Not Implemented. Reserved for future use" (botocore 1.44.8). */
static const char *const harmless[] = {"StreamId", "Tags", "WarmThroughputMiBps"};

static int is_known(slp_str name, const slp_box_rule *rules, uint8_t n) {
  for (uint8_t i = 0; i < n; i++)
    if (slp_str_is(name, rules[i].name)) return 1;
  for (size_t i = 0; i < SLP_COUNT(harmless); i++)
    if (slp_str_is(name, harmless[i])) return 1;
  return 0;
}

/* Refuses a member that has no rule. If an unknown member were ignored, the sandbox might do what the request
 * does not want, for example write in spite of DryRun. */
static int check_known(slp_box_call *c, const char *operation, uint32_t node, const slp_box_rule *rules,
                       uint8_t n) {
  const slp_box_tree *in = c->in;
  for (uint32_t i = in->v[node].child; i; i = in->v[i].next) {
    slp_str name = in->v[i].key;
    if (in->v[i].kind == SLP_VALUE_NULL || is_known(name, rules, n)) continue;
    return slp_box_fail(c, "ValidationException",
                        "The sandbox does not know the member %.*s of %s, and does not carry out a request "
                        "as if it had not been given.",
                        (int)slp_min_u64(name.n, 100), name.p, operation);
  }
  return 0;
}

static int check_all_known(slp_box_call *c, const slp_box_operation *op) {
  if (check_known(c, op->name, 0, op->rules, op->rules_n)) return -1;
  for (uint8_t i = 0; i < op->rules_n; i++) {
    const slp_box_rule *r = &op->rules[i];
    slp_value *v = r->inner ? slp_box_tree_get(c->in, 0, r->name) : NULL;
    if (!v) continue;
    uint32_t node = slp_box_tree_number(c->in, v);
    if (r->kind == R_MAP && check_known(c, r->name, node, r->inner, r->inner_n)) return -1;
    for (uint32_t k = c->in->v[node].child; k && r->kind == R_LIST; k = c->in->v[k].next)
      if (check_known(c, r->name, k, r->inner, r->inner_n)) return -1;
  }
  return 0;
}

int slp_box_check_input(slp_box_call *c, const slp_box_operation *op) {
  check k = {.c = c};
  for (uint8_t i = 0; i < op->rules_n; i++) {
    const slp_box_rule *r = &op->rules[i];
    char path[128];
    path_of(path, "", r->name);
    slp_value *v = slp_box_tree_get(c->in, 0, r->name);
    if (check_value(&k, r, path, v)) return -1;
    if (!v || !r->inner) continue;
    uint32_t node = slp_box_tree_number(c->in, v);
    if (r->kind == R_MAP ? check_inner(&k, r, path, node) : check_list(&k, r, path, node)) return -1;
  }
  /* The rules for DynamoDB and CloudWatch do not list all members that exist, so unknown members are refused
   * only for Kinesis and DynamoDB Streams. */
  int whole = op->service == SLP_BOX_KINESIS || op->service == SLP_BOX_CHANGES;
  if (k.findings == 0) return whole ? check_all_known(c, op) : 0;
  return slp_box_fail(c, "ValidationException", "%u validation error%s detected: %s", k.findings,
                      k.findings == 1 ? "" : "s", k.text);
}
