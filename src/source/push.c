/* push.c - one subscription for each shard that is read, renewed before the service ends it, and resumed
 * after the continuation number of the last event.
 *
 * CLOSED --a page is wanted--> WAITING --its time has come--> OPEN
 * OPEN --over, given up, or due for renewal--> CLOSED
 * OPEN --consumer, shard or stream is gone--> ASKING --which of them is known--> CLOSED
 *
 * An event is a page. A cursor is a position as text: "oldest", "latest", "time:MS", "at:NUMBER",
 * "after:NUMBER", or the bare continuation number that an event gave. That one text is the service's: only
 * digits are let in, and the words of ours begin with letters. A fetch whose cursor is where the open
 * subscription stands gets its next event; any other cursor begins a new one, as does a fetch that asks for
 * that. */
#include "source/push.h"

#include "aws/limits.h"
#include "base/map.h"
#include "base/num.h"
#include "sloop.h"
#include "source/kinesis_poll.h"
#include "source/later.h"
#include "source/push_consumer.h"

#include <stdio.h>

/* The service allows one call a second for each consumer and shard, and refuses one that comes within five
 * seconds of the last one that it took (API reference, SubscribeToShard). */
#define CALL_US 1000000u
#define TAKEN_US 5000000u
/* A subscription lives five minutes. Renewed before that at an event of its own, it leaves no gap in time;
 * up to half a minute earlier, so that those begun together do not end together. */
#define RENEW_US (270u * 1000000u)
#define RENEW_JITTER_US (30u * 1000000u)
#define CURSOR_MAX 160u
_Static_assert(CURSOR_MAX > sizeof "after:" + SLP_SEQ_MAX, "there is room for every number");
/* The number of an idle shard grows from event to event at the service. Where it stands still for so long,
 * the shard may be closed, and the server not one to say so: kinesis-mock 0.6.2 goes on with empty events. */
#define UNMOVED_US 8000000u

typedef enum { CLOSED, WAITING, OPEN, ASKING } sub_state;

typedef struct push push;
typedef struct sub { /* of a shard */
  push *p;
  sub_state state;
  slp_op_subscribe op;
  slp_src_fetch *fetch;   /* that waits for an event; NULL: none */
  slp_expander *expander; /* while the event's aggregates are expanded */
  char at[CURSOR_MAX];    /* where it stands */
  uint64_t moved_us;      /* since then it stands there */
  uint64_t asked_us;      /* the last call */
  uint64_t taken_us;      /* the last one that the service took */
  uint64_t renew_us;
  uint8_t events; /* one came since it was opened */
  slp_timer timer;
  char shard[]; /* NUL-ended */
} sub;

struct push {
  slp_source s; /* first: closing it frees the block */
  slp_host *h;
  slp_ops *ops;
  slp_source *poll; /* owned */
  slp_finding finding;
  slp_src_describe inner; /* the poll's */
  uint8_t describing;     /* it is out */
  slp_src_req *describes; /* that wait for it, linked by impl: core's, and an operator's beside it */
  slp_map subs;           /* shard id -> sub */
  slp_later later;        /* what is answered without a call: positions, descriptions */
  uint8_t or_poll;
  char stream_arn[512];
  char consumer_arn[sizeof((slp_finding *)0)->arn]; /* "": not found yet */
  char consumer[129];
};

static push *push_of(slp_source *s) { return SLP_OWNER(s, push, s); }

#define BIT(state) (1u << (state))
static void move(sub *u, sub_state to) {
  static const unsigned allowed[] = {
      [CLOSED] = BIT(WAITING),
      [WAITING] = BIT(OPEN) | BIT(CLOSED),
      [OPEN] = BIT(CLOSED) | BIT(ASKING),
      [ASKING] = BIT(CLOSED),
  };
  SLP_CHECK(allowed[u->state] & BIT(to));
  slp_timer_clear(u->p->h, &u->timer);
  u->state = to;
}

/* ---- cursors ------------------------------------------------------------------------------------------- */
static int put_cursor(const slp_position *from, char out[CURSOR_MAX]) {
  switch (from->kind) {
    case SLP_POSITION_LATEST: return snprintf(out, CURSOR_MAX, "latest");
    case SLP_POSITION_TIME: return snprintf(out, CURSOR_MAX, "time:%lld", (long long)from->at_ms);
    case SLP_POSITION_AT: return snprintf(out, CURSOR_MAX, "at:%.*s", (int)from->mark.seq_n, from->mark.seq);
    case SLP_POSITION_AFTER:
      return snprintf(out, CURSOR_MAX, "after:%.*s", (int)from->mark.seq_n, from->mark.seq);
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_NONE:
    case SLP_POSITION_END: break; /* core asks for neither */
  }
  return snprintf(out, CURSOR_MAX, "oldest");
}

static void take_cursor(slp_op_subscribe *op, const char *at) {
  const char *colon = strchr(at, ':');
  slp_str rest = slp_str_of(colon ? colon + 1 : at);
  if (strcmp(at, "oldest") == 0) {
    op->kind = SLP_ITER_OLDEST;
  } else if (strcmp(at, "latest") == 0) {
    op->kind = SLP_ITER_LATEST;
  } else if (strncmp(at, "time:", 5) == 0) {
    op->kind = SLP_ITER_AT_TIME;
    SLP_CHECK(slp_parse_i64(rest, &op->at_ms) == 0);
  } else {
    op->kind = strncmp(at, "at:", 3) == 0 ? SLP_ITER_AT_SEQ : SLP_ITER_AFTER_SEQ;
    op->seq = rest;
  }
}

/* ---- answering ----------------------------------------------------------------------------------------- */
static void answer(sub *u) {
  slp_src_fetch *f = u->fetch;
  u->fetch = NULL;
  f->rq.impl = NULL;
  f->rq.on_done(&f->rq);
}

static void fail_fetch(sub *u, const slp_fail *fail) {
  slp_page_reset(u->fetch->page);
  u->fetch->rq.fail = *fail;
  u->fetch->rq.sent_us = u->asked_us;
  u->fetch->rq.done_us = slp_now_us(u->p->h);
  u->fetch->rq.date_ms = u->op.op.date_ms;
  answer(u);
}

static void close_sub(sub *u) {
  if (u->state == OPEN) u->p->ops->unsubscribe(u->p->ops, &u->op);
  if (u->state != CLOSED) move(u, CLOSED);
}

/* ---- subscribing --------------------------------------------------------------------------------------- */
static int may_grow(slp_op_subscribe *op, size_t bytes) {
  sub *u = SLP_OWNER(op, sub, op);
  return u->fetch && (!u->fetch->may_grow || u->fetch->may_grow(u->fetch, bytes));
}

static void on_event(slp_op_subscribe *op);
static void on_over(slp_op *op);

static void subscribe(sub *u) {
  push *p = u->p;
  slp_fail fail = {0};
  u->asked_us = slp_now_us(p->h);
  u->renew_us = slp_after_us(u->asked_us, RENEW_US - slp_random_below(p->h, RENEW_JITTER_US));
  u->events = 0;
  u->op = (slp_op_subscribe){.op = {.on_done = on_over},
                             .consumer_arn = slp_str_of(p->consumer_arn),
                             .shard = slp_str_of(u->shard),
                             .may_grow = may_grow,
                             .on_event = on_event};
  take_cursor(&u->op, u->at);
  if (p->ops->subscribe(p->ops, &u->op)) {
    move(u, CLOSED);
    slp_fail_set(&fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
    fail_fetch(u, &fail);
    return;
  }
  move(u, OPEN);
  p->ops->next_event(p->ops, &u->op, u->fetch->page);
}

/* Always from the turn queue: nothing may be answered from inside a fetch. */
static void on_timer(slp_timer *timer) { subscribe(SLP_OWNER(timer, sub, timer)); }

static void begin(sub *u) {
  uint64_t now = slp_now_us(u->p->h), at_us = now;
  slp_fail fail = {0};
  if (u->asked_us) at_us = slp_max_u64(at_us, u->asked_us + CALL_US);
  if (u->taken_us) at_us = slp_max_u64(at_us, u->taken_us + TAKEN_US);
  move(u, WAITING);
  if (slp_timer_set(u->p->h, &u->timer, at_us) == 0) return;
  move(u, CLOSED);
  slp_fail_set(&fail, SLP_NOMEM, SLP_ENOMEM, "no memory to wait for a subscription");
  fail_fetch(u, &fail);
}

/* ---- events -------------------------------------------------------------------------------------------- */
static void hand_out(sub *u) {
  push *p = u->p;
  int stays = u->at[0] && slp_now_us(p->h) < u->renew_us;
  if (!stays && u->state == OPEN)
    close_sub(u); /* at an event of its own: nothing is lost, nothing comes twice */
  answer(u);
}

static void on_expanded(slp_expander *x, int r) {
  sub *u = x->arg;
  slp_kinesis_poll_expanded(u->p->poll, x);
  u->expander = NULL;
  if (r)
    slp_fail_set(&u->fetch->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory to expand the aggregates of a page");
  hand_out(u);
}

/* The service ends a shard by an event with children and no number to go on after. Others give both
 * (ferrokinesis 0.7): as long as records come with them, or may come, it is no end; without any it is, for a
 * closed shard gets no more. */
static void judge_end(slp_page *page) {
  if (!page->next.n || !page->children_n) return;
  if (page->recs_n || page->behind_ms) {
    page->children_n = 0;
  } else {
    page->next = (slp_str){NULL, 0};
  }
}

static int stands_still(sub *u, const slp_page *page) {
  uint64_t now = slp_now_us(u->p->h);
  if (page->recs_n || page->behind_ms || page->children_n || !slp_str_is(page->next, u->at))
    u->moved_us = now;
  return now - u->moved_us >= UNMOVED_US;
}

/* "Latest" was when the service took the subscription: asked for once more, it would be another moment. */
static int is_spent(const sub *u) {
  return strcmp(u->at, "latest") == 0 && (u->op.opened || !u->op.op.fail.http_status);
}

/* What it came with is dropped, to be asked for again from where this event began. */
static void refuse_number(sub *u, slp_str number) {
  slp_fail fail = {0};
  slp_fail_set(&fail, is_spent(u) ? SLP_EXPIRED : SLP_TRANSIENT, SLOOP_EPROTO,
               "an event's ContinuationSequenceNumber is no number of at most %d digits: %.*s", SLP_SEQ_MAX,
               (int)slp_min_u64(number.n, SLP_SEQ_MAX + 1), number.p);
  close_sub(u);
  fail_fetch(u, &fail);
}

static void on_event(slp_op_subscribe *op) {
  sub *u = SLP_OWNER(op, sub, op);
  slp_src_fetch *f = u->fetch;
  slp_page *page = f->page;
  if (!u->events) {
    u->taken_us = slp_now_us(u->p->h);
    f->rq.date_ms = op->op.date_ms;
  }
  f->follows = u->events;
  f->rq.sent_us = u->events ? op->event_us : op->op.sent_us; /* the answer's Date is of that call */
  u->events = 1;
  f->rq.done_us = slp_now_us(u->p->h);
  f->body_bytes = op->event_bytes;
  judge_end(page);
  if (page->next.n && (page->next.n > SLP_SEQ_MAX || !slp_num_valid(page->next))) {
    refuse_number(u, page->next);
    return;
  }
  f->still = stands_still(u, page);
  if (page->next.n) memcpy(u->at, page->next.p, page->next.n);
  u->at[page->next.n] = 0;
  int r = slp_kinesis_poll_expand(u->p->poll, page, slp_str_of(u->shard), &u->expander, on_expanded, u);
  if (r == SLP_MORE) return;
  if (r) slp_fail_set(&f->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory to expand the aggregates of a page");
  hand_out(u);
}

/* ---- the consumer is gone, or the shard ---------------------------------------------------------------- */
/* The service names neither. Its consumer is looked for again, and made where it was deregistered. */
static void ask_who_is_gone(sub *u) {
  push *p = u->p;
  move(u, ASKING);
  if (p->finding.state == SLP_FINDING_IDLE) slp_finding_begin(&p->finding, p->stream_arn);
}

/* What an ASKING shard's reader is told; it asks again, and where that was all of a place, begins anew. */
static slp_fail who_is_gone(const push *p, const sub *u, int changed) {
  slp_fail fail = {0};
  if (p->finding.fail.class != SLP_FINE && p->s.pushes) {
    fail = p->finding.fail;
  } else if (!changed) {
    fail = u->op.op.fail;
  } else {
    slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EREMOTE, "consumer %s was deregistered while it was read by; %s",
                 p->consumer, p->s.pushes ? "it is registered anew" : "polling from now on");
  }
  return fail;
}

static void tell_asking(push *p, int changed) {
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL;) {
    if (u->state != ASKING) continue;
    slp_fail fail = who_is_gone(p, u, changed);
    move(u, CLOSED);
    if (changed && is_spent(u)) fail.class = SLP_EXPIRED;
    fail_fetch(u, &fail);
    at = 0; /* the answer may have ended any of them */
  }
}

static void on_over(slp_op *op) {
  sub *u = SLP_OWNER(op, sub, op.op);
  slp_fail fail = op->fail;
  int ended = fail.class == SLP_FINE;
  if (u->op.opened && !u->events) u->taken_us = slp_now_us(u->p->h);
  if (fail.class == SLP_GONE && u->fetch && !u->expander) {
    ask_who_is_gone(u);
    return;
  }
  move(u, CLOSED);
  if (!u->fetch || u->expander) return; /* the next fetch begins a new one */
  if (is_spent(u)) {
    slp_fail_set(&fail, SLP_EXPIRED, SLOOP_EREMOTE, "the subscription ended before its first event");
    fail.class = SLP_EXPIRED;
    fail_fetch(u, &fail);
  } else if (ended && (u->events || !u->op.opened)) {
    begin(u);
  } else {
    if (ended) slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EPROTO, "the subscription ended without an event");
    /* Another subscription is in its first five seconds: an owner before us, or ours of a moment ago. */
    if (fail.class == SLP_BUSY) fail.retry_after_us = TAKEN_US;
    fail_fetch(u, &fail);
  }
}

/* ---- core's requests ----------------------------------------------------------------------------------- */
static void on_described(slp_src_req *rq);
static void on_found(slp_finding *f);

static void do_describe(slp_source *s, slp_src_describe *rq) {
  push *p = push_of(s);
  int begun = p->describes != NULL;
  rq->rq.impl = p->describes;
  p->describes = &rq->rq;
  if (begun) return;
  p->inner = (slp_src_describe){.rq = {.on_done = on_described}};
  p->describing = 1;
  p->poll->ops->describe(p->poll, &p->inner);
}

/* The answer is for all that wait. */
static void described(push *p) {
  for (slp_src_req *rq; (rq = p->describes) != NULL;) {
    slp_src_describe *d = SLP_OWNER(rq, slp_src_describe, rq);
    void (*on_done)(slp_src_req *) = rq->on_done;
    p->describes = rq->impl;
    *d = p->inner;
    rq->on_done = on_done;
    slp_later_add(&p->later, rq);
  }
}

static void on_described(slp_src_req *rq) {
  push *p = SLP_OWNER(rq, push, inner.rq);
  p->describing = 0;
  p->s.told[0] = 0;
  int decided = !p->s.pushes || p->consumer_arn[0];
  if (rq->fail.class != SLP_FINE || !p->inner.ready ||
      (decided && strcmp(p->stream_arn, p->inner.arn) == 0)) {
    described(p);
    return;
  }
  if (p->finding.state != SLP_FINDING_IDLE) return; /* its end answers this too */
  snprintf(p->stream_arn, sizeof p->stream_arn, "%s", p->inner.arn);
  p->consumer_arn[0] = 0;
  slp_finding_begin(&p->finding, p->stream_arn);
}

static void on_found(slp_finding *f) {
  push *p = SLP_OWNER(f, push, finding);
  int lasts = slp_class_lasts(f->fail.class) || f->fail.class == SLP_BUSY;
  int changed = f->fail.class != SLP_FINE || strcmp(p->consumer_arn, f->arn) != 0;
  if (f->fail.class == SLP_FINE) {
    snprintf(p->consumer_arn, sizeof p->consumer_arn, "%s", f->arn);
    snprintf(p->s.told, sizeof p->s.told, "retrieval: push as consumer %s%s", p->consumer,
             f->registered ? ", which is new" : "");
  } else if (p->or_poll && lasts) {
    p->s.pushes = 0;
    snprintf(p->s.told, sizeof p->s.told, "retrieval: poll, because of %s", f->fail.message);
  } else if (p->describes && !p->describing) {
    p->inner.rq.fail = f->fail;
    p->stream_arn[0] = 0; /* asked for again with the next description */
  }
  /* Those that asked for the description which began this may have left, and others wait for a new one. */
  if (!p->describing) described(p);
  tell_asking(p, changed);
}

static void do_list(slp_source *s, slp_src_list *rq) { push_of(s)->poll->ops->list(push_of(s)->poll, rq); }

static void do_locate(slp_source *s, slp_src_locate *rq) {
  push *p = push_of(s);
  char text[CURSOR_MAX];
  if (!p->s.pushes) {
    p->poll->ops->locate(p->poll, rq);
    return;
  }
  slp_fail_clear(&rq->rq.fail);
  rq->rq.sent_us = rq->rq.done_us = slp_now_us(p->h);
  rq->rq.date_ms = -1;
  put_cursor(&rq->from, text);
  slp_buf_clear(&rq->cursor);
  if (slp_buf_add_z(&rq->cursor, text))
    slp_fail_set(&rq->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a position");
  slp_later_add(&p->later, &rq->rq);
}

static sub *sub_for(push *p, slp_str shard) {
  sub *u = slp_map_get(&p->subs, shard);
  if (u) return u;
  u = slp_zalloc(p->h->mem, sizeof *u + shard.n + 1);
  if (!u) return NULL;
  u->p = p;
  u->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  memcpy(u->shard, shard.p, shard.n);
  if (slp_map_put(&p->subs, (slp_str){u->shard, shard.n}, u)) {
    slp_free(p->h->mem, u);
    return NULL;
  }
  return u;
}

static void sub_free(sub *u) {
  push *p = u->p;
  SLP_CHECK(!u->fetch);
  close_sub(u);
  slp_map_remove(&p->subs, slp_str_of(u->shard));
  slp_free(p->h->mem, u);
}

static void do_fetch(slp_source *s, slp_src_fetch *rq) {
  push *p = push_of(s);
  sub *u = p->s.pushes ? sub_for(p, rq->shard) : slp_map_get(&p->subs, rq->shard);
  rq->still = rq->follows = 0;
  if (!p->s.pushes && !u) {
    p->poll->ops->fetch(p->poll, rq);
    return;
  }
  slp_fail_clear(&rq->rq.fail);
  rq->rq.date_ms = -1;
  rq->body_bytes = 0;
  if (!u || !p->s.pushes) { /* answered as a position is: in the next turn */
    if (u)
      slp_fail_set(&rq->rq.fail, SLP_EXPIRED, SLOOP_EREMOTE, "it is polled now: another kind of cursor");
    else
      slp_fail_set(&rq->rq.fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
    if (u) sub_free(u);
    rq->rq.sent_us = rq->rq.done_us = slp_now_us(p->h);
    slp_later_add(&p->later, &rq->rq);
    return;
  }
  SLP_CHECK(!u->fetch && rq->cursor.n < CURSOR_MAX);
  u->fetch = rq;
  rq->rq.impl = u;
  if (!slp_str_is(rq->cursor, u->at)) u->moved_us = slp_now_us(p->h);
  if (u->state == OPEN && slp_str_is(rq->cursor, u->at) && !rq->anew) {
    p->ops->next_event(p->ops, &u->op, rq->page);
    return;
  }
  close_sub(u);
  memcpy(u->at, rq->cursor.p, rq->cursor.n);
  u->at[rq->cursor.n] = 0;
  begin(u);
}

static sub *fetching(push *p, const slp_src_req *rq) {
  size_t at = 0;
  sub *u;
  while ((u = slp_map_each(&p->subs, &at))) {
    if (u->fetch && &u->fetch->rq == rq) return u;
  }
  return NULL;
}

static void do_resume(slp_source *s, slp_src_fetch *rq) {
  push *p = push_of(s);
  if (!p->s.pushes) {
    p->poll->ops->resume(p->poll, rq);
    return;
  }
  sub *u = fetching(p, &rq->rq);
  if (u && u->state == OPEN) p->ops->resume_events(p->ops, &u->op);
}

static void cancel_fetch(sub *u) {
  if (u->expander) {
    slp_kinesis_poll_expanded(u->p->poll, u->expander);
    u->expander = NULL;
  }
  close_sub(u);
  u->fetch->rq.impl = NULL;
  u->fetch = NULL;
}

/* 1: it waited for a description of the stream. */
static int cancel_describe(push *p, slp_src_req *rq) {
  slp_src_req *it = p->describes;
  while (it && it != rq && it->impl != rq) it = it->impl;
  if (!it) return 0;
  if (it == rq)
    p->describes = rq->impl;
  else
    it->impl = rq->impl;
  rq->impl = NULL;
  if (p->describes) return 1;
  p->poll->ops->cancel(p->poll, &p->inner.rq); /* what is found meanwhile is kept */
  p->describing = 0;
  return 1;
}

static void do_cancel(slp_source *s, slp_src_req *rq) {
  push *p = push_of(s);
  if (cancel_describe(p, rq)) return;
  if (slp_later_cancel(&p->later, rq)) return;
  sub *u = fetching(p, rq);
  if (u)
    cancel_fetch(u);
  else
    p->poll->ops->cancel(p->poll, rq);
}

static void do_leave(slp_source *s, slp_str shard) {
  sub *u = slp_map_get(&push_of(s)->subs, shard);
  if (u) sub_free(u);
}

static int is_listening(slp_source *s, const slp_src_fetch *rq) {
  const sub *u = push_of(s)->s.pushes ? rq->rq.impl : NULL;
  return u && u->state == OPEN && u->fetch == rq && u->events && !u->op.pending && !u->expander;
}

static void do_close(slp_source *s) {
  push *p = push_of(s);
  SLP_CHECK(!p->describes);
  slp_later_end(&p->later);
  slp_finding_stop(&p->finding);
  size_t at = 0;
  for (sub *u; (u = slp_map_each(&p->subs, &at)) != NULL; at = 0) sub_free(u);
  slp_map_free(&p->subs);
  p->poll->ops->close(p->poll);
  slp_free(p->h->mem, p);
}

static const slp_source_ops push_ops = {
    .describe = do_describe,
    .list = do_list,
    .locate = do_locate,
    .fetch = do_fetch,
    .resume = do_resume,
    .cancel = do_cancel,
    .leave = do_leave,
    .is_listening = is_listening,
    .close = do_close,
};

int slp_push_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_source *poll, const char *consumer,
                 int or_poll) {
  push *p = SLP_NEW(h->mem, push);
  if (!p) return SLP_ENOMEM;
  p->s = *poll;
  p->s.ops = &push_ops;
  p->s.pushes = 1;
  p->h = h;
  p->ops = ops;
  p->poll = poll;
  p->or_poll = (uint8_t)or_poll;
  slp_later_init(&p->later, p->h);
  snprintf(p->consumer, sizeof p->consumer, "%s", consumer);
  slp_map_init(&p->subs, h->mem);
  slp_finding_init(&p->finding, h, ops, p->consumer);
  p->finding.on_done = on_found;
  *ret = &p->s;
  return 0;
}
