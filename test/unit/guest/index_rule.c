/* Sharing by index: a worker's place among all, its part of the list, and what is on that list; every small
 * case against what the words say, shard by shard. */
#include "base/mem.h"
#include "guest/guest_rules.h"

#include "check.h"

static void check_places(const char *const *in, size_t n, const char *const *sorted) {
  slp_str names[8];
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) names[k] = slp_str_of(in[k]);
    CHECK_INT(slp_index_place(names, n, slp_str_of(sorted[i])), i);
    for (size_t k = 0; k < n; k++) CHECK(slp_str_is(names[k], sorted[k]));
  }
}

TEST(places_are_by_bytes) {
  static const char *const in[] = {"b", "a", "B", "ab", "\xc3\xa9", "9f", "10"};
  static const char *const sorted[] = {"10", "9f", "B", "a", "ab", "b", "\xc3\xa9"};
  check_places(in, 7, sorted);
  check_places(in, 1, in);
}

TEST(a_worker_that_is_not_listed_has_no_part) {
  slp_str names[] = {SLP_STR("b"), SLP_STR("a")};
  CHECK_INT(slp_index_place(names, 2, SLP_STR("c")), 2);
  CHECK_INT(slp_index_place(names, 0, SLP_STR("c")), 0);
  for (size_t shard = 0; shard < 5; shard++) {
    CHECK(!slp_index_is_mine(shard, 2, 2));
    CHECK(!slp_index_is_mine(shard, 0, 0));
  }
}

/* As seen by the real program, three clients and seven shards: 0 3 6, 1 4, 2 5. */
TEST(each_shard_is_one_workers) {
  static const size_t of_three[] = {0, 1, 2, 0, 1, 2, 0};
  for (size_t shard = 0; shard < 7; shard++)
    for (size_t place = 0; place < 3; place++)
      CHECK_INT(slp_index_is_mine(shard, place, 3), of_three[shard] == place);
  for (size_t workers = 1; workers < 9; workers++)
    for (size_t shard = 0; shard < 20; shard++) {
      size_t owners = 0;
      for (size_t place = 0; place < workers; place++)
        owners += (size_t)slp_index_is_mine(shard, place, workers);
      CHECK_INT(owners, 1);
    }
}

/* Three shards, each in all of its eight states. */
TEST(the_list_is_what_is_listed_and_not_finished) {
  static const char *const ids[] = {"shardId-2", "shardId-0", "shardId-1"};
  for (unsigned bits = 0; bits < 512; bits++) {
    slp_index_shard all[3];
    size_t want = 0, n = 9;
    int differs = 0;
    for (unsigned i = 0; i < 3; i++) {
      unsigned of = bits >> 3 * i;
      all[i] = (slp_index_shard){slp_str_of(ids[i]), of & 1, of >> 1 & 1, of >> 2 & 1};
      int stays = all[i].listed && !all[i].finished;
      want += (size_t)stays;
      differs |= stays != all[i].cached;
    }
    CHECK_INT(slp_index_list(all, 3, &n), differs);
    CHECK_INT(n, want);
    for (size_t i = 0; i < n; i++) {
      CHECK(all[i].listed && !all[i].finished);
      CHECK(!i || slp_str_cmp(all[i - 1].id, all[i].id) < 0);
    }
  }
  size_t n = 9;
  CHECK_INT(slp_index_list(NULL, 0, &n), 0);
  CHECK_INT(n, 0);
}
