/* kinesis_poll.c - core's source over Kinesis' polling calls: whole listings out of pages, places to
 * iterators, pages of records as they come. Judges no page: what a pairing of iterator and children means is
 * core's affair. */
#include "source/kinesis_poll.h"

#include "aws/limits.h"
#include "sloop.h"

#include <stdio.h>

#define NAME_MAX_N 128u
#define ARN_MAX_N 511u
/* A listing: local servers give 100 shards a page, the service 1000. */
#define LIST_SHARDS_MAX 100000u
#define LIST_PAGES_MAX 2000u
#define LIST_RESTARTS_MAX 5u
/* A failed later page costs the whole listing, so it is tried more often than a first one, whose repeat is
 * core's. */
#define LATER_PAGE_TRIES 4u
#define IDLE_REQUESTS_MAX 64u
/* How exactly we know the service's time when it says that a point in time is in the future. */
#define FUTURE_SLACK_MS 2000

typedef struct poll poll;
typedef enum { DESCRIBE, LIST, LOCATE, FETCH } request_kind;

typedef struct listing { /* what the pages so far say */
  slp_mem *mem;
  slp_buf *bodies; /* owned; the rows point into them */
  size_t bodies_n, bodies_cap;
  slp_shard_desc *shards; /* owned; no id twice */
  size_t shards_n, shards_cap;
  uint32_t *slots; /* owned; hash table: index in shards + 1, 0 free; a power of two, at most half full */
  size_t slots_n;
} listing;

typedef struct request {
  request_kind kind;
  poll *source;
  slp_src_req *rq;
  slp_list link;       /* in source->idle */
  uint32_t restarts;   /* LIST */
  uint8_t from_latest; /* LOCATE: the point in time was in the future */
  listing *listing;    /* LIST; owned */
  union {
    slp_op_describe describe;
    slp_op_list_shards list;
    slp_op_iterator iterator;
    slp_op_records records;
  } op;
} request;

struct poll {
  slp_source s;
  slp_host *h;
  slp_ops *ops; /* borrowed */
  char name[NAME_MAX_N + 1];
  char arn[ARN_MAX_N + 1]; /* "": the user gave a name. Then none is sent: kinesalite knows no ARNs */
  listing *last;           /* the last answer to list(); owned */
  slp_list idle;
  size_t idle_n, live_n;
  slp_src_req *starved; /* requests for which there was no memory, linked by rq->impl */
  slp_event starved_ev;
};

static poll *poll_of(slp_source *s) { return SLP_OWNER(s, poll, s); }

/* ---- listings --------------------------------------------------------------------------------------------
 */
static void listing_clear(listing *l) {
  for (size_t i = 0; i < l->bodies_n; i++) slp_buf_free(&l->bodies[i]);
  slp_free(l->mem, l->bodies);
  slp_free(l->mem, l->shards);
  slp_free(l->mem, l->slots);
  *l = (listing){.mem = l->mem};
}

static void listing_free(listing *l) {
  if (!l) return;
  listing_clear(l);
  slp_free(l->mem, l);
}

/* FNV-1a: the ids come from the service, and a listing is at most 100,000 long. */
static size_t hash_of(slp_str id) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < id.n; i++) h = (h ^ (unsigned char)id.p[i]) * 1099511628211u;
  return (size_t)(h ^ (h >> 32));
}

/* Where id is, or the free slot where it belongs. */
static uint32_t *find_slot(const listing *l, slp_str id) {
  size_t i = hash_of(id) & (l->slots_n - 1);
  while (l->slots[i] && !slp_str_eq(l->shards[l->slots[i] - 1].id, id)) i = (i + 1) & (l->slots_n - 1);
  return &l->slots[i];
}

static int grow_slots(listing *l) {
  size_t n = l->slots_n ? l->slots_n * 2 : 256;
  uint32_t *slots = slp_zalloc_n(l->mem, n, sizeof *slots);
  if (!slots) return SLP_ENOMEM;
  slp_free(l->mem, l->slots);
  l->slots = slots;
  l->slots_n = n;
  for (size_t i = 0; i < l->shards_n; i++) *find_slot(l, l->shards[i].id) = (uint32_t)i + 1;
  return 0;
}

static int grow_shards(listing *l) {
  size_t cap = l->shards_cap ? l->shards_cap * 2 : 128;
  slp_shard_desc *shards = slp_realloc(l->mem, l->shards, cap * sizeof *shards);
  if (!shards) return SLP_ENOMEM;
  l->shards = shards;
  l->shards_cap = cap;
  return 0;
}

static void fill_in(slp_str *known, slp_str other) {
  if (!known->p) *known = other;
}

/* A shard on two pages: a page may be older than the other, so each may know what the other does not, as that
 * it was closed meanwhile. */
static void merge_row(slp_shard_desc *known, const slp_shard_desc *other) {
  fill_in(&known->parent, other->parent);
  fill_in(&known->adjacent_parent, other->adjacent_parent);
  fill_in(&known->hash_start, other->hash_start);
  fill_in(&known->hash_end, other->hash_end);
  fill_in(&known->seq_start, other->seq_start);
  fill_in(&known->seq_end, other->seq_end);
}

static int listing_add(listing *l, const slp_shard_desc *row) {
  int r = 2 * (l->shards_n + 1) > l->slots_n ? grow_slots(l) : 0;
  if (!r && l->shards_n == l->shards_cap) r = grow_shards(l);
  if (r) return r;
  uint32_t *slot = find_slot(l, row->id);
  if (*slot) {
    merge_row(&l->shards[*slot - 1], row);
    return 0;
  }
  if (l->shards_n == LIST_SHARDS_MAX) return SLP_ELIMIT;
  l->shards[l->shards_n++] = *row;
  *slot = (uint32_t)l->shards_n;
  return 0;
}

/* Takes the page's body, so that its rows stay valid. */
static int listing_take_page(listing *l, slp_op_list_shards *page) {
  if (l->bodies_n == LIST_PAGES_MAX) return SLP_ELIMIT;
  if (l->bodies_n == l->bodies_cap) {
    size_t cap = l->bodies_cap ? l->bodies_cap * 2 : 4;
    slp_buf *bodies = slp_realloc(l->mem, l->bodies, cap * sizeof *bodies);
    if (!bodies) return SLP_ENOMEM;
    l->bodies = bodies;
    l->bodies_cap = cap;
  }
  slp_buf *body = &l->bodies[l->bodies_n++];
  slp_buf_init(body, l->mem, 0);
  slp_buf_move(body, &page->body);
  int r = 0;
  for (size_t i = 0; i < page->shards_n && !r; i++) r = listing_add(l, &page->shards[i]);
  return r;
}

/* ---- requests --------------------------------------------------------------------------------------------
 */
static slp_op *op_of(request *q) {
  switch (q->kind) {
    case DESCRIBE: return &q->op.describe.op;
    case LIST: return &q->op.list.op;
    case LOCATE: return &q->op.iterator.op;
    case FETCH: return &q->op.records.op;
  }
  return NULL;
}

static request *request_take(poll *p, request_kind kind, slp_src_req *rq) {
  slp_list *node = slp_list_pop(&p->idle);
  request *q = node ? SLP_OWNER(node, request, link) : SLP_NEW(p->h->mem, request);
  if (!q) return NULL;
  if (node) p->idle_n--;
  memset(q, 0, sizeof *q);
  q->kind = kind;
  q->source = p;
  q->rq = rq;
  rq->impl = q;
  p->live_n++;
  slp_fail_clear(&rq->fail);
  return q;
}

static void request_give_back(request *q) {
  poll *p = q->source;
  if (q->kind == LIST) slp_op_list_free(&q->op.list);
  listing_free(q->listing);
  q->listing = NULL;
  q->rq->impl = NULL;
  p->live_n--;
  if (p->idle_n >= IDLE_REQUESTS_MAX) {
    slp_free(p->h->mem, q);
    return;
  }
  slp_list_add_first(&p->idle, &q->link);
  p->idle_n++;
}

static void copy_outcome(request *q) {
  const slp_op *op = op_of(q);
  q->rq->fail = op->fail;
  q->rq->sent_us = op->sent_us;
  q->rq->done_us = op->done_us;
  q->rq->date_ms = op->date_ms;
}

/* Gives the answer; the request is over. */
static void answer(request *q) {
  slp_src_req *rq = q->rq;
  request_give_back(q);
  rq->on_done(rq);
}

/* No memory even to ask: answered from the next turn. */
static void starve(poll *p, slp_src_req *rq) {
  rq->impl = p->starved;
  p->starved = rq;
  slp_post(p->h, &p->starved_ev);
}

static void on_starved(slp_event *ev) {
  poll *p = SLP_OWNER(ev, poll, starved_ev);
  slp_src_req *rq = p->starved;
  if (!rq) return;
  p->starved = rq->impl;
  if (p->starved) slp_post(p->h, ev);
  rq->impl = NULL;
  rq->date_ms = -1;
  slp_fail_clear(&rq->fail);
  slp_fail_set(&rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a call");
  rq->on_done(rq);
}

/* 1: it was one of the starved, and is no more. */
static int unstarve(poll *p, slp_src_req *rq) {
  slp_src_req *before = NULL;
  for (slp_src_req *it = p->starved; it; before = it, it = it->impl) {
    if (it != rq) continue;
    if (before)
      before->impl = it->impl;
    else
      p->starved = it->impl;
    rq->impl = NULL;
    return 1;
  }
  return 0;
}

/* ---- describe --------------------------------------------------------------------------------------------
 */
static void on_describe(slp_op *op) {
  request *q = SLP_OWNER(op, request, op.describe.op);
  poll *p = q->source;
  slp_op_describe *d = &q->op.describe;
  slp_src_describe *rq = SLP_OWNER(q->rq, slp_src_describe, rq);
  copy_outcome(q);
  if (op->fail.class == SLP_FINE) {
    snprintf(rq->name, sizeof rq->name, "%s", d->ret_name[0] ? d->ret_name : p->name);
    snprintf(rq->arn, sizeof rq->arn, "%s", d->ret_arn[0] ? d->ret_arn : p->arn);
    rq->created_ms = d->created_ms;
    rq->retention_ms = d->retention_hours ? (int64_t)d->retention_hours * 3600000 : -1;
    rq->ready = d->status != SLP_STREAM_CREATING;
  }
  answer(q);
}

static void do_describe(slp_source *s, slp_src_describe *rq) {
  poll *p = poll_of(s);
  request *q = request_take(p, DESCRIBE, &rq->rq);
  if (!q) {
    starve(p, &rq->rq);
    return;
  }
  slp_op_describe *d = &q->op.describe;
  d->op.on_done = on_describe;
  d->op.tries_max = 1;
  d->name = slp_str_of(p->name);
  d->arn = slp_str_of(p->arn);
  p->ops->describe(p->ops, d);
}

/* ---- list ------------------------------------------------------------------------------------------------
 */
static void on_list_page(slp_op *op);

/* The token goes alone, and only when the service gave one: kinesalite ends when it sees one. */
static void send_list(request *q, slp_str next_token) {
  poll *p = q->source;
  slp_op_list_shards *l = &q->op.list;
  slp_op_list_free(l);
  slp_op_list_init(l, p->h->mem);
  l->op.on_done = on_list_page;
  l->op.tries_max = next_token.n ? LATER_PAGE_TRIES : 1;
  l->name = slp_str_of(p->name);
  l->arn = slp_str_of(p->arn);
  l->next_token = next_token;
  p->ops->list_shards(p->ops, l);
}

static void list_failed(request *q, int r) {
  if (r == SLP_ENOMEM) {
    slp_fail_set(&q->rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for the listing of shards");
  } else {
    slp_fail_set(&q->rq->fail, SLP_TRANSIENT, SLOOP_EPROTO, "the listing has more than %u shards or %u pages",
                 LIST_SHARDS_MAX, LIST_PAGES_MAX);
  }
  answer(q);
}

static void list_finished(request *q) {
  poll *p = q->source;
  slp_src_list *rq = SLP_OWNER(q->rq, slp_src_list, rq);
  listing_free(p->last);
  p->last = q->listing;
  q->listing = NULL;
  rq->shards = p->last->shards;
  rq->shards_n = p->last->shards_n;
  answer(q);
}

static void on_list_page(slp_op *op) {
  request *q = SLP_OWNER(op, request, op.list.op);
  slp_op_list_shards *page = &q->op.list;
  copy_outcome(q);
  /* The token lives 300 s; what was read before it is a snapshot too old to go on with. */
  if (op->fail.class == SLP_EXPIRED && page->next_token.n && q->restarts < LIST_RESTARTS_MAX) {
    q->restarts++;
    listing_clear(q->listing);
    send_list(q, (slp_str){NULL, 0});
    return;
  }
  if (op->fail.class != SLP_FINE) {
    if (op->fail.class == SLP_EXPIRED) q->rq->fail.class = SLP_TRANSIENT; /* core has no token to renew */
    answer(q);
    return;
  }
  slp_str next = page->ret_next;
  int r = listing_take_page(q->listing, page);
  if (r)
    list_failed(q, r);
  else if (next.n)
    send_list(q, next); /* it lies in a body that the listing holds now */
  else
    list_finished(q);
}

static void do_list(slp_source *s, slp_src_list *rq) {
  poll *p = poll_of(s);
  rq->shards = NULL;
  rq->shards_n = 0;
  request *q = request_take(p, LIST, &rq->rq);
  listing *l = q ? SLP_NEW(p->h->mem, listing) : NULL;
  if (!l) {
    if (q) request_give_back(q);
    starve(p, &rq->rq);
    return;
  }
  l->mem = p->h->mem;
  q->listing = l;
  slp_op_list_init(&q->op.list, p->h->mem);
  send_list(q, (slp_str){NULL, 0});
}

/* ---- locate ----------------------------------------------------------------------------------------------
 */
static slp_iter_kind iter_kind(slp_place place) {
  switch (place) {
    case SLP_PLACE_OLDEST: return SLP_ITER_OLDEST;
    case SLP_PLACE_LATEST: return SLP_ITER_LATEST;
    case SLP_PLACE_AT_TIME: return SLP_ITER_AT_TIME;
    case SLP_PLACE_AT_SEQ: return SLP_ITER_AT_SEQ;
    case SLP_PLACE_AFTER_SEQ: return SLP_ITER_AFTER_SEQ;
  }
  return SLP_ITER_OLDEST;
}

/* The service refuses a time that its own clock has not reached; from there on is from now on. Anything else
 * it calls an invalid argument is the caller's mistake. */
static int is_in_future(request *q, const slp_op_iterator *it) {
  if (it->kind != SLP_ITER_AT_TIME || strcmp(it->op.fail.aws_code, "InvalidArgumentException") != 0) return 0;
  int64_t now = it->op.date_ms >= 0 ? it->op.date_ms : slp_wall_ms(q->source->h);
  return it->at_ms > now - FUTURE_SLACK_MS;
}

static void on_locate(slp_op *op) {
  request *q = SLP_OWNER(op, request, op.iterator.op);
  poll *p = q->source;
  slp_op_iterator *it = &q->op.iterator;
  if (op->fail.class == SLP_REFUSED && !q->from_latest && is_in_future(q, it)) {
    q->from_latest = 1;
    it->kind = SLP_ITER_LATEST;
    p->ops->iterator(p->ops, it);
    return;
  }
  copy_outcome(q);
  SLP_OWNER(q->rq, slp_src_locate, rq)->cursor = it->iterator;
  answer(q);
}

static void do_locate(slp_source *s, slp_src_locate *rq) {
  poll *p = poll_of(s);
  request *q = request_take(p, LOCATE, &rq->rq);
  if (!q) {
    starve(p, &rq->rq);
    return;
  }
  slp_op_iterator *it = &q->op.iterator;
  it->op.on_done = on_locate;
  it->op.tries_max = 1;
  it->name = slp_str_of(p->name);
  it->arn = slp_str_of(p->arn);
  it->shard = rq->shard;
  it->kind = iter_kind(rq->place);
  it->seq = rq->seq;
  it->at_ms = rq->at_ms;
  it->iterator = rq->cursor; /* lent; goes back with the answer or the cancel */
  p->ops->iterator(p->ops, it);
}

/* ---- fetch -----------------------------------------------------------------------------------------------
 */
static int fetch_may_grow(slp_op_records *op, size_t more) {
  request *q = SLP_OWNER(op, request, op.records);
  slp_src_fetch *f = SLP_OWNER(q->rq, slp_src_fetch, rq);
  return f->may_grow ? f->may_grow(f, more) : 1;
}

static void on_fetch(slp_op *op) {
  request *q = SLP_OWNER(op, request, op.records.op);
  copy_outcome(q);
  SLP_OWNER(q->rq, slp_src_fetch, rq)->body_bytes = q->op.records.body_bytes;
  answer(q);
}

static void do_fetch(slp_source *s, slp_src_fetch *rq) {
  poll *p = poll_of(s);
  rq->body_bytes = 0;
  request *q = request_take(p, FETCH, &rq->rq);
  if (!q) {
    starve(p, &rq->rq);
    return;
  }
  slp_op_records *op = &q->op.records;
  op->op.on_done = on_fetch;
  op->op.tries_max = 1; /* each shard has a back-off of its own, in core */
  op->arn = slp_str_of(p->arn);
  op->iterator = rq->cursor;
  op->limit = rq->limit;
  op->may_grow = fetch_may_grow;
  op->page = rq->page;
  p->ops->records(p->ops, op);
}

/* ---- the rest --------------------------------------------------------------------------------------------
 */
static int is_starved(const poll *p, const slp_src_req *rq) {
  for (const slp_src_req *it = p->starved; it; it = it->impl) {
    if (it == rq) return 1;
  }
  return 0;
}

static void do_resume(slp_source *s, slp_src_fetch *rq) {
  poll *p = poll_of(s);
  request *q = rq->rq.impl;
  if (q && !is_starved(p, &rq->rq)) p->ops->resume(p->ops, op_of(q));
}

static void do_cancel(slp_source *s, slp_src_req *rq) {
  poll *p = poll_of(s);
  if (unstarve(p, rq) || !rq->impl) return;
  request *q = rq->impl;
  p->ops->cancel(p->ops, op_of(q));
  if (q->kind == LOCATE) SLP_OWNER(rq, slp_src_locate, rq)->cursor = q->op.iterator.iterator;
  request_give_back(q);
}

static void do_close(slp_source *s) {
  poll *p = poll_of(s);
  SLP_CHECK(p->live_n == 0 && !p->starved);
  slp_unpost(&p->starved_ev);
  for (slp_list *node; (node = slp_list_pop(&p->idle)) != NULL;)
    slp_free(p->h->mem, SLP_OWNER(node, request, link));
  listing_free(p->last);
  slp_free(p->h->mem, p);
}

static const slp_source_ops poll_ops = {
    .describe = do_describe,
    .list = do_list,
    .locate = do_locate,
    .fetch = do_fetch,
    .resume = do_resume,
    .cancel = do_cancel,
    .close = do_close,
};

/* Model pattern [a-zA-Z0-9_.-]{1,128}. */
static int is_name(slp_str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.' || c == '-';
    if (!ok) return 0;
  }
  return s.n > 0 && s.n <= NAME_MAX_N;
}

/* arn:PARTITION:kinesis:REGION:ACCOUNT:stream/NAME -> NAME; {NULL,0} when it is not that. */
static slp_str name_of_arn(slp_str arn) {
  size_t colons = 0, i = 0;
  for (; i < arn.n && colons < 5; i++) {
    if (arn.p[i] != ':') continue;
    colons++;
    if (colons == 2 && (arn.n - i < 9 || memcmp(arn.p + i, ":kinesis:", 9) != 0)) return (slp_str){NULL, 0};
  }
  const slp_str kind = SLP_STR("stream/");
  slp_str rest = {arn.p + i, arn.n - i};
  if (colons < 5 || rest.n <= kind.n || memcmp(rest.p, kind.p, kind.n) != 0) return (slp_str){NULL, 0};
  return (slp_str){rest.p + kind.n, rest.n - kind.n};
}

int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream) {
  int is_arn = stream.n > 4 && memcmp(stream.p, "arn:", 4) == 0;
  slp_str name = is_arn ? name_of_arn(stream) : stream;
  if (!is_name(name) || stream.n > ARN_MAX_N) return SLOOP_EOPTION;
  for (size_t i = 0; i < stream.n; i++) {
    if ((unsigned char)stream.p[i] <= 0x20 || (unsigned char)stream.p[i] >= 0x7f) return SLOOP_EOPTION;
  }
  poll *p = SLP_NEW(h->mem, poll);
  if (!p) return SLP_ENOMEM;
  p->s = (slp_source){.ops = &poll_ops,
                      .fetch_records_max = SLP_KINESIS_RECORDS_MAX,
                      .fetch_bytes_max = SLP_KINESIS_PAGE_BYTES_MAX,
                      .tells_behind = 1,
                      .anchors_by_time = 1};
  p->h = h;
  p->ops = ops;
  p->starved_ev.run = on_starved;
  slp_list_init(&p->idle);
  memcpy(p->name, name.p, name.n);
  if (is_arn) memcpy(p->arn, stream.p, stream.n);
  *ret = &p->s;
  return 0;
}
