/* fleet_scenes.c - a fleet in virtual time, scene by scene: the failure points of the protocol, and how long
 * each recovery may take (leases of 2 s). SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "sim/fleet_world.h"

#include "../check.h"

static void print(void *arg, const char *line) {
  (void)arg;
  if (!strstr(line, " sends ")) fprintf(stderr, "%s\n", line);
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

static void run(fw_world *w, uint64_t us) {
  fw_run(w, us);
  fine(w);
}

static uint64_t until(fw_world *w, uint64_t us, int (*enough)(fw_world *w)) {
  uint64_t from = fw_now(w);
  int done = fw_until(w, us, enough);
  fine(w);
  if (!done) fw_dump(w);
  CHECK(done);
  return fw_now(w) - from;
}

static uint64_t settle(fw_world *w, uint64_t us) { return until(w, us, fw_settled); }

/* n workers that have shared the shards and are at work. */
static fw_world *fleet(int shards, int n) {
  fw_world *w = world(shards);
  start(w, n);
  settle(w, 15 * FW_S);
  run(w, 3 * FW_S);
  for (int i = 0; i < w->shards_n; i++) w->shards[i].gap_us = 0;
  return w;
}

static uint64_t worst_gap(const fw_world *w) {
  uint64_t worst = 0;
  for (int i = 0; i < w->shards_n; i++)
    if (w->shards[i].gap_us > worst) worst = w->shards[i].gap_us;
  return worst;
}

static uint64_t repeats(const fw_world *w) {
  uint64_t n = 0;
  for (int i = 0; i < w->shards_n; i++) n += w->shards[i].repeats;
  return n;
}

static int leader(const fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && w->nodes[i]->leads) return i;
  return -1;
}

static int follower(const fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && !w->nodes[i]->leads) return i;
  return -1;
}

/* Everything is read, nobody is left over: the end of every scene. */
static void finish(fw_world *w) {
  w->producing = 0;
  until(w, 100 * FW_S, fw_all_read);
  settle(w, 100 * FW_S);
  fw_free(w);
}

static void within(const char *what, uint64_t us, uint64_t bound) {
  fprintf(stderr, "     %s: %.2f s, at most %.2f s\n", what, (double)us / 1e6, (double)bound / 1e6);
  CHECK(us <= bound);
}

#define LEASE (2 * FW_S)

/* ---- start, join, leave, kill: the bounds of section 7
 * ------------------------------------------------------ */

TEST(first_start) {
  fw_world *w = world(8);
  start(w, 1);
  within("first start", settle(w, 3 * FW_S), 2200000);
  finish(w);
}

TEST(first_start_of_four) {
  fw_world *w = world(10);
  start(w, 4);
  within("first start of four", settle(w, 20 * FW_S), 3500000);
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}

TEST(a_fleet_that_begins_at_the_latest_begins_at_one_time) {
  fw_world *w = world(3);
  w->start.kind = SLP_SPOT_LATEST;
  start(w, 2);
  settle(w, 15 * FW_S);
  CHECK(strncmp(fw_row(w, "lead", "start"), "0:time:", 7) == 0);
  finish(w);
}

TEST(join) {
  fw_world *w = fleet(8, 2);
  fw_start(w, 2, "w2", 0);
  within("join", settle(w, 20 * FW_S), 3500000 + 500000);
  within("a moved lease's gap", worst_gap(w), 300000 + 100000);
  CHECK(repeats(w) == 0 && w->lost == 0);
  finish(w);
}

TEST(join_of_one_that_was_alone) {
  fw_world *w = fleet(8, 1);
  fw_start(w, 1, "w1", 0);
  within("join to a single one", settle(w, 20 * FW_S), 3500000 + LEASE / 3);
  CHECK(repeats(w) == 0);
  finish(w);
}

static int two_left(fw_world *w) {
  fw_reap(w);
  return fw_live(w) == 2 && fw_settled(w);
}

static void leave_and_see(int leads) {
  fw_world *w = fleet(9, 3);
  fw_leave(w, leads ? leader(w) : follower(w), 10000);
  until(w, 20 * FW_S, two_left);
  within(leads ? "gap when the leader leaves" : "gap when a follower leaves", worst_gap(w), 1000000 + 100000);
  CHECK(repeats(w) == 0 && w->lost == 0 && w->condemned == 0 && w->evictions == 0);
  finish(w);
}

TEST(clean_leave_of_a_follower) { leave_and_see(0); }
TEST(clean_leave_of_the_leader) { leave_and_see(1); }

TEST(kill_of_a_follower) {
  fw_world *w = fleet(9, 3);
  fw_kill(w, follower(w));
  settle(w, 20 * FW_S);
  within("gap when a follower is killed", worst_gap(w), LEASE + 1600000 + LEASE / 3);
  finish(w);
}

TEST(kill_of_the_leader) {
  fw_world *w = fleet(9, 3);
  fw_kill(w, leader(w));
  settle(w, 20 * FW_S);
  within("gap when the leader is killed", worst_gap(w), LEASE + 1600000 + LEASE / 3);
  finish(w);
}

TEST(kill_of_the_leader_and_another) {
  fw_world *w = fleet(8, 4);
  fw_kill(w, leader(w));
  fw_kill(w, follower(w));
  settle(w, 20 * FW_S);
  within("gap when the leader and another are killed", worst_gap(w), LEASE * 3 / 2 + 2000000);
  finish(w);
}

TEST(a_single_worker_is_killed_and_comes_back) {
  fw_world *w = fleet(4, 1);
  fw_kill(w, 0);
  fw_start(w, 0, "w0", 0);
  settle(w, 20 * FW_S);
  within("gap of a restart under the same id", worst_gap(w), LEASE + 300000 + 300000);
  finish(w);
}

TEST(a_single_worker_is_killed_and_another_comes) {
  fw_world *w = fleet(4, 1);
  fw_kill(w, 0);
  fw_start(w, 0, "other", 0);
  settle(w, 20 * FW_S);
  within("gap of a restart under another id", worst_gap(w), LEASE + 300000 + 500000);
  finish(w);
}

/* ---- pauses, outages, cuts
 * -------------------------------------------------------------------------------------- */

TEST(a_pause_longer_than_the_lease) {
  fw_world *w = fleet(6, 3);
  slp_sim_freeze(w->nodes[follower(w)]->h, 2 * LEASE);
  run(w, 4 * LEASE);
  CHECK(w->evictions == 1 && w->condemned == 1);
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
  CHECK(w->evictions == 0 && w->condemned == 0 && w->lost == 0 && repeats(w) == 0);
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
  within("back after an outage", back, LEASE / 3 + LEASE / 6 + 500000);
  run(w, 5 * LEASE);
  for (int i = 0; i < 8; i++) CHECK(fw_owner_of(w, i) == owners[i]);
  CHECK(w->condemned == 0 && w->evictions == 0 && w->lost == 0 && repeats(w) == 0);
  finish(w);
}

TEST(throttled_for_two_leases) {
  fw_world *w = fleet(8, 4);
  w->faults.throttle_ppm = 900000;
  run(w, 2 * LEASE);
  w->faults.throttle_ppm = 0;
  settle(w, 10 * FW_S);
  run(w, 3 * LEASE);
  CHECK(repeats(w) == 0 && w->condemned == 0);
  finish(w);
}

TEST(one_is_cut_off_from_the_table) {
  fw_world *w = fleet(6, 3);
  int slot = follower(w);
  w->nodes[slot]->cut = 1;
  run(w, 3 * LEASE);
  CHECK(w->condemned == 1);
  w->nodes[slot]->cut = 0;
  settle(w, 20 * FW_S);
  CHECK(w->evictions == 1);
  finish(w);
}

/* ---- hand-over
 * ------------------------------------------------------------------------------------------------------ */

TEST(a_slow_user_is_waited_for) {
  fw_world *w = fleet(8, 1);
  w->user_us_min = w->user_us_max = 3 * FW_S;
  run(w, 2 * FW_S);
  fw_start(w, 1, "w1", 0);
  run(w, 15 * FW_S);
  CHECK(repeats(w) == 0 && w->expired == 0);
  finish(w);
}

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

/* ---- the stream changes
 * ------------------------------------------------------------------------------------------------ */

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

TEST(a_parent_ends_while_its_owner_dies) {
  fw_world *w = fleet(4, 2);
  w->user_us_min = w->user_us_max = FW_S / 2;
  fw_split(w, 0);
  fw_split(w, 1);
  run(w, 300000);
  fw_kill(w, follower(w));
  finish(w);
}

/* ---- answers in doubt: each verb's write is done, its answer lost
 * ---------------------------------------------------------- */

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
TEST(a_third_of_all_answers_lost) {
  fw_world *w = fleet(6, 3);
  w->faults.unanswered_ppm = 330000;
  run(w, 20 * FW_S);
  w->faults.unanswered_ppm = 0;
  finish(w);
}
TEST(everything_twice_and_late) {
  fw_world *w = fleet(6, 3);
  w->faults.doubled_ppm = 500000;
  w->faults.late_ppm = 100000;
  run(w, 30 * FW_S);
  w->faults.doubled_ppm = w->faults.late_ppm = 0;
  finish(w);
}
TEST(stale_reads) {
  fw_world *w = world(8);
  w->faults.stale_ppm = 800000;
  start(w, 3);
  settle(w, 30 * FW_S);
  fw_kill(w, 1);
  run(w, 5 * LEASE);
  fw_start(w, 1, "w1", 0);
  settle(w, 30 * FW_S);
  finish(w);
}

/* ---- operators, strangers
 * ---------------------------------------------------------------------------------------------------- */

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

TEST(two_with_one_id) {
  fw_world *w = fleet(4, 2);
  fw_start(w, 5, "w0", 0);
  run(w, 4 * LEASE);
  CHECK(w->nodes[5]->failed && !w->nodes[0]->failed && w->evictions == 0);
  fw_reap(w);
  finish(w);
}

TEST(clocks_that_run_unevenly) {
  fw_world *w = world(8);
  fw_start(w, 0, "w0", 80000);
  fw_start(w, 1, "w1", -80000);
  fw_start(w, 2, "w2", 0);
  settle(w, 20 * FW_S);
  for (int i = 0; i < 3; i++) {
    slp_sim_freeze(w->nodes[i]->h, LEASE * 15 / 10);
    run(w, 3 * LEASE);
  }
  run(w, 10 * FW_S);
  finish(w);
}

/* ---- at rest
 * -------------------------------------------------------------------------------------------------------------------
 */

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

CHECK_MAIN()
