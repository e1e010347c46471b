/* changes_list.c - lists streams and the shards of a stream: ListStreams, DescribeStream. */
#include "base/list.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define PAGE 100 /* entries of a page: the default and the maximum, for both requests */

static int over_limit(slp_box_call *c, slp_box_window *w, uint32_t per_second) {
  if (!slp_box_window_open(w, c->now_ms, per_second, 0)) {
    return slp_box_fail(c, "ThrottlingException", "Rate of %s exceeded: %u a second.", c->operation,
                        per_second);
  }
  slp_box_window_take(w, 0, 0);
  return 0;
}

/* ---- ListStreams --------------------------------------------------------------------------------- */
static void put_stream(slp_box_call *c, const slp_changes *s) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, c->region, arn);
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "StreamArn", arn);
  slp_out_put_z(&c->out, "TableName", s->table);
  slp_out_put_z(&c->out, "StreamLabel", s->label);
  slp_out_end(&c->out);
}

int slp_changes_op_list(slp_box_call *c) {
  slp_changes_all *all = c->box->changes_all;
  slp_str table = slp_box_text(c, "TableName"), after = slp_box_text(c, "ExclusiveStartStreamArn");
  int64_t limit = slp_box_int(c, "Limit", PAGE);
  const slp_changes *last = NULL, *from = after.p ? slp_changes_find_arn(c->box, after) : NULL;
  int more = 0;
  if (over_limit(c, &all->lists, c->box->o.lists_per_second)) return -1;
  if (after.p && !from) {
    return slp_box_fail(c, "ResourceNotFoundException",
                        "Requested resource not found: Stream: %.*s not found",
                        (int)slp_min_u64(after.n, 300), after.p);
  }
  slp_out_map(&c->out);
  slp_out_key(&c->out, "Streams");
  slp_out_list(&c->out);
  SLP_LIST_EACH(&all->streams, it) {
    const slp_changes *s = SLP_OWNER(it, slp_changes, link);
    if (from) { /* skips streams up to `from`, the last one of the page before */
      if (s == from) from = NULL;
      continue;
    }
    if (s->gone || (table.p && !slp_str_is(table, s->table))) continue;
    if (limit-- == 0) {
      more = 1;
      break;
    }
    put_stream(c, s);
    last = s;
  }
  slp_out_end(&c->out);
  if (more && last) {
    char arn[SLP_CHANGES_ARN];
    slp_changes_arn(last, c->region, arn);
    slp_out_put_z(&c->out, "LastEvaluatedStreamArn", arn);
  }
  slp_out_end(&c->out);
  return 0;
}

/* ---- DescribeStream ------------------------------------------------------------------------------- */
static void put_shard(slp_box_call *c, const slp_change_shard *sh) {
  char number[SLP_CHANGE_NUMBER_TEXT];
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "ShardId", sh->id);
  slp_out_key(&c->out, "SequenceNumberRange");
  slp_out_map(&c->out);
  slp_change_start_text(sh, number);
  slp_out_put_z(&c->out, "StartingSequenceNumber", number);
  if (!slp_change_open(sh) && !(sh->child_n && sh->stream->quirks.open_parents)) {
    slp_change_end_text(sh, number);
    slp_out_put_z(&c->out, "EndingSequenceNumber", number);
  }
  slp_out_end(&c->out);
  if (sh->parent[0]) slp_out_put_z(&c->out, "ParentShardId", sh->parent);
  slp_out_end(&c->out);
}

static const char *status_name(const slp_changes *s) {
  static const char *const names[] = {[SLP_CHANGES_ENABLING] = "ENABLING",
                                      [SLP_CHANGES_ENABLED] = "ENABLED",
                                      [SLP_CHANGES_DISABLING] = "DISABLING",
                                      [SLP_CHANGES_DISABLED] = "DISABLED"};
  return names[s->status];
}

static void put_key(slp_box_call *c, const char *name, const char *type) {
  if (!name) return;
  slp_out_map(&c->out);
  slp_out_put_z(&c->out, "AttributeName", name);
  slp_out_put_z(&c->out, "KeyType", type);
  slp_out_end(&c->out);
}

static void put_description(slp_box_call *c, const slp_changes *s) {
  char arn[SLP_CHANGES_ARN];
  slp_changes_arn(s, c->region, arn);
  slp_out_put_z(&c->out, "StreamArn", arn);
  slp_out_put_z(&c->out, "StreamLabel", s->label);
  slp_out_put_z(&c->out, "StreamStatus", status_name(s));
  slp_out_put_z(&c->out, "StreamViewType", slp_changes_view_name(s->view));
  slp_out_key(&c->out, "CreationRequestDateTime");
  slp_out_time(&c->out, s->created_ms);
  slp_out_put_z(&c->out, "TableName", s->table);
  slp_out_key(&c->out, "KeySchema");
  slp_out_list(&c->out);
  put_key(c, s->hash_key, "HASH");
  put_key(c, s->range_key, "RANGE");
  slp_out_end(&c->out);
}

/* Returns the index of the first shard whose id is greater than `id`, or 0 if id.p is NULL. Ids ascend with
 * the index, also when they are compared as text. */
static uint32_t first_after(const slp_changes *s, slp_str id) {
  for (uint32_t i = 0; id.p && i < s->shards_n; i++) {
    if (!s->shards[i]) continue;
    slp_str own = slp_str_of(s->shards[i]->id);
    int by_text = memcmp(own.p, id.p, slp_min_u64(own.n, id.n));
    if (by_text > 0 || (by_text == 0 && own.n > id.n)) return i;
  }
  return id.p ? s->shards_n : 0;
}

/* Returns 1 if the shard is to be listed now. If children_of.p is not NULL, only children of that shard are
 * listed. */
static int is_change_shard_listed(const slp_box_call *c, const slp_change_shard *sh, slp_str children_of) {
  if (!sh) return 0;
  if (children_of.p && !slp_str_is(children_of, sh->parent)) return 0;
  return !sh->parent[0] || c->now_ms - sh->born_ms >= (int64_t)sh->stream->quirks.late_children_ms;
}

/* Reads the request's ShardFilter: *ret gets the id of the shard whose children are to be listed. *ret is
 * {NULL, 0} if there is no filter. */
static int read_filter(slp_box_call *c, const slp_changes *s, slp_str *ret) {
  slp_value *filter = slp_box_tree_get(c->in, 0, "ShardFilter");
  *ret = (slp_str){NULL, 0};
  if (!filter || s->quirks.no_child_filter == 1) return 0;
  if (s->quirks.no_child_filter) {
    return slp_box_fail(c, "ValidationException", "ShardFilter is not supported here.");
  }
  uint32_t number = slp_box_tree_number(c->in, filter);
  slp_value *id = slp_box_tree_get(c->in, number, "ShardId");
  if (!id || !slp_box_tree_get(c->in, number, "Type")) {
    return slp_box_fail(c, "ValidationException", "ShardFilter needs a Type and a ShardId.");
  }
  *ret = id->text;
  return 0;
}

/* With the quirk empty_lists, every other page is empty, and the next page begins where the empty page would
 * have begun. */
static int empty_page(slp_box_call *c, slp_changes *s, slp_str after) {
  if (!s->quirks.empty_lists || s->descriptions++ % 2 != 0) return 0;
  slp_out_end(&c->out);
  slp_out_key(&c->out, "LastEvaluatedShardId");
  slp_out_text(&c->out, after.p ? after : SLP_STR("shardId-00000000000000000000-00000000"));
  return 1;
}

int slp_changes_op_describe(slp_box_call *c) {
  slp_str children_of, after = slp_box_text(c, "ExclusiveStartShardId");
  slp_changes *s = slp_changes_of_call(c);
  if (!s || read_filter(c, s, &children_of)) return -1;
  if (over_limit(c, &c->box->changes_all->describes, c->box->o.describes_per_second)) return -1;
  int64_t limit = slp_min_i64(slp_box_int(c, "Limit", PAGE), PAGE);
  const slp_change_shard *last = NULL;
  int more = 0;
  slp_out_map(&c->out);
  slp_out_key(&c->out, "StreamDescription");
  slp_out_map(&c->out);
  put_description(c, s);
  slp_out_key(&c->out, "Shards");
  slp_out_list(&c->out);
  if (!empty_page(c, s, after)) {
    for (uint32_t i = first_after(s, after); i < s->shards_n && !more; i++) {
      if (!is_change_shard_listed(c, s->shards[i], children_of)) continue;
      if (limit-- == 0) {
        more = 1;
        break;
      }
      put_shard(c, s->shards[i]);
      last = s->shards[i];
    }
    slp_out_end(&c->out);
    if (more && last) slp_out_put_z(&c->out, "LastEvaluatedShardId", last->id);
  }
  slp_out_end(&c->out);
  slp_out_end(&c->out);
  return 0;
}
