/* open_ends.c - a new shard descends from an end when they have a key in common: against a plain search. */
#include "core/open_ends.h"
#include "check.h"
#include "scarce.h"

static slp_hash_range range_of(unsigned first, unsigned last) {
  slp_hash_range r = {{0}, {0}};
  r.first[14] = (uint8_t)(first >> 8);
  r.first[15] = (uint8_t)first;
  r.last[14] = (uint8_t)(last >> 8);
  r.last[15] = (uint8_t)last;
  return r;
}

TEST(no_end_is_reached_by_nobody_and_one_of_unknown_keys_by_all) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_open_ends ends;
  slp_open_ends_init(&ends, mem);
  slp_hash_range r = range_of(0, 9);
  CHECK(!slp_open_ends_reach(&ends, &r) && !slp_open_ends_reach(&ends, NULL));
  slp_open_ends_add(&ends, &r);
  CHECK(slp_open_ends_reach(&ends, NULL));
  r = range_of(10, 19);
  CHECK(!slp_open_ends_reach(&ends, &r));
  slp_open_ends_add(&ends, NULL);
  CHECK(slp_open_ends_reach(&ends, &r));
  slp_open_ends_free(&ends);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(ends_in_any_order_also_within_each_other_reach_what_a_plain_search_finds) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  unsigned random = 7, from[40], to[40];
  for (size_t n = 0; n <= 40; n++) {
    slp_open_ends ends;
    slp_open_ends_init(&ends, mem);
    for (size_t i = 0; i < n; i++) {
      random = random * 1103515245u + 12345u;
      from[i] = random >> 16 & 1023;
      to[i] = from[i] + (random >> 8 & (i % 3 ? 7 : 127));
      slp_hash_range r = range_of(from[i], to[i]);
      slp_open_ends_add(&ends, &r);
    }
    for (unsigned at = 0; at < 1160; at++) {
      int found = 0;
      for (size_t i = 0; i < n; i++) found |= from[i] <= at + at % 5 && at <= to[i];
      slp_hash_range r = range_of(at, at + at % 5);
      CHECK_INT(slp_open_ends_reach(&ends, &r), found);
    }
    slp_open_ends_free(&ends);
  }
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(without_memory_an_end_counts_as_one_of_unknown_keys) {
  scarce memory = {.left = 1};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  slp_open_ends ends;
  slp_hash_range r = range_of(0, 9), other = range_of(10, 19);
  slp_open_ends_init(&ends, mem);
  slp_open_ends_add(&ends, &r);
  CHECK(slp_open_ends_reach(&ends, &other));
  slp_open_ends_free(&ends);
  slp_mem_drop(mem);
}

TEST(a_parent_is_one_that_was_added_or_without_memory_any) {
  scarce memory = {.left = 1000};
  slp_mem *mem = slp_mem_new(scarce_alloc, &memory);
  slp_open_ends ends;
  slp_open_ends_init(&ends, mem);
  CHECK(!slp_open_ends_is_parent(&ends, SLP_STR("2")));
  slp_open_ends_add_parent(&ends, SLP_STR("2"));
  slp_open_ends_add_parent(&ends, SLP_STR("2"));
  CHECK(slp_open_ends_is_parent(&ends, SLP_STR("2")) && !slp_open_ends_is_parent(&ends, SLP_STR("3")));
  slp_open_ends_free(&ends);
  slp_open_ends_init(&ends, mem);
  memory.left = 0;
  slp_open_ends_add_parent(&ends, SLP_STR("2"));
  CHECK(slp_open_ends_is_parent(&ends, SLP_STR("3")));
  slp_open_ends_free(&ends);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
