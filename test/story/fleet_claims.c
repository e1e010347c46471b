/* fleet_claims.c - a worker of ours asks the living owner of a lease for it, and is killed before it comes for
 * it. The owner lets go all the same. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 60
#include "story/fleet_world.h"

static uint32_t lease_ms = 10000;
static uint32_t skew_ms = 100; /* of the workers' clocks */
static const fw_layout *layout = &fw_layout_vmware;

static fw_world *claims_world(uint64_t seed, int shards) {
  fw_world *w = fw_new_of(seed, shards, layout);
  w->lease_ms = lease_ms;
  w->skew_ms = skew_ms;
  return w;
}
#define WORLD claims_world
#include "story/fleet_play.h"
#include "lease/context.h"

#define L ((uint64_t)lease_ms * 1000)

static char claimant[128]; /* of the last claim that was written */

static void note_claim(fw_world *w, const slp_store_write *write) {
  static const char *const names[] = {"ClaimRequest", "sloopClaim", "claim"};
  (void)w;
  for (size_t i = 0; i < write->changes_n; i++) {
    const slp_change *c = &write->changes[i];
    for (size_t k = 0; k < SLP_COUNT(names); k++)
      if (slp_str_is(c->name, names[k]) && c->kind == SLP_SET)
        snprintf(claimant, sizeof claimant, "%.*s", (int)c->val.s.n, c->val.s.p);
  }
}

/* The worker that came last: it holds nothing yet that would be unread as well. */
static int has_claimed(fw_world *w) {
  (void)w;
  return strncmp(claimant, "late.", 5) == 0;
}

static int slot_of(const fw_world *w, const char *instance) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && slp_str_is(slp_fleet_instance(w->nodes[i]->fleet), instance)) return i;
  return -1;
}

static int all_are_read(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (w->shards[i].unread_us != UINT64_MAX) return 0;
  return 1;
}

/* One worker more than before asks for a lease, and is killed as soon as the table has its claim. What it asked
 * for is unread from the moment when its owner lets go until another worker reads it. */
static void claims_and_dies(int shards, int workers) {
  fw_world *w = world(shards);
  int slot;
  start(w, workers);
  until(w, 12 * L, all_are_read);
  run(w, 6 * L);
  until(w, 12 * L, all_are_read);
  for (int i = 0; i < w->shards_n; i++) w->shards[i].gap_us = 0;
  claimant[0] = 0;
  w->on_write = note_claim;
  fw_start(w, workers, "late", 0);
  until(w, 12 * L, has_claimed);
  CHECK((slot = slot_of(w, claimant)) >= 0);
  w->on_write = NULL;
  run(w, FW_S / 1000); /* the write is in, and its answer is not back */
  fw_kill(w, slot);
  run(w, 8 * L);
  note(worst_gap(w));
  CHECK(all_are_read(w));
  w->producing = 0;
  until(w, 20 * L, fw_all_read);
  fw_free(w);
}

static void one_of_two(void) { claims_and_dies(6, 1); }
static void one_of_eight(void) { claims_and_dies(24, 7); }

TEST(what_a_dead_worker_asked_for_is_read_again_a_lease_later) {
  within("asked for by a dead worker, of two", L / 10 * 15, one_of_two);
  within("asked for by a dead worker, of eight", L / 10 * 15, one_of_eight);
}

TEST(the_same_with_a_lease_of_two_seconds) {
  lease_ms = 2000;
  within("asked for by a dead worker, lease of 2 s", L / 10 * 15, one_of_eight);
  lease_ms = 10000;
}

/* The time in a row is by its owner's clock; what stands still does so by everybody's. */
TEST(the_same_with_clocks_that_are_a_minute_apart) {
  skew_ms = 60000;
  within("asked for by a dead worker, clocks that are apart", L / 10 * 22, one_of_eight);
  skew_ms = 100;
}

/* There the lease goes to the dead worker by name, and is taken from it as from any other one that is dead. */
TEST(the_same_where_the_owner_names_the_next_one) {
  layout = &fw_layout_kcl;
  within("the same in a table of the KCL", L / 10 * 22, one_of_eight);
  layout = NULL;
  within("the same in a table of our own", L / 10 * 15, one_of_eight);
  layout = &fw_layout_vmware;
}
