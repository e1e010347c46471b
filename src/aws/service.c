/* service.c - runs an op, from the call of a function in slp_ops to on_done. */
#include "aws/service.h"

#include "aws/answers.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/classify.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "codec/page.h"
#include "host/host.h"
#include "host/later.h"
#include "host/op.h"

#include <sloop.h>
#include <stdio.h>

/* The limits of one slice of parsing, so that a large page does not hold up the event loop. bench/turn.c
 * measures how long a turn takes. */
#define SLICE_BYTES (64u * 1024)
#define SLICE_RECORDS 256u
#define SLICE_ROWS 256u
/* A page of at least this size is read while it is being received. */
#define EARLY_BYTES (64u * 1024)
#define IDLE_CALLS_MAX 64u
/* Room for the longest request: escapes can double the length of a token. */
#define REQUEST_MAX (SLP_KINESIS_NEXT_TOKEN_MAX * 2 + 4096)

static slp_service *service_of(slp_ops *o) { return SLP_OWNER(o, slp_service, ops); }

/* ---- the life of an op in flight (slp_asking) ---------------------------------------------------------- */
static void asking_free(slp_asking *a) {
  slp_mem *mem = a->service->aws->h->mem;
  slp_call_free(&a->call);
  slp_buf_free(&a->request);
  slp_buf_free(&a->answer);
  slp_free(mem, a->rows);
  slp_free(mem, a);
}

static slp_asking *asking_take(slp_service *s, slp_op_kind kind, slp_op *op) {
  slp_mem *mem = s->aws->h->mem;
  slp_list *node = slp_list_pop(&s->idle);
  slp_asking *a = node ? SLP_OWNER(node, slp_asking, link) : SLP_NEW(mem, slp_asking);
  if (!a) return NULL;
  if (node) {
    s->idle_n--;
  } else {
    a->service = s;
    slp_call_init(&a->call, s->aws);
    slp_buf_init(&a->request, mem, REQUEST_MAX);
    slp_buf_init(&a->answer, mem, SLP_SMALL_BODY_MAX);
  }
  s->live_n++;
  slp_buf_clear(&a->answer);
  a->kind = kind;
  a->op = op;
  a->step = 0;
  a->form = SLP_FORM_JSON;
  op->impl = a;
  return a;
}

static void drop_reader(slp_asking *a) {
  slp_service *s = a->service;
  if (!a->reader) return;
  if (s->readers_n < SLP_SERVICE_READERS_MAX)
    s->readers[s->readers_n++] = a->reader;
  else
    slp_page_reader_free(a->reader);
  a->reader = NULL;
}

static int take_reader(slp_asking *a) {
  slp_service *s = a->service;
  a->reader = s->readers_n ? s->readers[--s->readers_n] : slp_page_reader_new(s->aws->h->mem);
  return a->reader ? 0 : SLP_ENOMEM;
}

static void asking_give_back(slp_asking *a) {
  slp_service *s = a->service;
  a->op->impl = NULL;
  a->op = NULL;
  drop_reader(a);
  slp_free(s->aws->h->mem, a->rows);
  a->rows = NULL;
  s->live_n--;
  if (a->request.cap > 16384) slp_buf_free(&a->request);
  if (s->idle_n >= IDLE_CALLS_MAX) {
    asking_free(a);
    return;
  }
  slp_list_add_first(&s->idle, &a->link);
  s->idle_n++;
}

/* Returns the resource of the op: a name, or else an ARN. */
static slp_str resource_of(slp_asking *a) {
  slp_str name = {NULL, 0};
  switch (a->kind) {
    case SLP_OP_DESCRIBE: name = slp_describe_of(a)->name; break;
    case SLP_OP_LIST: name = slp_list_of(a)->name; break;
    case SLP_OP_ITERATOR: name = slp_iterator_of(a)->name; break;
    case SLP_OP_RECORDS: name = slp_records_of(a)->name; break;
    case SLP_OP_CONSUMER: name = slp_consumer_op_of(a)->name; break;
  }
  return name.n ? name : a->call.arn;
}

static void on_call_done(slp_call *c) {
  slp_asking *a = slp_asking_of(c);
  slp_op *op = a->op;
  op->fail = c->fail;
  slp_name_right(&op->fail, c->svc == SLP_SVC_KINESIS ? "kinesis:" : "dynamodb:", c->target, resource_of(a));
  op->tries = c->tries;
  op->sent_us = c->http.sent_us;
  op->done_us = c->http.done_us;
  op->date_ms = c->http.date_ms;
  if (a->service->kind->over) a->service->kind->over(a);
  if (c->fail.class != SLP_FINE && a->kind == SLP_OP_RECORDS)
    slp_page_reset(slp_records_of(a)->page); /* drops rows that were read from an answer that then failed */
  asking_give_back(a);
  op->on_done(op);
}

/* ---- answers ------------------------------------------------------------------------------------------- */
void slp_service_unreadable(slp_asking *a, int r, const char *what, const char *why, size_t at) {
  char text[200];
  snprintf(text, sizeof text, "the answer is not %s: %s (byte %zu of %zu)", what,
           why[0] ? why : "a limit is exceeded", at, a->call.into->n);
  slp_call_unreadable(&a->call, r, text);
}

static void wrong_sum(slp_asking *a) {
  drop_reader(a);
  slp_call_damaged(&a->call);
}

static void bad_page(slp_asking *a, int r) {
  const slp_service_kind *kind = a->service->kind;
  const char *why = slp_page_reader_why(a->reader);
  size_t at = slp_page_reader_where(a->reader);
  if (slp_call_is_damaged(&a->call, SIZE_MAX)) {
    wrong_sum(a);
    return;
  }
  drop_reader(a);
  if (r != SLP_ENOMEM && kind->other_form && kind->other_form(a))
    slp_call_again(&a->call);
  else
    slp_service_unreadable(a, r, "a page of records", why, at);
}

static void read_page(slp_asking *a) {
  /* The checksum is computed first, because the reader appends to the body. The reader changes the body in
   * place only if there is no checksum. */
  if (slp_call_is_damaged(&a->call, SLICE_BYTES)) {
    wrong_sum(a);
    return;
  }
  int r = slp_page_read(a->reader, SLICE_BYTES, SLICE_RECORDS);
  if (r == SLP_MORE) {
    slp_call_more(&a->call);
  } else if (r) {
    bad_page(a, r);
  } else if (slp_call_is_damaged(&a->call, SIZE_MAX)) {
    wrong_sum(a);
  } else {
    drop_reader(a);
    slp_call_good(&a->call);
  }
}

/* Returns 1 if a large page can be read while it is being received. Each piece is then read while it is in
 * the CPU's cache. If reading waited for the last byte, the beginning of the page would be out of the cache.
 * An error in the page is reported only when the page is complete. If the call fails, the records that were
 * read are dropped. */
static int may_begin_early(const slp_asking *a) {
  const slp_http *http = &a->call.http;
  const slp_buf *body = a->call.into;
  if (http->status != 200 || http->crc32_given || a->form == SLP_FORM_CHANGES) return 0;
  if (a->form == SLP_FORM_CBOR && !strstr(http->content_type, "cbor")) return 0;
  return http->length >= EARLY_BYTES && http->length <= body->cap && body->n < http->length;
}

static void on_piece(slp_http *http) {
  slp_call *c = SLP_OWNER(http, slp_call, http);
  slp_asking *a = slp_asking_of(c);
  if (!c->begun) {
    if (!may_begin_early(a) || (!a->reader && take_reader(a))) return;
    slp_page_reader_begin_early(a->reader, slp_records_of(a)->page, a->form, (size_t)http->length);
    c->begun = 1;
  }
  if (c->into->n <= http->length) (void)slp_page_read(a->reader, SLICE_BYTES, SLICE_RECORDS);
}

static void go_on_with_page(slp_asking *a) {
  if (a->call.into->n == a->call.http.length) {
    read_page(a);
    return;
  }
  drop_reader(a);
  slp_call_bad(&a->call, SLP_TRANSIENT, SLOOP_EPROTO, "the answer has not the length that was announced");
}

static void begin_page(slp_asking *a) {
  slp_op_records *op = slp_records_of(a);
  op->body_bytes = op->page->body.n;
  if (a->call.begun) {
    go_on_with_page(a);
    return;
  }
  if (!a->reader && take_reader(a)) {
    slp_service_unreadable(a, SLP_ENOMEM, "", "", 0);
    return;
  }
  slp_page_reader_begin(a->reader, op->page, a->form);
  read_page(a);
}

static void read_list(slp_asking *a) {
  const slp_service_kind *kind = a->service->kind;
  int r = slp_list_read(a->rows, slp_list_of(a), SLICE_ROWS);
  if (r == SLP_MORE) {
    slp_call_more(&a->call);
  } else if (r && !SLP_MUTANT(clipped_list_is_whole)) {
    slp_service_unreadable(a, r, "a listing of shards", a->rows->why, a->rows->j.at);
  } else {
    if (kind->listed) kind->listed(a);
    slp_call_good(&a->call);
  }
}

static void begin_list(slp_asking *a) {
  if (!a->rows) a->rows = SLP_NEW(a->service->aws->h->mem, slp_list_reader);
  if (!a->rows) {
    slp_service_unreadable(a, SLP_ENOMEM, "", "", 0);
    return;
  }
  slp_list_reader_begin(a->rows, slp_list_of(a), a->service->kind->list_shape);
  read_list(a);
}

static void on_body(slp_call *c, int begin) {
  slp_asking *a = slp_asking_of(c);
  if (a->kind == SLP_OP_RECORDS) {
    if (begin)
      begin_page(a);
    else
      read_page(a);
  } else if (!begin) {
    read_list(a);
  } else if (slp_call_is_damaged(c, SIZE_MAX)) {
    wrong_sum(a);
  } else if (a->kind == SLP_OP_LIST) {
    begin_list(a);
  } else {
    a->service->kind->read_small(a);
  }
}

/* ---- sending ------------------------------------------------------------------------------------------- */
/* Fails an op that could not be sent. Its on_done runs in a later turn. */
static void fail_unsent(slp_service *s, slp_op *op, int r) {
  slp_fail_clear(&op->fail);
  if (r == SLP_EINVAL)
    slp_fail_set(&op->fail, SLP_REFUSED, SLOOP_EREFUSED, "the service has no such request");
  else if (r == SLP_ELIMIT)
    slp_fail_set(&op->fail, SLP_TRANSIENT, SLOOP_EPROTO,
                 "with what the service gave to go on by a request has more than %u bytes", REQUEST_MAX);
  else
    slp_fail_set(&op->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a call");
  slp_later_add(&s->unsent, op);
}

static int may_grow(slp_http *http, size_t more) {
  slp_op_records *op = slp_records_of(slp_asking_of(SLP_OWNER(http, slp_call, http)));
  return op->may_grow ? op->may_grow(op, more) : 1;
}

/* Returns "REGION:ACCOUNT" of an ARN, arn:PARTITION:SERVICE:REGION:ACCOUNT:NAME, or {NULL, 0} if arn is not
 * an ARN. */
static slp_str account_of(slp_str arn) {
  size_t from = 0, colons = 0;
  for (size_t i = 0; i < arn.n; i++) {
    if (arn.p[i] != ':') continue;
    colons++;
    if (colons == 3) from = i + 1;
    if (colons == 5) return (slp_str){arn.p + from, i - from};
  }
  return (slp_str){NULL, 0};
}

void slp_service_quota(slp_asking *a, uint32_t a_second, slp_str arn) {
  a->call.quota_a_second = a_second;
  a->call.quota_of = account_of(arn);
}

int slp_service_write(slp_asking *a) {
  slp_buf_clear(&a->request);
  slp_service_quota(a, 0, (slp_str){NULL, 0});
  a->call.arn = (slp_str){NULL, 0};
  int r = a->service->kind->ask(a);
  a->call.body = slp_buf_str(&a->request);
  return r;
}

static slp_buf *place_for_answer(slp_asking *a) {
  if (a->kind == SLP_OP_RECORDS) return &slp_records_of(a)->page->body;
  return a->kind == SLP_OP_LIST ? &slp_list_of(a)->body : &a->answer;
}

void slp_service_begin(slp_ops *o, slp_op_kind kind, slp_op *op) {
  slp_service *s = service_of(o);
  op->sent_us = op->done_us = 0;
  op->date_ms = -1;
  op->tries = 0;
  slp_asking *a = asking_take(s, kind, op);
  int r = a ? slp_service_write(a) : SLP_ENOMEM;
  if (r) { /* a name that is not UTF-8 is not the reason: api/ has checked all names */
    if (a) asking_give_back(a);
    fail_unsent(s, op, r);
    return;
  }
  slp_call *c = &a->call;
  c->lane = kind == SLP_OP_RECORDS ? SLP_LANE_PAGES : SLP_LANE_CONTROL;
  c->total_ms_max = kind == SLP_OP_RECORDS ? SLP_RECORDS_MS_MAX : SLP_CONTROL_MS_MAX;
  c->tries_max = op->tries_max;
  /* any op may be repeated: most of them only read, and a second registration of a consumer is refused */
  c->once = 0;
  c->into = place_for_answer(a);
  c->may_grow = kind == SLP_OP_RECORDS ? may_grow : NULL;
  c->reroute = s->kind->reroute;
  c->on_piece = kind == SLP_OP_RECORDS ? on_piece : NULL;
  c->on_body = on_body;
  c->on_done = on_call_done;
  slp_call_send(c);
}

static void op_describe(slp_ops *o, slp_op_describe *op) { slp_service_begin(o, SLP_OP_DESCRIBE, &op->op); }
static void op_list(slp_ops *o, slp_op_list_shards *op) { slp_service_begin(o, SLP_OP_LIST, &op->op); }
static void op_iterator(slp_ops *o, slp_op_iterator *op) { slp_service_begin(o, SLP_OP_ITERATOR, &op->op); }

static void op_records(slp_ops *o, slp_op_records *op) {
  op->body_bytes = 0;
  slp_service_begin(o, SLP_OP_RECORDS, &op->op);
}

static void op_cancel(slp_ops *o, slp_op *op) {
  slp_service *s = service_of(o);
  if (slp_later_cancel(&s->unsent, op) || !op->impl) return;
  slp_asking *a = op->impl;
  slp_call_cancel(&a->call);
  asking_give_back(a);
}

static void op_resume(slp_ops *o, slp_op *op) {
  slp_service *s = service_of(o);
  slp_asking *a = slp_later_has(&s->unsent, op) ? NULL : op->impl;
  if (a && a->call.state == SLP_CALL_SENT) slp_http_resume(s->aws->h, &a->call.http);
}

/* ---- the service --------------------------------------------------------------------------------------- */
void slp_service_init(slp_service *s, const slp_service_kind *kind, slp_aws *aws) {
  s->ops = (slp_ops){.describe = op_describe,
                     .list_shards = op_list,
                     .iterator = op_iterator,
                     .records = op_records,
                     .resume = op_resume,
                     .cancel = op_cancel};
  s->kind = kind;
  s->aws = aws;
  slp_later_init(&s->unsent, aws->h);
  slp_list_init(&s->idle);
  slp_aws_hold(aws);
}

void slp_service_free(slp_service *s) {
  slp_aws *aws = s->aws;
  SLP_CHECK(s->live_n == 0);
  slp_later_end(&s->unsent);
  for (slp_list *node; (node = slp_list_pop(&s->idle)) != NULL;)
    asking_free(SLP_OWNER(node, slp_asking, link));
  while (s->readers_n) slp_page_reader_free(s->readers[--s->readers_n]);
  slp_free(aws->h->mem, s);
  slp_aws_drop(aws);
}
