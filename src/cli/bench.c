/* bench.c - measures how fast a stream is read. If the command line gives no stream, a sandbox in a child
 * process serves a synthetic stream. The CPU time of that server does not count as the reader's. */
#include "cli/bench.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/app.h"
#include "cli/args.h"
#include "cli/consumer_run.h"
#include "cli/exit.h"
#include "cli/histogram.h"
#include "cli/people_lines.h"
#include "cli/progress_line.h"
#include "cli/serve.h"
#include "cli/shard_numbers.h"
#include "codec/json_write.h"
#include "program/program.h"

#include <sloop.h>
#include <stdio.h>

#define DEFAULT_SECONDS 10
#define OWN_STREAM "bench"
#define OWN_SHARDS "4"
#define OWN_RECORD_BYTES 1024
#define CHILD_START_MS 10000
/* Latency is measured only for records that arrived after the command began, in batches that are at most this
 * far behind the newest record of the stream. Any other record had been waiting in the stream before this
 * program asked for it, so its age is not the latency of reading. */
#define AT_TIP_MS 2000

typedef struct shard_row { /* what was read from one shard */
  uint64_t records, bytes;
} shard_row;

typedef struct bench {
  slp_app app;
  slp_cli_consumer consumer;
  slp_progress progress;
  slp_own_child child; /* the sandbox's process; pid -1: there is no child */
  slp_buf url;         /* endpoint of the child's sandbox */
  sloop_opts_t opts;
  slp_names names;
  shard_row *rows; /* owned; indexed by the number that `names` gives to a shard */
  uint32_t rows_cap;
  slp_spread latency_ms; /* from a record's arrival in the stream to the callback */
  sloop_stats_t first;   /* statistics when measuring began */
  /* Before the first record: the last time at which is_unsettled() returned 1. The report is printed if no
   * record comes within the time of the measurement after that. */
  uint64_t unsettled_us;
  /* begun_us, first_us and end_us are monotonic times. first_cpu_us and end_cpu_us are CPU time of this
   * process; child_cpu_us is CPU time of the child. */
  int64_t begun_ms; /* by the wall clock */
  uint64_t begun_us, first_us, first_cpu_us, end_us, end_cpu_us, child_cpu_us;
  uint64_t sampled_us; /* when the lag was last sampled */
  /* For a least-squares fit of lag (y, in ms) over time (x, in s): the count of samples and the sums of x, y,
   * x*x and x*y. */
  double lag_n, lag_x, lag_y, lag_xx, lag_xy;
  uint64_t lag_last_ms; /* the last sample of the lag; UINT64_MAX: it was not known */
  uint64_t records;
  /* measuring: 1 once the first record has come. ended: 1 once the consumer is stopped */
  uint8_t measuring, ended;
} bench;

static void begin_measuring(bench *n) {
  n->measuring = 1;
  n->first_us = slp_program_mono_us();
  n->first_cpu_us = slp_program_cpu_us();
  n->child_cpu_us = slp_own_child_cpu_us(&n->child);
  slp_cli_consumer_stats(&n->consumer, &n->first);
  /* the first record and its page count, as they do in the figures of the shards */
  n->first.records = n->first.payload_bytes = n->first.page_bytes = n->first.late = 0;
}

static shard_row *row_of(bench *n, const char *shard) {
  uint32_t number = slp_names_number(&n->names, shard);
  if (number == UINT32_MAX) return NULL;
  if (number >= n->rows_cap) {
    uint32_t cap = n->rows_cap ? n->rows_cap * 2 : 64;
    while (cap <= number) cap *= 2;
    shard_row *rows = slp_realloc(n->app.mem, n->rows, cap * sizeof *rows);
    if (!rows) return NULL;
    memset(rows + n->rows_cap, 0, (cap - n->rows_cap) * sizeof *rows);
    n->rows = rows;
    n->rows_cap = cap;
  }
  return &n->rows[number];
}

static void on_batch(slp_cli_consumer *c, sloop_batch_t *b) {
  bench *n = c->user;
  if (!n->measuring) begin_measuring(n);
  int64_t now_ms = slp_program_wall_ms();
  size_t count = sloop_batch_count(b);
  int64_t behind_ms = sloop_batch_behind_ms(b);
  int at_tip = behind_ms >= 0 && behind_ms <= AT_TIP_MS;
  n->records += count;
  const char *shard = NULL;
  shard_row *row = NULL;
  for (size_t i = 0; i < count; i++) {
    const sloop_record_t *r = sloop_batch_at(b, i);
    if (r->shard != shard) {
      shard = r->shard;
      row = row_of(n, shard);
    }
    if (row) {
      row->records++;
      row->bytes += r->data.len;
    }
    if (at_tip && r->arrived_at_ms >= n->begun_ms)
      slp_spread_add(&n->latency_ms, now_ms > r->arrived_at_ms ? (uint64_t)(now_ms - r->arrived_at_ms) : 0);
  }
  sloop_batch_done(b, count);
}

static void end_bench(bench *n) {
  if (n->ended) return;
  n->ended = 1;
  n->end_us = slp_program_mono_us();
  n->end_cpu_us = slp_program_cpu_us();
  uint64_t child_us = slp_own_child_cpu_us(&n->child);
  n->child_cpu_us = child_us > n->child_cpu_us ? child_us - n->child_cpu_us : 0;
  if (!n->measuring) { /* no record has come: the report covers the time since the start */
    n->first_us = n->begun_us;
    n->first_cpu_us = n->end_cpu_us;
  }
  slp_cli_consumer_stop(&n->consumer, 0);
}

static void sample_lag(bench *n) {
  uint64_t now_us = slp_program_mono_us();
  if (!n->measuring || now_us - n->sampled_us < 250000u) return;
  n->sampled_us = now_us;
  sloop_stats_t st;
  slp_cli_consumer_stats(&n->consumer, &st);
  n->lag_last_ms = st.behind_ms_now;
  if (st.behind_ms_now == UINT64_MAX) return;
  double x = (double)(now_us - n->first_us) / 1e6, y = (double)st.behind_ms_now;
  n->lag_n += 1;
  n->lag_x += x;
  n->lag_y += y;
  n->lag_xx += x * x;
  n->lag_xy += x * y;
}

static void look_at(const sloop_shard_stats_t *shard, void *arg) {
  uint8_t *unsettled = arg;
  if (shard->state == SLOOP_SHARD_FAILS || shard->state == SLOOP_SHARD_WAITS_FOR_ANOTHER) *unsettled = 1;
}

/* Before the first record: returns 1 if records may still come, because no answer has come yet, a shard fails
 * at the moment, or a shard waits for another shard. Returns 0 if the stream is silent. */
static int is_unsettled(bench *n) {
  uint8_t unsettled = !slp_cli_consumer_answered(&n->consumer);
  if (!unsettled && n->consumer.s) sloop_shard_stats_each(n->consumer.s, look_at, &unsettled);
  return unsettled;
}

static void on_tick(slp_app *app) {
  bench *n = app->user;
  if (n->ended) return;
  slp_cli_consumer_tick(&n->consumer);
  slp_progress_tick(&n->progress, &n->consumer);
  sample_lag(n);
  uint64_t seconds = app->args->seconds ? app->args->seconds : DEFAULT_SECONDS;
  uint64_t now_us = slp_program_mono_us();
  if (!n->measuring && is_unsettled(n)) n->unsettled_us = now_us;
  if (now_us - (n->measuring ? n->first_us : n->unsettled_us) >= seconds * 1000000u) end_bench(n);
  uint64_t timeout_us = app->args->timeout_ms * 1000u;
  if (timeout_us && !n->measuring && now_us - n->begun_us >= timeout_us) end_bench(n);
}

/* ---- the report ----------------------------------------------------------------------------- */

typedef struct figures {
  double seconds, records, payload_mb, page_mb, calls, cpu_seconds, lag_slope;
  sloop_stats_t now;
  uint64_t throttles, retries, late;
  int slope_known;
} figures;

static figures work_out(bench *n) {
  figures f = {0};
  slp_cli_consumer_stats(&n->consumer, &f.now);
  f.seconds = (double)(n->end_us - n->first_us) / 1e6;
  if (f.seconds <= 0) f.seconds = 1e-6;
  f.records = (double)(f.now.records - n->first.records);
  f.payload_mb = (double)(f.now.payload_bytes - n->first.payload_bytes) / 1e6;
  f.page_mb = (double)(f.now.page_bytes - n->first.page_bytes) / 1e6;
  f.calls = (double)(f.now.calls - n->first.calls);
  f.throttles = f.now.throttles - n->first.throttles;
  f.retries = f.now.retries - n->first.retries;
  f.late = f.now.late - n->first.late;
  f.cpu_seconds = (double)(n->end_cpu_us - n->first_cpu_us) / 1e6;
  double d = n->lag_n * n->lag_xx - n->lag_x * n->lag_x;
  f.slope_known = n->lag_n >= 3 && d > 0;
  if (f.slope_known) f.lag_slope = (n->lag_n * n->lag_xy - n->lag_x * n->lag_y) / d;
  return f;
}

static int report_text(bench *n, const figures *f, slp_buf *b) {
  const slp_spread *l = &n->latency_ms;
  slp_buf_addf(b, "%s: %u shard%s, %.2f s%s\n", n->opts.stream, n->names.n, n->names.n == 1 ? "" : "s",
               f->seconds, n->child.pid > 0 ? ", from a sandbox in its own process" : "");
  for (uint32_t i = 0; i < n->names.n && i < n->rows_cap; i++)
    slp_buf_addf(b, "%s: %.0f records/s, %.2f MB/s\n", n->names.name[i],
                 (double)n->rows[i].records / f->seconds, (double)n->rows[i].bytes / 1e6 / f->seconds);
  slp_buf_addf(b,
               "total: %.0f records/s, %.2f MB/s of payload, %.2f MB/s of pages, %.1f calls/s, "
               "%llu throttles, %llu retries, %llu late\n",
               f->records / f->seconds, f->payload_mb / f->seconds, f->page_mb / f->seconds,
               f->calls / f->seconds, (unsigned long long)f->throttles, (unsigned long long)f->retries,
               (unsigned long long)f->late);
  if (f->page_mb > 0)
    slp_buf_addf(b, "cpu: %.3f s per GB of pages, %.0f %% of a core", f->cpu_seconds / f->page_mb * 1000,
                 f->cpu_seconds / f->seconds * 100);
  if (f->page_mb > 0 && n->child.pid > 0)
    slp_buf_addf(b, " (the sandbox's process: %.0f %%)", (double)n->child_cpu_us / 1e6 / f->seconds * 100);
  if (f->page_mb > 0) slp_buf_add_char(b, '\n');
  slp_buf_addf(b, "memory: %.1f MB at most, of that %.1f MB of pages\n",
               (double)slp_program_peak_bytes() / 1e6, (double)f->now.buffered_bytes_peak / 1e6);
  slp_buf_addf(b, "turns: 99.9 %% within %llu us of CPU, the longest %llu us\n",
               (unsigned long long)f->now.turn_us_p999, (unsigned long long)f->now.turn_us_max);
  if (f->slope_known && n->lag_last_ms == UINT64_MAX)
    slp_buf_addf(b, "lag: not known at the end, before changing by %+.1f ms a second\n", f->lag_slope);
  else if (f->slope_known)
    slp_buf_addf(b, "lag: %llu ms at the end, changing by %+.1f ms a second\n",
                 (unsigned long long)n->lag_last_ms, f->lag_slope);
  if (l->n)
    slp_buf_addf(
        b,
        "latency from arrival to callback, ms: 50 %% %llu, 90 %% %llu, 99 %% %llu, 99.9 %% %llu, max %llu\n",
        (unsigned long long)slp_spread_at(l, 0.5), (unsigned long long)slp_spread_at(l, 0.9),
        (unsigned long long)slp_spread_at(l, 0.99), (unsigned long long)slp_spread_at(l, 0.999),
        (unsigned long long)l->max);
  if (!l->n && n->records)
    slp_buf_add_z(b, "latency: not measured, because no record arrived while reading was at the tip\n");
  return slp_buf_failed(b);
}

static void add_real(slp_jw *w, const char *name, int decimals, double v) {
  slp_buf_addf(slp_jw_value(w, name), "%.*f", decimals, v);
}

/* Writes null if the value is not known. */
static void add_known(slp_jw *w, const char *name, int decimals, double v, int known) {
  if (known)
    add_real(w, name, decimals, v);
  else
    slp_jw_null(w, name);
}

static void add_latencies(slp_jw *w, const slp_spread *l) {
  static const struct {
    const char *name;
    double share;
  } parts[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
  slp_jw_object(w, "latency_ms");
  for (size_t i = 0; i < SLP_COUNT(parts); i++)
    slp_jw_i64_or_null(w, parts[i].name, l->n ? (int64_t)slp_spread_at(l, parts[i].share) : -1);
  slp_jw_i64_or_null(w, "max", l->n ? (int64_t)l->max : -1);
  slp_jw_object_end(w);
}

static int report_json(bench *n, const figures *f, slp_buf *b) {
  int is_lag_known = n->lag_n > 0 && n->lag_last_ms != UINT64_MAX;
  slp_jw w = slp_jw_begin(b);
  slp_jw_u64(&w, "shards", n->names.n);
  add_real(&w, "seconds", 3, f->seconds);
  add_real(&w, "records_per_s", 1, f->records / f->seconds);
  add_real(&w, "payload_mb_per_s", 3, f->payload_mb / f->seconds);
  add_real(&w, "page_mb_per_s", 3, f->page_mb / f->seconds);
  add_real(&w, "calls_per_s", 2, f->calls / f->seconds);
  slp_jw_u64(&w, "throttles", f->throttles);
  slp_jw_u64(&w, "retries", f->retries);
  slp_jw_u64(&w, "late", f->late);
  add_known(&w, "cpu_s", 4, f->cpu_seconds, n->measuring);
  add_known(&w, "cpu_s_per_gb", 4, f->cpu_seconds / f->page_mb * 1000, n->measuring && f->page_mb > 0);
  slp_jw_u64(&w, "peak_bytes", slp_program_peak_bytes());
  slp_jw_u64(&w, "buffered_bytes_peak", f->now.buffered_bytes_peak);
  slp_jw_u64(&w, "turn_us_p999", f->now.turn_us_p999);
  slp_jw_u64(&w, "turn_us_max", f->now.turn_us_max);
  slp_jw_i64_or_null(&w, "lag_ms", is_lag_known ? (int64_t)n->lag_last_ms : -1);
  add_known(&w, "lag_slope_ms_per_s", 2, f->lag_slope, f->slope_known);
  add_latencies(&w, &n->latency_ms);
  slp_jw_object(&w, "by_shard");
  for (uint32_t i = 0; i < n->names.n && i < n->rows_cap; i++) {
    slp_jw_key(&w, slp_str_of(n->names.name[i]));
    slp_jw_object(&w, NULL);
    slp_jw_u64(&w, "records", n->rows[i].records);
    slp_jw_u64(&w, "bytes", n->rows[i].bytes);
    slp_jw_object_end(&w);
  }
  slp_jw_object_end(&w);
  slp_jw_object_end(&w);
  return slp_buf_add_char(b, '\n');
}

static void leave_if_done(bench *n) {
  if (n->consumer.closed && n->app.out && slp_app_unwritten(&n->app) == 0) slp_app_close(&n->app);
}

static void on_closed(slp_cli_consumer *c) {
  bench *n = c->user;
  if (!c->failed && n->ended) {
    slp_buf b;
    slp_buf_init(&b, n->app.mem, UINT64_C(1) << 28);
    figures f = work_out(n);
    int bad = n->app.args->json ? report_json(n, &f, &b) : report_text(n, &f, &b);
    if (bad) slp_buf_clear(&b);
    slp_app_write(&n->app, &b);
    if (n->records == 0 && !n->app.interrupted) {
      n->app.exit_code = SLP_EXIT_FAILED;
      slp_say("no record arrived%s%s",
              *c->error ? "; the last error: "
                        : "; if no producer writes now, -o oldest reads what the stream holds",
              c->error);
    }
  }
  leave_if_done(n);
}

static void on_written(slp_app *app) { leave_if_done(app->user); }
static void on_interrupt(slp_app *app) { end_bench(app->user); }

static void on_out_failed(slp_app *app) {
  end_bench(app->user);
  leave_if_done(app->user);
}

static void on_overdue(slp_app *app) {
  bench *n = app->user;
  if (n->consumer.closed) slp_app_close(app);
}

/* ---- a sandbox in a child process ------------------------------------------------------------------ */

static int start_own_sandbox(bench *n) {
  char bytes[64];
  uint64_t size = n->app.args->synthetic.bytes ? n->app.args->synthetic.bytes : OWN_RECORD_BYTES;
  snprintf(bytes, sizeof bytes, "sandbox.synthetic_bytes=%llu", (unsigned long long)size);
  const char *argv[] = {"stream-tail", "-q",
                        "-M",          OWN_SHARDS,
                        "-X",          bytes,
                        "-X",          "sandbox.reads_per_second=0",
                        "-X",          "sandbox.read_bytes_per_second=0",
                        OWN_STREAM,    NULL};
  int r = slp_own_child_start(&n->child, argv);
  if (!r) r = slp_own_child_wait_line(&n->child, "export AWS_ENDPOINT_URL=", CHILD_START_MS, &n->url);
  if (r) {
    slp_say("the sandbox process did not start (%s); give a STREAM instead", sloop_err_name(r));
    n->app.exit_code = SLP_EXIT_FAILED;
    return r;
  }
  n->opts.stream = OWN_STREAM;
  n->opts.endpoint = slp_buf_z(&n->url);
  n->opts.region = SLP_SANDBOX_REGION;
  n->opts.creds = slp_sandbox_creds;
  return 0;
}

int slp_bench_run(slp_mem *mem, const slp_args *args) {
  /* on the heap, because the buckets of latency_ms are too large for the stack */
  bench *n = SLP_NEW(mem, bench);
  if (!n) return SLP_EXIT_FAILED;
  n->child = (slp_own_child){.pid = -1, .in_fd = -1, .out_fd = -1};
  slp_buf_init(&n->url, mem, 4096);
  slp_names_init(&n->names, mem);
  n->opts = args->opts;
  /* reads from the oldest record unless -o is given, because a silent stream has nothing to measure after its
   * latest record */
  if (!args->start_given) n->opts.start.kind = SLOOP_OLDEST;
  n->app.mem = mem;
  n->app.args = args;
  n->app.user = n->consumer.user = n;
  n->app.on_interrupt = on_interrupt;
  n->app.on_overdue = on_overdue;
  n->app.on_tick = on_tick;
  n->app.on_written = on_written;
  n->app.on_out_failed = on_out_failed;
  n->consumer.on_batch = on_batch;
  n->consumer.on_closed = on_closed;
  int r = args->stream ? 0 : start_own_sandbox(n);
  n->begun_us = n->unsettled_us = slp_program_mono_us();
  n->begun_ms = slp_program_wall_ms();
  if (!r && slp_app_open(&n->app, mem, args) == 0 &&
      slp_cli_consumer_open(&n->consumer, &n->app, &n->opts) != 0)
    slp_app_close(&n->app);
  int code = slp_app_run(&n->app);
  slp_own_child_end(&n->child);
  slp_buf_free(&n->url);
  slp_names_free(&n->names);
  slp_free(mem, n->rows);
  slp_free(mem, n);
  return code;
}
