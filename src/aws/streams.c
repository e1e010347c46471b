/* streams.c - implements slp_ops for DynamoDB Streams: writes its requests and reads its small answers. A
 * description of a table's stream takes two requests in one op: DescribeTable finds the latest stream of the
 * table, and DescribeStream describes it. The names of members are those of the service models
 * dynamodbstreams 2012-08-10 and dynamodb 2012-08-10 in botocore 1.43.11; AT_TIMESTAMP and Timestamp are from
 * botocore 1.44.8. */
#include "aws/streams.h"

#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/json_members.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "aws/service.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "codec/page.h"

#include <sloop.h>
#include <stdio.h>

/* ---- the text of requests --------------------------------------------------------------------------- */
static int put_table(slp_buf *b, slp_str table) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "TableName", table);
  return slp_jw_object_end(&w);
}

/* Writes DescribeStream with the smallest limit, because the shards are listed by another call. */
static int put_describe(slp_buf *b, slp_str arn) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamArn", arn);
  slp_jw_u64(&w, "Limit", 1);
  return slp_jw_object_end(&w);
}

static int put_list(slp_buf *b, const slp_op_list_shards *op) {
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

static int put_iterator(slp_buf *b, const slp_op_iterator *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamArn", op->arn);
  slp_put_text(&w, "ShardId", op->shard);
  slp_jw_z(&w, "ShardIteratorType", slp_iter_kind_name(op->kind));
  if (op->kind == SLP_ITER_AT_SEQ || op->kind == SLP_ITER_AFTER_SEQ)
    slp_put_text(&w, "SequenceNumber", op->seq);
  if (op->kind == SLP_ITER_AT_TIME) slp_put_seconds(&w, "Timestamp", op->at_ms);
  return slp_jw_object_end(&w);
}

static int put_records(slp_buf *b, const slp_op_records *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "ShardIterator", op->iterator);
  slp_jw_u64(&w, "Limit", slp_min_u64(slp_max_u64(op->limit, 1), SLP_STREAMS_RECORDS_MAX));
  return slp_jw_object_end(&w);
}

/* ---- the text of answers ---------------------------------------------------------------------------- */
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

/* the values of slp_asking.step in a description */
enum { UNDECIDED, THE_TABLE, THE_STREAM };

/* Returns 1 for the ARN of a stream, arn:...:table/NAME/stream/LABEL, and 0 for the ARN of a table. */
static int is_stream_arn(slp_str arn) {
  const slp_str part = SLP_STR("/stream/");
  return arn.n && memmem(arn.p, arn.n, part.p, part.n) != NULL;
}

/* ---- sending ops ------------------------------------------------------------------------------------ */
static int ask_describe(slp_asking *a) {
  slp_op_describe *op = slp_describe_of(a);
  slp_call *c = &a->call;
  if (a->step == UNDECIDED) a->step = is_stream_arn(op->arn) ? THE_STREAM : THE_TABLE;
  if (a->step == THE_TABLE) {
    c->svc = SLP_SVC_DYNAMODB;
    c->arn = op->arn;
    c->target = SLP_STR("DynamoDB_20120810.DescribeTable");
    return put_table(&a->request, op->arn.n ? op->arn : op->name);
  }
  slp_str arn = is_stream_arn(op->arn) ? op->arn : slp_str_of(op->ret_arn);
  c->arn = arn;
  slp_service_quota(a, SLP_STREAMS_DESCRIBES_A_SECOND, arn);
  c->target = SLP_STR("DynamoDBStreams_20120810.DescribeStream");
  return put_describe(&a->request, arn);
}

static int build_streams_request(slp_asking *a) {
  slp_call *c = &a->call;
  c->svc = SLP_SVC_STREAMS;
  c->content_type = SLP_STR("application/x-amz-json-1.0");
  a->form = SLP_FORM_CHANGES;
  switch (a->kind) {
    case SLP_OP_DESCRIBE: return ask_describe(a);
    case SLP_OP_LIST:
      c->arn = slp_list_of(a)->arn;
      slp_service_quota(a, SLP_STREAMS_DESCRIBES_A_SECOND, c->arn);
      c->target = SLP_STR("DynamoDBStreams_20120810.DescribeStream");
      return put_list(&a->request, slp_list_of(a));
    case SLP_OP_ITERATOR:
      c->arn = slp_iterator_of(a)->arn;
      c->target = SLP_STR("DynamoDBStreams_20120810.GetShardIterator");
      return put_iterator(&a->request, slp_iterator_of(a));
    case SLP_OP_CONSUMER: return SLP_EINVAL; /* only Kinesis has consumers */
    case SLP_OP_RECORDS:
      c->arn = slp_records_of(a)->iterator; /* an iterator of DynamoDB Streams begins with the stream's ARN */
      c->target = SLP_STR("DynamoDBStreams_20120810.GetRecords");
      return put_records(&a->request, slp_records_of(a));
  }
  return SLP_EINVAL;
}

/* ---- an answer came --------------------------------------------------------------------------------- */
static void no_stream(slp_asking *a) {
  char text[300];
  snprintf(text, sizeof text,
           "table %.120s has no stream; aws dynamodb update-table with --stream-specification "
           "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES gives it one",
           slp_describe_of(a)->ret_name);
  slp_call_bad(&a->call, SLP_GONE, SLOOP_ENOSTREAM, text);
}

static void read_table(slp_asking *a) {
  const char *why = "";
  slp_op_describe *op = slp_describe_of(a);
  int r = slp_streams_read_table(slp_buf_str(&a->answer), op, &why);
  if (r) {
    slp_service_unreadable(a, r, "a description of a table", why, 0);
  } else if (!op->ret_arn[0]) {
    no_stream(a);
  } else {
    a->step = THE_STREAM;
    if (slp_service_write(a))
      slp_service_unreadable(a, SLP_ENOMEM, "", "", 0);
    else
      slp_call_again(&a->call);
  }
}

static void read_small(slp_asking *a) {
  const char *why = "";
  slp_str body = slp_buf_str(&a->answer);
  int describe = a->kind == SLP_OP_DESCRIBE;
  if (describe && a->step == THE_TABLE) {
    read_table(a);
    return;
  }
  int r = describe ? slp_streams_read_describe(body, slp_describe_of(a), &why)
                   : slp_read_iterator(body, slp_iterator_of(a), &why);
  if (r)
    slp_service_unreadable(a, r, describe ? "a description of a stream" : "a shard iterator", why, 0);
  else
    slp_call_good(&a->call);
}

/* Drops shards that are not children of children_of. Some servers ignore the filter and send all shards
 * (moto, DynamoDB Local before 3). */
static void on_listed_keep_children(slp_asking *a) {
  slp_op_list_shards *op = slp_list_of(a);
  size_t kept = 0;
  if (!op->children_of.n) return;
  for (size_t i = 0; i < op->shards_n; i++) {
    if (slp_str_eq(op->shards[i].parent, op->children_of)) op->shards[kept++] = op->shards[i];
  }
  op->unfiltered = kept < op->shards_n;
  op->shards_n = kept;
}

static const slp_list_shape list_shape = {
    .inside = "StreamDescription", .next = "LastEvaluatedShardId", .status = "StreamStatus"};

static const slp_service_kind streams_kind = {.list_shape = &list_shape,
                                              .ask = build_streams_request,
                                              .read_small = read_small,
                                              .listed = on_listed_keep_children};

int slp_streams_new(slp_ops **ret, slp_aws *aws) {
  slp_service *s = SLP_NEW(aws->h->mem, slp_service);
  if (!s) return SLP_ENOMEM;
  slp_service_init(s, &streams_kind, aws);
  *ret = &s->ops;
  return 0;
}

void slp_streams_free(slp_ops *ops) {
  if (ops) slp_service_free(SLP_OWNER(ops, slp_service, ops));
}
