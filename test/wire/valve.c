/* valve.c - see valve.h. What passes is small, so a kernel's buffer always takes it at once. */
#include "valve.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define REQUEST_MAX (64u << 10)

typedef struct conn {
  slp_list link;
  valve *v;
  uv_tcp_t client, server;
  uv_connect_t connecting;
  size_t open_n;
  uint32_t exchange;
  size_t up, down;  /* of this exchange */
  uint8_t answered; /* the next bytes from the client are a new request */
  uint8_t deaf;     /* nothing passes any more */
  uint8_t saying;   /* the request is kept here, not passed on */
  char *request;
} conn;

static char room[256 << 10]; /* what is read is written at once */

const char *valve_what_name(valve_what what) {
  static const char *const names[] = {"pass", "fin", "rst", "silent", "say"};
  return names[what];
}

/* ---- ends ------------------------------------------------------------------------------------------- */
static void let_go(valve *v) {
  if (--v->open_n == 0 && v->on_closed) v->on_closed(v);
}

static void on_side_closed(uv_handle_t *handle) {
  conn *c = handle->data;
  valve *v = c->v;
  if (--c->open_n == 0) {
    slp_list_remove(&c->link);
    if (v->spoilt == c) v->spoilt = NULL;
    free(c->request);
    free(c);
  }
  let_go(v);
}

static void close_side(uv_tcp_t *tcp, int reset) {
  if (uv_is_closing((uv_handle_t *)tcp)) return;
  if (reset && uv_tcp_close_reset(tcp, on_side_closed) == 0) return;
  uv_close((uv_handle_t *)tcp, on_side_closed);
}

static void end(conn *c, int reset) {
  close_side(&c->client, reset);
  close_side(&c->server, reset);
}

/* ---- bytes ------------------------------------------------------------------------------------------ */
static void put(uv_tcp_t *to, const char *p, size_t n) {
  uv_buf_t b = {.base = (char *)(uintptr_t)p, .len = n};
  if (n == 0 || uv_is_closing((uv_handle_t *)to)) return;
  int r = uv_try_write((uv_stream_t *)to, &b, 1);
  if (r == UV_EPIPE || r == UV_ECONNRESET) return; /* reading will tell */
  CHECK_INT(r, n);
}

static void begin_exchange(conn *c, const char *p, size_t n) {
  valve *v = c->v;
  c->answered = 0;
  c->up = c->down = 0;
  c->exchange = v->exchanges++;
  if (c->exchange >= VALVE_SEEN_MAX) return;
  const slp_str name = SLP_STR("X-Amz-Target: ");
  const char *at = memmem(p, n, name.p, name.n);
  const char *from = at ? memchr(at, '.', (size_t)(p + n - at)) : NULL;
  if (!from) return;
  size_t k = 0;
  char *op = v->seen[c->exchange].op;
  for (from++; from<p + n && * from> ' ' && k + 1 < sizeof v->seen[0].op; from++) op[k++] = *from;
}

static void count(conn *c, int down, size_t n) {
  *(down ? &c->down : &c->up) += n;
  if (c->exchange >= VALVE_SEEN_MAX) return;
  valve_exchange *x = &c->v->seen[c->exchange];
  *(down ? &x->down : &x->up) += (uint32_t)n;
}

static void on_then(uv_timer_t *timer) {
  valve *v = timer->data;
  if (v->spoilt) put(&v->spoilt->client, v->fault.then.p, v->fault.then.n);
}

static void say(conn *c) {
  const valve_fault *f = &c->v->fault;
  put(&c->client, f->say.p, f->say.n);
  c->saying = 0;
  c->answered = 1;
  if (!f->keep) end(c, 0);
  c->v->spoilt = c;
  if (f->then.n) uv_timer_start(&c->v->timer, on_then, f->then_ms, 0);
}

static int is_whole(const char *p, size_t n) {
  const char *head_end = memmem(p, n, "\r\n\r\n", 4), *length = memmem(p, n, "Content-Length: ", 16);
  if (!head_end) return 0;
  size_t body = length && length < head_end ? strtoul(length + 16, NULL, 10) : 0;
  return n >= (size_t)(head_end + 4 - p) + body;
}

static void keep_for_saying(conn *c, const char *p, size_t n) {
  if (!c->request) c->request = calloc(1, REQUEST_MAX + 1);
  CHECK(c->request && c->up + n <= REQUEST_MAX);
  memcpy(c->request + c->up, p, n);
  count(c, 0, n);
  if (c->v->fault.early || is_whole(c->request, c->up)) say(c);
}

static void act(conn *c, const char *p, size_t n) {
  valve *v = c->v;
  v->fired = 1;
  switch (v->fault.what) {
    case VALVE_FIN: end(c, 0); break;
    case VALVE_RST: end(c, 1); break;
    case VALVE_SILENT: c->deaf = 1; break;
    case VALVE_SAY:
      c->saying = 1;
      keep_for_saying(c, p, n);
      break;
    case VALVE_PASS: break;
  }
}

static void pass(conn *c, int down, const char *p, size_t n) {
  const valve_fault *f = &c->v->fault;
  size_t so_far = down ? c->down : c->up;
  int here = f->what != VALVE_PASS && !c->v->fired && c->exchange == f->exchange && f->down == down &&
             so_far + n >= f->at;
  size_t first = here ? f->at - so_far : n;
  put(down ? &c->client : &c->server, p, first);
  count(c, down, first);
  if (here) act(c, p + first, n - first);
}

static void on_room(uv_handle_t *handle, size_t want, uv_buf_t *ret) {
  (void)handle, (void)want;
  *ret = uv_buf_init(room, sizeof room);
}

static void on_client_bytes(uv_stream_t *from, ssize_t n, const uv_buf_t *b) {
  conn *c = from->data;
  if (n < 0) end(c, n != UV_EOF);
  if (n <= 0 || c->deaf) return;
  if (c->saying) {
    keep_for_saying(c, b->base, (size_t)n);
    return;
  }
  if (c->answered) begin_exchange(c, b->base, (size_t)n);
  pass(c, 0, b->base, (size_t)n);
}

static void on_server_bytes(uv_stream_t *from, ssize_t n, const uv_buf_t *b) {
  conn *c = from->data;
  if (n < 0 && c->deaf) close_side(&c->server, 0); /* and the client is told nothing */
  if (n < 0 && !c->deaf) end(c, n != UV_EOF);
  if (n <= 0 || c->deaf) return;
  c->answered = 1;
  pass(c, 1, b->base, (size_t)n);
}

/* ---- connections ------------------------------------------------------------------------------------ */
static void on_connected(uv_connect_t *rq, int status) {
  conn *c = rq->data;
  if (status == UV_ECANCELED) return;
  CHECK_INT(status, 0);
  CHECK_INT(uv_read_start((uv_stream_t *)&c->server, on_room, on_server_bytes), 0);
  CHECK_INT(uv_read_start((uv_stream_t *)&c->client, on_room, on_client_bytes), 0);
}

static void on_connection(uv_stream_t *listener, int status) {
  valve *v = listener->data;
  CHECK_INT(status, 0);
  conn *c = calloc(1, sizeof *c);
  CHECK(c);
  c->v = v;
  c->answered = 1;
  c->client.data = c->server.data = c->connecting.data = c;
  c->open_n = 2;
  v->open_n += 2;
  v->connections++;
  slp_list_add_last(&v->conns, &c->link);
  uv_tcp_init(v->loop, &c->client);
  uv_tcp_init(v->loop, &c->server);
  CHECK_INT(uv_accept(listener, (uv_stream_t *)&c->client), 0);
  uv_tcp_nodelay(&c->client, 1);
  uv_tcp_nodelay(&c->server, 1);
  struct sockaddr_in to;
  uv_ip4_addr("127.0.0.1", v->to_port, &to);
  CHECK_INT(uv_tcp_connect(&c->connecting, &c->server, (struct sockaddr *)&to, on_connected), 0);
}

void valve_open(valve *v, uv_loop_t *loop, uint16_t to_port, const valve_fault *fault) {
  struct sockaddr_in any;
  int n = sizeof any;
  memset(v, 0, sizeof *v);
  v->loop = loop;
  v->to_port = to_port;
  if (fault) v->fault = *fault;
  slp_list_init(&v->conns);
  v->open_n = 2;
  v->listener.data = v->timer.data = v;
  uv_timer_init(loop, &v->timer);
  uv_tcp_init(loop, &v->listener);
  uv_ip4_addr("127.0.0.1", 0, &any);
  CHECK_INT(uv_tcp_bind(&v->listener, (struct sockaddr *)&any, 0), 0);
  CHECK_INT(uv_listen((uv_stream_t *)&v->listener, 64, on_connection), 0);
  CHECK_INT(uv_tcp_getsockname(&v->listener, (struct sockaddr *)&any, &n), 0);
  v->port = ntohs(any.sin_port);
}

static void on_own_closed(uv_handle_t *handle) { let_go(handle->data); }

void valve_close(valve *v, void (*on_closed)(valve *v)) {
  v->closing = 1;
  v->on_closed = on_closed;
  for (slp_list *it = v->conns.next, *next; it != &v->conns; it = next) {
    next = it->next;
    end(SLP_OWNER(it, conn, link), 0);
  }
  uv_close((uv_handle_t *)&v->listener, on_own_closed);
  uv_close((uv_handle_t *)&v->timer, on_own_closed);
}
