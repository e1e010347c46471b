/* fleet_spread.c - leases under several partition keys: made, taken over, split, beside a table from before that,
 * a row of leadership that an operator deletes, a worker of the former version. SCENE_TRACE=1 prints what
 * happens. */
#define CHECK_SECONDS 120
#include "lease/fleet_inside.h"
#include "story/fleet_world.h"

static uint32_t leases_a_key;

static fw_world *new_world(uint64_t seed, int shards);
#define WORLD new_world
#include "story/fleet_play.h"

static fw_world *new_world(uint64_t seed_now, int shards) {
  fw_world *w = fw_new(seed_now, shards);
  w->leases_a_key = leases_a_key;
  return w;
}

static void answered(slp_store_req *rq) { (void)rq; }

static int keys_used(fw_world *w) {
  int n = 0;
  for (int k = 1; k < 16; k++) {
    char key[16];
    snprintf(key, sizeof key, "app+%d", k);
    n += fw_rows_n(w, 0, key) > 0;
  }
  return n;
}

/* Two shards a key: eight shards lie under four. */
TEST(leases_lie_under_several_keys_and_go_on_when_workers_die) {
  for (seed = 1; seed <= 6; seed++) {
    leases_a_key = 2;
    fw_world *w = fleet(8, 3);
    CHECK_INT(keys_used(w), 3);
    CHECK_STR(fw_row(w, "lead", "keys"), "16");
    CHECK_STR(fw_row(w, "lead", "block"), "2");
    CHECK_STR(fw_row(w, "lead", "fmt"), "2");
    CHECK_STR(fw_row(w, "w/w0", "fmt"), "2");
    fw_kill(w, leader(w));
    settle(w, 30 * FW_S);
    fw_leave(w, leader(w), 5000);
    settle(w, 30 * FW_S);
    fw_reap(w);
    fw_start(w, 5, "late", 0);
    settle(w, 30 * FW_S);
    finish(w);
  }
}

/* FNV-1a of shardId-000000000000 to 7, modulo 16: 1 14 11 8 13 10 7 4. */
TEST(leases_lie_where_the_hash_of_their_shards_name_says) {
  for (seed = 1; seed <= 6; seed++) {
    leases_a_key = FW_BY_HASH;
    fw_world *w = fleet(8, 3);
    CHECK_INT(keys_used(w), 8);
    CHECK_STR(fw_row(w, "lead", "keys"), "16");
    CHECK_STR(fw_row(w, "lead", "block"), "");
    CHECK_STR(fw_row(w, "lead", "fmt"), "3");
    CHECK_STR(fw_row(w, "w/w0", "fmt"), "3");
    fw_kill(w, leader(w));
    settle(w, 30 * FW_S);
    fw_start(w, 5, "late", 0);
    settle(w, 30 * FW_S);
    CHECK(fw_split(w, 7));
    settle(w, 60 * FW_S);
    CHECK_INT(w->bad_rows, 0);
    finish(w);
  }
}

static int first_has_ended(fw_world *w) { return w->pos[0].kind == SLP_POSITION_END; }

/* The parent is under the first key, its children are under another one that had no lease before. */
TEST(a_split_goes_into_a_key_that_was_not_used) {
  for (seed = 1; seed <= 6; seed++) {
    leases_a_key = 4;
    fw_world *w = fleet(4, 3);
    CHECK_INT(keys_used(w), 0);
    CHECK(fw_split(w, 0));
    until(w, 60 * FW_S, first_has_ended);
    CHECK_INT(keys_used(w), 1);
    settle(w, 100 * FW_S); /* by the next shard sync */
    CHECK(fw_merge(w, 4, 5));
    settle(w, 100 * FW_S);
    finish(w);
  }
}

static void stop_all_workers(fw_world *w) {
  for (int i = 0; i < FW_NODES; i++) fw_leave(w, i, 5000);
  run(w, 10 * FW_S);
  fw_reap(w);
}

/* A table from before leases were spread: its row of leadership does not say a word of keys. */
static fw_world *older_table(int shards) {
  leases_a_key = 0;
  fw_world *w = fleet(shards, 2);
  CHECK_STR(fw_row(w, "lead", "keys"), "");
  CHECK_STR(fw_row(w, "lead", "fmt"), "1");
  w->leases_a_key = 2;
  return w;
}

TEST(a_table_from_before_stays_as_it_is) {
  for (seed = 1; seed <= 6; seed++) {
    fw_world *w = older_table(8);
    fw_start(w, 4, "newer", 0);
    settle(w, 30 * FW_S);
    fw_kill(w, 0);
    fw_kill(w, 1);
    fw_start(w, 5, "newest", 0);
    settle(w, 30 * FW_S);
    CHECK(fw_split(w, 7));
    settle(w, 60 * FW_S);
    CHECK_INT(keys_used(w), 0);
    CHECK_STR(fw_row(w, "lead", "keys"), "");
    CHECK_STR(fw_row(w, "w/newest", "fmt"), "1");
    CHECK_INT(w->bad_rows, 0);
    finish(w);
  }
}

/* Nobody runs who could say how it was: leases where they would not be if they were spread tell it. */
TEST(a_table_from_before_stays_as_it_is_without_its_row_of_leadership) {
  fw_world *w = older_table(8);
  stop_all_workers(w);
  fw_operator_delete(w, "lead");
  fw_start(w, 4, "newer", 0);
  settle(w, 30 * FW_S);
  CHECK_INT(keys_used(w), 0);
  CHECK_STR(fw_row(w, "lead", "keys"), "");
  CHECK_INT(w->bad_rows, 0);
  finish(w);
}

TEST(leases_stay_spread_without_the_row_of_leadership) {
  for (int running = 0; running < 2; running++) {
    leases_a_key = 2;
    fw_world *w = fleet(8, 2);
    if (!running) stop_all_workers(w);
    fw_operator_delete(w, "lead");
    fw_start(w, 4, "newer", 0);
    settle(w, 70 * FW_S);
    CHECK_STR(fw_row(w, "lead", "keys"), "16");
    CHECK_INT(keys_used(w), 3);
    CHECK_INT(w->bad_rows, 0);
    finish(w);
  }
}

/* It would look for leases under the first key. The row of its own is all that it can write: its format says
 * that nothing may be given to it, and it is evicted like any other when it dies. */
TEST(a_worker_of_the_former_version_is_given_nothing) {
  leases_a_key = 2;
  fw_world *w = fleet(8, 2);
  fw_operator_number(w, "w/older", "ctr", "1");
  fw_operator_number(w, "w/older", "lease", "2000");
  fw_operator_number(w, "w/older", "fmt", "1");
  fw_operator_set(w, "w/older", "st", "run");
  fw_operator_set(w, "w/older", "boot", "0123456789abcdef");
  for (int i = 0; i < 20; i++) {
    char ctr[8];
    snprintf(ctr, sizeof ctr, "%d", i + 2);
    fw_operator_number(w, "w/older", "ctr", ctr);
    run(w, FW_S);
  }
  CHECK_STR(fw_row(w, "w/older", "gone"), "");
  CHECK_STR(fw_row(w, "a/older", "v"), "");
  CHECK(fw_settled(w));
  run(w, 5 * FW_S);
  CHECK(fw_row(w, "w/older", "gone")[0] != 0);
  finish(w);
}

/* It made the row of leadership in the moment in which this one had found none. */
TEST(what_was_assumed_gives_way_to_the_row_that_another_made) {
  leases_a_key = 2;
  fw_world *w = world(8);
  w->faults.rt_us_min = w->faults.rt_us_max = 40000;
  start(w, 1);
  run(w, 170000); /* it has found no row of leadership and no lease, and registers */
  CHECK_INT(w->nodes[0]->fleet->spread.state, SLP_SPREAD_ASSUMED);
  fw_operator_number(w, "lead", "epoch", "1");
  fw_operator_number(w, "lead", "fmt", "1");
  fw_operator_set(w, "lead", "start", "0:oldest");
  settle(w, 30 * FW_S);
  CHECK_STR(fw_row(w, "lead", "keys"), "");
  CHECK_INT(keys_used(w), 0);
  run(w, 2 * LEASE);
  CHECK_STR(fw_row(w, "w/w0", "fmt"), "1"); /* by then its heartbeat has said so */
  CHECK_INT(w->bad_rows, 0);
  finish(w);
}

/* A lease that somebody has put where nobody looks is named and left alone, and nothing is read two times. */
TEST(a_lease_under_the_wrong_key_is_named_and_left_alone) {
  leases_a_key = 2;
  fw_world *w = fleet(4, 2);
  w->may_stray = 1;
  slp_change pos = {SLP_STR("pos"), SLP_SET, {.kind = SLP_VAL_S, .s = SLP_STR("0:oldest")}};
  slp_change epoch = {SLP_STR("epoch"), SLP_SET, {.kind = SLP_VAL_N, .s = SLP_STR("0")}};
  slp_change changes[] = {pos, epoch};
  slp_store_write u = {.rq.on_done = answered, .kind = SLP_WRITE_UPDATE, .changes = changes, .changes_n = 2};
  u.key = (slp_row_key){SLP_STR("app"), SLP_STR("s@1/l/shardId-000000000002")};
  slp_store_rows_init(&u.image, w->mem);
  w->server_store->ops->write(w->server_store, &u);
  slp_unpost(&u.rq.ev);
  u.rq.ev.run(&u.rq.ev);
  slp_store_rows_free(&u.image);
  run(w, 70 * FW_S);
  CHECK(w->bad_rows > 0);
  CHECK_INT(fw_rows_n(w, 0, "app+1"), 2);
  finish(w);
}
