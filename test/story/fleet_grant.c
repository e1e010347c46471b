/* fleet_grant.c - a fleet on a table that grants fewer writes a second than it asks for: heartbeats come through,
 * checkpoints are spaced by what is left, each shard has its turn, and all comes back when the table grants more.
 * SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"

#define WORLD fw_new
#include "story/fleet_play.h"

#define SHARDS 12
#define WORKERS 3

static struct turn { /* of one shard's checkpoints */
  slp_position at;
  uint64_t last_us, longest_us, n;
} turns[SHARDS];

static void rows_written(fw_world *w) {
  for (int i = 0; i < SHARDS; i++) {
    struct turn *t = &turns[i];
    if (slp_position_same(&w->pos[i], &t->at)) continue;
    uint64_t took = fw_now(w) - t->last_us;
    if (t->n && took > t->longest_us) t->longest_us = took;
    t->at = w->pos[i];
    t->last_us = fw_now(w);
    t->n++;
  }
}

static void count_anew(fw_world *w) {
  for (int i = 0; i < SHARDS; i++) turns[i] = (struct turn){.at = w->pos[i], .last_us = fw_now(w), .n = 1};
}

/* The longest that a shard has waited, to this moment. */
static uint64_t longest(fw_world *w) {
  uint64_t most = 0;
  for (int i = 0; i < SHARDS; i++) {
    most = slp_max_u64(most, turns[i].longest_us);
    most = slp_max_u64(most, fw_now(w) - turns[i].last_us);
  }
  return most;
}

static uint64_t checkpoints(void) {
  uint64_t n = 0;
  for (int i = 0; i < SHARDS; i++) n += turns[i].n - 1;
  return n;
}

/* Heartbeats of three workers each 0.67 s are 4.5 writes a second; twelve checkpoints a second are asked for. */
TEST(a_small_table_loses_no_heartbeat_and_starves_no_shard) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(SHARDS, WORKERS);
    w->on_rows = rows_written;
    count_anew(w);
    run(w, 20 * FW_S);
    uint64_t usual = checkpoints();
    w->faults.writes_s = 8;
    run(w, 30 * FW_S); /* until it has learned what it gets */
    count_anew(w);
    uint64_t refused = w->refused, seconds = 120;
    for (uint64_t i = 0; i < 5 * seconds; i++) {
      run(w, FW_S / 5);
      for (int k = 0; k < WORKERS; k++) CHECK(!w->nodes[k]->suspended);
    }
    fprintf(stderr, "     seed %llu: %llu checkpoints, %llu refusals, a shard waits %.1f s at most\n",
            (unsigned long long)seed, (unsigned long long)checkpoints(),
            (unsigned long long)(w->refused - refused), (double)longest(w) / 1e6);
    CHECK(w->evictions == 0 && w->evicted == 0 && w->lost == 0);
    CHECK(longest(w) <= 30 * FW_S);
    CHECK(checkpoints() >= seconds); /* of three and a half a second that are left */
    CHECK(w->refused - refused <= seconds * 2);
    w->faults.writes_s = 0;
    run(w, 300 * FW_S); /* the longer the waits were, the slower they come back */
    count_anew(w);
    run(w, 20 * FW_S);
    fprintf(stderr, "     %llu checkpoints in 20 s as long as all is granted, %llu when it is again\n",
            (unsigned long long)usual, (unsigned long long)checkpoints());
    CHECK(checkpoints() * 10 >= usual * 9);
    finish(w);
  }
}
