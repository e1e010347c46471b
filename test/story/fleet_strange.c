/* fleet_strange.c - a fleet beside rows that it did not write: of a newer version, damaged, too long, of
 * nobody. They are named and left alone, nobody is robbed on their account, and nothing is asked for without
 * a pause. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 120
#include "lease/assignment.h"

#define WORLD fw_new
#include "story/fleet_play.h"

static const char long_text[] =
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    "01234567890123456789012345678901234567890123456789";

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

static void answered(slp_store_req *rq) { (void)rq; }

/* Somebody else writes what an intent says. */
static void write_row(fw_world *w, const slp_operation *i) {
  slp_store_write write;
  slp_row_request d;
  memset(&write, 0, sizeof write);
  slp_row_request_init(&d, w->mem, &write);
  slp_store_rows_init(&write.image, w->mem);
  CHECK(w->schema->write(w->schema, &d, i) == 0);
  write.rq.on_done = answered;
  w->server_store->ops->write(w->server_store, &write);
  slp_unpost(&write.rq.ev);
  write.rq.ev.run(&write.rq.ev);
  slp_store_rows_free(&write.image);
  slp_row_request_free(&d);
}

static char *row_of_worker(fw_world *w, int slot, char out[48]) {
  snprintf(out, 48, "w/%s", w->nodes[slot]->id);
  return out;
}

/* ---- newer versions ---------------------------------------------------------------------------- */

static void newer(int leads) {
  fw_world *w = fleet(6, 3);
  int slot = leads ? leader(w) : follower(w);
  char row[48];
  fw_operator_number(w, row_of_worker(w, slot, row), "fmt", "4");
  uint64_t before = reads(w), from = fw_now(w);
  run(w, 4 * LEASE);
  fw_start(w, 5, "new", 0); /* a plan, without that one */
  run(w, 8 * LEASE);
  CHECK(w->bad_rows > 0 && w->evictions == 0 && w->evicted == 0 && w->lost == 0 && repeats(w) == 0);
  uint64_t a_second = (reads(w) - before) * FW_S / (fw_now(w) - from);
  if (a_second > 4 * 15) CHECK_FAIL("%llu reads a second", (unsigned long long)a_second);
  run(w, 70 * FW_S); /* an audit */
  snprintf(row, sizeof row, "a/%s", w->nodes[slot]->id);
  CHECK(strlen(fw_row(w, row, "v")) > 0);
  fw_operator_number(w, row_of_worker(w, slot, row), "fmt", "1");
  run(w, 70 * FW_S);
  finish(w);
}
TEST(a_leader_of_a_newer_version_is_not_taken_for_dead) { newer(1); }
TEST(a_worker_of_a_newer_version_is_not_robbed) { newer(0); }

/* ---- names that can't be --------------------------------------------------------------------------- */

static void all_progress(fw_world *w) {
  for (int i = 0; i < w->shards_n; i++) {
    if (w->shards[i].acked + 20 <= w->shards[i].records)
      CHECK_FAIL("%s is read to %llu of %llu", w->shards[i].id, (unsigned long long)w->shards[i].acked,
                 (unsigned long long)w->shards[i].records);
  }
}

TEST(a_lease_of_no_possible_shard_is_left_alone) {
  fw_world *w = fleet(4, 2);
  char row[192];
  snprintf(row, sizeof row, "l/%s", long_text);
  fw_operator_set(w, row, "pos", "0:oldest");
  fw_operator_number(w, row, "epoch", "0");
  run(w, 70 * FW_S);
  all_progress(w);
  CHECK(w->bad_rows > 0);
  CHECK_STR(fw_row(w, row, "pos"), "0:oldest");
  fw_operator_delete(w, row);
  finish(w);
}

static void ghost(const char *id, const char *incarnation) {
  fw_world *w = fleet(6, 2);
  char row[192];
  snprintf(row, sizeof row, "w/%s", id);
  fw_operator_set(w, row, "boot", incarnation);
  fw_operator_number(w, row, "ctr", "1");
  fw_operator_number(w, row, "lease", "2000");
  fw_kill(w, follower(w)); /* some are homeless */
  run(w, 70 * FW_S);
  all_progress(w);
  fw_operator_delete(w, row);
  finish(w);
}
TEST(nothing_is_planned_for_a_worker_whose_id_is_too_long) { ghost(long_text, "0123456789abcdef"); }
TEST(nothing_is_planned_for_a_worker_whose_boot_is_too_long) { ghost("ghost", long_text); }

TEST(a_will_of_what_can_be_no_shard_is_not_read_again_and_again) {
  fw_world *w = fleet(4, 2);
  slp_str shards[] = {{long_text, sizeof long_text - 1}};
  int slot = leader(w);
  slp_str id = slp_str_of(w->nodes[slot]->id), other = slp_str_of(w->nodes[follower(w)]->id);
  write_row(w, &(slp_operation){.kind = SLP_OPERATION_PROPOSE, .id = other, .shards = shards, .shards_n = 1});
  uint64_t before = reads(w), from = fw_now(w);
  slp_assignment_read(w->nodes[follower(w)]->fleet);
  run(w, 4 * FW_S);
  uint64_t a_second = (reads(w) - before) * FW_S / (fw_now(w) - from);
  if (a_second > 2 * 15) CHECK_FAIL("%llu reads a second", (unsigned long long)a_second);
  write_row(w, &(slp_operation){.kind = SLP_OPERATION_NOTIFY, .id = id});
  run(w, 5 * FW_S);
  finish(w);
}

/* ---- rows that lack something ------------------------------------------------------------------ */

TEST(a_damaged_row_is_not_made_anew) {
  fw_world *w = world(4);
  char row[64];
  fw_row_of(w, 1, row);
  fw_operator_set(w, row, "pos", "0:oldest"); /* and no epoch */
  fw_operator_set(w, row, "note", "kept");
  start(w, 2);
  run(w, 70 * FW_S);
  CHECK_STR(fw_row(w, row, "note"), "kept");
  CHECK(w->bad_rows > 0 && w->trouble == 0);
  fw_operator_number(w, row, "epoch", "0");
  run(w, 70 * FW_S);
  finish(w);
}

TEST(leadership_that_nobody_can_have_is_noticed_when_it_is_mended) {
  fw_world *w = fleet(4, 2);
  fw_operator_set(w, "lead", "owner", "nobody");
  run(w, 130 * FW_S);
  CHECK_INT(leader(w), -1);
  fw_operator_delete(w, "lead");
  run(w, 130 * FW_S);
  CHECK(leader(w) >= 0);
  finish(w);
}

/* A worker that seeks the leadership finds a row that can't be read. */
TEST(a_damaged_row_of_the_leader_waits_for_an_operator) {
  fw_world *w = fleet(4, 2);
  fw_operator_set(w, "lead", "epoch", "many");
  fw_kill(w, leader(w));
  run(w, 30 * FW_S);
  CHECK_INT(leader(w), -1);
  CHECK(w->bad_rows > 0);
  CHECK_STR(fw_row(w, "lead", "epoch"), "many");
  fw_operator_number(w, "lead", "epoch", "9");
  run(w, 30 * FW_S);
  CHECK(leader(w) >= 0);
  finish(w);
}

/* A row that a newer version wrote is never written over, not even to join. */
TEST(a_worker_whose_own_row_is_of_a_newer_version_stays_out) {
  fw_world *w = fleet(4, 2);
  fw_operator_set(w, "w/new", "boot", "0123456789abcdef");
  fw_operator_number(w, "w/new", "fmt", "4");
  fw_start(w, 5, "new", 0);
  run(w, 5 * FW_S);
  CHECK_INT(w->failed, 1);
  CHECK_STR(fw_row(w, "w/new", "fmt"), "4");
  CHECK_STR(fw_row(w, "w/new", "ctr"), "");
  fw_reap(w);
  all_progress(w);
  fw_operator_delete(w, "w/new");
  finish(w);
}

/* Its boot is a number, so no write finds it as it was read: neither can it be evicted. */
TEST(a_row_of_its_own_id_that_can_t_be_evicted_is_tried_at_a_pace) {
  fw_world *w = fleet(4, 1);
  char row[48];
  fw_operator_number(w, row_of_worker(w, 0, row), "boot", "1");
  run(w, 4 * LEASE);
  uint64_t writes = w->writes, before = reads(w), from = fw_now(w);
  run(w, 20 * LEASE);
  double s = (double)(fw_now(w) - from) / FW_S;
  if ((double)(w->writes - writes) > 2 * s)
    CHECK_FAIL("%.1f writes a second", (double)(w->writes - writes) / s);
  if ((double)(reads(w) - before) > 4 * s) CHECK_FAIL("%.1f reads a second", (double)(reads(w) - before) / s);
  fw_operator_delete(w, row);
  run(w, 3 * LEASE);
  finish(w);
}

/* Two processes were given one id and begin at once: both find no row, and write it. */
TEST(of_two_processes_with_one_id_one_joins_and_the_other_says_why_not) {
  int faster = 0;
  for (seed = 1; seed <= 12; seed++) {
    fw_world *w = world(4);
    fw_start(w, 0, "twin", 0);
    fw_start(w, 1, "twin", 0);
    run(w, 4 * LEASE);
    CHECK_INT(w->nodes[0]->joined + w->nodes[1]->joined, 1);
    CHECK_INT(w->failed, 1);
    CHECK_INT(w->evictions, 0);
    faster += w->nodes[0]->joined;
    fw_reap(w);
    finish(w);
  }
  CHECK(faster > 0 && faster < 12);
}

/* The assignments made before stay. */
TEST(a_damaged_plan_takes_no_lease_from_its_worker) {
  fw_world *w = fleet(6, 2);
  int slot = follower(w);
  uint64_t lost = w->lost;
  write_row(w, &(slp_operation){.kind = SLP_OPERATION_ASSIGN,
                                .id = slp_str_of(w->nodes[slot]->id),
                                .version = UINT64_C(1) << 40,
                                .leases = 6,
                                .set = SLP_STR("\377\377\377\377")});
  uint64_t bad = w->bad_rows;
  slp_assignment_read(w->nodes[slot]->fleet);
  run(w, 3 * FW_S);
  CHECK(w->bad_rows > bad);
  CHECK(w->lost == lost && repeats(w) == 0);
  run(w, 70 * FW_S); /* an audit writes a new one */
  finish(w);
}
