/* fleet_block_main.c - one worker of a fleet as a user writes it, whose callback blocks the loop on demand: a
 * line MS on standard input, and the next on_batch sleeps so long, with its batch in hand. Prints a JSON line
 * for each record as stream-tail -J does, with "at", this machine's monotonic clock in ns when it was handed
 * over; and lines with "event" for what on_lease tells and for the beginning and the end of each sleep.
 *
 * Arguments are those that fleet.py gives stream-tail: -G APP -t STREAM -o oldest -b URL --store PLACE -X
 * NAME=VALUE. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "sloop.h"

typedef struct program {
  uv_loop_t loop;
  uv_pipe_t input;
  uv_signal_t end;
  sloop_t *s;
  char text[64]; /* of a line that has begun */
  size_t text_n;
  uint64_t block_ms; /* before the next batch is given back */
  char input_room[256];
} program;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell(program *p, const char *event, const char *shard, uint64_t epoch) {
  printf("{\"event\":\"%s\",\"worker\":\"%s\",\"shard\":\"%s\",\"epoch\":%" PRIu64 ",\"at\":%" PRIu64 "}\n",
         event, p->s ? sloop_worker(p->s) : "", shard, epoch, now_ns());
  fflush(stdout);
}

static void block(program *p) {
  struct timespec t = {(time_t)(p->block_ms / 1000), (long)(p->block_ms % 1000) * 1000000};
  p->block_ms = 0;
  tell(p, "blocks", "", 0);
  while (nanosleep(&t, &t)) continue;
  tell(p, "wakes", "", 0);
}

static void print_text(sloop_str_t s) {
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.base[i];
    printf("%02x", c);
  }
}

static void print_record(program *p, const sloop_record_t *r, uint64_t at) {
  printf("{\"shard\":\"%s\",\"seq\":\"%.*s\",\"sub\":%" PRIu64 ",\"epoch\":%" PRIu64
         ",\"worker\":\"%s\",\"at\":%" PRIu64 ",\"hex\":\"",
         r->shard, (int)r->seq.len, r->seq.base, r->sub, r->epoch, sloop_worker(p->s), at);
  print_text(r->event_id.len ? r->event_id : r->data);
  puts("\"}");
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  program *p = arg;
  (void)s;
  uint64_t at = now_ns();
  size_t n = sloop_batch_count(b);
  for (size_t i = 0; i < n; i++) print_record(p, sloop_batch_at(b, i), at);
  fflush(stdout);
  if (p->block_ms) block(p);
  sloop_batch_done(b, n);
}

static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  program *p = arg;
  (void)s;
  tell(p, sloop_lease_event_name(e->kind), e->shard, e->epoch);
  if (*e->text) fprintf(stderr, "%s\n", e->text);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s;
  (void)arg;
  fprintf(stderr, "%s: %s\n", sloop_err_name(e->code), e->message);
  if (e->fatal) exit(1);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  program *p = arg;
  (void)s;
  (void)status;
  p->s = NULL;
  uv_close((uv_handle_t *)&p->input, NULL);
  uv_close((uv_handle_t *)&p->end, NULL);
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  if (status) fprintf(stderr, "stop: %s\n", sloop_err_name(status));
  sloop_close(s, on_closed, arg);
}

static void on_signal(uv_signal_t *signal, int number) {
  program *p = signal->data;
  (void)number;
  uv_signal_stop(signal);
  sloop_stop(p->s, 5000, on_stopped, p);
}

static void give_room(uv_handle_t *handle, size_t want, uv_buf_t *buf) {
  program *p = handle->data;
  (void)want;
  *buf = uv_buf_init(p->input_room, sizeof p->input_room);
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  program *p = stream->data;
  if (n < 0) uv_read_stop(stream);
  for (ssize_t i = 0; i < n; i++) {
    if (buf->base[i] != '\n' && p->text_n + 1 < sizeof p->text) {
      p->text[p->text_n++] = buf->base[i];
      continue;
    }
    p->text[p->text_n] = 0;
    p->text_n = 0;
    p->block_ms = strtoull(p->text, NULL, 10);
  }
}

/* -X NAME=VALUE */
static int take_knob(sloop_opts_t *o, const char *text) {
  const char *value = strchr(text, '=');
  if (!value) return 0;
  size_t n = (size_t)(value++ - text);
#define NUMBER(name)                                           \
  if (n == sizeof #name - 1 && strncmp(text, #name, n) == 0) { \
    o->name = (uint32_t)strtoul(value, NULL, 10);              \
    return 1;                                                  \
  }
#define TEXT(name)                                             \
  if (n == sizeof #name - 1 && strncmp(text, #name, n) == 0) { \
    o->name = value;                                           \
    return 1;                                                  \
  }
  NUMBER(lease_ms)
  NUMBER(checkpoint_ms)
  NUMBER(poll_ms)
  NUMBER(handover_ms)
  NUMBER(stall_ms)
  NUMBER(list_ms)
  TEXT(worker)
  TEXT(store_endpoint)
  return 0;
}

static int take(sloop_opts_t *o, const char *option, const char *value) {
  if (strcmp(option, "-G") == 0)
    o->app = value;
  else if (strcmp(option, "-b") == 0)
    o->endpoint = value;
  else if (strcmp(option, "--store") == 0)
    o->store = value;
  else if (strcmp(option, "-o") == 0)
    o->start.kind = strcmp(value, "oldest") == 0 ? SLOOP_OLDEST : SLOOP_LATEST;
  else
    return strcmp(option, "-X") == 0 && take_knob(o, value);
  return 1;
}

int main(int argc, char **argv) {
  program p = {0};
  sloop_opts_t o;
  char why[160] = "";
  sloop_opts_init(&o);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-J") == 0 || strcmp(argv[i], "-v") == 0) continue; /* what it always does */
    if (argv[i][0] != '-') {
      o.stream = argv[i];
      continue;
    }
    if (i + 1 >= argc || !take(&o, argv[i], argv[i + 1])) {
      fprintf(stderr, "not understood: %s\n", argv[i]);
      return 2;
    }
    i++;
  }
  o.arg = &p;
  o.on_batch = on_batch;
  o.on_lease = on_lease;
  o.on_error = on_error;
  uv_loop_init(&p.loop);
  uv_pipe_init(&p.loop, &p.input, 0);
  uv_signal_init(&p.loop, &p.end);
  p.input.data = p.end.data = &p;
  int r = sloop_open(&p.s, &p.loop, &o, why, sizeof why);
  if (!r) r = sloop_start(p.s);
  if (!r) r = uv_signal_start(&p.end, on_signal, SIGTERM);
  if (!r) r = uv_pipe_open(&p.input, 0);
  if (!r) r = uv_read_start((uv_stream_t *)&p.input, give_room, on_input);
  if (r) {
    fprintf(stderr, "could not start: %s %s\n", sloop_err_name(r), why);
    return 1;
  }
  uv_run(&p.loop, UV_RUN_DEFAULT);
  return uv_loop_close(&p.loop) ? 1 : 0;
}
