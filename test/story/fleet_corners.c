/* fleet_corners.c - what happens to a fleet seldom or late: finished leases and dead workers are cleared
 * away, hours later nothing of them is left in memory, weights, parked shards, many moves at once.
 * SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"

#define WORLD fw_new
#include "story/fleet_play.h"
#include "lease/context.h"
#include "lease/lease.h"
#include "lease/leave.h"

#define MINUTE (60 * FW_S)

static int held_by(fw_world *w, int slot) {
  int n = 0;
  for (int i = 0; i < w->shards_n; i++) n += fw_owner_of(w, i) == slot;
  return n;
}

static const char *lease_row(fw_world *w, int shard, const char *attr) {
  char row[64];
  fw_row_of(w, shard, row);
  return fw_row(w, row, attr);
}

/* ---- leases of shards that are gone ------------------------------------------------------------ */

static int parents_ended(fw_world *w) {
  return w->pos[0].kind == SLP_POSITION_END && w->pos[1].kind == SLP_POSITION_END;
}

TEST(the_lease_of_a_finished_shard_goes_when_the_stream_has_forgotten_it) {
  fw_world *w = fleet(4, 2);
  CHECK(fw_split(w, 0) && fw_split(w, 1));
  until(w, 60 * FW_S, parents_ended);
  run(w, 3 * MINUTE);
  CHECK_STR(lease_row(w, 0, "pos"), "9:end"); /* the stream still lists it */
  w->shards[0].trimmed = 1;
  run(w, 4 * MINUTE);
  CHECK_STR(lease_row(w, 0, "pos"), "");
  CHECK_STR(lease_row(w, 1, "pos"), "9:end");
  CHECK(w->trouble == 0 && w->holes == 0);
  finish(w);
}

/* Retention passed it by while nobody had read it to its end: an operator is to see that. */
TEST(the_lease_of_an_unfinished_shard_stays_when_the_stream_has_forgotten_it) {
  fw_world *w = fleet(4, 2);
  char row[64];
  fw_row_of(w, 0, row);
  w->shards[0].trimmed = 1;
  run(w, 4 * MINUTE);
  CHECK(strlen(fw_row(w, row, "pos")) > 0);
  w->shards[0].trimmed = 0;
  finish(w);
}

/* Its last record is out when somebody else is to have it: the end is written with its children's rows, or
 * not at all. */
static void ends_while_handed_over(void) {
  fw_world *w = fleet(8, 1);
  w->user_us_min = FW_S / 2;
  w->user_us_max = 3 * FW_S;
  fw_start(w, 1, "w1", 0);
  for (int i = 0; i < 8; i++) {
    run(w, FW_S / 4);
    CHECK(fw_split(w, i));
  }
  run(w, 20 * FW_S);
  CHECK(repeats(w) == 0);
  finish(w);
}
TEST(a_shard_ends_while_it_is_handed_over) {
  for (seed = 1; seed <= sim_share(12); seed++) ends_while_handed_over();
}

/* A lease that waits for its parent polls it, also when the table takes long to answer. */
TEST(a_shard_that_waits_for_its_parent_keeps_nobody_busy) {
  fw_world *w = world(4);
  uint64_t before = 0, after = 0;
  w->lease_ms = 12000;
  start(w, 2);
  settle(w, 60 * FW_S);
  w->producing = 0;
  run(w, FW_S);
  w->user_us_min = w->user_us_max = 150 * FW_S;
  for (int i = 0; i < 4; i++) fw_produce(w, i, 3);
  for (int i = 0; i < 4; i++) CHECK(fw_split(w, i));
  run(w, 80 * FW_S); /* the children are planned, and look every ten seconds */
  w->faults.rt_us_min = 600000;
  w->faults.rt_us_max = 900000;
  for (int i = 0; i < 2; i++) before += slp_sim_stats(w->nodes[i]->h).turns;
  run(w, 30 * FW_S);
  for (int i = 0; i < 2; i++) after += slp_sim_stats(w->nodes[i]->h).turns;
  if (after - before > 30 * 2 * 100) CHECK_FAIL("%llu turns in 30 s", (unsigned long long)(after - before));
  w->faults.rt_us_min = 2000;
  w->faults.rt_us_max = 10000;
  w->user_us_min = w->user_us_max = 1000;
  finish(w);
}

/* ---- rows that an operator removed ------------------------------------------------------------- */

static uint64_t row_epoch(fw_world *w, int shard) { return strtoull(lease_row(w, shard, "epoch"), NULL, 10); }

static void remove_row(fw_world *w, int shard) {
  char row[64];
  fw_row_of(w, shard, row);
  fw_operator_delete(w, row);
}

static int kid_is_read(fw_world *w) { return w->shards[2].handed > 0; }
static int kid_has_row(fw_world *w) { return row_epoch(w, 2) > 0; }

/* Its reader made it and took it at once: no audit has seen it, no plan names it. The epochs that its records
 * carried don't come again. */
TEST(the_row_of_a_child_is_removed_before_an_audit_saw_it) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = fleet(2, 1);
    CHECK(fw_split(w, 0));
    fw_produce(w, 2, 5);
    until(w, 10 * FW_S, kid_is_read);
    CHECK_INT(row_epoch(w, 2), 1);
    remove_row(w, 2);
    until(w, 150 * FW_S, kid_has_row);
    CHECK(row_epoch(w, 2) > 1000000000);
    finish(w);
  }
}

static int readers_of(const fw_world *w, int shard) {
  int n = 0;
  for (int i = 0; i < FW_NODES; i++)
    for (int k = 0; w->nodes[i] && k < w->nodes[i]->open_n; k++) n += w->nodes[i]->open[k].shard == shard;
  return n;
}

static int lease_0_has_row(fw_world *w) { return row_epoch(w, 0) > 0; }

/* The shards are idle, so no checkpoint tells an owner that its row is gone. The leader makes the rows again.
 * It must not begin to read the shards itself, as it does in a new application: their owners still read. */
TEST(the_rows_of_all_leases_are_removed_while_workers_read) {
  for (seed = 1; seed <= sim_share(6); seed++) {
    fw_world *w = fleet(6, 3);
    w->producing = 0;
    until(w, 100 * FW_S, fw_all_read);
    run(w, 15 * FW_S);
    for (int i = 0; i < 6; i++) remove_row(w, i);
    until(w, 150 * FW_S, lease_0_has_row);
    for (int k = 0; k < 1000; k++) {
      for (int i = 0; i < 6; i++) {
        if (k % 5 == 0) fw_produce(w, i, 1);
        CHECK(readers_of(w, i) <= 1);
      }
      run(w, FW_S / 50);
    }
    finish(w);
  }
}

/* The worker that waits for the parent's end makes the row anew when it has read the parent itself. */
TEST(the_row_of_a_child_is_removed_before_its_parent_is_read_again) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = fleet(2, 2);
    int slot = fw_owner_of(w, 0), other = 1 - slot;
    w->user_us_min = w->user_us_max = 60 * FW_S;
    fw_produce(w, 0, 5);
    CHECK(fw_split(w, 0));
    run(w, 2 * FW_S);
    CHECK(strlen(lease_row(w, 2, "epoch")) > 0 && w->pos[0].kind != SLP_POSITION_END);
    fw_kill(w, slot);
    w->nodes[other]->blocked = 1;
    run(w, 15 * FW_S);
    CHECK(fw_owner_of(w, 0) == other && fw_owner_of(w, 2) == other);
    remove_row(w, 2);
    w->user_us_min = w->user_us_max = 1000;
    w->nodes[other]->blocked = 0;
    until(w, 5 * FW_S, kid_has_row);
    CHECK(row_epoch(w, 2) > 1000000000);
    finish(w);
  }
}

static int parents_are_swapped(fw_world *w) {
  return fw_owner_of(w, 0) == follower(w) && fw_owner_of(w, 1) == leader(w);
}

/* The first leader keeps shard 0. A lease that it gives up for lack of progress goes to the other worker. */
static void swap_parents(fw_world *w) {
  int led = leader(w);
  if (fw_owner_of(w, 0) == led) slp_fleet_stalled(w->nodes[led]->fleet, slp_str_of(w->shards[0].id));
  until(w, 30 * FW_S, parents_are_swapped);
}

static uint64_t syncs(const fw_world *w) { return w->nodes[leader(w)]->fleet->stats.shard_syncs; }

/* The first listing still has the parent, so the leader would make its row anew. A follower asks again. */
TEST(a_parent_without_a_row_is_forgotten_by_the_stream_while_its_child_waits) {
  int played = 0;
  for (seed = 1; seed <= 20 && played < 3; seed++) {
    fw_world *w = fleet(2, 2);
    swap_parents(w);
    uint64_t before = syncs(w);
    int is_led = fw_owner_of(w, 0) == leader(w); /* whoever has the first parent gets the child */
    w->producing = 0;
    for (int i = 0; !is_led && i < 70 && syncs(w) == before; i++) run(w, FW_S);
    if (!is_led) {
      CHECK(syncs(w) > before); /* the next one is a minute away */
      remove_row(w, 1);
      CHECK(fw_merge(w, 0, 1));
      fw_produce(w, 2, 5);
      run(w, 10 * FW_S);
      CHECK(fw_owner_of(w, 2) == follower(w) && !kid_is_read(w));
      w->shards[1].trimmed = w->shards[1].excused = 1;
      until(w, 40 * FW_S, kid_is_read);
      played++;
    }
    settle(w, 100 * FW_S); /* nobody can read the other parent to its end */
    fw_free(w);
  }
  CHECK_INT(played, 3);
}

/* ---- how often shards are listed --------------------------------------------------------------- */

static uint64_t all_syncs(const fw_world *w) {
  uint64_t n = 0;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i]) n += w->nodes[i]->fleet->stats.shard_syncs;
  return n;
}

static void lists_as_often(const fw_layout *layout, uint32_t lease_ms, uint32_t list_ms, int least,
                           int most) {
  fw_world *w = fw_new_of(seed, 4, layout);
  w->skew_ms = 100;
  w->lease_ms = lease_ms;
  w->list_ms = list_ms;
  start(w, 3);
  settle(w, 20 * MINUTE);
  run(w, 2 * MINUTE);
  uint64_t before = all_syncs(w);
  run(w, 10 * MINUTE);
  int n = (int)(all_syncs(w) - before);
  if (n < least || n > most)
    CHECK_FAIL("%s, list_ms %u: %d shard syncs in 10 minutes, and not %d to %d", w->schema->name, list_ms, n,
               least, most);
  finish(w);
}

TEST(shards_are_listed_as_often_as_list_ms_says_whatever_the_table) {
  const fw_layout *const layouts[] = {NULL, &fw_layout_kcl, &fw_layout_vmware, &fw_layout_motorway,
                                      &fw_layout_kcl_rb};
  for (size_t k = 0; k < SLP_COUNT(layouts); k++) {
    lists_as_often(layouts[k], 10000, 0, 8, 14);
    lists_as_often(layouts[k], 10000, 5000, 90, 135);
    lists_as_often(layouts[k], 10000, 200000, 2, 4);
  }
  /* Its list of shards is renewed in each round, a fifth of a lease, if not sooner. */
  lists_as_often(&fw_layout_kinsumer, 300000, 0, 8, 14);
  lists_as_often(&fw_layout_kinsumer, 300000, 5000, 90, 135);
  lists_as_often(&fw_layout_kinsumer, 300000, 200000, 8, 14);
}

/* Returns how many writes a fleet of so many workers needs until it reads 40 shards that have just appeared,
 * without heartbeats and checkpoints. */
static int writes_for_40(int workers) {
  fw_world *w = world(44);
  w->producing = 0;
  w->list_ms = 2000;
  w->unlisted = 40;
  start(w, workers);
  run(w, 15 * FW_S);
  w->unlisted = 0;
  uint64_t before = w->writes, from = fw_now(w);
  settle(w, 20 * FW_S);
  int beats = (int)((uint64_t)workers * ((fw_now(w) - from) / (LEASE / 3) + 1));
  int n = (int)(w->writes - before) - beats;
  finish(w);
  return n;
}

/* The write that makes a lease takes it as well. */
TEST(a_worker_that_has_been_alone_takes_what_it_makes) {
  int alone = writes_for_40(1), of_two = writes_for_40(2);
  fprintf(stderr, "     %d writes alone, %d of two\n", alone, of_two);
  CHECK(alone >= 38 && alone <= 45 && of_two >= 80);
}

/* The fewer the listings, the longer would the leader not look at its table. */
TEST(what_changes_in_the_table_is_seen_however_seldom_shards_are_listed) {
  fw_world *w = world(12);
  w->list_ms = 3600000;
  start(w, 3);
  settle(w, MINUTE);
  uint64_t before = syncs(w);
  fw_operator_number(w, "w/w1", "cap", "4");
  run(w, 2 * MINUTE);
  CHECK_INT(held_by(w, 1), 8);
  CHECK_INT((int)(syncs(w) - before), 0);
  fw_operator_number(w, "w/w1", "cap", "1");
  run(w, 2 * MINUTE);
  finish(w);
}

/* A lease that waits for a user is no lease that its next owner never takes. */
TEST(a_lease_has_the_same_time_to_move_however_often_shards_are_listed) {
  fw_world *w = world(4);
  w->list_ms = 1000;
  w->user_us_min = w->user_us_max = 8 * FW_S;
  start(w, 1);
  settle(w, MINUTE);
  fw_start(w, 1, "w1", 0);
  run(w, 30 * FW_S);
  CHECK_INT(held_by(w, 1), 2);
  CHECK_INT((int)w->trouble, 0);
  finish(w);
}

TEST(a_hole_that_stays_is_told_once_a_minute_however_often_shards_are_listed) {
  fw_world *w = world(4);
  w->list_ms = 1000;
  start(w, 2);
  settle(w, MINUTE);
  w->shards[0].trimmed = w->shards[0].excused = 1;
  remove_row(w, 0);
  run(w, 100 * FW_S);
  if (w->holes < 2 || w->holes > 3) CHECK_FAIL("a hole is told %llu times", (unsigned long long)w->holes);
  w->producing = 0;
  fw_free(w);
}

/* ---- rows of workers that are gone ------------------------------------------------------------- */

static fw_world *slow_fleet(int shards, int n) {
  fw_world *w = world(shards);
  w->lease_ms = 10000;
  w->producing = 0;
  start(w, n);
  settle(w, 60 * FW_S);
  return w;
}

TEST(the_rows_of_a_worker_that_was_killed_or_has_left_are_reaped_after_an_hour) {
  fw_world *w = slow_fleet(4, 4);
  int dead = follower(w), leaves;
  char dead_row[32], dead_assignment[32], left_row[32];
  snprintf(dead_row, sizeof dead_row, "w/w%d", dead);
  snprintf(dead_assignment, sizeof dead_assignment, "a/w%d", dead);
  fw_kill(w, dead);
  settle(w, MINUTE);
  leaves = follower(w);
  snprintf(left_row, sizeof left_row, "w/w%d", leaves);
  fw_leave(w, leaves, 5000);
  run(w, MINUTE);
  fw_reap(w);
  run(w, 55 * MINUTE);
  CHECK(strlen(fw_row(w, dead_row, "gone")) > 0 && strlen(fw_row(w, left_row, "gone")) > 0);
  CHECK(strlen(fw_row(w, dead_assignment, "v")) > 0);
  run(w, 8 * MINUTE);
  CHECK_STR(fw_row(w, dead_row, "boot"), "");
  CHECK_STR(fw_row(w, dead_assignment, "v"), "");
  CHECK_STR(fw_row(w, left_row, "boot"), "");
  fw_start(w, dead, "w9", 0);
  settle(w, MINUTE);
  finish(w);
}

/* Rows that went can't have closed it. */
TEST(a_hole_is_not_looked_for_again_because_rows_were_removed) {
  fw_world *w = world(4);
  w->lease_ms = 10000;
  w->list_ms = 600000;
  w->producing = 0;
  start(w, 3);
  settle(w, MINUTE);
  int dead = follower(w);
  char row[32];
  snprintf(row, sizeof row, "w/w%d", dead);
  fw_kill(w, dead);
  settle(w, MINUTE);
  fw_reap(w);
  w->shards[0].trimmed = w->shards[0].excused = 1;
  remove_row(w, 0);
  for (int s = 0; s < 5400 && *fw_row(w, row, "boot"); s++) run(w, FW_S);
  CHECK_STR(fw_row(w, row, "boot"), "");
  CHECK(w->holes > 0 && w->nodes[leader(w)]->fleet->stats.holes_now);
  uint64_t before = syncs(w);
  run(w, 30 * FW_S);
  CHECK_INT((int)(syncs(w) - before), 0);
  fw_free(w);
}

TEST(a_worker_that_comes_again_within_the_hour_is_not_reaped) {
  fw_world *w = slow_fleet(4, 2);
  int dead = follower(w);
  char id[8], row[16];
  snprintf(id, sizeof id, "w%d", dead);
  snprintf(row, sizeof row, "w/w%d", dead);
  fw_kill(w, dead);
  run(w, 30 * MINUTE);
  fw_start(w, dead, id, 0);
  settle(w, MINUTE);
  run(w, 65 * MINUTE);
  CHECK(strlen(fw_row(w, row, "boot")) > 0 && !strlen(fw_row(w, row, "gone")));
  CHECK(held_by(w, dead) == 2 && w->evictions == 0);
  finish(w);
}

/* ---- nothing is remembered for ever ------------------------------------------------------------ */

static size_t members(fw_world *w, int slot) { return w->nodes[slot]->fleet->members.all.live; }
static size_t leases(fw_world *w, int slot) { return w->nodes[slot]->fleet->leases.all.live; }

TEST(workers_that_came_and_went_are_forgotten) {
  fw_world *w = slow_fleet(4, 2);
  char id[16];
  for (int k = 0; k < 60; k++) {
    snprintf(id, sizeof id, "host-%d", k);
    fw_start(w, 5, id, 0);
    run(w, 6 * FW_S);
    if (k % 3)
      fw_leave(w, 5, 3000);
    else
      fw_kill(w, 5);
    run(w, 20 * FW_S);
    fw_reap(w);
  }
  CHECK(members(w, leader(w)) > 30);
  run(w, 75 * MINUTE);
  for (int i = 0; i < 2; i++) {
    if (members(w, i) > 2) CHECK_FAIL("%s still knows %zu workers", w->nodes[i]->id, members(w, i));
  }
  CHECK_STR(fw_row(w, "w/host-7", "boot"), "");
  finish(w);
}

/* One is split and the parts are merged, so that three have ended, so many times. */
static void reshard(fw_world *w, int times) {
  for (int k = 0; k < times; k++) {
    int last = w->shards_n;
    for (int i = 0; i < last; i++)
      if (!w->shards[i].closed) {
        CHECK(fw_split(w, i));
        break;
      }
    run(w, 30 * FW_S);
    CHECK(fw_merge(w, last, last + 1));
    run(w, 30 * FW_S);
  }
}

static int ended(const fw_world *w) {
  int n = 0;
  for (int i = 0; i < w->shards_n; i++) n += w->pos[i].kind == SLP_POSITION_END;
  return n;
}

/* The stream lists finished shards no more. Rows of a parent and its child may go in any order then. */
static void trim_finished(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (w->pos[i].kind == SLP_POSITION_END) w->shards[i].trimmed = w->shards[i].excused = 1;
}

static size_t kept(fw_world *w, int slot) { return w->nodes[slot]->fleet->leases.former.all.live; }

TEST(shards_that_rolled_away_are_forgotten) {
  fw_world *w = world(4);
  w->lease_ms = 10000;
  start(w, 2);
  settle(w, MINUTE);
  reshard(w, 20);
  CHECK(kept(w, 0) + kept(w, 1) > 40);
  w->producing = 0;
  run(w, 5 * MINUTE);
  trim_finished(w);
  run(w, 75 * MINUTE);
  for (int i = 0; i < 2; i++)
    if (leases(w, i) + kept(w, i) > 10)
      CHECK_FAIL("%s still knows %zu leases, %zu former ones", w->nodes[i]->id, leases(w, i), kept(w, i));
  finish(w);
}

/* A stream lists a shard for a day and longer after it was closed, and a worker lives for years. */
#define BYTES_AN_ENDED_SHARD 800

static size_t bytes(fw_world *w) { return (w->nodes[0]->mem->live_bytes + w->nodes[1]->mem->live_bytes) / 2; }

TEST(a_shard_that_has_ended_takes_few_bytes_whatever_the_table) {
  const fw_layout *const layouts[] = {
      NULL, &fw_layout_kcl, &fw_layout_vmware, &fw_layout_kinsumer, &fw_layout_motorway, &fw_layout_kcl_rb};
  for (size_t k = 0; k < SLP_COUNT(layouts); k++) {
    fw_world *w = fw_new_of(seed, 4, layouts[k]);
    w->skew_ms = 100; /* kinsumer's clients must have clocks that agree */
    start(w, 2);
    run(w, 2 * MINUTE);
    reshard(w, 2); /* what grows once has grown */
    run(w, 8 * MINUTE);
    size_t before = bytes(w);
    int had = ended(w);
    reshard(w, 8);
    run(w, 8 * MINUTE);
    CHECK_INT(ended(w), 30);
    double each = ((double)bytes(w) - (double)before) / (ended(w) - had);
    if (each > BYTES_AN_ENDED_SHARD)
      CHECK_FAIL("layout %zu: an ended shard takes %.0f bytes of a worker", k, each);
    fprintf(stderr, "     layout %zu: an ended shard takes %.0f bytes of a worker\n", k, each);
    finish(w);
  }
}

/* ---- planning ---------------------------------------------------------------------------------- */

TEST(a_heavier_worker_gets_more) {
  fw_world *w = fleet(12, 3);
  fw_operator_number(w, "w/w1", "cap", "4");
  run(w, 2 * MINUTE);
  CHECK_INT(held_by(w, 0), 2);
  CHECK_INT(held_by(w, 1), 8);
  CHECK_INT(held_by(w, 2), 2);
  CHECK(repeats(w) == 0);
  fw_operator_number(w, "w/w1", "cap", "1");
  run(w, 2 * MINUTE);
  finish(w);
}

TEST(many_leases_move_some_at_a_time) {
  fw_world *w = fleet(64, 1);
  run(w, 10 * FW_S); /* as long as an application is new, more may move */
  fw_start(w, 1, "w1", 0);
  int most = 0, before = 0;
  for (uint64_t from = fw_now(w);
       fw_now(w) - from < 30 * FW_S;) { /* a plan comes no sooner than 2 s after the last */
    run(w, FW_S);
    int now = held_by(w, 1);
    if (now - before > most) most = now - before;
    before = now;
  }
  CHECK_INT(before, 32);
  CHECK(most <= 20);
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}

TEST(everybody_knows_how_many_leases_there_are) { /* for all write to one partition of the table */
  fw_world *w = fleet(32, 4);
  for (int i = 0; i < 4; i++) CHECK_INT(w->nodes[i]->fleet->leases.of_fleet, 32);
  finish(w);
}

TEST(a_parked_shard_is_nobodys_until_an_operator_says_so) {
  fw_world *w = fleet(6, 2);
  int slot = fw_owner_of(w, 2);
  char row[64];
  fw_row_of(w, 2, row);
  slp_fleet_park(w->nodes[slot]->fleet, slp_str_of(w->shards[2].id));
  run(w, 10 * FW_S);
  CHECK_INT(tell_shut(w, 1, 0), 1); /* the leader hears of it */
  run(w, 3 * MINUTE);
  CHECK_INT(fw_owner_of(w, 2), -1);
  CHECK(strlen(fw_row(w, row, "park")) > 0);
  CHECK_INT(tell_shut(w, 1, 0), 1); /* the leader does */
  fw_kill(w, slot);                 /* whoever comes after leaves it alone too */
  run(w, 3 * MINUTE);
  CHECK_INT(fw_owner_of(w, 2), -1);
  for (int i = 0; i < 6; i++) CHECK(i == 2 || fw_owner_of(w, i) >= 0);
  CHECK_INT(tell_shut(w, 1, 0), 1);
  CHECK(repeats(w) <= w->shards[2].repeats + 100 && w->evictions == 0);
  fw_operator_set(w, row, "park", "");
  run(w, 2 * MINUTE);
  CHECK(fw_owner_of(w, 2) >= 0);
  CHECK_INT(tell_shut(w, 0, 0), 0);
  finish(w);
}

/* A lease that its assigned worker can't open is assigned to another one, and that is told. */
TEST(a_lease_that_its_planned_worker_never_takes_goes_to_another) {
  fw_world *w = fleet(6, 3);
  int slot = fw_owner_of(w, 2);
  slp_fleet_stalled(w->nodes[slot]->fleet, slp_str_of(w->shards[2].id));
  run(w, 20 * FW_S);
  CHECK(fw_owner_of(w, 2) >= 0 && fw_owner_of(w, 2) != slot);
  finish(w);
}

/* It got nowhere once; it is read to its end later on, and planned for the same worker still. */
TEST(a_shard_that_was_given_up_once_and_has_ended_keeps_nobody_busy) {
  fw_world *w = fleet(3, 1);
  slp_fleet_stalled(w->nodes[0]->fleet, slp_str_of(w->shards[0].id));
  run(w, 40 * FW_S);
  CHECK_INT(fw_owner_of(w, 0), 0); /* nobody else is there to have it */
  CHECK(fw_split(w, 0));
  uint64_t before = slp_sim_stats(w->nodes[0]->h).turns;
  run(w, 30 * FW_S);
  uint64_t turns = slp_sim_stats(w->nodes[0]->h).turns - before;
  CHECK_STR(lease_row(w, 0, "pos"), "9:end");
  if (turns > 30 * 200) CHECK_FAIL("%llu turns in 30 s", (unsigned long long)turns);
  finish(w);
}

/* Its leader was started anew under the same id just when it had begun to follow the one before, and it could
 * not reach the table for a moment. */
static void follows_the_next_life(uint64_t after) {
  fw_world *w = world(6);
  start(w, 1);
  settle(w, 30 * FW_S);
  fw_kill(w, 0);
  fw_start(w, 0, "w0", 0);
  run(w, after);
  fw_start(w, 1, "w1", 0);
  w->faults.lost_ppm = 300000;
  run(w, 2 * FW_S);
  w->faults.lost_ppm = 0;
  settle(w, 40 * FW_S);
  finish(w);
}
TEST(a_leader_that_was_started_anew_is_heard_by_all) {
  for (seed = 1; seed <= sim_share(40); seed++) follows_the_next_life(FW_S + seed * 50000);
}

/* ---- an operator evicts and resets by force ---------------------------------------------------- */

static void reset_by_force(fw_world *w, int shard, const char *epoch_after) {
  char row[64];
  fw_row_of(w, shard, row);
  fw_operator_remove(w, row, "owner");
  fw_operator_number(w, row, "epoch", epoch_after);
  w->shards[shard].excused = 1;
}

/* An owner that has not heard of the eviction may hand a lease over to one of them, on a claim: the last write
 * of such a row is another worker's. */
static int is_taken_by_the_evicted(fw_world *w, char (*evicted)[128], int n) {
  for (int i = 0; i < w->shards_n; i++)
    for (int k = 0; k < n; k++) {
      const char *incarnation = strchr(evicted[k], '.') + 1;
      if (!w->shards[i].row_free && w->shards[i].row_epoch >= 1000 &&
          strcmp(w->shards[i].row_owner, evicted[k]) == 0 &&
          strncmp(lease_row(w, i, "op"), incarnation, strlen(incarnation)) == 0)
        return 1;
    }
  return 0;
}

/* A reset frees what a worker has that does not know yet that it is evicted. It finds its lease lost, and free
 * in an epoch that it has never seen. It takes nothing before a heartbeat says that it lives. */
TEST(who_was_evicted_by_force_takes_nothing_that_was_reset) {
  for (seed = 1; seed <= sim_share(48); seed++) {
    fw_world *w = fleet(6, 3);
    char evicted[3][128], row[64];
    for (int i = 0; i < 3; i++) {
      slp_str me = slp_fleet_instance(w->nodes[i]->fleet);
      snprintf(evicted[i], sizeof evicted[i], "%.*s", (int)me.n, me.p);
      snprintf(row, sizeof row, "w/w%d", i);
      fw_operator_set(w, row, "gone", "operator.0123456789abcdef");
    }
    for (int i = 0; i < 6; i++) reset_by_force(w, i, "1000");
    for (int i = 0; i < 200; i++) {
      run(w, LEASE / 100);
      if (is_taken_by_the_evicted(w, evicted, 3))
        CHECK_FAIL("seed %llu: taken again", (unsigned long long)seed);
    }
    finish(w);
  }
}

/* ---- a notification at the same time as the leader's own ------------------------------------------------- */

static int held; /* 1: the operator has switched the hold on */

/* As soon as the first worker is assigned to, the next write that raises a change counter is the leader's own. */
static void hold_before_leader_notifies(fw_world *w, const slp_store_write *write) {
  int notifies = write->changes_n == 1 && slp_str_eq(write->changes[0].name, slp_str_of("pv"));
  char row[64], v[32];
  if (held || !notifies || !fw_row(w, "a/w0", "v")[0]) return;
  held = 1;
  fw_operator_set(w, "lead", "hold", "operator.0123456789abcdef");
  fw_operator_number(w, "lead", "hv", "2");
  snprintf(row, sizeof row, "w/w%d", leader(w));
  snprintf(v, sizeof v, "%llu", strtoull(fw_row(w, row, "pv"), NULL, 10) + 1);
  fw_operator_number(w, row, "pv", v);
}

/* The answer to the leader's own notification shows the operator's too. The leader must not take that as heard
 * before it has looked what it is about. */
TEST(a_notification_just_before_the_leaders_own_is_heard) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = world(6);
    held = 0;
    w->on_write = hold_before_leader_notifies;
    start(w, 3);
    run(w, 8 * FW_S);
    CHECK(held);
    for (int i = 0; i < 6; i++) CHECK_INT(readers_of(w, i), 0);
    fw_operator_remove(w, "lead", "hold");
    fw_operator_number(w, "lead", "hv", "4");
    w->on_write = NULL;
    finish(w);
  }
}

/* ---- many children are taken at once ------------------------------------------------------------------- */

static int kids_from, kids_n; /* the first child of shards that end, and their number */

static int parents_have_ended(fw_world *w) {
  for (int i = 0; i < kids_from; i++)
    if (w->shards[i].closed && w->pos[i].kind != SLP_POSITION_END) return 0;
  return 1;
}

static int first_is_out(fw_world *w) { return !w->nodes[0] || w->nodes[0]->left; }

static int all_kids_are_read(fw_world *w) {
  for (int i = 0; i < kids_n; i++)
    if (!readers_of(w, kids_from + i)) return 0;
  return 1;
}

/* More leases are taken than writes may be under way. A lease that waited for its turn to be taken does not
 * wait for the next read of its row before it looks at its parents. */
TEST(children_that_are_taken_one_after_another_are_read_at_once) {
  worst = 0;
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = fleet(86, 1);
    kids_from = w->shards_n;
    kids_n = 10;
    for (int i = 0; i < kids_n; i++) CHECK(fw_merge(w, 2 * i, 2 * i + 1));
    until(w, 30 * FW_S, parents_have_ended);
    fw_start(w, 1, "w1", 0);
    run(w, seed * FW_S / 40);
    fw_leave(w, 0, 5000);
    until(w, 10 * FW_S, first_is_out);
    fw_reap(w);
    note(until(w, 20 * FW_S, all_kids_are_read));
    finish(w);
  }
  fprintf(stderr, "     they are read %.2f s later at worst\n", (double)worst / 1e6);
  CHECK(worst < 2 * FW_S);
}

/* ---- a worker that leaves while it registers ------------------------------------------------------------- */

static int is_out(const fw_world *w, int slot) { return !w->nodes[slot] || w->nodes[slot]->left; }

static int all_are_out(fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (!is_out(w, i)) return 0;
  return 1;
}

/* Its registration is under way. If that reaches the table, the row would look like that of a living worker
 * for a lease: the next worker of that id would wait, and a leader would assign leases to nobody. */
TEST(a_worker_leaves_while_it_registers) {
  worst = 0;
  for (seed = 1; seed <= 3; seed++) {
    for (uint64_t at = 0; at < FW_S / 10; at += FW_S / 500) {
      fw_world *w = world(6);
      start(w, 1);
      run(w, at);
      fw_leave(w, 0, 5000);
      until(w, 2 * FW_S, all_are_out);
      if (*fw_row(w, "w/w0", "boot") && !*fw_row(w, "w/w0", "gone"))
        CHECK_FAIL("seed %llu, told to leave after %llu ms: its row is one of a living worker",
                   (unsigned long long)seed, (unsigned long long)at / 1000);
      fw_reap(w);
      start(w, 1);
      note(settle(w, 20 * FW_S));
      finish(w);
    }
  }
  fprintf(stderr, "     the next one of its id reads %.2f s later at worst\n", (double)worst / 1e6);
  CHECK(worst < FW_S);
}

/* A registration that is not answered is not waited for as long as the user would allow. */
TEST(a_worker_that_can_not_register_leaves_within_a_second) {
  fw_world *w = world(2);
  start(w, 1);
  for (int k = 0; k < 1000 && !w->nodes[0]->fleet->worker.registration.busy; k++) run(w, FW_S / 1000);
  CHECK(w->nodes[0]->fleet->worker.registration.busy);
  w->outage_until_us = fw_now(w) + 20 * FW_S;
  fw_leave(w, 0, 10000);
  CHECK(!w->nodes[0]->left);
  until(w, FW_S + FW_S / 10, all_are_out);
  fw_reap(w);
  w->producing = 0;
  run(w, 20 * FW_S);
  fw_free(w);
}

/* ---- a worker that leaves while a shard of it ends ------------------------------------------------------ */

static int end_is_told(const fw_world *w, int slot, int shard) {
  const fw_node *n = w->nodes[slot];
  for (int k = 0; k < n->open_n; k++)
    if (n->open[k].shard == shard) return n->open[k].end_told;
  return 0;
}

static int kids_are_read(fw_world *w) { return readers_of(w, kids_from) && readers_of(w, kids_from + 1); }

/* The worker writes the end and the rows of the children, and is gone. No listing has the children yet, and
 * they lie under keys that the leader does not read. */
TEST(the_children_of_a_shard_that_ends_while_its_worker_leaves_are_read) {
  int played = 0;
  worst = 0;
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = world(6);
    w->leases_a_key = FW_BY_HASH;
    start(w, 3);
    settle(w, 15 * FW_S);
    run(w, 3 * FW_S);
    int slot = follower(w);
    int over = 0; /* the shard that ends */
    while (fw_owner_of(w, over) != slot) over++;
    kids_from = w->shards_n;
    CHECK(fw_split(w, over));
    for (int k = 0; k < 5000 && readers_of(w, over) && !end_is_told(w, slot, over); k++) run(w, FW_S / 1000);
    if (readers_of(w, over)) {
      fw_leave(w, slot, 5000);
      note(until(w, 90 * FW_S, kids_are_read));
      played++;
    }
    fw_reap(w);
    finish(w);
  }
  fprintf(stderr, "     they are read %.2f s later at worst\n", (double)worst / 1e6);
  CHECK(played > 6 && worst < 3 * FW_S);
}

/* ---- a worker that leaves while nobody leads ------------------------------------------------------------ */

/* Returns the worker that has sent its name for the row of leadership, which had no owner; -1: none has. */
static int who_runs_for_the_lead(const fw_world *w) {
  for (int i = 0; i < FW_NODES; i++) {
    const slp_fleet *f = w->nodes[i] ? w->nodes[i]->fleet : NULL;
    if (f && f->election.role == SLP_ROLE_SEEKS && f->election.write.busy && !f->election.leader.n) return i;
  }
  return -1;
}

/* The leader has left. The next worker is told to leave while it tries to lead, so there is no leader that it
 * could notify of its proposals. */
TEST(a_worker_leaves_while_it_tries_to_lead) {
  int played = 0;
  worst = 0;
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = fleet(6, 3);
    int led = leader(w), next = -1;
    fw_leave(w, led, 5000);
    for (int k = 0; k < 5000 && (next = who_runs_for_the_lead(w)) < 0; k++) run(w, FW_S / 1000);
    if (next >= 0) {
      fw_leave(w, next, 5000);
      for (int k = 0; k < 300 && !is_out(w, next); k++) run(w, FW_S / 100);
      if (!is_out(w, next)) CHECK_FAIL("seed %llu: it has not left after 3 s", (unsigned long long)seed);
      CHECK(!slp_leave_undone(w->nodes[next]->fleet));
      fw_reap(w);
      note(settle(w, 20 * FW_S));
      played++;
    }
    finish(w);
  }
  fprintf(stderr, "     its shards are read again %.2f s later at worst\n", (double)worst / 1e6);
  CHECK(played > 6 && worst < 2 * FW_S);
}
