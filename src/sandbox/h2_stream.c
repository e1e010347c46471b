/* h2_stream.c - one request of HTTP/2 and its answer. The request is collected, within limits. The answer is
 * given to nghttp2 as far as the peer's flow control allows. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/date.h"
#include "host/host.h"
#include "host/http_request.h"
#include "sandbox/h2_inside.h"

#include <stdio.h>

#define ANSWER_HEADERS_MAX 16

/* ---- creating and freeing ----------------------------------------------------------------------------- */

static void on_stream_event(slp_event *ev) {
  slp_h2_stream *st = SLP_OWNER(ev, slp_h2_stream, ev);
  if (st->state == SLP_H2_GONE && st->served.on_gone) {
    void (*on_gone)(slp_served * rq) = st->served.on_gone;
    on_gone(&st->served);
    slp_h2_stream_over(st);
  } else if (st->state == SLP_H2_STREAMING && st->sent == st->answer.n && st->served.on_sent) {
    st->served.on_sent(&st->served);
  }
}

static slp_str header_of(slp_served *rq, const char *name);

slp_h2_stream *slp_h2_stream_new(slp_h2_conn *c, int32_t id) {
  slp_h2_stream *st = SLP_NEW(c->mem, slp_h2_stream);
  if (!st) return NULL;
  st->c = c;
  st->mem = c->mem;
  st->host = c->host;
  st->id = id;
  st->stop_at = SIZE_MAX;
  st->ev.run = on_stream_event;
  st->served.listener = c->raw->listener;
  st->served.by = &slp_h2_serve_ops;
  st->served.header = header_of;
  slp_buf_init(&st->head, c->mem, 2 * SLP_REQUEST_HEAD_MAX);
  slp_buf_init(&st->body, c->mem, c->raw->listener->body_max);
  slp_buf_init(&st->answer, c->mem, 0);
  slp_list_add_last(&c->streams, &st->link);
  return st;
}

/* ---- the request -------------------------------------------------------------------------------------- */
int slp_h2_stream_field(slp_h2_stream *st, slp_str name, slp_str value) {
  /* RFC 9113 section 6.5.2 counts 32 bytes for each field in addition to its text. `head` already contains 2
   * of them, the NULs. */
  size_t list_n = st->head.n + 30 * st->fields_n + name.n + value.n + 32;
  if (list_n > SLP_REQUEST_HEAD_MAX || st->fields_n == SLP_REQUEST_HEADERS_MAX) st->too_large = 1;
  if (st->too_large) return 0;
  st->fields_n++;
  slp_buf_add_str(&st->head, name);
  slp_buf_add_char(&st->head, 0);
  slp_buf_add_str(&st->head, value);
  return slp_buf_add_char(&st->head, 0);
}

/* Returns the first field with this name. Fields can't contain a NUL, because nghttp2 refuses them. */
static slp_str field_of(const slp_h2_stream *st, const char *name) {
  const char *p = st->head.p;
  for (size_t i = 0; i < st->fields_n; i++) {
    const char *value = p + strlen(p) + 1;
    slp_str text = slp_str_of(value);
    if (strcmp(p, name) == 0) return text;
    p = value + text.n + 1;
  }
  return (slp_str){NULL, 0};
}

static slp_str header_of(slp_served *rq, const char *name) {
  const slp_h2_stream *st = SLP_OWNER(rq, slp_h2_stream, served);
  slp_str authority = strcmp(name, "host") == 0 ? field_of(st, ":authority") : (slp_str){NULL, 0};
  return authority.p ? authority : field_of(st, name);
}

static nghttp2_nv make_header_pair(slp_str name, slp_str value) {
  return (nghttp2_nv){(uint8_t *)(uintptr_t)name.p, (uint8_t *)(uintptr_t)value.p, name.n, value.n,
                      NGHTTP2_NV_FLAG_NONE};
}

/* Answers a request that is not accepted. The rest of the request is received and ignored. A reset (RFC 9113,
 * 8.1) would spare the peer from sending the rest, but curl 7.88 loses an answer that comes before a
 * reset. */
static int refuse_h2_request(slp_h2_stream *st, const char *status) {
  nghttp2_nv head[] = {make_header_pair(SLP_STR(":status"), slp_str_of(status)),
                       make_header_pair(SLP_STR("content-length"), SLP_STR("0"))};
  slp_h2_stream_move(st, SLP_H2_ANSWERING);
  slp_h2_request_free(st);
  return nghttp2_submit_response(st->c->session, st->id, head, SLP_COUNT(head), NULL);
}

int slp_h2_stream_head_end(slp_h2_stream *st) {
  uint64_t length;
  if (st->too_large) return refuse_h2_request(st, "431");
  slp_str announced = field_of(st, "content-length");
  if (announced.p && !slp_parse_u64(announced, &length) && length > st->body.max)
    return refuse_h2_request(st, "413");
  if (!slp_str_is(field_of(st, "expect"), "100-continue")) return 0;
  nghttp2_nv go_on = make_header_pair(SLP_STR(":status"), SLP_STR("100"));
  return nghttp2_submit_headers(st->c->session, NGHTTP2_FLAG_NONE, st->id, NULL, &go_on, 1, NULL);
}

int slp_h2_stream_data(slp_h2_stream *st, slp_str bytes) {
  slp_raw *raw = st->c->raw;
  size_t n = st->body.n + bytes.n, was = slp_h2_counted(&st->body);
  if (n > st->body.max) return refuse_h2_request(st, "413");
  /* 2 * n, because the buffer doubles when it grows */
  if (n > SLP_H2_FREE_BYTES && n > st->body.cap && !slp_raw_has_room(raw, 2 * n))
    return refuse_h2_request(st, "503");
  int r = slp_buf_add_str(&st->body, bytes);
  raw->held += slp_h2_counted(&st->body) - was;
  return r;
}

void slp_h2_stream_whole(slp_h2_stream *st) {
  slp_h2_stream_move(st, SLP_H2_WHOLE);
  st->served.method = field_of(st, ":method");
  st->served.path = field_of(st, ":path");
  st->served.body = slp_buf_str(&st->body);
  slp_list_add_last(&st->c->whole, &st->turn);
  slp_h2_conn_kick(st->c);
}

void slp_h2_stream_hand_over(slp_h2_stream *st) {
  slp_listener *l = st->served.listener;
  slp_list_remove(&st->turn);
  slp_h2_stream_move(st, SLP_H2_SERVING);
  l->on_request(l, &st->served);
}

/* ---- the answer --------------------------------------------------------------------------------------- */
/* Gives nghttp2 the next bytes of an answer. */
static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
                           nghttp2_data_source *source, void *user) {
  slp_h2_stream *st = source->ptr;
  size_t end = (size_t)slp_min_u64(st->answer.n, st->stop_at), n = end - st->sent;
  (void)session;
  (void)id;
  (void)user;
  if (n > room) n = room;
  if (n) memcpy(to, st->answer.p + st->sent, n);
  st->sent += n;
  if (st->state == SLP_H2_ANSWERING) st->c->unsent -= n;
  if (st->state == SLP_H2_STREAMING) {
    st->served.waiting = st->answer.n - st->sent;
    if (n && !st->served.waiting) slp_post(st->host, &st->ev); /* post the event that calls on_sent */
  } else if (st->sent == st->answer.n) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  if (st->sent == st->stop_at) st->c->cut = 1;
  if (n || (*flags & NGHTTP2_DATA_FLAG_EOF)) return (ssize_t)n;
  st->deferred = 1;
  return NGHTTP2_ERR_DEFERRED;
}

static void go_on(slp_h2_stream *st) {
  if (st->deferred && nghttp2_session_resume_data(st->c->session, st->id)) st->c->broken = 1;
  st->deferred = 0;
  slp_h2_conn_kick(st->c);
}

/* Sends the headers of an answer. `length` SIZE_MAX: the length of the body is not known yet. */
static int send_head(slp_h2_stream *st, const slp_serve_answer *a, size_t length) {
  nghttp2_nv head[ANSWER_HEADERS_MAX];
  char status[8], date[30], digits[24];
  size_t n = 0;
  SLP_CHECK(a->headers_n + 3 <= ANSWER_HEADERS_MAX);
  slp_date_http(a->date_ms == -1 ? slp_wall_ms(st->host) : a->date_ms, date);
  snprintf(status, sizeof status, "%03d", a->status);
  snprintf(digits, sizeof digits, "%zu", length);
  head[n++] = make_header_pair(SLP_STR(":status"), slp_str_of(status));
  for (size_t i = 0; i < a->headers_n; i++)
    head[n++] = make_header_pair(a->headers[i].name, a->headers[i].value);
  head[n++] = make_header_pair(SLP_STR("date"), slp_str_of(date));
  if (length != SIZE_MAX && a->status != 204)
    head[n++] = make_header_pair(SLP_STR("content-length"), slp_str_of(digits));
  nghttp2_data_provider from = {.source = {.ptr = st}, .read_callback = read_answer};
  return nghttp2_submit_response(st->c->session, st->id, head, n,
                                 st->answer.n || length == SIZE_MAX ? &from : NULL);
}

/* Breaks the connection, before the answer of st or in the middle of it. */
static void drop_h2_connection(slp_h2_stream *st) {
  slp_h2_conn *c = st->c;
  slp_h2_conn_send(c); /* sends what the front has added so far; may close the stream */
  if (st->c) nghttp2_session_set_stream_user_data(c->session, st->id, NULL);
  slp_h2_stream_over(st);
  slp_h2_conn_end(c, SLP_RAW_NOW);
}

/* Called when the front answers a request whose peer has left. Frees the answer and the stream. */
static void serve_nobody(slp_h2_stream *st, const slp_serve_answer *a) {
  if (a && a->body) slp_buf_free(a->body);
  slp_h2_stream_over(st);
}

static void serve_h2_answer(slp_served *rq, const slp_serve_answer *a) {
  slp_h2_stream *st = SLP_OWNER(rq, slp_h2_stream, served);
  slp_h2_conn *c = st->c;
  if (st->state == SLP_H2_GONE) {
    serve_nobody(st, a);
    return;
  }
  if (!a) {
    drop_h2_connection(st);
    return;
  }
  int head_only = slp_str_is(rq->method, "HEAD") || a->status == 204 || a->status == 304;
  size_t length = a->body ? a->body->n : 0;
  slp_h2_stream_move(st, SLP_H2_ANSWERING);
  if (a->body && !head_only)
    slp_buf_move(&st->answer, a->body);
  else if (a->body)
    slp_buf_free(a->body);
  c->unsent += st->answer.n;
  if (a->cut_after != SIZE_MAX) st->stop_at = (size_t)slp_min_u64(a->cut_after, st->answer.n);
  if (a->cut_after && send_head(st, a, length)) c->broken = 1;
  slp_h2_request_free(st); /* the request is freed only now, because the answer's headers may point into it */
  if (a->close &&
      nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                            nghttp2_session_get_last_proc_stream_id(c->session), NGHTTP2_NO_ERROR, NULL, 0))
    c->broken = 1;
  if (st->stop_at == 0) { /* no byte of the body will be sent, so read_answer can't set `cut` */
    slp_h2_conn_send(c);
    c->cut = 1;
  }
  slp_h2_conn_kick(c);
}

static int add_answer_bytes(slp_h2_stream *st, slp_str bytes) {
  slp_buf *b = &st->answer;
  if (st->sent == b->n) {
    slp_buf_clear(b);
    st->sent = 0;
  } else if (st->sent > b->n / 2) {
    memmove(b->p, b->p + st->sent, b->n - st->sent);
    slp_buf_cut(b, b->n - st->sent);
    st->sent = 0;
  }
  size_t before = b->n;
  int r = slp_buf_add_str(b, bytes);
  if (r) slp_buf_cut(b, before);
  st->served.waiting = b->n - st->sent;
  return r;
}

static void begin_h2_answer(slp_served *rq, const slp_serve_answer *a) {
  slp_h2_stream *st = SLP_OWNER(rq, slp_h2_stream, served);
  if (st->state == SLP_H2_GONE) return; /* on_gone of this request will be called */
  slp_h2_stream_move(st, SLP_H2_STREAMING);
  slp_buf_init(&st->answer, st->mem, UINT32_MAX);
  if ((a->body && add_answer_bytes(st, slp_buf_str(a->body))) || send_head(st, a, SIZE_MAX))
    st->c->broken = 1;
  slp_h2_conn_kick(st->c);
}

static int add_to_h2_answer(slp_served *rq, slp_str bytes) {
  slp_h2_stream *st = SLP_OWNER(rq, slp_h2_stream, served);
  if (st->state == SLP_H2_GONE) return 0;
  SLP_CHECK(st->state == SLP_H2_STREAMING);
  int r = bytes.n ? add_answer_bytes(st, bytes) : 0;
  if (!r && bytes.n) go_on(st);
  return r;
}

static void end_h2_answer(slp_served *rq) {
  slp_h2_stream *st = SLP_OWNER(rq, slp_h2_stream, served);
  if (st->state == SLP_H2_GONE) {
    slp_h2_stream_over(st);
    return;
  }
  slp_h2_stream_move(st, SLP_H2_ENDING);
  slp_unpost(&st->ev);
  go_on(st);
}

const slp_serve_ops slp_h2_serve_ops = {
    .serve = serve_h2_answer, .begin = begin_h2_answer, .more = add_to_h2_answer, .end = end_h2_answer};
