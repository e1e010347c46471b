/* fleet_play.h - what the scenes of fleets have in common. WORLD makes the world: by which schema. */
#ifndef SLP_TEST_STORY_FLEET_PLAY_H
#define SLP_TEST_STORY_FLEET_PLAY_H

#include "story/fleet_world.h"
#include "swarm/share.h"
#include "core/leases.h"
#include "lease/shut.h"

#include "../check.h"

#define LEASE (2 * FW_S)

static inline void print(void *arg, const char *line) {
  (void)arg;
  if (!strstr(line, " sends ")) fprintf(stderr, "%s\n", line);
}

static uint64_t seed = 7;

static inline fw_world *world(int shards) {
  fw_world *w = WORLD(seed, shards);
  if (getenv("SCENE_TRACE")) slp_sim_on_trace(w->sim, print, NULL);
  return w;
}

static inline void fine(fw_world *w) {
  if (w->complaint[0]) CHECK_FAIL("%s", w->complaint);
}

static inline void start(fw_world *w, int n) {
  for (int i = 0; i < n; i++) {
    char id[8];
    snprintf(id, sizeof id, "w%d", i);
    fw_start(w, i, id, 0);
  }
}

static inline void run(fw_world *w, uint64_t us) {
  fw_run(w, us);
  fine(w);
}

static inline uint64_t until(fw_world *w, uint64_t us, int (*enough)(fw_world *w)) {
  uint64_t from = fw_now(w);
  int done = fw_until(w, us, enough);
  fine(w);
  if (!done) fw_dump(w);
  CHECK(done);
  return fw_now(w) - from;
}

static inline uint64_t settle(fw_world *w, uint64_t us) { return until(w, us, fw_settled); }

/* n workers that have shared the shards and are at work. */
static inline fw_world *fleet(int shards, int n) {
  fw_world *w = world(shards);
  start(w, n);
  settle(w, 15 * FW_S);
  run(w, 3 * FW_S);
  for (int i = 0; i < w->shards_n; i++) w->shards[i].gap_us = 0;
  return w;
}

static inline uint64_t worst_gap(const fw_world *w) {
  uint64_t worst = 0;
  for (int i = 0; i < w->shards_n; i++)
    if (w->shards[i].gap_us > worst) worst = w->shards[i].gap_us;
  return worst;
}

static inline uint64_t repeats(const fw_world *w) {
  uint64_t n = 0;
  for (int i = 0; i < w->shards_n; i++) n += w->shards[i].repeats;
  return n;
}

/* How many workers tell of so many parked and refused leases; those that tell of none are left out. */
static inline int tell_shut(const fw_world *w, uint64_t parked, uint64_t refused) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++) {
    slp_shut_sum sum;
    if (!w->nodes[i] || !w->nodes[i]->fleet) continue;
    slp_fleet_shut(w->nodes[i]->fleet, &sum, NULL, NULL);
    if (!sum.parked_n && !sum.refused_n) continue;
    CHECK_INT(sum.parked_n, parked);
    CHECK_INT(sum.refused_n, refused);
    n++;
  }
  return n;
}

static inline int leader(const fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && w->nodes[i]->leads) return i;
  return -1;
}

static inline int follower(const fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && !w->nodes[i]->leads) return i;
  return -1;
}

/* Everything is read, nobody is left over: the end of every scene. */
static inline void finish(fw_world *w) {
  w->producing = 0;
  until(w, 100 * FW_S, fw_all_read);
  settle(w, 100 * FW_S);
  fw_free(w);
}

/* The worst of several seeds: phases and latencies differ. */
static uint64_t worst;
static inline void note(uint64_t us) {
  if (us > worst) worst = us;
}

static inline void within(const char *what, uint64_t bound, void (*once)(void)) {
  worst = 0;
  for (seed = 1; seed <= 12; seed++) once();
  fprintf(stderr, "     %s: %.2f s at worst, may take %.2f s\n", what, (double)worst / 1e6,
          (double)bound / 1e6);
  CHECK(worst <= bound);
}

#endif
