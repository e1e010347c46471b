/* share.c - one of several workers that share a stream: each shard is read by one of them at a time, from
 * where the last one left off. Start as many as you like, on as many machines; stop them with Ctrl-C.
 * usage: share APP STREAM */
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
    putchar('\n'); /* a sink that can compare would keep r->epoch: a lower one comes too late */
  }
  if (fflush(stdout)) exit(1); /* nobody reads it any more */
  sloop_batch_done(batch, n);  /* what is acknowledged is written to the lease table every 5 s */
}
static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  (void)s, (void)arg;
  if (e->kind == SLOOP_LEASE_SUSPENDED || e->kind == SLOOP_LEASE_EVICTED || e->kind == SLOOP_LEASE_HOLE)
    fprintf(stderr, "%s: %s: %s\n", e->worker, sloop_lease_event_name(e->kind), e->text);
}
static void on_closed(sloop_t *s, int status, void *sigint) {
  (void)s, (void)status;
  uv_close((uv_handle_t *)sigint, NULL);
}
static void on_stopped(sloop_t *s, int status, void *sigint) {
  (void)status; /* 0: the positions are written and the shards are the others' */
  sloop_close(s, on_closed, sigint);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *sigint) {
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) sloop_close(s, on_closed, sigint);
}
static void on_sigint(uv_signal_t *sigint, int number) {
  (void)number;
  sloop_stop((sloop_t *)sigint->data, 10000, on_stopped, sigint);
}
int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  uv_signal_t sigint;
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  if (argc != 3) return fprintf(stderr, "usage: share APP STREAM\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.app = argv[1]; /* its leases are in the DynamoDB table "sloop", which is made when it is not there */
  o.stream = argv[2];
  o.start.kind = SLOOP_OLDEST; /* where a new application begins */
  o.on_batch = on_batch;
  o.on_lease = on_lease;
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
