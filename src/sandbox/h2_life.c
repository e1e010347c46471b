/* h2_life.c - the states of a stream, the bytes that a connection sends, and the end of both. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "host/host.h"
#include "sandbox/h2_inside.h"

#define FRAME_MAX (32u << 10)

static const slp_set allowed[SLP_H2_STATES] = {
    [SLP_H2_COMING] = SLP_BIT(SLP_H2_WHOLE) | SLP_BIT(SLP_H2_ANSWERING) | SLP_BIT(SLP_H2_OVER),
    [SLP_H2_WHOLE] = SLP_BIT(SLP_H2_SERVING) | SLP_BIT(SLP_H2_OVER),
    [SLP_H2_SERVING] =
        SLP_BIT(SLP_H2_ANSWERING) | SLP_BIT(SLP_H2_STREAMING) | SLP_BIT(SLP_H2_GONE) | SLP_BIT(SLP_H2_OVER),
    [SLP_H2_ANSWERING] = SLP_BIT(SLP_H2_OVER),
    [SLP_H2_STREAMING] = SLP_BIT(SLP_H2_ENDING) | SLP_BIT(SLP_H2_GONE) | SLP_BIT(SLP_H2_OVER),
    [SLP_H2_ENDING] = SLP_BIT(SLP_H2_OVER),
    [SLP_H2_GONE] = SLP_BIT(SLP_H2_OVER),
    [SLP_H2_OVER] = 0,
};

void slp_h2_stream_move(slp_h2_stream *st, slp_h2_state to) { SLP_MOVE(allowed, st->state, to); }

size_t slp_h2_counted(const slp_buf *b) { return b->cap > SLP_H2_FREE_BYTES ? b->cap : 0; }

static void uncount_request(slp_h2_stream *st) {
  if (st->c && st->c->raw) st->c->raw->held -= slp_h2_counted(&st->body);
}

void slp_h2_request_free(slp_h2_stream *st) {
  uncount_request(st);
  slp_buf_free(&st->head);
  slp_buf_free(&st->body);
}

void slp_h2_stream_over(slp_h2_stream *st) {
  if (st->c && st->state == SLP_H2_ANSWERING) st->c->unsent -= st->answer.n - st->sent;
  slp_h2_stream_move(st, SLP_H2_OVER);
  slp_h2_request_free(st);
  slp_buf_free(&st->answer);
  slp_unpost(&st->ev);
  slp_list_remove(&st->link);
  slp_list_remove(&st->turn);
  slp_free(st->mem, st);
}

void slp_h2_stream_left(slp_h2_stream *st) {
  if (st->state != SLP_H2_SERVING && st->state != SLP_H2_STREAMING) {
    slp_h2_stream_over(st);
    return;
  }
  slp_h2_stream_move(st, SLP_H2_GONE);
  uncount_request(st); /* the request is not freed, because the front may still use it */
  slp_buf_free(&st->answer);
  slp_list_remove(&st->link);
  st->c = NULL;
  slp_post(st->host, &st->ev);
}

/* ---- the end of a connection -------------------------------------------------------------------------- */
/* Frees the connection, unless a function that uses it is still running (`busy`). */
void slp_h2_conn_free(slp_h2_conn *c) {
  if (!c->busy) slp_free(c->mem, c);
}

void slp_h2_conn_let_go(slp_h2_conn *c) {
  for (slp_list *it; (it = slp_list_first(&c->streams)) != NULL;)
    slp_h2_stream_left(SLP_OWNER(it, slp_h2_stream, link));
  nghttp2_session_del(c->session);
  slp_unpost(&c->ev);
  slp_list_remove(&c->link);
  c->raw = NULL;
  slp_h2_conn_free(c);
}

void slp_h2_conn_end(slp_h2_conn *c, slp_raw_end how) {
  slp_raw *raw = c->raw;
  slp_h2_conn_let_go(c);
  slp_raw_close(raw, how);
}

/* ---- sending ------------------------------------------------------------------------------------------ */
void slp_h2_conn_kick(slp_h2_conn *c) { slp_post(c->host, &c->ev); }

void slp_h2_conn_send(slp_h2_conn *c) {
  slp_buf out;
  if (c->writing || c->broken) return;
  slp_buf_init(&out, c->mem, SLP_H2_PIECE + FRAME_MAX);
  while (!c->cut && out.n < SLP_H2_PIECE) {
    const uint8_t *p;
    ssize_t n = nghttp2_session_mem_send(c->session, &p);
    if (n == 0) break;
    if (n < 0 || slp_buf_add(&out, p, (size_t)n)) {
      c->broken = 1;
      break;
    }
  }
  if (!out.n) return;
  c->writing = 1;
  slp_raw_write(c->raw, &out);
}
