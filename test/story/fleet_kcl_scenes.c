/* fleet_kcl_scenes.c - a fleet over a table of KCL 2.x in virtual time, scene by scene (leases of 2 s, so a
 * look at the table every 2 s). What its protocol is too weak to promise stands in src/guest/GUESTS.md.
 * SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/bulk_write.h"
#include "lease/fleet_inside.h"

#define WORLD fw_new_kcl
#include "story/fleet_play.h"
#include "lease/lease.h"

#define ROUND (LEASE * 11 / 10) /* from one look at the table to the next, at most */

static const char *attr_of(fw_world *w, int shard, const char *attr) {
  char row[64];
  fw_row_of(w, shard, row);
  return fw_row(w, row, attr);
}

static int owners(fw_world *w, int slot) {
  int n = 0;
  for (int i = 0; i < w->shards_n; i++) n += w->pos[i].kind != SLP_POSITION_END && fw_owner_of(w, i) == slot;
  return n;
}

/* ---- start, join, leave, kill ------------------------------------------------------------------ */

static void first_start(void) {
  fw_world *w = world(8);
  start(w, 1);
  note(settle(w, 5 * FW_S));
  CHECK(repeats(w) == 0);
  finish(w);
}
TEST(first_start_of_one) { within("first start", 1000000, first_start); }

/* They race for the same rows; each row is made and taken once, and what is uneven is stolen one by one. */
static void first_start_four(void) {
  fw_world *w = world(10);
  start(w, 4);
  note(settle(w, 40 * FW_S));
  finish(w);
}
TEST(first_start_of_four) { within("first start of four", 1000000 + 6 * ROUND, first_start_four); }

TEST(a_fleet_that_begins_at_the_latest_reads_what_is_open) {
  fw_world *w = world(2);
  CHECK(fw_split(w, 0));
  for (int i = 0; i < w->shards_n; i++) w->shards[i].records = 0;
  w->start.kind = SLP_POSITION_LATEST;
  w->producing = 0;
  start(w, 1);
  run(w, 2 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  for (int i = 1; i < 4; i++) {
    CHECK_STR(attr_of(w, i, "checkpoint"), "LATEST");
    CHECK(fw_owner_of(w, i) == 0);
  }
  fw_free(w);
}

/* Two that begin together on a new table with records in it: what one wants it asks the other for. */
TEST(two_that_start_together_repeat_nothing) {
  uint64_t again = 0, records = 0, slowest = 0;
  for (seed = 1; seed <= sim_share(60); seed++) {
    fw_world *w = world(8);
    w->lease_ms = 10000;
    for (int i = 0; i < 8; i++) fw_produce(w, i, 2000);
    fw_start(w, 0, "a", 0);
    run(w, slp_sim_random_below(w->sim, 2 * FW_S));
    fw_start(w, 1, "b", 0);
    uint64_t took = settle(w, 90 * FW_S);
    if (took > slowest) slowest = took;
    run(w, 10 * FW_S);
    again += repeats(w);
    for (int i = 0; i < 8; i++) records += w->shards[i].handed;
    finish(w);
  }
  fprintf(stderr, "     %llu of %llu records repeated, even after %.1f s at worst\n",
          (unsigned long long)again, (unsigned long long)records, (double)slowest / 1e6);
  CHECK_INT(again, 0); /* 12 in 1000 when it was stolen */
}

static void join_two(void) {
  fw_world *w = fleet(8, 2);
  fw_start(w, 2, "new", 0);
  uint64_t again = repeats(w), released = w->released;
  note(settle(w, 40 * FW_S));
  CHECK_INT(w->lost, 0);
  CHECK_INT(repeats(w), again);
  CHECK_INT(w->released - released, 2);
  finish(w);
}
/* It wants two, and asks for one at a time. */
TEST(joining) { within("join", 4 * ROUND, join_two); }

static int two_left(fw_world *w) {
  fw_reap(w);
  return fw_live(w) == 2 && fw_settled(w);
}

static void leave_and_see(void) {
  fw_world *w = fleet(9, 3);
  uint64_t before = w->lost, again = repeats(w);
  fw_leave(w, 1, 10000);
  run(w, ROUND + FW_S / 2);
  CHECK(repeats(w) == again); /* drained and saved before they were given back */
  until(w, 40 * FW_S, two_left);
  note(worst_gap(w));
  CHECK(w->lost - before <= 2); /* fair shares are found by stealing */
  finish(w);
}
TEST(a_clean_leave_repeats_nothing) { within("gap when one leaves", ROUND + FW_S / 2, leave_and_see); }

static void kill_and_see(void) {
  fw_world *w = fleet(9, 3);
  fw_kill(w, 1);
  settle(w, 40 * FW_S);
  note(worst_gap(w));
  finish(w);
}
/* Seen first at the next look, dead a lease later. */
TEST(a_kill) { within("gap when one is killed", ROUND + LEASE + FW_S / 2, kill_and_see); }

static void restart(void) {
  fw_world *w = fleet(4, 1);
  fw_kill(w, 0);
  fw_start(w, 0, "w0", 0);
  settle(w, 40 * FW_S);
  note(worst_gap(w));
  finish(w);
}
TEST(one_is_killed_and_comes_back_under_its_name) { within("gap of a restart", LEASE + FW_S, restart); }

TEST(two_with_one_id_are_two_workers) {
  fw_world *w = fleet(4, 2);
  fw_start(w, 5, "w0", 0);
  settle(w, 40 * FW_S);
  CHECK(owners(w, 5) >= 1 && owners(w, 0) >= 1 && w->failed == 0);
  finish(w);
}

/* ---- pauses, outages, cuts --------------------------------------------------------------------- */

TEST(a_pause_longer_than_the_lease) {
  fw_world *w = fleet(6, 3);
  uint64_t before = w->lost;
  int had = owners(w, 1);
  slp_sim_freeze(w->nodes[1]->h, 3 * LEASE);
  run(w, 3 * LEASE);
  CHECK(owners(w, 1) < had); /* while it sleeps */
  run(w, LEASE);
  CHECK(w->lost > before);
  finish(w);
}

TEST(a_pause_shorter_than_the_fence_costs_nothing) {
  fw_world *w = fleet(6, 3);
  uint64_t before = w->lost, again = repeats(w);
  slp_sim_freeze(w->nodes[1]->h, LEASE * 4 / 10);
  run(w, 4 * LEASE);
  CHECK(w->lost == before && repeats(w) == again);
  finish(w);
}

/* No lease is taken when the table is back: observations made before do not count. */
TEST(an_outage_of_the_table_moves_nothing) {
  fw_world *w = fleet(8, 4);
  int before[8];
  uint64_t lost = w->lost, again = repeats(w);
  for (int i = 0; i < 8; i++) before[i] = fw_owner_of(w, i);
  w->outage_until_us = fw_now(w) + 10 * LEASE;
  run(w, 10 * LEASE);
  for (int i = 0; i < 4; i++) CHECK(w->nodes[i]->suspended);
  uint64_t back = settle(w, 10 * FW_S);
  CHECK(back <= LEASE); /* a try that was under way, and another */
  run(w, 5 * LEASE);
  for (int i = 0; i < 8; i++) CHECK(fw_owner_of(w, i) == before[i]);
  CHECK(w->lost == lost && repeats(w) == again);
  finish(w);
}

/* All counters stand still, and everybody sees it: but everybody has the same trouble. */
static void no_writes(void) {
  fw_world *w = fleet(8, 4);
  uint64_t lost = w->lost, again = repeats(w);
  w->no_writes_until_us = fw_now(w) + 3 * LEASE;
  w->faults.rt_us_max = 300000; /* some have lost their proof when what they read comes */
  run(w, 3 * LEASE);
  w->faults.rt_us_max = 10000;
  for (int i = 0; i < 4; i++) CHECK(w->nodes[i]->suspended);
  settle(w, 10 * FW_S);
  run(w, 5 * LEASE);
  CHECK(w->lost == lost && repeats(w) == again);
  finish(w);
}
TEST(a_table_that_can_be_read_but_not_written_moves_nothing) {
  for (seed = 1; seed <= 6; seed++) no_writes();
}

TEST(one_is_cut_off_from_the_table) {
  fw_world *w = fleet(6, 3);
  w->nodes[1]->cut = 1;
  run(w, 4 * LEASE);
  CHECK(w->nodes[1]->suspended && owners(w, 1) == 0);
  w->nodes[1]->cut = 0;
  settle(w, 40 * FW_S);
  CHECK(owners(w, 1) > 0 && !w->nodes[1]->suspended);
  finish(w);
}

/* Nothing is handed out meanwhile: the suspension has to come by itself. */
TEST(who_is_cut_off_right_after_its_first_lease_is_suspended_in_time) {
  fw_world *w = world(1);
  w->producing = 0;
  start(w, 1);
  for (int i = 0; i < 500 && !w->nodes[0]->told[0]; i++) run(w, LEASE / 200);
  CHECK(w->nodes[0]->told[0]);
  w->nodes[0]->cut = 1;
  run(w, LEASE * 9 / 10);
  CHECK(w->nodes[0]->suspended);
  w->nodes[0]->cut = 0;
  settle(w, 40 * FW_S);
  finish(w);
}

/* A lease in doubt holds up all of its worker's for a moment, until its renewal is in or it is lost. */
TEST(one_lease_in_doubt_suspends_until_it_is_settled) {
  fw_world *w = fleet(4, 2);
  char row[64];
  int shard = 0;
  while (fw_owner_of(w, shard) != 0) shard++;
  fw_row_of(w, shard, row);
  uint64_t taken = w->lost;
  w->drop_answers = 8;
  snprintf(w->drop_prefix, sizeof w->drop_prefix, "%.20s", row);
  int seen = 0;
  for (int i = 0; i < 100 && !seen; i++) {
    run(w, LEASE / 50);
    seen = w->nodes[0]->suspended;
  }
  CHECK(seen);
  w->drop_answers = 0;
  run(w, LEASE);
  CHECK(!w->nodes[0]->suspended && w->lost == taken);
  finish(w);
}

/* ---- hand-overs that KCL knows not: a slow user, a stall, a parked shard ------------------------- */

TEST(a_slow_user_is_waited_for_when_his_worker_leaves) {
  fw_world *w = fleet(4, 2);
  uint64_t again = repeats(w);
  w->user_us_min = w->user_us_max = 3 * FW_S;
  run(w, 5 * FW_S);
  fw_leave(w, 0, 20000);
  run(w, 12 * FW_S);
  CHECK(repeats(w) == again && w->expired == 0 && w->left == 1);
  fw_reap(w);
  finish(w);
}

/* Rows are being made, or removed: who is stopped then does not wait until his time is up. */
TEST(a_leave_while_leases_are_made) {
  fw_world *w = world(64);
  w->faults.rt_us_min = w->faults.rt_us_max = 200000; /* each way */
  start(w, 1);
  run(w, 2 * FW_S);
  CHECK(slp_bulk_write_busy(w->nodes[0]->fleet));
  fw_leave(w, 0, 30000);
  run(w, 10 * FW_S);
  CHECK_INT(w->left, 1);
  fw_reap(w);
  w->faults.rt_us_min = 1000;
  w->faults.rt_us_max = 10000;
  start(w, 1);
  finish(w);
}

TEST(the_deadline_of_a_leave) {
  fw_world *w = fleet(4, 2);
  w->user_us_min = w->user_us_max = 9 * FW_S;
  run(w, 5 * FW_S);
  fw_leave(w, 0, 1000);
  run(w, 2 * FW_S);
  CHECK(w->left == 1 && w->expired > 0);
  w->user_us_max = w->user_us_min = 1000;
  fw_reap(w);
  finish(w);
}

TEST(what_makes_no_progress_is_tried_elsewhere) {
  fw_world *w = fleet(4, 2);
  int slot = fw_owner_of(w, 0);
  slp_fleet_stalled(w->nodes[slot]->fleet, slp_str_of(w->shards[0].id));
  /* Those who hold their share take what was nobody's for three leases: since a look, and found by one. */
  run(w, 2 * ROUND + 3 * LEASE + FW_S);
  CHECK(fw_owner_of(w, 0) == !slot);
  run(w, 40 * FW_S); /* and may come back later */
  finish(w);
}

/* The table has no word for it: it is kept alive and unread, and goes on when its keeper leaves. */
TEST(a_parked_shard_is_kept_shut) {
  fw_world *w = fleet(2, 2);
  int slot = fw_owner_of(w, 0);
  slp_fleet_park(w->nodes[slot]->fleet, slp_str_of(w->shards[0].id));
  run(w, FW_S);
  uint64_t handed = w->shards[0].handed;
  run(w, 10 * LEASE);
  CHECK(fw_owner_of(w, 0) == slot && w->shards[0].handed == handed);
  CHECK_INT(tell_shut(w, 1, 0), 1); /* who keeps it */
  CHECK(w->shards[0].acked == handed);
  fw_leave(w, slot, 1000);
  run(w, ROUND + LEASE);
  fw_reap(w);
  CHECK(w->shards[0].handed > handed);
  finish(w);
}

/* ---- the stream changes ------------------------------------------------------------------------ */

TEST(split_and_merge) {
  fw_world *w = fleet(4, 2);
  CHECK(fw_split(w, 0) && fw_split(w, 1));
  run(w, 5 * FW_S);
  CHECK(fw_merge(w, 4, 5) && fw_merge(w, 2, 3));
  run(w, 10 * FW_S);
  CHECK(w->holes == 0);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "SHARD_END");
  finish(w);
}

/* The other parent's own parent is still being read: the child of the merge has no lease before. */
TEST(a_merge_whose_other_parent_has_no_lease_yet) {
  fw_world *w = fleet(2, 1);
  fw_produce(w, 1, 2000); /* it takes long */
  CHECK(fw_split(w, 1));  /* 2 and 3 come when 1 is read */
  fw_shard *kid = fw_merge(w, 0, 2);
  CHECK(kid);
  int no = (int)(kid - w->shards);
  run(w, 5 * FW_S);
  CHECK(w->shards[0].acked == w->shards[0].records && w->shards[1].acked < w->shards[1].records);
  CHECK(w->pos[0].kind != SLP_POSITION_END && fw_owner_of(w, 0) == 0); /* it is kept, and waits */
  CHECK_STR(attr_of(w, no, "checkpoint"), "");
  run(w, 20 * FW_S);
  CHECK(w->pos[0].kind == SLP_POSITION_END && fw_owner_of(w, no) == 0);
  finish(w);
}

/* The stream lists it no more, and nobody will read it. */
static void forget_shard(fw_world *w, int shard) {
  fw_shard *s = &w->shards[shard];
  s->trimmed = s->excused = 1;
  s->records = s->acked = s->handed;
  w->pos[shard].kind = SLP_POSITION_END;
}

static int kid_of_merge;
static int kid_has_lease(fw_world *w) { return fw_owner_of(w, kid_of_merge) >= 0; }

/* A parent was read and forgotten long ago, by the stream and by the table. 1: it is the other worker that
 * compares the two. */
static int merged_with_a_shard_long_gone(void) {
  fw_world *w = world(3);
  fw_produce(w, 0, 20);
  kid_of_merge = (int)(fw_merge(w, 0, 1) - w->shards);
  forget_shard(w, 1);
  start(w, 2);
  w->nodes[0]->blocked = w->nodes[1]->blocked = 1;
  run(w, 20 * FW_S);
  int slot = fw_owner_of(w, 0);
  CHECK(slot >= 0 && fw_owner_of(w, 2) == 1 - slot);
  CHECK_STR(attr_of(w, kid_of_merge, "checkpoint"), "");
  w->nodes[0]->blocked = w->nodes[1]->blocked = 0;
  until(w, 30 * FW_S, kid_has_lease);
  finish(w);
  return slot == 1;
}
TEST(a_merge_whose_other_parent_is_long_gone) {
  int others = 0;
  for (seed = 1; seed <= 12; seed++) others += merged_with_a_shard_long_gone();
  CHECK(others > 2);
}

/* It has no lease yet, for its own parent is unread; then the stream forgets both. */
TEST(a_merge_whose_other_parent_is_forgotten_meanwhile) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(2, 2);
    int slot = fw_owner_of(w, 0);
    w->nodes[1 - slot]->blocked = 1;
    fw_produce(w, 1, 20);
    CHECK(fw_split(w, 1));
    kid_of_merge = (int)(fw_merge(w, 0, 2) - w->shards);
    run(w, 20 * FW_S);
    CHECK(w->shards[0].acked == w->shards[0].records && w->pos[0].kind != SLP_POSITION_END);
    CHECK_STR(attr_of(w, kid_of_merge, "checkpoint"), "");
    w->shards[1].trimmed = w->shards[2].trimmed = 1;
    until(w, 15 * FW_S, kid_has_lease);
    CHECK_STR(attr_of(w, 2, "checkpoint"), "");
    w->nodes[1 - slot]->blocked = 0;
    finish(w);
  }
}

static size_t most_seen(const fw_world *w) {
  size_t most = 0;
  for (int i = 0; i < FW_NODES; i++)
    if (w->nodes[i])
      most = w->nodes[i]->fleet->seen.shards.live > most ? w->nodes[i]->fleet->seen.shards.live : most;
  return most;
}

/* The youngest is split, and its children are merged again. */
static void reshard(fw_world *w, int n) {
  for (int i = 0; i < n; i++) {
    CHECK(fw_split(w, w->shards_n - 1));
    run(w, 30 * FW_S);
    CHECK(fw_merge(w, w->shards_n - 2, w->shards_n - 1));
    run(w, 30 * FW_S);
  }
}

/* Only one worker compares stream and table, and the others see all rows too. The clock is the worst of it: an
 * hour until they look whether the stream still has what the table has no more. */
TEST(what_is_in_neither_stream_nor_table_is_forgotten_by_all_workers) {
  fw_world *w = fleet(3, 3);
  reshard(w, 10);
  run(w, 900 * FW_S);
  size_t rows = fw_rows_n(w, 0, ""), shards = (size_t)w->shards_n;
  CHECK(rows + 15 < shards); /* rows of what was read are gone, and the stream lists it all yet */
  for (int i = 0; i < w->shards_n; i++)
    if (w->shards[i].closed) w->shards[i].trimmed = 1;
  run(w, 4000 * FW_S);
  CHECK_INT(most_seen(w), rows);
  finish(w);
}

/* Rows of ended shards go when their children have been read for long; nobody makes them again. */
TEST(what_ended_long_ago_is_removed) {
  fw_world *w = fleet(2, 2);
  CHECK(fw_split(w, 0));
  run(w, 10 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "SHARD_END");
  CHECK(fw_split(w, 2));
  run(w, 300 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "SHARD_END"); /* not yet */
  w->producing = 0;
  run(w, 900 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  run(w, 300 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  CHECK_STR(attr_of(w, 2, "checkpoint"), ""); /* it went when its parent was gone */
  CHECK(w->holes == 0);
  for (int i = 0; i < w->shards_n; i++) CHECK(w->shards[i].closed || fw_owner_of(w, i) >= 0);
  w->producing = 1;
  run(w, 5 * FW_S);
  w->pos[0].kind = w->pos[2].kind = SLP_POSITION_END; /* as they were when they went */
  finish(w);
}

/* No late copy of what made them can come any more. */
TEST(rows_that_are_old_go_when_their_children_are_read) {
  fw_world *w = fleet(2, 2);
  run(w, 400 * FW_S);
  CHECK(fw_split(w, 0));
  run(w, 30 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  for (int i = 2; i < 4; i++) CHECK(fw_owner_of(w, i) >= 0);
  w->pos[0].kind = SLP_POSITION_END; /* as it was when it went */
  finish(w);
}

/* The row of the parent is gone, as its children are read; a late listing shows a shard that nothing follows. */
TEST(a_listing_without_the_children_makes_no_lease_of_their_parent_anew) {
  fw_world *w = fleet(2, 2);
  run(w, 400 * FW_S);
  CHECK(fw_split(w, 0));
  run(w, 30 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  w->unlisted = 2;
  w->pos[0].kind = SLP_POSITION_END; /* as it was when it went */
  run(w, 300 * FW_S);
  CHECK_STR(attr_of(w, 0, "checkpoint"), "");
  CHECK(fw_owner_of(w, 2) >= 0 && fw_owner_of(w, 3) >= 0);
  w->unlisted = 0;
  finish(w);
}

/* ---- answers in doubt -------------------------------------------------------------------------- */

TEST(lost_answers_of_leases) {
  for (int blind = 0; blind < 2; blind++) {
    fw_world *w = world(4);
    w->drop_answers = 6;
    snprintf(w->drop_prefix, sizeof w->drop_prefix, "shardId");
    w->faults.blind_ppm = blind ? 1000000 : 0;
    start(w, 2);
    settle(w, 60 * FW_S);
    w->drop_answers = 6;
    fw_split(w, 1);
    run(w, 5 * FW_S);
    w->drop_answers = 6;
    fw_start(w, 2, "w2", 0);
    run(w, 10 * FW_S);
    w->drop_answers = 6;
    fw_leave(w, 1, 10000);
    run(w, 10 * FW_S);
    fw_reap(w);
    CHECK(w->failed == 0);
    finish(w);
  }
}

/* Only the counter tells an old copy from a new one. */
static void late_release(void) {
  fw_world *w = fleet(1, 1);
  w->producing = 0;
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
  for (seed = 1; seed <= sim_share(12); seed++) late_release();
}

/* ---- operators, strangers ---------------------------------------------------------------------- */

TEST(an_operator_deletes_a_lease) {
  fw_world *w = fleet(4, 2);
  char row[64];
  fw_row_of(w, 1, row);
  fw_operator_delete(w, row);
  run(w, 150 * FW_S);
  CHECK(strtoull(fw_row(w, row, "leaseCounter"), NULL, 10) > 1000000000); /* its epochs don't come again */
  CHECK(w->trouble > 0 && fw_owner_of(w, 1) >= 0);
  finish(w);
}

static int kid_is_read(fw_world *w) { return w->shards[2].handed > 0; }
static int kid_has_row(fw_world *w) { return attr_of(w, 2, "leaseCounter")[0] != 0; }

/* No worker has read the table since the row was made; the one that took it knows that it was there. */
TEST(an_operator_deletes_the_lease_of_a_child_that_was_just_made) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = fleet(2, 1);
    char row[64];
    CHECK(fw_split(w, 0));
    fw_produce(w, 2, 5);
    until(w, 10 * FW_S, kid_is_read);
    fw_row_of(w, 2, row);
    fw_operator_delete(w, row);
    until(w, 200 * FW_S, kid_has_row);
    CHECK(strtoull(attr_of(w, 2, "leaseCounter"), NULL, 10) > 1000000000);
    finish(w);
  }
}

/* A child of two is never read before both are. */
static int both_are_read(fw_world *w) {
  int read = w->pos[0].kind == SLP_POSITION_END && w->pos[1].kind == SLP_POSITION_END;
  CHECK(read || !w->shards[2].handed);
  return read;
}

/* The child of a merge has a row, neither parent has its end, and the row of one is removed. The worker that
 * finds the table so has never seen that row: the other's end waits until it is made again, and nothing of it
 * is lost. */
TEST(an_operator_deletes_the_lease_of_a_shard_whose_merge_has_one) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(2, 1);
    char row[64];
    uint64_t user_us_min = w->user_us_min, user_us_max = w->user_us_max;
    w->user_us_min = w->user_us_max = 100 * FW_S;
    run(w, FW_S);
    CHECK(fw_merge(w, 0, 1));
    fw_produce(w, 2, 20);
    until(w, 10 * FW_S, kid_has_row);
    CHECK(w->pos[0].kind != SLP_POSITION_END && w->pos[1].kind != SLP_POSITION_END);
    fw_kill(w, 0);
    fw_row_of(w, (int)seed % 2, row);
    fw_operator_delete(w, row);
    w->user_us_min = user_us_min;
    w->user_us_max = user_us_max;
    fw_start(w, 1, "w1", 0);
    until(w, 30 * FW_S, both_are_read);
    CHECK(w->shards[0].acked == w->shards[0].records && w->shards[1].acked == w->shards[1].records);
    finish(w);
  }
}

/* The row of one parent is removed while the other is read, by a worker that has seen both: the child is not
 * made, and not read, before that row is made again and what nobody had read of its shard is. */
TEST(an_operator_deletes_the_lease_of_the_other_parent_of_a_merge) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(2, 2);
    char row[64];
    int gone = (int)seed % 2, slot = fw_owner_of(w, gone);
    w->nodes[0]->blocked = w->nodes[1]->blocked = 1;
    for (int i = 0; i < 2; i++) fw_produce(w, i, 50);
    CHECK(fw_merge(w, 0, 1));
    fw_produce(w, 2, 20);
    fw_row_of(w, gone, row);
    fw_operator_delete(w, row);
    run(w, 2 * ROUND); /* everybody has looked at the table */
    CHECK(!kid_has_row(w) && fw_owner_of(w, 1 - gone) == 1 - slot);
    w->nodes[0]->blocked = w->nodes[1]->blocked = 0;
    until(w, 200 * FW_S, both_are_read);
    CHECK(w->shards[gone].acked == w->shards[gone].records);
    finish(w);
  }
}

static int kid_is_begun(fw_world *w) { return w->pos[2].kind == SLP_POSITION_AFTER; }
static int first_is_ended(fw_world *w) { return w->pos[0].kind == SLP_POSITION_END; }

/* A merge was read and its child is read from. The row of one parent is removed, the other is set back: its
 * end waits for nobody, and the first is not read again. */
TEST(an_operator_sets_a_parent_back_whose_merge_is_read) {
  for (seed = 1; seed <= 4; seed++) {
    fw_world *w = fleet(2, 1);
    char row[64];
    CHECK(fw_merge(w, 0, 1));
    fw_produce(w, 2, 20);
    until(w, 20 * FW_S, kid_is_begun);
    fw_kill(w, 0);
    fw_row_of(w, 1, row);
    fw_operator_delete(w, row);
    fw_row_of(w, 0, row);
    fw_operator_set(w, row, "checkpoint", "TRIM_HORIZON");
    fw_start(w, 1, "w1", 0);
    until(w, 60 * FW_S, first_is_ended);
    run(w, 300 * FW_S);
    CHECK_STR(attr_of(w, 1, "leaseCounter"), "");
    fw_free(w);
  }
}

/* Does its counter move between every two looks of a worker of KCL 2, which looks every two leases? */
static int is_renewed(fw_world *w, int looks) {
  char last[24] = "";
  for (int i = 0; i < looks; i++) {
    if (strcmp(last, attr_of(w, 0, "leaseCounter")) == 0) return 0;
    snprintf(last, sizeof last, "%s", attr_of(w, 0, "leaseCounter"));
    run(w, 2 * LEASE);
  }
  return 1;
}

/* A worker of KCL 2 takes what nobody renews before all else, and would have its share full of these. */
TEST(the_lease_of_an_ended_shard_is_renewed_until_its_row_goes) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(4, 2);
    char owner[96];
    CHECK(fw_split(w, 0));
    until(w, 10 * FW_S, first_is_ended);
    snprintf(owner, sizeof owner, "%s", attr_of(w, 0, "leaseOwner"));
    CHECK(is_renewed(w, 20));
    CHECK_STR(attr_of(w, 0, "leaseOwner"), owner);
    fw_kill(w, strncmp(owner, "w0.", 3) == 0 ? 0 : 1);
    run(w, 3 * LEASE + 2 * ROUND); /* the other worker renews it from then on */
    CHECK(strcmp(attr_of(w, 0, "leaseOwner"), owner) != 0);
    CHECK(is_renewed(w, 20));
    run(w, 500 * FW_S);
    CHECK_STR(attr_of(w, 0, "leaseCounter"), "");
    w->pos[0].kind = SLP_POSITION_END; /* as it was when it went */
    finish(w);
  }
}

/* Rows that KCL 3 keeps in the same table, and a damaged row of ours. */
TEST(rows_that_are_strange_or_damaged_are_named_and_left_alone) {
  fw_world *w = fleet(4, 2);
  char row[64];
  fw_row_of(w, 1, row);
  fw_operator_set(w, row, "leaseCounter", "x"); /* a text */
  fw_operator_set(w, "Leader", "entityType", "LEADER");
  fw_operator_set(w, "7b2c-uuid", "entityType", "WORKER_METRIC_STATS");
  fw_operator_set(w, "1:s:1:shardId-000000000000", "checkpoint", "TRIM_HORIZON");
  fw_operator_number(w, "1:s:1:shardId-000000000000", "leaseCounter", "3");
  run(w, 150 * FW_S);
  CHECK(w->bad_rows > 0);
  CHECK_STR(fw_row(w, row, "leaseCounter"), "x");
  CHECK_STR(fw_row(w, "Leader", "leaseCounter"), "");
  CHECK_STR(fw_row(w, "1:s:1:shardId-000000000000", "leaseCounter"), "3");
  for (int i = 0; i < 4; i++) CHECK(i == 1 || w->shards[i].acked + 20 > w->shards[i].records);
  fw_operator_number(w, row, "leaseCounter", "1700000000");
  run(w, 30 * FW_S);
  finish(w);
}

/* A worker of KCL's: it takes rows by their counters and moves them every third of a lease. */
typedef struct java {
  fw_world *w;
  int shards[3], shards_n;
  unsigned counter;
  int alive;
  const char *name;
} java;

static void java_renews(void *arg) {
  java *j = arg;
  char row[64], number[16];
  if (!j->alive) return;
  snprintf(number, sizeof number, "%u", ++j->counter);
  for (int k = 0; k < j->shards_n; k++) {
    fw_row_of(j->w, j->shards[k], row);
    if (j->counter > 1001 && strcmp(fw_row(j->w, row, "leaseOwner"), j->name) != 0) continue; /* taken */
    fw_operator_number(j->w, row, "leaseCounter", number);
    if (j->counter == 1001) fw_operator_set(j->w, row, "leaseOwner", j->name);
  }
  slp_sim_at(j->w->sim, fw_now(j->w) + LEASE / 3, java_renews, j);
}

TEST(a_worker_of_kcl_keeps_what_it_moves_and_loses_it_when_it_stops) {
  fw_world *w = fleet(4, 1);
  java j = {w, {0, 1}, 2, 1000, 1, "ip-10-0-0-1:3f2a"};
  java_renews(&j);
  run(w, 10 * LEASE);
  for (int k = 0; k < 2; k++) CHECK_STR(attr_of(w, k, "leaseOwner"), "ip-10-0-0-1:3f2a");
  CHECK(owners(w, 0) == 2);
  for (int k = 0; k < 2; k++) w->shards[k].epoch = 0; /* its counters are not ours */
  j.alive = 0;
  run(w, ROUND + LEASE + FW_S);
  CHECK(owners(w, 0) == 4);
  finish(w);
}

/* ---- asking --------------------------------------------------------------------------------------- */

/* By its name it can be asked, but it is of a version that hears no claim: what it has too much of is stolen all
 * the same, when a hand-over would have been over. */
TEST(an_owner_that_hears_no_claim_is_stolen_from_later) {
  fw_world *w = fleet(4, 1);
  java j = {w, {0, 1, 2}, 3, 1000, 1, "old.0123456789abcdef"};
  java_renews(&j);
  run(w, (uint64_t)w->handover_ms * 1000);
  CHECK_INT(owners(w, 0), 1);
  run(w, 3 * LEASE);
  CHECK_INT(owners(w, 0), 2);
  for (int k = 0; k < 3; k++) CHECK_STR(attr_of(w, k, "sloopClaim"), "");
  for (int k = 0; k < 3; k++) w->shards[k].epoch = 0;
  j.alive = 0;
  run(w, ROUND + LEASE + FW_S);
  CHECK_INT(owners(w, 0), 4);
  finish(w);
}

static int is_claimed(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++)
    if (attr_of(w, i, "sloopClaim")[0]) return 1;
  return 0;
}

/* It dies when it has asked: what is handed to its name is taken back when that is silent. */
TEST(a_worker_that_asked_and_died_keeps_nothing) {
  for (seed = 1; seed <= 8; seed++) {
    fw_world *w = fleet(4, 1);
    w->user_us_min = w->user_us_max = FW_S / 2;
    fw_start(w, 1, "short", 0);
    until(w, 3 * ROUND, is_claimed);
    fw_kill(w, 1);
    run(w, 2 * ROUND + 2 * LEASE);
    CHECK_INT(owners(w, 0), 4);
    CHECK(!is_claimed(w));
    finish(w);
  }
}

/* ---- applications of KCL 3 ---------------------------------------------------------------------- */

/* Where it can't go by an application's rules, a worker says so and has written nothing. */
static void refused(fw_world *w, const char *what) {
  uint64_t before = w->writes;
  fw_start(w, 0, "w0", 0);
  run(w, 10 * LEASE);
  CHECK_INT(w->failed, 1);
  CHECK_INT(w->writes, before);
  if (!strstr(w->told, what)) CHECK_FAIL("%s: %s", what, w->told);
  fw_reap(w);
  fw_free(w);
}

TEST(a_version_of_kcl_that_is_not_known_is_not_joined) {
  fw_world *w = world(4);
  fw_operator_set(w, "Migration3.0", "cv", "CLIENT_VERSION_4X");
  refused(w, "cv is \"CLIENT_VERSION_4X\"): this version is not known");
  w = fw_new_kcl_beside(seed, 4);
  fw_operator_put(w, 1, "Migration3.0", "cv", SLP_VAL_N, "3");
  refused(w, "KCL 3 (row Migration3.0 in app-CoordinatorState: cv is \"\"): this version is not known");
}

TEST(a_half_migrated_or_damaged_application_of_kcl_3_is_not_joined) {
  fw_world *w = fw_new_kcl_beside(seed, 4);
  fw_operator_put(w, 1, "Migration3.0", "cv", SLP_VAL_S, "CLIENT_VERSION_3X_WITH_ROLLBACK");
  fw_operator_put(w, 1, "TableMigration3.5", "tm", SLP_VAL_S, "TABLE_MIGRATION_STATUS_NEW");
  refused(w, "\"CLIENT_VERSION_3X_WITH_ROLLBACK\"): row TableMigration3.5: its state");
  w = world(4);
  fw_operator_set(w, "Migration3.0", "cv", "CLIENT_VERSION_3X");
  fw_operator_set(w, "Leader", "ownerName", "kA");
  fw_operator_set(w, "Leader", "recordVersionNumber", "r");
  fw_operator_number(w, "Leader", "leaseDuration", "120000");
  refused(w, "row Leader: its leaseDuration is no number of milliseconds");
}

/* ---- at rest ----------------------------------------------------------------------------------- */

TEST(an_idle_fleet_writes_renewals_only) {
  fw_world *w = fleet(20, 4);
  w->producing = 0;
  run(w, 10 * FW_S);
  uint64_t before = w->writes, lost = w->lost;
  run(w, 200 * FW_S);
  uint64_t writes = w->writes - before, due = 20 * 200 * FW_S / (LEASE / 3);
  fprintf(stderr, "     %llu writes in 200 s, %llu renewals are due\n", (unsigned long long)writes,
          (unsigned long long)due);
  CHECK(writes < due * 11 / 10 && w->lost == lost);
  finish(w);
}

/* A checkpoint moves the counter as well: a busy lease costs no more than an idle one. */
TEST(a_busy_fleet_writes_no_more) {
  fw_world *w = fleet(20, 4);
  uint64_t before = w->writes;
  run(w, 200 * FW_S);
  uint64_t writes = w->writes - before, due = 20 * 200 * FW_S / (LEASE / 3);
  fprintf(stderr, "     %llu writes in 200 s, %llu renewals are due\n", (unsigned long long)writes,
          (unsigned long long)due);
  CHECK(writes < due * 11 / 10);
  finish(w);
}
