/* fleet_sleep.c - processes that are stopped and go on, as by SIGSTOP, docker pause or a paused machine: in
 * every layout nobody counts against others the time in which it stood itself, whether all stood, or one stood
 * that had the lock of the store, so that no other could write. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"

#include "story/fleet_world.h"

static const fw_layout *layout; /* NULL: our own */
static fw_world *new_world(uint64_t seed, int shards) { return fw_new_of(seed, shards, layout); }
#define WORLD new_world
#include "story/fleet_play.h"

static const fw_layout *const layouts[] = {NULL,
                                           &fw_layout_kcl,
                                           &fw_layout_kcl_beside,
                                           &fw_layout_vmware,
                                           &fw_layout_kinsumer,
                                           &fw_layout_motorway,
                                           &fw_layout_kcl_rb};
enum { WORKERS = 5 };

typedef struct count {
  uint64_t lost, evictions, evicted, repeats;
} count;

static count count_of(const fw_world *w) { return (count){w->lost, w->evictions, w->evicted, repeats(w)}; }

static void nothing_moved(fw_world *w, const count *was, size_t at, uint64_t us) {
  count now = count_of(w);
  if (now.lost != was->lost || now.evictions != was->evictions || now.evicted != was->evicted ||
      now.repeats != was->repeats)
    CHECK_FAIL("layout %zu seed %llu, %llu ms: %llu lost, %llu evictions, %llu repeats", at,
               (unsigned long long)seed, (unsigned long long)(us / 1000),
               (unsigned long long)(now.lost - was->lost),
               (unsigned long long)(now.evictions - was->evictions),
               (unsigned long long)(now.repeats - was->repeats));
  CHECK(w->failed == 0);
}

/* A fleet that has come to rest moves nothing by itself. */
static fw_world *rested(size_t at, int shards) {
  layout = layouts[at];
  fw_world *w = world(shards);
  if (layout == &fw_layout_kinsumer) {
    w->lease_ms = 5000;
    w->skew_ms = 100; /* its workers go by the wall clock */
  }
  start(w, WORKERS);
  run(w, 40 * FW_S);
  return w;
}

static uint64_t lease_us(const fw_world *w) { return (uint64_t)w->lease_ms * 1000; }

static void over(fw_world *w, const count *was, size_t at, uint64_t us) {
  run(w, 5 * lease_us(w));
  nothing_moved(w, was, at, us);
  w->producing = 0;
  until(w, 100 * FW_S, fw_all_read);
  fw_free(w);
}

static void all_stand(size_t at, int shards, uint64_t tenths) {
  fw_world *w = rested(at, shards);
  count was = count_of(w);
  uint64_t us = lease_us(w) / 10 * tenths;
  for (int i = 0; i < WORKERS; i++) slp_sim_freeze(w->nodes[i]->h, us + slp_sim_random_below(w->sim, 20000));
  run(w, us);
  over(w, &was, at, us);
}

/* All stand, and the first one that goes on has the lock: no other has written yet when its writes are in. */
static void one_is_first(size_t at, int shards, uint64_t tenths) {
  fw_world *w = rested(at, shards);
  count was = count_of(w);
  uint64_t us = lease_us(w) / 10 * tenths, late_us = lease_us(w) / 10;
  for (int i = 0; i < WORKERS; i++) slp_sim_freeze(w->nodes[i]->h, us + (i ? late_us : 0));
  w->lock_slot = 0;
  w->lock_until_us = fw_now(w) + us + 2 * late_us;
  run(w, us);
  over(w, &was, at, us);
}

static void one_stands_with_the_lock(size_t at, int shards, uint64_t tenths) {
  fw_world *w = rested(at, shards);
  count was = count_of(w);
  uint64_t us = lease_us(w) / 10 * tenths;
  slp_sim_freeze(w->nodes[1]->h, us);
  w->lock_slot = 1;
  w->lock_until_us = fw_now(w) + us + 50000;
  run(w, us);
  over(w, &was, at, us);
}

/* The last worker is cut off for a lease, and the table throttles what the others write about that: they wait
 * to try again when all stand, and it can write once more when all go on. */
static uint64_t throttled_before;
static int one_was_throttled(fw_world *w) { return w->throttled_n > throttled_before; }
static void it_was_to_be_evicted(size_t at, int shards, uint64_t tenths) {
  int victim = WORKERS - 1;
  fw_world *w = rested(at, shards);
  for (int i = 0; i < w->shards_n; i++)
    if (fw_owner_of(w, i) == victim)
      snprintf(w->throttled_row, sizeof w->throttled_row, "%.31s", w->shards[i].id);
  if (!layout) snprintf(w->throttled_row, sizeof w->throttled_row, "w/%.20s", w->nodes[victim]->id);
  CHECK(w->throttled_row[0]);
  w->nodes[victim]->cut = 1;
  throttled_before = w->throttled_n;
  CHECK(fw_until(w, 3 * lease_us(w), one_was_throttled));
  run(w, 50000); /* the refusals are in */
  count was = count_of(w);
  uint64_t us = lease_us(w) / 10 * tenths;
  for (int i = 0; i < WORKERS; i++) slp_sim_freeze(w->nodes[i]->h, us + slp_sim_random_below(w->sim, 20000));
  w->nodes[victim]->cut = 0;
  w->throttled_row[0] = 0;
  run(w, us);
  over(w, &was, at, us);
}

/* With more shards than workers, and with workers that have none. Each at every length with SLOOP_TEST_FULL. */
static void each(size_t at, void (*one)(size_t at, int shards, uint64_t tenths)) {
  static const uint64_t tenths[] = {7, 9, 13, 20, 5, 3, 6, 8, 10, 11, 50};
  int full = getenv("SLOOP_TEST_FULL") != NULL;
  for (size_t k = 0; k < (full ? SLP_COUNT(tenths) : 4); k++)
    for (seed = 1; seed <= (full ? 40 : 4); seed++) one(at, seed % 2 ? 2 * WORKERS : WORKERS - 2, tenths[k]);
}

#define OF(layout, n)                                                       \
  TEST(in_##layout##_all_stand) { each(n, all_stand); }                     \
  TEST(in_##layout##_all_stand_and_one_is_first) { each(n, one_is_first); } \
  TEST(in_##layout##_one_stands_with_the_lock_of_the_store) { each(n, one_stands_with_the_lock); }
/* With a shard a worker: the lease that the cut one has is the only one that is to be taken. */
TEST(what_was_to_be_taken_when_all_stood_is_not_taken) {
  static const size_t in[] = {0, 1, 2, 3, 6};
  for (size_t k = 0; k < SLP_COUNT(in); k++)
    for (seed = 1; seed <= 4; seed++) it_was_to_be_evicted(in[k], WORKERS, seed % 2 ? 20 : 9);
}

OF(sloop, 0)
OF(kcl, 1)
OF(kcl_beside, 2)
OF(vmware, 3)
OF(kinsumer, 4)
OF(motorway, 5)
OF(kcl_rb, 6)
