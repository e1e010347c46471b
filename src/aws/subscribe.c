/* subscribe.c - runs a subscription, from the request to its last event.
 *
 * ASKED --the first byte of an answer with status 200--> READING
 * READING --an event is complete, and there is a page--> PARSING --the page is handed out--> READING
 *
 * When the connection is over, `left` is set. Complete events are still handed out, then on_done is called.
 *
 * Bytes are read from the connection only while there is a page for the next event, and no complete event is
 * waiting. So the budget of the shard's reader includes all bytes that are kept here, except for one piece
 * that curl has received. */
#include "aws/subscribe.h"

#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/call.h"
#include "aws/classify.h"
#include "aws/hide.h"
#include "aws/json_members.h"
#include "aws/limits.h"
#include "aws/ops.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/states.h"
#include "codec/eventstream.h"
#include "codec/json_write.h"
#include "codec/page.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

#define SLICE_BYTES (64u * 1024)
#define SLICE_RECORDS 256u
/* How many bytes of the next event may come with the end of an event: the most that curl passes on once. */
#define PIECE_BYTES (16u * 1024)
/* An event that is announced with more bytes than this gets room for them only as they come. */
#define ANNOUNCED_MAX (4u * 1024 * 1024)
/* Bytes before a payload that are made spaces, instead of moving the payload to the front. */
#define SPACES_MAX 1024u
/* The assumed longest delay between the creation of an event and its arrival. If it were longer, an event
 * could get too early a place in the order across shards. Kinesis' own delay is 70 ms on average (Developer
 * Guide, "Develop enhanced fan-out consumers"). */
#define EVENT_DELAY_US 500000u
/* After a pause, the connection contains events that were created during the pause. An event that arrives
 * within CATCH_UP_US after the pause may be one of these. A pause of up to LONG_PAUSE_US is ignored. */
#define CATCH_UP_US 2000000u
#define LONG_PAUSE_US 200000u

typedef enum { ASKED, READING, PARSING } sub_state;

typedef struct subscription {
  slp_call call;
  slp_aws *aws; /* the subscription holds a reference */
  slp_op_subscribe *op;
  sub_state state;
  uint8_t left;   /* 1: the call is over, with its outcome in `fail`; complete events may still be waiting */
  uint8_t handed; /* 1: at least one event was handed out */
  uint8_t paused; /* 1: no bytes have been read from the connection since paused_us */
  uint64_t paused_us;
  /* held_us, held_until_us: beginning and end of the last pause that was longer than LONG_PAUSE_US; 0: there
   * was none */
  uint64_t held_us, held_until_us;
  slp_fail fail;
  slp_buf request, in;
  slp_event_reader events;
  slp_page_reader *reader;
  slp_page *page; /* the page for the next event; NULL: core wants no event */
  slp_event step;
  slp_timer silence;
} subscription;

static const slp_set allowed[] = {
    [ASKED] = SLP_BIT(READING),
    [READING] = SLP_BIT(PARSING),
    [PARSING] = SLP_BIT(READING),
};

static void move(subscription *u, sub_state to) { SLP_MOVE(allowed, u->state, to); }

static subscription *sub_of(slp_call *c) { return SLP_OWNER(c, subscription, call); }

static void sub_free(subscription *u) {
  slp_aws *aws = u->aws;
  slp_mem *mem = aws->h->mem;
  slp_unpost(&u->step);
  slp_timer_clear(aws->h, &u->silence);
  slp_call_free(&u->call);
  slp_page_reader_free(u->reader);
  slp_buf_free(&u->request);
  slp_buf_free(&u->in);
  slp_free(mem, u);
  slp_aws_drop(aws);
}

/* ---- pausing ------------------------------------------------------------------------------------------- */
static void note_pause_begin(subscription *u) {
  if (u->paused) return;
  u->paused = 1;
  u->paused_us = slp_now_us(u->aws->h);
}

static void go_on(subscription *u) {
  if (!u->paused) return;
  u->paused = 0;
  uint64_t now = slp_now_us(u->aws->h);
  if (now - u->paused_us > LONG_PAUSE_US) {
    u->held_us = u->paused_us;
    u->held_until_us = now;
  }
  if (u->call.state == SLP_CALL_SENT) slp_http_resume(u->aws->h, &u->call.http);
}

/* Returns 1 if a complete message has arrived, or enough bytes of a damaged message to refuse it. The first
 * 12 bytes contain the message's length, which the reader checks. A damaged message may have a length below
 * 12. */
static int has_whole(const subscription *u) {
  size_t n = u->in.n - u->events.at;
  if (n < 12) return 0;
  const uint8_t *p = (const uint8_t *)u->in.p + u->events.at;
  return n >= ((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

static int may_grow(slp_http *http, size_t more) {
  subscription *u = sub_of(SLP_OWNER(http, slp_call, http));
  if (http->status != 200) return 1;
  if (u->page && u->state != PARSING && !has_whole(u) &&
      (!u->op->may_grow || u->op->may_grow(u->op, u->in.n + more))) {
    u->op->pending = 1;
    return 1;
  }
  note_pause_begin(u);
  return 0;
}

/* ---- the end ------------------------------------------------------------------------------------------- */
static void end_subscription(subscription *u) {
  slp_op_subscribe *op = u->op;
  slp_secrets secrets = slp_call_secrets(&u->call);
  slp_hide_fail(&secrets, &u->fail);
  op->op.fail = u->fail;
  op->op.done_us = slp_now_us(u->aws->h);
  op->op.impl = NULL;
  slp_call_cancel(&u->call);
  sub_free(u);
  op->op.on_done(&op->op);
}

static void fail_subscription(subscription *u, slp_class class, int code, const char *why) {
  slp_fail_clear(&u->fail);
  slp_fail_set(&u->fail, class, code, "%s", why);
  end_subscription(u);
}

/* Ends the subscription after a message in the stream that is an exception or an error. */
static void end_by_error_message(subscription *u, const slp_event_message *m, slp_str name) {
  slp_remedy remedy;
  char type[160];
  snprintf(type, sizeof type, "%.*s", (int)slp_min_u64(name.n, 150), name.p ? name.p : "");
  slp_str said = slp_event_text(m, ":error-message");
  slp_bad_answer bad = {.status = 400,
                        .error_type = type,
                        .request_id = u->call.http.request_id,
                        .body = said.p ? said : m->payload,
                        .secrets = slp_call_secrets(&u->call)};
  if (slp_classify_name(slp_str_of(type), 500, &remedy) == SLP_TRANSIENT) bad.status = 500;
  slp_classify(&bad, &u->fail, &remedy);
  end_subscription(u);
}

/* ---- events -------------------------------------------------------------------------------------------- */
/* Returns the earliest time at which the event may have been created. */
static uint64_t made_us(const subscription *u) {
  uint64_t now = slp_now_us(u->aws->h);
  uint64_t at = now > EVENT_DELAY_US ? now - EVENT_DELAY_US : 0;
  if (u->held_us && now < u->held_until_us + CATCH_UP_US) at = slp_min_u64(at, u->held_us);
  return slp_max_u64(at, u->call.http.sent_us);
}

/* Moves the payload of an event to the page without copying it. The page gets the memory of u->in. u->in gets
 * the page's old memory, with a copy of the bytes that follow the event. The event's head in front of the
 * payload becomes spaces, which JSON allows there. Returns 0 or SLP_ENOMEM. */
static int take_payload(subscription *u, slp_str payload) {
  slp_buf *in = &u->in, *body = &u->page->body;
  size_t end = u->events.at, rest = in->n - end, at = (size_t)(payload.p - in->p);
  slp_buf_clear(body);
  if (slp_buf_reserve(body, rest ? rest : 1)) return SLP_ENOMEM;
  if (rest) memcpy(body->p, in->p + end, rest);
  char *p = in->p;
  size_t cap = in->cap;
  in->p = body->p;
  in->cap = body->cap;
  in->n = rest;
  if (at <= SPACES_MAX)
    memset(p, ' ', at);
  else
    memmove(p, p + at, payload.n);
  body->p = p;
  body->cap = cap;
  body->n = payload.n + (at <= SPACES_MAX ? at : 0);
  u->op->event_bytes = end;
  u->aws->stats.bytes_in += end;
  slp_event_dropped(&u->events, end);
  return 0;
}

static void drop_read(subscription *u) {
  size_t end = u->events.at;
  u->aws->stats.bytes_in += end;
  u->in.n -= end;
  memmove(u->in.p, u->in.p + end, u->in.n);
  slp_event_dropped(&u->events, end);
  u->op->pending = u->in.n > 0;
}

static void on_step(slp_event *ev);

/* Parses a slice of the event. Returns 1 if the whole page is parsed. Returns 0 if parsing continues in a
 * later turn, or if the subscription is over. */
static int parse_event_slice(subscription *u) {
  char text[200];
  int r = slp_page_read(u->reader, SLICE_BYTES, SLICE_RECORDS);
  if (r == SLP_MORE) {
    slp_post(u->aws->h, &u->step);
  } else if (r) {
    slp_page_reset(u->page);
    snprintf(text, sizeof text, "an event can't be read: %s", slp_page_reader_why(u->reader));
    fail_subscription(u, r == SLP_ENOMEM ? SLP_NOMEM : SLP_TRANSIENT, r == SLP_ENOMEM ? r : SLOOP_EPROTO,
                      text);
  }
  return r == 0;
}

static void hand_out(subscription *u) {
  move(u, READING);
  u->page = NULL;
  u->op->pending = u->in.n > 0;
  u->handed = 1;
  note_pause_begin(u);
  if (u->left) slp_post(u->aws->h, &u->step);
  /* must be the last statement, because on_event may cancel and free the subscription */
  u->op->on_event(u->op);
}

/* Handles one message. Returns 1 if the next message may be handled now. */
static int handle_event_message(subscription *u, const slp_event_message *m) {
  slp_str kind = slp_event_text(m, ":message-type");
  if (slp_str_is(kind, "exception")) {
    end_by_error_message(u, m, slp_event_text(m, ":exception-type"));
    return 0;
  }
  if (slp_str_is(kind, "error")) {
    end_by_error_message(u, m, slp_event_text(m, ":error-code"));
    return 0;
  }
  if (!slp_str_is(slp_event_text(m, ":event-type"),
                  "SubscribeToShardEvent")) { /* an initial response, or an unknown kind of event */
    drop_read(u);
    return 1;
  }
  if (take_payload(u, m->payload)) {
    fail_subscription(u, SLP_NOMEM, SLP_ENOMEM, "no memory for an event");
    return 0;
  }
  u->op->event_us = made_us(u);
  move(u, PARSING);
  slp_page_reader_begin(u->reader, u->page, SLP_FORM_JSON);
  if (parse_event_slice(u)) hand_out(u);
  return 0;
}

/* Makes room for an event whose length is known: for all of it if that is at most ANNOUNCED_MAX. The length
 * is only announced, so a larger event gets ANNOUNCED_MAX first, and twice the room whenever it is full.
 * Without memory for it, the room grows as bytes come. */
static void reserve_for_event(subscription *u) {
  slp_buf *in = &u->in;
  size_t whole = u->events.at + u->events.total + PIECE_BYTES, room = whole;
  if (u->events.total <= PIECE_BYTES || whole <= in->cap || whole > in->max) return;
  if (whole > ANNOUNCED_MAX) {
    if (in->cap >= ANNOUNCED_MAX && in->cap - in->n >= PIECE_BYTES)
      return; /* there is room for the next piece */
    room = slp_min_u64(whole, slp_max_u64(ANNOUNCED_MAX, 2 * (uint64_t)in->cap));
  }
  (void)slp_buf_reserve_exactly(in, room - in->n);
}

static void advance_subscription(subscription *u) {
  slp_event_message m;
  int r = SLP_MORE;
  if (u->state == ASKED) return;
  if (u->state == PARSING) {
    if (parse_event_slice(u)) hand_out(u);
    return;
  }
  while (u->page && (r = slp_event_read(&u->events, u->in.p, u->in.n, &m)) == 0) {
    if (!handle_event_message(u, &m)) return;
  }
  if (r < 0) {
    fail_subscription(u, SLP_TRANSIENT, SLOOP_EPROTO, u->events.why);
  } else if (u->left && (r == SLP_MORE && (u->page || !has_whole(u)))) {
    if (u->fail.class == SLP_FINE && u->in.n)
      slp_fail_set(&u->fail, SLP_TRANSIENT, SLOOP_EPROTO, "the subscription ended within an event");
    end_subscription(u);
  } else if (u->page) {
    /* A page has come. Reading was paused because a complete message was waiting for a page; the message is
     * handled now. */
    reserve_for_event(u);
    go_on(u);
  }
}

static void on_step(slp_event *ev) { advance_subscription(SLP_OWNER(ev, subscription, step)); }

/* ---- the call ------------------------------------------------------------------------------------------ */
static void restart_silence_timer(subscription *u) {
  slp_timer_set(u->aws->h, &u->silence,
                slp_after_us(slp_now_us(u->aws->h), (uint64_t)SLP_SUBSCRIPTION_SILENT_MS * 1000));
}

/* Ends a subscription that was silent. http.content_type shows whether the service accepted it. This member
 * is set as soon as the answer's headers have arrived, while http.status is set only at the first byte of the
 * body. */
static void give_up_silent(subscription *u) {
  int head = u->call.http.status == 200 || strstr(u->call.http.content_type, "eventstream") != NULL;
  u->op->silent = 1;
  fail_subscription(u, SLP_TRANSIENT, SLP_ETIMEDOUT,
                    u->handed ? "nothing came from the subscription for 30 s"
                    : head    ? "the subscription was accepted, and no event came in 30 s"
                              : "no answer to the subscription came in 30 s");
}

static void on_silence(slp_timer *timer) {
  subscription *u = SLP_OWNER(timer, subscription, silence);
  if (u->left || u->paused || u->state == PARSING)
    restart_silence_timer(u);
  else
    give_up_silent(u);
}

static void note_subscription_opened(subscription *u) {
  if (u->state != ASKED) return;
  move(u, READING);
  u->op->opened = 1;
  u->op->op.date_ms = u->call.http.date_ms;
  u->op->op.sent_us = u->call.http.sent_us;
}

static void on_more(slp_call *c) {
  subscription *u = sub_of(c);
  restart_silence_timer(u);
  if (c->http.status != 200) return;
  note_subscription_opened(u);
  advance_subscription(u);
}

static void on_body(slp_call *c, int begin) {
  (void)begin;
  note_subscription_opened(sub_of(c));
  slp_call_good(c);
}

static void on_done(slp_call *c) {
  subscription *u = sub_of(c);
  u->fail = c->fail;
  slp_name_right(&u->fail, "kinesis:", c->target, u->op->consumer_arn);
  u->left = 1;
  if (c->http.status == 200)
    note_subscription_opened(u); /* the connection may have broken before on_more could be called */
  if (u->state == ASKED) {
    u->op->op.sent_us = c->http.sent_us;
    u->op->op.date_ms = c->http.date_ms;
    end_subscription(u);
  } else {
    advance_subscription(u);
  }
}

static int put_request(slp_buf *b, const slp_op_subscribe *op) {
  slp_jw w = slp_jw_begin(b);
  slp_put_text(&w, "ConsumerARN", op->consumer_arn);
  slp_put_text(&w, "ShardId", op->shard);
  slp_jw_object(&w, "StartingPosition");
  slp_jw_z(&w, "Type", slp_iter_kind_name(op->kind));
  if (op->kind == SLP_ITER_AT_SEQ || op->kind == SLP_ITER_AFTER_SEQ)
    slp_put_text(&w, "SequenceNumber", op->seq);
  if (op->kind == SLP_ITER_AT_TIME) slp_put_seconds(&w, "Timestamp", op->at_ms);
  slp_jw_object_end(&w);
  return slp_jw_object_end(&w);
}

/* Ends a subscription whose request could not be written, because there is no memory. Runs in a later
 * turn. */
static void on_unsent(slp_event *ev) {
  subscription *u = SLP_OWNER(ev, subscription, step);
  slp_fail_set(&u->fail, SLP_NOMEM, SLP_ENOMEM, "no memory for a subscription");
  end_subscription(u);
}

int slp_subscribe_begin(slp_aws *aws, slp_op_subscribe *op) {
  slp_mem *mem = aws->h->mem;
  op->op.date_ms = -1;
  op->op.sent_us = op->op.done_us = 0;
  op->opened = op->silent = op->pending = 0;
  subscription *u = SLP_NEW(mem, subscription);
  if (!u) return SLP_ENOMEM;
  slp_aws_hold(aws);
  u->aws = aws;
  u->op = op;
  op->op.impl = u;
  u->step.run = on_step;
  u->silence = (slp_timer){.at_us = UINT64_MAX, .run = on_silence};
  slp_call_init(&u->call, aws);
  slp_buf_init(&u->request, mem, 8192);
  slp_buf_init(&u->in, mem, SLP_SUBSCRIPTION_BYTES_MAX);
  u->reader = slp_page_reader_new(mem);
  if (!u->reader || put_request(&u->request, op)) {
    u->step.run = on_unsent;
    slp_post(aws->h, &u->step);
    return 0;
  }
  slp_call *c = &u->call;
  c->svc = SLP_SVC_KINESIS;
  c->lane = SLP_LANE_PUSH;
  c->arn = op->consumer_arn;
  c->target = SLP_STR("Kinesis_20131202.SubscribeToShard");
  /* the request is in JSON: for this call, Kinesis answers a request in CBOR with status 500 */
  c->content_type = SLP_STR("application/x-amz-json-1.1");
  c->body = slp_buf_str(&u->request);
  c->total_ms_max = SLP_SUBSCRIPTION_MS_MAX;
  /* one try: the reader of the shard itself subscribes again, from the place that it has reached by then */
  c->tries_max = 1;
  c->keeps_secrets = 1; /* the last message may be read, and quoted, after the connection has ended */
  c->into = &u->in;
  c->may_grow = may_grow;
  c->on_more = on_more;
  c->on_body = on_body;
  c->on_done = on_done;
  restart_silence_timer(u);
  slp_call_send(c);
  return 0;
}

void slp_subscribe_next(slp_op_subscribe *op, slp_page *page) {
  subscription *u = op->op.impl;
  SLP_CHECK(u && !u->page && page);
  u->page = page;
  go_on(u);
  if (u->left || has_whole(u)) slp_post(u->aws->h, &u->step);
}

void slp_subscribe_resume(slp_op_subscribe *op) {
  subscription *u = op->op.impl;
  if (u && u->page && u->state != PARSING) go_on(u);
}

void slp_subscribe_cancel(slp_op_subscribe *op) {
  subscription *u = op->op.impl;
  if (!u) return;
  op->op.impl = NULL;
  slp_call_cancel(&u->call);
  sub_free(u);
}
