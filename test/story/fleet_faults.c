/* fleet_faults.c - faults of whole fleets and of what is around them: everybody stands at once, the table is
 * away for long or comes back from a backup, somebody leaves meanwhile, rows carry what a newer version keeps
 * in them, workers have odd names. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"

#define WORLD fw_new
#include "story/fleet_play.h"
#include "lease/election.h"
#include "lease/members.h"
#include "scarce.h"

/* ---- everybody at once ------------------------------------------------------------------------- */

static void freeze_all(uint64_t us) {
  fw_world *w = fleet(8, 4);
  for (int i = 0; i < 4; i++) slp_sim_freeze(w->nodes[i]->h, us + slp_sim_random_below(w->sim, 20000));
  run(w, us + FW_S);
  settle(w, 20 * FW_S);
  if (us < LEASE * 8 / 10) CHECK(w->lost == 0 && repeats(w) == 0 && w->evictions == 0);
  CHECK(w->failed == 0 && fw_live(w) == 4);
  finish(w);
}
TEST(all_stand_for_half_a_lease) {
  for (seed = 1; seed <= 6; seed++) freeze_all(LEASE / 2);
}
TEST(all_stand_for_a_little_more_than_a_lease) {
  for (seed = 1; seed <= 6; seed++) freeze_all(LEASE * 11 / 10);
}
TEST(all_stand_for_five_leases) {
  for (seed = 1; seed <= 6; seed++) freeze_all(LEASE * 5);
}

/* ---- the table --------------------------------------------------------------------------------- */

static int not_suspended(fw_world *w) {
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i] && w->nodes[i]->suspended) return 0;
  return 1;
}

TEST(the_table_is_away_for_half_an_hour) {
  fw_world *w = fleet(64, 8);
  int owner[64];
  for (int i = 0; i < 64; i++) owner[i] = fw_owner_of(w, i);
  w->producing = 0; /* or there would be an hour's work left over */
  run(w, 2 * FW_S);
  w->outage_until_us = fw_now(w) + 1800 * FW_S;
  run(w, 1800 * FW_S);
  uint64_t asked = w->writes;
  uint64_t took = until(w, 20 * FW_S, not_suspended);
  run(w, 2 * LEASE - took);
  CHECK(took < 2 * LEASE && w->evictions == 0 && w->evicted == 0 && w->lost == 0 && repeats(w) == 0);
  /* Heartbeats, and one checkpoint of each: nobody storms. */
  if (w->writes - asked > 64 * 4 + 8 * 20) CHECK_FAIL("%d writes", (int)(w->writes - asked));
  for (int i = 0; i < 64; i++) CHECK_INT(fw_owner_of(w, i), owner[i]);
  finish(w);
}

TEST(who_leaves_while_the_table_is_away_is_gone_in_time) {
  fw_world *w = fleet(6, 3);
  int slot = follower(w);
  w->outage_until_us = fw_now(w) + 60 * FW_S;
  run(w, FW_S);
  fw_leave(w, slot, 5000);
  run(w, 5 * FW_S + LEASE + FW_S / 10);
  CHECK_INT(w->left, 1);
  fw_reap(w);
  run(w, 60 * FW_S);
  settle(w, 20 * FW_S);
  finish(w);
}

/* Against advice: while the fleet runs. Nothing is lost; everybody notices that it is not his any more. */
TEST(the_leases_come_back_from_a_backup) {
  fw_world *w = fleet(4, 2);
  char row[64], pos[4][64], epoch[4][24], owner[4][64];
  for (int i = 0; i < 4; i++) {
    fw_row_of(w, i, row);
    snprintf(pos[i], sizeof pos[i], "%s", fw_row(w, row, "pos"));
    snprintf(epoch[i], sizeof epoch[i], "%s", fw_row(w, row, "epoch"));
    snprintf(owner[i], sizeof owner[i], "%s", fw_row(w, row, "owner"));
  }
  fw_start(w, 5, "new", 0); /* some move, all go on */
  run(w, 20 * FW_S);
  for (int i = 0; i < 4; i++) {
    fw_row_of(w, i, row);
    w->shards[i].excused = 1;
    w->pos[i] = (slp_position){.kind = SLP_POSITION_NONE};
    fw_operator_set(w, row, "pos", pos[i]);
    fw_operator_number(w, row, "epoch", epoch[i]);
    fw_operator_set(w, row, "owner", owner[i]);
  }
  settle(w, 400 * FW_S); /* who has forgotten that it is his is reminded after three audits */
  CHECK(w->failed == 0 && w->evictions == 0);
  finish(w);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static scarce memory = {.left = -1};

static char evicted_incarnation[17];

static void see_eviction(fw_world *w, const slp_store_write *write) {
  (void)w;
  for (size_t i = 0; i < write->changes_n; i++) {
    if (!slp_str_is(write->changes[i].name, "gone") || write->changes[i].kind != SLP_SET) continue;
    for (size_t k = 0; k < write->when_n; k++)
      if (slp_str_is(write->when[k].name, "boot") && write->when[k].val.s.n == 16)
        memcpy(evicted_incarnation, write->when[k].val.s.p, 16);
  }
}

/* Without memory for the write it is made later; whoever has come under that id meanwhile is not meant. */
TEST(the_silent_worker_is_the_one_that_is_evicted) {
  fw_world *w = world(4);
  w->node_alloc = scarce_alloc;
  w->node_ctx = &memory;
  start(w, 2);
  settle(w, 15 * FW_S);
  slp_fleet *f = w->nodes[leader(w)]->fleet;
  slp_member *p = slp_member_get(f, slp_str_of(w->nodes[follower(w)]->id));
  char incarnation[17] = {0};
  memcpy(incarnation, p->incarnation, 16);
  w->on_write = see_eviction;
  memory.left = 0;
  slp_member_evict(f, p);
  CHECK(!p->eviction); /* there is nothing yet that could be sent; the next look would begin anew */
  memory.left = 1;     /* enough for the eviction, but not for its write */
  memory.failed = 0;
  p->silence.last.counter += 100000; /* it is alive: the table is to refuse */
  slp_member_evict(f, p);
  p->silence.last.counter -= 100000;
  memcpy(p->incarnation, "0123456789abcdef", 16); /* as if it had come again */
  memory.left = -1;
  CHECK(memory.failed > 0);
  run(w, 2 * FW_S);
  CHECK_STR(evicted_incarnation, incarnation);
  finish(w);
}

static uint64_t turns(fw_world *w) {
  uint64_t n = 0;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i]) n += slp_host_turns(w->nodes[i]->h)->turns;
  return n;
}

TEST(nobody_runs_in_circles_without_memory) {
  fw_world *w = world(8);
  w->node_alloc = scarce_alloc;
  w->node_ctx = &memory;
  start(w, 3);
  settle(w, 15 * FW_S);
  fw_start(w, 5, "new", 0); /* leases are asked for, looked at, handed over */
  run(w, 2 * FW_S);
  uint64_t before = turns(w);
  memory.left = 0;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i]) slp_election_changed(w->nodes[i]->fleet); /* everybody looks at everything */
  run(w, 2 * LEASE);
  uint64_t a_second = (turns(w) - before) * FW_S / (2 * LEASE);
  memory.left = -1;
  CHECK(memory.failed > 0);
  if (a_second > 4 * 200) CHECK_FAIL("%d turns a second", (int)a_second);
  settle(w, 70 * FW_S);
  finish(w);
}

/* ---- a newer version's attributes -------------------------------------------------------------- */

TEST(what_others_keep_in_our_rows_survives) {
  fw_world *w = fleet(4, 2);
  char rows[6][64] = {"lead", "w/w0", "w/w1", "a/w0", "a/w1"};
  fw_row_of(w, 1, rows[5]);
  for (int i = 0; i < 6; i++) fw_operator_set(w, rows[i], "note", "kept");
  fw_start(w, 5, "w5", 0);
  run(w, 20 * FW_S);
  fw_leave(w, leader(w), 5000);
  run(w, 20 * FW_S);
  fw_reap(w);
  CHECK(fw_split(w, 1) != NULL);
  run(w, 20 * FW_S);
  CHECK_STR(fw_row(w, rows[5], "pos"), "9:end");
  for (int i = 0; i < 6; i++) CHECK_STR(fw_row(w, rows[i], "note"), "kept");
  finish(w);
}

/* ---- names ------------------------------------------------------------------------------------- */

TEST(workers_with_odd_names) {
  static const char *const names[] = {"a.b.c", "0123456789abcdef", "%s%n\"'\\{}", "w\xc3\xb6rker\xe2\x98\x83",
                                      ".x",    "a@b:c#d"};
  fw_world *w = world(12);
  for (int i = 0; i < 6; i++) fw_start(w, i, names[i], 0);
  settle(w, 20 * FW_S);
  fw_kill(w, 0);
  settle(w, 20 * FW_S);
  fw_leave(w, 1, 5000);
  run(w, 6 * FW_S);
  fw_reap(w);
  settle(w, 20 * FW_S);
  finish(w);
}

TEST(names_that_no_table_takes) {
  static const char *const names[] = {"a/b", "a b", "a\n", "a.", "a\x7f", "a\xff", "\xc3", "\xed\xa0\x80"};
  fw_world *w = world(1);
  fw_start(w, 0, "w0", 0);
  for (size_t i = 0; i < SLP_COUNT(names); i++) {
    slp_fleet *f;
    slp_fleet_opts o = w->nodes[0]->fleet->o;
    o.worker = slp_str_of(names[i]);
    if (slp_fleet_new(&f, w->mem, &o) != SLP_EINVAL) CHECK_FAIL("\"%s\" is taken", names[i]);
  }
  fw_free(w);
}
