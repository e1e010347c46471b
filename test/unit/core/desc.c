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
