/* streams_read.c - writes and reads the small calls of DynamoDB Streams in JSON. The names of members are
 * those of the service models dynamodbstreams 2012-08-10 and dynamodb 2012-08-10 in botocore 1.43.11;
 * AT_TIMESTAMP and Timestamp are from botocore 1.44.8. */
#include "aws/streams_read.h"

#include "aws/json_members.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "codec/json.h"
#include "codec/json_write.h"

/* ---- requests ------------------------------------------------------------------------------------------ */
int slp_streams_put_table(slp_buf *b, slp_str table) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "TableName", table);
  return slp_jw_object_end(&w);
}

/* Writes DescribeStream with the smallest limit, because the shards are listed by another call. */
int slp_streams_put_describe(slp_buf *b, slp_str arn) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamArn", arn);
  slp_jw_u64(&w, "Limit", 1);
  return slp_jw_object_end(&w);
}

int slp_streams_put_list(slp_buf *b, const slp_op_list_shards *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamArn", op->arn);
  slp_put_text(&w, "ExclusiveStartShardId", op->next_token);
  if (op->children_of.n) {
    slp_jw_object(&w, "ShardFilter");
    slp_jw_z(&w, "Type", "CHILD_SHARDS");
    slp_jw_str(&w, "ShardId", op->children_of);
    slp_jw_object_end(&w);
  }
  return slp_jw_object_end(&w);
}

int slp_streams_put_iterator(slp_buf *b, const slp_op_iterator *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamArn", op->arn);
  slp_put_text(&w, "ShardId", op->shard);
  slp_jw_z(&w, "ShardIteratorType", slp_iter_kind_name(op->kind));
  if (op->kind == SLP_ITER_AT_SEQ || op->kind == SLP_ITER_AFTER_SEQ)
    slp_put_text(&w, "SequenceNumber", op->seq);
  if (op->kind == SLP_ITER_AT_TIME) slp_put_seconds(&w, "Timestamp", op->at_ms);
  return slp_jw_object_end(&w);
}

int slp_streams_put_records(slp_buf *b, const slp_op_records *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "ShardIterator", op->iterator);
  slp_jw_u64(&w, "Limit", slp_min_u64(slp_max_u64(op->limit, 1), SLP_STREAMS_RECORDS_MAX));
  return slp_jw_object_end(&w);
}

/* ---- answers ------------------------------------------------------------------------------------------- */
/* Reads the member `inside` of the answer, an object, and calls `take` for each of its members. */
static int read_inside(slp_json *j, slp_str body, const char *inside,
                       int (*take)(slp_json *j, slp_op_describe *op), slp_op_describe *op) {
  int given = 0;
  slp_json_begin(j, (char *)(uintptr_t)body.p, body.n);
  int r = slp_read_enter(j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(j)) > 0) {
    int q = 0;
    if (!slp_str_is(j->text, inside)) {
      q = slp_json_skip(j);
    } else if ((q = slp_read_enter(j, SLP_JSON_OBJECT)) > 0) {
      given = 1;
      while ((q = slp_read_key(j)) > 0) {
        q = take(j, op);
        if (q) break;
      }
    }
    if (q) r = q;
  }
  if (!r) r = slp_read_finish(j);
  return !r && !given ? slp_read_bad(j, "no description in it") : r;
}

static void begin_describe(slp_op_describe *op) {
  op->created_ms = -1;
  op->ret_name[0] = op->ret_arn[0] = 0;
  op->retention_hours = SLP_STREAMS_RETENTION_HOURS;
  op->open_shards = 0;
  op->status = SLP_STREAM_ACTIVE;
}

static int take_table(slp_json *j, slp_op_describe *op) {
  if (slp_str_is(j->text, "TableName")) return slp_read_z(j, op->ret_name, sizeof op->ret_name);
  if (slp_str_is(j->text, "LatestStreamArn")) return slp_read_z(j, op->ret_arn, sizeof op->ret_arn);
  return slp_json_skip(j);
}

int slp_streams_read_table(slp_str body, slp_op_describe *op, const char **ret_why) {
  slp_json j;
  begin_describe(op);
  int r = read_inside(&j, body, "Table", take_table, op);
  *ret_why = j.why ? j.why : "";
  return r;
}

/* Reads the status of a stream. A stream that is disabled, or is being disabled, can still be read to its
 * end, so its status is ACTIVE. */
static int take_status(slp_json *j, slp_op_describe *op) {
  slp_str status = {NULL, 0};
  int r = slp_json_string(j, &status);
  op->status = slp_str_is(status, "ENABLING") ? SLP_STREAM_CREATING : SLP_STREAM_ACTIVE;
  return r;
}

static int take_stream(slp_json *j, slp_op_describe *op) {
  if (slp_str_is(j->text, "StreamArn")) return slp_read_z(j, op->ret_arn, sizeof op->ret_arn);
  if (slp_str_is(j->text, "TableName")) return slp_read_z(j, op->ret_name, sizeof op->ret_name);
  if (slp_str_is(j->text, "StreamStatus")) return take_status(j, op);
  if (slp_str_is(j->text, "CreationRequestDateTime")) return slp_read_time(j, &op->created_ms);
  return slp_json_skip(j);
}

int slp_streams_read_describe(slp_str body, slp_op_describe *op, const char **ret_why) {
  slp_json j;
  begin_describe(op);
  int r = read_inside(&j, body, "StreamDescription", take_stream, op);
  if (!r && !op->ret_arn[0]) r = slp_read_bad(&j, "no ARN of the stream in it");
  *ret_why = j.why ? j.why : "";
  return r;
}
