/* hash_ranges.c - keeps the range of hash keys of each shard. The range of a shard never changes, so it
 * does not matter whether it came from a listing or from a page. */
#include "source/hash_ranges.h"

#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "core/desc.h"
#include "source/listing_pages.h"

typedef struct child {
  char *id; /* owned */
  slp_hash_range range;
} child;

static void child_free(slp_mem *mem, child *c) {
  if (!c) return;
  slp_free(mem, c->id);
  slp_free(mem, c);
}

void slp_hash_ranges_init(slp_hash_ranges *r, slp_mem *mem) {
  r->mem = mem;
  slp_map_init(&r->children, mem);
}

void slp_hash_ranges_free(slp_hash_ranges *r) {
  size_t at = 0;
  for (child *c; (c = slp_map_each(&r->children, &at)) != NULL;) child_free(r->mem, c);
  slp_map_free(&r->children);
}

static void add_child(slp_hash_ranges *r, const slp_shard_desc *d) {
  slp_hash_range range;
  if (!d->id.n || !slp_desc_range(d, &range) || slp_map_get(&r->children, d->id)) return;
  child *c = SLP_NEW(r->mem, child);
  if (!c) return;
  c->range = range;
  c->id = slp_strdup(r->mem, d->id);
  if (!c->id || slp_map_put(&r->children, (slp_str){c->id, d->id.n}, c)) child_free(r->mem, c);
}

void slp_hash_ranges_learn(slp_hash_ranges *r, const slp_page *page) {
  for (size_t i = 0; i < page->children_n; i++) add_child(r, &page->children[i]);
}

void slp_hash_ranges_listed(slp_hash_ranges *r, slp_listing *l) {
  size_t at = 0;
  for (child *c; (c = slp_map_each(&r->children, &at)) != NULL;) {
    slp_str id = slp_str_of(c->id);
    if (!slp_listing_find(l, id)) continue;
    slp_map_remove(&r->children, id);
    child_free(r->mem, c);
  }
}

int slp_hash_ranges_get(const slp_hash_ranges *r, slp_listing *l, slp_str shard, slp_hash_range *ret) {
  const slp_shard_desc *d = l ? slp_listing_find(l, shard) : NULL;
  if (d && slp_desc_range(d, ret)) return 1;
  const child *c = slp_map_get(&r->children, shard);
  if (c) *ret = c->range;
  return c != NULL;
}
