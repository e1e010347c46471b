/* fleet_scenes.c - a fleet in virtual time, scene by scene: the failure points of the protocol, and how long
 * each recovery may take (leases of 2 s). SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"
#include "story/fleet_world.h"

#include "../check.h"

#define WORLD fw_new
#include "story/fleet_play.h"
#include "lease/context.h"
#include "lease/lease.h"

/* ---- start, join, leave, kill: the bounds in PROTOCOL.md, "How long things take" ----------------------- */

static int all_are_read(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (!w->shards[i].closed && fw_owner_of(w, i) < 0) return 0;
  return 1;
}

static void first_start(void) {
  fw_world *w = world(8);
  start(w, 1);
  note(until(w, 5 * FW_S, all_are_read));
  finish(w);
}
TEST(first_start_of_one) { within("first start", 200000, first_start); }

/* More shards than the first leader takes when it makes their leases: it reads some at once. */
static int some_are_read(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (fw_owner_of(w, i) >= 0) return 1;
  return 0;
}
static void first_start_of_many(void) {
  fw_world *w = world(100);
  start(w, 1);
  note(until(w, 5 * FW_S, some_are_read));
  until(w, 2 * FW_S, all_are_read);
  finish(w);
}
TEST(the_first_shards_of_many) { within("first start, 100 shards", 300000, first_start_of_many); }

static void first_start_four(void) {
  fw_world *w = world(10);
  start(w, 4);
  note(settle(w, 20 * FW_S));
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}
TEST(first_start_of_four) { within("first start of four", 2000000, first_start_four); }

TEST(a_fleet_that_begins_at_the_latest_begins_at_one_time) {
  fw_world *w = world(3);
  w->start.kind = SLP_POSITION_LATEST;
  start(w, 2);
  settle(w, 15 * FW_S);
  CHECK(strncmp(fw_row(w, "lead", "start"), "0:time:", 7) == 0);
  finish(w);
}

/* An operator removes it: "latest" is not the moment in which it is written again. */
TEST(a_fleet_begins_at_the_latest_once) {
  char start_was[64];
  fw_world *w = world(3);
  w->start.kind = SLP_POSITION_LATEST;
  start(w, 2);
  settle(w, 15 * FW_S);
  snprintf(start_was, sizeof start_was, "%s", fw_row(w, "lead", "start"));
  fw_operator_delete(w, "lead");
  run(w, 90 * FW_S);
  CHECK_STR(fw_row(w, "lead", "start"), start_was);
  finish(w);
}

static uint64_t join(int before) {
  fw_world *w = fleet(8, before);
  fw_start(w, before, "new", 0);
  uint64_t took = settle(w, 20 * FW_S);
  uint64_t gap = worst_gap(w);
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
  note(took);
  return gap;
}
static void join_two(void) { join(2); }
static void join_one(void) { join(1); }
static void join_gap(void) {
  worst = 0;
  uint64_t gap = join(2);
  worst = gap;
}
TEST(joining) { within("join", 2500000 + 60000, join_two); } /* and D, 60 ms here */
TEST(joining_one_that_was_alone) { within("join to a single one", 2500000 + 60000, join_one); }
static int newcomer_reads(fw_world *w) { return w->nodes[1]->open_n > 0; }
static void join_first(void) {
  fw_world *w = fleet(8, 1);
  run(w, 20 * FW_S);
  fw_start(w, 1, "new", 0);
  note(until(w, 5 * FW_S, newcomer_reads));
  finish(w);
}
TEST(the_first_lease_of_one_that_joins) { within("first lease of a second worker", 1500000, join_first); }

TEST(the_gap_of_a_moved_lease) { within("gap of a moved lease", 300000 + 60000, join_gap); }

static int two_left(fw_world *w) {
  fw_reap(w);
  return fw_live(w) == 2 && fw_settled(w);
}

static void leave_and_see(int leads) {
  fw_world *w = fleet(9, 3);
  fw_leave(w, leads ? leader(w) : follower(w), 10000);
  until(w, 20 * FW_S, two_left);
  note(worst_gap(w));
  CHECK(repeats(w) == 0 && w->lost == 0 && w->evicted == 0 && w->evictions == 0);
  finish(w);
}
static void follower_leaves(void) { leave_and_see(0); }
static void leader_leaves(void) { leave_and_see(1); }
TEST(clean_leave_of_a_follower) { within("gap when a follower leaves", 1000000 + 60000, follower_leaves); }
TEST(clean_leave_of_the_leader) { within("gap when the leader leaves", 1000000 + 60000, leader_leaves); }

static int three_live(fw_world *w) {
  fw_reap(w);
  return fw_live(w) == 3;
}

/* One after the other, each back at once. Assignments overtake each other: some workers ask for leases that are
 * another's before their owner hands them over, to them. */
static void roll(void) {
  fw_world *w = world(8);
  w->lease_ms = 10000;
  start(w, 4);
  settle(w, 15 * FW_S);
  run(w, 3 * FW_S);
  for (int i = 0; i < w->shards_n; i++) w->shards[i].gap_us = 0;
  for (int i = 0; i < 24; i++) {
    char id[8];
    snprintf(id, sizeof id, "w%d", i % 4);
    fw_leave(w, i % 4, 10000);
    until(w, 20 * FW_S, three_live);
    run(w, slp_random_below(w->server, 200000));
    fw_start(w, i % 4, id, 0);
    settle(w, 20 * FW_S);
    run(w, 2 * FW_S + slp_random_below(w->server, 700000));
  }
  note(worst_gap(w));
  CHECK(repeats(w) == 0 && w->lost == 0 && w->evicted == 0 && w->evictions == 0);
  finish(w);
}
TEST(a_rolling_restart) { within("gap in a rolling restart", 600000, roll); }

static void kill_and_see(int leads, int others, int n) {
  fw_world *w = fleet(9, n);
  if (leads) fw_kill(w, leader(w));
  if (others) fw_kill(w, follower(w));
  settle(w, 20 * FW_S);
  note(worst_gap(w));
  finish(w);
}
static void follower_dies(void) { kill_and_see(0, 1, 3); }
static void leader_dies(void) { kill_and_see(1, 0, 3); }
static void both_die(void) { kill_and_see(1, 1, 4); }
TEST(kill_of_a_follower) { within("gap when a follower is killed", LEASE + 1600000, follower_dies); }
TEST(kill_of_the_leader) { within("gap when the leader is killed", LEASE + 1600000, leader_dies); }
TEST(kill_of_the_leader_and_another) {
  within("gap when the leader and another are killed", LEASE * 3 / 2 + 2000000, both_die);
}

static void restart(const char *id) {
  fw_world *w = fleet(4, 1);
  fw_kill(w, 0);
  fw_start(w, 0, id, 0);
  settle(w, 20 * FW_S);
  note(worst_gap(w));
  finish(w);
}

static int none_live(fw_world *w) {
  fw_reap(w);
  return fw_live(w) == 0;
}
static void restart_after_leave(void) {
  fw_world *w = fleet(4, 1);
  fw_leave(w, 0, 5000);
  until(w, 20 * FW_S, none_live);
  fw_start(w, 0, "w0", 0);
  note(until(w, 5 * FW_S, all_are_read));
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}
TEST(a_single_worker_leaves_and_comes_back) {
  within("a worker that comes back to its own leases", 300000, restart_after_leave);
}

static void restart_same(void) { restart("w0"); }
static void restart_other(void) { restart("other"); }
TEST(a_single_worker_is_killed_and_comes_back) {
  within("gap of a restart under the same id", LEASE + 300000, restart_same);
}
TEST(a_single_worker_is_killed_and_another_comes) {
  within("gap of a restart under another id", LEASE + 300000, restart_other);
}

/* A late copy of what a former process of this id wrote may change the row after the new process has read it.
 * No process lives that writes this row. */
TEST(a_row_of_my_id_that_changes_hands_once_is_not_a_living_worker) {
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = fleet(4, 1);
    fw_kill(w, 0);
    fw_start(w, 0, "w0", 0);
    run(w, LEASE * (50 + seed * 3) / 100);
    fw_operator_set(w, "w/w0", "boot", "0123456789abcdef");
    settle(w, 20 * FW_S);
    CHECK_INT(w->failed, 0);
    finish(w);
  }
}

TEST(a_living_worker_of_my_id_keeps_me_out) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = fleet(4, 1);
    fw_kill(w, 0);
    fw_start(w, 1, "w0", 0);
    for (int beats = 100; beats < 110 && !w->failed; beats++) {
      char ctr[16];
      snprintf(ctr, sizeof ctr, "%d", beats);
      fw_operator_number(w, "w/w0", "ctr", ctr);
      run(w, LEASE / 3);
    }
    CHECK_INT(w->failed, 1);
    CHECK_STR(w->told, "another worker is alive under the id \"w0\"");
    fw_free(w);
  }
}

/* ---- pauses, outages, cuts --------------------------------------------------------------------- */

TEST(a_pause_longer_than_the_lease) {
  fw_world *w = fleet(6, 3);
  slp_sim_freeze(w->nodes[follower(w)]->h, 2 * LEASE);
  run(w, 4 * LEASE);
  CHECK(w->evictions == 1 && w->evicted == 1);
  finish(w);
}

TEST(a_pause_of_the_leader_longer_than_the_lease) {
  fw_world *w = fleet(6, 3);
  slp_sim_freeze(w->nodes[leader(w)]->h, 2 * LEASE);
  run(w, 4 * LEASE);
  CHECK(w->evictions == 1 && leader(w) >= 0);
  finish(w);
}

TEST(a_pause_shorter_than_the_fence_costs_nothing) {
  fw_world *w = fleet(6, 3);
  slp_sim_freeze(w->nodes[follower(w)]->h, LEASE * 4 / 10);
  run(w, 4 * LEASE);
  CHECK(w->evictions == 0 && w->evicted == 0 && w->lost == 0 && repeats(w) == 0);
  finish(w);
}

TEST(an_outage_of_the_table_moves_nothing) {
  fw_world *w = fleet(8, 4);
  int owners[8];
  for (int i = 0; i < 8; i++) owners[i] = fw_owner_of(w, i);
  w->outage_until_us = fw_now(w) + 10 * LEASE;
  run(w, 10 * LEASE);
  for (int i = 0; i < 4; i++) CHECK(w->nodes[i]->suspended);
  uint64_t back = settle(w, 10 * FW_S);
  CHECK(back <= LEASE / 3 + LEASE / 6); /* a heartbeat, and one try that was under way */
  run(w, 5 * LEASE);
  for (int i = 0; i < 8; i++) CHECK(fw_owner_of(w, i) == owners[i]);
  CHECK(w->evicted == 0 && w->evictions == 0 && w->lost == 0 && repeats(w) == 0);
  finish(w);
}

TEST(throttled_for_two_leases) {
  fw_world *w = fleet(8, 4);
  w->faults.throttle_ppm = 900000;
  run(w, 2 * LEASE);
  w->faults.throttle_ppm = 0;
  settle(w, 10 * FW_S);
  run(w, 3 * LEASE);
  CHECK(repeats(w) == 0 && w->evicted == 0);
  finish(w);
}

TEST(one_is_cut_off_from_the_table) {
  fw_world *w = fleet(6, 3);
  int slot = follower(w);
  w->nodes[slot]->cut = 1;
  run(w, 3 * LEASE);
  CHECK(w->evicted == 1);
  w->nodes[slot]->cut = 0;
  settle(w, 20 * FW_S);
  CHECK(w->evictions == 1);
  finish(w);
}

/* ---- hand-over --------------------------------------------------------------------------------- */

static void slow_user(void) {
  fw_world *w = fleet(8, 1);
  w->user_us_min = w->user_us_max = 3 * FW_S;
  run(w, 2 * FW_S);
  fw_start(w, 1, "w1", 0);
  run(w, 15 * FW_S);
  CHECK(repeats(w) == 0 && w->expired == 0);
  finish(w);
}
TEST(a_slow_user_is_waited_for) { slow_user(); }

TEST(the_deadline_of_a_hand_over) {
  fw_world *w = world(8);
  w->handover_ms = 1000;
  start(w, 1);
  settle(w, 5 * FW_S);
  w->user_us_min = w->user_us_max = 8 * FW_S;
  run(w, 2 * FW_S);
  fw_start(w, 1, "w1", 0);
  run(w, 10 * FW_S);
  CHECK(w->expired > 0);
  w->user_us_max = w->user_us_min = 1000;
  finish(w);
}

TEST(the_claimant_dies_while_the_user_is_slow) {
  fw_world *w = fleet(4, 1);
  w->user_us_min = w->user_us_max = 4 * FW_S;
  run(w, 5 * FW_S);
  fw_start(w, 1, "w1", 0);
  run(w, 4 * FW_S);
  fw_kill(w, 1);
  run(w, 5 * LEASE);
  w->user_us_max = w->user_us_min = 1000;
  finish(w);
}

static int ghosts;

/* Just before it is handed to whom it was asked by, another one asks. */
static void asked_by_another(fw_world *w, const slp_store_write *write) {
  char row[64], name[40];
  int hands = 0, asked = 0;
  for (size_t i = 0; i < write->changes_n; i++)
    hands |= slp_str_is(write->changes[i].name, "owner") && write->changes[i].kind == SLP_SET;
  for (size_t i = 0; i < write->when_n; i++)
    asked |= slp_str_is(write->when[i].name, "claim") && write->when[i].test == SLP_TEST_EQ;
  for (int i = 0; hands && asked && i < w->shards_n; i++) {
    fw_row_of(w, i, row);
    if (!fw_row(w, row, "claim")[0]) continue;
    snprintf(name, sizeof name, "ghost%d.0123456789abcdef", ghosts++);
    fw_operator_set(w, row, "claim", name);
    w->shards[i].excused = 0; /* it changes neither owner nor epoch */
  }
}

/* It can't be handed over, and the plan gives it back meanwhile: it is taken anew, and the user hears first
 * that it was gone. That each is told in turn is asked by judge_told in fleet_world.c. */
static fw_world *take_anew(uint32_t doubled_ppm) {
  fw_world *w = fleet(2, 1);
  w->on_write = asked_by_another;
  ghosts = 0;
  uint64_t epochs = w->shards[0].epoch + w->shards[1].epoch, released = w->released;
  fw_start(w, 1, "w1", 0);
  for (int i = 0; i < 500 && !ghosts; i++) run(w, FW_S / 50);
  CHECK(ghosts > 0);
  fw_kill(w, 1);
  w->faults.doubled_ppm = doubled_ppm;
  w->faults.late_us = 60 * FW_S;
  run(w, 5 * LEASE);
  w->faults.doubled_ppm = 0;
  w->on_write = NULL;
  CHECK(fw_owner_of(w, 0) == 0 && fw_owner_of(w, 1) == 0);
  CHECK(w->shards[0].epoch + w->shards[1].epoch == epochs + 1);
  CHECK(w->released == released + 1 && w->lost == 0);
  return w;
}
TEST(what_could_not_be_handed_over_is_told_to_be_gone_and_taken_anew) {
  for (seed = 1; seed <= 6; seed++) finish(take_anew(0));
}

/* ---- the stream changes ------------------------------------------------------------------------ */

TEST(split_and_merge) {
  fw_world *w = fleet(4, 2);
  CHECK(fw_split(w, 0) && fw_split(w, 1));
  run(w, 5 * FW_S);
  CHECK(fw_merge(w, 4, 5) && fw_merge(w, 2, 3));
  run(w, 10 * FW_S);
  CHECK(repeats(w) == 0 && w->holes == 0);
  finish(w);
}

/* As the shards of a table's stream do: each ends every so often and has one child. */
TEST(shards_that_roll_over) {
  fw_world *w = fleet(4, 3);
  for (int round = 0; round < 6; round++) {
    for (int i = 0, n = w->shards_n; i < n; i++)
      if (!w->shards[i].closed) {
        fw_shard *kid = &w->shards[w->shards_n];
        *kid = (fw_shard){
            .parents = {i, -1}, .hash_from = w->shards[i].hash_from, .hash_to = w->shards[i].hash_to};
        snprintf(kid->id, sizeof kid->id, "shardId-%012d", w->born_n++);
        kid->unread_us = fw_now(w);
        w->shards[i].closed = 1;
        w->shards[i].kids[w->shards[i].kids_n++] = w->shards_n++;
      }
    run(w, 6 * FW_S);
  }
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}

/* ---- answers in doubt: each verb's write is done, its answer lost ------------------------------ */

static fw_world *doubtful(const char *row, uint32_t n, int blind) {
  fw_world *w = world(4);
  w->drop_answers = n;
  snprintf(w->drop_prefix, sizeof w->drop_prefix, "%s", row);
  w->faults.blind_ppm = blind ? 1000000 : 0;
  return w;
}

static void play_doubt(const char *row, uint32_t n) {
  for (int blind = 0; blind < 2; blind++) {
    fw_world *w = doubtful(row, n, blind);
    start(w, 2);
    settle(w, 30 * FW_S);
    w->drop_answers = n;
    fw_split(w, 1);
    run(w, 5 * FW_S);
    w->drop_answers = n;
    fw_start(w, 2, "w2", 0);
    run(w, 10 * FW_S);
    w->drop_answers = n;
    fw_leave(w, follower(w), 10000);
    run(w, 10 * FW_S);
    fw_reap(w);
    CHECK(repeats(w) == 0 && w->failed == 0);
    finish(w);
  }
}

TEST(lost_answers_of_workers) { play_doubt("/w/", 2); }
TEST(lost_answers_of_leadership) { play_doubt("/lead", 1); }
TEST(lost_answers_of_plans) { play_doubt("/a/", 2); }
TEST(lost_answers_of_leases) { play_doubt("/l/", 6); }
/* It comes when the same worker has taken the lease anew: only the epoch tells it from a new one. */
static void late_release(void) {
  fw_world *w = fleet(1, 1);
  w->producing = 0; /* else its older position would betray it */
  run(w, 3 * FW_S);
  w->faults.doubled_ppm = 1000000;
  w->faults.late_us = 60 * FW_S;
  slp_fleet_stalled(w->nodes[0]->fleet, slp_str_of(w->shards[0].id));
  run(w, 300000);
  w->faults.doubled_ppm = 0;
  CHECK(fw_owner_of(w, 0) < 0);
  run(w, 70 * FW_S);
  CHECK(fw_owner_of(w, 0) == 0 && w->lost == 0);
  finish(w);
}
TEST(a_release_comes_again_much_later) {
  for (seed = 1; seed <= 12; seed++) late_release();
}

/* Its lease is given up, and taken again, while copies of what was written before still arrive: a copy that
 * counted would set the epoch back, and judge_epoch in fleet_world.c sees every row. */
static void change_hands(fw_world *w, int times) {
  for (int i = 0; i < times; i++) {
    for (int k = 0; k < w->shards_n; k++) slp_fleet_stalled(w->nodes[0]->fleet, slp_str_of(w->shards[k].id));
    run(w, 10 * FW_S);
  }
}

/* One worker at work, of whose writes a copy comes again within a minute. */
static fw_world *with_late_copies(void) {
  fw_world *w = world(1);
  w->producing = 0;
  w->faults.doubled_ppm = 1000000;
  w->faults.late_us = 60 * FW_S;
  start(w, 1);
  settle(w, 15 * FW_S);
  return w;
}

static void late_take(void) {
  fw_world *w = with_late_copies();
  w->faults.doubled_ppm = 0;
  change_hands(w, 7);
  CHECK(w->shards[0].epoch > 1);
  finish(w);
}
TEST(a_take_comes_again_much_later) {
  for (seed = 1; seed <= 12; seed++) late_take();
}

/* The copy of a TAKE comes when the lease has no owner and the last owner is dead. The epoch alone shows that
 * the copy is old. */
static void late_free(void) {
  fw_world *w = with_late_copies();
  change_hands(w, 2);
  w->faults.doubled_ppm = 0;
  uint64_t epoch = w->shards[0].epoch;
  CHECK(epoch > 1);
  slp_fleet_stalled(w->nodes[0]->fleet, slp_str_of(w->shards[0].id));
  run(w, 300000);
  CHECK(fw_owner_of(w, 0) < 0);
  fw_kill(w, 0);
  run(w, 70 * FW_S);
  CHECK(fw_owner_of(w, 0) < 0);
  CHECK(w->shards[0].epoch >= epoch);
  fw_start(w, 1, "w1", 0);
  settle(w, 30 * FW_S);
  finish(w);
}
TEST(a_take_comes_again_when_the_lease_is_free) {
  for (seed = 1; seed <= 12; seed++) late_free();
}

static void late_retake(void) {
  fw_world *w = take_anew(1000000);
  change_hands(w, 7);
  finish(w);
}
TEST(a_lease_that_was_taken_anew_is_not_set_back_much_later) {
  for (seed = 1; seed <= 12; seed++) late_retake();
}

/* A read that was under way all that time still shows the lease as it was. */
TEST(an_old_image_of_what_was_let_go_is_not_taken_up) {
  fw_world *w = fleet(1, 1);
  slp_fleet *f = w->nodes[0]->fleet;
  w->producing = 0;
  run(w, 3 * FW_S);
  slp_fleet_stalled(f, slp_str_of(w->shards[0].id));
  run(w, 300000);
  CHECK(fw_owner_of(w, 0) < 0);
  slp_lease *l = slp_lease_get(f, slp_str_of(w->shards[0].id));
  slp_lease_row old = {
      .shard = l->shard, .owner = slp_fleet_instance(f), .epoch = 1, .position = l->own.saved};
  slp_lease_saw(l, &old, slp_now_us(f->h), slp_now_us(f->h));
  run(w, 40 * FW_S);
  CHECK(fw_owner_of(w, 0) == 0 && w->shards[0].epoch == 2);
  finish(w);
}

/* ---- operators, strangers ---------------------------------------------------------------------- */

TEST(an_operator_deletes_a_worker) {
  fw_world *w = fleet(6, 3);
  char row[32];
  snprintf(row, sizeof row, "w/w%d", follower(w));
  fw_operator_delete(w, row);
  run(w, 4 * LEASE);
  CHECK(w->evictions == 1);
  finish(w);
}

TEST(an_operator_deletes_the_row_of_leadership) {
  fw_world *w = fleet(6, 3);
  fw_operator_delete(w, "lead");
  run(w, 90 * FW_S);
  CHECK(strlen(fw_row(w, "lead", "owner")) > 0);
  fw_split(w, 0);
  finish(w);
}

TEST(an_operator_deletes_a_lease) {
  fw_world *w = fleet(4, 2);
  char row[48];
  snprintf(row, sizeof row, "l/%s", w->shards[1].id);
  fw_operator_delete(w, row);
  run(w, 90 * FW_S);
  CHECK(strtoull(fw_row(w, row, "epoch"), NULL, 10) > 1000000000); /* its epochs don't come again */
  CHECK(w->trouble > 0);
  finish(w);
}

static char reset_row[48];
static int is_ended(fw_world *w) { return strcmp(fw_row(w, reset_row, "pos"), "9:end") == 0; }

/* As an operator's command writes it, and notifies. The worker that read it to its end reads it again. */
static void resets_after_its_end(int workers, int split_before, uint64_t after_us, uint64_t within_us) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = split_before ? world(4) : fleet(4, workers);
    char row[48], number[24];
    fw_split(w, 1);
    if (split_before) start(w, workers);
    snprintf(reset_row, sizeof reset_row, "l/%s", w->shards[1].id);
    until(w, 30 * FW_S, is_ended);
    run(w, after_us);
    snprintf(number, sizeof number, "%llu", strtoull(fw_row(w, reset_row, "epoch"), NULL, 10) + 1);
    fw_operator_set(w, reset_row, "pos", "0:oldest");
    fw_operator_number(w, reset_row, "epoch", number);
    snprintf(row, sizeof row, "w/%s", w->nodes[leader(w)]->id);
    snprintf(number, sizeof number, "%llu", strtoull(fw_row(w, row, "pv"), NULL, 10) + 1);
    fw_operator_number(w, row, "pv", number);
    until(w, within_us, is_ended);
    finish(w);
  }
}
TEST(an_operator_resets_a_lease_that_ended) {
  resets_after_its_end(1, 0, 5 * FW_S, 15 * FW_S);
  resets_after_its_end(2, 0, 5 * FW_S, 15 * FW_S);
}
/* The leader has not seen the end: the assignment has the lease still, and is not written anew. */
TEST(an_operator_resets_a_lease_that_has_just_ended) {
  resets_after_its_end(1, 1, 5 * FW_S, 15 * FW_S);
  resets_after_its_end(2, 1, 5 * FW_S, 90 * FW_S);
}

/* As a version that took zeros in front of a number wrote it: longer as text than every later position. */
TEST(a_row_with_zeros_in_front_of_its_number_is_read_by_value_and_written_in_the_one_form) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = fleet(2, 2);
    char row[48], odd[64];
    unsigned long long n = 0;
    snprintf(row, sizeof row, "l/%s", w->shards[1].id);
    w->producing = 0;
    for (int i = 0; i < 30 && sscanf(fw_row(w, row, "pos"), "1:%*3u%llu:", &n) != 1; i++) run(w, FW_S);
    int digits = snprintf(odd, sizeof odd, "%llu", n);
    CHECK(n > 0);
    snprintf(odd, sizeof odd, "1:%03d000000%llu:9999999999", digits + 6, n);
    int owner = strncmp(fw_row(w, row, "owner"), w->nodes[0]->id, strlen(w->nodes[0]->id)) ? 1 : 0;
    fw_kill(w, owner);
    fw_operator_set(w, row, "pos", odd);
    w->producing = 1;
    run(w, 40 * FW_S); /* the other takes it, and saves */
    unsigned long long later = 0;
    unsigned length = 0;
    CHECK_INT(sscanf(fw_row(w, row, "pos"), "1:%3u%llu:", &length, &later), 2);
    CHECK(later > n && length < (unsigned)digits + 6);
    finish(w);
  }
}

TEST(rows_that_are_strange_or_damaged_are_named_and_left_alone) {
  fw_world *w = fleet(4, 2);
  char row[48];
  snprintf(row, sizeof row, "l/%s", w->shards[1].id);
  fw_operator_set(w, row, "pos", "?");
  fw_operator_set(w, "l/strange", "something", "else");
  fw_operator_set(w, "zzz", "of", "others");
  run(w, 70 * FW_S);
  CHECK(w->bad_rows > 0);
  CHECK_STR(fw_row(w, row, "pos"), "?");
  CHECK_STR(fw_row(w, "l/strange", "something"), "else");
  CHECK_STR(fw_row(w, "zzz", "of"), "others");
  for (int i = 0; i < 4; i++) CHECK(i == 1 || w->shards[i].acked + 20 > w->shards[i].records);
  fw_operator_delete(w, "l/strange");
  fw_operator_set(w, row, "pos", "0:oldest");
  run(w, 30 * FW_S);
  finish(w);
}

static uint64_t reads(const fw_world *w) {
  uint64_t n = 0;
  for (int i = 0; i < FW_NODES; i++) {
    slp_fleet_stats stats;
    if (!w->nodes[i]) continue;
    slp_fleet_stats_get(w->nodes[i]->fleet, &stats);
    n += stats.reads;
  }
  return n;
}

/* Told, and asked for again and again, but not without a pause. */
static void forbidden(uint8_t gets, uint8_t lists) {
  fw_world *w = world(4);
  w->deny_gets = gets;
  w->deny_lists = lists;
  start(w, 2);
  run(w, 20 * FW_S);
  CHECK(w->trouble > 0);
  CHECK(reads(w) < 2 * 20 * 15); /* each asks some 15 times a second at most */
  w->deny_gets = w->deny_lists = 0;
  settle(w, 20 * FW_S);
  finish(w);
}
TEST(reading_rows_is_forbidden) { forbidden(1, 0); }
TEST(listing_rows_is_forbidden) { forbidden(0, 1); }

TEST(two_with_one_id) {
  fw_world *w = fleet(4, 2);
  fw_start(w, 5, "w0", 0);
  run(w, 4 * LEASE);
  CHECK(w->nodes[5]->failed && !w->nodes[0]->failed && w->evictions == 0);
  fw_reap(w);
  finish(w);
}

static int first_reads(fw_world *w) {
  return w->nodes[0]->joined && !w->nodes[0]->suspended && w->nodes[0]->open_n == w->shards_n;
}

/* It hangs, a second process takes its id and dies, and nobody is left who would evict that one. */
TEST(a_worker_that_was_evicted_joins_over_the_row_of_a_dead_one_of_its_id) {
  fw_world *w = fleet(4, 1);
  w->nodes[0]->cut = 1;
  fw_start(w, 1, "w0", 0);
  run(w, 3 * LEASE);
  CHECK(w->nodes[1]->joined && w->nodes[1]->open_n == 4);
  fw_kill(w, 1);
  w->nodes[0]->cut = 0;
  until(w, 4 * LEASE, first_reads);
  CHECK_INT(w->evictions, 1);
  finish(w);
}

/* ---- at rest ----------------------------------------------------------------------------------- */

TEST(an_idle_fleet_writes_heartbeats_only) {
  fw_world *w = fleet(20, 4);
  w->producing = 0;
  run(w, 10 * FW_S);
  uint64_t before = w->writes;
  run(w, 200 * FW_S);
  uint64_t writes = w->writes - before, beats = 4 * 200 * FW_S / (LEASE / 3);
  fprintf(stderr, "     %llu writes in 200 s, %llu heartbeats are due\n", (unsigned long long)writes,
          (unsigned long long)beats);
  CHECK(writes < beats * 11 / 10);
  finish(w);
}

/* ---- planted mistakes -------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*once)(void);
} hunted[] = {{"slow_user", slow_user},
              {"late_take", late_take},
              {"late_free", late_free},
              {"late_retake", late_retake}};

/* fleet_scenes --part "NAME FIRST LAST": that scene with each of these seeds, for test/swarm/mutants_hunt.py. */
static int play(const char *part) {
  char name[16];
  unsigned first = 0, last = 0, wrong = 0;
  if (sscanf(part, "%15s %u %u", name, &first, &last) != 3) return 2;
  for (size_t i = 0; i < SLP_COUNT(hunted); i++) {
    for (seed = first; seed <= last && strcmp(hunted[i].name, name) == 0; seed++) {
      int status = 0;
      printf("seed %" PRIu64 "\n", seed);
      fflush(stdout);
      pid_t pid = fork();
      if (pid == 0) {
        dup2(STDOUT_FILENO, STDERR_FILENO);
        alarm(CHECK_SECONDS);
        hunted[i].once();
        exit(0);
      }
      waitpid(pid, &status, 0);
      wrong += status != 0;
    }
  }
  return wrong ? 1 : 0;
}
CHECK_PART(play)
