/* serve.c - somebody else's test server: the sandbox from the installed header and archives. Puts RECORDS
 * records with KEYS keys into each of two streams, says where it listens, serves until stdin closes. After
 * every GROUP records a stream its clock moves on by 10 ms, so that the order by time is known. */
#include <signal.h>
#include <sloop_sandbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define RECORDS 5000
#define KEYS 40
#define GROUP 100

static char room[64];
static void on_room(uv_handle_t *h, size_t want, uv_buf_t *ret) {
  (void)h, (void)want;
  *ret = uv_buf_init(room, sizeof room);
}
static void on_input(uv_stream_t *in, ssize_t n, const uv_buf_t *buf) {
  (void)buf;
  if (n >= 0) return;
  uv_close((uv_handle_t *)in, NULL);
  sloop_sandbox_stop(in->data, NULL, NULL);
}

int main(void) {
  uv_loop_t loop;
  uv_pipe_t in;
  sloop_sandbox_t *box;
  sloop_sandbox_opts_t o;
  if (uv_loop_init(&loop)) return 1;
  signal(SIGPIPE, SIG_IGN); /* a client may leave before it has its answer */
  sloop_sandbox_opts_init(&o);
  o.write_bytes_per_second = 0;
  o.write_records_per_second = 0;
  if (sloop_sandbox_start(&box, &loop, &o) || sloop_sandbox_stream(box, "orders", 4) ||
      sloop_sandbox_stream(box, "refunds", 2))
    return 1;
  for (int i = 0; i < RECORDS; i++) {
    char key[32], data[64];
    if (i % GROUP == 0) sloop_sandbox_move_clock(box, 10);
    snprintf(key, sizeof key, "key-%d", i % KEYS);
    snprintf(data, sizeof data, "key-%d %d %d", i % KEYS, i / KEYS, i / GROUP);
    if (sloop_sandbox_put(box, "orders", key, strlen(key), data, strlen(data), NULL, NULL) ||
        sloop_sandbox_put(box, "refunds", key, strlen(key), data, strlen(data), NULL, NULL))
      return 1;
  }
  uv_pipe_init(&loop, &in, 0);
  in.data = box;
  if (uv_pipe_open(&in, 0) || uv_read_start((uv_stream_t *)&in, on_room, on_input)) return 1;
  printf("%s %d %d\n", sloop_sandbox_url(box), RECORDS, KEYS);
  fflush(stdout);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}
