/* canon.c - the project's two numbers: MB/s of pages one core reads end to end, and bytes per idle shard;
 * beside them, in the same run, what bare libcurl costs for the same pages. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define SHARDS 8 /* and so as many calls at once, in both clients */

typedef struct canon_body {
  const char *name, *stream, *what;
  uint32_t record_bytes, page_records;
  uint64_t records, records_small; /* in all */
} canon_body;
/* The bodies of the project's measurements: ordinary, small and large records. */
static const canon_body bodies[] = {
    {"a", "bench-a", "1000 x 1 KiB", 1024, 1000, 1000000, 160000},
    {"b", "bench-b", "10000 x 100 B", 100, 10000, 4000000, 640000},
    {"c", "bench-c", "100 x 64 KiB", 65536, 100, 16000, 2400},
};
#define BODIES (sizeof bodies / sizeof bodies[0])
static const char *const wires[] = {"json", "cbor"};

typedef struct canon_cell {
  double floor_cpu[BENCH_ROUNDS_MAX], sloop_cpu[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX]; /* s per GB */
  double floor_wall[BENCH_ROUNDS_MAX], sloop_wall[BENCH_ROUNDS_MAX];                        /* MB/s */
  uint64_t hash, late, rss_peak;
} canon_cell;

static double per_gb(const bench_read *r) { return r->cpu_s / ((double)r->bytes * 1e-9); }
static double wall_mb(const bench_read *r) { return (double)r->bytes * 1e-6 / r->wall_s; }

static void one_round(const bench_server *server, bench_cpus cpus, const canon_body *body, int cbor,
                      uint64_t records, size_t round, canon_cell *cell) {
  bench_read floor = {0}, sloop = {0};
  bench_floor_job floor_job = {
      server->url, body->stream, SHARDS, SHARDS, body->page_records, records / body->page_records, cbor};
  bench_sloop_job sloop_job = {server->url, body->stream, cbor, body->page_records, records};
  bench_child(cpus.client, 120, bench_floor, &floor_job, &floor, sizeof floor);
  bench_child(cpus.client, 120, bench_sloop, &sloop_job, &sloop, sizeof sloop);
  cell->floor_cpu[round] = per_gb(&floor);
  cell->sloop_cpu[round] = per_gb(&sloop);
  cell->ratio[round] = per_gb(&sloop) / per_gb(&floor);
  cell->floor_wall[round] = wall_mb(&floor);
  cell->sloop_wall[round] = wall_mb(&sloop);
  cell->late += sloop.late;
  if (sloop.rss_peak > cell->rss_peak) cell->rss_peak = sloop.rss_peak;
  if (sloop.records != records) bench_die("%" PRIu64 " records instead of %" PRIu64, sloop.records, records);
  if (round && cell->hash != sloop.hash) bench_die("two runs read different records");
  cell->hash = sloop.hash;
}

/* The server's rate to a client that does nothing: bytes a second of its own CPU time. */
static double server_maximum(const bench_server *server, bench_cpus cpus, const canon_body *body, int cbor,
                             uint64_t records, double *ret_wall_mb) {
  bench_read r = {0};
  bench_floor_job job = {
      server->url, body->stream, SHARDS, SHARDS, body->page_records, records / body->page_records, cbor};
  double before = bench_server_cpu_s(server);
  bench_child(cpus.client, 120, bench_floor, &job, &r, sizeof r);
  *ret_wall_mb = wall_mb(&r);
  return (double)r.bytes * 1e-6 / (bench_server_cpu_s(server) - before);
}

/* ---- idle shards ----------------------------------------------------------------------------- */
typedef struct idle_job {
  const char *url, *stream;
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

typedef struct canon_idle {
  double bytes_per_shard, own_per_shard, us_per_poll, floor_us_per_poll, cpu_share;
  uint32_t shards;
} canon_idle;

static canon_idle measure_idle(const bench_server *server, bench_cpus cpus, int small) {
  uint32_t many = small ? 500 : 4000;
  idle_job job_one = {server->url, "bench-idle-1", 1, 1500, 500};
  idle_job job_many = {server->url, small ? "bench-idle-500" : "bench-idle-4000", many, 2500,
                       small ? 2000 : 5000};
  idle_result one = {0}, all = {0};
  bench_read floor = {0};
  bench_floor_job floor_job = {server->url, "bench-idle-1", 64, 1, 1000, small ? 4000 : 40000, 1};
  bench_child(cpus.client, 60, idle_client, &job_one, &one, sizeof one);
  bench_child(cpus.client, 120, idle_client, &job_many, &all, sizeof all);
  bench_child(cpus.client, 60, bench_floor, &floor_job, &floor, sizeof floor);
  if (all.shards_seen != many) bench_die("%" PRIu64 " shards are read instead of %u", all.shards_seen, many);
  return (canon_idle){
      .bytes_per_shard = ((double)all.rss - (double)one.rss) / (many - 1),
      .own_per_shard = ((double)all.own_live - (double)one.own_live) / (many - 1),
      .us_per_poll = all.polls ? all.cpu_s * 1e6 / (double)all.polls : 0,
      .floor_us_per_poll = floor.cpu_s * 1e6 / (double)floor.pages,
      .cpu_share = all.cpu_s / ((double)job_many.measure_ms * 1e-3),
      .shards = many,
  };
}

/* ---- the report ------------------------------------------------------------------------------ */
static void print_cell(const canon_body *body, int cbor, const canon_cell *c, size_t rounds) {
  char f[64], s[64], r[64];
  bench_spread wall = bench_spread_of(c->sloop_wall, rounds);
  printf("  %s %-13s %s  floor %-22s sloop %-22s ratio %-22s wall %.0f MB/s, late %" PRIu64 ", rss %.0f MB\n",
         body->name, body->what, wires[cbor], bench_spread_text(f, bench_spread_of(c->floor_cpu, rounds), 3),
         bench_spread_text(s, bench_spread_of(c->sloop_cpu, rounds), 3),
         bench_spread_text(r, bench_spread_of(c->ratio, rounds), 2), wall.median, c->late,
         (double)c->rss_peak * 1e-6);
}

static void print_json(const canon_cell cells[BODIES][2], size_t rounds, const canon_idle *idle) {
  printf("{\"bench\":\"canon\",\"mb_per_core_s\":%.1f,\"bytes_per_idle_shard\":%.0f",
         1e3 / bench_spread_of(cells[0][1].sloop_cpu, rounds).median, idle->bytes_per_shard);
  for (size_t i = 0; i < BODIES; i++)
    for (int cbor = 0; cbor < 2; cbor++)
      printf(
          ",\"%s_%s\":{\"floor_cpu_s_per_gb\":%.4f,\"sloop_cpu_s_per_gb\":%.4f,\"ratio\":%.3f,"
          "\"hash\":\"%016" PRIx64 "\"}",
          bodies[i].name, wires[cbor], bench_spread_of(cells[i][cbor].floor_cpu, rounds).median,
          bench_spread_of(cells[i][cbor].sloop_cpu, rounds).median,
          bench_spread_of(cells[i][cbor].ratio, rounds).median, cells[i][cbor].hash);
  printf(
      ",\"idle\":{\"shards\":%u,\"rss_bytes\":%.0f,\"own_bytes\":%.0f,\"us_per_poll\":%.2f,"
      "\"floor_us_per_poll\":%.2f},\"version\":\"%s\"}\n",
      idle->shards, idle->bytes_per_shard, idle->own_per_shard, idle->us_per_poll, idle->floor_us_per_poll,
      sloop_version());
}

static void run_rounds(const bench_server *server, bench_cpus cpus, int small, size_t rounds,
                       canon_cell cells[BODIES][2]) {
  for (size_t round = 0; round < rounds; round++)
    for (size_t i = 0; i < BODIES; i++)
      for (int cbor = 0; cbor < 2; cbor++)
        one_round(server, cpus, &bodies[i], cbor, small ? bodies[i].records_small : bodies[i].records, round,
                  &cells[i][cbor]);
  for (size_t i = 0; i < BODIES; i++)
    if (cells[i][0].hash != cells[i][1].hash) bench_die("JSON and CBOR give different records");
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "MB/s of pages one core reads, and bytes per idle shard.");
  static canon_cell cells[BODIES][2];
  size_t rounds = small ? 1 : 5;
  bench_cpus cpus = bench_cpus_find();
  bench_stream streams[BODIES + 4] = {{0}};
  bench_server server;
  for (size_t i = 0; i < BODIES; i++)
    streams[i] = (bench_stream){bodies[i].stream, SHARDS,
                                (small ? bodies[i].records_small : bodies[i].records) / SHARDS,
                                bodies[i].record_bytes, 0};
  streams[BODIES] = (bench_stream){.name = "bench-idle-1", .shards = 1};
  streams[BODIES + 1] = (bench_stream){.name = "bench-idle-500", .shards = 500};
  streams[BODIES + 2] = (bench_stream){.name = "bench-idle-4000", .shards = 4000};
  bench_server_start(&server, cpus.server, streams);
  printf("client on CPU %d, server on CPU %d, plain HTTP on loopback, %d shards, %zu round%s\n", cpus.client,
         cpus.server, SHARDS, rounds, rounds == 1 ? "" : "s");
  for (size_t i = 0; i < BODIES; i++)
    for (int cbor = 0; cbor < 2; cbor++) {
      double wall = 0,
             alone = server_maximum(&server, cpus, &bodies[i], cbor, bodies[i].records_small, &wall);
      printf("  server alone, %s %s: at most %.0f MB/s of its own core (gave %.0f to the floor)\n",
             bodies[i].name, wires[cbor], alone, wall);
    }
  printf("CPU seconds per GB of pages, median (min to max):\n");
  run_rounds(&server, cpus, small, rounds, cells);
  for (size_t i = 0; i < BODIES; i++)
    for (int cbor = 0; cbor < 2; cbor++) print_cell(&bodies[i], cbor, &cells[i][cbor], rounds);
  canon_idle idle = measure_idle(&server, cpus, small);
  bench_server_stop(&server);
  printf("  idle: %u shards at 1 poll/s each: %.1f us CPU a poll (floor %.1f), %.1f %% of a core\n",
         idle.shards, idle.us_per_poll, idle.floor_us_per_poll, idle.cpu_share * 100);
  printf("\n%.0f MB/s of pages per core (CBOR, 1 KiB records; floor %.0f)\n",
         1e3 / bench_spread_of(cells[0][1].sloop_cpu, rounds).median,
         1e3 / bench_spread_of(cells[0][1].floor_cpu, rounds).median);
  printf("%.0f bytes per idle shard (%.0f of them allocated by the library itself)\n", idle.bytes_per_shard,
         idle.own_per_shard);
  print_json(cells, rounds, &idle);
  return 0;
}
