/* until.c - when every shard has passed a time, by records and by silence. */
#include "cli/until.h"
#include "check.h"

static slp_mem *mem;
static slp_until u;
static const sloop_stats_t fine = {.tip_age_ms_now = 0};
static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_until_init(&u, mem, 1000);
}
static void end(void) {
  slp_until_free(&u);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(a_shard_passes_with_its_first_record_at_or_after_the_time) {
  begin();
  CHECK(!slp_until_all_passed(&u, &fine)); /* nothing is known */
  slp_until_shard(&u, "a", SLOOP_SHARD_OPENED);
  slp_until_shard(&u, "b", SLOOP_SHARD_OPENED);
  CHECK_INT(slp_until_passed(&u, "a", 999), 0);
  CHECK_INT(slp_until_passed(&u, "a", -1), 0);
  CHECK_INT(slp_until_passed(&u, "a", 1000), 1);
  CHECK_INT(slp_until_passed(&u, "a", 999), 1); /* comes after it: not printed either */
  CHECK(!slp_until_all_passed(&u, &fine));
  CHECK_INT(slp_until_passed(&u, "b", 5000), 1);
  CHECK(slp_until_all_passed(&u, &fine));
  end();
}

TEST(ended_shards_do_not_count_and_children_do) {
  begin();
  slp_until_shard(&u, "a", SLOOP_SHARD_OPENED);
  slp_until_shard(&u, "b", SLOOP_SHARD_OPENED);
  slp_until_passed(&u, "b", 1000);
  slp_until_shard(&u, "a", SLOOP_SHARD_ENDED);
  CHECK(slp_until_all_passed(&u, &fine));
  slp_until_shard(&u, "a1", SLOOP_SHARD_OPENED);
  CHECK(!slp_until_all_passed(&u, &fine));
  slp_until_shard(&u, "a1", SLOOP_SHARD_OPENED); /* told twice: once */
  slp_until_passed(&u, "a1", 2000);
  CHECK(slp_until_all_passed(&u, &fine));
  slp_until_shard(&u, "b", SLOOP_SHARD_STOPPED);
  slp_until_shard(&u, "b", SLOOP_SHARD_ENDED);
  CHECK(slp_until_all_passed(&u, &fine));
  for (int i = 0; i < 500; i++) {
    char name[20];
    snprintf(name, sizeof name, "s%d", i);
    slp_until_shard(&u, name, SLOOP_SHARD_OPENED);
    CHECK_INT(slp_until_passed(&u, name, 1000), 1);
  }
  CHECK(slp_until_all_passed(&u, &fine));
  end();
}

TEST(a_lease_that_goes_takes_what_was_passed_with_it) {
  begin();
  slp_until_shard(&u, "a", SLOOP_SHARD_OPENED);
  slp_until_passed(&u, "a", 1000);
  slp_until_shard(&u, "a", SLOOP_SHARD_RELEASED);
  slp_until_shard(&u, "a", SLOOP_SHARD_OPENED); /* and comes back, where its last owner was */
  CHECK_INT(slp_until_passed(&u, "a", 999), 0);
  slp_until_passed(&u, "a", 1000);
  slp_until_shard(&u, "a", SLOOP_SHARD_LOST);
  CHECK_INT(slp_until_passed(&u, "a", 999), 0);
  end();
}

TEST(of_each_shard_the_next_record_decides) {
  begin();
  slp_until_begin_round(&u);
  CHECK_INT(slp_until_next(&u, "a", 1000), 1);
  CHECK_INT(slp_until_next(&u, "b", 999), 0); /* late: it is to be printed, whatever follows it */
  CHECK_INT(slp_until_next(&u, "b", 1000), 0);
  CHECK_INT(slp_until_next(&u, "a", 1001), 0); /* told already */
  slp_until_begin_round(&u);
  CHECK_INT(slp_until_next(&u, "b", 1000), 1);
  for (int i = 0; i < 500; i++) {
    char name[20];
    snprintf(name, sizeof name, "s%d", i);
    CHECK_INT(slp_until_next(&u, name, 1000), 1);
    CHECK_INT(slp_until_next(&u, name, 1000), 0);
  }
  end();
}

#define S UINT64_C(1000000)

TEST(silence_counts_when_the_time_is_over_and_all_are_at_their_tip) {
  begin();
  sloop_stats_t st = {.shards_now = 3, .tip_age_ms_now = UINT64_MAX};
  CHECK(!slp_until_quiet(&u, &st, 0, 5000, 10 * S, 2000)); /* one is behind */
  CHECK(!slp_until_quiet(&u, &st, 0, 5000, 20 * S, 2000));
  st.tip_age_ms_now = 0;
  CHECK(!slp_until_quiet(&u, &st, 0, 1500, 30 * S, 2000)); /* not surely over: clocks differ */
  CHECK(!slp_until_quiet(&u, &st, 0, 2000, 40 * S, 2000)); /* the silence begins */
  CHECK(!slp_until_quiet(&u, &st, 0, 3999, 42 * S - 1, 2000));
  st.records++; /* something came */
  CHECK(!slp_until_quiet(&u, &st, 0, 4000, 42 * S, 2000));
  CHECK(!slp_until_quiet(&u, &st, 0, 5000, 43 * S, 2000));
  st.retries++; /* something failed */
  CHECK(!slp_until_quiet(&u, &st, 0, 6000, 44 * S, 2000));
  CHECK(!slp_until_quiet(&u, &st, 0, 7000, 46 * S - 1, 2000));
  CHECK(slp_until_quiet(&u, &st, 0, 8000, 46 * S, 2000));
  end();
}

TEST(a_shard_that_was_not_heard_of_keeps_those_that_have_passed_waiting) {
  begin();
  sloop_stats_t st = {.shards_now = 2, .tip_age_ms_now = UINT64_MAX}; /* the second is asked for its place */
  slp_until_shard(&u, "a", SLOOP_SHARD_OPENED);
  slp_until_passed(&u, "a", 1000);
  CHECK(!slp_until_all_passed(&u, &st));
  CHECK(!slp_until_quiet(&u, &st, 0, 9000, S, 0));
  CHECK(slp_until_all_passed(&u, &fine));
  end();
}

TEST(a_tip_counts_that_was_asked_for_after_the_time) {
  begin();
  sloop_stats_t st = {.shards_now = 2, .tip_age_ms_now = 12000}; /* a call that takes that long is out */
  CHECK(!slp_until_quiet(&u, &st, 1, 13999, S, 0));
  CHECK(!slp_until_quiet(&u, &st, 0, 13999, 9 * S, 2000));
  CHECK(slp_until_quiet(&u, &st, 1, 14000, S, 0));
  st.batches_now = 1; /* a slow reader of the output */
  CHECK(!slp_until_quiet(&u, &st, 0, 99000, 99 * S, 0));
  end();
}

TEST(a_tip_that_was_told_is_enough_at_once_when_no_silence_is_asked_for) {
  begin();
  sloop_stats_t st = {.shards_now = 0};
  CHECK(!slp_until_quiet(&u, &st, 0, 9000, S, 0));
  CHECK(slp_until_quiet(&u, &st, 1, 9000, S, 0));
  CHECK(!slp_until_quiet(&u, &st, 1, 1999, S, 0));
  end();
}
