/* canon.c - MB/s of pages one core reads end to end, over plain HTTP or TLS; beside it, in the same run, what bare
 * libcurl costs for the same pages. */
#include "bench.h"
#include "tls_front.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct canon_body {
  const char *name, *stream, *what;
  uint32_t record_bytes, page_records;
  uint64_t records, records_small; /* in all */
} canon_body;
/* The bodies of the project's measurements: ordinary, small and large records. */
static const canon_body bodies[] = {
    {"a", "bench-a", "1000 x 1 KiB", 1024, 1000, 1000000, 160000},
    {"b", "bench-b", "10000 x 100 B", 100, 10000, 4000000, 640000},
    {"c", "bench-c", "100 x 64 KiB", 65536, 100, 16000, 3200},
};
#define BODIES (sizeof bodies / sizeof bodies[0])
static const char *const wires[] = {"json", "cbor"};

typedef struct canon_cell {
  double floor_cpu[BENCH_ROUNDS_MAX], sloop_cpu[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX]; /* s per GB */
  double floor_wall[BENCH_ROUNDS_MAX], sloop_wall[BENCH_ROUNDS_MAX];                        /* MB/s */
  double over_floor_ns[BENCH_ROUNDS_MAX], sloop_ns[BENCH_ROUNDS_MAX];                       /* a record */
  uint64_t hash, late, rss_peak;
} canon_cell;
typedef struct canon_place { /* where both clients read */
  const char *url, *ca_file;
  uint32_t shards; /* and so as many calls at once */
} canon_place;

static double per_gb(const bench_read *r) { return r->cpu_s / ((double)r->bytes * 1e-9); }
static double wall_mb(const bench_read *r) { return (double)r->bytes * 1e-6 / r->wall_s; }

static void one_round(const canon_place *place, bench_cpus cpus, const canon_body *body, int cbor,
                      uint64_t records, size_t round, canon_cell *cell) {
  bench_read floor = {0}, sloop = {0}, looked = {0};
  bench_floor_job floor_job = {place->url,    body->stream,       place->shards,
                               place->shards, body->page_records, records / body->page_records,
                               cbor,          place->ca_file};
  bench_sloop_job sloop_job = {.url = place->url,
                               .stream = body->stream,
                               .cbor = cbor,
                               .fetch_records_max = body->page_records,
                               .records = records,
                               .ca_file = place->ca_file};
  bench_child(cpus.client, 120, bench_floor, &floor_job, &floor, sizeof floor);
  bench_child(cpus.client, 120, bench_sloop, &sloop_job, &sloop, sizeof sloop);
  sloop_job.looks = 1; /* not measured: the floor looks at nothing either */
  bench_child(cpus.client, 120, bench_sloop, &sloop_job, &looked, sizeof looked);
  cell->floor_cpu[round] = per_gb(&floor);
  cell->sloop_cpu[round] = per_gb(&sloop);
  cell->ratio[round] = per_gb(&sloop) / per_gb(&floor);
  cell->sloop_ns[round] = sloop.cpu_s * 1e9 / (double)records;
  /* The floor's pages are as large: its CPU a byte, for the consumer's bytes. */
  cell->over_floor_ns[round] = (per_gb(&sloop) - per_gb(&floor)) * (double)sloop.bytes / (double)records;
  cell->floor_wall[round] = wall_mb(&floor);
  cell->sloop_wall[round] = wall_mb(&sloop);
  cell->late += sloop.late;
  if (sloop.rss_peak > cell->rss_peak) cell->rss_peak = sloop.rss_peak;
  if (sloop.records != records) bench_die("%" PRIu64 " records instead of %" PRIu64, sloop.records, records);
  if (looked.records != records)
    bench_die("%" PRIu64 " records instead of %" PRIu64, looked.records, records);
  if (sloop.payload_bytes != records * body->record_bytes)
    bench_die("%" PRIu64 " bytes of payload instead of %" PRIu64, sloop.payload_bytes,
              records * body->record_bytes);
  if (round && cell->hash != looked.hash) bench_die("two runs read different records");
  cell->hash = looked.hash;
}

/* The server's rate to a client that does nothing: bytes a second of its own CPU time. */
static double server_maximum(const bench_server *server, uint32_t shards, bench_cpus cpus,
                             const canon_body *body, int cbor, uint64_t records, double *ret_wall_mb) {
  bench_read r = {0};
  bench_floor_job job = {
      server->url, body->stream, shards, shards, body->page_records, records / body->page_records,
      cbor,        NULL};
  double before = bench_server_cpu_s(server);
  bench_child(cpus.client, 120, bench_floor, &job, &r, sizeof r);
  *ret_wall_mb = wall_mb(&r);
  return (double)r.bytes * 1e-6 / (bench_server_cpu_s(server) - before);
}

/* ---- the report ------------------------------------------------------------------------------ */
static void print_cell(const canon_body *body, int cbor, const canon_cell *c, size_t rounds) {
  char f[64], s[64], r[64], n[64], o[64];
  bench_spread wall = bench_spread_of(c->sloop_wall, rounds);
  printf(
      "  %s %-13s %s  floor %-22s sloop %-22s ratio %-22s ns a record %-18s over the floor %-18s wall %.0f "
      "MB/s, "
      "late %" PRIu64 ", rss %.0f MB\n",
      body->name, body->what, wires[cbor], bench_spread_text(f, bench_spread_of(c->floor_cpu, rounds), 3),
      bench_spread_text(s, bench_spread_of(c->sloop_cpu, rounds), 3),
      bench_spread_text(r, bench_spread_of(c->ratio, rounds), 2),
      bench_spread_text(n, bench_spread_of(c->sloop_ns, rounds), 0),
      bench_spread_text(o, bench_spread_of(c->over_floor_ns, rounds), 0), wall.median, c->late,
      (double)c->rss_peak * 1e-6);
}

static void print_json(const canon_cell cells[BODIES][2], size_t rounds, const canon_place *place) {
  printf("{\"bench\":\"canon\",\"tls\":%d,\"shards\":%u,\"mb_per_core_s\":%.1f", place->ca_file != NULL,
         place->shards, 1e3 / bench_spread_of(cells[0][1].sloop_cpu, rounds).median);
  for (size_t i = 0; i < BODIES; i++)
    for (int cbor = 0; cbor < 2; cbor++)
      printf(
          ",\"%s_%s\":{\"floor_cpu_s_per_gb\":%.4f,\"sloop_cpu_s_per_gb\":%.4f,\"ratio\":%.3f,"
          "\"over_floor_ns\":%.1f,\"hash\":\"%016" PRIx64 "\"}",
          bodies[i].name, wires[cbor], bench_spread_of(cells[i][cbor].floor_cpu, rounds).median,
          bench_spread_of(cells[i][cbor].sloop_cpu, rounds).median,
          bench_spread_of(cells[i][cbor].ratio, rounds).median,
          bench_spread_of(cells[i][cbor].over_floor_ns, rounds).median, cells[i][cbor].hash);
  printf(",\"version\":\"%s\"}\n", sloop_version());
}

static void run_rounds(const canon_place *place, bench_cpus cpus, int small, size_t rounds,
                       canon_cell cells[BODIES][2]) {
  for (size_t round = 0; round < rounds; round++)
    for (size_t i = 0; i < BODIES; i++)
      for (int cbor = 0; cbor < 2; cbor++)
        one_round(place, cpus, &bodies[i], cbor, small ? bodies[i].records_small : bodies[i].records, round,
                  &cells[i][cbor]);
  for (size_t i = 0; i < BODIES; i++)
    if (cells[i][0].hash != cells[i][1].hash) bench_die("JSON and CBOR give different records");
}

/* Whether word is among the arguments; it is taken out. */
static int takes(int *argc, char **argv, const char *word) {
  for (int i = 1; i < *argc; i++) {
    if (strcmp(argv[i], word) != 0) continue;
    for (int k = i; k + 1 < *argc; k++) argv[k] = argv[k + 1];
    (*argc)--;
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  int tls = takes(&argc, argv, "--tls"), many = takes(&argc, argv, "--64");
  int small =
      bench_small(argc, argv, "MB/s of pages one core reads. --tls: over TLS; --64: 64 shards, not 8.");
  static canon_cell cells[BODIES][2];
  size_t rounds = small ? 1 : 7;
  uint32_t shards = many ? 64 : 8;
  bench_cpus cpus = bench_cpus_find();
  bench_stream streams[BODIES + 1] = {{0}};
  bench_server server;
  bench_tls_front front = {0};
  for (size_t i = 0; i < BODIES; i++)
    streams[i] = (bench_stream){bodies[i].stream, shards,
                                (small ? bodies[i].records_small : bodies[i].records) / shards,
                                bodies[i].record_bytes, 0};
  bench_server_start(&server, cpus.server, streams);
  if (tls) bench_tls_front_start(&front, cpus.server, server.url);
  canon_place place = {tls ? front.url : server.url, tls ? front.ca_file : NULL, shards};
  printf("client on CPU %d, server on CPU %d, %s on loopback, %u shards, %zu round%s\n", cpus.client,
         cpus.server, tls ? "TLS" : "plain HTTP", shards, rounds, rounds == 1 ? "" : "s");
  for (size_t i = 0; i < BODIES && !tls; i++)
    for (int cbor = 0; cbor < 2; cbor++) {
      double wall = 0, alone = server_maximum(&server, shards, cpus, &bodies[i], cbor,
                                              small ? bodies[i].records_small : bodies[i].records, &wall);
      printf("  server alone, %s %s: at most %.0f MB/s of its own core (gave %.0f to the floor)\n",
             bodies[i].name, wires[cbor], alone, wall);
    }
  printf("CPU seconds per GB of pages, median (min to max):\n");
  run_rounds(&place, cpus, small, rounds, cells);
  for (size_t i = 0; i < BODIES; i++)
    for (int cbor = 0; cbor < 2; cbor++) print_cell(&bodies[i], cbor, &cells[i][cbor], rounds);
  if (tls) bench_tls_front_stop(&front);
  bench_server_stop(&server);
  printf("\n%.0f MB/s of pages per core (CBOR, 1 KiB records; floor %.0f)\n",
         1e3 / bench_spread_of(cells[0][1].sloop_cpu, rounds).median,
         1e3 / bench_spread_of(cells[0][1].floor_cpu, rounds).median);
  print_json(cells, rounds, &place);
  return 0;
}
