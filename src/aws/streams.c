/* streams.c - implements slp_ops for DynamoDB Streams. A description of a table's stream takes two requests
 * in one op: DescribeTable finds the latest stream of the table, and DescribeStream describes it. */
#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "aws/service.h"
#include "aws/streams_read.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/page.h"

#include <sloop.h>
#include <stdio.h>

/* the values of slp_asking.step in a description */
enum { UNDECIDED, THE_TABLE, THE_STREAM };

/* Returns 1 for the ARN of a stream, arn:...:table/NAME/stream/LABEL, and 0 for the ARN of a table. */
static int is_stream_arn(slp_str arn) {
  const slp_str part = SLP_STR("/stream/");
  return arn.n && memmem(arn.p, arn.n, part.p, part.n) != NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------ */
static int ask_describe(slp_asking *a) {
  slp_op_describe *op = slp_describe_of(a);
  slp_call *c = &a->call;
  if (a->step == UNDECIDED) a->step = is_stream_arn(op->arn) ? THE_STREAM : THE_TABLE;
  if (a->step == THE_TABLE) {
    c->svc = SLP_SVC_DYNAMODB;
    c->arn = op->arn;
    c->target = SLP_STR("DynamoDB_20120810.DescribeTable");
    return slp_streams_put_table(&a->request, op->arn.n ? op->arn : op->name);
  }
  slp_str arn = is_stream_arn(op->arn) ? op->arn : slp_str_of(op->ret_arn);
  c->arn = arn;
  slp_service_quota(a, SLP_STREAMS_DESCRIBES_A_SECOND, arn);
  c->target = SLP_STR("DynamoDBStreams_20120810.DescribeStream");
  return slp_streams_put_describe(&a->request, arn);
}

static int ask(slp_asking *a) {
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
      return slp_streams_put_list(&a->request, slp_list_of(a));
    case SLP_OP_ITERATOR:
      c->arn = slp_iterator_of(a)->arn;
      c->target = SLP_STR("DynamoDBStreams_20120810.GetShardIterator");
      return slp_streams_put_iterator(&a->request, slp_iterator_of(a));
    case SLP_OP_CONSUMER: return SLP_EINVAL; /* only Kinesis has consumers */
    case SLP_OP_RECORDS:
      c->arn = slp_records_of(a)->iterator; /* an iterator of DynamoDB Streams begins with the stream's ARN */
      c->target = SLP_STR("DynamoDBStreams_20120810.GetRecords");
      return slp_streams_put_records(&a->request, slp_records_of(a));
  }
  return SLP_EINVAL;
}

/* ---- answers ------------------------------------------------------------------------------------------- */
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
static void listed(slp_asking *a) {
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

static const slp_service_kind streams_kind = {
    .list_shape = &list_shape, .ask = ask, .read_small = read_small, .listed = listed};

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
