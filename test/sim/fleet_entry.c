/* fleet_entry.c - a worker before a table that may be another system's, or one that a program is at work in which
 * shares with nobody (src/lease/entry.c): whether it joins, when, and what it has written until then. Leases of
 * 2 s. SCENE_TRACE=1 prints what happens. */
#define CHECK_SECONDS 60
#include "sim/fleet_world.h"

static fw_world *motorways(uint64_t seed, int shards) { return fw_new_of(seed, shards, &fw_layout_motorway); }
#define WORLD motorways
#include "sim/fleet_play.h"

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
    refused(w, "schema kcl-rb", "a worker of the other system is at work here");
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
  CHECK(strstr(w->told, "is at work here"));
  fw_reap(w);
  fw_free(w);
}
