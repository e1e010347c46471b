/* Descriptions of shards are copied whole, and need nothing of what they were copied from. */
#include "core/desc.h"

#include "check.h"
#include "scarce.h"

static void fill(char texts[2][7][24], slp_shard_desc descs[2]) {
  for (int i = 0; i < 2; i++) {
    slp_str *all[] = {&descs[i].id,         &descs[i].parent,   &descs[i].adjacent_parent,
                      &descs[i].hash_start, &descs[i].hash_end, &descs[i].seq_start,
                      &descs[i].seq_end};
    for (int k = 0; k < 7; k++) {
      int n = snprintf(texts[i][k], sizeof texts[i][k], "%d-%.*s", i, k * 3, "012345678901234567890");
      *all[k] = i == 1 && k > 1 && k % 2 ? (slp_str){NULL, 0} : (slp_str){texts[i][k], (size_t)n};
    }
  }
}

static void same(slp_str a, slp_str b) {
  CHECK(slp_str_eq(a, b));
  CHECK(!a.p == !b.p);
}

static void same_desc(const slp_shard_desc *a, const slp_shard_desc *b) {
  same(a->id, b->id);
  same(a->parent, b->parent);
  same(a->adjacent_parent, b->adjacent_parent);
  same(a->hash_start, b->hash_start);
  same(a->hash_end, b->hash_end);
  same(a->seq_start, b->seq_start);
  same(a->seq_end, b->seq_end);
}

TEST(copies_outlive_what_they_were_made_of) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char gone[2][7][24], kept[2][7][24];
  slp_shard_desc from[2], truth[2];
  fill(gone, from);
  fill(kept, truth);
  slp_shard_desc *all = slp_descs_copy(mem, from, 2);
  memset(gone, '?', sizeof gone);
  for (int i = 0; i < 2; i++) same_desc(&all[i], &truth[i]);
  CHECK_INT(mem->live_blocks, 1);
  slp_free(mem, all);
  slp_mem_drop(mem);
}

TEST(a_copy_takes_just_the_room_that_was_asked_for) {
  char texts[2][7][24], room[400], *at = room;
  slp_shard_desc from[2];
  fill(texts, from);
  for (int i = 0; i < 2; i++) {
    char *began = at;
    slp_shard_desc copy = slp_desc_copy(&at, &from[i]);
    same_desc(&copy, &from[i]);
    CHECK_INT((size_t)(at - began), slp_desc_bytes(&from[i]));
    CHECK(copy.id.p == began);
  }
}

TEST(without_memory_there_is_no_copy) {
  scarce memory = {.left = 1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  char texts[2][7][24];
  slp_shard_desc from[2];
  fill(texts, from);
  CHECK(mem && !slp_descs_copy(mem, from, 2));
  slp_mem_drop(mem);
}

/* ---- circles ------------------------------------------------------------------------------------------- */

static slp_str number(char text[24], size_t i) {
  snprintf(text, 24, "s%zu", i);
  return slp_str_of(text);
}

static const slp_shard_desc *circle(const slp_shard_desc *all, size_t n) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  const slp_shard_desc *one;
  CHECK_INT(slp_descs_circle(mem, all, n, &one), 0);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
  return one;
}

TEST(a_shard_that_is_its_own_ancestor_is_found) {
  slp_shard_desc d[4] = {
      {.id = SLP_STR("a")}, {.id = SLP_STR("b")}, {.id = SLP_STR("c")}, {.id = SLP_STR("d")}};
  CHECK(!circle(d, 0));
  d[3].parent = SLP_STR("b"), d[3].adjacent_parent = SLP_STR("c"); /* a split and a merge */
  d[1].parent = d[2].parent = SLP_STR("a");
  d[0].parent = SLP_STR("trimmed");
  CHECK(!circle(d, 4));
  d[0].adjacent_parent = SLP_STR("d");
  const slp_shard_desc *one = circle(d, 4);
  CHECK(one && one != &d[4]);
  d[0].adjacent_parent = (slp_str){NULL, 0};
  d[2].parent = SLP_STR("c");
  CHECK(circle(d, 4) == &d[2]);
}

TEST(a_long_line_of_ancestors_is_gone_up_once) {
  enum { N = 20000 };
  static slp_shard_desc all[N];
  static char ids[N + 1][24];
  for (size_t i = 0; i <= N; i++) number(ids[i], i);
  for (size_t i = 0; i < N; i++)
    all[i] = (slp_shard_desc){.id = slp_str_of(ids[i]), .parent = slp_str_of(ids[i + 1])};
  CHECK(!circle(all, N));
  all[N - 1].parent = all[0].id;
  CHECK(circle(all, N));
}

TEST(without_memory_it_is_not_known) {
  for (int left = 0; left < 3; left++) {
    scarce memory = {.left = left + 1};
    slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
    slp_shard_desc d = {.id = SLP_STR("a"), .parent = SLP_STR("a")};
    const slp_shard_desc *one;
    CHECK(mem);
    int r = slp_descs_circle(mem, &d, 1, &one);
    CHECK(r == 0 ? one == &d : r == SLP_ENOMEM && !one);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
}

TEST(the_number_in_an_id_grows_with_the_shards) {
  uint64_t n = 0;
  CHECK(slp_desc_number(SLP_STR("shardId-000000000012"), &n) && n == 12);
  CHECK(slp_desc_number(SLP_STR("shardId-00000001415575708000-09de7c54"), &n) && n == 1415575708000);
  CHECK(slp_desc_number(SLP_STR("shardId-7"), &n) && n == 7);
  n = 5;
  CHECK(!slp_desc_number(SLP_STR("shardId-"), &n));
  CHECK(!slp_desc_number(SLP_STR("shardId"), &n));
  CHECK(!slp_desc_number(SLP_STR(""), &n));
  CHECK(!slp_desc_number(SLP_STR("shardId-x12"), &n));
  CHECK(!slp_desc_number(SLP_STR("shardid-000000000012"), &n));
  CHECK(!slp_desc_number(SLP_STR("shardId-18446744073709551616"), &n)); /* more than 64 bits */
}
