/* typed_kinesis.c - a worker's end of the typed seam: calls to Kinesis, and to DynamoDB Streams. */
#include "swarm/typed_inside.h"

#include "codec/page_table.h"
#include "sloop.h"

#include <stdio.h>

typedef struct typed_kinesis {
  slp_ops ops;
  slp_mem *mem; /* the simulation's */
  slp_host *h;
  uint8_t changes; /* DynamoDB Streams: it names streams by their ARN, and lists page by page */
} typed_kinesis;

typedef struct call {
  typed_kinesis *k;
  slp_op *op;
  slp_typed_what what;
  slp_http http;
  slp_timer timer;  /* before its turn */
  uint64_t turn_us; /* of DescribeStream */
  slp_buf ask, into;
} call;

static void call_free(call *c) {
  c->op->impl = NULL;
  slp_timer_clear(c->k->h, &c->timer);
  slp_buf_free(&c->ask);
  slp_buf_free(&c->into);
  slp_free(c->k->mem, c);
}

/* ---- answers ------------------------------------------------------------------------------------------ */

static void take_changes(slp_op_describe *d, slp_msg *m) {
  d->created_ms = (int64_t)slp_msg_take_u64(m);
  slp_str arn = slp_msg_take_str(m);
  snprintf(d->ret_name, sizeof d->ret_name, "%.*s", (int)d->name.n, d->name.n ? d->name.p : "");
  snprintf(d->ret_arn, sizeof d->ret_arn, "%.*s", (int)arn.n, arn.n ? arn.p : "");
  d->status = SLP_STREAM_ACTIVE;
  d->retention_hours = 24;
}

static void take_describe(slp_op_describe *d, slp_msg *m) {
  snprintf(d->ret_name, sizeof d->ret_name, "%.*s", (int)d->name.n, d->name.p);
  snprintf(d->ret_arn, sizeof d->ret_arn, "arn:aws:kinesis:eu-west-1:000000000000:stream/%s", d->ret_name);
  d->status = SLP_STREAM_ACTIVE;
  d->created_ms = (int64_t)slp_msg_take_u64(m);
  d->retention_hours = 24;
}

static slp_shard_desc take_desc(slp_msg *m) {
  slp_shard_desc d;
  d.id = slp_msg_take_str(m);
  d.parent = slp_msg_take_str(m);
  d.adjacent_parent = slp_msg_take_str(m);
  d.hash_start = slp_msg_take_str(m);
  d.hash_end = slp_msg_take_str(m);
  d.seq_start = slp_msg_take_str(m);
  d.seq_end = slp_msg_take_str(m);
  return d;
}

static int take_list(call *c, slp_op_list_shards *l, slp_msg *m) {
  size_t n = (size_t)slp_msg_take_u64(m);
  slp_free(c->k->h->mem, l->shards);
  l->shards_n = 0;
  l->shards = slp_zalloc_n(c->k->h->mem, n + 1, sizeof *l->shards);
  if (!l->shards) return SLP_ENOMEM;
  for (size_t i = 0; i < n; i++) l->shards[i] = take_desc(m);
  l->shards_n = n;
  l->ret_next = (slp_str){NULL, 0};
  if (c->k->changes) {
    l->ret_next = slp_msg_take_str(m);
    l->stream_ended = (uint8_t)slp_msg_take_u64(m);
  }
  return 0;
}

static int take_children(slp_page *page, slp_msg *m, size_t n) {
  slp_shard_desc kids[SLP_PAGE_CHILDREN_MAX];
  slp_buf texts; /* apart: the page's body may move */
  SLP_CHECK(n <= SLP_COUNT(kids));
  slp_buf_init(&texts, page->mem, SIZE_MAX / 2);
  int r = slp_buf_add(&texts, m->p, (size_t)(m->end - m->p));
  slp_msg copy = slp_msg_of(slp_buf_str(&texts));
  for (size_t i = 0; i < n && !r; i++) kids[i] = take_desc(&copy);
  if (!r) r = slp_page_give_children(page, kids, n);
  slp_buf_free(&texts);
  return r;
}

/* Records lie in the answer as they are; the page's rows point at them. */
int slp_typed_take_page(slp_page *page, slp_msg *m) {
  const char *why;
  page->next = slp_msg_take_str(m);
  page->behind_ms = (int64_t)slp_msg_take_u64(m);
  page->records_given = 1;
  uint64_t rows = slp_msg_take_u64(m), calls = slp_msg_take_u64(m);
  for (uint64_t i = 0; i < rows; i++) {
    slp_rec rec = {.arrived_ms = (int64_t)slp_msg_take_u64(m), .sub = (uint32_t)slp_msg_take_u64(m)};
    slp_str seq = slp_msg_take_str(m), key = slp_msg_take_str(m), data = slp_msg_take_str(m);
    if (m->bad) return SLP_EBADDATA;
    rec.seq_at = (uint32_t)(seq.p - page->body.p);
    rec.seq_n = (uint8_t)seq.n;
    rec.key_at = (uint32_t)(key.p - page->body.p);
    rec.key_n = (uint16_t)key.n;
    rec.data_at = data.n ? (uint32_t)(data.p - page->body.p) : 0;
    rec.data_n = (uint32_t)data.n;
    int r = slp_page_add_row(page, &rec, &why);
    if (r) return r;
  }
  page->unordered = 0; /* records of one aggregate have one number */
  page->magic_n = 0;
  page->extra_n = (uint32_t)(rows - calls);
  size_t kids = (size_t)slp_msg_take_u64(m);
  return kids ? take_children(page, m, kids) : 0;
}

static int take_records(slp_op_records *op, slp_msg *m) {
  op->body_bytes = op->page->body.n;
  return slp_typed_take_page(op->page, m);
}

static int take_consumer(slp_op_consumer *op, slp_msg *m) {
  slp_consumer_row *row = &op->rows[0];
  slp_str arn = slp_msg_take_str(m);
  *row = (slp_consumer_row){.status = (slp_consumer_status)slp_msg_take_u64(m), .created_ms = -1};
  snprintf(row->name, sizeof row->name, "%.*s", (int)op->name.n, op->name.p);
  snprintf(row->arn, sizeof row->arn, "%.*s", (int)arn.n, arn.n ? arn.p : "");
  op->rows_n = 1;
  return 0;
}

static int take(call *c, slp_msg *m) {
  switch (c->what) {
    case SLP_TYPED_DESCRIBE:
      (c->k->changes ? take_changes : take_describe)(SLP_OWNER(c->op, slp_op_describe, op), m);
      return 0;
    case SLP_TYPED_LIST: {
      slp_op_list_shards *l = SLP_OWNER(c->op, slp_op_list_shards, op);
      slp_buf_free(&l->body);
      slp_buf_move(&l->body, &c->into);
      *m = slp_msg_of(slp_buf_str(&l->body));
      (void)slp_msg_open(m);
      return take_list(c, l, m);
    }
    case SLP_TYPED_ITERATOR: {
      slp_op_iterator *it = SLP_OWNER(c->op, slp_op_iterator, op);
      slp_buf_clear(&it->iterator);
      return slp_buf_add_str(&it->iterator, slp_msg_take_str(m));
    }
    case SLP_TYPED_RECORDS: return take_records(SLP_OWNER(c->op, slp_op_records, op), m);
    case SLP_TYPED_CONSUMER: return take_consumer(SLP_OWNER(c->op, slp_op_consumer, op), m);
    case SLP_TYPED_SUBSCRIBE:
    case SLP_TYPED_EVENT:
    case SLP_TYPED_GET:
    case SLP_TYPED_SCAN:
    case SLP_TYPED_WRITE:
    case SLP_TYPED_PREPARE: break;
  }
  return SLP_EINVAL;
}

static void answered(slp_http *http) {
  call *c = SLP_OWNER(http, call, http);
  slp_op *op = c->op;
  op->sent_us = http->sent_us;
  op->done_us = http->done_us;
  op->date_ms = http->date_ms;
  op->tries = 1;
  if (slp_typed_failure(http, &op->fail) == SLP_FINE) {
    slp_msg m = slp_msg_of(slp_buf_str(http->into));
    int r = slp_msg_open(&m) ? SLP_EBADDATA : take(c, &m);
    if (r == SLP_ENOMEM)
      slp_fail_set(&op->fail, SLP_NOMEM, r, "no memory for an answer");
    else if (r)
      slp_fail_set(&op->fail, SLP_TRANSIENT, SLOOP_EPROTO, "an answer that can't be read");
  }
  call_free(c);
  op->on_done(op);
}

/* ---- calls -------------------------------------------------------------------------------------------- */

static void on_turn(slp_timer *t);

static call *call_new(slp_ops *ops, slp_op *op, slp_typed_what what) {
  typed_kinesis *k = SLP_OWNER(ops, typed_kinesis, ops);
  call *c = SLP_NEW(k->mem, call);
  char first = (char)what;
  SLP_CHECK(c && !op->impl);
  c->k = k;
  c->op = op;
  c->what = what;
  op->impl = c;
  slp_buf_init(&c->ask, k->mem, SIZE_MAX / 2);
  slp_buf_init(&c->into, k->h->mem, SLP_PAGE_BYTES_MAX);
  SLP_CHECK(slp_buf_add(&c->ask, &first, 1) == 0);
  c->http.lane = what == SLP_TYPED_RECORDS ? SLP_LANE_PAGES : SLP_LANE_CONTROL;
  c->http.method = "POST";
  c->http.url = k->changes ? SLP_TYPED_STREAMS : SLP_TYPED_KINESIS;
  c->http.into = &c->into;
  c->http.on_done = answered;
  c->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_turn};
  return c;
}

static slp_str named(const call *c, slp_str name, slp_str arn) { return c->k->changes && arn.n ? arn : name; }

/* As aws/call.c does: an account may describe its tables' streams ten times a second. */
static int waits_for_turn(call *c) {
  slp_host *h = c->k->h;
  if (!c->k->changes || (c->what != SLP_TYPED_DESCRIBE && c->what != SLP_TYPED_LIST)) return 0;
  if (!c->turn_us || slp_now_us(h) > c->turn_us + SLP_QUOTA_LATE_US)
    c->turn_us = slp_host_quota_take(h, SLP_STR("DescribeStream"), 10);
  return c->turn_us > slp_now_us(h) && slp_timer_set(h, &c->timer, c->turn_us) == 0;
}

static void send(call *c) {
  if (waits_for_turn(c)) return;
  c->http.body = slp_buf_str(&c->ask);
  slp_http_send(c->k->h, &c->http);
}

static void on_turn(slp_timer *t) { send(SLP_OWNER(t, call, timer)); }

static void op_describe(slp_ops *ops, slp_op_describe *op) {
  call *c = call_new(ops, &op->op, SLP_TYPED_DESCRIBE);
  slp_msg_str(&c->ask, named(c, op->name, op->arn));
  send(c);
}

static void op_list_shards(slp_ops *ops, slp_op_list_shards *op) {
  call *c = call_new(ops, &op->op, SLP_TYPED_LIST);
  slp_msg_str(&c->ask, named(c, op->name, op->arn));
  if (c->k->changes) {
    slp_msg_str(&c->ask, op->next_token);
    slp_msg_str(&c->ask, op->children_of);
  }
  send(c);
}

static void op_iterator(slp_ops *ops, slp_op_iterator *op) {
  call *c = call_new(ops, &op->op, SLP_TYPED_ITERATOR);
  slp_msg_str(&c->ask, named(c, op->name, op->arn));
  slp_msg_str(&c->ask, op->shard);
  if (c->k->changes)
    slp_msg_str(&c->ask, slp_str_of(slp_iter_kind_name(op->kind)));
  else
    slp_msg_u64(&c->ask, (uint64_t)op->kind);
  slp_msg_str(&c->ask, op->seq);
  if (!c->k->changes || op->kind == SLP_ITER_AT_TIME) slp_msg_u64(&c->ask, (uint64_t)op->at_ms);
  send(c);
}

static int may_grow(slp_http *http, size_t more) {
  slp_op_records *op = SLP_OWNER(SLP_OWNER(http, call, http)->op, slp_op_records, op);
  return op->may_grow ? op->may_grow(op, more) : 1;
}

static void op_records(slp_ops *ops, slp_op_records *op) {
  call *c = call_new(ops, &op->op, SLP_TYPED_RECORDS);
  slp_msg_str(&c->ask, op->iterator);
  slp_msg_u64(&c->ask, op->limit);
  c->http.into = &op->page->body;
  c->http.may_grow = may_grow;
  send(c);
}

static void op_consumer(slp_ops *ops, slp_op_consumer *op) {
  call *c = call_new(ops, &op->op, SLP_TYPED_CONSUMER);
  op->rows_n = 0;
  slp_msg_str(&c->ask, op->stream_arn);
  slp_msg_u64(&c->ask, (uint64_t)op->what);
  send(c);
}

static int op_subscribe(slp_ops *ops, slp_op_subscribe *op) {
  typed_kinesis *k = SLP_OWNER(ops, typed_kinesis, ops);
  return slp_typed_subscribe(k->mem, k->h, ops, op);
}

static void op_resume(slp_ops *ops, slp_op *op) {
  call *c = op->impl;
  if (c) slp_http_resume(SLP_OWNER(ops, typed_kinesis, ops)->h, &c->http);
}

static void op_cancel(slp_ops *ops, slp_op *op) {
  call *c = op->impl;
  if (!c) return;
  slp_http_cancel(SLP_OWNER(ops, typed_kinesis, ops)->h, &c->http);
  call_free(c);
}

slp_ops *slp_typed_changes_new(slp_mem *mem, slp_host *h) {
  slp_ops *ops = slp_typed_kinesis_new(mem, h);
  *ops = (slp_ops){op_describe, op_list_shards, op_iterator, op_records, op_resume, op_cancel};
  SLP_OWNER(ops, typed_kinesis, ops)->changes = 1;
  return ops;
}

slp_ops *slp_typed_kinesis_new(slp_mem *mem, slp_host *h) {
  typed_kinesis *k = SLP_NEW(mem, typed_kinesis);
  SLP_CHECK(k);
  k->ops = (slp_ops){op_describe,
                     op_list_shards,
                     op_iterator,
                     op_records,
                     op_resume,
                     op_cancel,
                     op_consumer,
                     op_subscribe,
                     slp_typed_next_event,
                     slp_typed_resume_events,
                     slp_typed_unsubscribe};
  k->mem = mem;
  k->h = h;
  return &k->ops;
}

void slp_typed_kinesis_free(slp_ops *ops) {
  typed_kinesis *k = SLP_OWNER(ops, typed_kinesis, ops);
  slp_free(k->mem, k);
}
