/* changes_records.c - stores each change with its images and size in the shard of its key, and removes old
 * changes. */
#include "sandbox/changes.h"

/* Returns the text of the partition key's value, of whatever type the value is. */
static int partition_key(slp_changes *s, slp_str *ret) {
  const slp_value *v = slp_box_tree_get(&s->tree, 0, s->hash_key);
  if (!v || v->kind != SLP_VALUE_MAP || v->count == 0) return SLP_EBADDATA;
  *ret = s->tree.v[v->child].text;
  return 0;
}

static int add_size(slp_changes *s, slp_str image, uint64_t *size) {
  int r = slp_box_tree_read(&s->tree, SLP_WIRE_JSON, image);
  if (!r) *size += slp_change_size(&s->tree, 0);
  return r;
}

static int room_for_one(slp_box *box, slp_change_shard *sh) {
  if (sh->recs_n < sh->recs_cap) return 0;
  slp_change *recs = slp_doubled(box->mem, sh->recs, &sh->recs_cap, 16, sizeof *recs);
  if (!recs) return SLP_ENOMEM;
  sh->recs = recs;
  return 0;
}

int slp_change_store(slp_box *box, slp_changes *s, int64_t now_ms, slp_str keys, slp_str old_image,
                     slp_str new_image, int by_ttl) {
  slp_u128 hash;
  slp_str key;
  slp_change c = {.at_ms = now_ms, .by_ttl = (uint8_t)(by_ttl != 0)};
  uint64_t size = 0;
  c.has_old = old_image.p != NULL;
  c.has_new = new_image.p != NULL;
  if (s->view == SLP_VIEW_KEYS || s->view == SLP_VIEW_NEW) old_image = (slp_str){NULL, 0};
  if (s->view == SLP_VIEW_KEYS || s->view == SLP_VIEW_OLD) new_image = (slp_str){NULL, 0};
  int r = add_size(s, keys, &size);
  if (!r) r = partition_key(s, &key);
  if (!r) r = slp_box_hash_of(box, key, &hash);
  if (!r && old_image.p) r = add_size(s, old_image, &size);
  if (!r && new_image.p) r = add_size(s, new_image, &size);
  if (r) return r;
  slp_change_shard *sh = slp_change_shard_for(s, hash);
  SLP_CHECK(sh != NULL); /* the open shards of an enabled stream cover all keys */
  r = room_for_one(box, sh);
  if (r) return r;
  c.bytes = slp_alloc(box->mem, keys.n + old_image.n + new_image.n);
  if (!c.bytes) return SLP_ENOMEM;
  memcpy(c.bytes, keys.p, keys.n);
  if (old_image.p) memcpy(c.bytes + keys.n, old_image.p, old_image.n);
  if (new_image.p) memcpy(c.bytes + keys.n + old_image.n, new_image.p, new_image.n);
  c.keys_n = (uint32_t)keys.n;
  c.old_n = (uint32_t)old_image.n;
  c.new_n = (uint32_t)new_image.n;
  c.size = (uint32_t)size;
  for (int i = 0; i < 2; i++) {
    uint64_t part = slp_box_random(box);
    memcpy(c.id + 8 * i, &part, 8);
  }
  sh->recs[sh->recs_n++] = c;
  sh->next++;
  return 0;
}

const slp_change *slp_change_at(const slp_change_shard *sh, uint64_t place) {
  SLP_CHECK(place >= sh->first && place < sh->next);
  return &sh->recs[sh->head + (size_t)(place - sh->first)];
}

int64_t slp_change_stamp_ms(const slp_change *r) { return r->at_ms / 1000 * 1000; }

/* Linear, not a binary search: a test may set the sandbox's clock back, so the stamps may not ascend. */
uint64_t slp_change_first_at(const slp_change_shard *sh, int64_t at_ms) {
  uint64_t place = sh->first;
  while (place < sh->next && slp_change_stamp_ms(slp_change_at(sh, place)) < at_ms) place++;
  return place;
}

void slp_change_records_free(slp_box *box, slp_change_shard *sh) {
  for (size_t i = sh->head; i < sh->recs_n; i++) slp_free(box->mem, sh->recs[i].bytes);
  slp_free(box->mem, sh->recs);
  sh->recs = NULL;
  sh->head = sh->recs_n = sh->recs_cap = 0;
}

void slp_change_drop_before(slp_box *box, slp_change_shard *sh, int64_t horizon_ms) {
  while (sh->first < sh->next && sh->recs[sh->head].at_ms < horizon_ms) {
    slp_free(box->mem, sh->recs[sh->head++].bytes);
    sh->first++;
  }
  if (sh->head > 64 && sh->head > sh->recs_n / 2) {
    memmove(sh->recs, sh->recs + sh->head, (sh->recs_n - sh->head) * sizeof *sh->recs);
    sh->recs_n -= sh->head;
    sh->head = 0;
  }
}
