/* poll.c - sloop inside another event loop: libuv's loop is one file descriptor and one timeout of it.
 * usage: poll STREAM; prints payloads until its standard input ends. */
#include <poll.h>
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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
  sloop_batch_done(batch, n);
}
static int input_ended(void) {
  char some[256];
  return read(0, some, sizeof some) == 0;
}
int main(int argc, char **argv) {
  uv_loop_t loop;
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  struct pollfd fds[2];
  if (argc != 2 || uv_loop_init(&loop)) return 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  if (sloop_open(&s, &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  sloop_start(s);
  fds[0].fd = 0; /* this loop's own business */
  fds[1].fd = uv_backend_fd(&loop);
  fds[0].events = fds[1].events = POLLIN;
  for (;;) {
    uv_run(&loop, UV_RUN_NOWAIT); /* does what is due, and tells the kernel what it waits for */
    if (poll(fds, 2, uv_backend_timeout(&loop)) < 0) return 1;
    if (fds[0].revents && input_ended()) break;
  }
  sloop_close(s, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT); /* to its end: nothing is open any more */
  return uv_loop_close(&loop) ? 1 : 0;
}
