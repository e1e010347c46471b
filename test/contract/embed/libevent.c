/* libevent.c - sloop inside libevent's loop: libuv's loop is one event of it and one timer.
 * usage: libevent STREAM; prints payloads until its standard input, which is not a file, ends. */
#include <event2/event.h>
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

static uv_loop_t loop;
static struct event_base *base;
static struct event *timer;

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
/* A turn of libuv's loop. It is due when its descriptor is ready or its time has come, and after each call of
 * sloop or libuv outside of its callbacks: only a turn tells the kernel what that call waits for. */
static void turn(evutil_socket_t fd, short what, void *arg) {
  struct timeval wait;
  int ms;
  (void)fd, (void)what, (void)arg;
  uv_run(&loop, UV_RUN_NOWAIT);
  ms = uv_backend_timeout(&loop); /* 0: at once; -1: nothing waits for a time */
  wait.tv_sec = ms / 1000;
  wait.tv_usec = ms % 1000 * 1000;
  if (ms < 0)
    event_del(timer);
  else
    event_add(timer, &wait);
}
static void on_input(evutil_socket_t fd, short what, void *arg) {
  char some[256];
  (void)what, (void)arg;
  if (read(fd, some, sizeof some) == 0) event_base_loopbreak(base);
}
int main(int argc, char **argv) {
  sloop_opts_t o;
  sloop_t *s;
  char why[160];
  struct event *ready, *input;
  if (argc != 2 || uv_loop_init(&loop)) return 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.on_batch = on_batch;
  if (sloop_open(&s, &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  sloop_start(s);
  base = event_base_new();
  if (!base) return 1;
  ready = event_new(base, uv_backend_fd(&loop), EV_READ | EV_PERSIST, turn, NULL);
  timer = evtimer_new(base, turn, NULL);
  input = event_new(base, 0, EV_READ | EV_PERSIST, on_input, NULL); /* this loop's own business */
  if (!ready || !timer || !input || event_add(ready, NULL) || event_add(input, NULL)) return 1;
  turn(-1, 0, NULL);
  event_base_dispatch(base);
  event_free(ready);
  event_free(timer);
  event_free(input);
  event_base_free(base);
  sloop_close(s, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT); /* to its end: nothing is open any more */
  return uv_loop_close(&loop) ? 1 : 0;
}
