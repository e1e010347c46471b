/* shard_desc.c - of each member alone: what is said to be wrong with it, and what is left to the caller. */
#include "check.h"
#include "codec/page.h"

TEST(nothing_is_wrong_with_what_the_services_say) {
  slp_shard_desc d = {.id = SLP_STR("shardId-000000000007"),
                      .parent = SLP_STR("shardId-000000000003"),
                      .adjacent_parent = SLP_STR("shardId-000000000004"),
                      .hash_start = SLP_STR("0"),
                      .hash_end = SLP_STR("340282366920938463463374607431768211455"),
                      .seq_start = SLP_STR("49"),
                      .seq_end = SLP_STR("50")};
  CHECK(!slp_shard_desc_wrong(&d));
}

TEST(numbers_have_129_digits_at_most_and_zeros_in_front_as_DynamoDB_Local_writes_them) {
  char digits[130];
  memset(digits, '9', sizeof digits);
  slp_shard_desc d = {.seq_start = SLP_STR("000000000000000000001"), .seq_end = {digits, 129}};
  CHECK(!slp_shard_desc_wrong(&d));
  d.seq_end.n = 130;
  CHECK_STR(slp_shard_desc_wrong(&d), "a hash key or a sequence number that is no number");
}

TEST(what_is_missing_and_texts_that_are_empty_are_the_caller_s_but_for_an_empty_id) {
  slp_shard_desc d = {{NULL, 0}};
  CHECK(!slp_shard_desc_wrong(&d));
  d = (slp_shard_desc){
      .id = SLP_STR("s"), .parent = SLP_STR(""), .hash_start = SLP_STR(""), .seq_end = SLP_STR("")};
  CHECK(!slp_shard_desc_wrong(&d));
  d.id = SLP_STR("");
  CHECK_STR(slp_shard_desc_wrong(&d), "a shard without a usable id");
}

TEST(each_member_is_looked_at) {
  const slp_shard_desc wrong[] = {
      {.id = SLP_STR("a b")},         {.parent = SLP_STR("a\x1b")}, {.adjacent_parent = SLP_STR("a/b")},
      {.hash_start = SLP_STR("0x1")}, {.hash_end = SLP_STR("-1")},  {.seq_start = SLP_STR("1 ")},
      {.seq_end = SLP_STR("1e3")}};
  static const char *const why[] = {"a shard without a usable id", "a shard whose parent has no usable id",
                                    "a hash key or a sequence number that is no number"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++)
    CHECK_STR(slp_shard_desc_wrong(&wrong[i]), why[i == 0 ? 0 : i < 3 ? 1 : 2]);
}
