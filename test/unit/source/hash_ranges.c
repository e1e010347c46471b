/* Which hash keys belong to which shard: listing, children newer than it, and what is not known. */
#include "source/hash_ranges.h"

#include "check.h"

static slp_mem *mem;
static slp_hash_ranges ranges;
static slp_page *page;

static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  page = slp_page_new(mem);
  slp_hash_ranges_init(&ranges, mem);
}

static void finish(void) {
  slp_hash_ranges_free(&ranges);
  slp_page_free(page);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static slp_shard_desc row(const char *id, const char *first, const char *last) {
  return (slp_shard_desc){
      .id = slp_str_of(id), .hash_start = slp_str_of(first), .hash_end = slp_str_of(last)};
}

static slp_listing *listing(slp_shard_desc d) {
  slp_listing *l = slp_listing_new(mem);
  slp_op_list_shards op;
  slp_op_list_init(&op, mem);
  op.shards = slp_zalloc_n(mem, 1, sizeof d);
  op.shards[0] = d;
  op.shards_n = 1;
  CHECK_INT(slp_listing_take_page(l, &op), 0);
  slp_op_list_free(&op);
  return l;
}

static void learn(slp_shard_desc d) {
  slp_shard_desc *rows = page->children;
  page->children = &d;
  page->children_n = 1;
  slp_hash_ranges_learn(&ranges, page);
  page->children = rows;
  page->children_n = 0;
}

/* Last bytes of first and last; -1: not known. */
static int get(slp_listing *l, const char *id) {
  slp_hash_range r;
  if (!slp_hash_ranges_get(&ranges, l, slp_str_of(id), &r)) return -1;
  return r.first[15] << 8 | r.last[15];
}

TEST(the_listing_is_asked_first_and_then_the_children) {
  start();
  CHECK_INT(get(NULL, "a"), -1);
  learn(row("a", "1", "2"));
  learn(row("a", "5", "6")); /* the first one told stays */
  CHECK_INT(get(NULL, "a"), 0x102);
  slp_listing *l = listing(row("a", "3", "4"));
  CHECK_INT(get(l, "a"), 0x304);
  CHECK_INT(get(l, "b"), -1);
  slp_listing_free(l);
  l = listing(row("a", "x", "4")); /* no numbers: what the page said counts */
  CHECK_INT(get(l, "a"), 0x102);
  slp_listing_free(l);
  finish();
}

TEST(what_is_listed_is_not_remembered_besides) {
  start();
  learn(row("a", "1", "2"));
  learn(row("b", "3", "4"));
  slp_listing *l = listing(row("a", "1", "2"));
  slp_hash_ranges_listed(&ranges, l);
  CHECK_INT(get(NULL, "a"), -1);
  CHECK_INT(get(NULL, "b"), 0x304);
  slp_listing_free(l);
  finish();
}

TEST(what_is_no_range_is_not_known) {
  start();
  learn(row("a", "", ""));
  learn((slp_shard_desc){.id = SLP_STR("b")});
  learn(row("c", "1", "-2"));
  learn(row("", "1", "2"));
  CHECK_INT(get(NULL, "a"), -1);
  CHECK_INT(get(NULL, "b"), -1);
  CHECK_INT(get(NULL, "c"), -1);
  CHECK_INT(get(NULL, ""), -1);
  finish();
}
