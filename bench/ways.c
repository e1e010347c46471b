/* ways.c - CPU of reading the same records in each way that a program can choose: ordered by time or each shard
 * by itself, polled or pushed, acknowledged by the batch or record by record. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHARDS 8u
#define ROUNDS 7

typedef struct ways_way {
  const char *name;
  int cbor, push, by_shard, acks;
} ways_way;
static const ways_way ways[] = {
    {"CBOR, order of time", 1, 0, 0, 0}, {"CBOR, order of shards", 1, 0, 1, 0},
    {"CBOR, ack a record", 1, 0, 0, 1},  {"CBOR, order of shards, ack a record", 1, 0, 1, 1},
    {"JSON, order of time", 0, 0, 0, 0}, {"JSON, order of shards", 0, 0, 1, 0},
    {"push, order of time", 0, 1, 0, 0}, {"push, order of shards", 0, 1, 1, 0},
};
#define WAYS (sizeof ways / sizeof ways[0])

typedef struct ways_body {
  const char *name, *stream;
  uint32_t bytes;
  uint64_t records, records_small; /* in all */
} ways_body;
static const ways_body bodies[] = {{"1 KiB", "ways-1k", 1024, 400000, 40000},
                                   {"100 B", "ways-100", 100, 2000000, 80000}};
#define BODIES (sizeof bodies / sizeof bodies[0])

/* CPU seconds for a GB of payload. */
static double cost(const bench_server *server, bench_cpus cpus, const ways_body *body, uint64_t records,
                   const ways_way *way) {
  bench_read r = {0};
  bench_sloop_job job = {.url = server->url,
                         .stream = body->stream,
                         .cbor = way->cbor,
                         .records = records,
                         .push = way->push,
                         .by_shard = way->by_shard,
                         .acks = way->acks};
  bench_child(cpus.client, 120, bench_sloop, &job, &r, sizeof r);
  if (r.records != records || r.payload_bytes != records * body->bytes)
    bench_die("%s: %" PRIu64 " records of %" PRIu64, way->name, r.records, records);
  return r.cpu_s / ((double)r.payload_bytes * 1e-9);
}

static void report(const ways_body *body, const char *only, double costs[WAYS][ROUNDS], size_t rounds) {
  char a[64], b[64];
  for (size_t i = 0; i < WAYS; i++) {
    if (!strstr(ways[i].name, only)) continue;
    double ratios[ROUNDS];
    for (size_t k = 0; k < rounds; k++) ratios[k] = costs[i][k] / costs[0][k];
    bench_spread cpu = bench_spread_of(costs[i], rounds), ratio = bench_spread_of(ratios, rounds);
    printf("%-6s %-36s CPU s per GB %-22s over the first %-22s\n", body->name, ways[i].name,
           bench_spread_text(a, cpu, 3), bench_spread_text(b, ratio, 2));
    printf("{\"bench\":\"ways\",\"bytes\":%u,\"way\":\"%s\",\"cpu_s_per_gb\":%.4f,\"ratio\":%.3f}\n",
           body->bytes, ways[i].name, cpu.median, ratio.median);
  }
  fflush(stdout);
}

/* Takes --only TEXT out of the arguments. Returns TEXT, or "". */
static const char *take_only(int *argc, char **argv) {
  if (*argc < 3 || strcmp(argv[*argc - 2], "--only") != 0) return "";
  *argc -= 2;
  return argv[*argc + 1];
}

int main(int argc, char **argv) {
  const char *only = take_only(&argc, argv);
  int small = bench_small(
      argc, argv, "CPU of reading in time's or shards' order, polled or pushed, by each way to acknowledge.");
  size_t rounds = small ? 1 : ROUNDS;
  bench_cpus cpus = bench_cpus_find();
  bench_stream streams[BODIES + 1] = {{0}};
  for (size_t i = 0; i < BODIES; i++) {
    uint64_t records = small ? bodies[i].records_small : bodies[i].records;
    streams[i] = (bench_stream){bodies[i].stream, SHARDS, records / SHARDS, bodies[i].bytes, 0};
  }
  bench_server server;
  bench_server_start(&server, cpus.server, streams);
  printf("ways: %u shards, plain HTTP, GB of payload, %zu rounds\n", SHARDS, rounds);
  for (size_t i = 0; i < BODIES; i++) {
    static double costs[WAYS][ROUNDS];
    for (size_t k = 0; k < rounds; k++)
      for (size_t w = 0; w < WAYS; w++)
        if (strstr(ways[w].name, only))
          costs[w][k] = cost(&server, cpus, &bodies[i], streams[i].records * SHARDS, &ways[w]);
    report(&bodies[i], only, costs, rounds);
  }
  bench_server_stop(&server);
  return 0;
}
