/* desc.c - copies shard descriptions, so that they outlive the listing or page that they came from. Keeps the
 * names of stream and shard to which records point. */
#include "core/desc.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/kpl.h"
#include "codec/page.h"

size_t slp_desc_bytes(const slp_shard_desc *d) {
  return d->id.n + d->parent.n + d->adjacent_parent.n + d->hash_start.n + d->hash_end.n + d->seq_start.n +
         d->seq_end.n;
}

static slp_str copy_text_to(char **at, slp_str s) {
  slp_str copy = {s.n ? *at : NULL, s.n};
  if (s.n) memcpy(*at, s.p, s.n);
  *at += s.n;
  return copy;
}

slp_shard_desc slp_desc_copy(char **at, const slp_shard_desc *d) {
  slp_shard_desc copy;
  copy.id = copy_text_to(at, d->id);
  copy.parent = copy_text_to(at, d->parent);
  copy.adjacent_parent = copy_text_to(at, d->adjacent_parent);
  copy.hash_start = copy_text_to(at, d->hash_start);
  copy.hash_end = copy_text_to(at, d->hash_end);
  copy.seq_start = copy_text_to(at, d->seq_start);
  copy.seq_end = copy_text_to(at, d->seq_end);
  return copy;
}

slp_shard_desc *slp_descs_copy(slp_mem *mem, const slp_shard_desc *descs, size_t n) {
  size_t bytes = n * sizeof *descs;
  for (size_t i = 0; i < n; i++) bytes += slp_desc_bytes(&descs[i]);
  slp_shard_desc *all = slp_alloc(mem, bytes);
  if (!all) return NULL;
  char *at = (char *)(all + n);
  for (size_t i = 0; i < n; i++) all[i] = slp_desc_copy(&at, &descs[i]);
  return all;
}

int slp_desc_number(slp_str id, uint64_t *ret) {
  slp_str start = SLP_STR("shardId-"), digits = {id.p + start.n, 0};
  if (id.n <= start.n || memcmp(id.p, start.p, start.n) != 0) return 0;
  while (start.n + digits.n < id.n && digits.p[digits.n] >= '0' && digits.p[digits.n] <= '9') digits.n++;
  return slp_parse_u64(digits, ret) == 0;
}

int slp_desc_range(const slp_shard_desc *d, slp_hash_range *ret) {
  return d->hash_start.n && d->hash_end.n && slp_parse_u128(d->hash_start, ret->first) == 0 &&
         slp_parse_u128(d->hash_end, ret->last) == 0;
}

/* ---- circles: shards that are their own ancestors ------------------------------------------------------ */

typedef struct place { /* a shard in the search for circles */
  const slp_shard_desc *desc;
  struct place *below; /* the child from which go_up() came to this shard */
  enum { UNSEEN, ON_THE_WAY, SEEN } is;
} place;

static place *parent_of(const slp_map *by_id, const place *at, int i) {
  slp_str id = i ? at->desc->adjacent_parent : at->desc->parent;
  return id.n ? slp_map_get(by_id, id) : NULL;
}

/* Walks up from one shard to all its ancestors, and visits each ancestor once. Returns a shard that the walk
 * meets a second time above itself, so that it is its own ancestor; NULL: there is none. */
static const slp_shard_desc *go_up(const slp_map *by_id, place *at) {
  at->is = ON_THE_WAY;
  while (at) {
    place *up = NULL;
    for (int i = 0; i < 2 && !up; i++) {
      place *p = parent_of(by_id, at, i);
      if (p && p->is == ON_THE_WAY) return p->desc;
      if (p && p->is == UNSEEN) up = p;
    }
    if (up) {
      up->below = at;
      up->is = ON_THE_WAY;
      at = up;
    } else {
      at->is = SEEN;
      at = at->below;
    }
  }
  return NULL;
}

int slp_descs_circle(slp_mem *mem, const slp_shard_desc *descs, size_t n, const slp_shard_desc **ret) {
  slp_map by_id;
  place *places = slp_zalloc_n(mem, n + 1, sizeof *places);
  int r = places ? 0 : SLP_ENOMEM;
  *ret = NULL;
  slp_map_init(&by_id, mem);
  for (size_t i = 0; i < n && !r; i++) {
    places[i].desc = &descs[i];
    if (!slp_map_get(&by_id, descs[i].id)) r = slp_map_put(&by_id, descs[i].id, &places[i]);
  }
  for (size_t i = 0; i < n && !r && !*ret; i++)
    if (places[i].is == UNSEEN) *ret = go_up(&by_id, &places[i]);
  slp_map_free(&by_id);
  slp_free(mem, places);
  return r;
}

/* ---- names --------------------------------------------------------------------------------------------- */

slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard) {
  slp_name *name = slp_zalloc(mem, sizeof *name + stream.n + shard.n + 2);
  if (!name) return NULL;
  name->mem = slp_mem_hold(mem);
  name->refs = 1;
  name->shard = name->text;
  name->shard_n = shard.n;
  memcpy(name->text, shard.p, shard.n);
  name->stream = name->text + shard.n + 1;
  memcpy(name->text + shard.n + 1, stream.p, stream.n);
  return name;
}

slp_name *slp_name_hold(slp_name *name) {
  name->refs++;
  return name;
}

void slp_name_drop(slp_name *name) {
  if (!name) return;
  SLP_CHECK(name->refs > 0);
  if (--name->refs > 0) return;
  slp_mem *mem = name->mem;
  slp_free(mem, name);
  slp_mem_drop(mem);
}
