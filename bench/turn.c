/* turn.c - measures how long one consumer of 512 busy shards holds its loop: CPU time of a turn at p99.9 and
 * at most, peak memory, and leaked memory. 60 seconds (5 with --small). Then the same of turns while pages of 10 MB
 * are read. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <uv.h>

#define SHARDS 512
#define RECORD_BYTES 1024
#define WANTED_MB_S 512.0
#define HELD_BYTES (64u << 20)

typedef struct turn_job {
  const char *url;
  uint64_t seconds;
} turn_job;
typedef struct turn_result {
  sloop_stats_t stats;
  double cpu_s, wall_s;
  uint64_t rss_peak, live_after, own_peak;
} turn_result;
typedef struct turn_run {
  turn_result *result;
  sloop_t *consumer;
  uv_timer_t timer;
  bench_heap heap;
  uint64_t hash;
  double wall, cpu;
} turn_run;

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  turn_run *run = arg;
  size_t n = sloop_batch_count(b);
  (void)s;
  for (size_t i = 0; i < n; i++) run->hash += bench_record_hash(sloop_batch_at(b, i));
  sloop_batch_done(b, n);
}

static void on_end(uv_timer_t *timer) {
  turn_run *run = timer->data;
  turn_result *r = run->result;
  r->wall_s = bench_wall_s() - run->wall;
  r->cpu_s = bench_cpu_s() - run->cpu;
  r->rss_peak = bench_rss_peak_bytes();
  sloop_stats_get(run->consumer, &r->stats, sizeof r->stats);
  uv_close((uv_handle_t *)timer, NULL);
  sloop_close(run->consumer, NULL, NULL);
}

static void turn_client(const void *job_v, void *result_v) {
  const turn_job *job = job_v;
  turn_run run = {.result = result_v};
  uv_loop_t loop;
  sloop_opts_t o;
  if (uv_loop_init(&loop)) bench_die("uv_loop_init");
  bench_sloop_options(&o, job->url, "bench-turn", 1);
  o.buffered_bytes_max = HELD_BYTES;
  o.on_batch = on_batch;
  o.arg = &run;
  o.alloc = bench_alloc;
  o.alloc_ctx = &run.heap;
  run.consumer = bench_sloop_begin(&loop, &o);
  run.wall = bench_wall_s();
  run.cpu = bench_cpu_s();
  uv_timer_init(&loop, &run.timer);
  run.timer.data = &run;
  uv_timer_start(&run.timer, on_end, job->seconds * 1000, 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) bench_die("handles are left open after sloop_close");
  run.result->live_after = run.heap.live;
  run.result->own_peak = run.heap.peak;
}

/* MB/s the server gives to bare libcurl, so that the load asked for can be met at all. */
static double server_alone(bench_cpus cpus, int small) {
  bench_stream streams[] = {{"bench-turn", SHARDS, UINT64_MAX, RECORD_BYTES, 0}, {0}};
  bench_server server;
  bench_read r = {0};
  bench_server_start(&server, cpus.server, streams);
  bench_floor_job job = {server.url, "bench-turn", 64, SHARDS, 1000, small ? 600 : 3000, 1};
  bench_child(cpus.client, 60, bench_floor, &job, &r, sizeof r);
  bench_server_stop(&server);
  return (double)r.bytes * 1e-6 / r.wall_s;
}

static const char *verdict(int met) { return met ? "met" : "NOT met"; }

/* Pages as large as the service makes them, of both forms. */
static void large_pages(bench_cpus cpus, int small) {
  const uint32_t shards = 4, each = 100, bytes = 100000;
  uint64_t records = (small ? 20 : 200) * each;
  bench_stream streams[] = {{"bench-large", shards, records / shards, bytes, 0}, {0}};
  bench_server server;
  bench_server_start(&server, cpus.server, streams);
  for (int cbor = 0; cbor < 2; cbor++) {
    bench_read r = {0};
    bench_sloop_job job = {.url = server.url,
                           .stream = "bench-large",
                           .cbor = cbor,
                           .fetch_records_max = each,
                           .records = records};
    bench_child(cpus.client, 180, bench_sloop, &job, &r, sizeof r);
    printf("pages of %u x %u B, %s: turn p99.9 %" PRIu64 " us (goal 2000: %s), longest %" PRIu64 " us\n",
           each, bytes, cbor ? "cbor" : "json", r.turn_us_p999, verdict(r.turn_us_p999 <= 2000),
           r.turn_us_max);
    printf("{\"bench\":\"turn-large\",\"cbor\":%d,\"page_bytes\":%.0f,\"turn_us_p999\":%" PRIu64
           ",\"turn_us_max\":%" PRIu64 "}\n",
           cbor, (double)r.bytes / (double)r.pages, r.turn_us_p999, r.turn_us_max);
  }
  bench_server_stop(&server);
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "Length of turns and memory with 512 busy shards.");
  bench_cpus cpus = bench_cpus_find();
  double alone = server_alone(cpus, small);
  double load = alone * 0.9 < WANTED_MB_S ? alone * 0.9 : WANTED_MB_S;
  uint64_t rate = (uint64_t)(load * 1e6 / SHARDS / RECORD_BYTES);
  bench_stream streams[] = {{"bench-turn", SHARDS, UINT64_MAX, RECORD_BYTES, rate}, {0}};
  bench_server server;
  turn_result r = {0};
  bench_server_start(&server, cpus.server, streams);
  turn_job job = {server.url, small ? 5 : 60};
  bench_child(cpus.client, 180, turn_client, &job, &r, sizeof r);
  bench_server_stop(&server);
  double mb_s = (double)r.stats.payload_bytes * 1e-6 / r.wall_s;
  int memory_met = r.rss_peak < HELD_BYTES + 64000000u;
  printf("server alone gives %.0f MB/s; load: %.0f MB/s in %d shards, %" PRIu64 " records/s each\n", alone,
         load, SHARDS, rate);
  printf("read %.0f MB/s for %.0f s with %.0f %% of a core, %" PRIu64 " records, %" PRIu64 " late\n", mb_s,
         r.wall_s, r.cpu_s / r.wall_s * 100, r.stats.records, r.stats.late);
  printf("turn, CPU time: p99.9 %" PRIu64 " us (goal 2000: %s), longest %" PRIu64 " us (goal 5000: %s)\n",
         r.stats.turn_us_p999, verdict(r.stats.turn_us_p999 <= 2000), r.stats.turn_us_max,
         verdict(r.stats.turn_us_max <= 5000));
  printf("loop held at most %" PRIu64
         " us; peak RSS %.1f MB (goal: budget %.1f + 64: %s); buffered at most %.1f MB\n",
         r.stats.hold_us_max, (double)r.rss_peak * 1e-6, HELD_BYTES * 1e-6, verdict(memory_met),
         (double)r.stats.buffered_bytes_peak * 1e-6);
  printf("left allocated after close: %" PRIu64 " bytes (peak %.1f MB)\n", r.live_after,
         (double)r.own_peak * 1e-6);
  printf(
      "{\"bench\":\"turn\",\"shards\":%d,\"seconds\":%.1f,\"mb_s\":%.1f,\"server_mb_s\":%.1f,\"cpu_share\":%."
      "3f,"
      "\"turn_us_p999\":%" PRIu64 ",\"turn_us_max\":%" PRIu64 ",\"hold_us_max\":%" PRIu64
      ",\"rss_peak\":%" PRIu64 ",\"leaked\":%" PRIu64 "}\n",
      SHARDS, r.wall_s, mb_s, alone, r.cpu_s / r.wall_s, r.stats.turn_us_p999, r.stats.turn_us_max,
      r.stats.hold_us_max, r.rss_peak, r.live_after);
  large_pages(cpus, small);
  /* Times depend on the machine and only inform; memory does not, and decides. */
  return memory_met && !r.live_after && r.stats.records ? 0 : 1;
}
