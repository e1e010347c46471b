/* thread.c - another thread does the work: batches go to it, and it reaches the loop by uv_async_send().
 * usage: thread STREAM; prints payloads until Ctrl-C, or until nobody reads them. */
#include <signal.h>
#include <sloop.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#define OUT_MAX 2 /* as batches_out_max: no more batches are out at once */

typedef struct {
  sloop_batch_t *batch;
  size_t acked; /* so many of its records were printed */
} worked;

/* Shared by both threads, under the lock. */
typedef struct {
  uv_mutex_t lock;
  uv_cond_t more;
  sloop_batch_t *todo[OUT_MAX];
  worked done[OUT_MAX];
  size_t todo_n, done_n;
  int ends, failed; /* failed: nobody reads our output any more */
  uv_async_t wake;  /* uv_async_send() may be called on any thread */
  /* Only the loop's thread looks into these. */
  uv_signal_t sigint;
  sloop_t *s;
} shared;

/* The worker's thread. It reads the records of a batch that is out; it calls no function that changes the
 * consumer or the batch, nor exit(): that would tear down what the loop's thread is using. */
static void work(void *arg) {
  shared *w = (shared *)arg;
  uv_mutex_lock(&w->lock);
  for (;;) {
    sloop_batch_t *batch;
    size_t i;
    int failed;
    while (!w->todo_n && !w->ends) uv_cond_wait(&w->more, &w->lock);
    if (!w->todo_n) break;
    batch = w->todo[0];
    memmove(w->todo, w->todo + 1, --w->todo_n * sizeof w->todo[0]);
    uv_mutex_unlock(&w->lock);
    for (i = 0; i < sloop_batch_count(batch); i++) {
      const sloop_record_t *r = sloop_batch_at(batch, i);
      fwrite(r->data.base, 1, r->data.len, stdout);
      putchar('\n');
    }
    failed = fflush(stdout) != 0;
    uv_mutex_lock(&w->lock);
    w->failed |= failed;
    w->done[w->done_n].batch = batch;
    w->done[w->done_n++].acked = failed ? 0 : sloop_batch_count(batch);
    uv_async_send(&w->wake); /* several sends may become one call of on_wake */
  }
  uv_mutex_unlock(&w->lock);
}
/* The loop's thread, as everything below. */
static void on_stopped(sloop_t *s, int status, void *arg) { /* every batch is back */
  (void)status;
  uv_close((uv_handle_t *)&((shared *)arg)->wake, NULL);
  sloop_close(s, NULL, NULL);
}
static void stop(shared *w) { /* again: refused, and nothing happens */
  if (sloop_stop(w->s, UINT64_MAX, on_stopped, w) == 0) uv_close((uv_handle_t *)&w->sigint, NULL);
}
static void on_wake(uv_async_t *wake) {
  shared *w = (shared *)wake->data;
  int failed;
  uv_mutex_lock(&w->lock);
  while (w->done_n) {
    w->done_n--;
    sloop_batch_done(w->done[w->done_n].batch, w->done[w->done_n].acked);
  }
  failed = w->failed;
  uv_mutex_unlock(&w->lock);
  if (failed) stop(w);
}
static void on_batch(sloop_t *s, sloop_batch_t *batch, void *arg) {
  shared *w = (shared *)arg;
  (void)s;
  uv_mutex_lock(&w->lock);
  w->todo[w->todo_n++] = batch;
  uv_cond_signal(&w->more);
  uv_mutex_unlock(&w->lock);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s;
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) stop((shared *)arg);
}
static void on_sigint(uv_signal_t *sigint, int number) {
  (void)number;
  stop((shared *)sigint->data);
}
int main(int argc, char **argv) {
  static shared w;
  uv_loop_t *loop = uv_default_loop();
  uv_thread_t worker;
  sloop_opts_t o;
  char why[160];
  if (argc != 2 || uv_mutex_init(&w.lock) || uv_cond_init(&w.more)) return 2;
  signal(SIGPIPE, SIG_IGN);
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.batches_out_max = OUT_MAX;
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.arg = &w;
  if (sloop_open(&w.s, loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  uv_async_init(loop, &w.wake, on_wake);
  uv_signal_init(loop, &w.sigint);
  w.wake.data = w.sigint.data = &w;
  uv_signal_start(&w.sigint, on_sigint, 2);
  if (uv_thread_create(&worker, work, &w)) return 2;
  sloop_start(w.s);
  uv_run(loop, UV_RUN_DEFAULT);
  uv_mutex_lock(&w.lock);
  w.ends = 1;
  uv_cond_signal(&w.more);
  uv_mutex_unlock(&w.lock);
  uv_thread_join(&worker);
  uv_cond_destroy(&w.more);
  uv_mutex_destroy(&w.lock);
  return uv_loop_close(loop) || w.failed ? 1 : 0;
}
