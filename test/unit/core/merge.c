/* merge.c - the merge gives the least key, against a model that looks at everything. */
#include "core/merge.h"
#include "check.h"

static uint64_t seed = 88172645463325252u;
static uint64_t rnd(uint64_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed % below;
}

/* Keys that tie often, at every length of common prefix. */
static void random_key(char *text, slp_key *key) {
  size_t n = rnd(4) == 0 ? 1 + rnd(129) : 56;
  memset(text, '4', n);
  if (n > 1) text[1 + rnd(n - 1)] = (char)('0' + rnd(10));
  if (rnd(8) == 0) n = 0;
  *key = (slp_key){(int64_t)rnd(3), {text, n}, (uint32_t)rnd(2)};
}

TEST(the_top_is_always_the_least_of_all) {
  enum { NODES = 40 };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  static slp_merge_node nodes[NODES];
  static char texts[NODES][2][130];
  static int turn[NODES];
  slp_merge_init(&m, mem);
  CHECK_INT(slp_merge_reserve(&m, NODES), 0);
  for (int step = 0; step < 200000; step++) {
    size_t i = rnd(NODES);
    if (rnd(4) == 0) {
      slp_merge_remove(&m, &nodes[i]);
    } else {
      slp_key key;
      turn[i] ^= 1; /* the old key's text must live until the node has moved */
      random_key(texts[i][turn[i]], &key);
      slp_merge_put(&m, &nodes[i], &key, (int)rnd(2));
    }
    if (step % 64 == 0) CHECK(slp_merge_valid(&m));
    const slp_merge_node *least = NULL, *ready = NULL;
    for (size_t k = 0; k < NODES; k++) {
      if (!nodes[k].slot) continue;
      if (!least || slp_key_cmp(&nodes[k].key, &least->key) < 0) least = &nodes[k];
      if (nodes[k].ready && (!ready || slp_key_cmp(&nodes[k].key, &ready->key) < 0)) ready = &nodes[k];
    }
    const slp_merge_node *top = slp_merge_top(&m), *first = slp_merge_first_ready(&m);
    CHECK(!top == !least && !first == !ready);
    if (top) CHECK_INT(slp_key_cmp(&top->key, &least->key), 0);
    if (first) CHECK_INT(slp_key_cmp(&first->key, &ready->key), 0);
  }
  slp_merge_free(&m);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(keys_compare_by_time_then_number_then_sub_sequence) {
  slp_key a = {5, SLP_STR("99"), 0}, b = {5, SLP_STR("100"), 0}, c = {5, SLP_STR("100"), 1},
          d = {6, SLP_STR("1"), 0};
  slp_key watermark = {5, SLP_STR(""), 0};
  CHECK_INT(slp_key_cmp(&a, &b), -1);
  CHECK_INT(slp_key_cmp(&b, &c), -1);
  CHECK_INT(slp_key_cmp(&d, &c), 1);
  CHECK_INT(slp_key_cmp(&b, &b), 0);
  CHECK_INT(slp_key_cmp(&watermark, &a), -1);
}

TEST(a_record_goes_before_a_watermark_of_the_same_key) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  slp_merge_node watermark = {0}, record = {0};
  slp_key key = {5, SLP_STR("49"), 0};
  slp_merge_init(&m, mem);
  slp_merge_reserve(&m, 2);
  slp_merge_put(&m, &watermark, &key, 0);
  slp_merge_put(&m, &record, &key, 1);
  CHECK(slp_merge_top(&m) == &record);
  slp_merge_free(&m);
  slp_mem_drop(mem);
}
