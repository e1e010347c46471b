/* ddb_poll.c - the code that only DynamoDB Streams needs. Four things differ from Kinesis: a table must be
 * asked for its stream, a page does not list the children of an ended shard, a listing can be incomplete, and
 * not every server can begin to read at a given time. */
#include "source/ddb_poll.h"

#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/source.h"
#include "host/host.h"
#include "host/op.h"
#include "source/listing_pages.h"
#include "source/poll.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

/* DynamoDB may list the child of an ended shard late. So the call for the children is repeated up to
 * CHILDREN_TRIES times, after 0.25, 0.5 and 1 s. */
#define CHILDREN_TRIES 3u
#define CHILDREN_WAIT_US 250000u
/* At most this many shards ask for their children at the same time. The process limits the rate of these
 * calls, and calls for the pages of a listing would have to wait behind them. */
#define CHILDREN_CALLS_MAX 10u
/* At most this many iterators that were made for a time are remembered until a GetRecords has used them. Core
 * asks for few iterators at once. So this limit is reached only if the user seeks to times again and again
 * without reading. */
#define UNPROVEN_MAX 4096u

/* Whether the server can make an iterator that begins at a given time ("times"):
 *
 *   UNTRIED --> ASKED --> GIVEN --> SERVED     GetRecords with an iterator made for a time gave a page
 *      ^          |         |
 *      +----------+         v
 *    no answer    +-----> ABSENT               the server refuses times, or iterators made for a time fail */
typedef enum { TIMES_UNTRIED, TIMES_ASKED, TIMES_GIVEN, TIMES_SERVED, TIMES_ABSENT } times_state;

typedef struct ddb_poll {
  slp_poll poll;
  /* what the user gave: the name or ARN of a table, or the ARN of a stream */
  enum { BY_NAME, BY_ARN, BY_STREAM } named;
  uint32_t asking_n; /* how many shards are asking for their children now */
  /* 1: the server can't list the children of a single shard, because it ignores or refuses the filter */
  uint8_t unfiltered;
  times_state times;
  slp_request *trial; /* in ASKED: the first request for an iterator at a time; its answer decides `times` */
  /* In GIVEN, ABSENT: iterators made for a time that have not given a page yet. Each is an owned text, both
   * key and value. */
  slp_map unproven;
  /* in ASKED: later requests for an iterator at a time, which wait until `trial` is answered */
  slp_list held;
} ddb_poll;

static slp_src_fetch *fetch_of(slp_request *q) { return SLP_OWNER(q->rq, slp_src_fetch, rq); }
static ddb_poll *ddb_of(slp_poll *p) { return SLP_OWNER(p, ddb_poll, poll); }

/* ---- which stream ------------------------------------------------------------------------------------ */
static const char part[] = "/stream/";
static int is_stream_arn(const char *arn) { return strstr(arn, part) != NULL; }

/* Returns the ARN to describe in order to find the latest stream: the ARN of the table, or "" if the user
 * gave only the table's name. If the user gave the ARN of a stream, returns that ARN. */
static slp_str arn_of_latest(const slp_poll *p) {
  const char *end = strstr(p->arn, part);
  switch (((const ddb_poll *)p)->named) { /* p is the first member of ddb_poll */
    case BY_NAME: return SLP_STR("");
    case BY_ARN: return (slp_str){p->arn, end ? (size_t)(end - p->arn) : strlen(p->arn)};
    case BY_STREAM: break;
  }
  return slp_str_of(p->arn);
}

static void on_table_described(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq) {
  if (!rq->latest) snprintf(p->arn, sizeof p->arn, "%s", d->ret_arn);
  snprintf(rq->name, sizeof rq->name, "%s", p->name);
  snprintf(rq->arn, sizeof rq->arn, "%s", d->ret_arn);
  rq->created_ms = d->created_ms;
  rq->retention_ms = (int64_t)d->retention_hours * 3600000;
  rq->ready = d->status != SLP_STREAM_CREATING;
}

static slp_list_after list_waits(const slp_poll *p) {
  return is_stream_arn(p->arn) ? SLP_LIST_AT_ONCE : SLP_LIST_NEEDS;
}

/* ---- listings ---------------------------------------------------------------------------------------- */
/* Returns 1 if the listing should continue with the page's token, which is the id of a shard. news: how many
 * ids of the page are new. A server that does not know the token (moto) sends the first page again, so a page
 * with shards but without new ids ends the listing. A page without shards does not end it. */
static int list_goes_on(const slp_op_list_shards *page, size_t news) {
  return news > 0 || page->shards_n == 0;
}

static void close_shard(slp_shard_desc *d) {
  /* seq_end "" means: the shard is closed, but its last sequence number is not known */
  if (d && !d->seq_end.p) d->seq_end = SLP_STR("");
}

/* Marks as closed each shard that gets no more records. A shard with a child is closed, although DynamoDB may
 * list it as open for a while. If the stream is disabled, every shard is closed. */
static void close_finished_shards(slp_poll *p, slp_listing *l) {
  (void)p;
  for (size_t i = 0; i < l->shards_n; i++) {
    slp_shard_desc *d = &l->shards[i];
    if (l->stream_ended) close_shard(d);
    if (d->parent.n) close_shard(slp_listing_find(l, d->parent));
  }
}

/* ---- times ---------------------------------------------------------------------------------------------
 * Some servers are older than the iterator type AT_TIMESTAMP (botocore 1.44.8, service model
 * dynamodbstreams 2012-08-10), and refuse it with ValidationException. moto 5.2 returns an iterator, but
 * answers GetRecords with status 500 and a page of HTML. With such servers, reading from a time begins at
 * the oldest record, and core drops the records before the time.
 *
 * The first request for a time is the trial. All other requests for a time wait for its answer, so that
 * the server is asked once and not once for each shard.
 *
 * An iterator made for a time may still not work. The first GetRecords that uses such an iterator shows
 * whether it works. This need not be the trial's iterator, because core may stop reading that shard, or move
 * to another position, before it fetches. */
static const slp_set times_allowed[] = {
    [TIMES_UNTRIED] = SLP_BIT(TIMES_ASKED),
    [TIMES_ASKED] = SLP_BIT(TIMES_UNTRIED) | SLP_BIT(TIMES_GIVEN) | SLP_BIT(TIMES_ABSENT),
    [TIMES_GIVEN] = SLP_BIT(TIMES_SERVED) | SLP_BIT(TIMES_ABSENT),
    [TIMES_SERVED] = 0,
    [TIMES_ABSENT] = 0,
};

static void move_times(ddb_poll *v, times_state to) {
  SLP_MOVE(times_allowed, v->times, to);
  v->poll.s.finds_seconds = to != TIMES_ABSENT;
}

/* Called before the call for an iterator is sent. Returns 1 if the request must wait until the trial is
 * answered. */
static int hold_until_trial(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  slp_op_iterator *it = &q->op.iterator;
  if (it->kind != SLP_ITER_AT_TIME) return 0;
  if (v->times == TIMES_ABSENT) it->kind = SLP_ITER_OLDEST;
  if (v->times == TIMES_ASKED) {
    slp_list_add_last(&v->held, &q->link);
    q->more = 1;
    return 1;
  }
  if (v->times == TIMES_UNTRIED) {
    move_times(v, TIMES_ASKED);
    v->trial = q;
  }
  return 0;
}

/* Called when the server refused a position; sets another one. ValidationException may mean two things: the
 * time is in the future, or the server does not know the iterator type. So the next position that is tried is
 * a time slightly before now, and after that the oldest record. */
static int other_place(slp_request *q) {
  slp_op_iterator *it = &q->op.iterator;
  if (it->kind != SLP_ITER_AT_TIME || strcmp(it->op.fail.aws_code, "ValidationException") != 0) return 0;
  if (!slp_request_earlier(q, 1000)) it->kind = SLP_ITER_OLDEST;
  return 1;
}

/* Returns what the trial's answer says about times. TIMES_UNTRIED: nothing, because the server refused the
 * oldest record too, or there was no answer. */
static times_state answer_of(const slp_request *q) {
  const slp_op_iterator *it = &q->op.iterator;
  if (q->out || it->op.fail.class != SLP_FINE) return TIMES_UNTRIED;
  if (it->kind != SLP_ITER_AT_TIME) return TIMES_ABSENT;
  return TIMES_GIVEN;
}

static void forget_iterator(ddb_poll *v, slp_str iterator) {
  slp_free(v->poll.h->mem, slp_map_remove(&v->unproven, iterator));
}

static void forget_all(ddb_poll *v) {
  size_t at = 0;
  for (char *text; (text = slp_map_each(&v->unproven, &at)) != NULL;) forget_iterator(v, slp_str_of(text));
}

/* Remembers that the request's iterator was made for a time. Without memory the request fails, and core
 * repeats it. If the request succeeded, and the server could not use the iterator, core would repeat
 * GetRecords with this iterator for ever. */
static void remember_unproven(ddb_poll *v, slp_request *q) {
  slp_mem *mem = v->poll.h->mem;
  const slp_op_iterator *it = &q->op.iterator;
  slp_str text = slp_buf_str(&it->iterator);
  if (q->out || it->op.fail.class != SLP_FINE) return;
  forget_iterator(v, text);
  /* ABSENT: this iterator was asked for before it was known that the server does not support times */
  int unproven = v->times == TIMES_GIVEN || v->times == TIMES_ABSENT;
  if (it->kind != SLP_ITER_AT_TIME || !unproven || v->unproven.live >= UNPROVEN_MAX) return;
  char *copy = slp_strdup(mem, text);
  if (copy && slp_map_put(&v->unproven, slp_str_of(copy), copy) == 0) return;
  slp_free(mem, copy);
  slp_fail_set(&q->rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for an iterator");
}

/* Called when a request for an iterator was answered or cancelled. If it was the trial, the requests that
 * wait for it continue. */
static void locate_over(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  if (q->more) {
    slp_list_remove(&q->link);
    return;
  }
  if (v->trial != q) {
    remember_unproven(v, q);
    return;
  }
  v->trial = NULL;
  move_times(v, answer_of(q));
  remember_unproven(v, q);
  for (slp_list *node; v->times != TIMES_ASKED && (node = slp_list_pop(&v->held)) != NULL;) {
    slp_request *next = SLP_OWNER(node, slp_request, link);
    next->more = 0;
    if (!hold_until_trial(next)) slp_request_locate(next);
  }
}

static int is_unproven(const ddb_poll *v, const slp_request *q) {
  return slp_map_get(&v->unproven, q->op.records.iterator) != NULL;
}

/* Recognises a server that can't use an iterator made for a time: it answers GetRecords with status 500
 * and no AWS error code. Core is told that the iterator has expired, so that core asks for an iterator
 * again. */
static void fetch_failed(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  slp_fail *f = &q->rq->fail;
  if (!is_unproven(v, q) || f->http_status != 500 || f->aws_code[0]) return;
  forget_iterator(v, q->op.records.iterator);
  if (v->times == TIMES_GIVEN) move_times(v, TIMES_ABSENT);
  f->class = SLP_EXPIRED;
}

static void close_ddb_poll(slp_poll *p) {
  forget_all(ddb_of(p));
  slp_map_free(&ddb_of(p)->unproven);
}

/* ---- the end of a shard ------------------------------------------------------------------------------
 * When a shard has ended, core needs its children. If core knows them already, no call is made. Otherwise
 * one call lists the children of this shard. An account has ten such calls a second, and a page of a
 * listing costs one too.
 *
 * A listing is cheaper if more shards ask for children than the listing has pages, or if the server can't
 * list the children of one shard. Then core gets the page without children, and makes one listing for all
 * shards that wait. */
static int a_listing_is_cheaper(const ddb_poll *v) {
  uint32_t pages = (uint32_t)slp_min_u64(v->poll.last_pages_n ? v->poll.last_pages_n : 1, CHILDREN_CALLS_MAX);
  /* no listing is complete yet, and the one in progress may find the children */
  int lists_first = !v->poll.last && v->poll.lists_n;
  return v->unfiltered || lists_first || v->asking_n >= pages;
}

static void ask_children(slp_request *q);

static void on_later(slp_timer *t) { ask_children(SLP_OWNER(t, slp_request, timer)); }

/* Sets a timer to ask for the children again, and returns 1. Returns 0 if asking again is of no use; then
 * core gets the page without children. A shard that has ended has a child, unless the stream was disabled,
 * but DynamoDB may list the child late. So the page is held back meanwhile: from a listing without the child,
 * core would conclude that the stream has ended. */
static int ask_later(slp_request *q, const slp_op_list_shards *l) {
  slp_host *h = q->poll->h;
  if (l->stream_ended || q->restarts == CHILDREN_TRIES) return 0;
  uint64_t wait = (uint64_t)CHILDREN_WAIT_US << q->restarts++;
  return slp_timer_set(h, &q->timer, slp_after_us(slp_now_us(h), wait)) == 0;
}

/* Handles the answer to the call of ask_children. If the answer shows no children, core gets the page without
 * children, and makes a listing. */
static void on_children(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.list.op);
  const slp_op_list_shards *l = &q->op.list;
  ddb_poll *v = ddb_of(q->poll);
  q->out = NULL;
  v->unfiltered |= l->unfiltered || op->fail.class == SLP_REFUSED;
  if (op->fail.class == SLP_FINE && l->shards_n)
    (void)slp_page_give_children(fetch_of(q)->page, l->shards, l->shards_n);
  else if (op->fail.class == SLP_FINE && !v->unfiltered && ask_later(q, l))
    return;
  slp_request_answer(q);
}

static void ask_children(slp_request *q) {
  slp_poll *p = q->poll;
  slp_op_list_shards *l = &q->op.list;
  slp_op_list_free(l);
  slp_op_list_init(l, p->h->mem);
  l->op.on_done = on_children;
  l->op.tries_max = 1;
  l->arn = slp_str_of(p->arn);
  l->children_of = fetch_of(q)->shard;
  q->out = &l->op;
  p->ops->list_shards(p->ops, l);
}

/* Copies the children that core knows already into the page. Returns how many were copied. */
static size_t give_known_children(slp_src_fetch *f) {
  slp_shard_desc rows[SLP_PAGE_CHILDREN_MAX];
  size_t n = f->known_children ? f->known_children(f, rows, SLP_COUNT(rows)) : 0;
  return n && slp_page_give_children(f->page, rows, n) == 0 ? n : 0;
}

/* Handles a page. A page without a next iterator is the last page of its shard. */
static void on_ddb_page_fetched(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  const slp_page *page = fetch_of(q)->page;
  if (is_unproven(v, q)) {
    if (v->times == TIMES_GIVEN) move_times(v, TIMES_SERVED);
    forget_all(v);
  }
  if (page->next.n || !page->records_given || give_known_children(fetch_of(q)) || a_listing_is_cheaper(v)) {
    slp_request_answer(q);
    return;
  }
  /* the finished GetRecords is not needed any more; `list` uses the same memory, in the union q->op */
  slp_op_list_init(&q->op.list, q->poll->h->mem);
  q->more = 1;
  v->asking_n++;
  q->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_later};
  ask_children(q);
}

static void fetch_over(slp_request *q) {
  if (!q->more) return;
  ddb_of(q->poll)->asking_n--;
  slp_timer_clear(q->poll->h, &q->timer);
  slp_op_list_free(&q->op.list);
}

static const slp_poll_kind ddb_kind = {.list_waits = list_waits,
                                       .latest = arn_of_latest,
                                       .described = on_table_described,
                                       .listed = close_finished_shards,
                                       .list_goes_on = list_goes_on,
                                       .hold = hold_until_trial,
                                       .locate_over = locate_over,
                                       .other_place = other_place,
                                       .fetched = on_ddb_page_fetched,
                                       .fetch_failed = fetch_failed,
                                       .fetch_over = fetch_over,
                                       .closing = close_ddb_poll};

int slp_ddb_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream) {
  slp_stream_name named;
  const char *why;
  int r = slp_stream_name_read(stream, &named, &why);
  if (r || named.what != SLP_NAMES_DYNAMODB) return SLOOP_EOPTION;
  ddb_poll *v = SLP_NEW(h->mem, ddb_poll);
  if (!v) return SLP_ENOMEM;
  slp_poll *p = &v->poll;
  slp_poll_init(p, &ddb_kind, h, ops, &named);
  v->named = !named.arn.n ? BY_NAME : is_stream_arn(p->arn) ? BY_STREAM : BY_ARN;
  p->s.fetch_records_max = SLP_STREAMS_RECORDS_MAX;
  p->s.fetch_bytes_max = SLP_STREAMS_PAGE_BYTES_MAX;
  p->s.fetch_bytes_full = SLP_STREAMS_PAGE_BYTES_FULL;
  p->s.number_digits_min = SLP_STREAMS_NUMBER_DIGITS_MIN;
  p->s.names_no_children = 1;
  p->s.finds_seconds = 1;
  slp_list_init(&v->held);
  slp_map_init(&v->unproven, h->mem);
  *ret = &p->s;
  return 0;
}
