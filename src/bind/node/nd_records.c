/* nd_records.c - records of a batch in one Buffer: a table of numbers, and behind it the bytes.
 *
 * lib/records.js reads the table; its COLUMNS are those of here. The bytes are copied once, so that what
 * JavaScript keeps stays valid when the batch goes back, and no finalizer is needed for a record. */
#include "bind/node/nd_native.h"

#include <string.h>

enum {
  AT_SEQ, /* offset in the Buffer, then length; the same for those below */
  AT_KEY = 2,
  AT_DATA = 4,
  AT_SHARD = 6, /* index into the list of shards */
  AT_ATTEMPT,
  AT_FLAGS,
  AT_SUB,
  AT_ARRIVED, /* high 32 bits, then low ones; the same for AT_EPOCH */
  AT_EPOCH = 12,
  WIDTH = 14,
  /* only of DynamoDB */
  AT_EVENT = 14,
  AT_EVENT_ID = 16,
  AT_USER = 18,
  AT_WHOLE = 20,
  WIDTH_OF_CHANGE = 22
};
#define SHARDS_KNOWN 64 /* a power of 2 */

typedef struct packing {
  napi_env env;
  char *base;
  size_t used;
  napi_value shards;
  uint32_t shards_n;
  struct {
    const char *shard;
    uint32_t index;
  } known[SHARDS_KNOWN]; /* by the address of the id; a shard may come into the list twice */
} packing;

/* The JSON of a change has most of its other members inside. */
static int is_inside(sloop_str_t part, sloop_str_t whole) {
  return whole.len && part.base >= whole.base && part.base + part.len <= whole.base + whole.len;
}
static size_t size_apart(sloop_str_t part, sloop_str_t whole) {
  return is_inside(part, whole) ? 0 : part.len;
}
static size_t size_of_record(const sloop_record_t *r) {
  size_t size = r->seq.len + size_apart(r->key, r->whole) + size_apart(r->data, r->whole);
  if (!r->whole.len && !r->event.len) return size;
  return size + size_apart(r->event, r->whole) + size_apart(r->event_id, r->whole) +
         size_apart(r->user, r->whole) + r->whole.len;
}
static void put_bytes(packing *p, uint32_t *column, sloop_str_t s) {
  memcpy(p->base + p->used, s.base, s.len);
  column[0] = (uint32_t)p->used;
  column[1] = (uint32_t)s.len;
  p->used += s.len;
}
static void put_part(packing *p, uint32_t *column, sloop_str_t part, sloop_str_t whole, uint32_t whole_at) {
  if (!is_inside(part, whole)) {
    put_bytes(p, column, part);
    return;
  }
  column[0] = whole_at + (uint32_t)(part.base - whole.base);
  column[1] = (uint32_t)part.len;
}
static uint32_t index_of_shard(packing *p, const char *shard) {
  size_t slot = ((uintptr_t)shard >> 3 ^ (uintptr_t)shard >> 9) & (SHARDS_KNOWN - 1);
  if (p->known[slot].shard != shard) {
    napi_value id = nd_string(p->env, shard);
    if (id) napi_set_element(p->env, p->shards, p->shards_n, id);
    p->known[slot].shard = shard;
    p->known[slot].index = p->shards_n++;
  }
  return p->known[slot].index;
}
static void put_record(packing *p, uint32_t *row, const sloop_record_t *r, int is_change) {
  uint32_t whole_at = 0;
  if (is_change) {
    put_bytes(p, row + AT_WHOLE, r->whole);
    whole_at = row[AT_WHOLE];
    put_part(p, row + AT_EVENT, r->event, r->whole, whole_at);
    put_part(p, row + AT_EVENT_ID, r->event_id, r->whole, whole_at);
    put_part(p, row + AT_USER, r->user, r->whole, whole_at);
  }
  put_bytes(p, row + AT_SEQ, r->seq);
  put_part(p, row + AT_KEY, r->key, r->whole, whole_at);
  put_part(p, row + AT_DATA, r->data, r->whole, whole_at);
  row[AT_SHARD] = index_of_shard(p, r->shard);
  row[AT_ATTEMPT] = r->attempt;
  row[AT_FLAGS] = r->flags;
  row[AT_SUB] = (uint32_t)r->sub;
  row[AT_ARRIVED] = (uint32_t)((uint64_t)r->arrived_at_ms >> 32);
  row[AT_ARRIVED + 1] = (uint32_t)r->arrived_at_ms;
  row[AT_EPOCH] = (uint32_t)(r->epoch >> 32);
  row[AT_EPOCH + 1] = (uint32_t)r->epoch;
}

napi_value nd_pack(nd_world *w, size_t n, const sloop_record_t *(*at)(const void *of, size_t i),
                   const void *of) {
  napi_env env = w->env;
  packing p = {env, NULL, 0, nd_list(env), 0, {{NULL, 0}}};
  napi_value packed = nd_object(env), slab = NULL;
  void *base = NULL;
  size_t i, total = 0, table, width = WIDTH;
  for (i = 0; i < n; i++) {
    const sloop_record_t *r = at(of, i);
    total += size_of_record(r);
    if (r->whole.len || r->event.len) width = WIDTH_OF_CHANGE;
  }
  table = n * width * sizeof(uint32_t);
  total += table;
  /* nd_open() bounds what a batch may have, so this is a record that no service sends. */
  if (total > UINT32_MAX || !packed || !p.shards) return NULL;
  slab = nd_slab_new(w, total, &base);
  if (!slab) return NULL;
  p.base = base;
  p.used = table;
  for (i = 0; i < n; i++) put_record(&p, (uint32_t *)base + i * width, at(of, i), width == WIDTH_OF_CHANGE);
  nd_set(env, packed, "slab", slab);
  nd_set(env, packed, "shards", p.shards);
  nd_set_number(env, packed, "count", (double)n);
  nd_set_number(env, packed, "width", (double)width);
  nd_set_text(env, packed, "stream", at(of, 0)->stream);
  return packed;
}
