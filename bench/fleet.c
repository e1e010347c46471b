/* fleet.c - measures the cost of a fleet of workers and the time to its balance: the real engine in virtual
 * time over a table that counts request units by DynamoDB's rules. Beside it stands the computed cost of a
 * counter per lease, which is one write per lease every 3.3 s; a checkpoint counts there as the renewal, its
 * best case.
 *
 * Idle, busy with a checkpoint a shard every 60 s and every 5 s; then a worker joins, one leaves, one is
 * killed. CPU of a tick is the leader's work on one reading of the whole table: sorting, shard sync,
 * assignment. */
#include <stdio.h>

#include "bench.h"
#include "fleet_world.h"

#define S FLEET_S
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
} fleet_result;

static double until_balanced(fleet_world *w, const fleet_job *job, const char *what) {
  double took = fleet_world_until_balanced(w, 1800 * S);
  if (took < 0)
    bench_die("%u shards, %u workers: not balanced half an hour after %s", job->shards, job->workers, what);
  return took;
}

static void moves(fleet_world *w, const fleet_job *job, fleet_result *r) {
  fleet_world_start(w, 0);
  r->join_s = until_balanced(w, job, "a worker came");
  fleet_world_pass(w, 15 * S);
  fleet_world_leave(w, fleet_world_follower(w));
  r->leave_s = until_balanced(w, job, "a worker left");
  fleet_world_pass(w, 15 * S);
  if (job->workers == 1) return; /* nobody would be left */
  fleet_world_kill(w, fleet_world_follower(w));
  r->kill_s = until_balanced(w, job, "a worker was killed");
}

static void run(const void *job_v, void *result_v) {
  const fleet_job *job = job_v;
  fleet_result *r = result_v;
  fleet_world *w = fleet_world_new(job->shards, job->checkpoint_ms, FLEET_SEED);
  for (uint32_t i = 0; i < job->workers; i++) fleet_world_start(w, 0);
  r->start_s = until_balanced(w, job, "the start");
  fleet_world_pass(w, 65 * S);
  fleet_world_clear(w);
  double cpu = bench_cpu_s();
  fleet_world_pass(w, job->window_s * S);
  r->cpu_s = bench_cpu_s() - cpu;
  r->cost = *fleet_table_cost_of(fleet_world_table(w));
  if (job->moves) moves(w, job, r);
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
