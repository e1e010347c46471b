/* api/metrics_ready.c: when a consumer is not ready, and the reason given. */
#include "api/metrics_ready.h"

#include "check.h"

static const char *judged(const char *app, slp_reading reading, sloop_stats_t stats) {
  static char why[SLP_READY_WHY];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_sample s;
  slp_sample_init(&s, mem);
  sloop_stats_t fine = {.joined_now = 1};
  CHECK_INT(slp_sample_add(&s, "app", "first", "", SLP_READING_RUNNING, &fine), 0);
  CHECK_INT(slp_sample_add(&s, app, "orders", "", reading, &stats), 0);
  CHECK_INT(slp_ready(&s, why), why[0] == 0);
  slp_sample_free(&s);
  slp_mem_drop(mem);
  return why;
}
#define STATS(...) ((sloop_stats_t){__VA_ARGS__})

TEST(without_leases) {
  CHECK_STR(judged("", SLP_READING_RUNNING, STATS(0)), "");
  CHECK_STR(judged("", SLP_READING_NOT_STARTED, STATS(0)), "orders: not started");
  CHECK_STR(judged("", SLP_READING_FINDING, STATS(0)), "orders: its shards are not known yet");
  CHECK_STR(judged("", SLP_READING_STOPPING, STATS(0)), "orders: stopping");
  CHECK_STR(judged("", SLP_READING_STOPPED, STATS(0)), "orders: stopped");
  CHECK(strstr(judged("", SLP_READING_FAILED, STATS(0)), "orders: it failed"));
}

TEST(a_lease_table_that_is_read) {
  char why[SLP_READY_WHY];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_sample s;
  slp_sample_table t = {.up = 1};
  slp_sample_init(&s, mem);
  CHECK_INT(slp_sample_add_table(&s, "app", "orders", -1, -1, "", &t), 0);
  CHECK_INT(slp_ready(&s, why), 1);
  CHECK_INT(slp_sample_add_table(&s, "other", "orders", -1, -1, "no table", &t), 0);
  CHECK_INT(slp_ready(&s, why), 0);
  CHECK_STR(why, "orders: no table");
  slp_sample_free(&s);
  slp_mem_drop(mem);
}

TEST(with_leases) {
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1)), "");
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(0)), "orders: this worker has not joined its application");
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .suspended_now = 1)),
               "orders: suspended"));
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .holes_now = 2)), "there is a hole"));
  CHECK_STR(judged("a", SLP_READING_STOPPED, STATS(.joined_now = 1)), "orders: stopped");
}

static const char *stuck(sloop_shard_stats_t shard) {
  static char why[SLP_READY_WHY];
  shard.shard = "shard-1";
  CHECK_INT(slp_ready_is_stuck(&shard, 60000, why), why[0] != 0);
  return why;
}
#define SHARD(...) ((sloop_shard_stats_t){__VA_ARGS__})

TEST(a_shard_without_progress) {
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_FAILS, .state_ms = 59999, .error = "AccessDenied")), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_FAILS, .state_ms = 61000, .error = "AccessDenied")),
            "shard-1 has failed for 61 s: AccessDenied");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_GIVEN_UP, .state_ms = 61000, .error = "InvalidArgument")),
            "shard-1 was given up 61 s ago: InvalidArgument");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_WAITS_FOR_YOU, .state_ms = 61000)),
            "shard-1 has waited 61 s for this program to finish with records");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_WAITS_FOR_ANOTHER, .state_ms = 61000, .other = "shard-2")),
            "shard-1 has waited 61 s for records of shard-2 in the order by time");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_PARKED, .state_ms = 0)),
            "shard-1 is parked: nobody reads it until it is released");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_REFUSED, .state_ms = 2000)),
            "the service refused the position of shard-1 2 s ago: --explain says more");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_WAITS_FOR_PARENT, .state_ms = -1)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_PAUSED, .state_ms = 900000)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_AT_TIP, .state_ms = 900000)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_READ, .state_ms = -1)), "");
}

TEST(a_program_without_consumers_is_ready_and_a_long_name_is_cut) {
  char why[SLP_READY_WHY], name[400];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_sample s;
  slp_sample_init(&s, mem);
  CHECK_INT(slp_ready(&s, why), 1);
  memset(name, 'n', sizeof name);
  name[399] = 0;
  CHECK_INT(slp_sample_add(&s, "", name, "", SLP_READING_STOPPED, &STATS(0)), 0);
  CHECK_INT(slp_ready(&s, why), 0);
  CHECK_INT(strlen(why), 109);
  slp_sample_free(&s);
  slp_mem_drop(mem);
}
