/* map.c - the map against a plain array under random operations; order of insertion. */
#include "base/map.h"
#include "check.h"

#include <stdio.h>

TEST(it_agrees_with_a_plain_array) {
  enum { KEYS = 300 };
  static char names[KEYS][32];
  static int there[KEYS];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_map m;
  uint64_t x = 1;
  slp_map_init(&m, mem);
  CHECK(slp_map_get(&m, SLP_STR("none")) == NULL);
  for (int i = 0; i < KEYS; i++) snprintf(names[i], sizeof names[i], "shardId-%012d", i);
  for (int step = 0; step < 200000; step++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    int i = (int)((x >> 33) % KEYS);
    slp_str key = slp_str_of(names[i]);
    CHECK(!slp_map_get(&m, key) == !there[i]);
    if (there[i]) {
      CHECK(slp_map_remove(&m, key) == names[i]);
    } else {
      CHECK_INT(slp_map_put(&m, key, names[i]), 0);
    }
    there[i] ^= 1;
  }
  size_t n = 0, at = 0;
  while (slp_map_each(&m, &at)) n++;
  CHECK_INT(n, m.live);
  slp_map_free(&m);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(it_is_walked_in_the_order_of_insertion_and_may_lose_the_current_one) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_map m;
  static char zeta[] = "zeta", alpha[] = "alpha", mu[] = "mu", beta[] = "beta";
  char *names[] = {zeta, alpha, mu, beta};
  slp_map_init(&m, mem);
  for (int i = 0; i < 4; i++) slp_map_put(&m, slp_str_of(names[i]), names[i]);
  size_t at = 0;
  for (int i = 0; i < 4; i++) {
    char *v = slp_map_each(&m, &at);
    CHECK_STR(v, names[i]);
    slp_map_remove(&m, slp_str_of(v));
  }
  CHECK(slp_map_each(&m, &at) == NULL);
  CHECK_INT(m.live, 0);
  slp_map_free(&m);
  slp_mem_drop(mem);
}

/* Names that share their low bits in FNV-1a, as anybody can make them, lie no further from their slots than others. */
TEST(names_made_to_share_a_slot_do_not) {
  enum { KEYS = 1000, BITS = 11 };
  static char names[KEYS][32];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_map m;
  int n = 0;
  for (unsigned long i = 0; n < KEYS; i++) {
    char text[32];
    uint64_t h = 14695981039346656037u;
    int len = snprintf(text, sizeof text, "shardId-%012lu", i);
    for (int k = 0; k < len; k++) h = (h ^ (unsigned char)text[k]) * 1099511628211u;
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    if ((h >> 20 & ((1u << BITS) - 1)) == 0) memcpy(names[n++], text, sizeof text);
  }
  slp_map_init(&m, mem);
  for (int i = 0; i < KEYS; i++) CHECK_INT(slp_map_put(&m, slp_str_of(names[i]), names[i]), 0);
  size_t run = 0, longest = 0;
  for (size_t i = 0; i < 2 * m.slots_n; i++) { /* of taken slots in a row */
    run = m.slots[i % m.slots_n] ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  CHECK(longest < 100);
  slp_map_free(&m);
  slp_mem_drop(mem);
}

TEST(the_order_is_that_of_insertion_whatever_the_key) {
  static char names[200][32];
  for (int i = 0; i < 200; i++) snprintf(names[i], sizeof names[i], "shardId-%d", i * 7 % 200);
  for (uint64_t k = 0; k < 3; k++) {
    slp_mem *mem = slp_mem_new(NULL, NULL);
    slp_map m;
    size_t at = 0;
    mem->hash_key.k[0] = k;
    slp_map_init(&m, mem);
    for (int i = 0; i < 200; i++) CHECK_INT(slp_map_put(&m, slp_str_of(names[i]), names[i]), 0);
    mem->hash_key.k[1] = 77; /* a host that is made later: the map keeps what it began with */
    for (int i = 0; i < 200; i++) CHECK(slp_map_each(&m, &at) == names[i]);
    for (int i = 0; i < 200; i++) CHECK(slp_map_get(&m, slp_str_of(names[i])) == names[i]);
    slp_map_free(&m);
    slp_mem_drop(mem);
  }
}
