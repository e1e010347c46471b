/* poll.c - the part that all polling sources share: joins pages to complete listings, turns positions into
 * iterators, and passes pages of records to core. It does not interpret pages: core decides what a missing
 * iterator or a list of children means. */
#include "source/poll.h"

#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/repeat.h"
#include "core/mark.h"
#include "core/position.h"
#include "core/source.h"
#include "host/host.h"
#include "host/later.h"
#include "host/op.h"
#include "source/listing_pages.h"
#include "source/stream_name.h"

#include <sloop.h>
#include <stdio.h>

#define LIST_RESTARTS_MAX 5u
#define IDLE_REQUESTS_MAX 64u
/* The service decides by its own clock whether a time is in the future, and that clock may be behind ours. So
 * a refused time counts as being in the future even if it was up to FUTURE_SLACK_MS ago by our clock. */
#define FUTURE_SLACK_MS 2000

static slp_poll *poll_of(slp_source *s) { return SLP_OWNER(s, slp_poll, s); }

/* ---- requests ---------------------------------------------------------------------------------------- */
static slp_request *request_take(slp_poll *p, slp_ask ask, slp_op *rq) {
  slp_list *node = slp_list_pop(&p->idle);
  slp_request *q = node ? SLP_OWNER(node, slp_request, link) : SLP_NEW(p->h->mem, slp_request);
  if (!q) return NULL;
  if (node) p->idle_n--;
  memset(q, 0, sizeof *q);
  q->ask = ask;
  q->poll = p;
  q->rq = rq;
  rq->impl = q;
  p->live_n++;
  p->lists_n += ask == SLP_ASK_LIST;
  slp_fail_clear(&rq->fail);
  return q;
}

static void request_give_back(slp_request *q) {
  slp_poll *p = q->poll;
  if (q->ask == SLP_ASK_LIST && !q->describing) slp_op_list_free(&q->op.list);
  if (q->ask == SLP_ASK_LIST) {
    slp_timer_clear(p->h, &q->timer);
    slp_buf_free(&q->token);
  }
  if (q->ask == SLP_ASK_FETCH && p->kind->fetch_over) p->kind->fetch_over(q);
  if (q->ask == SLP_ASK_LOCATE && p->kind->locate_over) p->kind->locate_over(q);
  slp_listing_free(q->listing);
  q->listing = NULL;
  q->rq->impl = NULL;
  p->live_n--;
  p->lists_n -= q->ask == SLP_ASK_LIST;
  if (p->idle_n >= IDLE_REQUESTS_MAX) {
    slp_free(p->h->mem, q);
    return;
  }
  slp_list_add_first(&p->idle, &q->link);
  p->idle_n++;
}

void slp_request_answer(slp_request *q) {
  slp_op *rq = q->rq;
  request_give_back(q);
  rq->on_done(rq);
}

/* Fails a request for which there is no memory: its on_done is called in a later turn, with SLP_NOMEM. */
static void fail_without_memory(slp_poll *p, slp_op *rq) {
  rq->date_ms = -1;
  slp_fail_clear(&rq->fail);
  slp_fail_set(&rq->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a call");
  slp_later_add(&p->starved, rq);
}

/* ---- describe ---------------------------------------------------------------------------------------- */
static void on_describe(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.describe.op);
  slp_op_describe *d = &q->op.describe;
  q->out = NULL;
  slp_op_copy_outcome(q->rq, op);
  if (op->fail.class == SLP_FINE)
    q->poll->kind->described(q->poll, d, SLP_OWNER(q->rq, slp_src_describe, rq));
  slp_request_answer(q);
}

static void send_describe(slp_request *q, void (*on_done)(slp_op *op)) {
  slp_poll *p = q->poll;
  slp_op_describe *d = &q->op.describe;
  d->op.on_done = on_done;
  d->op.tries_max = 1;
  d->name = slp_str_of(p->name);
  d->arn = slp_str_of(p->arn);
  if (q->ask == SLP_ASK_DESCRIBE && SLP_OWNER(q->rq, slp_src_describe, rq)->latest && p->kind->latest)
    d->arn = p->kind->latest(p);
  q->out = &d->op;
  p->ops->describe(p->ops, d);
}

static void do_describe(slp_source *s, slp_src_describe *rq) {
  slp_poll *p = poll_of(s);
  slp_request *q = request_take(p, SLP_ASK_DESCRIBE, &rq->rq);
  if (!q)
    fail_without_memory(p, &rq->rq);
  else
    send_describe(q, on_describe);
}

/* ---- list -------------------------------------------------------------------------------------------- */
static void on_list_page(slp_op *op);

/* Sends the call for the next page. The call contains a token only if the service gave one, because
 * kinesalite exits when it receives an empty token. */
static void send_list(slp_request *q) {
  slp_poll *p = q->poll;
  slp_str next_token = slp_buf_str(&q->token);
  slp_op_list_shards *l = &q->op.list;
  slp_op_list_free(l);
  slp_op_list_init(l, p->h->mem);
  l->op.on_done = on_list_page;
  l->op.tries_max = next_token.n ? SLP_POLL_LATER_TRIES : 1;
  l->name = slp_str_of(p->name);
  l->arn = slp_str_of(p->arn);
  l->next_token = next_token;
  q->out = &l->op;
  p->ops->list_shards(p->ops, l);
}

static void list_failed(slp_request *q, int r, const char *why) {
  slp_fail *f = &q->rq->fail;
  if (r == SLP_ENOMEM)
    slp_fail_set(f, SLP_NOMEM, SLP_ENOMEM, "no memory for the listing of shards");
  else if (why)
    slp_fail_set(f, SLP_TRANSIENT, SLOOP_EPROTO, "the listing of shards: %s", why);
  else
    slp_fail_set(f, SLP_TRANSIENT, SLOOP_EPROTO, "the listing has more than %u shards or %u MiB",
                 SLP_LISTING_SHARDS_MAX, SLP_LISTING_BYTES_MAX >> 20);
  slp_request_answer(q);
}

static void list_finished(slp_request *q) {
  slp_poll *p = q->poll;
  slp_src_list *rq = SLP_OWNER(q->rq, slp_src_list, rq);
  if (p->kind->listed) p->kind->listed(p, q->listing);
  slp_listing_free(p->last);
  p->last = q->listing;
  p->last_pages_n = q->pages.n + 1;
  q->listing = NULL;
  rq->shards = p->last->shards;
  rq->shards_n = p->last->shards_n;
  rq->ended = p->last->stream_ended;
  rq->placement = p->placement;
  slp_request_answer(q);
}

static void tell_part(slp_request *q) {
  slp_src_list *rq = SLP_OWNER(q->rq, slp_src_list, rq);
  if (!rq->on_part) return;
  rq->shards = q->listing->shards;
  rq->shards_n = q->listing->shards_n;
  rq->on_part(rq);
  rq->shards = NULL;
  rq->shards_n = 0;
}

static void on_page_due(slp_timer *t) { send_list(SLP_OWNER(t, slp_request, timer)); }

/* Sends the call for the next page, at once or after the wait that slp_paging_next asks for. news: how many
 * shards of the last page were new. */
static void list_on(slp_request *q, size_t news) {
  slp_host *h = q->poll->h;
  slp_str token = q->op.list.ret_next;
  uint64_t wait_us;
  char why[160];
  /* slp_paging_next fails if a token comes twice. DescribeStream may return an empty page with the same token
   * as before, so only the tokens of pages with shards are compared. */
  slp_str moves = q->op.list.shards_n ? token : (slp_str){NULL, 0};
  int r = slp_paging_next(&q->pages, moves, q->op.list.body.n, news, q->listing->bytes, &wait_us, why);
  slp_buf_clear(&q->token);
  if (!r && (r = slp_buf_add_str(&q->token, token)) == SLP_ELIMIT)
    snprintf(why, sizeof why, "the key of the next page has more than %u MiB (page %u)",
             SLP_KINESIS_NEXT_TOKEN_MAX >> 20, q->pages.n);
  if (!r && wait_us) r = slp_timer_set(h, &q->timer, slp_after_us(slp_now_us(h), wait_us));
  if (r)
    list_failed(q, r, why);
  else if (!wait_us)
    send_list(q);
}

/* Begins the listing again at its first page, and drops the shards of earlier pages. */
static void list_anew(slp_request *q) {
  slp_listing_clear(q->listing);
  slp_buf_clear(&q->token);
  slp_paging_begin(&q->pages, SLP_LISTING_PAGES_MAX, SLP_LISTING_BYTES_MAX);
  send_list(q);
}

static void on_list_page(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.list.op);
  const slp_poll_kind *kind = q->poll->kind;
  slp_op_list_shards *page = &q->op.list;
  q->out = NULL;
  slp_op_copy_outcome(q->rq, op);
  /* A token of Kinesis lives 300 s. When it has expired, the pages that were read are too old to be joined
   * with new ones, so the listing begins again. */
  if (op->fail.class == SLP_EXPIRED && page->next_token.n && q->restarts < LIST_RESTARTS_MAX) {
    q->restarts++;
    if (SLP_MUTANT(expired_list_is_whole)) {
      q->rq->fail.class = SLP_FINE;
      list_finished(q);
      return;
    }
    list_anew(q);
    return;
  }
  if (op->fail.class != SLP_FINE) {
    /* core would take SLP_EXPIRED to mean an expired iterator, but a listing has no iterator */
    if (op->fail.class == SLP_EXPIRED) q->rq->fail.class = SLP_TRANSIENT;
    slp_request_answer(q);
    return;
  }
  size_t known = q->listing->shards_n;
  int r = slp_listing_take_page(q->listing, page);
  if (r)
    list_failed(q, r, NULL);
  else if (page->ret_next.n &&
           (!kind->list_goes_on || kind->list_goes_on(page, q->listing->shards_n - known))) {
    tell_part(q);
    list_on(q, q->listing->shards_n - known);
  } else
    list_finished(q);
}

static void begin_list(slp_request *q) {
  slp_op_list_init(&q->op.list, q->poll->h->mem);
  list_anew(q);
}

static void on_described_first(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.describe.op);
  slp_src_describe learnt = {0};
  q->out = NULL;
  if (op->fail.class == SLP_FINE) {
    q->poll->kind->described(q->poll, &q->op.describe, &learnt);
  } else if (q->poll->kind->list_waits(q->poll) == SLP_LIST_NEEDS) {
    slp_op_copy_outcome(q->rq, op);
    slp_request_answer(q);
    return;
  } else if (q->poll->kind->undescribed) {
    q->poll->kind->undescribed(q->poll, &op->fail);
  }
  q->describing = 0;
  begin_list(q);
}

static void do_list(slp_source *s, slp_src_list *rq) {
  slp_poll *p = poll_of(s);
  rq->shards = NULL;
  rq->shards_n = 0;
  rq->ended = 0;
  slp_request *q = request_take(p, SLP_ASK_LIST, &rq->rq);
  /* `describing` stays 1 until q->op.list is initialised; otherwise request_give_back would free
   * q->op.list */
  if (q) {
    q->describing = 1;
    q->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_page_due};
    slp_buf_init(&q->token, p->h->mem, SLP_KINESIS_NEXT_TOKEN_MAX);
  }
  slp_listing *l = q ? slp_listing_new(p->h->mem) : NULL;
  if (!l) {
    if (q) request_give_back(q);
    fail_without_memory(p, &rq->rq);
    return;
  }
  q->listing = l;
  if (p->kind->list_waits && p->kind->list_waits(p) != SLP_LIST_AT_ONCE) {
    send_describe(q, on_described_first);
    return;
  }
  q->describing = 0;
  begin_list(q);
}

/* ---- locate ------------------------------------------------------------------------------------------ */
static slp_iter_kind iter_kind(slp_position_kind kind) {
  switch (kind) {
    case SLP_POSITION_OLDEST: return SLP_ITER_OLDEST;
    case SLP_POSITION_LATEST: return SLP_ITER_LATEST;
    case SLP_POSITION_TIME: return SLP_ITER_AT_TIME;
    case SLP_POSITION_AT: return SLP_ITER_AT_SEQ;
    case SLP_POSITION_AFTER: return SLP_ITER_AFTER_SEQ;
    case SLP_POSITION_NONE:
    case SLP_POSITION_END: break; /* NONE and END: core never asks for an iterator there */
  }
  return SLP_ITER_OLDEST;
}

static int is_of_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/* Returns 1 if the service refused the sequence number of `mark`. For a number that no record has,
 * kinesis-mock 0.6.2 returns ResourceNotFoundException, as for a missing stream or shard. The message of that
 * error contains the number; a message of Kinesis never does. */
static int is_said_of_the_number(const slp_fail *f, const slp_mark *mark) {
  char number[SLP_SEQ_MAX + 1];
  if (f->class != SLP_GONE || !mark->seq_n) return 0;
  snprintf(number, sizeof number, "%.*s", (int)mark->seq_n, mark->seq);
  for (const char *at = strstr(f->message, number); at; at = strstr(at + 1, number))
    if ((at == f->message || !is_of_a_name(at[-1])) && !is_of_a_name(at[mark->seq_n])) return 1;
  return 0;
}

/* If the service refuses an iterator at a sequence number, the number does not belong to this shard. Gives
 * the failure the code SLOOP_EPOSITION, so that core does not try again. */
static void say_position(const slp_src_locate *l, slp_fail *f) {
  char words[sizeof f->message];
  if (l->from.kind != SLP_POSITION_AT && l->from.kind != SLP_POSITION_AFTER) return;
  if (!f->aws_code[0]) return; /* without an AWS error code, the answer may come from a proxy */
  if (f->class != SLP_REFUSED && !is_said_of_the_number(f, &l->from.mark)) return;
  snprintf(words, sizeof words, "%s", f->message);
  slp_fail_set(f, SLP_REFUSED, SLOOP_EPOSITION, "the service refuses to read from %.*s: %.110s",
               (int)l->from.mark.seq_n, l->from.mark.seq, words);
}

static void on_locate(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.iterator.op);
  slp_poll *p = q->poll;
  slp_op_iterator *it = &q->op.iterator;
  if (op->fail.class == SLP_REFUSED && p->kind->other_place && p->kind->other_place(q)) {
    p->ops->iterator(p->ops, it);
    return;
  }
  q->out = NULL;
  slp_op_copy_outcome(q->rq, op);
  slp_src_locate *rq = SLP_OWNER(q->rq, slp_src_locate, rq);
  rq->cursor = it->iterator;
  say_position(rq, &rq->rq.fail);
  slp_request_answer(q);
}

void slp_request_locate(slp_request *q) {
  q->out = &q->op.iterator.op;
  q->poll->ops->iterator(q->poll->ops, &q->op.iterator);
}

/* Replaces a refused time by a time slightly before now. The position "latest" would be wrong, because it
 * would skip the records between the refused time and this call. The new time skips no record, and core drops
 * records that are too early. If since_us is set, the refused time is our estimate of the service's time when
 * our clock showed since_us. Then the new time must not be later than that moment, so the time that has
 * passed since is subtracted. */
int slp_request_earlier(slp_request *q, int64_t unit_ms) {
  slp_op_iterator *it = &q->op.iterator;
  int64_t now = it->op.date_ms >= 0 ? it->op.date_ms : slp_wall_ms(q->poll->h);
  if (q->earlier || it->at_ms <= now - FUTURE_SLACK_MS) return 0;
  q->earlier = 1;
  uint64_t since_us = SLP_OWNER(q->rq, slp_src_locate, rq)->since_us, ago_us = 0;
  if (since_us && since_us < it->op.done_us) ago_us = it->op.done_us - since_us;
  it->at_ms = now - slp_max_i64(FUTURE_SLACK_MS, (int64_t)(ago_us / 1000) + 1);
  it->at_ms -= it->at_ms % unit_ms;
  return 1;
}

static void do_locate(slp_source *s, slp_src_locate *rq) {
  slp_poll *p = poll_of(s);
  slp_request *q = request_take(p, SLP_ASK_LOCATE, &rq->rq);
  if (!q) {
    fail_without_memory(p, &rq->rq);
    return;
  }
  slp_op_iterator *it = &q->op.iterator;
  it->op.on_done = on_locate;
  it->op.tries_max = 1;
  it->name = slp_str_of(p->name);
  it->arn = slp_str_of(p->arn);
  it->shard = rq->shard;
  it->kind = iter_kind(rq->from.kind);
  it->seq = slp_mark_seq(&rq->from.mark);
  it->at_ms = rq->from.at_ms;
  it->iterator = rq->cursor; /* a buffer of core; on_locate and do_cancel give it back */
  if (!p->kind->hold || !p->kind->hold(q)) slp_request_locate(q);
}

/* ---- fetch ------------------------------------------------------------------------------------------- */
static int fetch_may_grow(slp_op_records *op, size_t more) {
  slp_request *q = SLP_OWNER(op, slp_request, op.records);
  slp_src_fetch *f = SLP_OWNER(q->rq, slp_src_fetch, rq);
  return f->may_grow ? f->may_grow(f, more) : 1;
}

static void on_fetch(slp_op *op) {
  slp_request *q = SLP_OWNER(op, slp_request, op.records.op);
  q->out = NULL;
  slp_op_copy_outcome(q->rq, op);
  SLP_OWNER(q->rq, slp_src_fetch, rq)->body_bytes = q->op.records.body_bytes;
  if (op->fail.class == SLP_FINE)
    q->poll->kind->fetched(q);
  else {
    if (q->poll->kind->fetch_failed) q->poll->kind->fetch_failed(q);
    slp_request_answer(q);
  }
}

static void do_fetch(slp_source *s, slp_src_fetch *rq) {
  slp_poll *p = poll_of(s);
  rq->body_bytes = 0;
  slp_request *q = request_take(p, SLP_ASK_FETCH, &rq->rq);
  if (!q) {
    fail_without_memory(p, &rq->rq);
    return;
  }
  slp_op_records *op = &q->op.records;
  op->op.on_done = on_fetch;
  op->op.tries_max = 1; /* core repeats the call itself, with waits of its own for each shard */
  op->name = slp_str_of(p->name);
  op->arn = slp_str_of(p->arn);
  op->iterator = rq->cursor;
  op->limit = rq->limit;
  op->may_grow = fetch_may_grow;
  op->page = rq->page;
  q->out = &op->op;
  p->ops->records(p->ops, op);
}

/* ---- resuming, cancelling, closing ------------------------------------------------------------------- */
static void do_resume(slp_source *s, slp_src_fetch *rq) {
  slp_poll *p = poll_of(s);
  slp_request *q = slp_later_has(&p->starved, &rq->rq) ? NULL : rq->rq.impl;
  if (q && q->out) p->ops->resume(p->ops, q->out);
}

static void do_cancel(slp_source *s, slp_op *rq) {
  slp_poll *p = poll_of(s);
  if (slp_later_cancel(&p->starved, rq) || !rq->impl) return;
  slp_request *q = rq->impl;
  if (q->out) p->ops->cancel(p->ops, q->out);
  if (q->ask == SLP_ASK_LOCATE) SLP_OWNER(rq, slp_src_locate, rq)->cursor = q->op.iterator.iterator;
  request_give_back(q);
}

static void do_close(slp_source *s) {
  slp_poll *p = poll_of(s);
  SLP_CHECK(p->live_n == 0);
  slp_later_end(&p->starved);
  if (p->kind->closing) p->kind->closing(p);
  for (slp_list *node; (node = slp_list_pop(&p->idle)) != NULL;)
    slp_free(p->h->mem, SLP_OWNER(node, slp_request, link));
  slp_listing_free(p->last);
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

void slp_poll_init(slp_poll *p, const slp_poll_kind *kind, slp_host *h, slp_ops *ops,
                   const slp_stream_name *named) {
  p->s.ops = &poll_ops;
  p->kind = kind;
  p->h = h;
  p->ops = ops;
  slp_later_init(&p->starved, p->h);
  slp_list_init(&p->idle);
  SLP_CHECK(named->name.n < sizeof p->name && named->arn.n < sizeof p->arn);
  memcpy(p->name, named->name.p, named->name.n);
  if (named->arn.n) memcpy(p->arn, named->arn.p, named->arn.n);
}
