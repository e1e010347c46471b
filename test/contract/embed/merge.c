/* merge.c - two streams, Kinesis or DynamoDB, in one order by time: "STREAM PAYLOAD" a line, "STREAM late PAYLOAD"
 * when a later record came before it: its shard was silent for longer than order_wait_ms.
 * usage: merge STREAM STREAM */
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

typedef struct {
  sloop_t *s[2];
  uv_signal_t sigint;
  int open;
} app_t;

static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  size_t i, n = sloop_batch_count(batch); /* a batch is of one stream; the next may be of the other */
  (void)s, (void)arg;
  for (i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    printf("%s %s", r->stream, r->flags & SLOOP_REC_LATE ? "late " : "");
    fwrite(r->data.base, 1, r->data.len, stdout);
    putchar('\n');
  }
  if (fflush(stdout)) exit(1); /* nobody reads it any more */
  sloop_batch_done(batch, n);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  app_t *app = (app_t *)arg;
  (void)s, (void)status;
  if (--app->open == 0) uv_close((uv_handle_t *)&app->sigint, NULL);
}
static void close_both(app_t *app) {
  sloop_close(app->s[0], on_closed, app);
  sloop_close(app->s[1], on_closed, app);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s;
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) close_both((app_t *)arg); /* closing twice is fine */
}
static void on_sigint(uv_signal_t *sigint, int number) {
  (void)number;
  close_both((app_t *)sigint->data);
}
int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  app_t app;
  sloop_opts_t o;
  char why[160];
  if (argc != 3) return fprintf(stderr, "usage: merge STREAM STREAM\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.arg = &app;
  o.stream = argv[1];
  if (sloop_open(&app.s[0], loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  o.stream = argv[2];
  o.join = app.s[0]; /* one budget, one set of connections, one identity, one order */
  if (sloop_open(&app.s[1], loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  app.open = 2;
  uv_signal_init(loop, &app.sigint);
  app.sigint.data = &app;
  uv_signal_start(&app.sigint, on_sigint, 2);
  sloop_start(app.s[0]);
  sloop_start(app.s[1]);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) ? 1 : 0;
}
