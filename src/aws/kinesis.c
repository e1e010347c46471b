/* kinesis.c - implements slp_ops for Kinesis. GetRecords is requested in CBOR, or in JSON if the endpoint
 * does not speak CBOR or the user chose JSON. All other requests are in JSON. */
#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/kinesis_read.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "aws/service.h"
#include "aws/subscribe.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "codec/page.h"
#include "host/host.h"

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

/* ---- requests ------------------------------------------------------------------------------------------ */
static int wants_cbor(const slp_asking *a) {
  slp_wire wire = a->service->aws->wire;
  if (a->kind != SLP_OP_RECORDS || a->step == FELL_BACK) return 0;
  return wire == SLP_WIRE_CBOR || (wire == SLP_WIRE_AUTO && kinesis_of(a)->cbor_strikes < CBOR_STRIKES_MAX);
}

static int ask(slp_asking *a) {
  slp_call *c = &a->call;
  slp_buf *b = &a->request;
  a->form = wants_cbor(a) ? SLP_FORM_CBOR : SLP_FORM_JSON;
  c->svc = SLP_SVC_KINESIS;
  c->content_type = a->form == SLP_FORM_CBOR ? SLP_STR("application/x-amz-cbor-1.1")
                                             : SLP_STR("application/x-amz-json-1.1");
  switch (a->kind) {
    case SLP_OP_CONSUMER:
      c->arn = slp_consumer_op_of(a)->stream_arn;
      c->target = slp_kinesis_consumer_target(slp_consumer_op_of(a)->what);
      return slp_kinesis_put_consumer(b, slp_consumer_op_of(a));
    case SLP_OP_DESCRIBE:
      c->arn = slp_describe_of(a)->arn;
      slp_service_quota(a, SLP_KINESIS_SUMMARIES_A_SECOND, c->arn);
      c->target = SLP_STR("Kinesis_20131202.DescribeStreamSummary");
      return slp_kinesis_put_describe(b, slp_describe_of(a));
    case SLP_OP_LIST:
      c->arn = slp_list_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.ListShards");
      return slp_kinesis_put_list(b, slp_list_of(a));
    case SLP_OP_ITERATOR:
      c->arn = slp_iterator_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.GetShardIterator");
      return slp_kinesis_put_iterator(b, slp_iterator_of(a));
    case SLP_OP_RECORDS:
      c->arn = slp_records_of(a)->arn;
      c->target = SLP_STR("Kinesis_20131202.GetRecords");
      return slp_kinesis_put_records(b, slp_records_of(a), a->form);
  }
  return SLP_EINVAL;
}

/* Writes the same request again in JSON, unless the user chose a form. Returns 1 if it was written. */
static int fall_back(slp_asking *a) {
  if (a->form != SLP_FORM_CBOR || a->service->aws->wire != SLP_WIRE_AUTO) return 0;
  a->step = FELL_BACK;
  if (slp_service_write(a)) {
    a->step = FIRST_FORM; /* there is no memory for the request in JSON, so the first answer counts */
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
static int reroute(slp_call *c) {
  slp_asking *a = slp_asking_of(c);
  slp_str body = slp_buf_str(c->into);
  if (a->form != SLP_FORM_CBOR || is_cbor(&c->http, body)) return 0;
  if (!body.n && (c->http.status >= 500 || c->http.status == 429)) return 0;
  return fall_back(a);
}

/* ---- answers ------------------------------------------------------------------------------------------- */
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
static void over(slp_asking *a) {
  const slp_fail *f = &a->call.fail;
  if (a->step == FELL_BACK && (f->class == SLP_FINE || f->aws_code[0])) kinesis_of(a)->cbor_strikes++;
}

static const slp_list_shape list_shape = {.next = "NextToken"};

static const slp_service_kind kinesis_kind = {.list_shape = &list_shape,
                                              .ask = ask,
                                              .read_small = read_small,
                                              .reroute = reroute,
                                              .other_form = fall_back,
                                              .over = over};

/* ---- enhanced fan-out ------------------------------------------------------------------------------- */
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
