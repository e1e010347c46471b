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

TEST(with_leases) {
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1)), "");
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(0)), "orders: this worker has not joined its application");
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .suspended_now = 1)),
               "orders: suspended"));
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .holes_now = 2)), "there is a hole"));
  CHECK_STR(judged("a", SLP_READING_STOPPED, STATS(.joined_now = 1)), "orders: stopped");
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
