/* kinesis.c - Kinesis as a table of ops: one slp_call for each op in flight, CBOR or JSON, answers read in
 * slices. */
#include "aws/call.h"
#include "aws/kinesis_read.h"
#include "aws/limits.h"
#include "sloop.h"

#include <stdio.h>

/* A slice of parsing is at most this much (DESIGN section 4). */
#define SLICE_BYTES (64u * 1024)
#define SLICE_RECORDS 256u
#define SLICE_ROWS 256u
/* Answers that made us ask again as JSON, and JSON worked: so many, and the endpoint gets no more CBOR. */
#define CBOR_STRIKES_MAX 2u
/* Calls and readers kept for reuse. */
#define IDLE_CALLS_MAX 64u
#define IDLE_READERS_MAX 4u

typedef enum { DESCRIBE, LIST, ITERATOR, RECORDS } op_kind;

typedef struct kinesis kinesis;

typedef struct kcall { /* an op in flight */
  slp_call call;
  kinesis *k;
  op_kind kind;
  slp_op *op;
  slp_list link;   /* in k->idle */
  slp_event slice; /* goes on reading */
  slp_buf request;
  slp_buf answer; /* of the small calls */
  slp_form form;
  uint8_t fell_back;       /* from CBOR to JSON, in this op */
  slp_page_reader *reader; /* while a page is read */
  slp_list_reader *rows;   /* while a listing is read; owned */
} kcall;

struct kinesis {
  slp_ops ops;
  slp_aws *aws;
  slp_list idle;
  size_t idle_n, live_n;
  slp_page_reader *readers[IDLE_READERS_MAX]; /* owned */
  size_t readers_n;
  uint32_t cbor_strikes;
  slp_op *starved; /* ops for which there was no memory, linked by op->call */
  slp_event starved_ev;
};

static kinesis *kinesis_of(slp_ops *o) { return SLP_OWNER(o, kinesis, ops); }
static slp_op_records *records_of(kcall *kc) { return SLP_OWNER(kc->op, slp_op_records, op); }
static slp_op_list_shards *list_of(kcall *kc) { return SLP_OWNER(kc->op, slp_op_list_shards, op); }
static slp_op_describe *describe_of(kcall *kc) { return SLP_OWNER(kc->op, slp_op_describe, op); }
static slp_op_iterator *iterator_of(kcall *kc) { return SLP_OWNER(kc->op, slp_op_iterator, op); }

/* ---- the life of a kcall ---------------------------------------------------------------------------------
 */
static void on_call_done(slp_call *c);
static void on_slice(slp_event *ev);

static void kcall_free(kcall *kc) {
  slp_mem *mem = kc->k->aws->h->mem;
  slp_call_free(&kc->call);
  slp_buf_free(&kc->request);
  slp_buf_free(&kc->answer);
  slp_free(mem, kc->rows);
  slp_free(mem, kc);
}

static kcall *kcall_take(kinesis *k, op_kind kind, slp_op *op) {
  slp_mem *mem = k->aws->h->mem;
  slp_list *node = slp_list_pop(&k->idle);
  kcall *kc = node ? SLP_OWNER(node, kcall, link) : SLP_NEW(mem, kcall);
  if (!kc) return NULL;
  if (node) {
    k->idle_n--;
  } else {
    kc->k = k;
    kc->slice.run = on_slice;
    slp_call_init(&kc->call, k->aws);
    slp_buf_init(&kc->request, mem, SLP_KINESIS_NEXT_TOKEN_MAX * 2 + 4096); /* escapes can double it */
    slp_buf_init(&kc->answer, mem, SLP_SMALL_BODY_MAX);
  }
  k->live_n++;
  slp_buf_clear(&kc->request);
  slp_buf_clear(&kc->answer);
  kc->kind = kind;
  kc->op = op;
  kc->fell_back = 0;
  kc->form = SLP_FORM_JSON;
  op->call = kc;
  return kc;
}

static void drop_reader(kcall *kc) {
  kinesis *k = kc->k;
  if (!kc->reader) return;
  if (k->readers_n < IDLE_READERS_MAX)
    k->readers[k->readers_n++] = kc->reader;
  else
    slp_page_reader_free(kc->reader);
  kc->reader = NULL;
}

static int take_reader(kcall *kc) {
  kinesis *k = kc->k;
  kc->reader = k->readers_n ? k->readers[--k->readers_n] : slp_page_reader_new(k->aws->h->mem);
  return kc->reader ? 0 : SLP_ENOMEM;
}

static void kcall_give_back(kcall *kc) {
  kinesis *k = kc->k;
  kc->op->call = NULL;
  kc->op = NULL;
  drop_reader(kc);
  slp_free(k->aws->h->mem, kc->rows);
  kc->rows = NULL;
  slp_unpost(&kc->slice);
  k->live_n--;
  if (kc->request.cap > 16384) slp_buf_free(&kc->request);
  if (k->idle_n >= IDLE_CALLS_MAX) {
    kcall_free(kc);
    return;
  }
  slp_list_add_first(&k->idle, &kc->link);
  k->idle_n++;
}

static void on_call_done(slp_call *c) {
  kcall *kc = SLP_OWNER(c, kcall, call);
  kinesis *k = kc->k;
  slp_op *op = kc->op;
  op->fail = c->fail;
  op->tries = c->tries;
  op->sent_us = c->http.sent_us;
  op->done_us = c->http.done_us;
  op->date_ms = c->http.date_ms;
  int failed = c->fail.class != SLP_FINE;
  /* JSON worked where CBOR did not. An outage that fails both ways proves nothing. */
  if (kc->fell_back && (!failed || c->fail.aws_code[0])) k->cbor_strikes++;
  if (failed && kc->kind == RECORDS) slp_page_reset(records_of(kc)->page); /* nothing of what came is kept */
  kcall_give_back(kc);
  op->on_done(op);
}

/* ---- requests --------------------------------------------------------------------------------------------
 */
static int write_request(kcall *kc) {
  slp_buf *b = &kc->request;
  slp_buf_clear(b);
  switch (kc->kind) {
    case DESCRIBE: return slp_kinesis_put_describe(b, describe_of(kc));
    case LIST: return slp_kinesis_put_list(b, list_of(kc));
    case ITERATOR: return slp_kinesis_put_iterator(b, iterator_of(kc));
    case RECORDS: return slp_kinesis_put_records(b, records_of(kc), kc->form);
  }
  return SLP_EINVAL;
}

static void set_request(kcall *kc) {
  kc->call.body = slp_buf_str(&kc->request);
  kc->call.content_type = kc->form == SLP_FORM_CBOR ? SLP_STR("application/x-amz-cbor-1.1")
                                                    : SLP_STR("application/x-amz-json-1.1");
}

/* May be asked again as JSON? Only where the user did not insist on one form. */
static int may_fall_back(const kcall *kc) {
  return kc->form == SLP_FORM_CBOR && kc->k->aws->wire == SLP_WIRE_AUTO;
}

/* 1: the same request is ready to be sent as JSON. */
static int fall_back(kcall *kc) {
  kc->form = SLP_FORM_JSON;
  if (write_request(kc)) {
    kc->form = SLP_FORM_CBOR;
    return 0;
  }
  set_request(kc);
  kc->fell_back = 1;
  kc->k->aws->stats.cbor_refused++;
  return 1;
}

static int is_cbor(const slp_http *http, slp_str body) {
  if (http->content_type[0]) return strstr(http->content_type, "cbor") != NULL;
  return body.n && (unsigned char)body.p[0] >= 0xa0 && (unsigned char)body.p[0] <= 0xbf;
}

/* An answer to CBOR that is not CBOR. An empty 5xx or 429 is no opinion about CBOR. */
static int reroute(slp_call *c) {
  kcall *kc = SLP_OWNER(c, kcall, call);
  slp_str body = slp_buf_str(c->into);
  if (!may_fall_back(kc) || is_cbor(&c->http, body)) return 0;
  if (!body.n && (c->http.status >= 500 || c->http.status == 429)) return 0;
  return fall_back(kc);
}

static int may_grow(slp_http *http, size_t more) {
  slp_op_records *op = records_of(SLP_OWNER(SLP_OWNER(http, slp_call, http), kcall, call));
  return op->may_grow ? op->may_grow(op, more) : 1;
}

/* ---- answers ---------------------------------------------------------------------------------------------
 */
static void unreadable(kcall *kc, int r, const char *what, const char *why, size_t at) {
  char text[200];
  drop_reader(kc);
  if (r == SLP_ENOMEM) {
    slp_call_bad(&kc->call, SLP_NOMEM, SLP_ENOMEM, "no memory to read the answer");
    return;
  }
  if (kc->kind == RECORDS && may_fall_back(kc) && fall_back(kc)) {
    slp_call_again(&kc->call);
    return;
  }
  snprintf(text, sizeof text, "the answer is not %s: %s (byte %zu of %zu)", what,
           why[0] ? why : "a limit is exceeded", at, kc->call.into->n);
  slp_call_bad(&kc->call, SLP_TRANSIENT, SLOOP_EPROTO, text);
}

static void read_page(kcall *kc) {
  int r = slp_page_read(kc->reader, SLICE_BYTES, SLICE_RECORDS);
  if (r == SLP_MORE) {
    slp_post(kc->k->aws->h, &kc->slice);
  } else if (r) {
    unreadable(kc, r, "a page of records", slp_page_reader_why(kc->reader),
               slp_page_reader_where(kc->reader));
  } else {
    drop_reader(kc);
    slp_call_good(&kc->call);
  }
}

static void begin_page(kcall *kc) {
  slp_op_records *op = records_of(kc);
  op->body_bytes = op->page->body.n;
  if (take_reader(kc)) {
    unreadable(kc, SLP_ENOMEM, "", "", 0);
    return;
  }
  slp_page_reader_begin(kc->reader, op->page, kc->form);
  read_page(kc);
}

static void read_list(kcall *kc) {
  int r = slp_list_read(kc->rows, list_of(kc), SLICE_ROWS);
  if (r == SLP_MORE) {
    slp_post(kc->k->aws->h, &kc->slice);
  } else if (r) {
    unreadable(kc, r, "a listing of shards", kc->rows->why, kc->rows->j.at);
  } else {
    slp_call_good(&kc->call);
  }
}

static void begin_list(kcall *kc) {
  if (!kc->rows) kc->rows = SLP_NEW(kc->k->aws->h->mem, slp_list_reader);
  if (!kc->rows) {
    unreadable(kc, SLP_ENOMEM, "", "", 0);
    return;
  }
  slp_list_reader_begin(kc->rows, list_of(kc));
  read_list(kc);
}

static void read_small(kcall *kc) {
  const char *why = "";
  slp_str body = slp_buf_str(&kc->answer);
  int describe = kc->kind == DESCRIBE;
  int r = describe ? slp_kinesis_read_describe(body, describe_of(kc), &why)
                   : slp_kinesis_read_iterator(body, iterator_of(kc), &why);
  if (r)
    unreadable(kc, r, describe ? "a description of a stream" : "a shard iterator", why, 0);
  else
    slp_call_good(&kc->call);
}

static void on_body(slp_call *c) {
  kcall *kc = SLP_OWNER(c, kcall, call);
  if (kc->kind == RECORDS)
    begin_page(kc);
  else if (kc->kind == LIST)
    begin_list(kc);
  else
    read_small(kc);
}

static void on_slice(slp_event *ev) {
  kcall *kc = SLP_OWNER(ev, kcall, slice);
  if (kc->kind == RECORDS)
    read_page(kc);
  else
    read_list(kc);
}

/* ---- the ops ---------------------------------------------------------------------------------------------
 */
static void starve(kinesis *k, slp_op *op) {
  op->call = k->starved;
  k->starved = op;
  slp_post(k->aws->h, &k->starved_ev);
}

static void on_starved(slp_event *ev) {
  kinesis *k = SLP_OWNER(ev, kinesis, starved_ev);
  slp_op *op = k->starved;
  if (!op) return;
  k->starved = op->call;
  if (k->starved) slp_post(k->aws->h, ev);
  op->call = NULL;
  slp_fail_clear(&op->fail);
  slp_fail_set(&op->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a call");
  op->on_done(op);
}

static void begin(slp_ops *o, op_kind kind, slp_op *op, slp_str target) {
  kinesis *k = kinesis_of(o);
  slp_aws *aws = k->aws;
  op->sent_us = op->done_us = 0;
  op->date_ms = -1;
  op->tries = 0;
  kcall *kc = kcall_take(k, kind, op);
  if (!kc) {
    starve(k, op);
    return;
  }
  int cbor = aws->wire == SLP_WIRE_CBOR || (aws->wire == SLP_WIRE_AUTO && k->cbor_strikes < CBOR_STRIKES_MAX);
  if (kind == RECORDS && cbor) kc->form = SLP_FORM_CBOR;
  if (write_request(kc)) { /* no memory, or a name that is not text: api/ checks names, so it is the former */
    kcall_give_back(kc);
    starve(k, op);
    return;
  }
  set_request(kc);
  slp_call *c = &kc->call;
  c->svc = SLP_SVC_KINESIS;
  c->lane = kind == RECORDS ? SLP_LANE_PAGES : SLP_LANE_CONTROL;
  c->target = target;
  c->total_ms_max = kind == RECORDS ? SLP_RECORDS_MS_MAX : SLP_CONTROL_MS_MAX;
  c->tries_max = op->tries_max;
  c->once = 0; /* every op here only reads */
  c->into = kind == RECORDS ? &records_of(kc)->page->body : kind == LIST ? &list_of(kc)->body : &kc->answer;
  c->may_grow = kind == RECORDS ? may_grow : NULL;
  c->reroute = reroute;
  c->on_body = on_body;
  c->on_done = on_call_done;
  slp_call_send(c);
}

static void op_describe(slp_ops *o, slp_op_describe *op) {
  begin(o, DESCRIBE, &op->op, SLP_STR("Kinesis_20131202.DescribeStreamSummary"));
}

static void op_list(slp_ops *o, slp_op_list_shards *op) {
  begin(o, LIST, &op->op, SLP_STR("Kinesis_20131202.ListShards"));
}

static void op_iterator(slp_ops *o, slp_op_iterator *op) {
  begin(o, ITERATOR, &op->op, SLP_STR("Kinesis_20131202.GetShardIterator"));
}

static void op_records(slp_ops *o, slp_op_records *op) {
  op->body_bytes = 0;
  begin(o, RECORDS, &op->op, SLP_STR("Kinesis_20131202.GetRecords"));
}

/* 1: it was one of the starved, and is no more. */
static int unstarve(kinesis *k, slp_op *op) {
  slp_op *before = NULL;
  for (slp_op *it = k->starved; it; before = it, it = it->call) {
    if (it != op) continue;
    if (before)
      before->call = it->call;
    else
      k->starved = it->call;
    op->call = NULL;
    return 1;
  }
  return 0;
}

static void op_cancel(slp_ops *o, slp_op *op) {
  kinesis *k = kinesis_of(o);
  if (unstarve(k, op) || !op->call) return;
  kcall *kc = op->call;
  slp_call_cancel(&kc->call);
  kcall_give_back(kc);
}

static void op_resume(slp_ops *o, slp_op *op) {
  kinesis *k = kinesis_of(o);
  for (slp_op *it = k->starved; it; it = it->call) {
    if (it == op) return;
  }
  kcall *kc = op->call;
  if (kc && kc->call.state == SLP_CALL_SENT) slp_http_resume(k->aws->h, &kc->call.http);
}

int slp_kinesis_new(slp_ops **ret, slp_aws *aws) {
  kinesis *k = SLP_NEW(aws->h->mem, kinesis);
  if (!k) return SLP_ENOMEM;
  k->ops = (slp_ops){.describe = op_describe,
                     .list_shards = op_list,
                     .iterator = op_iterator,
                     .records = op_records,
                     .resume = op_resume,
                     .cancel = op_cancel};
  k->aws = aws;
  k->starved_ev.run = on_starved;
  slp_list_init(&k->idle);
  slp_aws_hold(aws);
  *ret = &k->ops;
  return 0;
}

void slp_kinesis_free(slp_ops *ops) {
  if (!ops) return;
  kinesis *k = kinesis_of(ops);
  slp_aws *aws = k->aws;
  SLP_CHECK(k->live_n == 0 && !k->starved);
  for (slp_list *node; (node = slp_list_pop(&k->idle)) != NULL;) kcall_free(SLP_OWNER(node, kcall, link));
  while (k->readers_n) slp_page_reader_free(k->readers[--k->readers_n]);
  slp_unpost(&k->starved_ev);
  slp_free(aws->h->mem, k);
  slp_aws_drop(aws);
}
