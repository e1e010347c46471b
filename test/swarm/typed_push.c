/* typed_push.c - a worker's end of the typed seam: subscriptions. An event is asked for by a call of its own
 * that is answered at once, with an event, the end, or "not yet"; so the network's faults strike between any
 * two events, and a frozen worker asks for nothing. The call names the subscription and the place, and can be
 * repeated. */
#include "swarm/typed_inside.h"

#include "sloop.h"

#define ASK_AGAIN_US 400000u /* after "not yet": so late comes a record at most */

typedef struct typed_sub {
  slp_ops *ops;
  slp_mem *mem; /* the simulation's */
  slp_host *h;
  slp_op_subscribe *op;
  slp_http http;
  slp_buf ask, into, place;
  slp_page *page; /* for the next event; NULL: nobody wants one */
  slp_timer timer;
  uint64_t id;
  uint8_t asking; /* a call is out */
} typed_sub;

static void sub_free(typed_sub *u) {
  slp_timer_clear(u->h, &u->timer);
  u->op->op.impl = NULL;
  slp_buf_free(&u->ask);
  slp_buf_free(&u->into);
  slp_buf_free(&u->place);
  slp_free(u->mem, u);
}

static void over(typed_sub *u, const slp_fail *fail) {
  slp_op_subscribe *op = u->op;
  if (u->page) slp_page_reset(u->page);
  op->op.fail = *fail;
  op->op.done_us = slp_now_us(u->h);
  sub_free(u);
  op->op.on_done(&op->op);
}

static void unreadable(typed_sub *u) {
  slp_fail fail = {0};
  slp_fail_set(&fail, SLP_TRANSIENT, SLOOP_EPROTO, "an answer that can't be read");
  over(u, &fail);
}

static void send(typed_sub *u, char what, slp_buf *into, void (*on_done)(slp_http *)) {
  u->http = (slp_http){.lane = SLP_LANE_PUSH,
                       .method = "POST",
                       .url = SLP_TYPED_KINESIS,
                       .into = into,
                       .may_grow = what == SLP_TYPED_EVENT ? u->http.may_grow : NULL,
                       .on_done = on_done,
                       .body = slp_buf_str(&u->ask)};
  u->asking = 1;
  slp_http_send(u->h, &u->http);
}

static void ask(typed_sub *u);

static void on_event(slp_http *http) {
  typed_sub *u = SLP_OWNER(http, typed_sub, http);
  slp_op_subscribe *op = u->op;
  slp_page *page = u->page;
  slp_fail fail;
  u->asking = 0;
  if (slp_typed_failure(http, &fail) != SLP_FINE) {
    over(u, &fail);
    return;
  }
  slp_msg m = slp_msg_of(slp_buf_str(&page->body));
  size_t bytes = page->body.n;
  uint64_t kind = slp_msg_open(&m) ? SLP_TYPED_BROKEN : slp_msg_take_u64(&m);
  if (kind == SLP_TYPED_OVER) {
    slp_fail_clear(&fail);
    over(u, &fail);
  } else if (kind == SLP_TYPED_NOT_YET) {
    slp_page_reset(page);
    SLP_CHECK(slp_timer_set(u->h, &u->timer, slp_after_us(slp_now_us(u->h), ASK_AGAIN_US)) == 0);
  } else if (kind != SLP_TYPED_IS_EVENT) {
    unreadable(u);
  } else {
    slp_buf_clear(&u->place);
    SLP_CHECK(slp_buf_add_str(&u->place, slp_msg_take_str(&m)) == 0);
    int r = slp_typed_take_page(page, &m);
    if (r) {
      unreadable(u);
      return;
    }
    op->event_us = http->sent_us;
    op->event_bytes = bytes;
    u->page = NULL;
    op->on_event(op); /* the last thing: it may cancel */
  }
}

static int may_grow(slp_http *http, size_t more) {
  typed_sub *u = SLP_OWNER(http, typed_sub, http);
  return !u->op->may_grow || u->op->may_grow(u->op, more); /* what the page holds is counted already */
}

static void ask(typed_sub *u) {
  if (u->asking || !u->page || !u->op->opened) return;
  char what = SLP_TYPED_EVENT;
  slp_timer_clear(u->h, &u->timer);
  slp_buf_clear(&u->ask);
  SLP_CHECK(slp_buf_add(&u->ask, &what, 1) == 0);
  slp_msg_u64(&u->ask, u->id);
  slp_msg_str(&u->ask, slp_buf_str(&u->place));
  u->http.may_grow = may_grow;
  send(u, what, &u->page->body, on_event);
}

static void on_timer(slp_timer *timer) { ask(SLP_OWNER(timer, typed_sub, timer)); }

static void on_opened(slp_http *http) {
  typed_sub *u = SLP_OWNER(http, typed_sub, http);
  slp_fail fail;
  u->asking = 0;
  u->op->op.sent_us = http->sent_us;
  u->op->op.date_ms = http->date_ms;
  if (slp_typed_failure(http, &fail) != SLP_FINE) {
    over(u, &fail);
    return;
  }
  slp_msg m = slp_msg_of(slp_buf_str(&u->into));
  if (slp_msg_open(&m)) {
    unreadable(u);
    return;
  }
  u->id = slp_msg_take_u64(&m);
  SLP_CHECK(slp_buf_add_str(&u->place, slp_msg_take_str(&m)) == 0);
  u->op->opened = 1;
  ask(u);
}

int slp_typed_subscribe(slp_mem *mem, slp_host *h, slp_ops *ops, slp_op_subscribe *op) {
  typed_sub *u = SLP_NEW(mem, typed_sub);
  char what = SLP_TYPED_SUBSCRIBE;
  SLP_CHECK(u);
  u->ops = ops;
  u->mem = mem;
  u->h = h;
  u->op = op;
  u->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  op->op.impl = u;
  op->op.date_ms = -1;
  op->op.sent_us = op->op.done_us = 0;
  op->opened = 0;
  slp_buf_init(&u->ask, mem, SIZE_MAX / 2);
  slp_buf_init(&u->into, mem, SIZE_MAX / 2);
  slp_buf_init(&u->place, mem, SIZE_MAX / 2);
  SLP_CHECK(slp_buf_add(&u->ask, &what, 1) == 0);
  slp_msg_str(&u->ask, op->consumer_arn);
  slp_msg_str(&u->ask, op->shard);
  slp_msg_u64(&u->ask, (uint64_t)op->kind);
  slp_msg_str(&u->ask, op->seq);
  slp_msg_u64(&u->ask, (uint64_t)op->at_ms);
  send(u, what, &u->into, on_opened);
  return 0;
}

void slp_typed_next_event(slp_ops *ops, slp_op_subscribe *op, slp_page *page) {
  typed_sub *u = op->op.impl;
  (void)ops;
  SLP_CHECK(u && !u->page && page);
  u->page = page;
  ask(u);
}

void slp_typed_resume_events(slp_ops *ops, slp_op_subscribe *op) {
  typed_sub *u = op->op.impl;
  (void)ops;
  if (u && u->asking) slp_http_resume(u->h, &u->http);
}

void slp_typed_unsubscribe(slp_ops *ops, slp_op_subscribe *op) {
  typed_sub *u = op->op.impl;
  (void)ops;
  if (!u) return;
  if (u->asking) slp_http_cancel(u->h, &u->http);
  sub_free(u);
}
