/* produce_shards.c - keeps the shards of a listing, and its open shards sorted by their ranges. */
#include "cli/produce_shards.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/kpl.h"

#include <sloop.h>
#include <stdlib.h>

void slp_put_shards_init(slp_put_shards *s, slp_mem *mem) {
  *s = (slp_put_shards){.mem = mem};
  slp_map_init(&s->by_id, mem);
}

void slp_put_shards_free(slp_put_shards *s) {
  slp_map_free(&s->by_id);
  slp_free(s->mem, s->open);
  slp_free(s->mem, s->ids);
  slp_free(s->mem, s->all);
  slp_put_shards_init(s, s->mem);
}

static int by_first_hash(const void *a, const void *b) {
  const slp_put_shard *x = *(slp_put_shard *const *)a, *y = *(slp_put_shard *const *)b;
  return memcmp(x->range.first, y->range.first, sizeof x->range.first);
}

static int read_range(const sloop_shard_t *from, slp_hash_range *ret) {
  return slp_parse_u128(slp_str_of(from->hash_start), ret->first) == 0 &&
         slp_parse_u128(slp_str_of(from->hash_end), ret->last) == 0;
}

/* Copies a shard, unless it has no range. Writes the shard's id to *at, and moves *at behind the id. Returns
 * 0 or SLP_ENOMEM. */
static int add_shard(slp_put_shards *s, char **at, const sloop_shard_t *from) {
  slp_put_shard *shard = &s->all[s->n];
  size_t n = strlen(from->id);
  *shard = (slp_put_shard){.id = {*at, n}};
  if (!read_range(from, &shard->range) || slp_map_get(&s->by_id, slp_str_of(from->id))) return 0;
  memcpy(*at, from->id, n);
  *at += n;
  s->n++;
  if (!from->closed) s->open[s->open_n++] = shard;
  return slp_map_put(&s->by_id, shard->id, shard);
}

int slp_put_shards_take(slp_put_shards *s, const sloop_shard_t *const *shards, size_t n) {
  size_t bytes = 1;
  slp_put_shards_free(s);
  for (size_t i = 0; i < n; i++) bytes += strlen(shards[i]->id);
  s->all = slp_zalloc_n(s->mem, n + 1, sizeof *s->all);
  s->open = slp_zalloc_n(s->mem, n + 1, sizeof(slp_put_shard *));
  s->ids = slp_alloc(s->mem, bytes);
  char *at = s->ids;
  int r = s->all && s->open && s->ids ? 0 : SLP_ENOMEM;
  for (size_t i = 0; i < n && !r; i++) r = add_shard(s, &at, shards[i]);
  if (r) {
    slp_put_shards_free(s);
    return r;
  }
  qsort(s->open, s->open_n, sizeof(slp_put_shard *), by_first_hash);
  return 0;
}

slp_put_shard *slp_put_shards_at(const slp_put_shards *s, const uint8_t hash[16]) {
  size_t low = 0,
         /* after the search, open[low - 1] is the last shard that begins at the hash key or before it */
      high = s->open_n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memcmp(s->open[middle]->range.first, hash, 16) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low && slp_hash_range_has(&s->open[low - 1]->range, hash) ? s->open[low - 1] : NULL;
}

const slp_put_shard *slp_put_shards_find(const slp_put_shards *s, slp_str id) {
  return slp_map_get(&s->by_id, id);
}
