/* uv_raw.c - the functions that the listener's user calls for a connection that began with the listener's
 * preface: to write, to turn reading on or off, and to close. While the user has such a connection its state
 * is SLP_CONN_RAW, or SLP_CONN_RAW_GONE until on_gone has run. The user's callbacks are called by raw_event()
 * of uv_listen.c, in a turn. */
#include "base/buf.h"
#include "host/host.h"
#include "host/uv_conn.h"
#include "host/uv_host.h"

static void post_raw_written(slp_conn *c) {
  slp_buf_free(&c->body);
  c->wrote = 1;
  slp_post(&c->li->u->host, &c->ev);
}

static void on_raw_written(uv_write_t *rq, int status) {
  slp_conn *c = rq->data;
  if (c->state != SLP_CONN_RAW) return; /* the connection was closed while its bytes were written */
  if (status < 0)
    slp_conn_gone(c);
  else
    post_raw_written(c);
}

void slp_uv_raw_write(slp_raw *raw, slp_buf *bytes) {
  slp_conn *c = SLP_OWNER(raw, slp_conn, raw);
  uv_stream_t *stream = (uv_stream_t *)&c->tcp;
  if (c->state != SLP_CONN_RAW) { /* the connection is gone, and on_gone will be called */
    slp_buf_free(bytes);
    return;
  }
  SLP_CHECK(!c->body.p && !c->wrote && bytes->n > 0);
  c->body.max = 0;
  slp_buf_move(&c->body, bytes);
  c->out[0] = uv_buf_init(c->body.p, (unsigned)c->body.n);
  int r = uv_try_write(stream, c->out, 1);
  if (r >= 0 && (size_t)r == c->body.n) {
    post_raw_written(c);
    return;
  }
  if (r > 0) c->out[0] = uv_buf_init(c->body.p + r, (unsigned)(c->body.n - (size_t)r));
  c->write.data = c;
  if ((r < 0 && r != UV_EAGAIN) || uv_write(&c->write, stream, c->out, 1, on_raw_written)) slp_conn_gone(c);
}

void slp_uv_raw_read(slp_raw *raw, int on) {
  slp_conn *c = SLP_OWNER(raw, slp_conn, raw);
  if (c->state != SLP_CONN_RAW || on == !c->deaf) return;
  c->deaf = !on;
  if (on) {
    slp_post(&c->li->u->host, &c->ev); /* hands over the bytes that have come, and continues to read */
  } else if (c->reading) {
    uv_read_stop((uv_stream_t *)&c->tcp);
    c->reading = 0;
  }
}

int slp_uv_raw_has_room(slp_raw *raw, size_t more) {
  return slp_conn_has_room(SLP_OWNER(raw, slp_conn, raw)->li, NULL, more);
}

void slp_uv_raw_close(slp_raw *raw, slp_raw_end how) {
  slp_conn *c = SLP_OWNER(raw, slp_conn, raw);
  SLP_CHECK(c->state == SLP_CONN_RAW || c->state == SLP_CONN_RAW_GONE);
  raw->held = 0;
  c->deaf = 0;
  if (c->state == SLP_CONN_RAW_GONE || how == SLP_RAW_NOW)
    slp_conn_close(c);
  else if (how == SLP_RAW_LINGER)
    slp_conn_linger(c);
  else
    slp_conn_reset_later(c);
}
