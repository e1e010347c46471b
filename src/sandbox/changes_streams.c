/* changes_streams.c - the streams of tables: their names and states, and what changes in them with time. */
#include "base/list.h"
#include "base/mem.h"
#include "codec/date.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

static const char *const views[] = {[SLP_VIEW_KEYS] = "KEYS_ONLY",
                                    [SLP_VIEW_NEW] = "NEW_IMAGE",
                                    [SLP_VIEW_OLD] = "OLD_IMAGE",
                                    [SLP_VIEW_BOTH] = "NEW_AND_OLD_IMAGES"};

const char *slp_changes_view_name(slp_change_view view) { return views[view]; }

int slp_changes_view_of(slp_str name, slp_change_view *ret) {
  for (size_t i = 0; i < SLP_COUNT(views); i++) {
    if (!slp_str_is(name, views[i])) continue;
    *ret = (slp_change_view)i;
    return 0;
  }
  return SLP_EINVAL;
}

slp_changes_all *slp_changes_all_new(slp_mem *mem) {
  slp_changes_all *all = SLP_NEW(mem, slp_changes_all);
  if (all) slp_list_init(&all->streams);
  return all;
}

void slp_changes_box_free(slp_box *box) {
  slp_changes_all *all = box->changes_all;
  if (!all) return;
  for (slp_list *it; (it = slp_list_first(&all->streams)) != NULL;) {
    slp_changes_free(box, SLP_OWNER(it, slp_changes, link));
  }
  slp_free(box->mem, all);
  box->changes_all = NULL;
}

/* ---- one stream --------------------------------------------------------------------------------- */
static int compare_to_table_label(const slp_changes *s, slp_str table, const char *label) {
  slp_str own = slp_str_of(s->table);
  int by_name = memcmp(own.p, table.p, slp_min_u64(own.n, table.n));
  if (by_name == 0 && own.n != table.n) by_name = own.n < table.n ? -1 : 1;
  return by_name ? by_name : strcmp(s->label, label);
}

/* Finds the place of a new stream in the list, and its label. A label is the creation time in milliseconds.
 * If the table already has a stream with that label, the next free millisecond is used. */
static slp_list *place_of(slp_changes_all *all, int64_t now_ms, slp_str table, char label[25]) {
  for (;; now_ms++) {
    slp_date_iso(now_ms, label);
    label[23] = 0; /* a label is an ISO time without the Z at its end */
    slp_list *at = all->streams.next;
    while (at != &all->streams && compare_to_table_label(SLP_OWNER(at, slp_changes, link), table, label) < 0)
      at = at->next;
    if (at == &all->streams || compare_to_table_label(SLP_OWNER(at, slp_changes, link), table, label) != 0)
      return at;
  }
}

int slp_changes_new(slp_box *box, int64_t now_ms, slp_str table, slp_str hash_key, slp_str range_key,
                    slp_change_view view, slp_changes **ret) {
  slp_changes *s = SLP_NEW(box->mem, slp_changes);
  if (!s) return SLP_ENOMEM;
  slp_box_tree_init(&s->tree, box->mem);
  s->table = slp_strdup(box->mem, table);
  s->hash_key = slp_strdup(box->mem, hash_key);
  if (range_key.p) s->range_key = slp_strdup(box->mem, range_key);
  if (!s->table || !s->hash_key || (range_key.p && !s->range_key)) {
    slp_changes_free(box, s);
    return SLP_ENOMEM;
  }
  s->uid = ++box->uids;
  s->view = view;
  s->status = SLP_CHANGES_ENABLING;
  s->created_ms = now_ms;
  s->change_ms = now_ms + box->o.change_ms;
  s->trimmed_ms = s->sweep_ms = INT64_MIN;
  s->partitions = (uint32_t)slp_max_u64(box->o.table_partitions, 1);
  s->quirks = box->changes_all->quirks;
  slp_list_insert_before(place_of(box->changes_all, now_ms, table, s->label), &s->link);
  *ret = s;
  return 0;
}

void slp_changes_free(slp_box *box, slp_changes *s) {
  slp_list_remove(&s->link);
  slp_change_shards_free(box, s);
  slp_box_tree_free(&s->tree);
  slp_free(box->mem, s->table);
  slp_free(box->mem, s->hash_key);
  slp_free(box->mem, s->range_key);
  slp_free(box->mem, s);
}

void slp_changes_stop(slp_changes *s, int64_t now_ms, uint32_t after_ms) {
  if (s->status == SLP_CHANGES_DISABLED || s->status == SLP_CHANGES_DISABLING) return;
  s->status = SLP_CHANGES_DISABLING;
  s->change_ms = now_ms + after_ms;
}

int slp_changes_tick(slp_box *box, slp_changes *s, int64_t now_ms) {
  int r = 0;
  if (s->status == SLP_CHANGES_ENABLING && now_ms >= s->change_ms) {
    r = slp_change_shards_begin(box, s, s->change_ms);
    if (r) return r;
    s->status = SLP_CHANGES_ENABLED;
  }
  if (s->status == SLP_CHANGES_ENABLED) r = slp_change_roll_due(box, s, now_ms);
  if (s->status == SLP_CHANGES_DISABLING && now_ms >= s->change_ms) {
    slp_change_shards_end(s, s->change_ms);
    s->status = SLP_CHANGES_DISABLED;
  }
  slp_change_sweep(box, s, now_ms);
  if (s->status == SLP_CHANGES_DISABLED && s->live == 0 && now_ms - s->change_ms >= SLP_CHANGE_KEPT_MS) {
    s->gone = 1;
  }
  return r;
}

void slp_changes_settle(slp_box *box, int64_t now_ms) {
  slp_list *it = box->changes_all->streams.next;
  while (it != &box->changes_all->streams) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    it = it->next;
    /* If there is no memory for a change of state or a rollover, the next request tries again. */
    if (!slp_changes_tick(box, s, now_ms) && s->gone && !s->held) slp_changes_free(box, s);
  }
}

uint64_t slp_changes_asked_max(const slp_box *box) {
  uint64_t most = 0;
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    const slp_changes *s = SLP_OWNER(it, slp_changes, link);
    for (uint32_t i = 0; i < s->shards_n; i++) {
      if (s->shards[i]) most = slp_max_u64(most, s->shards[i]->asked_max);
    }
  }
  return most;
}

/* ---- finding ------------------------------------------------------------------------------------ */
/* Finds the table and the label in arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/LABEL. */
static int parts_of(slp_str arn, slp_str *ret_table, slp_str *ret_label) {
  static const char table_mark[] = ":table/", stream_mark[] = "/stream/";
  const char *at = memmem(arn.p, arn.n, table_mark, sizeof table_mark - 1);
  if (!at) return SLP_EBADDATA;
  at += sizeof table_mark - 1;
  size_t left = arn.n - (size_t)(at - arn.p);
  const char *end = memmem(at, left, stream_mark, sizeof stream_mark - 1);
  if (!end) return SLP_EBADDATA;
  *ret_table = (slp_str){at, (size_t)(end - at)};
  end += sizeof stream_mark - 1;
  *ret_label = (slp_str){end, arn.n - (size_t)(end - arn.p)};
  return 0;
}

slp_changes *slp_changes_find_arn(slp_box *box, slp_str arn) {
  slp_str table, label;
  if (parts_of(arn, &table, &label)) return NULL;
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (!s->gone && slp_str_is(table, s->table) && slp_str_is(label, s->label)) return s;
  }
  return NULL;
}

slp_changes *slp_changes_find_uid(slp_box *box, uint64_t uid) {
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (!s->gone && s->uid == uid) return s;
  }
  return NULL;
}

slp_changes *slp_changes_latest(slp_box *box, slp_str table) {
  slp_changes *latest = NULL; /* labels ascend with time, and the list is sorted by them */
  SLP_LIST_EACH(&box->changes_all->streams, it) {
    slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (!s->gone && slp_str_is(table, s->table)) latest = s;
  }
  return latest;
}

slp_changes *slp_changes_of_call(slp_box_call *c) {
  slp_str arn = slp_box_text(c, "StreamArn");
  slp_changes *s = slp_changes_find_arn(c->box, arn);
  if (!s) {
    slp_box_fail(c, "ResourceNotFoundException", "Requested resource not found: Stream: %.*s not found",
                 (int)slp_min_u64(arn.n, 300), arn.p);
  }
  return s;
}

void slp_changes_arn(const slp_changes *s, const char *region, char out[SLP_CHANGES_ARN]) {
  int n = snprintf(out, SLP_CHANGES_ARN, "arn:aws:dynamodb:%s:" SLP_BOX_ACCOUNT ":table/%s/stream/%s", region,
                   s->table, s->label);
  SLP_CHECK(n > 0 && n < SLP_CHANGES_ARN);
}
