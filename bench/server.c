/* server.c - the sandbox with its limits off, in a process and on a loop of its own, until the benchmark
 * closes it. */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

typedef struct bench_sandbox {
  sloop_sandbox_t *box;
  uv_pipe_t life;
  char nothing[16];
} bench_sandbox;

static void on_room(uv_handle_t *h, size_t wanted, uv_buf_t *ret) {
  bench_sandbox *b = h->data;
  (void)wanted;
  *ret = uv_buf_init(b->nothing, sizeof b->nothing);
}

static void on_life(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  bench_sandbox *b = stream->data;
  (void)buf;
  if (n >= 0) return;
  uv_close((uv_handle_t *)stream, NULL);
  sloop_sandbox_stop(b->box, NULL, NULL);
}

static int make_stream(bench_sandbox *b, const bench_stream *s) {
  if (!s->records) return sloop_sandbox_stream(b->box, s->name, s->shards);
  return sloop_sandbox_synthetic(b->box, s->name, s->shards, s->records, s->record_bytes,
                                 s->records_per_second, 1);
}

/* Writes its address (64 bytes) to `say`; returns the exit code when `life` closes. */
static int serve(int life, int say, const bench_stream *streams) {
  uv_loop_t loop;
  bench_sandbox b = {0};
  sloop_sandbox_opts_t o;
  char url[64] = "";
  if (uv_loop_init(&loop)) return 1;
  sloop_sandbox_opts_init(&o);
  o.iterator_ms = 3600 * 1000;
  o.reads_per_second = 0;
  o.read_bytes_per_second = 0;
  o.write_bytes_per_second = 0;
  o.write_records_per_second = 0;
  o.push_bytes_per_second = 0;
  o.consumer_limits = 0;
  int err = sloop_sandbox_start(&b.box, &loop, &o);
  if (err) {
    fprintf(stderr, "bench: the sandbox does not start: %s\n", sloop_strerror(err));
    return 1;
  }
  for (; streams->name; streams++) {
    err = make_stream(&b, streams);
    if (err) fprintf(stderr, "bench: stream %s: %s\n", streams->name, sloop_strerror(err));
    if (err) return 1;
  }
  uv_pipe_init(&loop, &b.life, 0);
  b.life.data = &b;
  if (uv_pipe_open(&b.life, life) || uv_read_start((uv_stream_t *)&b.life, on_room, on_life)) return 1;
  snprintf(url, sizeof url, "%s", sloop_sandbox_url(b.box));
  if (write(say, url, sizeof url) != sizeof url) return 1;
  close(say);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}

void bench_server_start(bench_server *s, int cpu, const bench_stream *streams) {
  int life[2], say[2];
  if (pipe(life) || pipe(say)) bench_die("pipe: %s", strerror(errno));
  fflush(NULL);
  memset(s, 0, sizeof *s);
  s->pid = fork();
  if (s->pid < 0) bench_die("fork: %s", strerror(errno));
  if (s->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    close(life[1]);
    close(say[0]);
    bench_pin(cpu);
    exit(serve(life[0], say[1], streams));
  }
  close(life[0]);
  close(say[1]);
  bench_read_whole(say[0], s->url, sizeof s->url, "the server process");
  close(say[0]);
  s->life = life[1];
}

double bench_server_cpu_s(const bench_server *s) {
  clockid_t id;
  if (clock_getcpuclockid(s->pid, &id)) bench_die("the server process is gone");
  return bench_clock_s(id);
}

void bench_server_stop(bench_server *s) {
  int status = 0;
  close(s->life);
  while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status)) bench_die("the server process failed (status %d)", status);
}
