/* fleet_entry.c - a worker before a table that may be another system's, or one that a program is at work
 * in which shares with nobody (src/guest/entry.c): whether it joins, when, and what it has written until
 * then. Leases of 2 s. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 60
#include "story/fleet_world.h"
#include "guest/guest_schemas.h"

static fw_world *motorways(uint64_t seed, int shards) { return fw_new_of(seed, shards, &fw_layout_motorway); }
#define WORLD motorways
#include "story/fleet_play.h"

#define SHARD "shardId-000000000000"
#define WATCHED_US (5 * FW_S)

static fw_world *rubys(void) { return fw_new_of(++seed, 2, &fw_layout_kcl_rb); }

static void put(fw_world *w, const char *attr, const char *text) {
  fw_operator_put(w, 0, SHARD, attr, SLP_VAL_S, text);
}
static void put_number(fw_world *w, const char *attr, const char *number) {
  fw_operator_put(w, 0, SHARD, attr, SLP_VAL_N, number);
}

static int is_out(fw_world *w) { return w->failed > 0; }

/* It is out and has said which row it was and why, before it wrote anything. */
static void refused(fw_world *w, const char *schema, const char *why) {
  fw_start(w, 0, "w0", 0);
  until(w, 20 * FW_S, is_out);
  run(w, 20 * FW_S);
  CHECK_INT(w->writes, 0);
  CHECK(strstr(w->told, schema) && strstr(w->told, SHARD));
  if (!strstr(w->told, why)) CHECK_FAIL("%s", w->told);
  fw_reap(w);
  fw_free(w);
}

/* ---- the rows of another system --------------------------------------------------------------------- */

TEST(a_table_of_kcl_rb_is_no_table_of_motorway) {
  fw_world *w = world(2);
  put(w, "assigned_to", "ruby-1");
  put(w, "lease_timeout", "2026-01-01 00:00:00 UTC");
  refused(w, "schema motorway", "it has not all of worker_id, heartbeat and checkpoint");
}

TEST(a_table_of_motorway_is_no_table_of_kcl_rb) {
  fw_world *w = rubys();
  put(w, "worker_id", "motorway-1");
  put_number(w, "heartbeat", "7");
  put_number(w, "checkpoint", "0");
  refused(w, "schema kcl-rb", "it has a worker_id or a heartbeat");
}

/* A row that is motorway's and damaged is left alone, and the others are read. */
TEST(one_damaged_row_keeps_nobody_out) {
  fw_world *w = world(2);
  put(w, "worker_id", "motorway-1");
  put(w, "heartbeat", "seven");
  put_number(w, "checkpoint", "0");
  fw_start(w, 0, "w0", 0);
  run(w, 20 * FW_S);
  CHECK_INT(w->failed, 0);
  CHECK(w->bad_rows > 0 && fw_owner_of(w, 1) == 0);
  CHECK_STR(fw_row(w, SHARD, "heartbeat"), "seven");
  fw_free(w);
}

/* ---- a program that shares with nobody -------------------------------------------------------------- */

/* It takes what is free, and gives it up again; each time it writes another time. */
static int second;
static void ruby_writes(void *arg) {
  fw_world *w = arg;
  char time[40];
  if (w->over) return;
  snprintf(time, sizeof time, "2026-01-01 00:00:%02d UTC", second++ % 60);
  put(w, "lease_timeout", time);
  slp_sim_at(w->sim, fw_now(w) + FW_S, ruby_writes, w);
}

TEST(a_kcl_rb_that_is_at_work_is_not_joined) {
  for (int owned = 0; owned < 2; owned++) {
    fw_world *w = rubys();
    if (owned) put(w, "assigned_to", "ruby-1");
    ruby_writes(w);
    refused(w, "schema kcl-rb", "a worker of the other system runs here");
  }
}

static int joined(fw_world *w) { return w->nodes[0]->joined; }

/* It was stopped, and is watched for some seconds before that counts. */
TEST(what_kcl_rb_left_behind_is_watched_and_then_taken) {
  fw_world *w = rubys();
  put(w, "lease_timeout", "2026-01-01 00:00:00 UTC");
  fw_start(w, 0, "w0", 0);
  run(w, WATCHED_US - FW_S / 2);
  CHECK(!joined(w));
  CHECK_INT(w->writes, 0);
  until(w, 2 * FW_S, joined);
  until(w, 20 * FW_S, fw_settled);
  fw_free(w);
}

TEST(a_table_without_rows_of_kcl_rb_is_joined_at_once) {
  fw_world *w = rubys();
  fw_start(w, 0, "w0", 0);
  until(w, FW_S, joined);
  fw_free(w);
}

/* While the table can't be read nothing is known of it, so nothing is written. */
TEST(a_table_that_can_not_be_read_is_asked_again) {
  fw_world *w = rubys();
  put(w, "lease_timeout", "2026-01-01 00:00:00 UTC");
  w->outage_until_us = fw_now(w) + 10 * FW_S;
  fw_start(w, 0, "w0", 0);
  run(w, 10 * FW_S + WATCHED_US - FW_S / 2);
  CHECK(!joined(w));
  CHECK_INT(w->writes, 0);
  until(w, 5 * FW_S, joined);
  fw_free(w);
}

/* The program begins when the worker has looked once. */
TEST(a_kcl_rb_that_begins_meanwhile_is_seen) {
  fw_world *w = rubys();
  put(w, "lease_timeout", "2026-01-01 00:00:00 UTC");
  fw_start(w, 0, "w0", 0);
  run(w, 2 * FW_S);
  CHECK(!joined(w));
  ruby_writes(w);
  until(w, 5 * FW_S, is_out);
  CHECK_INT(w->writes, 0);
  CHECK(strstr(w->told, "runs here"));
  fw_reap(w);
  fw_free(w);
}

/* ---- the rows of another stream, or of an application that names its leases in another way ---------- */

#define NAME "1:s:1700000000"

static slp_schema *open_named(slp_mem *mem) {
  slp_schema *s = slp_schema_kcl(mem, (slp_str){"", 0}, -1);
  if (s) SLP_CHECK(slp_schema_kcl_named(s, SLP_STR(NAME), (slp_str){NULL, 0}) == 0);
  return s;
}
static const fw_layout kcl_named = {"leaseOwner", open_named, 0, 0};

static fw_world *kcls(void) { return fw_new_of(++seed, 2, &kcl_named); }

static void put_lease(fw_world *w, const char *key) {
  fw_operator_put(w, 0, key, "leaseCounter", SLP_VAL_N, "7");
  fw_operator_put(w, 0, key, "checkpointSubSequenceNumber", SLP_VAL_N, "0");
  fw_operator_put(w, 0, key, "checkpoint", SLP_VAL_S, "TRIM_HORIZON");
}

TEST(a_shard_with_other_hash_keys_is_another_streams) {
  fw_world *w = kcls();
  put_lease(w, SHARD);
  put(w, "startingHashKey", "0");
  put(w, "endingHashKey", "12345");
  refused(w, "schema kcl", "has other hash keys than that shard");
}

TEST(checkpoints_from_before_the_stream_are_another_ones) {
  static const fw_layout *const layouts[] = {&fw_layout_vmware, &fw_layout_motorway, &fw_layout_kcl_rb};
  static const char *const attrs[] = {"Checkpoint", "checkpoint", "checkpoint"};
  static const char *const schemas[] = {"schema vmware-go-kcl", "schema motorway", "schema kcl-rb"};
  for (size_t i = 0; i < SLP_COUNT(layouts); i++) {
    fw_world *w = fw_new_of(++seed, 2, layouts[i]);
    put(w, attrs[i], "0"); /* each shard of this world begins at 1 */
    if (i == 1) put(w, "worker_id", "nobody");
    if (i == 1) put_number(w, "heartbeat", "7");
    refused(w, schemas[i], "is less than any number of its shard");
  }
}

TEST(kinsumers_too) {
  fw_world *w = fw_new_of(++seed, 2, &fw_layout_kinsumer);
  put(w, "SequenceNumber", "0");
  refused(w, "schema kinsumer", "is less than any number of its shard");
}

TEST(a_shard_that_the_stream_does_not_have_is_another_ones) {
  fw_world *w = kcls();
  put_lease(w, "shardId-000000000009");
  fw_start(w, 0, "w0", 0);
  until(w, 20 * FW_S, is_out);
  CHECK_INT(w->writes, 0);
  if (!strstr(w->told, "shardId-000000000009")) CHECK_FAIL("%s", w->told);
  fw_reap(w);
  fw_free(w);
}

/* The listing lacks the youngest shard, of which another worker has made a row, and has it some seconds
 * later. */
TEST(a_listing_that_is_late_keeps_nobody_out_for_ever) {
  fw_world *w = kcls();
  CHECK(fw_split(w, 0));
  w->unlisted = 2;
  put_lease(w, w->shards[3].id);
  fw_start(w, 0, "w0", 0);
  run(w, 3 * FW_S);
  CHECK_INT(w->failed, 0);
  CHECK_INT(w->writes, 0);
  w->unlisted = 0;
  until(w, 5 * FW_S, joined);
  fw_free(w);
}

TEST(rows_that_name_their_stream_beside_rows_that_do_not_are_joined_by_nobody) {
  fw_world *w = kcls();
  put_lease(w, SHARD);
  put_lease(w, NAME ":" SHARD);
  refused(w, "schema kcl", "two applications");
}

/* The rows stay as they are, and none is made beside them. */
TEST(rows_that_name_this_stream_are_joined) {
  fw_world *w = kcls();
  char key[64];
  for (int i = 0; i < 2; i++) {
    snprintf(key, sizeof key, NAME ":%s", w->shards[i].id);
    put_lease(w, key);
  }
  fw_start(w, 0, "w0", 0);
  run(w, 10 * FW_S);
  CHECK_INT(w->failed, 0);
  for (int i = 0; i < 2; i++) {
    snprintf(key, sizeof key, NAME ":%s", w->shards[i].id);
    CHECK(strncmp(fw_row(w, key, "leaseOwner"), "w0.", 3) == 0);
  }
  CHECK_INT(fw_rows_n(w, 0, ""), 2);
  fw_kill(w, 0);
  fw_free(w);
}
