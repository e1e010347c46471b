/* admin_main.c - an operator that is told on standard input what to ask, a line each, and answers with a line
 * of JSON each: {"status":"OK", "message":"...", "text":"..."} and, for leases, all of them. start | leases |
 * explain SHARD | release NAME | reset SHARD|all oldest|latest|time MS|seq N SUB [force] | close usage:
 * admin_main STREAM APP STORE STORE_ENDPOINT|- SCHEMA LEASE_MS WORKER */
#include "cli/lease_explain.h"
#include "cli/lease_result.h"
#include "cli/lease_words.h"

#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static sloop_t *consumer;
static slp_mem *mem; /* for words */
static uv_pipe_t in;
static char input[1 << 16];
static size_t input_n;
static unsigned long long records;

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s, (void)arg;
  records += sloop_batch_count(b);
  sloop_batch_done(b, sloop_batch_count(b));
}

static void text(const char *name, const char *s, const char *end) {
  printf("\"%s\":\"", name);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') putchar('\\');
    if ((unsigned char)*s < ' ')
      printf("\\u%04x", (unsigned)*s);
    else
      putchar(*s);
  }
  printf("\"%s", end);
}

static void begin_answer(int status, const sloop_error_t *e) {
  putchar('{');
  text("status", sloop_err_name(status), ",");
  text("message", e ? e->message : "", ",");
}

static void end_answer(void) {
  printf("\"records\":%llu}\n", records);
  fflush(stdout);
}

static void told(int status, const char *what, const sloop_error_t *e) {
  begin_answer(status, e);
  text("text", what, ",");
  end_answer();
}

/* In the words of stream-tail. */
static void on_result(sloop_admin_t *s, int status, const sloop_admin_result_t *r, const sloop_error_t *e,
                      void *arg) {
  slp_buf words;
  (void)s, (void)arg;
  slp_buf_init(&words, mem, 1 << 20);
  if (r && slp_lease_result(&words, status, r)) exit(2);
  told(status, slp_buf_z(&words), e);
  slp_buf_free(&words);
}

static void on_explanation(sloop_admin_t *s, int status, const sloop_explanation_t *x, const sloop_error_t *e,
                           void *arg) {
  slp_buf words;
  (void)s, (void)arg;
  slp_buf_init(&words, mem, 1 << 20);
  if (x && slp_lease_explain(&words, x)) exit(2);
  told(status, slp_buf_z(&words), e);
  slp_buf_free(&words);
}

static void on_leases(sloop_admin_t *s, int status, const sloop_leases_t *l, const sloop_error_t *e,
                      void *arg) {
  static const char *const states[] = {"", "free", "owned", "owner dead"};
  (void)s, (void)arg;
  begin_answer(status, e);
  printf("\"leases\":[");
  for (size_t i = 0; l && i < l->leases_n; i++) {
    const sloop_lease_t *x = l->leases[i];
    char position[200];
    slp_position_text(&x->position, position);
    printf("%s{", i ? "," : "");
    text("shard", x->shard, ",");
    text("owner", x->owner, ",");
    text("claim", x->claim, ",");
    text("position", position, ",");
    text("parent", x->parents[0], ",");
    text("adjacent_parent", x->parents[1], ",");
    text("state", states[x->state], ",");
    printf("\"epoch\":%llu,\"parked\":%d,\"written_at_ms\":%lld,\"behind_ms\":%lld}",
           (unsigned long long)x->epoch, x->parked, (long long)x->written_at_ms, (long long)x->behind_ms);
  }
  printf("],\"workers\":[");
  for (size_t i = 0; l && i < l->workers_n; i++) {
    const sloop_worker_t *w = l->workers[i];
    printf("%s{", i ? "," : "");
    text("worker", w->worker, ",");
    text("host", w->host, ",");
    printf(
        "\"counter\":%llu,\"lease_ms\":%u,\"held\":%u,\"weight\":%u,\"leads\":%d,\"leaving\":%d,\"dead\":%d}",
        (unsigned long long)w->counter, w->lease_ms, w->held, w->weight, w->leads, w->leaving, w->dead);
  }
  printf("],\"bad\":[");
  for (size_t i = 0; l && i < l->bad_rows_n; i++) {
    printf("%s{", i ? "," : "");
    text("row", l->bad_rows[i], "}");
  }
  printf("],");
  end_answer();
}

static int reset(const char *line) {
  char shard[129], kind[16], number[160] = "0";
  unsigned long long sub = 0;
  sloop_position_t p;
  memset(&p, 0, sizeof p);
  if (sscanf(line, "%128s %15s %159s %llu", shard, kind, number, &sub) < 2) return SLOOP_EOPTION;
  if (!strcmp(kind, "oldest")) p.kind = SLOOP_OLDEST;
  if (!strcmp(kind, "latest")) p.kind = SLOOP_LATEST;
  if (!strcmp(kind, "time")) p.kind = SLOOP_AT_TIME;
  if (!strcmp(kind, "seq")) p.kind = SLOOP_AT_SEQ;
  p.at_ms = atoll(number);
  p.seq = number;
  p.sub = sub;
  return sloop_admin_reset(sloop_admin_of(consumer), strcmp(shard, "all") ? shard : NULL, &p,
                           strstr(line, " force") != NULL, on_result, NULL);
}

static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status, (void)arg;
  puts("{\"status\":\"closed\"}");
  fflush(stdout);
}

static void end(void) {
  if (consumer) sloop_close(consumer, on_closed, NULL);
  if (consumer) uv_close((uv_handle_t *)&in, NULL);
  consumer = NULL;
}

static void obey(const char *line) {
  int r = 0;
  if (!consumer) return;
  if (!strcmp(line, "start")) told(sloop_start(consumer), "", NULL);
  if (!strcmp(line, "records")) told(0, "", NULL);
  if (!strcmp(line, "leases")) r = sloop_admin_leases(sloop_admin_of(consumer), on_leases, NULL);
  if (!strncmp(line, "explain ", 8))
    r = sloop_admin_explain(sloop_admin_of(consumer), line + 8, on_explanation, NULL);
  if (!strncmp(line, "release ", 8))
    r = sloop_admin_release(sloop_admin_of(consumer), line + 8, on_result, NULL);
  if (!strncmp(line, "reset ", 6)) r = reset(line + 6);
  if (!strcmp(line, "close")) end();
  if (r) told(r, "", NULL);
}

static void on_room(uv_handle_t *h, size_t want, uv_buf_t *ret) {
  (void)h, (void)want;
  *ret = uv_buf_init(input + input_n, (unsigned)(sizeof input - input_n));
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  (void)stream, (void)buf;
  if (n < 0) {
    end();
    return;
  }
  input_n += (size_t)n;
  for (char *stop; (stop = memchr(input, '\n', input_n));) {
    *stop = 0;
    obey(input);
    size_t used = (size_t)(stop - input) + 1;
    memmove(input, input + used, input_n - used);
    input_n -= used;
  }
}

int main(int argc, char **argv) {
  uv_loop_t loop;
  sloop_opts_t o;
  mem = slp_mem_new(NULL, NULL);
  char why[160];
  if (argc < 8 || uv_loop_init(&loop)) return 2;
  sloop_opts_init(&o);
  o.stream = argv[1];
  o.app = argv[2];
  o.store = argv[3];
  o.store_endpoint = strcmp(argv[4], "-") ? argv[4] : NULL;
  o.schema = argv[5];
  o.lease_ms = (uint32_t)atoi(argv[6]);
  o.worker = argv[7];
  o.start.kind = SLOOP_OLDEST;
  o.poll_ms = 200;
  o.on_batch = on_batch;
  if (sloop_open(&consumer, &loop, &o, why, sizeof why)) return fprintf(stderr, "%s\n", why), 2;
  uv_pipe_init(&loop, &in, 0);
  if (uv_pipe_open(&in, 0) || uv_read_start((uv_stream_t *)&in, on_room, on_input)) return 2;
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}
