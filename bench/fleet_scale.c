/* fleet_scale.c - measures how large one fleet may be: the real engine in virtual time, each partition key of the
 * table throttled as the service does.
 *
 * Time until balanced, and the longest that a shard was read by nobody: from nothing, after a tenth of the workers
 * and the leader died at once, after every shard was split. Units of an hour at rest, and how many requests were
 * throttled, heartbeats apart. Prices are those of on-demand tables in us-east-1: 0.625 dollars a million units
 * written, 0.125 a million read. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "fleet_world.h"

#define S FLEET_S
#define START_US (5 * S) /* the workers of a deployment start within it */
#define WINDOW_S 120
#define MOST_US (600 * S)
#define WRITE_DOLLARS 0.625e-6
#define READ_DOLLARS 0.125e-6

typedef struct scale_job {
  uint32_t shards, workers, checkpoint_ms; /* 0: idle */
  uint32_t writes_s;                       /* that the table grants; 0: what the service gives a key */
  uint32_t seed;
} scale_job;

typedef enum phase { STARTED, AT_REST, DIED, DOUBLED, PHASES } phase;
static const char *const phase_names[] = {"start", "rest", "a tenth dies", "all split"};

typedef struct scale_result {
  struct {
    double balanced_s; /* -1: not within ten minutes */
    fleet_table_cost cost;
    fleet_world_told told;
  } phases[PHASES];
} scale_result;

static void note(fleet_world *w, scale_result *r, phase p, double balanced_s) {
  r->phases[p].balanced_s = balanced_s;
  r->phases[p].cost = *fleet_table_cost_of(fleet_world_table(w));
  r->phases[p].told = fleet_world_tell(w);
  fleet_world_clear(w);
}

static void kill_a_tenth(fleet_world *w, uint32_t workers) {
  uint32_t killed = 0;
  fleet_world_kill(w, fleet_world_leader(w));
  while (++killed < workers / 10) fleet_world_kill(w, fleet_world_follower(w));
}

static void run(const void *job_v, void *result_v) {
  const scale_job *job = job_v;
  scale_result *r = result_v;
  fleet_world *w = fleet_world_new(job->shards, job->checkpoint_ms, job->seed);
  if (job->writes_s) fleet_table_grants(fleet_world_table(w), job->writes_s);
  for (uint32_t i = 0; i < job->workers; i++) fleet_world_start(w, START_US);
  note(w, r, STARTED, fleet_world_until_balanced(w, MOST_US));
  fleet_world_pass(w, 65 * S);
  fleet_world_clear(w);
  fleet_world_pass(w, WINDOW_S * S);
  note(w, r, AT_REST, 0);
  kill_a_tenth(w, job->workers);
  note(w, r, DIED, fleet_world_until_balanced(w, MOST_US));
  fleet_world_pass(w, 30 * S);
  fleet_world_clear(w);
  fleet_world_double(w);
  note(w, r, DOUBLED, fleet_world_until_balanced(w, MOST_US));
}

static void print(const scale_job *job, const scale_result *r) {
  char load[64] = "idle", grants[32] = "";
  if (job->writes_s) snprintf(grants, sizeof grants, ", %u writes a second", job->writes_s);
  if (job->checkpoint_ms) snprintf(load, sizeof load, "busy %u s%s", job->checkpoint_ms / 1000, grants);
  const fleet_table_cost *rest = &r->phases[AT_REST].cost;
  double hour = 3600.0 / WINDOW_S;
  double writes = (double)rest->writes / 2 * hour, reads = (double)rest->reads / 2 * hour;
  double dollars = writes * WRITE_DOLLARS + reads * READ_DOLLARS;
  printf(
      "%u shards x %u workers, %s: %.0f written + %.0f read units an hour, %.3f dollars, %.2f a thousand "
      "shards\n",
      job->shards, job->workers, load, writes, reads, dollars, dollars / job->shards * 1e3);
  for (int p = 0; p < PHASES; p++) {
    const fleet_table_cost *c = &r->phases[p].cost;
    const fleet_world_told *t = &r->phases[p].told;
    printf(
        "  %-13s balanced after %7.1f s, unread at most %6.1f s, leader %6.2f s CPU (a tick %.0f ms at most) "
        "%4.0f MB, "
        "throttled %llu writes %llu reads, %llu heartbeats, %llu lost\n",
        phase_names[p], r->phases[p].balanced_s, t->unread_s_max, t->leader_cpu_s, c->tick_cpu_s_max * 1e3,
        (double)t->leader_bytes_peak / 1e6, (unsigned long long)c->writes_throttled,
        (unsigned long long)c->reads_throttled, (unsigned long long)c->beats_throttled,
        (unsigned long long)t->losses);
    printf(
        "{\"bench\":\"fleet_scale\",\"shards\":%u,\"workers\":%u,\"checkpoint_ms\":%u,\"grants\":%u,\"seed\":"
        "%u,"
        "\"phase\":\"%s\","
        "\"balanced_s\":"
        "%.2f,\"unread_s\":%.2f,\"leader_cpu_s\":%.3f,\"leader_bytes_peak\":%llu,\"write_units_hour\":%.0f,"
        "\"read_units_"
        "hour\":%.0f,\"writes_throttled\":%llu,\"reads_throttled\":%llu,\"heartbeats_throttled\":%llu,"
        "\"losses\":%llu}\n",
        job->shards, job->workers, job->checkpoint_ms, job->writes_s, job->seed, phase_names[p],
        r->phases[p].balanced_s, t->unread_s_max, t->leader_cpu_s, (unsigned long long)t->leader_bytes_peak,
        writes, reads, (unsigned long long)c->writes_throttled, (unsigned long long)c->reads_throttled,
        (unsigned long long)c->beats_throttled, (unsigned long long)t->losses);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const uint32_t fleets[][4] = {{100, 5, 0, 0},        {100, 5, 5000, 0},   {100, 5, 5000, 10},
                                       {1000, 50, 0, 0},      {1000, 50, 5000, 0}, {4000, 200, 5000, 0},
                                       {10000, 500, 5000, 0}, {20000, 1000, 0, 0}};
  int one = argc == 5 || argc == 6, small = !one && bench_small(argc, argv, "how large a fleet may be");
  int cpu = bench_cpus_find().client;
  if (one) {
    uint32_t n[5] = {0, 0, 0, 0, FLEET_SEED};
    for (int i = 0; i < argc - 1; i++) n[i] = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    scale_job job = {n[0], n[1], n[2], n[3], n[4]};
    scale_result r = {0};
    if (!job.shards || job.workers < 2) bench_die("fleet_scale SHARDS WORKERS CHECKPOINT_MS WRITES_S [SEED]");
    bench_child(cpu, 3600, run, &job, &r, sizeof r);
    print(&job, &r);
    return 0;
  }
  for (size_t i = 0; i < sizeof fleets / sizeof *fleets; i++) {
    const uint32_t *n = fleets[i];
    scale_job job = {n[0], n[1], n[2], n[3], FLEET_SEED};
    scale_result r = {0};
    if (small && job.shards > 100) continue;
    bench_child(cpu, 3600, run, &job, &r, sizeof r);
    print(&job, &r);
  }
  return 0;
}
