/* listing_pages.c - joins the pages of a listing. The text of each row is copied into blocks. A hash table of
 * shard ids finds a shard that two pages contain. */
#include "source/listing_pages.h"

#include "aws/ops.h"
#include "base/hash.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/desc.h"

#define BLOCK_BYTES (32u * 1024)

typedef struct slp_listing_block {
  struct slp_listing_block *next;
  size_t used, cap;
  char bytes[];
} slp_listing_block;

slp_listing *slp_listing_new(slp_mem *mem) {
  slp_listing *l = SLP_NEW(mem, slp_listing);
  if (l) l->mem = mem;
  return l;
}

void slp_listing_clear(slp_listing *l) {
  while (l->blocks) {
    slp_listing_block *b = l->blocks;
    l->blocks = b->next;
    slp_free(l->mem, b);
  }
  slp_free(l->mem, l->shards);
  slp_free(l->mem, l->slots);
  *l = (slp_listing){.mem = l->mem};
}

void slp_listing_free(slp_listing *l) {
  if (!l) return;
  slp_listing_clear(l);
  slp_free(l->mem, l);
}

/* Returns the slot of the shard `id` in the hash table, or the free slot in which it would be put. */
static uint32_t *find_slot(const slp_listing *l, slp_str id) {
  size_t i = (size_t)slp_hash(&l->key, id) & (l->slots_n - 1);
  while (l->slots[i] && !slp_str_eq(l->shards[l->slots[i] - 1].id, id)) i = (i + 1) & (l->slots_n - 1);
  return &l->slots[i];
}

static int grow_slots(slp_listing *l) {
  size_t n = l->slots_n ? l->slots_n * 2 : 256;
  uint32_t *slots = slp_zalloc_n(l->mem, n, sizeof *slots);
  if (!slots) return SLP_ENOMEM;
  if (!l->slots_n) l->key = l->mem->hash_key;
  slp_free(l->mem, l->slots);
  l->slots = slots;
  l->slots_n = n;
  for (size_t i = 0; i < l->shards_n; i++) *find_slot(l, l->shards[i].id) = (uint32_t)i + 1;
  return 0;
}

static int grow_shards(slp_listing *l) {
  slp_shard_desc *shards = slp_doubled(l->mem, l->shards, &l->shards_cap, 128, sizeof *shards);
  if (!shards) return SLP_ENOMEM;
  l->shards = shards;
  return 0;
}

/* Reserves n bytes of text in the newest block, or in a new one. Returns 0, SLP_ENOMEM, or SLP_ELIMIT if the
 * listing would have more than SLP_LISTING_BYTES_MAX. */
static int reserve_text(slp_listing *l, size_t n, char **ret) {
  slp_listing_block *b = l->blocks;
  if (!b || b->cap - b->used < n) {
    size_t cap = n > BLOCK_BYTES ? n : BLOCK_BYTES;
    if (cap > SLP_LISTING_BYTES_MAX - l->bytes) return SLP_ELIMIT;
    b = slp_alloc(l->mem, sizeof *b + cap);
    if (!b) return SLP_ENOMEM;
    *b = (slp_listing_block){.next = l->blocks, .cap = cap};
    l->blocks = b;
    l->bytes += cap;
  }
  *ret = b->bytes + b->used;
  b->used += n;
  return 0;
}

static int fill_in(slp_listing *l, slp_str *known, slp_str other) {
  char *at;
  if (known->p || !other.p) return 0;
  int r = reserve_text(l, other.n, &at);
  if (r) return r;
  if (other.n) memcpy(at, other.p, other.n);
  *known = (slp_str){at, other.n};
  return 0;
}

/* `other` is a second row of the shard in `known`, from another page. Copies the fields that `known` lacks
 * from `other`. Either row may be the older one, so each may lack a field that the other has: for example
 * seq_end, if the shard was closed between the two pages. */
static int merge_row(slp_listing *l, slp_shard_desc *known, const slp_shard_desc *other) {
  int r = fill_in(l, &known->parent, other->parent);
  if (!r) r = fill_in(l, &known->adjacent_parent, other->adjacent_parent);
  if (!r) r = fill_in(l, &known->hash_start, other->hash_start);
  if (!r) r = fill_in(l, &known->hash_end, other->hash_end);
  if (!r) r = fill_in(l, &known->seq_start, other->seq_start);
  return r ? r : fill_in(l, &known->seq_end, other->seq_end);
}

static int add_listed_row(slp_listing *l, const slp_shard_desc *row) {
  char *at;
  int r = 2 * (l->shards_n + 1) > l->slots_n ? grow_slots(l) : 0;
  if (!r && l->shards_n == l->shards_cap) r = grow_shards(l);
  if (r) return r;
  uint32_t *slot = find_slot(l, row->id);
  if (*slot) return merge_row(l, &l->shards[*slot - 1], row);
  if (l->shards_n == SLP_LISTING_SHARDS_MAX) return SLP_ELIMIT;
  r = reserve_text(l, slp_desc_bytes(row), &at);
  if (r) return r;
  slp_shard_desc *known = &l->shards[l->shards_n++];
  *known = slp_desc_copy(&at, row);
  /* seq_end "" means: the shard is closed, but its last sequence number is not known */
  if (row->seq_end.p && !known->seq_end.p) known->seq_end = SLP_STR("");
  *slot = (uint32_t)l->shards_n;
  return 0;
}

int slp_listing_take_page(slp_listing *l, const slp_op_list_shards *page) {
  int r = 0;
  l->stream_ended |= page->stream_ended;
  for (size_t i = 0; i < page->shards_n && !r; i++) r = add_listed_row(l, &page->shards[i]);
  return r;
}

slp_shard_desc *slp_listing_find(slp_listing *l, slp_str id) {
  uint32_t slot = l->slots_n ? *find_slot(l, id) : 0;
  return slot ? &l->shards[slot - 1] : NULL;
}
