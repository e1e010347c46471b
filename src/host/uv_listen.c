/* uv_listen.c - an HTTP/1.1 server on libuv: connections, one request at a time on each, and answers whose
 * body is written without a copy. */
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/states.h"
#include "host/host.h"
#include "host/http_request.h"
#include "host/os.h"
#include "host/uv_conn.h"
#include "host/uv_host.h"

#include <errno.h>
#include <sys/socket.h>

#define BODY_MAX ((size_t)16 << 20) /* used if the listener sets no body_max */
#define READ_MIN (16u << 10)
#define READ_MAX (512u << 10)
/* A connection keeps buffers up to this size between requests. */
#define KEEP_MAX (64u << 10)
#define LINGER_US 1000000u
#define RESET_TRIES 2000u
/* While every connection is busy, up to BURST * conns_max are accepted. A new connection may be closed for
 * another one if its first byte does not come within GRACE_US. */
#define BURST 8
#define GRACE_US 50000u

static void conn_next(slp_conn *c);
static void stream_write(slp_conn *c);

static const slp_set conn_allowed[] = {
    [SLP_CONN_READING] = SLP_BIT(SLP_CONN_READY) | SLP_BIT(SLP_CONN_WRITING) | SLP_BIT(SLP_CONN_RAW) |
                         SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_READY] = SLP_BIT(SLP_CONN_SERVING) | SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_SERVING] = SLP_BIT(SLP_CONN_STREAMING) | SLP_BIT(SLP_CONN_WRITING) | SLP_BIT(SLP_CONN_GONE) |
                         SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_STREAMING] = SLP_BIT(SLP_CONN_STREAM_WRITES) | SLP_BIT(SLP_CONN_STREAM_ENDS) |
                           SLP_BIT(SLP_CONN_GONE) | SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_STREAM_WRITES] = SLP_BIT(SLP_CONN_STREAMING) | SLP_BIT(SLP_CONN_STREAM_ENDS) |
                               SLP_BIT(SLP_CONN_GONE) | SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_STREAM_ENDS] = SLP_BIT(SLP_CONN_WRITING) | SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_WRITING] = SLP_BIT(SLP_CONN_READING) | SLP_BIT(SLP_CONN_LINGERING) |
                         SLP_BIT(SLP_CONN_RESETTING) | SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_RAW] = SLP_BIT(SLP_CONN_LINGERING) | SLP_BIT(SLP_CONN_RESETTING) | SLP_BIT(SLP_CONN_RAW_GONE) |
                     SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_LINGERING] = SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_RESETTING] = SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_GONE] = SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_RAW_GONE] = SLP_BIT(SLP_CONN_CLOSED),
    [SLP_CONN_CLOSED] = 0,
};

static void move(slp_conn *c, slp_conn_state to) { SLP_MOVE(conn_allowed, c->state, to); }

static const slp_set listener_allowed[] = {
    [SLP_LISTENER_LISTENS] = SLP_BIT(SLP_LISTENER_CLOSES),
    [SLP_LISTENER_CLOSES] = SLP_BIT(SLP_LISTENER_CLOSED),
    [SLP_LISTENER_CLOSED] = 0,
};

static void move_listener(slp_uv_listener *li, slp_listener_state to) {
  SLP_MOVE(listener_allowed, li->state, to);
}

/* Returns 1 if the user works on a request of the connection, or has the whole (raw) connection. */
static int is_serving(const slp_conn *c) {
  return c->state == SLP_CONN_SERVING || c->state == SLP_CONN_STREAMING ||
         c->state == SLP_CONN_STREAM_WRITES || c->state == SLP_CONN_RAW;
}

/* Returns 1 if the peer left while the user had the connection, or a request of it. */
static int is_gone(const slp_conn *c) { return c->state == SLP_CONN_GONE || c->state == SLP_CONN_RAW_GONE; }

/* ---- closing --------------------------------------------------------------------------------- */
static void on_listener_closed_event(slp_event *ev) {
  slp_uv_listener *li = SLP_OWNER(ev, slp_uv_listener, closed);
  slp_listener *l = li->l;
  slp_uv_host *u = li->u;
  slp_list_remove(&li->link);
  slp_free(u->host.mem, li);
  slp_uv_drop(u);
  if (l->on_closed) l->on_closed(l);
}

static void listener_let_go(slp_uv_listener *li) {
  if (--li->open_n > 0) return;
  slp_uv_host *u = li->u;
  if (li->silent || u->closing) {
    slp_list_remove(&li->link);
    slp_free(u->host.mem, li);
    slp_uv_drop(u);
    return;
  }
  move_listener(li, SLP_LISTENER_CLOSED);
  li->closed.run = on_listener_closed_event;
  slp_post(&u->host, &li->closed);
}

static void on_connection(uv_stream_t *stream, int status);

static void conn_free(slp_conn *c) {
  slp_uv_listener *li = c->li;
  slp_mem *mem = li->u->host.mem;
  slp_timer_clear(&li->u->host, &c->timer);
  slp_unpost(&c->ev);
  slp_list_remove(&c->link);
  slp_buf_free(&c->in);
  slp_buf_free(&c->rq_bytes);
  slp_buf_free(&c->head);
  slp_buf_free(&c->body);
  slp_buf_free(&c->later);
  slp_free(mem, c);
  if (li->accept_pending && li->state == SLP_LISTENER_LISTENS) {
    li->accept_pending = 0;
    on_connection((uv_stream_t *)&li->tcp, 0);
  }
  listener_let_go(li);
}

static void on_conn_closed(uv_handle_t *handle) {
  slp_conn *c = handle->data;
  c->tcp_closed = 1;
  /* In GONE and RAW_GONE the user still has the request or the connection: slp_conn_close will free c. */
  if (c->state == SLP_CONN_CLOSED) conn_free(c);
}

static void conn_close_socket(slp_conn *c) {
  if (!uv_is_closing((uv_handle_t *)&c->tcp)) uv_close((uv_handle_t *)&c->tcp, on_conn_closed);
}

/* Closes the socket of a connection that is CLOSED. The connection is freed when its socket is closed. */
static void drop_closed_conn(slp_conn *c) {
  slp_unpost(&c->ev);
  slp_timer_clear(&c->li->u->host, &c->timer);
  if (c->tcp_closed)
    conn_free(c);
  else
    conn_close_socket(c);
}

void slp_conn_close(slp_conn *c) {
  move(c, SLP_CONN_CLOSED);
  drop_closed_conn(c);
}

/* Closes with RST instead of FIN, as clients see it from an overloaded or dying server. */
static void conn_reset(slp_conn *c) {
  move(c, SLP_CONN_CLOSED);
  slp_unpost(&c->ev);
  slp_timer_clear(&c->li->u->host, &c->timer);
  if (uv_tcp_close_reset(&c->tcp, on_conn_closed)) conn_close_socket(c);
}

/* Closes the socket, because the peer is gone while the user works on its request. on_gone is called in a
 * later turn. */
void slp_conn_gone(slp_conn *c) {
  move(c, c->state == SLP_CONN_RAW ? SLP_CONN_RAW_GONE : SLP_CONN_GONE);
  conn_close_socket(c);
  slp_post(&c->li->u->host, &c->ev);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void recycle_request_buffers(slp_conn *c) {
  slp_buf_free(&c->body);
  if (c->rq_bytes.cap > KEEP_MAX)
    slp_buf_free(&c->rq_bytes);
  else if (!c->in.p) {
    slp_buf_clear(&c->rq_bytes);
    slp_buf_move(&c->in, &c->rq_bytes);
  }
}

static void on_reset_timer(slp_timer *timer) {
  slp_conn *c = SLP_OWNER(timer, slp_conn, timer);
  uv_os_fd_t fd;
  /* Waits while the kernel still has bytes to send: a reset would throw them away, and cut the answer too
   * early. */
  if (++c->tries < RESET_TRIES && uv_fileno((uv_handle_t *)&c->tcp, &fd) == 0 && slp_os_unsent(fd) > 0) {
    slp_host *h = &c->li->u->host;
    if (slp_timer_set(h, &c->timer, slp_now_us(h) + 1000) == 0) return;
  }
  conn_reset(c);
}

void slp_conn_reset_later(slp_conn *c) {
  move(c, SLP_CONN_RESETTING);
  c->timer.run = on_reset_timer;
  on_reset_timer(&c->timer);
}

/* Sets the timer to the time when the connection will be too old. In SLP_CONN_READING, the timer also ends a
 * wait for a request that is too long. Returns 0 or SLP_ENOMEM. */
static int set_conn_timer(slp_conn *c) {
  slp_host *h = &c->li->u->host;
  const slp_listener *l = c->li->l;
  uint64_t at = l->conn_ms_max ? c->born_us + (uint64_t)l->conn_ms_max * 1000 : UINT64_MAX;
  if (c->state == SLP_CONN_READING && l->request_ms_max)
    at = slp_min_u64(at, slp_now_us(h) + (uint64_t)l->request_ms_max * 1000);
  if (at != UINT64_MAX) return slp_timer_set(h, &c->timer, at);
  slp_timer_clear(h, &c->timer);
  return 0;
}

static void on_too_old(slp_timer *timer) {
  slp_conn *c = SLP_OWNER(timer, slp_conn, timer);
  if (is_serving(c))
    slp_conn_gone(c);
  else if (!is_gone(c) && c->state != SLP_CONN_CLOSED)
    slp_conn_close(c);
}

static void on_linger_end(slp_timer *timer) { slp_conn_close(SLP_OWNER(timer, slp_conn, timer)); }

static void on_shutdown(uv_shutdown_t *rq, int status) {
  slp_conn *c = rq->data;
  if (c->state != SLP_CONN_LINGERING) return;
  if (status < 0 || c->eof) slp_conn_close(c);
}

/* Shuts down our side first, then reads and throws away what the peer still sends, for a while. Closing a
 * socket with unread bytes would send a reset, which may overtake the answer. */
void slp_conn_linger(slp_conn *c) {
  slp_host *h = &c->li->u->host;
  move(c, SLP_CONN_LINGERING);
  slp_buf_free(&c->in);
  c->timer.run = on_linger_end;
  c->shutdown.data = c;
  if (c->eof || slp_timer_set(h, &c->timer, slp_now_us(h) + LINGER_US) ||
      uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shutdown)) {
    slp_conn_close(c);
    return;
  }
  slp_conn_read_on(c);
}

static void conn_written(slp_conn *c) {
  if (c->cut) {
    slp_conn_reset_later(c);
    return;
  }
  recycle_request_buffers(c);
  if (c->close_after || c->eof) {
    slp_conn_linger(c);
    return;
  }
  move(c, SLP_CONN_READING);
  c->continued = 0;
  slp_request_begin(&c->rq);
  if (set_conn_timer(c)) {
    slp_conn_close(c);
    return;
  }
  slp_conn_read_on(c);
  /* The next request may have arrived already. It is read from the turn queue, so that a thousand small
   * requests in one segment do not pile up on the stack. */
  if (c->state == SLP_CONN_READING && c->in.n) slp_post(&c->li->u->host, &c->ev);
}

static void stream_written(slp_conn *c, int status) {
  if (status < 0 && c->state == SLP_CONN_STREAM_WRITES) {
    slp_conn_gone(c);
  } else if (status < 0) {
    slp_conn_close(c);
  } else {
    c->served.waiting -= c->body.n;
    stream_write(c);
  }
}

static void on_written(uv_write_t *rq, int status) {
  slp_conn *c = rq->data;
  if (c->state == SLP_CONN_STREAM_WRITES || c->state == SLP_CONN_STREAM_ENDS) {
    stream_written(c, status);
    return;
  }
  if (c->state != SLP_CONN_WRITING) return; /* the connection was closed while its answer was written */
  if (status < 0)
    slp_conn_close(c);
  else
    conn_written(c);
}

static void trim_written_bytes(uv_buf_t *bufs, size_t *n, size_t gone) {
  while (*n && gone >= bufs[0].len) {
    gone -= bufs[0].len;
    bufs[0] = bufs[1];
    --*n;
  }
  if (*n) {
    bufs[0].base += gone;
    bufs[0].len -= gone;
  }
}

static void conn_write(slp_conn *c, size_t cut_after) {
  uv_stream_t *stream = (uv_stream_t *)&c->tcp;
  size_t n = c->body.n ? 2 : 1, whole = c->head.n + c->body.n;
  move(c, SLP_CONN_WRITING);
  c->out[0] = uv_buf_init(c->head.p, (unsigned)c->head.n);
  c->out[1] = uv_buf_init(c->body.p, (unsigned)c->body.n);
  if (cut_after < whole) {
    c->cut = 1;
    if (cut_after <= c->head.n) n = 1;
    c->out[0].len = (size_t)slp_min_u64(cut_after, c->head.n);
    c->out[1].len = cut_after - c->out[0].len;
  } else if (cut_after != SIZE_MAX) {
    c->cut = 1;
  }
  int r = cut_after ? uv_try_write(stream, c->out, (unsigned)n) : 0;
  if (r < 0 && r != UV_EAGAIN) {
    slp_conn_close(c);
    return;
  }
  trim_written_bytes(c->out, &n, r > 0 ? (size_t)r : 0);
  if (n == 0 || c->out[0].len == 0) {
    conn_written(c);
    return;
  }
  c->write.data = c;
  if (uv_write(&c->write, stream, c->out, (unsigned)n, on_written)) slp_conn_close(c);
}

/* Answers a request that can't be read, and closes the connection, because nothing behind that request can be
 * read either. */
static void conn_refuse(slp_conn *c, int status) {
  slp_serve_answer a = {.status = status, .date_ms = -1, .cut_after = SIZE_MAX, .close = 1};
  c->close_after = 1;
  slp_buf_free(&c->body);
  if (slp_conn_build_head(c, &a, 0))
    slp_conn_close(c);
  else
    conn_write(c, SIZE_MAX);
}

void slp_uv_serve(slp_served *rq, const slp_serve_answer *a) {
  slp_conn *c = SLP_OWNER(rq, slp_conn, served);
  SLP_CHECK(c->state == SLP_CONN_SERVING || c->state == SLP_CONN_GONE || (!a && is_serving(c)));
  if (c->state == SLP_CONN_GONE || !a) {
    if (a && a->body) slp_buf_free(a->body);
    slp_conn_close(c);
    return;
  }
  int head_only = slp_str_is(rq->method, "HEAD") || a->status == 204 || a->status == 304;
  size_t body_n = a->body ? a->body->n : 0;
  if (body_n > UINT32_MAX) { /* a uv_buf_t holds at most UINT32_MAX bytes */
    slp_conn_close(c);
    return;
  }
  if (!c->rq.keep_alive || a->close || c->li->state != SLP_LISTENER_LISTENS) c->close_after = 1;
  slp_buf_free(&c->body);
  c->body.max = 0;
  if (a->body) slp_buf_move(&c->body, a->body);
  if (slp_conn_build_head(c, a, body_n)) {
    slp_conn_close(c);
    return;
  }
  if (head_only) slp_buf_free(&c->body);
  conn_write(c, a->cut_after);
}

/* ---- answers of slp_serve_begin --------------------------------------------------------------- */
/* Writes the bytes that wait in `later`. In SLP_CONN_STREAM_ENDS these are the last bytes of the answer. They
 * are written like a whole answer, so that afterwards the next request is read. */
static void stream_write(slp_conn *c) {
  if (c->state == SLP_CONN_STREAM_ENDS) {
    slp_buf_clear(&c->head);
    slp_buf_free(&c->body);
    slp_buf_move(&c->body, &c->later);
    conn_write(c, SIZE_MAX);
    return;
  }
  size_t n = c->later.n;
  if (c->state == SLP_CONN_STREAM_WRITES) move(c, SLP_CONN_STREAMING);
  slp_buf_free(&c->body);
  if (!n) {
    slp_post(&c->li->u->host, &c->ev); /* on_conn_event will call on_sent */
    return;
  }
  slp_buf_move(&c->body, &c->later);
  move(c, SLP_CONN_STREAM_WRITES);
  c->out[0] = uv_buf_init(c->body.p, (unsigned)n);
  c->write.data = c;
  int r = uv_try_write((uv_stream_t *)&c->tcp, c->out, 1);
  if (r >= 0 && (size_t)r == n) {
    c->served.waiting -= n;
    stream_write(c);
    return;
  }
  if (r > 0) c->out[0] = uv_buf_init(c->body.p + r, (unsigned)(n - (size_t)r));
  if ((r < 0 && r != UV_EAGAIN) || uv_write(&c->write, (uv_stream_t *)&c->tcp, c->out, 1, on_written))
    slp_conn_gone(c);
}

/* Adds the bytes to `later` as a chunk of RFC 9112, or as they are for HTTP/1.0, which has no chunks. */
static int stream_add(slp_conn *c, slp_str bytes) {
  slp_buf *b = &c->later;
  size_t before = b->n;
  if (!bytes.n) return 0;
  if (!c->rq.version_1_0) slp_buf_addf(b, "%zx\r\n", bytes.n);
  int r = slp_buf_add_str(b, bytes);
  if (!c->rq.version_1_0) r = slp_buf_add_z(b, "\r\n");
  if (r) slp_buf_cut(b, before);
  c->served.waiting += b->n - before;
  return r;
}

void slp_uv_serve_begin(slp_served *rq, const slp_serve_answer *a) {
  slp_conn *c = SLP_OWNER(rq, slp_conn, served);
  if (c->state == SLP_CONN_GONE) return; /* the peer is gone, and on_gone will be called */
  SLP_CHECK(c->state == SLP_CONN_SERVING);
  if (!c->rq.keep_alive || c->rq.version_1_0 || c->li->state != SLP_LISTENER_LISTENS) c->close_after = 1;
  slp_buf_free(&c->later);
  slp_buf_init(&c->later, c->li->u->host.mem, UINT32_MAX);
  rq->waiting = 0;
  int r = slp_conn_build_head(c, a, SIZE_MAX);
  if (!r) r = slp_buf_add_str(&c->later, slp_buf_str(&c->head));
  rq->waiting = c->later.n;
  if (!r && a->body) r = stream_add(c, slp_buf_str(a->body));
  if (r) {
    slp_conn_gone(c);
    return;
  }
  move(c, SLP_CONN_STREAMING);
  stream_write(c);
}

int slp_uv_serve_more(slp_served *rq, slp_str bytes) {
  slp_conn *c = SLP_OWNER(rq, slp_conn, served);
  if (c->state == SLP_CONN_GONE) return 0;
  SLP_CHECK(c->state == SLP_CONN_STREAMING || c->state == SLP_CONN_STREAM_WRITES);
  int r = stream_add(c, bytes);
  if (!r && c->state == SLP_CONN_STREAMING) stream_write(c);
  return r;
}

void slp_uv_serve_end(slp_served *rq) {
  slp_conn *c = SLP_OWNER(rq, slp_conn, served);
  if (c->state == SLP_CONN_GONE) {
    slp_conn_close(c);
    return;
  }
  SLP_CHECK(c->state == SLP_CONN_STREAMING || c->state == SLP_CONN_STREAM_WRITES);
  int writing = c->state == SLP_CONN_STREAM_WRITES;
  slp_unpost(&c->ev);
  if (!c->rq.version_1_0 && slp_buf_add_z(&c->later, "0\r\n\r\n")) {
    slp_conn_close(c);
    return;
  }
  move(c, SLP_CONN_STREAM_ENDS);
  if (!writing) stream_write(c);
}

/* ---- raw connections --------------------------------------------------------------------------- */
/* PREFACE_MAYBE: too few bytes have come to decide. */
typedef enum { PREFACE_NOT, PREFACE_MAYBE, PREFACE_IS } preface;

/* Compares the bytes that have come with the listener's preface. */
static preface read_preface(const slp_conn *c) {
  slp_str wanted = c->li->l->preface;
  if (!wanted.n || c->asked || c->rq.at) return PREFACE_NOT;
  if (c->in.n && memcmp(c->in.p, wanted.p, (size_t)slp_min_u64(c->in.n, wanted.n)) != 0) return PREFACE_NOT;
  return c->in.n < wanted.n ? PREFACE_MAYBE : PREFACE_IS;
}

/* Called when bytes of a raw connection have come. */
static void raw_read(slp_conn *c) {
  slp_post(&c->li->u->host, &c->ev);
  if (c->in.n <= SLP_CONN_AHEAD_MAX) return;
  uv_read_stop((uv_stream_t *)&c->tcp);
  c->reading = 0;
}

/* Hands the bytes that have come to the user, who may close the connection inside the callback. */
static void give_bytes(slp_conn *c) {
  slp_buf bytes;
  slp_buf_init(&bytes, c->li->u->host.mem, 0);
  slp_buf_move(&bytes, &c->in);
  c->raw.on_bytes(&c->raw, slp_buf_str(&bytes));
  slp_buf_clear(&bytes);
  if (c->state == SLP_CONN_RAW && !c->in.p)
    slp_buf_move(&c->in, &bytes);
  else
    slp_buf_free(&bytes);
}

/* Calls the functions of the connection's user. */
static void raw_event(slp_conn *c) {
  if (!c->raw.on_gone) c->li->l->on_raw(c->li->l, &c->raw);
  if (c->state == SLP_CONN_RAW && c->wrote) {
    c->wrote = 0;
    c->raw.on_written(&c->raw);
  }
  if (c->state == SLP_CONN_RAW && c->in.n && !c->deaf) give_bytes(c);
  if (c->state == SLP_CONN_RAW) slp_conn_read_on(c);
}

/* ---- reading --------------------------------------------------------------------------------- */
static slp_str served_header(slp_served *rq, const char *name) {
  slp_conn *c = SLP_OWNER(rq, slp_conn, served);
  return slp_request_header(&c->rq, &c->rq_bytes, name);
}

/* Takes the complete request out of `in`. The request keeps the buffer; the bytes behind it move to a new
 * buffer. */
static int request_complete(slp_conn *c) {
  size_t end = c->rq.end;
  slp_buf_free(&c->rq_bytes);
  slp_buf_move(&c->rq_bytes, &c->in);
  slp_buf_init(&c->in, c->li->u->host.mem, c->in.max);
  if (c->rq_bytes.n > end && slp_buf_add(&c->in, c->rq_bytes.p + end, c->rq_bytes.n - end)) return SLP_ENOMEM;
  c->rq_bytes.n = end;
  c->asked = 1;
  const char *p = c->rq_bytes.p;
  c->served.method = (slp_str){p + c->rq.method_at, c->rq.method_n};
  c->served.path = (slp_str){p + c->rq.path_at, c->rq.path_n};
  c->served.body = (slp_str){p + c->rq.head_n, c->rq.body_n};
  c->served.on_gone = NULL;
  c->served.on_sent = NULL;
  c->served.waiting = 0;
  c->served.user = NULL;
  return 0;
}

static size_t body_max(const slp_conn *c) { return c->li->l->body_max ? c->li->l->body_max : BODY_MAX; }

static void conn_next(slp_conn *c) {
  preface found = read_preface(c);
  if (found == PREFACE_IS) {
    move(c, SLP_CONN_RAW);
    slp_post(&c->li->u->host, &c->ev);
    return;
  }
  int r = found == PREFACE_MAYBE ? SLP_MORE : slp_request_read(&c->rq, &c->in, body_max(c));
  if (r == SLP_MORE) {
    if (c->rq.head_n && c->rq.expects_continue && !c->continued && !c->rq.version_1_0) {
      static char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
      uv_buf_t b = uv_buf_init(go_on, sizeof go_on - 1);
      /* "100 Continue" is lost if the socket's buffer is full, which it can't be between two answers. Clients
       * send the body after a second anyway. */
      uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
      c->continued = 1;
    }
    if (c->eof) slp_conn_close(c);
    return;
  }
  if (r < 0) {
    conn_refuse(c, c->rq.status);
    return;
  }
  if (request_complete(c)) {
    slp_conn_close(c);
    return;
  }
  move(c, SLP_CONN_READY);
  if (set_conn_timer(c)) {
    slp_conn_close(c);
    return;
  }
  slp_post(&c->li->u->host, &c->ev);
}

/* Handles the connection's event: looks for the next request, or calls on_request, on_sent or on_gone. */
static void on_conn_event(slp_event *ev) {
  slp_conn *c = SLP_OWNER(ev, slp_conn, ev);
  slp_listener *l = c->li->l;
  if (c->state == SLP_CONN_READING) {
    conn_next(c);
    if (c->state != SLP_CONN_READY && c->state != SLP_CONN_RAW) return;
    slp_unpost(ev);
  }
  if (c->state == SLP_CONN_RAW) {
    raw_event(c);
  } else if (c->state == SLP_CONN_READY) {
    move(c, SLP_CONN_SERVING);
    l->on_request(l, &c->served);
  } else if (c->state == SLP_CONN_STREAMING) {
    if (c->served.on_sent) c->served.on_sent(&c->served);
  } else if (c->state == SLP_CONN_RAW_GONE || (c->state == SLP_CONN_GONE && c->served.on_gone)) {
    int raw = c->state == SLP_CONN_RAW_GONE;
    /* The state is set first, because the callback may close the listener or the host, and closing them must
     * then not touch c. */
    move(c, SLP_CONN_CLOSED);
    if (!raw)
      c->served.on_gone(&c->served);
    else if (c->raw.on_gone) /* without on_gone, the user never had the connection */
      c->raw.on_gone(&c->raw);
    drop_closed_conn(c);
  }
}

static size_t count_large_capacity(const slp_buf *b) { return b->cap > KEEP_MAX ? b->cap : 0; }

int slp_conn_has_room(const slp_uv_listener *li, const slp_conn *but_for, size_t more) {
  size_t max = li->l->requests_bytes_max, n = more;
  SLP_LIST_EACH(&li->conns, it) {
    const slp_conn *c = SLP_OWNER(it, slp_conn, link);
    n += count_large_capacity(&c->rq_bytes) + (c == but_for ? 0 : count_large_capacity(&c->in)) + c->raw.held;
  }
  return !max || n <= max;
}

/* Returns 1 if there is room for `more` bytes of a request. Walks over all connections only if the buffer of
 * a large request must grow, which is rare, because buffers grow by doubling. */
static int has_room(const slp_conn *c, size_t more) {
  size_t n = c->in.n + more;
  return n <= KEEP_MAX || n <= c->in.cap || slp_conn_has_room(c->li, c, n);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret) {
  slp_conn *c = handle->data;
  size_t want = READ_MIN;
  (void)suggested;
  if (c->state == SLP_CONN_READING && c->rq.head_n) {
    size_t left =
        c->rq.head_n + (size_t)c->rq.want > c->in.n ? c->rq.head_n + (size_t)c->rq.want - c->in.n : 0;
    want = (size_t)slp_min_u64(slp_max_u64(left, want), READ_MAX);
  }
  *ret = uv_buf_init(NULL, 0); /* with a buffer of length 0, libuv reports UV_ENOBUFS */
  c->refused = c->state == SLP_CONN_READING && !has_room(c, want);
  if (!c->refused && slp_buf_reserve(&c->in, want) == 0)
    *ret = uv_buf_init(c->in.p + c->in.n, (unsigned)(c->in.cap - c->in.n));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  slp_conn *c = stream->data;
  (void)buf;
  if (n == 0) return;
  if (n == UV_ENOBUFS && c->refused) {
    slp_buf_free(&c->in);
    conn_refuse(c, 503);
    return;
  }
  if (n < 0) {
    c->reading = 0;
    c->eof = 1;
    if (is_serving(c))
      slp_conn_gone(c);
    else if (n != UV_EOF || (c->state != SLP_CONN_WRITING && c->state != SLP_CONN_STREAM_ENDS &&
                             c->state != SLP_CONN_RESETTING))
      slp_conn_close(c);
    return;
  }
  /* drops the bytes: c->in.n stays, so the next bytes overwrite them */
  if (c->state == SLP_CONN_LINGERING) return;
  c->in.n += (size_t)n;
  if (c->state == SLP_CONN_READING) {
    conn_next(c);
  } else if (c->state == SLP_CONN_RAW) {
    raw_read(c);
  } else if (c->in.n > SLP_CONN_AHEAD_MAX) {
    uv_read_stop(stream);
    c->reading = 0;
  }
}

void slp_conn_read_on(slp_conn *c) {
  if (c->reading || c->eof || c->deaf) return;
  if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read))
    slp_conn_close(c);
  else
    c->reading = 1;
}

/* ---- listening ------------------------------------------------------------------------------- */
/* Asks the kernel whether bytes of the connection can be read. Returns 1: yes; 0: none have come; -1: the
 * peer has left. */
static int has_news(const slp_conn *c) {
  uv_os_fd_t fd;
  char byte;
  if (uv_fileno((const uv_handle_t *)&c->tcp, &fd)) return -1;
  ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 ? 1 : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Returns the connection to close for a new one, or NULL. Chooses the oldest connection of the first of these
 * kinds that has one: (1) its peer has left; (2) it waits for a request, and has no unread bytes; (3) its
 * request is being answered; (4) a part of a request has come. If `any` is 0, only kinds 1 and 2 are
 * considered, and kind 2 only if older than GRACE_US. */
static slp_conn *least_wanted(slp_uv_listener *li, int any) {
  slp_conn *silent = NULL, *asked = NULL, *oldest = NULL;
  uint64_t now_us = slp_now_us(&li->u->host);
  SLP_LIST_EACH(&li->conns, it) {
    slp_conn *c = SLP_OWNER(it, slp_conn, link);
    int news = c->state == SLP_CONN_READING ? has_news(c) : 0;
    if (news < 0) return c;
    if (c->state == SLP_CONN_READING && !news && !silent && (any || now_us - c->born_us >= GRACE_US))
      silent = c;
    if (news && !asked) asked = c;
    if (c->state != SLP_CONN_READING && c->state != SLP_CONN_CLOSED && !is_gone(c) && !oldest) oldest = c;
  }
  return silent || !any ? silent : oldest ? oldest : asked;
}

static size_t conns_open(const slp_uv_listener *li) {
  size_t n = 0;
  SLP_LIST_EACH(&li->conns, it) n += SLP_OWNER(it, slp_conn, link)->state != SLP_CONN_CLOSED;
  return n;
}

/* Closes connections to make room for a new one, so that a peer that opens many connections and sends nothing
 * does not shut others out. From conns_max on, connections without unread bytes are closed. Connections with
 * unread bytes stay until there are BURST * conns_max: libuv accepts all connections that wait in the kernel
 * before it reads from any of them. */
static void make_room(slp_uv_listener *li) {
  size_t max = li->l->conns_max, n = max ? conns_open(li) : 0;
  for (; max && n >= max; n--) {
    slp_conn *c = least_wanted(li, n >= BURST * max);
    if (!c) return;
    if (is_serving(c))
      slp_conn_gone(c);
    else
      slp_conn_close(c);
  }
}

static void on_connection(uv_stream_t *stream, int status) {
  slp_uv_listener *li = stream->data;
  slp_mem *mem = li->u->host.mem;
  if (status < 0 || li->state != SLP_LISTENER_LISTENS) return;
  slp_conn *c = SLP_NEW(mem, slp_conn);
  if (!c) {
    /* libuv keeps the connection, and it is accepted when another connection is freed */
    li->accept_pending = 1;
    return;
  }
  uv_tcp_init(li->u->loop, &c->tcp);
  uv_unref((uv_handle_t *)&c->tcp);
  c->tcp.data = c;
  c->li = li;
  c->served.listener = c->raw.listener = li->l;
  c->served.header = served_header;
  c->ev.run = on_conn_event;
  size_t max = SLP_REQUEST_HEAD_MAX + SLP_CONN_AHEAD_MAX + READ_MAX;
  size_t body = body_max(c);
  slp_buf_init(&c->in, mem, body < SIZE_MAX - 2 * max ? 2 * max + body : SIZE_MAX);
  slp_buf_init(&c->rq_bytes, mem, c->in.max);
  slp_buf_init(&c->head, mem, 1 << 20);
  slp_buf_init(&c->body, mem, 0);
  slp_buf_init(&c->later, mem, 0);
  slp_request_begin(&c->rq);
  make_room(li);
  slp_list_add_last(&li->conns, &c->link);
  li->open_n++;
  c->born_us = slp_now_us(&li->u->host);
  c->timer.run = on_too_old;
  if (uv_accept(stream, (uv_stream_t *)&c->tcp) || set_conn_timer(c)) {
    slp_conn_close(c);
    return;
  }
  uv_tcp_nodelay(&c->tcp, 1);
  slp_conn_read_on(c);
}

static void on_listening_closed(uv_handle_t *handle) { listener_let_go(handle->data); }

static void close_connections(slp_uv_listener *li) {
  li->open_n++; /* one more while this loop runs, or closing the last connection would free li */
  slp_list *it = li->conns.next;
  while (it != &li->conns) {
    slp_conn *c = SLP_OWNER(it, slp_conn, link);
    it = it->next;
    int is_raw = c->state == SLP_CONN_RAW || c->state == SLP_CONN_RAW_GONE;
    int is_told = (is_raw || c->served.on_gone) && !li->silent;
    if (is_serving(c) && is_told)
      slp_conn_gone(c);
    else if (c->state != SLP_CONN_CLOSED && !(is_gone(c) && is_told))
      slp_conn_close(c);
  }
  listener_let_go(li);
}

static void listener_close(slp_uv_listener *li) {
  move_listener(li, SLP_LISTENER_CLOSES);
  uv_close((uv_handle_t *)&li->tcp, on_listening_closed);
  close_connections(li);
}

static int parse_address(const char *address, uint16_t port, struct sockaddr_storage *ret) {
  memset(ret, 0, sizeof *ret);
  if (strchr(address, ':')) return uv_ip6_addr(address, port, (struct sockaddr_in6 *)(void *)ret);
  return uv_ip4_addr(address, port, (struct sockaddr_in *)(void *)ret);
}

static int bind_and_listen(slp_uv_listener *li, const struct sockaddr_storage *where) {
  struct sockaddr_storage real;
  int n = sizeof real;
  int r = uv_tcp_bind(&li->tcp, (const struct sockaddr *)(const void *)where, 0);
  if (!r) r = uv_listen((uv_stream_t *)&li->tcp, 1024, on_connection);
  if (!r) r = uv_tcp_getsockname(&li->tcp, (struct sockaddr *)(void *)&real, &n);
  if (r) return r;
  if (real.ss_family == AF_INET6)
    li->l->port = ntohs(((struct sockaddr_in6 *)(void *)&real)->sin6_port);
  else
    li->l->port = ntohs(((struct sockaddr_in *)(void *)&real)->sin_port);
  return 0;
}

int slp_uv_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  slp_uv_host *u = slp_uv_of(h);
  struct sockaddr_storage where;
  l->impl = NULL;
  int r = parse_address(address, port, &where);
  if (r) return r;
  slp_uv_listener *li = SLP_NEW(h->mem, slp_uv_listener);
  if (!li) return SLP_ENOMEM;
  li->u = u;
  li->l = l;
  slp_list_init(&li->conns);
  uv_tcp_init(u->loop, &li->tcp);
  uv_unref((uv_handle_t *)&li->tcp);
  li->tcp.data = li;
  li->open_n = 1;
  slp_list_add_last(&u->listeners, &li->link);
  slp_uv_hold(u);
  r = bind_and_listen(li, &where);
  if (r) {
    li->silent = 1;
    listener_close(li);
    return r;
  }
  l->impl = li;
  return 0;
}

void slp_uv_listen_close(slp_listener *l) {
  slp_uv_listener *li = l->impl;
  if (!li || li->state != SLP_LISTENER_LISTENS) return;
  l->impl = NULL;
  listener_close(li);
}

void slp_uv_listen_close_all(slp_uv_host *u) {
  slp_list *it = u->listeners.next;
  while (it != &u->listeners) {
    slp_uv_listener *li = SLP_OWNER(it, slp_uv_listener, link);
    it = it->next;
    li->silent = 1;
    if (li->state == SLP_LISTENER_LISTENS) {
      li->l->impl = NULL;
      listener_close(li);
      /* all handles are closed and the event li->closed is posted: it is taken back by freeing li */
    } else if (li->state == SLP_LISTENER_CLOSED) {
      slp_list_remove(&li->link);
      slp_free(u->host.mem, li);
      slp_uv_drop(u);
    } else {
      close_connections(li);
    }
  }
}
