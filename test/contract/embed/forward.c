/* forward.c - posts every batch to an HTTP server from the same loop, one record a line. What the server
 * takes (status 2xx) is acknowledged; what it does not take comes again, later and later.
 * usage: forward ADDRESS PORT PATH STREAM */
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct { /* one batch on its way; one connection each */
  uv_tcp_t tcp;
  uv_connect_t connect;
  uv_write_t write;
  sloop_batch_t *batch;
  uv_buf_t *bufs;
  unsigned bufs_n;
  char head[256], answer[64];
  size_t answer_n;
} post_t;
typedef struct {
  struct sockaddr_in to;
  const char *host, *path;
  uv_signal_t sigint;
} app_t;

static void on_gone(uv_handle_t *h) { free(h->data); }
static void finish(post_t *p) { /* closing cancels whatever is still under way */
  int taken = p->answer_n > 9 && memcmp(p->answer, "HTTP/1.", 7) == 0 && p->answer[9] == '2';
  if (uv_is_closing((uv_handle_t *)&p->tcp)) return;
  sloop_batch_done(p->batch, taken ? sloop_batch_count(p->batch) : 0);
  free(p->bufs);
  uv_close((uv_handle_t *)&p->tcp, on_gone);
}
static void on_room(uv_handle_t *h, size_t want, uv_buf_t *ret) {
  static char sink[4096]; /* only the status line is looked at */
  post_t *p = (post_t *)h->data;
  size_t left = sizeof p->answer - p->answer_n;
  (void)want;
  *ret = left ? uv_buf_init(p->answer + p->answer_n, (unsigned)left) : uv_buf_init(sink, sizeof sink);
}
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  post_t *p = (post_t *)stream->data;
  if (n < 0) finish(p); /* the whole answer, or the connection broke */
  if (n > 0 && buf->base == p->answer + p->answer_n) p->answer_n += (size_t)n;
}
static void on_written(uv_write_t *w, int status) {
  if (status) finish((post_t *)w->handle->data);
}
static void on_connected(uv_connect_t *c, int status) {
  post_t *p = (post_t *)c->handle->data;
  if (status || uv_read_start(c->handle, on_room, on_read) ||
      uv_write(&p->write, c->handle, p->bufs, p->bufs_n, on_written))
    finish(p);
}
static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  static char newline[] = "\n";
  app_t *app = (app_t *)arg;
  size_t i, n = sloop_batch_count(batch), bytes = 0;
  post_t *p = (post_t *)calloc(1, sizeof *p);
  (void)s;
  if (p) p->bufs = (uv_buf_t *)calloc(1 + 2 * n, sizeof *p->bufs);
  if (!p || !p->bufs || uv_tcp_init(app->sigint.loop, &p->tcp)) {
    if (p) free(p->bufs);
    free(p);
    sloop_batch_done(batch, 0); /* comes again */
    return;
  }
  p->tcp.data = p;
  p->batch = batch;
  for (i = 0; i < n; i++) { /* the records' own memory is sent; it lives until sloop_batch_done() */
    const sloop_record_t *r = sloop_batch_at(batch, i);
    p->bufs[1 + 2 * i] = uv_buf_init((char *)r->data.base, (unsigned)r->data.len);
    p->bufs[2 + 2 * i] = uv_buf_init(newline, 1);
    bytes += r->data.len + 1;
  }
  p->bufs_n = (unsigned)(1 + 2 * n);
  p->bufs[0].base = p->head;
  p->bufs[0].len = (size_t)snprintf(p->head, sizeof p->head,
                                    "POST %.80s HTTP/1.1\r\nHost: %.80s\r\nContent-Length: %lu\r\n"
                                    "Connection: close\r\n\r\n",
                                    app->path, app->host, (unsigned long)bytes);
  if (uv_tcp_connect(&p->connect, &p->tcp, (const struct sockaddr *)&app->to, on_connected)) finish(p);
}
static void on_closed(sloop_t *s, int status, void *sigint) {
  (void)s, (void)status;
  uv_close((uv_handle_t *)sigint, NULL);
}
static void on_stopped(sloop_t *s, int status, void *sigint) {
  (void)status; /* 0: every batch was answered; UV_ETIMEDOUT: some were not, and stay unacknowledged */
  sloop_close(s, on_closed, sigint);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) sloop_close(s, on_closed, &((app_t *)arg)->sigint);
}
static void on_sigint(uv_signal_t *sigint, int number) {
  (void)number;
  sloop_stop((sloop_t *)sigint->data, 5000, on_stopped, sigint);
}
int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  app_t app;
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  if (argc != 5 || uv_ip4_addr(argv[1], atoi(argv[2]), &app.to)) {
    return fprintf(stderr, "usage: forward ADDRESS PORT PATH STREAM\n"), 2;
  }
  app.host = argv[1];
  app.path = argv[3];
  signal(SIGPIPE, SIG_IGN); /* the HTTP server may leave while a post is written */
  sloop_opts_init(&o);
  o.stream = argv[4];
  o.start.kind = SLOOP_OLDEST;
  o.order = SLOOP_ORDER_SHARD; /* no shard waits for another */
  o.batches_out_max = 1;       /* a shard's next batch leaves when the one before was taken: order is kept */
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.arg = &app;
  if (sloop_open(&s, loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  uv_signal_init(loop, &app.sigint);
  app.sigint.data = s;
  uv_signal_start(&app.sigint, on_sigint, 2);
  sloop_start(s);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) ? 1 : 0;
}
