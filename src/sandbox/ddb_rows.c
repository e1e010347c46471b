/* ddb_rows.c - the items of a table, sorted as a scan returns them. Each item keeps those older versions that
 * an eventually consistent read may still need. */
#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/changes.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"

#include <stdio.h>

#define HASH_KEY_BYTES 2048
#define SORT_KEY_BYTES 1024
#define SWEEP_MS 1000
/* an item whose time of expiry lies more than five years in the past does not expire, as in the service */
#define PAST_MAX_S INT64_C(157680000)

/* ---- keys ---------------------------------------------------------------------------------------------- */
uint64_t slp_place_of(const slp_av *hash) {
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)hash->kind;
  for (size_t i = 0; i < hash->text.n; i++) h = (h ^ (uint8_t)hash->text.p[i]) * UINT64_C(0x100000001b3);
  /* The order of rows depends on the high bits, so every bit of the input must influence them. */
  h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
  h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return h ^ h >> 32;
}

int slp_row_key_cmp(const slp_key *a, const slp_key *b) {
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  int c = slp_av_cmp(a->hash, b->hash);
  return c || !a->sort || !b->sort ? c : slp_av_cmp(a->sort, b->sort);
}

static int check_part(slp_box_call *c, const slp_key_part *part, int sort, const slp_av *v) {
  if (v->kind != SLP_AV_N && v->text.n == 0) {
    return slp_refuse(
        c,
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
        "contain an empty %s value. Key: %s",
        v->kind == SLP_AV_S ? "string" : "binary", part->name);
  }
  if (!sort && v->text.n > HASH_KEY_BYTES) {
    return slp_refuse(
        c,
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size "
        "limit of2048 bytes");
  }
  if (sort && v->text.n > SORT_KEY_BYTES) {
    return slp_refuse(
        c,
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded "
        "the size limit of 1024 bytes");
  }
  return 0;
}

static void set_part(slp_key *key, int sort, const slp_av *v) {
  if (sort) {
    key->sort = v;
  } else {
    key->hash = v;
    key->place = slp_place_of(v);
  }
}

int slp_key_read(slp_box_call *c, const slp_table *t, const slp_av *from, slp_key *ret) {
  const slp_index *x = &t->index[0];
  *ret = (slp_key){0};
  for (uint8_t i = 0; i < x->parts_n; i++) {
    const slp_av *v = slp_av_member(from, slp_str_of(x->part[i].name));
    if (!v || v->kind != x->part[i].kind || from->count != x->parts_n) {
      return slp_refuse(c, "The provided key element does not match the schema");
    }
    if (check_part(c, &x->part[i], i, v)) return -1;
    set_part(ret, i, v);
  }
  return 0;
}

int slp_check_index_keys(slp_box_call *c, const slp_table *t, const slp_av *item) {
  for (uint32_t n = 1; n < t->indexes_n; n++) {
    const slp_index *x = &t->index[n];
    for (uint8_t i = 0; i < x->parts_n; i++) {
      const slp_av *v = slp_av_member(item, slp_str_of(x->part[i].name));
      if (!v) continue;
      if (v->kind != x->part[i].kind) {
        return slp_refuse(
            c,
            "One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s "
            "Actual: %s IndexName: %s",
            x->part[i].name, slp_av_kind_name(x->part[i].kind), slp_av_kind_name(v->kind), x->name);
      }
      if (v->kind != SLP_AV_N && v->text.n == 0) {
        return slp_refuse(
            c,
            "One or more parameter values are not valid. A value specified for a secondary index key is "
            "not supported. The AttributeValue for a key attribute cannot contain an empty %s value. "
            "IndexName: %s, IndexKey: %s",
            v->kind == SLP_AV_S ? "string" : "binary", x->name, x->part[i].name);
      }
      if (check_part(c, &x->part[i], i, v)) return -1;
    }
  }
  return 0;
}

int slp_key_of_item(slp_box_call *c, const slp_table *t, const slp_av *item, slp_key *ret) {
  const slp_index *x = &t->index[0];
  *ret = (slp_key){0};
  for (uint8_t i = 0; i < x->parts_n; i++) {
    const slp_av *v = slp_av_member(item, slp_str_of(x->part[i].name));
    if (!v) {
      return slp_refuse(c, "One or more parameter values were invalid: Missing the key %s in the item",
                        x->part[i].name);
    }
    if (v->kind != x->part[i].kind) {
      return slp_refuse(
          c, "One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
          x->part[i].name, slp_av_kind_name(x->part[i].kind), slp_av_kind_name(v->kind));
    }
    if (check_part(c, &x->part[i], i, v)) return -1;
    set_part(ret, i, v);
  }
  return slp_check_index_keys(c, t, item);
}

/* Returns the item's key as a new map. NULL: no memory. */
static slp_av *copy_key(slp_arena *a, const slp_table *t, const slp_av *item) {
  slp_av *map = slp_av_new(a, SLP_AV_M);
  for (uint8_t i = 0; map && i < t->index[0].parts_n; i++) {
    const slp_av *v = slp_av_member(item, slp_str_of(t->index[0].part[i].name));
    slp_av *copy = v ? slp_av_shallow(a, v) : NULL;
    if (!copy) return NULL;
    slp_av_set_member(map, copy);
  }
  return map;
}

/* ---- rows ------------------------------------------------------------------------------------ */
size_t slp_row_from(const slp_table *t, const slp_key *key, int after) {
  size_t from = 0, to = t->rows_n;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    int c = slp_row_key_cmp(&t->rows[middle]->key, key);
    if (c < 0 || (c == 0 && after))
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

slp_row *slp_row_find(slp_table *t, const slp_key *key) {
  size_t at = slp_row_from(t, key, 0);
  return at < t->rows_n && slp_row_key_cmp(&t->rows[at]->key, key) == 0 ? t->rows[at] : NULL;
}

const slp_item *slp_row_at(const slp_row *row, int64_t at_ms) {
  const slp_version *v = row->now;
  while (v && v->from_ms > at_ms) v = v->older;
  return v ? v->item : NULL;
}

static void item_free(slp_mem *mem, slp_item *item) {
  if (!item) return;
  slp_arena_clear(&item->memory);
  slp_free(mem, item);
}

static void versions_free(slp_mem *mem, slp_version *v) {
  while (v) {
    slp_version *older = v->older;
    item_free(mem, v->item);
    slp_free(mem, v);
    v = older;
  }
}

static void row_free(slp_mem *mem, slp_row *row) {
  versions_free(mem, row->now);
  slp_arena_clear(&row->memory);
  slp_free(mem, row);
}

void slp_rows_free(slp_box *box, slp_table *t) {
  for (size_t i = 0; i < t->rows_n; i++) row_free(box->mem, t->rows[i]);
  slp_free(box->mem, t->rows);
  t->rows = NULL;
  t->rows_n = t->rows_cap = t->items = t->bytes = 0;
}

static slp_item *item_new(slp_mem *mem, const slp_av *value) {
  slp_item *item = SLP_NEW(mem, slp_item);
  if (!item) return NULL;
  item->memory.mem = mem;
  item->value = slp_av_copy(&item->memory, value);
  item->size = slp_item_size(value);
  if (item->value) return item;
  item_free(mem, item);
  return NULL;
}

static slp_row *row_new(slp_box *box, slp_table *t, const slp_key *key) {
  if (t->rows_n == t->rows_cap) {
    size_t cap = t->rows_cap ? t->rows_cap * 2 : 16;
    slp_row **rows = slp_realloc(box->mem, t->rows, cap * sizeof(slp_row *));
    if (!rows) return NULL;
    t->rows = rows;
    t->rows_cap = cap;
  }
  slp_row *row = SLP_NEW(box->mem, slp_row);
  if (!row) return NULL;
  row->memory.mem = box->mem;
  row->key.place = key->place;
  row->key.hash = slp_av_copy(&row->memory, key->hash);
  row->key.sort = key->sort ? slp_av_copy(&row->memory, key->sort) : NULL;
  if (row->key.hash && (row->key.sort || !key->sort)) return row;
  row_free(box->mem, row);
  return NULL;
}

static void row_insert(slp_table *t, slp_row *row) {
  size_t at = slp_row_from(t, &row->key, 0);
  memmove(t->rows + at + 1, t->rows + at, (t->rows_n - at) * sizeof(slp_row *));
  t->rows[at] = row;
  t->rows_n++;
}

/* Frees the versions of a row that no read can need any more. Frees the row itself if its item is deleted and
 * no older version is left. */
static void prune_row_versions(slp_box *box, slp_table *t, slp_row *row, int64_t now_ms) {
  int64_t wanted_ms = now_ms - t->stale_ms;
  slp_version *v = row->now;
  SLP_CHECK(v != NULL);
  while (v && v->from_ms > wanted_ms) v = v->older; /* now v is the version as of wanted_ms */
  if (v) {
    versions_free(box->mem, v->older);
    v->older = NULL;
  }
  if (row->now->item || row->now->older) return;
  size_t at = slp_row_from(t, &row->key, 0);
  memmove(t->rows + at, t->rows + at + 1, (t->rows_n - at - 1) * sizeof(slp_row *));
  t->rows_n--;
  row_free(box->mem, row);
}

/* Frees rows of deleted items that were kept only for eventually consistent reads. */
static void prune_all(slp_box *box, slp_table *t, int64_t now_ms) {
  for (size_t i = t->rows_n; i-- > 0;) prune_row_versions(box, t, t->rows[i], now_ms);
}

/* Reports the change of an item to the table's stream. */
static int report_item_change(slp_box *box, slp_table *t, int64_t now_ms, const slp_av *was,
                              const slp_av *now, int by_ttl) {
  slp_buf part[3];
  int r = 0;
  const slp_av *of = now ? now : was;
  slp_arena room = {.mem = box->mem};
  const slp_av *image[3] = {copy_key(&room, t, of), was, now};
  if (!image[0]) r = SLP_ENOMEM;
  for (int i = 0; i < 3; i++) {
    slp_buf_init(&part[i], box->mem, 8u << 20);
    if (!r && image[i]) r = slp_item_put_json(&part[i], image[i]);
  }
  slp_str none = {NULL, 0};
  if (!r) {
    r = slp_changes_add(box, t, now_ms, slp_buf_str(&part[0]), was ? slp_buf_str(&part[1]) : none,
                        now ? slp_buf_str(&part[2]) : none, by_ttl);
  }
  for (int i = 0; i < 3; i++) slp_buf_free(&part[i]);
  slp_arena_clear(&room);
  return r;
}

int slp_row_write(slp_box *box, slp_table *t, int64_t now_ms, const slp_key *key, const slp_av *now,
                  int by_ttl) {
  slp_row *row = slp_row_find(t, key);
  const slp_item *was = row ? slp_row_at(row, INT64_MAX) : NULL;
  if (!was && !now) return 0;
  if (was && now && slp_av_equal(was->value, now)) return 0;
  slp_row *fresh = row ? NULL : row_new(box, t, key);
  slp_version *v = SLP_NEW(box->mem, slp_version);
  slp_item *item = now ? item_new(box->mem, now) : NULL;
  int r = (row || fresh) && v && (item || !now) ? 0 : SLP_ENOMEM;
  if (!r && t->stream_on) r = report_item_change(box, t, now_ms, was ? was->value : NULL, now, by_ttl);
  if (r) {
    if (fresh) row_free(box->mem, fresh);
    slp_free(box->mem, v);
    item_free(box->mem, item);
    return r;
  }
  if (box->ddb->on_write) box->ddb->on_write(box->ddb->on_write_arg, t, was ? was->value : NULL, now);
  t->items += (size_t)(now != NULL) - (size_t)(was != NULL);
  t->bytes += (now ? item->size : 0) - (was ? was->size : 0);
  if (!row) row_insert(t, row = fresh);
  *v = (slp_version){.item = item, .from_ms = now_ms, .older = row->now};
  row->now = v;
  prune_row_versions(box, t, row, now_ms);
  return 0;
}

int64_t slp_read_moment(slp_box_call *c, const slp_table *t, int consistent) {
  if (consistent || t->stale_ms <= 0) return INT64_MAX;
  return c->now_ms - (int64_t)(slp_box_random(c->box) % (uint64_t)(t->stale_ms + 1));
}

/* ---- time to live ------------------------------------------------------------------------------- */
static int is_item_expired(const slp_table *t, const slp_item *item, int64_t now_s) {
  const slp_av *v = item ? slp_av_member(item->value, slp_str_of(t->ttl_name)) : NULL;
  slp_n38 at, now, oldest, horizon;
  char text[32];
  if (!v || v->kind != SLP_AV_N) return 0;
  slp_n38_parse(v->text, &at);
  snprintf(text, sizeof text, "%lld", (long long)now_s);
  slp_n38_parse(slp_str_of(text), &now);
  snprintf(text, sizeof text, "%lld", (long long)PAST_MAX_S);
  slp_n38_parse(slp_str_of(text), &horizon);
  slp_n38_add(&now, &horizon, 1, &oldest);
  return slp_n38_cmp(&at, &now) < 0 && slp_n38_cmp(&at, &oldest) > 0;
}

void slp_rows_expire(slp_box *box, slp_table *t, int64_t now_ms) {
  if (t->stale_ms > 0 && now_ms - t->pruned_ms >= t->stale_ms) {
    t->pruned_ms = now_ms;
    prune_all(box, t, now_ms);
  }
  if (!t->ttl_name || (now_ms >= t->ttl_swept_ms && now_ms - t->ttl_swept_ms < SWEEP_MS)) return;
  t->ttl_swept_ms = now_ms;
  for (size_t i = t->rows_n; i-- > 0;) {
    slp_row *row = t->rows[i];
    if (!is_item_expired(t, slp_row_at(row, INT64_MAX), now_ms / 1000)) continue;
    if (slp_row_write(box, t, now_ms, &row->key, NULL, 1)) return; /* no memory: the next sweep tries again */
  }
}

/* ---- indexes ------------------------------------------------------------------------------------ */
int slp_index_holds(const slp_index *x, const slp_av *item) {
  for (uint8_t i = 0; i < x->parts_n; i++) {
    const slp_av *v = slp_av_member(item, slp_str_of(x->part[i].name));
    if (!v || v->kind != x->part[i].kind) return 0;
  }
  return 1;
}

static int is_part(const slp_index *x, slp_str name) {
  for (uint8_t i = 0; i < x->parts_n; i++) {
    if (slp_str_is(name, x->part[i].name)) return 1;
  }
  return 0;
}

int slp_index_projects(const slp_table *t, const slp_index *x, slp_str name) {
  if (x->projection == SLP_PROJECT_ALL || is_part(x, name) || is_part(&t->index[0], name)) return 1;
  for (uint32_t i = 0; i < x->some_n; i++) {
    if (slp_str_is(name, x->some[i])) return 1;
  }
  return 0;
}

slp_av *slp_index_part(slp_arena *a, const slp_table *t, const slp_index *x, const slp_av *item) {
  slp_av *part = slp_av_new(a, SLP_AV_M), **to = part ? &part->first : NULL;
  for (const slp_av *m = item->first; part && m; m = m->next) {
    if (!slp_index_projects(t, x, m->name)) continue;
    *to = slp_av_shallow(a, m);
    if (!*to) return NULL;
    to = &(*to)->next;
    part->count++;
  }
  return part;
}
