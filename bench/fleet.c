/* fleet.c - measures the cost of a fleet of workers and the time to its balance: the real engine in virtual
 * time over a table that counts request units by DynamoDB's rules. Beside it stands the computed cost of a
 * counter per lease, which is one write per lease every 3.3 s; a checkpoint counts there as the renewal, its
 * best case.
 *
 * Idle, busy with a checkpoint a shard every 60 s and every 5 s; then a worker joins, one leaves, one is
 * killed. CPU of a tick is the leader's work on one reading of the whole table: sorting, shard sync,
 * assignment. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "lease/fleet.h"
#include "fleet_table.h"
#include "sim/host.h"
#include "store/schemas.h"

#define S UINT64_C(1000000)
#define WORKERS_MAX 64
#define ANSWER_US 8000
#define LIST_US 50000
#define RENEW_S 3.3

typedef struct fleet_job {
  uint32_t shards, workers, checkpoint_ms; /* 0: idle */
  uint32_t window_s;                       /* counted in virtual time, after the fleet is at rest */
  uint8_t moves;                           /* join, leave, kill as well */
} fleet_job;

typedef struct fleet_result {
  fleet_table_cost cost;
  double start_s, join_s, leave_s, kill_s; /* until balanced */
  double cpu_s;                            /* of the counted window */
  uint64_t start_halves;
} fleet_result;

typedef struct world world;
typedef struct node {
  world *w;
  slp_host *h;
  slp_mem *mem;
  slp_schema *schema;
  slp_processor processor;
  slp_fleet *fleet;
  slp_timer tick, listing;
  uint32_t *open; /* numbers of shards */
  uint32_t open_n;
  uint64_t *mark; /* by shard */
  uint8_t lives, draining, left;
} node;

struct world {
  slp_sim *sim;
  slp_mem *mem;
  fleet_table *table;
  slp_schema *schema;
  const fleet_job *job;
  slp_shard_desc *shards;
  node nodes[WORKERS_MAX];
  uint32_t nodes_n;
};

/* ---- the stream ---------------------------------------------------------------------------------------- */

static slp_str text(world *w, const char *fmt, unsigned long long n) {
  char line[64];
  int k = snprintf(line, sizeof line, fmt, n);
  char *p = slp_alloc(w->mem, (size_t)k + 1);
  if (!p) bench_die("no memory");
  memcpy(p, line, (size_t)k + 1);
  return (slp_str){p, (size_t)k};
}

/* Numbers as long as those of a Kinesis stream: they are most of a lease's row. */
static void make_shards(world *w) {
  w->shards = slp_zalloc_n(w->mem, w->job->shards, sizeof *w->shards);
  if (!w->shards) bench_die("no memory");
  for (uint32_t i = 0; i < w->job->shards; i++) {
    slp_shard_desc *d = &w->shards[i];
    d->id = text(w, "shardId-%012llu", i);
    d->hash_start = text(w, "3402823669209384634633746074%011llu", 10000000000u + i);
    d->hash_end = text(w, "3402823669209384634633746074%011llu", 10000000000u + i);
    d->seq_start = text(w, "49590338271490256608559692538361571095921575989%09llu", i);
  }
  w->shards[0].hash_start = SLP_STR("0");
  w->shards[w->job->shards - 1].hash_end = SLP_STR("340282366920938463463374607431768211455");
}

static uint32_t number(slp_str shard) {
  uint32_t n = 0;
  for (size_t i = shard.n - 12; i < shard.n; i++) n = n * 10 + (uint32_t)(shard.p[i] - '0');
  return n;
}

/* ---- a worker's reader --------------------------------------------------------------------------------- */

static node *node_of(slp_processor *t) { return SLP_OWNER(t, node, processor); }

static int t_open(slp_processor *t, slp_str shard, uint64_t epoch, const slp_position *from) {
  node *n = node_of(t);
  uint64_t at = 0;
  (void)epoch;
  if (from->kind == SLP_POSITION_AFTER) slp_parse_u64(slp_mark_seq(&from->mark), &at);
  n->mark[number(shard)] = at;
  n->open[n->open_n++] = number(shard);
  return 0;
}

static void t_drain(slp_processor *t, slp_str shard) { slp_fleet_drained(node_of(t)->fleet, shard); }

static void t_revoke(slp_processor *t, slp_str shard, slp_shutdown_reason why) {
  node *n = node_of(t);
  (void)why;
  for (uint32_t i = 0; i < n->open_n; i++)
    if (n->open[i] == number(shard)) {
      n->open[i] = n->open[--n->open_n];
      return;
    }
}

static void t_suspend(slp_processor *t, int on) { (void)t, (void)on; }

static void t_mark(slp_processor *t, slp_str shard, slp_position *ret) {
  node *n = node_of(t);
  uint64_t at = n->mark[number(shard)];
  char seq[32];
  memset(ret, 0, sizeof *ret);
  ret->kind = at ? SLP_POSITION_AFTER : SLP_POSITION_OLDEST;
  if (!at) return;
  int k = snprintf(seq, sizeof seq, "%llu", (unsigned long long)at);
  slp_mark_set(&ret->mark, (slp_str){seq, (size_t)k}, UINT32_MAX, -1);
}

static void t_list(slp_processor *t) {
  node *n = node_of(t);
  slp_timer_set(n->h, &n->listing, slp_now_us(n->h) + LIST_US);
}

static const slp_processor_ops processor_ops = {.open = t_open,
                                                .drain = t_drain,
                                                .revoke = t_revoke,
                                                .suspend = t_suspend,
                                                .mark = t_mark,
                                                .list = t_list};

static void run_listing(slp_timer *timer) {
  node *n = SLP_OWNER(timer, node, listing);
  slp_fail fine;
  slp_fail_clear(&fine);
  slp_fleet_listed(n->fleet, &fine, n->w->shards, n->w->job->shards);
}

/* Every second each shard's position moves on. */
static void run_tick(slp_timer *timer) {
  node *n = SLP_OWNER(timer, node, tick);
  for (uint32_t i = 0; i < n->open_n; i++) {
    n->mark[n->open[i]] = 1000000000 + slp_now_us(n->h);
    slp_fleet_progressed(n->fleet, n->w->shards[n->open[i]].id);
  }
  slp_timer_set(n->h, &n->tick, slp_now_us(n->h) + S);
}

static void on_event(void *arg, const slp_fleet_event *ev) {
  node *n = arg;
  if (ev->kind == SLP_FLEET_LEFT) n->left = 1;
  if (ev->kind == SLP_FLEET_LOST || ev->kind == SLP_FLEET_EVICTED || ev->kind == SLP_FLEET_FAILED ||
      ev->kind == SLP_FLEET_HOLE)
    bench_die("a fleet without faults says: %.*s", (int)ev->text.n, ev->text.p);
}

/* ---- workers come and go ------------------------------------------------------------------------------- */

static void start(world *w) {
  node *n = &w->nodes[w->nodes_n++];
  slp_sim_clock clock = {0, S + slp_sim_random_below(w->sim, 1u << 30), 0};
  n->w = w;
  n->mem = slp_mem_new(NULL, NULL);
  n->h = slp_sim_host_new(w->sim, n->mem, &clock);
  n->schema = slp_schema_sloop(n->mem, SLP_STR("billing"), SLP_STR("orders"), SLP_STR("1700000000"));
  n->open = slp_zalloc_n(w->mem, w->job->shards, sizeof *n->open);
  n->mark = slp_zalloc_n(w->mem, w->job->shards, sizeof *n->mark);
  if (!n->h || !n->schema || !n->open || !n->mark) bench_die("no memory");
  n->processor.ops = &processor_ops;
  n->tick.at_us = n->listing.at_us = UINT64_MAX;
  n->tick.run = run_tick;
  n->listing.run = run_listing;
  slp_fleet_opts o = {.host = n->h,
                      .store = fleet_table_store(w->table, n->h),
                      .schema = n->schema,
                      .processor = &n->processor,
                      .worker = text(w, "ip-10-0-0-%llu-4711-c0ffee", w->nodes_n),
                      .machine = SLP_STR("ip-10-0-0-17.eu-central-1.compute.internal"),
                      .start.kind = SLP_POSITION_OLDEST,
                      .checkpoint_ms = w->job->checkpoint_ms,
                      .on_event = on_event,
                      .arg = n};
  if (slp_fleet_new(&n->fleet, n->mem, &o)) bench_die("no memory");
  n->lives = 1;
  if (w->job->checkpoint_ms) slp_timer_set(n->h, &n->tick, slp_now_us(n->h) + S);
  slp_fleet_start(n->fleet);
}

static void kill_one(world *w, uint32_t i) {
  node *n = &w->nodes[i];
  n->lives = 0;
  n->open_n = 0;
  slp_timer_clear(n->h, &n->tick);
  slp_timer_clear(n->h, &n->listing);
  slp_fleet_free(n->fleet);
}

/* ---- balance ------------------------------------------------------------------------------------------- */

static int balanced(void *arg) {
  world *w = arg;
  uint32_t all = 0, least = UINT32_MAX, most = 0;
  for (uint32_t i = 0; i < w->nodes_n; i++) {
    const node *n = &w->nodes[i];
    if (!n->lives) continue;
    all += n->open_n;
    if (n->open_n < least) least = n->open_n;
    if (n->open_n > most) most = n->open_n;
  }
  return all == w->job->shards && most - least <= 1;
}

static void pass(world *w, uint64_t us) { slp_sim_run(w->sim, slp_sim_now_us(w->sim) + us, NULL, NULL); }

static double until_balanced(world *w, const char *what) {
  uint64_t from = slp_sim_now_us(w->sim);
  while (!balanced(w)) {
    pass(w, S / 50);
    if (slp_sim_now_us(w->sim) - from > 1800 * S)
      bench_die("%u shards, %u workers: not balanced half an hour after %s", w->job->shards, w->job->workers,
                what);
  }
  return (double)(slp_sim_now_us(w->sim) - from) / 1e6;
}

static int leader(const world *w) {
  for (uint32_t i = 0; i < w->nodes_n; i++) {
    slp_fleet_stats s;
    if (!w->nodes[i].lives) continue;
    slp_fleet_stats_get(w->nodes[i].fleet, &s);
    if (s.leads_now) return (int)i;
  }
  return -1;
}

static uint32_t follower(const world *w) {
  for (uint32_t i = 0; i < w->nodes_n; i++)
    if (w->nodes[i].lives && (int)i != leader(w)) return i;
  bench_die("nobody follows");
}

static void moves(world *w, fleet_result *r) {
  start(w);
  r->join_s = until_balanced(w, "a worker came");
  pass(w, 15 * S);
  uint32_t i = follower(w);
  w->nodes[i].lives = 0;
  slp_fleet_leave(w->nodes[i].fleet, 10000);
  r->leave_s = until_balanced(w, "a worker left");
  pass(w, 15 * S);
  if (w->job->workers == 1) return; /* nobody would be left */
  kill_one(w, follower(w));
  r->kill_s = until_balanced(w, "a worker was killed");
}

static void run(const void *job_v, void *result_v) {
  const fleet_job *job = job_v;
  fleet_result *r = result_v;
  world *w = calloc(1, sizeof *w);
  if (!w) bench_die("no memory");
  w->job = job;
  w->mem = slp_mem_new(NULL, NULL);
  w->sim = slp_sim_new(w->mem, 11);
  w->schema = slp_schema_sloop(w->mem, SLP_STR("billing"), SLP_STR("orders"), SLP_STR("1700000000"));
  w->table = fleet_table_new(w->mem, w->sim, w->schema, ANSWER_US);
  make_shards(w);
  for (uint32_t i = 0; i < job->workers; i++) start(w);
  r->start_s = until_balanced(w, "the start");
  const fleet_table_cost *cost = fleet_table_cost_of(w->table);
  r->start_halves = cost->writes + cost->reads;
  pass(w, 65 * S);
  fleet_table_cost_clear(w->table);
  double cpu = bench_cpu_s();
  pass(w, job->window_s * S);
  r->cpu_s = bench_cpu_s() - cpu;
  r->cost = *cost;
  if (job->moves) moves(w, r);
}

/* ---- the table of figures ------------------------------------------------------------------------------ */

static void print(const fleet_job *job, const fleet_result *r) {
  double hour = 3600.0 / job->window_s, renewals = job->shards * 3600.0 / RENEW_S;
  double writes = (double)r->cost.writes / 2 * hour, reads = (double)r->cost.reads / 2 * hour;
  double tick_ms = r->cost.ticks ? r->cost.tick_cpu_s / (double)r->cost.ticks * 1e3 : 0;
  char load[16] = "idle";
  if (job->checkpoint_ms) snprintf(load, sizeof load, "busy %u s", job->checkpoint_ms / 1000);
  printf("%6u x %-3u %-9s %11.0f %10.0f %10.0f %10.0f %8.2f %8.2f", job->shards, job->workers, load, renewals,
         writes, reads, writes + reads, renewals / (writes + reads), 5 * renewals / (5 * writes + reads));
  printf(" %8.2f %8.2f", tick_ms, r->cost.tick_cpu_s_max * 1e3);
  if (job->moves) printf(" %7.2f %6.2f %6.2f %6.2f", r->start_s, r->join_s, r->leave_s, r->kill_s);
  printf(" %7.1f\n", r->cpu_s * hour / job->workers);
  printf(
      "{\"bench\":\"fleet\",\"shards\":%u,\"workers\":%u,\"checkpoint_ms\":%u,\"renewals_hour\":%.0f,\"write_"
      "units_hour\":"
      "%.1f,\"read_units_hour\":%.1f,\"tick_cpu_ms\":%.3f,\"tick_cpu_ms_max\":%.3f,\"start_s\":%.2f,\"join_"
      "s\":%.2f,"
      "\"leave_s\":%.2f,\"kill_s\":%.2f,\"cpu_s_hour_worker\":%.2f}\n",
      job->shards, job->workers, job->checkpoint_ms, renewals, writes, reads, tick_ms,
      r->cost.tick_cpu_s_max * 1e3, r->start_s, r->join_s, r->leave_s, r->kill_s,
      r->cpu_s * hour / job->workers);
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const uint32_t shards[] = {1, 10, 100, 1000, 10000}, workers[] = {1, 10, 50},
                        loads[] = {0, 60000, 5000};
  int small = bench_small(argc, argv, "request units of a fleet, and how fast it is balanced");
  int cpu = bench_cpus_find().client;
  printf(
      "units an hour: W written, R read; base: one write per lease per 3.3 s; by price: writes count five "
      "times\n"
      "tick: CPU of the leader's reading everything; start, join, leave, kill: seconds until balanced; CPU: "
      "seconds an "
      "hour and worker\n");
  printf(
      "shards x workers load       base          W          R      W + R  base/W+R by price  tick ms  at "
      "most   start   "
      "join  leave   kill     CPU\n");
  for (size_t i = 0; i < SLP_COUNT(shards); i++)
    for (size_t k = 0; k < SLP_COUNT(workers); k++)
      for (size_t l = 0; l < SLP_COUNT(loads); l++) {
        fleet_job job = {shards[i], workers[k], loads[l], small ? 120 : 600, loads[l] == 0};
        fleet_result r = {0};
        if (small && (shards[i] > 100 || workers[k] > 10)) continue;
        bench_child(cpu, 3600, run, &job, &r, sizeof r);
        print(&job, &r);
      }
  return 0;
}
