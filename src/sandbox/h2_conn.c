/* h2_conn.c - a connection of HTTP/2: moves bytes between the host and nghttp2, and hands requests to the
 * front one after the other.
 *
 * What one connection may use is limited:
 *   streams                          STREAMS_MAX
 *   the head of a request            SLP_REQUEST_HEAD_MAX
 *   the bodies of requests           the listener's limits
 *   complete answers                 ANSWERS_MAX: while more bytes wait to be sent, no request is handed over
 *   answers of subscriptions         the front's limit
 *   frames that nghttp2 has written  QUEUE_MAX: while more frames wait, no bytes of the peer are read
 * nghttp2 itself counts floods of PING, SETTINGS, RST_STREAM and CONTINUATION, and ends the connection. */
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/http_request.h"
#include "sandbox/front.h"
#include "sandbox/h2.h"
#include "sandbox/h2_inside.h"

#include <sloop_sandbox.h>

#define STREAMS_MAX 256
#define STREAM_WINDOW (1 << 20)
#define CONN_WINDOW (8 << 20)
#define ANSWERS_MAX (32u << 20)
#define QUEUE_MAX 2000 /* limit in frames: enough for an answer on each stream and for 1000 PINGs */
#define ACKS_MAX 1000
#define SETTINGS_MAX 32
#define CONTINUATIONS_MAX 8
#define RESETS_BURST 1000
#define RESETS_A_SECOND 100

static void on_raw_gone(slp_raw *raw) { slp_h2_conn_let_go(raw->user); }

/* ---- sending ------------------------------------------------------------------------------------------ */
/* Sends the bytes that nghttp2 has, and ends the connection if no more can be sent or read. */
static void send_or_end(slp_h2_conn *c) {
  slp_h2_conn_send(c);
  if (c->broken) {
    slp_h2_conn_end(c, c->writing ? SLP_RAW_NOW : SLP_RAW_LINGER);
  } else if (c->writing) {
    slp_raw_read(c->raw, nghttp2_session_get_outbound_queue_size(c->session) < QUEUE_MAX);
  } else if (c->cut) {
    slp_h2_conn_end(c, SLP_RAW_RESET);
  } else if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session)) {
    slp_h2_conn_end(c, SLP_RAW_LINGER);
  } else {
    slp_raw_read(c->raw, 1);
  }
}

/* ---- requests ----------------------------------------------------------------------------------------- */
static int may_hand_over(const slp_h2_conn *c) {
  return !slp_list_empty(&c->whole) && c->unsent < ANSWERS_MAX && !c->cut && !c->broken;
}

/* Hands one request over to the front. Sends nothing while further requests wait and less than SLP_H2_PIECE
 * is to be sent, so that one write carries several answers. */
static void on_conn_event(slp_event *ev) {
  slp_h2_conn *c = SLP_OWNER(ev, slp_h2_conn, ev);
  c->busy = 1;
  if (may_hand_over(c)) slp_h2_stream_hand_over(SLP_OWNER(slp_list_first(&c->whole), slp_h2_stream, turn));
  if (c->raw && may_hand_over(c) && c->unsent < SLP_H2_PIECE)
    slp_h2_conn_kick(c);
  else if (c->raw)
    send_or_end(c);
  if (c->raw && may_hand_over(c)) slp_h2_conn_kick(c);
  c->busy = 0;
  if (!c->raw) slp_h2_conn_free(c);
}

static void on_raw_written(slp_raw *raw) {
  slp_h2_conn *c = raw->user;
  c->writing = 0;
  slp_h2_conn_kick(c);
}

static void on_raw_bytes(slp_raw *raw, slp_str bytes) {
  slp_h2_conn *c = raw->user;
  if (c->broken) return;
  ssize_t n = nghttp2_session_mem_recv(c->session, (const uint8_t *)bytes.p, bytes.n);
  if (n < 0) c->broken = 1;
  slp_h2_conn_kick(c);
}

/* ---- what nghttp2 reads ------------------------------------------------------------------------------- */
/* Turns an error of slp_h2_stream_*() into an error for nghttp2. The only error is a lack of memory, which
 * ends the connection. */
static int result_of(int r) { return r ? NGHTTP2_ERR_CALLBACK_FAILURE : 0; }

static slp_h2_stream *stream_of(nghttp2_session *session, int32_t id) {
  return nghttp2_session_get_stream_user_data(session, id);
}

static int is_request(const nghttp2_frame *frame) {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
  if (!is_request(frame)) return 0;
  slp_h2_stream *st = slp_h2_stream_new(user, frame->hd.stream_id);
  if (!st) return NGHTTP2_ERR_CALLBACK_FAILURE;
  return result_of(nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, st));
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *user) {
  slp_h2_stream *st = stream_of(session, frame->hd.stream_id);
  (void)flags;
  (void)user;
  /* only fields of the head of a request count; trailers are ignored */
  if (!st || !is_request(frame) || st->state != SLP_H2_COMING) return 0;
  return result_of(slp_h2_stream_field(st, (slp_str){(const char *)name, name_n},
                                       (slp_str){(const char *)value, value_n}));
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *user) {
  slp_h2_stream *st = stream_of(session, id);
  (void)flags;
  (void)user;
  if (!st || st->state != SLP_H2_COMING) return 0;
  return result_of(slp_h2_stream_data(st, (slp_str){(const char *)p, n}));
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
  (void)user;
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  slp_h2_stream *st = stream_of(session, frame->hd.stream_id);
  if (!st || st->state != SLP_H2_COMING) return 0;
  int r = is_request(frame) ? slp_h2_stream_head_end(st) : 0;
  if (!r && st->state == SLP_H2_COMING && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) slp_h2_stream_whole(st);
  return result_of(r);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *user) {
  slp_h2_stream *st = stream_of(session, id);
  (void)error;
  (void)user;
  if (!st) return 0;
  nghttp2_session_set_stream_user_data(session, id, NULL);
  slp_h2_stream_left(st);
  return 0;
}

/* ---- the beginning of a connection -------------------------------------------------------------------- */
static void *mem_malloc(size_t n, void *user) { return slp_alloc(user, n); }
static void mem_free(void *p, void *user) { slp_free(user, p); }
static void *mem_calloc(size_t count, size_t each, void *user) { return slp_zalloc_n(user, count, each); }
static void *mem_realloc(void *p, size_t n, void *user) { return slp_realloc(user, p, n); }

static int new_session(slp_h2_conn *c) {
  nghttp2_mem mem = {c->mem, mem_malloc, mem_free, mem_calloc, mem_realloc};
  nghttp2_session_callbacks *cbs = NULL;
  nghttp2_option *option = NULL;
  int r = nghttp2_session_callbacks_new(&cbs);
  if (!r) r = nghttp2_option_new(&option);
  if (!r) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(cbs, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cbs, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cbs, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cbs, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cbs, on_stream_close);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, ACKS_MAX);
    nghttp2_option_set_max_settings(option, SETTINGS_MAX);
    nghttp2_option_set_max_continuations(option, CONTINUATIONS_MAX);
    nghttp2_option_set_stream_reset_rate_limit(option, RESETS_BURST, RESETS_A_SECOND);
    r = nghttp2_session_server_new3(&c->session, cbs, c, option, &mem);
  }
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(cbs);
  return r;
}

static int begin_h2_session(slp_h2_conn *c) {
  static const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, SLP_REQUEST_HEAD_MAX},
  };
  int r = new_session(c);
  if (!r) r = nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, SLP_COUNT(settings));
  if (!r) r = nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW);
  return r;
}

/* on_no_bytes and on_nothing serve a connection for which there was no memory. The connection is closed when
 * its first bytes arrive. */
static void on_no_bytes(slp_raw *raw, slp_str bytes) {
  (void)bytes;
  slp_raw_close(raw, SLP_RAW_NOW);
}
static void on_nothing(slp_raw *raw) { (void)raw; }

static void on_raw(slp_listener *l, slp_raw *raw) {
  sloop_sandbox_t *b = SLP_OWNER(l, sloop_sandbox_t, listener);
  slp_h2_conn *c = SLP_NEW(b->mem, slp_h2_conn);
  *raw = (slp_raw){
      .listener = l, .on_bytes = on_no_bytes, .on_written = on_nothing, .on_gone = on_nothing, .user = c};
  if (!c) return;
  c->mem = b->mem;
  c->host = b->host;
  c->raw = raw;
  c->ev.run = on_conn_event;
  slp_list_init(&c->streams);
  slp_list_init(&c->whole);
  slp_list_add_last(&b->h2.conns, &c->link);
  if (begin_h2_session(c)) {
    slp_h2_conn_let_go(c);
    return;
  }
  raw->on_bytes = on_raw_bytes;
  raw->on_written = on_raw_written;
  raw->on_gone = on_raw_gone;
}

void slp_h2_offer(slp_h2 *all, slp_listener *l) {
  slp_list_init(&all->conns);
  l->preface = SLP_STR(NGHTTP2_CLIENT_MAGIC);
  l->on_raw = on_raw;
}

void slp_h2_stop(slp_h2 *all) {
  for (slp_list *it; (it = slp_list_first(&all->conns)) != NULL;) {
    slp_h2_conn *c = SLP_OWNER(it, slp_h2_conn, link);
    if (!nghttp2_session_terminate_session(c->session, NGHTTP2_NO_ERROR)) slp_h2_conn_send(c);
    slp_h2_conn_end(c, SLP_RAW_NOW);
  }
}
