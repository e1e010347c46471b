/* idle.c - shards at their tip: CPU a poll beside a bare libcurl request, memory a shard, and the timers that polling
 * takes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"
#include "host/uv_host.h"
#include "tls_front.h"

#define FLOOR_AT_ONCE 64

typedef struct idle_job {
  const char *url, *stream, *ca_file;
  uint32_t shards, settle_ms, measure_ms;
} idle_job;
typedef struct idle_result {
  uint64_t rss, own_live; /* bytes: the process; what the library allocated itself */
  uint64_t polls, shards_seen;
  double cpu_s;
} idle_result;
typedef struct idle_run {
  const idle_job *job;
  idle_result *result;
  sloop_t *consumer;
  uv_timer_t timer;
  bench_heap heap;
  uint64_t pages_before;
  double cpu_before;
  int phase;
} idle_run;

static void on_idle_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  (void)arg;
  sloop_batch_done(b, sloop_batch_count(b));
}

static void on_idle_timer(uv_timer_t *timer) {
  idle_run *run = timer->data;
  sloop_stats_t stats;
  sloop_stats_get(run->consumer, &stats, sizeof stats);
  if (run->phase == 0) {
    if (stats.tip_now < run->job->shards) return; /* still starting: paced */
    run->phase = 1;
    uv_timer_start(timer, on_idle_timer, run->job->settle_ms, 0);
  } else if (run->phase == 1) {
    run->phase = 2;
    run->cpu_before = bench_cpu_s();
    run->pages_before = stats.pages;
    uv_timer_start(timer, on_idle_timer, run->job->measure_ms, 0);
  } else {
    run->result->cpu_s = bench_cpu_s() - run->cpu_before;
    run->result->polls = stats.pages - run->pages_before;
    run->result->shards_seen = stats.shards_now;
    run->result->rss = bench_rss_bytes();
    run->result->own_live = run->heap.live;
    uv_close((uv_handle_t *)timer, NULL);
    sloop_close(run->consumer, NULL, NULL);
  }
}

static void idle_client(const void *job_v, void *result_v) {
  idle_run run = {.job = job_v, .result = result_v};
  uv_loop_t loop;
  sloop_opts_t o;
  if (uv_loop_init(&loop)) bench_die("uv_loop_init");
  bench_sloop_options(&o, run.job->url, run.job->stream, 1);
  o.ca_bundle = run.job->ca_file;
  o.on_batch = on_idle_batch;
  o.alloc = bench_alloc;
  o.alloc_ctx = &run.heap;
  o.arg = &run;
  run.consumer = bench_sloop_begin(&loop, &o);
  uv_timer_init(&loop, &run.timer);
  run.timer.data = &run;
  uv_timer_start(&run.timer, on_idle_timer, 100, 100);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (run.heap.live) bench_die("%" PRIu64 " bytes are still allocated after sloop_close", run.heap.live);
}

/* ---- timers ---- */
typedef struct timer_result {
  double ns; /* CPU: setting one again, which is due later than most others */
} timer_result;

static void never(slp_timer *t) {
  (void)t;
  bench_die("a timer of an hour has run");
}

static void timer_client(const void *job_v, void *result_v) {
  const idle_job *job = job_v;
  timer_result *result = result_v;
  const uint64_t hour_us = UINT64_C(3600000000);
  uint64_t rounds = 2000000 / job->shards;
  uv_loop_t loop;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_host *h = NULL;
  slp_timer *timers = calloc(job->shards, sizeof *timers);
  if (!mem || !timers || uv_loop_init(&loop) || slp_uv_host_new(&h, &loop, mem, &(slp_uv_options){0}))
    bench_die("no host");
  uint64_t now = slp_now_us(h);
  for (uint32_t i = 0; i < job->shards; i++) timers[i] = (slp_timer){.run = never, .at_us = UINT64_MAX};
  double cpu = bench_cpu_s();
  for (uint64_t r = 0; r < rounds; r++)
    for (uint32_t i = 0; i < job->shards; i++)
      if (slp_timer_set(h, &timers[i], now + hour_us + r * 1000000 + bench_mix(i) % 1000000))
        bench_die("no memory");
  result->ns = (bench_cpu_s() - cpu) * 1e9 / (double)(rounds * job->shards);
  for (uint32_t i = 0; i < job->shards; i++) slp_timer_clear(h, &timers[i]);
  slp_host_close(h, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  free(timers);
  slp_mem_drop(mem);
}

/* ---- the report ---- */
static void measure(const idle_job *one, const idle_result *with_one, idle_job *job, bench_cpus cpus,
                    int small) {
  idle_result all = {0};
  timer_result timers = {0};
  double floor_us[BENCH_ROUNDS_MAX], us[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
  double paced_us[BENCH_ROUNDS_MAX], paced_ratio[BENCH_ROUNDS_MAX];
  size_t rounds = small ? 1 : 3;
  char f[64], u[64], r[64], p[64], q[64];
  for (size_t i = 0; i < rounds; i++) {
    bench_read floor = {0}, paced = {0};
    bench_floor_job floor_job = {.url = job->url,
                                 .stream = one->stream,
                                 .transfers = job->shards < FLOOR_AT_ONCE ? job->shards : FLOOR_AT_ONCE,
                                 .shards = 1,
                                 .limit = 1000,
                                 .pages = small ? 2000 : 20000,
                                 .cbor = 1,
                                 .ca_file = job->ca_file};
    bench_child(cpus.client, 120, bench_floor, &floor_job, &floor, sizeof floor);
    floor_job.per_second = job->shards;
    floor_job.pages = (uint64_t)job->shards * job->measure_ms / 1000;
    bench_child(cpus.client, 120, bench_floor, &floor_job, &paced, sizeof paced);
    bench_child(cpus.client, 240, idle_client, job, &all, sizeof all);
    if (all.shards_seen != job->shards)
      bench_die("%" PRIu64 " shards are read instead of %u", all.shards_seen, job->shards);
    if (!all.polls) bench_die("no poll was made");
    floor_us[i] = floor.cpu_s * 1e6 / (double)floor.pages;
    us[i] = all.cpu_s * 1e6 / (double)all.polls;
    ratio[i] = us[i] / floor_us[i];
    paced_us[i] = paced.cpu_s * 1e6 / (double)paced.pages;
    paced_ratio[i] = us[i] / paced_us[i];
  }
  bench_child(cpus.client, 120, timer_client, job, &timers, sizeof timers);
  double bytes = job->shards > 1 ? ((double)all.rss - (double)with_one->rss) / (job->shards - 1) : 0;
  double own = job->shards > 1 ? ((double)all.own_live - (double)with_one->own_live) / (job->shards - 1) : 0;
  double share = all.cpu_s / ((double)job->measure_ms * 1e-3);
  printf("  %5u shards: us CPU a poll %-20s floor %-20s ratio %-20s floor at the same pace %-20s ratio %s\n",
         job->shards, bench_spread_text(u, bench_spread_of(us, rounds), 1),
         bench_spread_text(f, bench_spread_of(floor_us, rounds), 1),
         bench_spread_text(r, bench_spread_of(ratio, rounds), 2),
         bench_spread_text(p, bench_spread_of(paced_us, rounds), 1),
         bench_spread_text(q, bench_spread_of(paced_ratio, rounds), 2));
  printf("                %.1f %% of a core, %.0f bytes a shard (%.0f the library's own), a timer %.0f ns\n",
         share * 100, bytes, own, timers.ns);
  printf(
      "{\"bench\":\"idle\",\"tls\":%d,\"shards\":%u,\"us_per_poll\":%.2f,\"floor_us_per_poll\":%.2f,"
      "\"ratio\":%.3f,\"paced_floor_us_per_poll\":%.2f,\"paced_ratio\":%.3f,"
      "\"core_share\":%.4f,\"rss_bytes\":%.0f,\"own_bytes\":%.0f,\"timer_ns\":%.1f}\n",
      job->ca_file != NULL, job->shards, bench_spread_of(us, rounds).median,
      bench_spread_of(floor_us, rounds).median, bench_spread_of(ratio, rounds).median,
      bench_spread_of(paced_us, rounds).median, bench_spread_of(paced_ratio, rounds).median, share, bytes,
      own, timers.ns);
}

int main(int argc, char **argv) {
  static const uint32_t counts[] = {1, 100, 1000, 10000};
  int tls = argc > 1 && strcmp(argv[argc - 1], "--tls") == 0;
  int small = bench_small(argc - tls, argv,
                          "CPU a poll and bytes a shard of shards at their tip. Last, --tls: over TLS.");
  size_t n = small ? 2 : sizeof counts / sizeof counts[0];
  bench_cpus cpus = bench_cpus_find();
  bench_stream streams[5] = {{0}};
  char names[4][24];
  bench_server server;
  bench_tls_front front = {0};
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "bench-idle-%u", counts[i]);
    streams[i] = (bench_stream){.name = names[i], .shards = counts[i]};
  }
  bench_server_start(&server, cpus.server, streams);
  if (tls) bench_tls_front_start(&front, cpus.server, server.url);
  idle_job one = {tls ? front.url : server.url, names[0], tls ? front.ca_file : NULL, 1, 1500, 500};
  idle_result with_one = {0};
  bench_child(cpus.client, 60, idle_client, &one, &with_one, sizeof with_one);
  printf("1 poll a second and shard, %s, medians (min to max):\n", tls ? "TLS" : "plain HTTP");
  for (size_t i = 0; i < n; i++) {
    idle_job job = {one.url,   names[i], one.ca_file,
                    counts[i], 2500,     counts[i] == 1 && !small ? 10000 : small ? 2000 : 5000};
    measure(&one, &with_one, &job, cpus, small);
  }
  if (tls) bench_tls_front_stop(&front);
  bench_server_stop(&server);
  return 0;
}
