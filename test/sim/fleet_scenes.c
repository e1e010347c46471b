/* fleet_scenes.c - a fleet in virtual time, scene by scene: the failure points of the protocol, and how long
 * each recovery may take. SCENE_TRACE=1 prints what happens. */
#include "sim/fleet_world.h"

#include "../check.h"

static void print(void *arg, const char *line) {
  (void)arg;
  fprintf(stderr, "%s\n", line);
}

static fw_world *world(int shards) {
  fw_world *w = fw_new(7, shards);
  if (getenv("SCENE_TRACE")) slp_sim_on_trace(w->sim, print, NULL);
  return w;
}

static void fine(fw_world *w) {
  if (w->complaint[0]) CHECK_FAIL("%s", w->complaint);
}

static void start(fw_world *w, int n) {
  for (int i = 0; i < n; i++) {
    char id[8];
    snprintf(id, sizeof id, "w%d", i);
    fw_start(w, i, id, 0);
  }
}

static void settle(fw_world *w, uint64_t us) {
  int done = fw_until(w, us, fw_settled);
  fine(w);
  CHECK(done);
}

TEST(first_start) {
  fw_world *w = world(8);
  start(w, 1);
  settle(w, 3 * FW_S);
  fprintf(stderr, "  first start of 1 worker, 8 shards: %.2f s\n", (double)fw_now(w) / 1e6);
  CHECK(fw_run(w, 20 * FW_S));
  fw_free(w);
}

CHECK_MAIN()
