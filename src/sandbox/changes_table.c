/* changes_table.c - what tables do with their streams: enable and disable them, and report each change of an
 * item. A change is stored, with its images and its size, in the shard of the item's key. */
#include "base/little.h"
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

static void set_view(slp_table *t, const char *view) {
  size_t n = strlen(view);
  SLP_CHECK(n < sizeof t->view_type);
  memcpy(t->view_type, view, n + 1);
}

static void let_go(slp_table *t) {
  if (t->changes) t->changes->held = 0;
  t->changes = NULL;
}

int slp_changes_enable(slp_box *box, slp_table *t, int64_t now_ms, slp_str view_type) {
  slp_change_view view;
  slp_changes *s;
  const slp_index *key = &t->index[0];
  if (slp_changes_view_of(view_type, &view)) return SLP_EINVAL;
  int r = slp_changes_new(box, now_ms, slp_str_of(t->name), slp_str_of(key->part[0].name),
                          key->parts_n > 1 ? slp_str_of(key->part[1].name) : (slp_str){NULL, 0}, view, &s);
  if (r) return r;
  if (t->changes) { /* the table had a stream before: the new stream takes over its partitions and quirks */
    s->partitions = t->changes->partitions;
    s->quirks = t->changes->quirks;
  }
  let_go(t);
  t->changes = s;
  s->held = 1;
  t->stream_on = 1;
  set_view(t, slp_changes_view_name(view));
  return 0;
}

void slp_changes_disable(slp_box *box, slp_table *t, int64_t now_ms) {
  if (t->changes) slp_changes_stop(t->changes, now_ms, box->o.change_ms);
  t->stream_on = 0;
  set_view(t, "");
}

void slp_changes_table_gone(slp_box *box, slp_table *t, int64_t now_ms) {
  (void)box;
  if (t->changes) slp_changes_stop(t->changes, now_ms, 0);
  let_go(t);
}

void slp_changes_describe(slp_box_call *c, slp_table *t) {
  char arn[SLP_CHANGES_ARN];
  if (t->stream_on) {
    slp_out_key(&c->out, "StreamSpecification");
    slp_out_map(&c->out);
    slp_out_key(&c->out, "StreamEnabled");
    slp_out_bool(&c->out, 1);
    slp_out_put_z(&c->out, "StreamViewType", t->view_type);
    slp_out_end(&c->out);
  }
  if (!t->changes) return;
  slp_changes_arn(t->changes, c->region, arn);
  slp_out_put_z(&c->out, "LatestStreamArn", arn);
  slp_out_put_z(&c->out, "LatestStreamLabel", t->changes->label);
}

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
    uint64_t part = slp_little_u64(slp_box_random(box));
    memcpy(c.id + 8 * i, &part, 8);
  }
  sh->recs[sh->recs_n++] = c;
  sh->next++;
  return 0;
}

int slp_changes_add(slp_box *box, slp_table *t, int64_t now_ms, slp_str keys, slp_str old_image,
                    slp_str new_image, int by_ttl) {
  slp_changes *s = t->changes;
  if (!s) return 0;
  int r = slp_changes_tick(box, s, now_ms);
  if (r) return r;
  if (s->status != SLP_CHANGES_ENABLED) return 0; /* changes are recorded only while the stream is enabled */
  return slp_change_store(box, s, now_ms, keys, old_image, new_image, by_ttl);
}
