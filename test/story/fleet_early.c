/* fleet_early.c - a stream whose first listing takes seconds: leases are made before it is complete, where that can
 * do no harm. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"
#include "story/fleet_world.h"

#define WORLD fw_new
#include "story/fleet_play.h"

#define SHARDS 24
#define PAGE 3
#define LISTED_US (SHARDS / PAGE * FW_S) /* when the listing is complete, or later */

/* Each page of three shards comes a second after the one before. */
static fw_world *slow_world(void) {
  fw_world *w = world(SHARDS);
  w->page_n = PAGE;
  w->page_ms = 1000;
  w->lease_ms = 4000;
  return w;
}

static size_t rows_made(fw_world *w) {
  char row[40];
  size_t n = 0;
  for (int i = 0; i < w->shards_n; i++) {
    snprintf(row, sizeof row, "l/%s", w->shards[i].id);
    n += fw_row(w, row, "epoch")[0] != 0;
  }
  return n;
}

static int opened(const fw_world *w) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++) n += w->nodes[i] ? w->nodes[i]->open_n : 0;
  return n;
}

TEST(one_worker_reads_what_is_listed_while_the_rest_is_listed) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    start(w, 1);
    run(w, 2 * LISTED_US / 3);
    CHECK(rows_made(w) >= SHARDS / 3 && rows_made(w) < SHARDS);
    CHECK(opened(w) >= SHARDS / 3);
    settle(w, 30 * FW_S);
    CHECK_INT(rows_made(w), SHARDS);
    CHECK_INT(repeats(w), 0);
    finish(w);
  }
}

/* Several workers share the leases when the listing is complete. If one of them took leases before, it would have to
 * hand some of them to the other workers a second later. */
TEST(workers_that_start_together_share_when_all_is_listed) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    start(w, 3);
    run(w, 2 * LISTED_US / 3);
    CHECK_INT(rows_made(w), 0);
    settle(w, 40 * FW_S);
    finish(w);
  }
}

TEST(one_that_joins_meanwhile_gets_its_share) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    start(w, 1);
    run(w, LISTED_US / 2 + seed * 150000);
    fw_start(w, 1, "w1", 0);
    settle(w, 60 * FW_S);
    CHECK(w->nodes[0]->open_n && w->nodes[1]->open_n);
    CHECK_INT(w->evictions, 0);
    finish(w);
  }
}

/* Another worker takes over the leases of the dead leader, becomes leader, and creates the leases that are missing. */
TEST(a_leader_that_dies_meanwhile_leaves_rows_that_others_go_on_with) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    start(w, 1);
    run(w, LISTED_US / 2 + seed * 150000);
    CHECK(rows_made(w) > 0);
    fw_kill(w, 0);
    fw_start(w, 1, "w1", 0);
    settle(w, 60 * FW_S);
    CHECK_INT(rows_made(w), w->shards_n);
    finish(w);
  }
}

/* The page with a child comes before the page with its parent. The child's lease is created, but no worker reads the
 * child before the parent is read. The judge of the world (fleet_world.c) checks this. */
TEST(children_that_are_listed_before_their_parents_wait_for_them) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    for (int i = 0; i < 12; i++) {
      fw_produce(w, i, 20);
      fw_split(w, i);
    }
    w->page_back = 1;
    start(w, 1);
    run(w, 2 * LISTED_US / 3);
    CHECK(rows_made(w) > 0);
    settle(w, 60 * FW_S);
    CHECK_INT(repeats(w), 0);
    finish(w);
  }
}

/* An operator has deleted the row of leadership, but the rows of leases are still there. The next leader must not take
 * the table for empty, and must not create rows with epochs that were used before. */
TEST(a_table_with_leases_is_not_taken_for_new) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    start(w, 1);
    settle(w, 40 * FW_S);
    fw_kill(w, 0);
    run(w, 10 * FW_S);
    char row[40];
    for (int i = 0; i < SHARDS / 2; i++) {
      snprintf(row, sizeof row, "l/%s", w->shards[i].id);
      w->shards[i].excused = 1;
      fw_operator_delete(w, row);
    }
    fw_operator_delete(w, "lead");
    fw_start(w, 1, "w1", 0);
    run(w, 2 * LISTED_US / 3);
    CHECK_INT(rows_made(w), SHARDS / 2);
    settle(w, 60 * FW_S);
    CHECK_INT(rows_made(w), SHARDS);
    finish(w);
  }
}

/* If an application begins at the time of its first start, a shard without a row begins where its parents' rows say.
 * So the listing must be complete before a lease is created. */
TEST(an_application_that_begins_now_waits_for_the_whole_listing) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = slow_world();
    w->start = (slp_position){.kind = SLP_POSITION_LATEST};
    start(w, 1);
    run(w, 2 * LISTED_US / 3);
    CHECK_INT(rows_made(w), 0);
    settle(w, 40 * FW_S);
    finish(w);
  }
}

static int starved;

static void *scarce(void *ctx, void *p, size_t was, size_t want) {
  (void)ctx;
  if (starved && want > was) return NULL;
  if (want) return realloc(p, want);
  free(p);
  return NULL;
}

/* A listing that there is no memory for does not take away the one from before: a parent that is not found in a complete
 * listing counts as forgotten by the stream. */
TEST(a_listing_without_memory_leaves_the_one_before) {
  fw_world *w = world(6);
  w->node_alloc = scarce;
  start(w, 1);
  settle(w, 30 * FW_S);
  slp_fleet *f = w->nodes[0]->fleet;
  slp_str first = slp_str_of(w->shards[0].id);
  CHECK(slp_fleet_listed_has(f, first));
  uint64_t at_us = slp_listed_us(f);
  slp_shard_desc all[2] = {{.id = first}, {.id = slp_str_of(w->shards[1].id)}};
  slp_fail fine;
  slp_fail_clear(&fine);
  f->listing.asked = starved = 1;
  slp_fleet_listed(f, &fine, all, 2);
  starved = 0;
  CHECK(slp_listed_us(f) == at_us);
  for (int i = 0; i < 6; i++) CHECK(slp_fleet_listed_has(f, slp_str_of(w->shards[i].id)));
  finish(w);
}
