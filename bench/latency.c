/* latency.c - measures the time from a put to the callback, and what reading costs beside it: records that
 * are pushed, and polled at several intervals, from the same server.
 *
 * The writer stamps each record with the moment at which its request begins, so a figure contains the put's
 * way to the server. Puts begin once the reader has been at the tip for a while; the CPU time of that while
 * is the cost of idle shards. CPU per GB is that of a backlog of 1 KiB records, read from its beginning.
 *
 * With the shards each for itself it also says how long a record is here before its callback: from the log's
 * line of its page, which comes when the answer is complete and before it is looked at. */
#include "bench.h"
#include "latency_puts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define PUTS_MAX 100000u
#define SETTLE_S 8.0 /* registering the consumer, subscribing, the first polls */
#define GAP_US 10000u
#define LAST_S 20.0 /* after the last put: what did not come by then is lost */
#define SHARDS_MAX 256u
#define BACKLOG_SHARDS 8u
#define BACKLOG_BYTES 1024u

typedef struct latency_way {
  uint32_t shards, poll_ms; /* 0: pushed */
  int by_shard;             /* the order: each shard by itself, instead of by time across shards */
} latency_way;
typedef struct latency_size {
  uint32_t puts;
  double idle_s;
  uint64_t backlog; /* records */
} latency_size;

typedef struct latency_job {
  latency_way way;
  const char *url, *stream;
  double idle_from_s, puts_from_s;
  uint32_t puts;
} latency_job;
typedef struct latency_figures {
  uint32_t n, late; /* records that came, and those flagged late */
  double idle_cpu_s;
  double p50, p99, max; /* milliseconds */
  double here_p99;      /* the same from the answer on; 0: not measured */
} latency_figures;

typedef struct latency_run {
  const latency_job *job;
  latency_figures *figures;
  double *waits_s, *here_s; /* from the put, and from the answer */
  double answered_s[SHARDS_MAX];
  sloop_t *consumer;
  uv_timer_t timer;
  double cpu_s; /* when idleness began */
} latency_run;

/* ---- the reader ---------------------------------------------------------------------------------------- */
static double sent_s(const sloop_record_t *r) {
  char text[17] = "";
  if (r->data.len != 16) bench_die("a record of %zu bytes came", r->data.len);
  memcpy(text, r->data.base, 16);
  return (double)strtoull(text, NULL, 16) * 1e-9;
}

static void leave(latency_run *run) {
  if (!run->consumer) return;
  sloop_close(run->consumer, NULL, NULL);
  run->consumer = NULL;
  uv_close((uv_handle_t *)&run->timer, NULL);
}

/* shardId-000000000012: 12 */
static double *answered_at(latency_run *run, const char *shard) {
  const char *digits = strrchr(shard, '-');
  unsigned long n = digits ? strtoul(digits + 1, NULL, 10) : SHARDS_MAX;
  if (n >= SHARDS_MAX) bench_die("a shard that is not ours: %s", shard);
  return &run->answered_s[n];
}

static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  char shard[64];
  unsigned records = 0;
  (void)s, (void)level;
  const char *page = strstr(line, "fetch: page shard=");
  if (page && sscanf(page, "fetch: page shard=%63s records=%u", shard, &records) == 2 && records)
    *answered_at(arg, shard) = bench_wall_s();
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  latency_run *run = arg;
  double now_s = bench_wall_s();
  size_t n = sloop_batch_count(b);
  (void)s;
  for (size_t i = 0; i < n && run->figures->n < run->job->puts; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    if (run->job->way.by_shard) run->here_s[run->figures->n] = now_s - *answered_at(run, r->shard);
    run->waits_s[run->figures->n++] = now_s - sent_s(r);
    if (r->flags & SLOOP_REC_LATE) run->figures->late++;
  }
  sloop_batch_done(b, n);
  if (run->figures->n == run->job->puts) leave(run);
}

static void on_lost(uv_timer_t *timer) { leave(timer->data); }

static void on_idle_end(uv_timer_t *timer) {
  latency_run *run = timer->data;
  double last_s = (double)run->job->puts * GAP_US * 1.5e-6 + LAST_S;
  run->figures->idle_cpu_s = bench_cpu_s() - run->cpu_s;
  if (run->figures->n) bench_die("a record came before one was put");
  uv_timer_start(timer, on_lost, (uint64_t)(last_s * 1000), 0);
}

static uint64_t ms_until(double at_s) {
  double left = at_s - bench_wall_s();
  return left > 0 ? (uint64_t)(left * 1000) : 0;
}

static void on_idle_begin(uv_timer_t *timer) {
  latency_run *run = timer->data;
  run->cpu_s = bench_cpu_s();
  uv_timer_start(timer, on_idle_end, ms_until(run->job->puts_from_s), 0);
}

static int smaller_first(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of sorted seconds, in milliseconds. */
static double percentile_ms(const double *waits_s, uint32_t n, uint32_t percent) {
  return waits_s[(size_t)n * percent / 100] * 1e3;
}

static void read_all(const void *job_v, void *result_v) {
  latency_run run = {.job = job_v, .figures = result_v};
  const latency_job *job = job_v;
  latency_figures *f = result_v;
  uv_loop_t loop;
  sloop_opts_t o;
  run.waits_s = calloc(job->puts, sizeof *run.waits_s);
  run.here_s = calloc(job->puts, sizeof *run.here_s);
  if (!run.waits_s || !run.here_s || uv_loop_init(&loop)) bench_die("no memory");
  bench_sloop_options(&o, job->url, job->stream, 1);
  if (job->way.poll_ms)
    o.poll_ms = job->way.poll_ms;
  else
    bench_sloop_push(&o);
  if (job->way.by_shard) {
    o.order = SLOOP_ORDER_SHARD;
    o.log_level = SLOOP_LOG_DEBUG;
    o.on_log = on_log;
  }
  o.on_batch = on_batch;
  o.arg = &run;
  run.consumer = bench_sloop_begin(&loop, &o);
  uv_timer_init(&loop, &run.timer);
  run.timer.data = &run;
  uv_timer_start(&run.timer, on_idle_begin, ms_until(job->idle_from_s), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) bench_die("handles are left open after sloop_close");
  qsort(run.waits_s, f->n, sizeof *run.waits_s, smaller_first);
  if (f->n) {
    f->p50 = percentile_ms(run.waits_s, f->n, 50);
    f->p99 = percentile_ms(run.waits_s, f->n, 99);
    f->max = run.waits_s[f->n - 1] * 1e3;
  }
  if (f->n && job->way.by_shard) {
    qsort(run.here_s, f->n, sizeof *run.here_s, smaller_first);
    f->here_p99 = percentile_ms(run.here_s, f->n, 99);
  }
  free(run.waits_s);
  free(run.here_s);
}

/* ---- one row ------------------------------------------------------------------------------------------- */
/* CPU seconds a GB of answers. */
static double backlog_cost(bench_cpus cpus, const latency_way *way, uint64_t records) {
  bench_stream streams[] = {{"backlog", BACKLOG_SHARDS, records / BACKLOG_SHARDS, BACKLOG_BYTES, 0}, {0}};
  bench_server server;
  bench_read r = {0};
  bench_server_start(&server, cpus.server, streams);
  bench_sloop_job job = {
      .url = server.url, .stream = "backlog", .cbor = 1, .records = records, .push = !way->poll_ms};
  bench_child(cpus.client, 120, bench_sloop, &job, &r, sizeof r);
  bench_server_stop(&server);
  return r.cpu_s / ((double)r.bytes * 1e-9);
}

static int one_row(bench_cpus cpus, const latency_way *way, const latency_size *size) {
  bench_stream streams[] = {{"latency", way->shards, 0, 0, 0}, {0}};
  bench_server server;
  latency_figures f = {0};
  double longest_put_s = 0, begun_s = bench_wall_s(), puts_s = begun_s + SETTLE_S + size->idle_s;
  char name[32] = "push";
  if (way->poll_ms) snprintf(name, sizeof name, "poll %u ms", way->poll_ms);
  bench_server_start(&server, cpus.server, streams);
  latency_job job = {*way, server.url, "latency", begun_s + SETTLE_S, puts_s, size->puts};
  latency_puts puts = {server.url, "latency", puts_s, size->puts, GAP_US};
  unsigned limit_s = (unsigned)(SETTLE_S + size->idle_s + size->puts * GAP_US * 1.5e-6 + 2 * LAST_S);
  bench_started reader = bench_child_start(cpus.client, limit_s, read_all, &job, &f, sizeof f);
  bench_started writer =
      bench_child_start(cpus.server, limit_s, latency_put_all, &puts, &longest_put_s, sizeof longest_put_s);
  bench_child_end(&writer);
  bench_child_end(&reader);
  bench_server_stop(&server);
  double idle = f.idle_cpu_s / size->idle_s * 3600 / way->shards;
  double per_gb = backlog_cost(cpus, way, size->backlog);
  const char *order = way->by_shard ? "shard" : "time";
  printf("%-12s %6u  %-5s %8.2f %8.2f %8.2f %9.3f  %6u of %-6u %10.2f %10.3f %9.2f\n", name, way->shards,
         order, f.p50, f.p99, f.max, f.here_p99, f.n, size->puts, idle, per_gb, longest_put_s * 1e3);
  printf(
      "{\"bench\":\"latency\",\"poll_ms\":%u,\"shards\":%u,\"order\":\"%s\",\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
      "\"max_ms\":%.3f,\"after_answer_p99_ms\":%.3f,\"records\":%u,\"puts\":%u,\"late\":%u,"
      "\"idle_cpu_s_per_shard_hour\":%.3f,\"cpu_s_per_gb\":%.3f,\"longest_put_ms\":%.3f}\n",
      way->poll_ms, way->shards, order, f.p50, f.p99, f.max, f.here_p99, f.n, size->puts, f.late, idle,
      per_gb, longest_put_s * 1e3);
  fflush(stdout);
  return f.n == size->puts;
}

/* ---- options ------------------------------------------------------------------------------------------- */
static void usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--small] [--push | --poll MS] [--shards N] [--order time|shard] [--puts N]\n"
          "Time from a put to the callback, pushed and polled; CPU of idle shards and of a GB.\n"
          "Without --push or --poll: push, poll 250 and poll 1000; without --shards: 1 and 64.\n",
          program);
  exit(2);
}

static uint32_t number(const char *program, const char *text, uint32_t max) {
  char *end = NULL;
  unsigned long n = text ? strtoul(text, &end, 10) : 0;
  if (!text || *end || !n || n > max) usage(program);
  return (uint32_t)n;
}

int main(int argc, char **argv) {
  uint32_t shards[] = {1, 64}, polls[] = {0, 250, 1000};
  size_t shards_n = 2, polls_n = 3;
  latency_size size = {2000, 30, 1600000};
  int by_shard = 0, all = 1;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--small") == 0) {
      size = (latency_size){100, 2, 160000};
    } else if (strcmp(argv[i], "--push") == 0) {
      polls[0] = 0;
      polls_n = 1;
    } else {
      if (strcmp(argv[i], "--poll") == 0) {
        polls[0] = number(argv[0], value, 60000);
        polls_n = 1;
      } else if (strcmp(argv[i], "--shards") == 0) {
        shards[0] = number(argv[0], value, SHARDS_MAX);
        shards_n = 1;
      } else if (strcmp(argv[i], "--puts") == 0) {
        size.puts = number(argv[0], value, PUTS_MAX);
      } else if (strcmp(argv[i], "--order") == 0 && value) {
        by_shard = strcmp(value, "shard") == 0;
        if (!by_shard && strcmp(value, "time") != 0) usage(argv[0]);
      } else {
        usage(argv[0]);
      }
      i++;
    }
  }
  bench_cpus cpus = bench_cpus_find();
  printf(
      "milliseconds from put to callback; here: from the answer on; idle: CPU seconds of an idle shard in an "
      "hour; per GB: CPU seconds\n");
  printf(
      "way          shards  order      p50      p99      max  here p99  records          "
      "     idle     per GB   put max\n");
  for (size_t i = 0; i < shards_n; i++)
    for (size_t k = 0; k < polls_n; k++) {
      latency_way way = {shards[i], polls[k], by_shard};
      if (!one_row(cpus, &way, &size)) all = 0;
    }
  return all ? 0 : 1; /* times only inform; a record that did not come decides */
}
