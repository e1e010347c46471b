/* seek_main.c - a consumer that is told on standard input what to do, a line each, and says what happens:
 *   move oldest | latest | time MS | seq SHARD SEQ SUB | token JSON      -> "moved STATUS" once it is done
 *   hold / release     batches are kept / all given back, and from then on at once
 *   save               -> "token JSON" or "token STATUS"
 * Records: "r SHARD SEQ SUB"; "out" behind those of a batch that is kept; the tip: "tip"; what failed: "error
 * NAME MESSAGE". usage: move_main STREAM [LARGEST_BATCH] */
#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define HELD_MAX 64

static sloop_t *consumer;
static sloop_batch_t *held[HELD_MAX];
static size_t held_n;
static int holding;
static char input[1 << 20], shard[256], seq[160];
static size_t input_n;

static void give_back(void) {
  for (size_t i = 0; i < held_n; i++) sloop_batch_done(held[i], sloop_batch_count(held[i]));
  held_n = 0;
}
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  size_t n = sloop_batch_count(b);
  for (size_t i = 0; i < n; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    printf("r %s %.*s %llu\n", r->shard, (int)r->seq.len, r->seq.base, (unsigned long long)r->sub);
  }
  fflush(stdout);
  if (holding && held_n < HELD_MAX) {
    held[held_n++] = b;
    puts("out");
    fflush(stdout);
  } else {
    sloop_batch_done(b, n);
  }
}
static void on_tip(sloop_t *s, void *arg) {
  (void)s, (void)arg;
  puts("tip");
  fflush(stdout);
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s, (void)arg;
  printf("error %s %s\n", sloop_err_name(e->code), e->message);
  fflush(stdout);
}
static void on_moved(sloop_t *s, int status, void *arg) {
  (void)s, (void)arg;
  printf("moved %s\n", sloop_err_name(status));
  fflush(stdout);
}
static void save(void) {
  static char token[1 << 20];
  size_t n = sizeof token;
  int r = sloop_token(consumer, token, &n);
  printf("token %s\n", r ? sloop_err_name(r) : token);
  fflush(stdout);
}
static void move(const char *to) {
  sloop_position_t p;
  memset(&p, 0, sizeof p);
  if (!strcmp(to, "oldest")) p.kind = SLOOP_OLDEST;
  if (!strcmp(to, "latest")) p.kind = SLOOP_LATEST;
  if (!strncmp(to, "time ", 5)) {
    p.kind = SLOOP_AT_TIME;
    p.at_ms = atoll(to + 5);
  }
  unsigned long long sub = 0;
  if (sscanf(to, "seq %255s %159s %llu", shard, seq, &sub) == 3) {
    p.kind = SLOOP_AT_SEQ;
    p.shard = shard;
    p.seq = seq;
    p.sub = sub;
  }
  if (!strncmp(to, "token ", 6)) {
    p.kind = SLOOP_AT_TOKEN;
    p.token = to + 6;
  }
  int r = sloop_seek(consumer, &p, on_moved, NULL);
  if (r) on_moved(consumer, r, NULL);
}
static void obey(const char *line) {
  if (!strncmp(line, "move ", 5)) move(line + 5);
  if (!strcmp(line, "save")) save();
  if (!strcmp(line, "hold")) holding = 1;
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
    sloop_close(consumer, NULL, NULL);
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
int main(int argc, char **argv) {
  uv_loop_t loop;
  uv_pipe_t in;
  sloop_opts_t o;
  char why[160];
  if (argc < 2 || uv_loop_init(&loop)) return 2;
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.start.kind = SLOOP_OLDEST;
  o.poll_ms = 200;
  o.order_wait_ms = UINT32_MAX;
  o.batch_records_max = argc > 2 ? (uint32_t)atoi(argv[2]) : 20;
  o.on_batch = on_batch;
  o.on_tip = on_tip;
  o.on_error = on_error;
  if (sloop_open(&consumer, &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  uv_pipe_init(&loop, &in, 0);
  if (uv_pipe_open(&in, 0) || uv_read_start((uv_stream_t *)&in, on_room, on_input)) return 2;
  sloop_start(consumer);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}
