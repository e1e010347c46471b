/* ddb_poll.c - what sets DynamoDB Streams apart from other polled services. A table leads to its stream, a
 * page names no children, listings are incomplete at times, and not every server can start at a time. */
#include "source/ddb_poll.h"

#include "aws/limits.h"
#include "base/map.h"
#include "sloop.h"
#include "source/poll.h"

#include <stdio.h>

/* The service may list the child of an ended shard late. The children are asked for again up to
 * CHILDREN_TRIES times, after 0.25, 0.5 and 1 s. */
#define CHILDREN_TRIES 3u
#define CHILDREN_WAIT_US 250000u
/* At most this many shards ask for their children at a time. The process limits these calls, and the pages of
 * a listing would wait behind them. */
#define CHILDREN_CALLS_MAX 10u
/* At most this many iterators made for a time are remembered until a GetRecords has tried one. Core asks
 * for few iterators at once, so only a user who seeks to times again and again without reading reaches this
 * limit. */
#define UNPROVEN_MAX 4096u

/* Whether the server can start reading at a time:
 *
 *   UNTRIED --> ASKED --> GIVEN --> SERVED     a page came with an iterator made for a time
 *      ^          |         |
 *      +----------+         v
 *    no answer    +-----> ABSENT               times are refused, or the iterator for a time does not work */
typedef enum { TIMES_UNTRIED, TIMES_ASKED, TIMES_GIVEN, TIMES_SERVED, TIMES_ABSENT } times_state;

typedef struct ddb_poll {
  slp_poll poll;
  enum { BY_NAME, BY_ARN, BY_STREAM } named; /* what the user named: a table, or one stream of a table */
  uint32_t asking_n;                         /* shards that are asking for their children now */
  uint8_t unfiltered; /* the server can't list the children of one shard (it ignores or refuses the filter) */
  times_state times;
  slp_request *trial; /* ASKED: the first request for a time; its answer decides `times` */
  /* iterators made for a time with which no page has come yet: text -> the same text, owned. GIVEN, ABSENT */
  slp_map unproven;
  slp_list held; /* ASKED: other requests for a time, which wait for the trial's answer */
} ddb_poll;

static slp_src_fetch *fetch_of(slp_request *q) { return SLP_OWNER(q->rq, slp_src_fetch, rq); }
static ddb_poll *ddb_of(slp_poll *p) { return SLP_OWNER(p, ddb_poll, poll); }

/* ---- which stream ------------------------------------------------------------------------------------ */
static const char part[] = "/stream/";
static int is_stream_arn(const char *arn) { return strstr(arn, part) != NULL; }

/* Returns the ARN of the table, so that a description leads to the table's latest stream. Returns "" if the
 * user gave only a name. */
static slp_str latest(const slp_poll *p) {
  const char *end = strstr(p->arn, part);
  switch (((const ddb_poll *)p)->named) { /* p is its first member */
    case BY_NAME: return SLP_STR("");
    case BY_ARN: return (slp_str){p->arn, end ? (size_t)(end - p->arn) : strlen(p->arn)};
    case BY_STREAM: break;
  }
  return slp_str_of(p->arn);
}

static void described(slp_poll *p, const slp_op_describe *d, slp_src_describe *rq) {
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
/* A page's token is the id of a shard. A server that does not know the token (moto) sends the first page
 * again, so a page without new ids ends the listing. An empty page does not: as long as it has a token, the
 * listing goes on. */
static int list_goes_on(const slp_op_list_shards *page, size_t news) {
  return news > 0 || page->shards_n == 0;
}

static void close_shard(slp_shard_desc *d) {
  if (d && !d->seq_end.p) d->seq_end = SLP_STR(""); /* closed, but its last sequence number is not known */
}

/* Marks shards as closed that take no more records. A shard with a child is closed, though the service may
 * list it as open for a while; in a disabled stream every shard is closed. */
static void listed(slp_poll *p, slp_listing *l) {
  (void)p;
  for (size_t i = 0; i < l->shards_n; i++) {
    slp_shard_desc *d = &l->shards[i];
    if (l->stream_ended) close_shard(d);
    if (d->parent.n) close_shard(slp_listing_find(l, d->parent));
  }
}

/* ---- times ---------------------------------------------------------------------------------------------
 * AT_TIMESTAMP is younger (botocore 1.44.8, service model dynamodbstreams 2012-08-10) than some servers.
 * Older servers refuse it with ValidationException; moto 5.2 gives an iterator, but answers GetRecords for
 * that iterator with status 500 and a page of HTML. With such servers a time is located at the oldest record,
 * and core drops the records before the time.
 * The first request for a time is a trial, and the others wait for its answer, so that the server is asked
 * once and not once for each shard. Whether iterators made for a time work is learnt from the first such
 * iterator that is used. That need not be the trial's: its reader may move or leave the shard before it
 * fetches. */
static void move_times(ddb_poll *v, times_state to) {
#define BIT(state) (1u << (state))
  static const unsigned allowed[] = {
      [TIMES_UNTRIED] = BIT(TIMES_ASKED),
      [TIMES_ASKED] = BIT(TIMES_UNTRIED) | BIT(TIMES_GIVEN) | BIT(TIMES_ABSENT),
      [TIMES_GIVEN] = BIT(TIMES_SERVED) | BIT(TIMES_ABSENT),
      [TIMES_SERVED] = 0,
      [TIMES_ABSENT] = 0,
  };
  SLP_CHECK(allowed[v->times] & BIT(to));
#undef BIT
  v->times = to;
  v->poll.s.finds_seconds = to != TIMES_ABSENT;
}

/* Called before an iterator is asked for. Returns 1 if the request waits for the trial's answer. */
static int hold(slp_request *q) {
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

/* A server refuses a time in the future with ValidationException, the same error as for an iterator type that
 * it does not know. So a time a moment ago is tried first, and the oldest record after that. */
static int other_place(slp_request *q) {
  slp_op_iterator *it = &q->op.iterator;
  if (it->kind != SLP_ITER_AT_TIME || strcmp(it->op.fail.aws_code, "ValidationException") != 0) return 0;
  if (!slp_request_earlier(q, 1000)) it->kind = SLP_ITER_OLDEST;
  return 1;
}

/* Returns what the trial's answer says about times. If the server refused the oldest record too, the answer
 * says nothing about times. */
static times_state answer_of(const slp_request *q) {
  const slp_op_iterator *it = &q->op.iterator;
  if (q->out || it->op.fail.class != SLP_FINE) return TIMES_UNTRIED;
  if (it->kind != SLP_ITER_AT_TIME) return TIMES_ABSENT;
  return TIMES_GIVEN;
}

static void forget(ddb_poll *v, slp_str iterator) {
  slp_free(v->poll.h->mem, slp_map_remove(&v->unproven, iterator));
}

static void forget_all(ddb_poll *v) {
  size_t at = 0;
  for (char *text; (text = slp_map_each(&v->unproven, &at)) != NULL;) forget(v, slp_str_of(text));
}

/* Remembers that the request's iterator was made for a time. Without memory the request fails, and core asks
 * again. If it were merely not remembered, a server that can't start at times would fail GetRecords with that
 * iterator for ever. */
static void remember(ddb_poll *v, slp_request *q) {
  slp_mem *mem = v->poll.h->mem;
  const slp_op_iterator *it = &q->op.iterator;
  slp_str text = slp_buf_str(&it->iterator);
  if (q->out || it->op.fail.class != SLP_FINE) return;
  forget(v, text);
  /* In ABSENT the iterator was asked for before that state was known. */
  int unproven = v->times == TIMES_GIVEN || v->times == TIMES_ABSENT;
  if (it->kind != SLP_ITER_AT_TIME || !unproven || v->unproven.live >= UNPROVEN_MAX) return;
  char *copy = slp_strdup(mem, text);
  if (copy && slp_map_put(&v->unproven, slp_str_of(copy), copy) == 0) return;
  slp_free(mem, copy);
  slp_fail_set(&q->rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for an iterator");
}

/* Called when a request for an iterator is over, answered or cancelled. The trial's end lets the waiting
 * requests go on. */
static void locate_over(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  if (q->more) {
    slp_list_remove(&q->link);
    return;
  }
  if (v->trial != q) {
    remember(v, q);
    return;
  }
  v->trial = NULL;
  move_times(v, answer_of(q));
  remember(v, q);
  for (slp_list *node; v->times != TIMES_ASKED && (node = slp_list_pop(&v->held)) != NULL;) {
    slp_request *next = SLP_OWNER(node, slp_request, link);
    next->more = 0;
    if (!hold(next)) slp_request_locate(next);
  }
}

static int is_unproven(const ddb_poll *v, const slp_request *q) {
  return slp_map_get(&v->unproven, q->op.records.iterator) != NULL;
}

/* Status 500 without an AWS error code, for an iterator made for a time: the server can't use such iterators.
 * Core is told that the iterator expired, so that it asks for the place again. */
static void fetch_failed(slp_request *q) {
  ddb_poll *v = ddb_of(q->poll);
  slp_fail *f = &q->rq->fail;
  if (!is_unproven(v, q) || f->http_status != 500 || f->aws_code[0]) return;
  forget(v, q->op.records.iterator);
  if (v->times == TIMES_GIVEN) move_times(v, TIMES_ABSENT);
  f->class = SLP_EXPIRED;
}

static void closing(slp_poll *p) {
  forget_all(ddb_of(p));
  slp_map_free(&ddb_of(p)->unproven);
}

/* ---- the end of a shard ------------------------------------------------------------------------------
 * If core knows the children already, no call is made. Otherwise one call asks for the children of this
 * shard. It costs one of the ten calls a second that an account has, as much as one page of a listing.
 * A listing is cheaper if more shards ask for children than the listing has pages, or if the service can't
 * list the children of one shard. Then the page goes to core without children, and core lists once for all
 * shards that wait. */
static int a_listing_is_cheaper(const ddb_poll *v) {
  uint32_t pages = (uint32_t)slp_min_u64(v->poll.last_pages_n ? v->poll.last_pages_n : 1, CHILDREN_CALLS_MAX);
  /* the children may be on a page that has not come yet */
  int lists_first = !v->poll.last && v->poll.lists_n;
  return v->unfiltered || lists_first || v->asking_n >= pages;
}

static void ask_children(slp_request *q);

static void on_later(slp_timer *t) { ask_children(SLP_OWNER(t, slp_request, timer)); }

/* A shard that ended has a child unless the stream was disabled, but the service may list the child a moment
 * late. Core would take a listing without the child for the end of the stream. */
static int ask_later(slp_request *q, const slp_op_list_shards *l) {
  slp_host *h = q->poll->h;
  if (l->stream_ended || q->restarts == CHILDREN_TRIES) return 0;
  uint64_t wait = (uint64_t)CHILDREN_WAIT_US << q->restarts++;
  return slp_timer_set(h, &q->timer, slp_after_us(slp_now_us(h), wait)) == 0;
}

/* If no children are found, the page goes to core without any, and core asks for the listing. */
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

/* Puts the children that core knows already into the page. Returns how many there are. */
static size_t give_known_children(slp_src_fetch *f) {
  slp_shard_desc rows[SLP_PAGE_CHILDREN_MAX];
  size_t n = f->known_children ? f->known_children(f, rows, SLP_COUNT(rows)) : 0;
  return n && slp_page_give_children(f->page, rows, n) == 0 ? n : 0;
}

/* A page ends its shard if it has no next iterator. */
static void fetched(slp_request *q) {
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
  slp_op_list_init(&q->op.list, q->poll->h->mem); /* reuses the union member that held the GetRecords */
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
                                       .latest = latest,
                                       .described = described,
                                       .listed = listed,
                                       .list_goes_on = list_goes_on,
                                       .hold = hold,
                                       .locate_over = locate_over,
                                       .other_place = other_place,
                                       .fetched = fetched,
                                       .fetch_failed = fetch_failed,
                                       .fetch_over = fetch_over,
                                       .closing = closing};

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
