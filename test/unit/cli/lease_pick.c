/* lease_pick.c - names of shards and workers as people write them. */
#include "cli/lease_pick.h"
#include "check.h"
#include "leases_sample.h"

static slp_lease_pick pick;

#define CHECK_FINDS(given, workers, want)           \
  do {                                              \
    slp_lease_find(&sample, given, workers, &pick); \
    CHECK_STR(pick.name, want);                     \
    CHECK(!pick.second);                            \
  } while (0)

TEST(shards) {
  CHECK_FINDS("shardId-000000000003", 0, "shardId-000000000003");
  CHECK_FINDS("1", 0, "shardId-000000000001"); /* its number, though 11 and 21 end so too */
  CHECK_FINDS("21", 0, "shardId-000000000021");
  CHECK_FINDS("0011", 0, "shardId-000000000011");
  slp_lease_find(&sample, "00000000000000", 0, &pick); /* no number is so long */
  CHECK_STR(pick.name, "00000000000000");
  slp_lease_find(&sample, "d-000000000002", 0, &pick);
  CHECK_STR(pick.name, "shardId-000000000002");
  slp_lease_find(&sample, "", 0, &pick);
  CHECK(pick.second);
}

TEST(ends_that_two_have) {
  static const sloop_lease_t two[] = {{.shard = "shardId-00000001-abc"}, {.shard = "shardId-00000002-abc"}};
  static const sloop_lease_t *const at[] = {&two[0], &two[1]};
  static const sloop_leases_t all = {.leases = at, .leases_n = 2};
  slp_lease_find(&all, "abc", 0, &pick);
  CHECK_STR(pick.name, two[0].shard);
  CHECK_STR(pick.second, two[1].shard);
  slp_lease_find(&all, "2-abc", 0, &pick);
  CHECK_STR(pick.name, two[1].shard);
  CHECK(!pick.second);
}

TEST(workers) {
  CHECK_FINDS("gone", 1, "gone");
  CHECK_FINDS("gone.7777777777777777", 1, "gone.7777777777777777");
  CHECK_FINDS("gone", 0, "gone"); /* the library says that there is no such shard */
  CHECK_FINDS("nobody", 1, "nobody");
}

TEST(what_is_not_there_stays_but_numbers_are_completed) {
  char many[200];
  CHECK_FINDS("5", 0, "shardId-000000000005");
  CHECK_FINDS("5", 1, "5");
  memset(many, 'x', sizeof many);
  many[sizeof many - 1] = 0;
  CHECK_FINDS(many, 1, many);
}
