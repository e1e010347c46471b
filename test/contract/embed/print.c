/* print.c - the README's example: prints every payload, acknowledges, stops on Ctrl-C. */
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  size_t i, n = sloop_batch_count(batch);
  (void)s, (void)arg;
  for (i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(batch, i);
    fwrite(r->data.base, 1, r->data.len, stdout);
    putchar('\n');
  }
  if (fflush(stdout)) exit(1); /* nobody reads it any more */
  sloop_batch_done(batch, n);  /* acknowledged: all n of them */
}
static void on_closed(sloop_t *s, int status, void *sigint) {
  (void)s, (void)status;
  uv_close((uv_handle_t *)sigint, NULL); /* now nothing keeps uv_run() going */
}
static void on_stopped(sloop_t *s, int status, void *sigint) {
  (void)status;
  sloop_close(s, on_closed, sigint);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *sigint) {
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) sloop_close(s, on_closed, sigint); /* anything else is retried */
}
static void on_sigint(uv_signal_t *sigint, int number) {
  (void)number;
  sloop_stop((sloop_t *)sigint->data, 5000, on_stopped, sigint);
}
int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  uv_signal_t sigint;
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  signal(SIGPIPE, SIG_IGN); /* else the program ends when a server leaves in the wrong moment */
  sloop_opts_init(&o);
  o.stream = argc > 1 ? argv[1] : "orders"; /* region and credentials: as the AWS tools find them */
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.arg = &sigint;
  if (sloop_open(&s, loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  uv_signal_init(loop, &sigint);
  sigint.data = s;
  uv_signal_start(&sigint, on_sigint, 2);
  sloop_start(s);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) ? 1 : 0;
}
