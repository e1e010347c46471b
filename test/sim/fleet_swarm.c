/* fleet_swarm.c - many small fleets, each drawn from a seed: its size, its clocks, its faults, and a story of
 * kills, stops, pauses, cuts, outages, splits and merges; then calm. The judge looks at every hand-out and at
 * every row. A seed that fails is played again with --seed N (--trace shows the story).
 *
 *   fleet_swarm [--kcl] [--seeds N] [--from N] [--enough N] [--seed N [--trace]]
 *
 * Each seed is played in a process of its own; it ends when ten, or so many as are enough, broke a rule. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/fleet_world.h"
#include "sim/share.h"

typedef struct sums {
  uint64_t seeds, kills, leaves, pauses, cuts, outages, splits, merges, deletes, starts, records, repeats;
  uint64_t evictions, evicted, leads, lost, expired, writes;
} sums;

static uint64_t drawn(fw_world *w, uint64_t low, uint64_t high) {
  return slp_sim_random_between(w->sim, low, high);
}
static int chance(fw_world *w, uint32_t percent) { return slp_sim_chance(w->sim, percent * 10000); }

static void draw_world(fw_world *w) {
  fw_faults *f = &w->faults;
  int bad = chance(w, 70);
  w->lease_ms = (uint32_t)drawn(w, 1000, 3000);
  w->handover_ms = (uint32_t)drawn(w, 500, 8000);
  w->user_us_min = 1000;
  w->user_us_max = chance(w, 25) ? drawn(w, 100000, 4 * FW_S) : 60000;
  f->rt_us_max = (uint32_t)drawn(w, 3000, 40000);
  if (!bad) return;
  f->lost_ppm = (uint32_t)drawn(w, 0, 40000);
  f->unanswered_ppm = (uint32_t)drawn(w, 0, 60000);
  f->doubled_ppm = (uint32_t)drawn(w, 0, 60000);
  f->late_ppm = (uint32_t)drawn(w, 0, 30000);
  f->throttle_ppm = (uint32_t)drawn(w, 0, 60000);
  if (chance(w, 20)) { /* copies that come when nobody thinks of them any more */
    f->late_us = 20 * FW_S;
    f->doubled_ppm = 400000;
  }
  f->blind_ppm = chance(w, 50) ? 1000000 : 100000;
  f->stale_ppm = (uint32_t)drawn(w, 0, 500000);
}

static int32_t drift(fw_world *w) { return (int32_t)drawn(w, 0, 140000) - 70000; }

static void start_one(fw_world *w, sums *s) {
  char id[16];
  int slot = (int)drawn(w, 0, FW_NODES - 1);
  if (w->nodes[slot]) return;
  if (chance(w, 50))
    snprintf(id, sizeof id, "w%d", slot);
  else
    snprintf(id, sizeof id, "n%d", (int)drawn(w, 100, 999));
  fw_start(w, slot, id, drift(w));
  s->starts++;
}

static fw_node *any(fw_world *w) {
  fw_node *n = w->nodes[drawn(w, 0, FW_NODES - 1)];
  return n && !n->left && !n->failed ? n : NULL;
}

static int any_shard(fw_world *w) { return (int)drawn(w, 0, (uint64_t)w->shards_n - 1); }

static void merge_some(fw_world *w, sums *s) {
  int a = any_shard(w);
  for (int b = 0; b < w->shards_n; b++)
    if (w->shards[a].hash_to == w->shards[b].hash_from && fw_merge(w, a, b)) {
      s->merges++;
      return;
    }
}

static void unblock(void *arg) {
  fw_world *w = arg;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i]) w->nodes[i]->cut = w->nodes[i]->blocked = 0;
}

/* Leases that are given up for lack of progress, and merges right behind splits. */
static void happen_oddly(fw_world *w, sums *s) {
  fw_node *holder = NULL;
  const struct fw_open *most = NULL; /* what has moved most moves on: copies of old writes may still come */
  for (int i = 0; i < FW_NODES; i++)
    for (int k = 0; w->nodes[i] && k < w->nodes[i]->open_n; k++)
      if (!most || w->nodes[i]->open[k].epoch > most->epoch)
        most = &w->nodes[i]->open[k], holder = w->nodes[i];
  if (most && chance(w, 70)) {
    slp_fleet_stalled(holder->fleet, slp_str_of(w->shards[most->shard].id));
    return;
  }
  int i = any_shard(w);
  fw_produce(w, i, 300); /* long read on when the merge's other parent has ended */
  fw_shard *kid = fw_split(w, i);
  if (!kid) return;
  s->splits++;
  int upper = (int)(kid - w->shards) + 1;
  for (int b = 0; b < upper; b++)
    if (w->shards[b].hash_from == w->shards[upper].hash_to && fw_merge(w, upper, b)) {
      s->merges++;
      return;
    }
}

static void happen(fw_world *w, sums *s) {
  if (w->odd && chance(w, 40)) {
    happen_oddly(w, s);
    return;
  }
  fw_node *n = any(w);
  uint64_t lease = (uint64_t)w->lease_ms * 1000;
  char row[64];
  switch (drawn(w, 0, 11)) {
    case 0:
    case 1: start_one(w, s); break;
    case 2:
      if (n) fw_kill(w, n->slot), s->kills++;
      break;
    case 3:
      if (n) fw_leave(w, n->slot, (uint32_t)drawn(w, 100, 5000)), s->leaves++;
      break;
    case 4:
    case 5:
      if (n) slp_sim_freeze(n->h, drawn(w, lease / 4, lease * 3)), s->pauses++;
      break;
    case 6:
      if (n) {
        n->cut = 1;
        slp_sim_at(w->sim, fw_now(w) + drawn(w, lease / 4, lease * 3), unblock, w);
        s->cuts++;
      }
      break;
    case 7:
      if (chance(w, 30)) w->outage_until_us = fw_now(w) + drawn(w, lease / 4, lease * 3), s->outages++;
      break;
    case 8:
    case 9: s->splits += fw_split(w, any_shard(w)) != NULL; break;
    case 10: merge_some(w, s); break;
    default:
      if (n && w->kcl) { /* there are no such rows */
        if (n->open_n) slp_fleet_stalled(n->fleet, slp_str_of(w->shards[n->open[0].shard].id));
        break;
      }
      if (!n || !chance(w, 20)) break;
      snprintf(row, sizeof row, "w/%s", n->id);
      fw_operator_delete(w, chance(w, 30) ? "lead" : row);
      s->deletes++;
  }
  fw_reap(w);
}

static void calm(fw_world *w, sums *s) {
  memset(&w->faults, 0, sizeof w->faults);
  w->faults.rt_us_min = 2000;
  w->faults.rt_us_max = 10000;
  w->outage_until_us = 0;
  w->user_us_max = 60000;
  w->producing = 0;
  unblock(w);
  for (int tries = 0; fw_live(w) == 0 && tries < 100; tries++) start_one(w, s);
}

static int done(fw_world *w) {
  fw_reap(w);
  if (fw_live(w) == 0) fw_start(w, 0, "last", 0); /* those that were leaving have left */
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && w->nodes[i]->leaving) return 0;
  return fw_all_read(w) && fw_settled(w);
}

/* Nothing is written at rest but heartbeats, and nobody moves. */
static void check_rest(fw_world *w) {
  uint64_t before = 0, beats = 0, after = 0, beats_after = 0, taken = 0, taken_after = 0;
  /* Workers that have only just come, checkpoints that are due yet, and an audit. */
  if (!fw_run(w, 80 * FW_S)) return;
  for (int pass = 0; pass < 2; pass++) {
    uint64_t sum = 0, b = 0, t = 0;
    for (int i = 0; i < FW_NODES; i++) {
      slp_fleet_stats st;
      if (!w->nodes[i]) continue;
      slp_fleet_stats_get(w->nodes[i]->fleet, &st);
      sum += st.writes;
      b += st.heartbeats;
      t += st.taken;
    }
    if (pass == 0) {
      before = sum, beats = b, taken = t;
      if (!fw_run(w, (uint64_t)w->lease_ms * 2000)) return;
    } else {
      after = sum, beats_after = b, taken_after = t;
    }
  }
  int64_t others = (int64_t)(after - before) - (int64_t)(beats_after - beats);
  int under_way = w->kcl ? w->shards_n : fw_live(w); /* a heartbeat of each worker, or of each lease */
  if (others > under_way)
    fw_wrong(w, "S10 rate: %lld writes at rest that are no heartbeats", (long long)others);
  if (taken_after != taken) fw_wrong(w, "L2 balanced: leases move at rest");
  if (!fw_settled(w)) fw_wrong(w, "L2 balanced: what had settled is unsettled again");
}

static void why_not(fw_world *w) {
  int unread = -1;
  for (int i = 0; i < w->shards_n && unread < 0; i++)
    if (w->shards[i].acked < w->shards[i].records ||
        (w->shards[i].closed && w->pos[i].kind != SLP_POSITION_END))
      unread = i;
  if (unread >= 0)
    fw_wrong(w, "L1 all read: %s is not read to its end: %llu of %llu, owner in slot %d",
             w->shards[unread].id, (unsigned long long)w->shards[unread].acked,
             (unsigned long long)w->shards[unread].records, fw_owner_of(w, unread));
  else
    fw_wrong(w, "L2 balanced: the fleet of %d does not come to rest", fw_live(w));
}

static void print(void *arg, const char *line) {
  (void)arg;
  if (!strstr(line, " sends ")) puts(line);
}

static int kcl;

static int play(uint64_t seed, sums *s, int trace) {
  fw_world *w = (kcl ? fw_new_kcl : fw_new)(seed, 1 + (int)(seed % 9));
  w->odd = seed % 8 == 5; /* not drawn: seeds that once failed stay what they were */
  if (trace) slp_sim_on_trace(w->sim, print, NULL);
  draw_world(w);
  if (w->odd && w->faults.rt_us_max) w->faults.late_us = 20 * FW_S, w->faults.doubled_ppm = 300000;
  for (uint64_t n = drawn(w, 1, 5); n; n--) start_one(w, s);
  uint64_t until = fw_now(w) + drawn(w, 5, 40) * FW_S;
  while (fw_now(w) < until && fw_run(w, drawn(w, FW_S / 10, 3 * FW_S))) happen(w, s);
  calm(w, s);
  if (!w->complaint[0] && !fw_until(w, 200 * FW_S, done)) why_not(w);
  if (!w->complaint[0]) check_rest(w);
  s->seeds++;
  for (int i = 0; i < w->shards_n; i++) {
    s->records += w->shards[i].records;
    s->repeats += w->shards[i].repeats;
  }
  s->evictions += w->evictions;
  s->evicted += w->evicted;
  s->leads += w->leads;
  s->lost += w->lost;
  s->expired += w->expired;
  s->writes += w->writes;
  int wrong = w->complaint[0] != 0;
  if (wrong && trace) fw_dump(w);
  if (wrong) {
    printf("seed %llu: %s\n", (unsigned long long)seed, w->complaint);
    return 1; /* what is left of a broken run is not worth taking apart */
  }
  fw_free(w);
  return 0;
}

#define SECONDS_A_SEED 60

/* s is shared with the child. 0: fine; 1: a rule was broken; -1: it ended otherwise. */
static int play_apart(uint64_t seed, sums *s) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    alarm(SECONDS_A_SEED);
    int wrong = play(seed, s, 0);
    fflush(stdout);
    _exit(wrong);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  printf("seed %llu: ended by signal %d\n", (unsigned long long)seed, WTERMSIG(status));
  return -1;
}

static int tell(const sums *s, int wrong) {
  printf(
      "%llu fleets: %llu starts, %llu kills, %llu leaves, %llu pauses, %llu cuts, %llu outages, %llu splits, "
      "%llu merges, %llu deleted rows\n",
      (unsigned long long)s->seeds, (unsigned long long)s->starts, (unsigned long long)s->kills,
      (unsigned long long)s->leaves, (unsigned long long)s->pauses, (unsigned long long)s->cuts,
      (unsigned long long)s->outages, (unsigned long long)s->splits, (unsigned long long)s->merges,
      (unsigned long long)s->deletes);
  printf(
      "%llu records, %llu repeats, %llu condemned, %llu evicted, %llu elections, %llu leases lost, %llu "
      "hand-overs "
      "at the deadline, %llu writes; %d wrong\n",
      (unsigned long long)s->records, (unsigned long long)s->repeats, (unsigned long long)s->evicted,
      (unsigned long long)s->evictions, (unsigned long long)s->leads, (unsigned long long)s->lost,
      (unsigned long long)s->expired, (unsigned long long)s->writes, wrong);
  return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  uint64_t from = 1, seeds = 300;
  int trace = 0, wrong = 0, other = 0, enough = 10;
  sums *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 2;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--trace") == 0) trace = 1;
    if (strcmp(argv[i], "--kcl") == 0) kcl = 1;
    if (i + 1 == argc) break;
    if (strcmp(argv[i], "--seeds") == 0) seeds = sim_share(strtoull(argv[i + 1], NULL, 10));
    if (strcmp(argv[i], "--enough") == 0) enough = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--from") == 0) from = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--seed") == 0) from = strtoull(argv[i + 1], NULL, 10), seeds = 1;
  }
  if (trace) return tell(s, play(from, s, 1));
  for (uint64_t seed = from; seed < from + seeds && wrong < enough && other < 10; seed++) {
    int r = play_apart(seed, s);
    wrong += r > 0;
    other += r < 0;
    fflush(stdout);
  }
  return tell(s, wrong + other);
}
