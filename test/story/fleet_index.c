/* fleet_index.c - a fleet of ours that shares by index, in kinsumer's tables: who reads what, what happens when
 * somebody joins, leaves or dies, and rows of others that are wrong, missing, old, or of a client that lives.
 * SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 60
#include "story/fleet_world.h"

static fw_world *index_world(uint64_t seed, int shards) {
  fw_world *w = fw_new_of(seed, shards, &fw_layout_kinsumer);
  w->lease_ms = 5000;
  w->skew_ms = 100;
  return w;
}
#define WORLD index_world
#include "story/fleet_play.h"

#define L (5 * FW_S)
#define CLIENTS 1
#define METADATA 2

static int slots[FW_NODES], slots_n; /* of those that live, by their names */

static int as_shared(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (fw_owner_of(w, i) != slots[i % slots_n]) return 0;
  return 1;
}

static void shared(fw_world *w, int a, int b, int c, int d) {
  int all[] = {a, b, c, d};
  for (slots_n = 0; slots_n < 4 && all[slots_n] >= 0; slots_n++) slots[slots_n] = all[slots_n];
  until(w, 3 * L, as_shared);
}

static fw_world *begin(int shards, int n) {
  fw_world *w = world(shards);
  start(w, n);
  shared(w, 0, n > 1 ? 1 : -1, n > 2 ? 2 : -1, -1);
  return w;
}

static uint64_t repeated(const fw_world *w) {
  uint64_t sum = 0;
  for (int i = 0; i < w->shards_n; i++) sum += w->shards[i].repeats;
  return sum;
}

static void end(fw_world *w) {
  w->producing = 0;
  until(w, 10 * L, fw_all_read);
  fw_free(w);
}

static void ns_of(const fw_world *w, int64_t later_s, char out[32]) {
  snprintf(out, 32, "%lld000000", (long long)slp_sim_unix_ms(w->sim) + (long long)later_s * 1000);
}

/* ---- who reads what -------------------------------------------------------------------------------- */

TEST(each_has_its_part_and_nothing_is_repeated) {
  fw_world *w = begin(7, 3);
  run(w, 2 * L);
  fw_start(w, 3, "w3", 0);
  shared(w, 0, 1, 2, 3);
  run(w, 2 * L);
  fw_leave(w, 1, 8000);
  shared(w, 0, 2, 3, -1);
  fw_leave(w, 0, 8000); /* it leads */
  shared(w, 2, 3, -1, -1);
  CHECK_INT(w->lost, 0);
  CHECK_INT(w->expired, 0);
  CHECK_INT(repeated(w), 0);
  end(w);
}

/* Those that stay keep what stays their own. */
TEST(what_stays_with_its_worker_is_not_given_up) {
  fw_world *w = begin(1, 1);
  uint64_t released = w->released;
  fw_start(w, 1, "w1", 0);
  run(w, 3 * L);
  CHECK_INT(w->released, released);
  CHECK_INT(fw_owner_of(w, 0), 0);
  end(w);
}

TEST(children_are_read_behind_their_parents) { /* the judge's rule of lineage */
  fw_world *w = begin(4, 3);
  for (int i = 0; i < 3; i++) {
    CHECK(fw_split(w, 2 * i));
    run(w, 2 * L);
  }
  CHECK(fw_merge(w, 4, 5) || fw_merge(w, 6, 7));
  run(w, 4 * L);
  CHECK_INT(repeated(w), 0);
  end(w);
}

TEST(the_dead_are_followed_within_two_leases) {
  fw_world *w = begin(6, 3);
  fw_kill(w, 0); /* it leads */
  shared(w, 1, 2, -1, -1);
  for (int i = 0; i < w->shards_n; i++) CHECK(w->shards[i].gap_us < 2 * L);
  end(w);
}

/* ---- rows that are wrong --------------------------------------------------------------------------- */

static void refused(uint8_t table, const char *row, const char *attr, slp_val_kind kind, const char *text) {
  fw_world *w = world(2);
  fw_operator_put(w, table, row, attr, kind, text);
  start(w, 1);
  run(w, 4 * L);
  CHECK_INT(w->failed, 1);
  CHECK_INT(w->writes, 0);
  if (!strstr(w->told, row) || !strstr(w->told, attr)) CHECK_FAIL("%s", w->told);
  fw_free(w);
}
TEST(a_list_that_makes_no_sense_ends_it_unwritten) {
  refused(METADATA, "ShardCache", "ShardIDs", SLP_VAL_S, "shardId-000000000000");
}
TEST(a_leader_that_makes_no_sense_ends_it_unwritten) {
  refused(METADATA, "Leader", "LastUpdate", SLP_VAL_S, "1795220326356381773");
}
TEST(a_client_that_makes_no_sense_ends_it_unwritten) { refused(CLIENTS, "0e0ac5ee", "Name", SLP_VAL_N, "7"); }

TEST(a_shard_that_makes_no_sense_is_named_and_left_alone) {
  fw_world *w = world(3);
  fw_operator_put(w, 0, "shardId-000000000001", "OwnerID", SLP_VAL_N, "7");
  start(w, 1);
  run(w, 4 * L);
  CHECK(w->bad_rows > 0);
  CHECK(w->shards[0].acked > 0 && w->shards[2].acked > 0);
  CHECK_INT(w->shards[1].acked, 0);
  CHECK_STR(fw_row(w, "shardId-000000000001", "OwnerID"), "7");
  fw_free(w);
}

/* ---- rows of others -------------------------------------------------------------------------------- */

TEST(a_list_that_is_gone_is_made_again_and_nobody_stops) {
  fw_world *w = begin(5, 2);
  for (int i = 0; i < w->shards_n; i++) w->shards[i].gap_us = 0;
  uint64_t released = w->released;
  fw_operator_put(w, METADATA, "ShardCache", "ShardIDs", SLP_VAL_NULL, "");
  run(w, 3 * L);
  CHECK_INT(w->released, released);
  shared(w, 0, 1, -1, -1);
  end(w);
}

/* A client of the Go program writes nothing while its shard is idle: its row is old, and it reads on. */
TEST(an_old_row_of_a_client_that_lives_is_left_alone_for_a_lease) {
  fw_world *w = begin(2, 1);
  char soon[32], old[32];
  ns_of(w, 3600, soon);
  ns_of(w, -3600, old);
  fw_operator_put(w, CLIENTS, "zz", "LastUpdate", SLP_VAL_N, soon);
  fw_kill(w, 0);
  fw_operator_put(w, 0, "shardId-000000000000", "OwnerID", SLP_VAL_S, "zz");
  fw_operator_put(w, 0, "shardId-000000000000", "LastUpdate", SLP_VAL_N, old);
  fw_start(w, 1, "w1", 0); /* place 0 once w0 is forgotten */
  run(w, L + 2 * FW_S);
  CHECK_STR(fw_row(w, "shardId-000000000000", "OwnerID"), "zz");
  run(w, 4 * L);
  CHECK_INT(fw_owner_of(w, 0), 1);
  fw_free(w);
}

TEST(rows_of_clients_go_after_two_days) {
  fw_world *w = begin(2, 1);
  char two_days[32], one_day[32];
  ns_of(w, -48 * 3600 - 60, two_days);
  ns_of(w, -24 * 3600, one_day);
  fw_operator_put(w, CLIENTS, "aa", "LastUpdate", SLP_VAL_N, two_days);
  fw_operator_put(w, CLIENTS, "bb", "LastUpdate", SLP_VAL_N, one_day);
  CHECK_INT(fw_rows_n(w, CLIENTS, ""), 3);
  run(w, 2 * L);
  CHECK_INT(fw_rows_n(w, CLIENTS, ""), 2);
  shared(w, 0, -1, -1, -1);
  fw_leave(w, 0, 8000);
  run(w, L);
  CHECK_INT(fw_rows_n(w, CLIENTS, ""), 1);
  CHECK_INT(w->left, 1);
  fw_free(w);
}

TEST(a_worker_that_is_not_seen_for_a_lease_gives_everything_up) {
  fw_world *w = begin(4, 2);
  w->no_writes_until_us = fw_now(w) + 3 * L;
  run(w, 3 * L);
  shared(w, 0, 1, -1, -1);
  end(w);
}

/* Nothing else fails then: who has no shards, or has given them up, would stand in silence. */
static void told_of(uint8_t table) {
  fw_world *w = begin(2, 1);
  w->deny_writes_beside = table;
  run(w, 2 * L);
  CHECK(w->trouble > 0);
  run(w, 60 * FW_S);
  CHECK(w->trouble < 12);
  w->deny_writes_beside = 0;
  uint64_t told = w->trouble;
  shared(w, 0, -1, -1, -1);
  run(w, 2 * L);
  CHECK_INT(w->trouble, told);
  end(w);
}
TEST(that_its_own_row_can_not_be_written_is_told) { told_of(CLIENTS); }
TEST(that_the_leader_s_row_can_not_be_written_is_told) { told_of(METADATA); }
