/* stream_shards.c - creates and frees streams and their shards, and begins changes that take time. */
#include "base/list.h"
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/model.h"

#include <stdio.h>

#define RETENTION_DEFAULT_MS (24 * SLP_BOX_HOUR_MS)
#define RECORD_KIB_DEFAULT 1024

int slp_box_stream_new(slp_box *box, int64_t now_ms, slp_str name, slp_stream **ret) {
  slp_stream *s = SLP_NEW(box->mem, slp_stream);
  if (!s) return SLP_ENOMEM;
  s->name = slp_strdup(box->mem, name);
  if (!s->name) {
    slp_free(box->mem, s);
    return SLP_ENOMEM;
  }
  s->uid = ++box->uids;
  slp_list_init(&s->consumers);
  s->status = SLP_BOX_ACTIVE;
  s->created_ms = now_ms;
  s->trimmed_ms = s->swept_ms = INT64_MIN;
  s->retention_ms = RETENTION_DEFAULT_MS;
  s->record_kib_max = RECORD_KIB_DEFAULT;
  slp_list *at = box->streams.next; /* the list is sorted by name, in the order of ListStreams */
  while (at != &box->streams && strcmp(SLP_OWNER(at, slp_stream, link)->name, s->name) < 0) at = at->next;
  slp_list_insert_before(at, &s->link);
  *ret = s;
  return 0;
}

void slp_box_stream_free(slp_box *box, slp_stream *s) {
  slp_consumers_free(box, s);
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_box_records_free(box, s->shards[i]);
    slp_free(box->mem, s->shards[i]);
  }
  if (s->change != SLP_BOX_NOTHING) box->changes--;
  slp_list_remove(&s->link);
  slp_free(box->mem, s->shards);
  slp_free(box->mem, s->name);
  slp_free(box->mem, s);
}

static void forget_shards(slp_box *box, slp_stream *s, uint32_t keep) {
  while (s->shards_n > keep) {
    slp_box_shard *sh = s->shards[--s->shards_n];
    slp_box_records_free(box, sh);
    slp_free(box->mem, sh);
  }
}

int slp_box_shard_add(slp_box *box, slp_stream *s, int64_t now_ms, slp_u128 from, slp_u128 to,
                      const slp_box_shard *parent, const slp_box_shard *adjacent, slp_box_shard **ret) {
  if (s->shards_n == SLP_BOX_SHARDS_MAX) return SLP_ELIMIT;
  if (s->shards_n == s->shards_cap) {
    uint32_t cap = s->shards_cap ? s->shards_cap * 2 : 8;
    slp_box_shard **shards = slp_realloc(box->mem, s->shards, cap * sizeof(void *));
    if (!shards) return SLP_ENOMEM;
    s->shards = shards;
    s->shards_cap = cap;
  }
  slp_box_shard *sh = SLP_NEW(box->mem, slp_box_shard);
  if (!sh) return SLP_ENOMEM;
  sh->stream = s;
  sh->index = s->shards_n;
  snprintf(sh->id, sizeof sh->id, "shardId-%012u", sh->index);
  sh->hash_start = from;
  sh->hash_end = to;
  sh->parent = parent ? (int64_t)parent->index : -1;
  sh->adjacent_parent = adjacent ? (int64_t)adjacent->index : -1;
  sh->created_ms = now_ms;
  sh->closed_ms = INT64_MAX;
  sh->first = sh->next = 1;
  sh->last_arrived_ms = INT64_MIN;
  sh->create_s = (uint64_t)slp_max_i64(now_ms / 1000, 0);
  /* All sequence numbers of a child must be above all numbers of its parents, even if both were created in
   * the same second. */
  if (parent) sh->create_s = slp_max_u64(sh->create_s, parent->create_s + 1);
  if (adjacent) sh->create_s = slp_max_u64(sh->create_s, adjacent->create_s + 1);
  s->shards[s->shards_n++] = sh;
  *ret = sh;
  return 0;
}

/* Creates `shards` shards with equal parts of the hash key range. The last shard also gets the remainder. */
int slp_box_stream_fill(slp_box *box, slp_stream *s, int64_t now_ms, uint32_t shards) {
  const slp_u128 width = slp_box_width_of(shards);
  for (uint32_t i = 0; i < shards; i++) {
    slp_box_shard *sh;
    slp_u128 from = slp_u128_times(width, i), to = slp_box_equal_end(width, i, shards);
    int r = slp_box_shard_add(box, s, now_ms, from, to, NULL, NULL, &sh);
    if (r) {
      forget_shards(box, s, 0);
      return r;
    }
  }
  return 0;
}

void slp_box_change_begin(slp_box_call *c, slp_stream *s, slp_box_change change, slp_box_status meanwhile) {
  if (s->change == SLP_BOX_NOTHING) c->box->changes++;
  s->change = change;
  s->status = meanwhile;
  s->change_ms = c->now_ms + c->box->o.change_ms;
}
