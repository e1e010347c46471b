/* metrics_main.c - consumers with metrics, told on standard input what to do, a line each:
 *   start / stop       all of them -> "stopped NAME" for each
 *   hold / release     records are handed over and not acknowledged / acknowledged again
 *   pause / resume     of all shards
 *   close-metrics      before the consumers; the end of the input closes the consumers only
 * It says "url URL", "tip STREAM", "log LINE", "error NAME MESSAGE"; "refused NAME WHY" when metrics can't be
 * opened. usage: metrics_main [NAME=VALUE]... STREAM...; NAME: listen, cloudwatch, cloudwatch_set, cloudwatch_ms,
 * app, store, store_endpoint, worker, lease_ms, list_ms */
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define STREAMS_MAX 8
#define HELD_MAX 4096

static sloop_t *consumers[STREAMS_MAX];
static const char *streams[STREAMS_MAX];
static size_t consumers_n;
static sloop_metrics_t *metrics;
static sloop_batch_t *held[HELD_MAX];
static size_t held_n;
static int holding;
static char input[4096];
static size_t input_n;

static void say(const char *what, const char *more) {
  printf("%s %s\n", what, more);
  fflush(stdout);
}
static void give_back(void) {
  for (size_t i = 0; i < held_n; i++) sloop_batch_done(held[i], sloop_batch_count(held[i]));
  held_n = 0;
}
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  if (holding && held_n < HELD_MAX)
    held[held_n++] = b;
  else
    sloop_batch_done(b, sloop_batch_count(b));
}
static void on_tip(sloop_t *s, void *arg) {
  (void)s;
  say("tip", (const char *)arg);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s, (void)arg;
  printf("error %s ", sloop_err_name(e->code));
  say("", e->message);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  (void)s, (void)arg, (void)level;
  say("log", line);
}
static void on_stopped(sloop_t *s, int status, void *arg) {
  (void)s, (void)arg;
  say("stopped", sloop_err_name(status));
}
static void obey(const char *line) {
  for (size_t i = 0; i < consumers_n; i++) {
    if (!strcmp(line, "start")) sloop_start(consumers[i]);
    if (!strcmp(line, "stop")) sloop_stop(consumers[i], 5000, on_stopped, NULL);
    if (!strcmp(line, "pause")) sloop_pause(consumers[i], NULL);
    if (!strcmp(line, "resume")) sloop_resume(consumers[i], NULL);
  }
  if (!strcmp(line, "hold")) holding = 1;
  if (!strcmp(line, "close-metrics")) sloop_metrics_close(metrics);
  if (!strcmp(line, "release")) {
    holding = 0;
    give_back();
  }
}
static void on_room(uv_handle_t *h, size_t want, uv_buf_t *ret) {
  (void)h, (void)want;
  *ret = uv_buf_init(input + input_n, (unsigned)(sizeof input - input_n));
}
static void on_input(uv_stream_t *in, ssize_t n, const uv_buf_t *buf) {
  (void)buf;
  if (n < 0) {
    give_back();
    uv_close((uv_handle_t *)in, NULL);
    for (size_t i = 0; i < consumers_n; i++) sloop_close(consumers[i], NULL, NULL);
    return;
  }
  input_n += (size_t)n;
  char *end;
  while ((end = memchr(input, '\n', input_n))) {
    *end = 0;
    obey(input);
    size_t used = (size_t)(end - input) + 1;
    memmove(input, input + used, input_n - used);
    input_n -= used;
  }
}
static void set(sloop_opts_t *o, sloop_metrics_opts_t *m, const char *name, const char *value) {
  if (!strncmp(name, "listen=", 7)) m->listen = value;
  if (!strncmp(name, "cloudwatch=", 11)) m->cloudwatch = value;
  if (!strncmp(name, "cloudwatch_set=", 15)) m->cloudwatch_set = value;
  if (!strncmp(name, "cloudwatch_ms=", 14)) m->cloudwatch_ms = (uint32_t)atoi(value);
  if (!strncmp(name, "app=", 4)) o->app = value;
  if (!strncmp(name, "store=", 6)) o->store = value;
  if (!strncmp(name, "store_endpoint=", 15)) o->store_endpoint = value;
  if (!strncmp(name, "worker=", 7)) o->worker = value;
  if (!strncmp(name, "lease_ms=", 9)) o->lease_ms = (uint32_t)atoi(value);
  if (!strncmp(name, "list_ms=", 8)) o->list_ms = (uint32_t)atoi(value);
  if (!strncmp(name, "unready_ms=", 11)) o->unready_ms = (uint32_t)atoi(value);
}
int main(int argc, char **argv) {
  uv_loop_t loop;
  uv_pipe_t in;
  sloop_opts_t o;
  sloop_metrics_opts_t m;
  char why[160];
  if (uv_loop_init(&loop)) return 2;
  sloop_opts_init(&o);
  sloop_metrics_opts_init(&m);
  for (int i = 1; i < argc; i++) {
    const char *value = strchr(argv[i], '=');
    if (value)
      set(&o, &m, argv[i], value + 1);
    else if (consumers_n < STREAMS_MAX)
      streams[consumers_n++] = argv[i];
  }
  o.start.kind = SLOOP_OLDEST;
  o.poll_ms = 200;
  o.log_level = SLOOP_LOG_INFO;
  o.on_batch = on_batch;
  o.on_tip = on_tip;
  o.on_error = on_error;
  o.on_log = on_log;
  for (size_t i = 0; i < consumers_n; i++) {
    union {
      const char *in;
      void *out;
    } name = {streams[i]};
    o.arg = name.out;
    o.stream = streams[i];
    o.join = i ? consumers[0] : NULL;
    if (sloop_open(&consumers[i], &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  }
  int r = sloop_metrics_open(&metrics, consumers[0], &m, why, sizeof why);
  for (size_t i = 1; i < consumers_n && !r; i++) r = sloop_metrics_add(metrics, consumers[i]);
  if (r) {
    printf("refused %s ", sloop_err_name(r));
    say("", why);
  } else {
    say("url", sloop_metrics_url(metrics));
  }
  uv_pipe_init(&loop, &in, 0);
  if (uv_pipe_open(&in, 0) || uv_read_start((uv_stream_t *)&in, on_room, on_input)) return 2;
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}
