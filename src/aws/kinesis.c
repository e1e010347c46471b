/* kinesis.c - implements slp_ops for Kinesis: writes its requests and reads its small answers. GetRecords is
 * requested in CBOR, or in JSON if the endpoint does not speak CBOR or the user chose JSON. All other
 * requests are in JSON. Unknown members are skipped at any depth. A member whose value is null is treated as
 * absent. The names of members are those of the service model kinesis 2013-12-02 in botocore 1.43.11. */
#include "aws/kinesis.h"

#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/json_members.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "aws/service.h"
#include "aws/subscribe.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/cbor.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "codec/page.h"
#include "host/host.h"

#include <sloop.h>

/* ---- the text of requests --------------------------------------------------------------------------- */
static void put_stream(slp_jw *w, slp_str name, slp_str arn) {
  slp_put_text(w, "StreamName", name);
  slp_put_text(w, "StreamARN", arn);
}

static int put_describe(slp_buf *b, const slp_op_describe *op) {
  slp_jw w = slp_jw_begin(b);
  put_stream(&w, op->name, op->arn);
  return slp_jw_object_end(&w);
}

static int put_list(slp_buf *b, const slp_op_list_shards *op) {
  slp_jw w = slp_jw_begin(b);
  if (op->next_token.n)
    slp_put_text(&w, "NextToken", op->next_token);
  else
    put_stream(&w, op->name, op->arn);
  return slp_jw_object_end(&w);
}

static int put_iterator(slp_buf *b, const slp_op_iterator *op) {
  slp_jw w = slp_jw_begin(b);
  put_stream(&w, op->name, op->arn);
  slp_put_text(&w, "ShardId", op->shard);
  slp_jw_z(&w, "ShardIteratorType", slp_iter_kind_name(op->kind));
  if (op->kind == SLP_ITER_AT_SEQ || op->kind == SLP_ITER_AFTER_SEQ)
    slp_put_text(&w, "StartingSequenceNumber", op->seq);
  if (op->kind == SLP_ITER_AT_TIME) slp_put_seconds(&w, "Timestamp", op->at_ms);
  return slp_jw_object_end(&w);
}

static uint32_t limit_of(const slp_op_records *op) {
  if (op->limit < 1) return 1;
  return op->limit > SLP_KINESIS_RECORDS_MAX ? SLP_KINESIS_RECORDS_MAX : op->limit;
}

static int put_records_cbor(slp_buf *b, const slp_op_records *op) {
  slp_cbor_put_map(b, op->arn.n ? 3 : 2);
  slp_cbor_put_text(b, SLP_STR("ShardIterator"));
  slp_cbor_put_text(b, op->iterator);
  slp_cbor_put_text(b, SLP_STR("Limit"));
  slp_cbor_put_i64(b, limit_of(op));
  if (op->arn.n) slp_cbor_put_text(b, SLP_STR("StreamARN"));
  if (op->arn.n) slp_cbor_put_text(b, op->arn);
  return slp_buf_failed(b);
}

static int put_records(slp_buf *b, const slp_op_records *op, slp_form form) {
  if (form == SLP_FORM_CBOR) return put_records_cbor(b, op);
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "ShardIterator", op->iterator);
  slp_jw_u64(&w, "Limit", limit_of(op));
  slp_put_text(&w, "StreamARN", op->arn);
  return slp_jw_object_end(&w);
}

/* ---- the text of answers ---------------------------------------------------------------------------- */
static slp_stream_status status_of(slp_str s) {
  if (slp_str_is(s, "CREATING")) return SLP_STREAM_CREATING;
  if (slp_str_is(s, "DELETING")) return SLP_STREAM_DELETING;
  if (slp_str_is(s, "UPDATING")) return SLP_STREAM_UPDATING;
  /* ACTIVE is also the default for a status that a later version of the service may add */
  return SLP_STREAM_ACTIVE;
}

/* Reads how the stream distributes records. botocore 1.44.8, service model kinesis 2013-12-02: "only present
 * for streams that use the on-demand capacity mode". If a later version of the service adds a strategy, it is
 * not known whether keys decide on shards. */
static int read_placement(slp_json *j, slp_op_describe *op) {
  slp_str strategy = {NULL, 0};
  int r = slp_json_string(j, &strategy);
  if (r || !strategy.n) return r;
  op->placement =
      slp_str_is(strategy, "USER_PARTITION_KEY") ? SLOOP_PLACED_BY_KEY_NOW : SLOOP_PLACED_ANYWHERE;
  return 0;
}

static int read_summary_member(slp_json *j, slp_op_describe *op, int *status_given) {
  slp_str key = j->text, status = {NULL, 0};
  if (slp_str_is(key, "StreamName")) return slp_read_z(j, op->ret_name, sizeof op->ret_name);
  if (slp_str_is(key, "StreamARN")) return slp_read_z(j, op->ret_arn, sizeof op->ret_arn);
  if (slp_str_is(key, "RetentionPeriodHours")) return slp_read_u32(j, &op->retention_hours);
  if (slp_str_is(key, "OpenShardCount")) return slp_read_u32(j, &op->open_shards);
  if (slp_str_is(key, "StreamCreationTimestamp")) return slp_read_time(j, &op->created_ms);
  if (slp_str_is(key, "RecordDistributionStrategy")) return read_placement(j, op);
  if (!slp_str_is(key, "StreamStatus")) return slp_json_skip(j);
  int r = slp_json_string(j, &status);
  if (!r && status.n) {
    op->status = status_of(status);
    *status_given = 1;
  }
  return r;
}

int slp_kinesis_read_describe(slp_str body, slp_op_describe *op, const char **ret_why) {
  slp_json j;
  int status_given = 0;
  op->created_ms = -1;
  op->ret_name[0] = op->ret_arn[0] = 0;
  op->retention_hours = op->open_shards = 0;
  op->placement = SLOOP_PLACED_BY_KEY;
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = slp_read_enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(&j)) > 0) {
    int q = 0;
    if (!slp_str_is(j.text, "StreamDescriptionSummary"))
      q = slp_json_skip(&j);
    else if ((q = slp_read_enter(&j, SLP_JSON_OBJECT)) > 0) {
      while ((q = slp_read_key(&j)) > 0) {
        q = read_summary_member(&j, op, &status_given);
        if (q) break;
      }
    }
    if (q) r = q;
  }
  if (!r) r = slp_read_finish(&j);
  if (!r && !status_given) r = slp_read_bad(&j, "no stream summary in it");
  *ret_why = j.why ? j.why : "";
  return r;
}

/* ---- consumers of a stream -------------------------------------------------------------------------- */
static slp_str consumer_target(slp_consumer_call what) {
  switch (what) {
    case SLP_CONSUMER_DESCRIBE: return SLP_STR("Kinesis_20131202.DescribeStreamConsumer");
    case SLP_CONSUMER_REGISTER: return SLP_STR("Kinesis_20131202.RegisterStreamConsumer");
    case SLP_CONSUMER_DEREGISTER: return SLP_STR("Kinesis_20131202.DeregisterStreamConsumer");
    case SLP_CONSUMER_LIST: return SLP_STR("Kinesis_20131202.ListStreamConsumers");
  }
  return SLP_STR("");
}

static int put_consumer(slp_buf *b, const slp_op_consumer *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "StreamARN", op->stream_arn);
  if (op->what != SLP_CONSUMER_LIST) slp_put_text(&w, "ConsumerName", op->name);
  if (op->what == SLP_CONSUMER_LIST) slp_put_text(&w, "NextToken", op->next_token);
  return slp_jw_object_end(&w);
}

static slp_consumer_status consumer_status(slp_str s) {
  if (slp_str_is(s, "CREATING")) return SLP_CONSUMER_CREATING;
  return slp_str_is(s, "DELETING") ? SLP_CONSUMER_DELETING : SLP_CONSUMER_ACTIVE;
}

/* Returns 1 if name and ARN match the patterns of the service. They are checked because people will see both
 * texts. A name is [a-zA-Z0-9_.-]+, like a shard's id; an ARN is printable ASCII. */
static int is_consumer(const slp_consumer_row *row) {
  for (const char *p = row->arn; *p; p++)
    if (*p <= ' ' || *p > '~') return 0;
  return !*row->name || slp_is_shard_id(slp_str_of(row->name));
}

/* Reads the members of one consumer. Its '{' has been read already. Returns 0 or an error. */
static int read_row(slp_json *j, slp_consumer_row *row) {
  slp_str status = {NULL, 0};
  int r;
  *row = (slp_consumer_row){.status = SLP_CONSUMER_ACTIVE, .created_ms = -1};
  while ((r = slp_read_key(j)) > 0) {
    if (slp_str_is(j->text, "ConsumerName"))
      r = slp_read_z(j, row->name, sizeof row->name);
    else if (slp_str_is(j->text, "ConsumerARN"))
      r = slp_read_z(j, row->arn, sizeof row->arn);
    else if (slp_str_is(j->text, "ConsumerCreationTimestamp"))
      r = slp_read_time(j, &row->created_ms);
    else if (!slp_str_is(j->text, "ConsumerStatus"))
      r = slp_json_skip(j);
    else if (!(r = slp_json_string(j, &status)) && status.n)
      row->status = consumer_status(status);
    if (r) return r;
  }
  return r || is_consumer(row) ? r : slp_read_bad(j, "a consumer without a usable name or ARN");
}

static int read_rows(slp_json *j, slp_op_consumer *op) {
  int r = slp_read_enter(j, SLP_JSON_ARRAY), token;
  if (r <= 0) return r;
  while ((token = slp_json_next(j)) == SLP_JSON_OBJECT) {
    if (op->rows_n == SLP_CONSUMERS_MAX) return slp_read_bad(j, "a page with too many consumers");
    r = read_row(j, &op->rows[op->rows_n++]);
    if (r) return r;
  }
  if (token < 0) return token;
  return token == SLP_JSON_ARRAY_END ? 0 : slp_read_bad(j, "a consumer is no object");
}

int slp_kinesis_read_consumer(slp_str body, slp_op_consumer *op, const char **ret_why) {
  slp_json j;
  op->rows_n = 0;
  op->ret_next[0] = 0;
  *ret_why = "";
  /* the service answers a deregistration with an empty body */
  if (op->what == SLP_CONSUMER_DEREGISTER) return 0;
  slp_json_begin(&j, (char *)(uintptr_t)body.p, body.n);
  int r = slp_read_enter(&j, SLP_JSON_OBJECT);
  while (r > 0 && (r = slp_read_key(&j)) > 0) {
    int q, one = slp_str_is(j.text, "Consumer") || slp_str_is(j.text, "ConsumerDescription");
    if (one && op->what != SLP_CONSUMER_LIST) {
      q = slp_read_enter(&j, SLP_JSON_OBJECT);
      if (q > 0) {
        q = read_row(&j, op->rows);
        op->rows_n = 1;
      }
    } else if (slp_str_is(j.text, "Consumers") && op->what == SLP_CONSUMER_LIST) {
      q = read_rows(&j, op);
    } else if (slp_str_is(j.text, "NextToken")) {
      q = slp_read_z(&j, op->ret_next, sizeof op->ret_next);
    } else {
      q = slp_json_skip(&j);
    }
    if (q) r = q;
    if (q < 0) break;
  }
  if (!r) r = slp_read_finish(&j);
  if (!r && op->what != SLP_CONSUMER_LIST && !(op->rows_n && op->rows[0].arn[0]))
    r = slp_read_bad(&j, "no consumer in it");
  *ret_why = j.why ? j.why : "";
  return r;
}

/* After this many requests that failed in CBOR and then succeeded in JSON, the endpoint is sent no more
 * CBOR. */
#define CBOR_STRIKES_MAX 2u

/* the values of slp_asking.step */
enum { FIRST_FORM, FELL_BACK /* this op was sent again in JSON */ };

typedef struct kinesis {
  slp_service s;
  uint32_t cbor_strikes;
} kinesis;

static kinesis *kinesis_of(const slp_asking *a) { return SLP_OWNER(a->service, kinesis, s); }

/* ---- sending ops ------------------------------------------------------------------------------------ */
static int wants_cbor(const slp_asking *a) {
  slp_wire wire = a->service->aws->wire;
  if (a->kind != SLP_OP_RECORDS || a->step == FELL_BACK) return 0;
  return wire == SLP_WIRE_CBOR || (wire == SLP_WIRE_AUTO && kinesis_of(a)->cbor_strikes < CBOR_STRIKES_MAX);
}

static int build_kinesis_request(slp_asking *a) {
  slp_call *c = &a->call;
  slp_buf *b = &a->request;
  a->form = wants_cbor(a) ? SLP_FORM_CBOR : SLP_FORM_JSON;
  c->svc = SLP_SVC_KINESIS;
  c->content_type = a->form == SLP_FORM_CBOR ? SLP_STR("application/x-amz-cbor-1.1")
                                             : SLP_STR("application/x-amz-json-1.1");
  switch (a->kind) {
    case SLP_OP_CONSUMER:
      c->arn = slp_consumer_op_of(a)->stream_arn;
      c->target = consumer_target(slp_consumer_op_of(a)->what);
      return put_consumer(b, slp_consumer_op_of(a));
    case SLP_OP_DESCRIBE:
      c->arn = slp_describe_of(a)->arn;
      slp_service_quota(a, SLP_KINESIS_SUMMARIES_A_SECOND, c->arn);
      c->target = SLP_STR("Kinesis_20131202.DescribeStreamSummary");
      return put_describe(b, slp_describe_of(a));
    case SLP_OP_LIST:
      c->arn = slp_list_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.ListShards");
      return put_list(b, slp_list_of(a));
    case SLP_OP_ITERATOR:
      c->arn = slp_iterator_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.GetShardIterator");
      return put_iterator(b, slp_iterator_of(a));
    case SLP_OP_RECORDS:
      c->arn = slp_records_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.GetRecords");
      return put_records(b, slp_records_of(a), a->form);
  }
  return SLP_EINVAL;
}

/* Writes the same request again in JSON, unless the user chose CBOR or JSON. Returns 1 if the request was
 * written. */
static int fall_back(slp_asking *a) {
  if (a->form != SLP_FORM_CBOR || a->service->aws->wire != SLP_WIRE_AUTO) return 0;
  a->step = FELL_BACK;
  if (slp_service_write(a)) {
    /* there is no memory for the request in JSON, so the answer to the request in CBOR is handled */
    a->step = FIRST_FORM;
    a->form = SLP_FORM_CBOR;
    return 0;
  }
  a->service->aws->stats.cbor_refused++;
  return 1;
}

static int is_cbor(const slp_http *http, slp_str body) {
  if (http->content_type[0]) return strstr(http->content_type, "cbor") != NULL;
  return body.n && (unsigned char)body.p[0] >= 0xa0 && (unsigned char)body.p[0] <= 0xbf;
}

/* Called first for each answer. Returns 1 if the answer to a CBOR request is not CBOR, and the request was
 * written again in JSON. An empty answer with status 5xx or 429 does not show that the endpoint lacks
 * CBOR. */
static int on_answer_fall_back_to_json(slp_call *c) {
  slp_asking *a = slp_asking_of(c);
  slp_str body = slp_buf_str(c->into);
  if (a->form != SLP_FORM_CBOR || is_cbor(&c->http, body)) return 0;
  if (!body.n && (c->http.status >= 500 || c->http.status == 429)) return 0;
  return fall_back(a);
}

/* ---- an answer came --------------------------------------------------------------------------------- */
static void read_small(slp_asking *a) {
  const char *why = "";
  slp_str body = slp_buf_str(&a->answer);
  int describe = a->kind == SLP_OP_DESCRIBE;
  if (a->kind == SLP_OP_CONSUMER) {
    int e = slp_kinesis_read_consumer(body, slp_consumer_op_of(a), &why);
    if (e)
      slp_service_unreadable(a, e, "about a consumer", why, 0);
    else
      slp_call_good(&a->call);
    return;
  }
  int r = describe ? slp_kinesis_read_describe(body, slp_describe_of(a), &why)
                   : slp_read_iterator(body, slp_iterator_of(a), &why);
  if (r)
    slp_service_unreadable(a, r, describe ? "a description of a stream" : "a shard iterator", why, 0);
  else
    slp_call_good(&a->call);
}

/* Counts a request that failed in CBOR and worked in JSON. A failure in both forms does not count, because it
 * may be an outage. */
static void count_cbor_strike(slp_asking *a) {
  const slp_fail *f = &a->call.fail;
  if (a->step == FELL_BACK && (f->class == SLP_FINE || f->aws_code[0])) kinesis_of(a)->cbor_strikes++;
}

static const slp_list_shape list_shape = {.next = "NextToken"};

static const slp_service_kind kinesis_kind = {.list_shape = &list_shape,
                                              .ask = build_kinesis_request,
                                              .read_small = read_small,
                                              .reroute = on_answer_fall_back_to_json,
                                              .other_form = fall_back,
                                              .over = count_cbor_strike};

/* ---- enhanced fan-out ------------------------------------------------------------------------------ */
static void op_consumer(slp_ops *o, slp_op_consumer *op) {
  op->rows_n = 0;
  op->ret_next[0] = 0;
  slp_service_begin(o, SLP_OP_CONSUMER, &op->op);
}

static int op_subscribe(slp_ops *o, slp_op_subscribe *op) {
  return slp_subscribe_begin(SLP_OWNER(o, slp_service, ops)->aws, op);
}

static void op_next_event(slp_ops *o, slp_op_subscribe *op, slp_page *page) {
  (void)o;
  slp_subscribe_next(op, page);
}

static void op_resume_events(slp_ops *o, slp_op_subscribe *op) {
  (void)o;
  slp_subscribe_resume(op);
}

static void op_unsubscribe(slp_ops *o, slp_op_subscribe *op) {
  (void)o;
  slp_subscribe_cancel(op);
}

int slp_kinesis_new(slp_ops **ret, slp_aws *aws) {
  kinesis *k = SLP_NEW(aws->h->mem, kinesis);
  if (!k) return SLP_ENOMEM;
  slp_service_init(&k->s, &kinesis_kind, aws);
  k->s.ops.consumer = op_consumer;
  k->s.ops.subscribe = op_subscribe;
  k->s.ops.next_event = op_next_event;
  k->s.ops.resume_events = op_resume_events;
  k->s.ops.unsubscribe = op_unsubscribe;
  *ret = &k->s.ops;
  return 0;
}

void slp_kinesis_free(slp_ops *ops) {
  if (ops) slp_service_free(SLP_OWNER(ops, slp_service, ops));
}
