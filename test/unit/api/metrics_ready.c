/* api/metrics_ready.c: when a consumer is not ready, and the reason given. */
#include "api/metrics_ready.h"

#include "check.h"

static slp_mem *mem;

/* Returns what /ready answers for the sample, valid until the next call; "": it is ready. */
static const char *said_of(const slp_sample *s) {
  static char text[9000];
  slp_buf why;
  slp_buf_init(&why, mem, sizeof text - 1);
  int ready = slp_ready(s, &why);
  CHECK_INT(ready, why.n == 0);
  snprintf(text, sizeof text, "%s", slp_buf_z(&why));
  slp_buf_free(&why);
  return text;
}

static const char *judged(const char *app, slp_reading reading, sloop_stats_t stats) {
  slp_sample s;
  mem = slp_mem_new(NULL, NULL);
  slp_sample_init(&s, mem);
  sloop_stats_t fine = {.joined_now = 1};
  CHECK_INT(slp_sample_add(&s, "app", "first", "", SLP_READING_RUNNING, &fine), 0);
  CHECK_INT(slp_sample_add(&s, app, "orders", "", reading, &stats), 0);
  const char *said = said_of(&s);
  slp_sample_free(&s);
  slp_mem_drop(mem);
  return said;
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
  slp_sample s;
  slp_sample_table t = {.up = 1};
  mem = slp_mem_new(NULL, NULL);
  slp_sample_init(&s, mem);
  CHECK_INT(slp_sample_add_table(&s, "app", "orders", -1, -1, "", &t), 0);
  CHECK_STR(said_of(&s), "");
  CHECK_INT(slp_sample_add_table(&s, "other", "orders", -1, -1, "no table", &t), 0);
  CHECK_STR(said_of(&s), "orders: no table");
  slp_sample_free(&s);
  slp_mem_drop(mem);
}

TEST(with_leases) {
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1)), "");
  CHECK_STR(judged("a", SLP_READING_RUNNING, STATS(0)), "orders: this worker has not joined its application");
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .suspended_now = 1)),
               "orders: suspended"));
  CHECK(strstr(judged("a", SLP_READING_RUNNING, STATS(.joined_now = 1, .holes_now = 2)),
               "there is a gap in the hash-key ranges"));
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
            "shard-1 is parked: no worker reads it until it is released");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_REFUSED, .state_ms = 2000)),
            "the service refused the position of shard-1 2 s ago: see --explain");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_WAITS_FOR_PARENT, .state_ms = -1)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_PAUSED, .state_ms = 900000)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_AT_TIP, .state_ms = 900000)), "");
  CHECK_STR(stuck(SHARD(.state = SLOOP_SHARD_IS_READ, .state_ms = -1)), "");
}

TEST(every_reason_is_told_with_how_many_shards_it_has) {
  static const sloop_shard_stats_t shards[] = {
      {.shard = "s1", .state = SLOOP_SHARD_FAILS, .state_ms = 61000, .error = "AccessDenied"},
      {.shard = "s2", .state = SLOOP_SHARD_IS_PARKED, .state_ms = 0},
      {.shard = "s3", .state = SLOOP_SHARD_FAILS, .state_ms = 90000, .error = "Throttling"},
      {.shard = "s4", .state = SLOOP_SHARD_FAILS, .state_ms = 1000, .error = "AccessDenied"}, /* not yet */
      {.shard = "s5", .state = SLOOP_SHARD_WAITS_FOR_YOU, .state_ms = 95000},
      {.shard = "s6", .state = SLOOP_SHARD_IS_AT_TIP, .state_ms = 95000},
      {.shard = "s7", .state = SLOOP_SHARD_FAILS, .state_ms = 60000, .error = "AccessDenied"}};
  slp_ready_shards all = {{{0}}};
  slp_buf b;
  slp_sample s;
  mem = slp_mem_new(NULL, NULL);
  slp_buf_init(&b, mem, 9000);
  CHECK_INT(slp_ready_put(&all, &b), 0);
  CHECK_INT(b.n, 0);
  for (size_t i = 0; i < SLP_COUNT(shards); i++) slp_ready_count(&all, &shards[i], 60000);
  slp_ready_count_refused(&all, "s8", 20000, 60000);
  CHECK_INT(slp_ready_put(&all, &b), 0);
#define STAND                                                                                            \
  "s5 has waited 95 s for this program to finish with records; s3 has failed for 90 s: Throttling (and " \
  "2 more shards); the service refused the position of s8 20 s ago: see --explain; s2 is parked: "       \
  "no worker reads it until it is released"
  CHECK_STR(slp_buf_z(&b), STAND);
  slp_sample_init(&s, mem);
  CHECK_INT(slp_sample_add(&s, "", "other", "", SLP_READING_STOPPED, &STATS(0)), 0);
  CHECK_INT(slp_sample_add(&s, "", "fine", "", SLP_READING_RUNNING, &STATS(0)), 0);
  CHECK_INT(
      slp_sample_add(&s, "a", "orders", "", SLP_READING_RUNNING, &STATS(.holes_now = 1, .suspended_now = 1)),
      0);
  CHECK_INT(slp_sample_set_stuck(&s, slp_buf_z(&b)), 0);
  CHECK_STR(
      said_of(&s),
      "other: stopped\norders: a part of the stream will not be read: there is a gap in the hash-key ranges; "
      "suspended: this worker can't renew its leases; this worker has not joined its application; " STAND);
  CHECK_INT(slp_ready_is(&s, &s.consumers[0]), 0);
  CHECK_INT(slp_ready_is(&s, &s.consumers[1]), 1);
  CHECK_INT(slp_ready_is(&s, &s.consumers[2]), 0);
  slp_sample_free(&s);
  slp_buf_free(&b);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(a_program_without_consumers_is_ready_and_a_long_name_is_cut) {
  char name[400];
  slp_sample s;
  mem = slp_mem_new(NULL, NULL);
  slp_sample_init(&s, mem);
  CHECK_STR(said_of(&s), "");
  memset(name, 'n', sizeof name);
  name[399] = 0;
  CHECK_INT(slp_sample_add(&s, "", name, "", SLP_READING_STOPPED, &STATS(0)), 0);
  CHECK_INT(strlen(said_of(&s)), 109);
  slp_sample_free(&s);
  slp_mem_drop(mem);
}
