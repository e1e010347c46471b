/* epoll.c - sloop inside a loop of epoll(7): libuv's loop is one descriptor in the set and the timeout of the wait.
 * usage: epoll STREAM; prints payloads until its standard input, which is not a file, ends. */
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
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
static int watch(int set, int fd) {
  struct epoll_event e;
  memset(&e, 0, sizeof e);
  e.events = EPOLLIN; /* by level, not EPOLLET: libuv leaves for the next turn what is too much for one */
  e.data.fd = fd;
  return epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
}
int main(int argc, char **argv) {
  uv_loop_t loop;
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  struct epoll_event ready[8];
  int i, n, ended = 0, set = epoll_create1(EPOLL_CLOEXEC);
  if (argc != 2 || set < 0 || uv_loop_init(&loop)) return 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  if (sloop_open(&s, &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  sloop_start(s);
  if (watch(set, 0) || watch(set, uv_backend_fd(&loop))) return 1; /* 0: this loop's own business */
  while (!ended) {
    uv_run(&loop, UV_RUN_NOWAIT); /* does what is due, and tells the kernel what it waits for */
    n = epoll_wait(set, ready, 8, uv_backend_timeout(&loop));
    if (n < 0) return 1;
    for (i = 0; i < n; i++) ended |= ready[i].data.fd == 0 && input_ended();
  }
  sloop_close(s, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT); /* to its end: nothing is open any more */
  close(set);
  return uv_loop_close(&loop) ? 1 : 0;
}
