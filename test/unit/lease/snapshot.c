/* lease/snapshot.c: rows of every kind in any order are sorted by what they are, and found again. */
#include "lease/snapshot.h"
#include "store/schema_sloop.h"

#include "check.h"

#define INCARNATION "0123456789abcdef"

static slp_mem *mem;
static slp_store_rows rows;
static slp_schema *schema;

/* "name=text" or "name#number", apart by spaces. */
static void add(const char *row, const char *text) {
  char range[80], copy[300];
  slp_attr attrs[12] = {{SLP_STR("app"), {SLP_VAL_S, SLP_STR("shop"), NULL, 0}}};
  size_t n = 2;
  snprintf(range, sizeof range, "orders@1700000000/%s", row);
  snprintf(copy, sizeof copy, "%s", text);
  attrs[1] = (slp_attr){SLP_STR("row"), {SLP_VAL_S, slp_str_of(range), NULL, 0}};
  for (char *a = strtok(copy, " "); a; a = strtok(NULL, " "), n++) {
    char *v = a + strcspn(a, "=#");
    slp_val_kind kind = *v == '#' ? SLP_VAL_N : SLP_VAL_S;
    *v = 0;
    attrs[n] = (slp_attr){slp_str_of(a), {kind, slp_str_of(v + 1), NULL, 0}};
  }
  slp_row r = {attrs, n};
  CHECK_INT(slp_store_rows_copy(&rows, &r), 0);
}

static void worker(const char *row, const char *more) {
  char text[200];
  snprintf(text, sizeof text, "boot=" INCARNATION " ctr#7 lease#10000 st=%s cap#1 held#2 fmt#1", more);
  add(row, text);
}

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_store_rows_init(&rows, mem);
  schema = slp_schema_sloop(mem, SLP_STR("shop"), SLP_STR("orders"), SLP_STR("1700000000"));
  CHECK(schema != NULL);
}

static void end(void) {
  schema->free(schema);
  slp_store_rows_free(&rows);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static uint32_t keys_of_rows(void) {
  slp_spread s = slp_spread_of_rows(schema, &rows);
  CHECK(!slp_is_spread(&s) || s.block == 4 || s.block == 7);
  CHECK(!slp_is_spread(&schema->spread)); /* asking changes nothing */
  return s.keys;
}

TEST(rows_tell_under_how_many_keys_leases_lie) {
  begin();
  CHECK_INT(keys_of_rows(), 1);
  slp_schema_sloop_spreads(schema, 4);
  CHECK_INT(keys_of_rows(), 16);
  add("l/shardId-000000000003", "epoch#5 pos=0:oldest"); /* it lies there in both */
  CHECK_INT(keys_of_rows(), 16);
  add("l/shardId-000000000004", "epoch#5 pos=0:oldest");
  CHECK_INT(keys_of_rows(), 1);
  add("lead", "epoch#3 start=0:oldest fmt#2 keys#9 block#7"); /* who made that row knew it */
  CHECK_INT(keys_of_rows(), 9);
  end();
  begin();
  slp_schema_sloop_spreads(schema, 4);
  add("lead", "epoch#3 start=0:oldest fmt#1");
  CHECK_INT(keys_of_rows(), 1);
  end();
}

/* Number 1413562048512 / 512 is 0 of 16; the hash of its name puts it elsewhere. */
TEST(rows_tell_whether_leases_of_a_tables_stream_are_spread_by_their_hash) {
  begin();
  slp_schema_sloop_spreads_by_hash(schema);
  slp_spread s = slp_spread_of_rows(schema, &rows);
  CHECK(s.keys == 16 && !s.block);
  add("l/shardId-00000001413562048512-2bac9cd2", "epoch#5 pos=0:oldest");
  s = slp_spread_of_rows(schema, &rows);
  CHECK(s.keys == 16 && s.block == 512);
  add("l/shardId-00000001413562049536-2bac9cd2", "epoch#5 pos=0:oldest");
  CHECK_INT(slp_spread_of_rows(schema, &rows).keys, 1);
  add("lead", "epoch#3 start=0:oldest fmt#3 keys#9");
  s = slp_spread_of_rows(schema, &rows);
  CHECK(s.keys == 9 && !s.block);
  end();
}

TEST(rows_are_sorted_by_what_they_are) {
  slp_snapshot s;
  begin();
  worker("w/b", "leave");
  add("l/s2", "epoch#5 pos=0:oldest");
  add("l/s9", "epoch#5 pos=nowhere");
  add("x/y", "a=b"); /* of somebody else */
  add("lead", "owner=a." INCARNATION " epoch#3 start=0:oldest fmt#1");
  worker("w/a", "run");
  add("l/s1", "epoch#4 pos=9:end");
  add("w/c", "ctr=seven");
  CHECK_INT(slp_snapshot_make(&s, schema, &rows), 0);
  CHECK(s.leases_n == 2 && s.workers_n == 2 && s.bad_n == 2 && s.assignments_n == 0);
  CHECK(slp_str_eq(s.leases[0].shard, SLP_STR("s1")) && slp_str_eq(s.leases[1].shard, SLP_STR("s2")));
  CHECK(slp_str_eq(s.workers[0].id, SLP_STR("a")) && slp_str_eq(s.workers[1].id, SLP_STR("b")));
  CHECK(s.leadership_there && s.leadership.epoch == 3);
  CHECK(slp_str_eq(s.bad[0].name, SLP_STR("s9")) && slp_str_eq(s.bad[1].name, SLP_STR("c")));
  CHECK_STR(s.bad[0].why, "its position can't be understood");
  CHECK(slp_snapshot_is_bad(&s, SLP_STR("s9")) && !slp_snapshot_is_bad(&s, SLP_STR("s1")));
  end();
}

TEST(rows_are_found) {
  slp_snapshot s;
  begin();
  worker("w/b", "leave");
  worker("w/a", "run");
  add("l/s1", "epoch#4 pos=9:end");
  CHECK_INT(slp_snapshot_make(&s, schema, &rows), 0);
  CHECK(slp_snapshot_lease_of(&s, SLP_STR("s1")) == &s.leases[0]);
  CHECK(!slp_snapshot_lease_of(&s, SLP_STR("s2")) && !slp_snapshot_lease_of(&s, SLP_STR("")));
  CHECK(slp_snapshot_worker(&s, SLP_STR("b")) == &s.workers[1]);
  CHECK(!slp_snapshot_worker(&s, SLP_STR("b." INCARNATION)));
  CHECK(slp_snapshot_instance(&s, SLP_STR("b." INCARNATION)) == &s.workers[1]);
  CHECK(!slp_snapshot_instance(&s, SLP_STR("b.fedcba9876543210")) &&
        !slp_snapshot_instance(&s, SLP_STR("b")));
  CHECK(!slp_snapshot_worker_of(&s, SLP_STR("b." INCARNATION))); /* it leaves */
  CHECK(slp_snapshot_worker_of(&s, SLP_STR("a." INCARNATION)) == &s.workers[0]);
  end();
}

TEST(an_empty_table) {
  slp_snapshot s;
  begin();
  CHECK_INT(slp_snapshot_make(&s, schema, &rows), 0);
  CHECK(!s.leases_n && !s.workers_n && !s.leadership_there);
  CHECK(!slp_snapshot_lease_of(&s, SLP_STR("s1")) && !slp_snapshot_worker(&s, SLP_STR("a")));
  end();
}
