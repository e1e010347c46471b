/* reshard.c - splits, merges and resizes streams. Parents and children are the same as in the service. */
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/model.h"

#include <stdarg.h>
#include <stdio.h>

static void refuse_reshard(slp_box_refusal *why, const char *code, const char *fmt, ...) SLP_PRINTF(3, 4);
static void refuse_reshard(slp_box_refusal *why, const char *code, const char *fmt, ...) {
  va_list args;
  why->code = code;
  va_start(args, fmt);
  vsnprintf(why->message, sizeof why->message, fmt, args);
  va_end(args);
}

/* Finds an open shard by its id. Returns NULL, and sets *why, if there is none. */
static slp_box_shard *find_reshardable_shard(const slp_stream *s, slp_str id, slp_box_refusal *why) {
  slp_box_shard *sh = slp_box_shard_by_id(s, id);
  int n = (int)slp_min_u64(id.n, 128);
  if (!sh) {
    refuse_reshard(why, "ResourceNotFoundException",
                   "Could not find shard %.*s in stream %s under account " SLP_BOX_ACCOUNT ".", n, id.p,
                   s->name);
  } else if (!slp_box_shard_open(sh)) {
    refuse_reshard(why, "InvalidArgumentException",
                   "Shard %.*s in stream %s under account " SLP_BOX_ACCOUNT
                   " has already been merged or split, and thus is not eligible for merging or splitting.",
                   n, id.p, s->name);
    sh = NULL;
  }
  return sh;
}

void slp_box_may_split(const slp_stream *s, slp_str shard, slp_str new_start, slp_box_refusal *why,
                       slp_box_shard **ret_shard, slp_u128 *ret_at) {
  char from[40], to[40];
  slp_u128 at;
  why->code = NULL;
  slp_box_shard *sh = find_reshardable_shard(s, shard, why);
  if (!sh) return;
  if (!new_start.p) {
    /* without new_start the shard is split in the middle; only control requests may leave new_start out */
    at = slp_u128_add(slp_u128_middle(sh->hash_start, sh->hash_end), SLP_U128(1));
  } else if (slp_box_hash_parse(new_start, &at)) {
    at = SLP_U128(0);
  }
  if (slp_u128_cmp(at, sh->hash_start) <= 0 || slp_u128_cmp(at, sh->hash_end) > 0) {
    slp_u128_text(sh->hash_start, from);
    slp_u128_text(sh->hash_end, to);
    refuse_reshard(
        why, "InvalidArgumentException",
        "NewStartingHashKey %.*s used in SplitShard() on shard %s in stream %s under account " SLP_BOX_ACCOUNT
        " is not both greater than one plus the shard's StartingHashKey %s and less than the shard's "
        "EndingHashKey %s.",
        (int)slp_min_u64(new_start.n, 40), new_start.p ? new_start.p : "", sh->id, s->name, from, to);
    return;
  }
  *ret_shard = sh;
  *ret_at = at;
}

/* Returns 1 if the hash keys of `two` begin with the first after those of `one`. */
static int begins_behind(const slp_box_shard *two, const slp_box_shard *one) {
  return !slp_u128_eq(one->hash_end, SLP_U128_MAX) &&
         slp_u128_eq(slp_u128_add(one->hash_end, SLP_U128(1)), two->hash_start);
}

void slp_box_may_merge(const slp_stream *s, slp_str a, slp_str b, slp_box_refusal *why, slp_box_shard **ret_a,
                       slp_box_shard **ret_b) {
  why->code = NULL;
  slp_box_shard *one = find_reshardable_shard(s, a, why),
                *two = one ? find_reshardable_shard(s, b, why) : NULL;
  if (!two) return;
  int adjacent = begins_behind(two, one) || begins_behind(one, two);
  if (!adjacent) {
    refuse_reshard(why, "InvalidArgumentException",
                   "Shards %s and %s in stream %s under account " SLP_BOX_ACCOUNT
                   " are not an adjacent pair of shards eligible for merging",
                   one->id, two->id, s->name);
    return;
  }
  *ret_a = one;
  *ret_b = two;
}

/* ---- splitting, merging, resizing ----------------------------------------------------------------- */
static void close_shard(slp_box_shard *sh, int64_t now_ms) {
  if (sh->stream->synthetic) {
    sh->next = slp_box_end(sh, now_ms); /* synthetic records that have not arrived by now will never arrive */
    sh->synthetic_records = sh->next - 1;
  }
  /* A shard is never closed before its last record, even if a test has set the clock back. */
  sh->closed_ms = slp_max_i64(now_ms, sh->last_arrived_ms);
}

static void add_child_to_parent(slp_box_shard *parent, const slp_box_shard *child) {
  SLP_CHECK(parent->child_n < 2);
  parent->child[parent->child_n++] = child->index;
}

/* Undoes slp_box_shard_add: removes the stream's last shard, which nobody has seen yet. */
static void drop_last(slp_box *box, slp_stream *s) { slp_free(box->mem, s->shards[--s->shards_n]); }

int slp_box_split_at(slp_box *box, slp_stream *s, int64_t now_ms, slp_box_shard *sh, slp_u128 at) {
  slp_box_shard *left, *right;
  uint32_t from = s->shards_n;
  int r = slp_box_shard_add(box, s, now_ms, sh->hash_start, slp_u128_sub(at, SLP_U128(1)), sh, NULL, &left);
  if (r) return r;
  r = slp_box_shard_add(box, s, now_ms, at, sh->hash_end, sh, NULL, &right);
  if (!r && s->synthetic && (r = slp_synthetic_setup(box, s, from)) != 0) drop_last(box, s);
  if (r) {
    drop_last(box, s);
    return r;
  }
  close_shard(sh, now_ms);
  add_child_to_parent(sh, left);
  add_child_to_parent(sh, right);
  slp_push_news(box, sh);
  return 0;
}

int slp_box_merge_two(slp_box *box, slp_stream *s, int64_t now_ms, slp_box_shard *a, slp_box_shard *b) {
  slp_box_shard *child;
  slp_u128 from = slp_u128_cmp(a->hash_start, b->hash_start) < 0 ? a->hash_start : b->hash_start;
  slp_u128 to = slp_u128_cmp(a->hash_end, b->hash_end) > 0 ? a->hash_end : b->hash_end;
  int r = slp_box_shard_add(box, s, now_ms, from, to, a, b, &child);
  if (r) return r;
  if (s->synthetic && (r = slp_synthetic_setup(box, s, child->index)) != 0) {
    drop_last(box, s);
    return r;
  }
  close_shard(a, now_ms);
  close_shard(b, now_ms);
  add_child_to_parent(a, child);
  add_child_to_parent(b, child);
  slp_push_news(box, a);
  slp_push_news(box, b);
  return 0;
}

static slp_box_shard *open_starting_at(slp_stream *s, slp_u128 hash) {
  slp_box_shard *sh = slp_box_shard_for(s, hash);
  return sh && slp_u128_eq(sh->hash_start, hash) ? sh : NULL;
}

/* Scales the stream uniformly: splits shards at each missing border, then merges the shards within each new
 * range. As in the service, some shards may live only for a moment. If there is no memory for a step, the
 * shards still cover all hash keys; the next request continues the change. */
static int resize_stream(slp_box *box, slp_stream *s, int64_t now_ms, uint32_t target) {
  const slp_u128 width = slp_box_width_of(target);
  for (uint32_t i = 1; i < target; i++) {
    slp_u128 from = slp_u128_times(width, i);
    slp_box_shard *sh = slp_box_shard_for(s, from);
    SLP_CHECK(sh != NULL);
    if (slp_u128_eq(sh->hash_start, from)) continue;
    int r = slp_box_split_at(box, s, now_ms, sh, from);
    if (r) return r;
  }
  for (uint32_t i = 0; i < target; i++) {
    slp_u128 from = slp_u128_times(width, i), to = slp_box_equal_end(width, i, target);
    slp_box_shard *sh = open_starting_at(s, from);
    SLP_CHECK(sh != NULL);
    while (!slp_u128_eq(sh->hash_end, to)) {
      slp_box_shard *next = open_starting_at(s, slp_u128_add(sh->hash_end, SLP_U128(1)));
      SLP_CHECK(next != NULL);
      int r = slp_box_merge_two(box, s, now_ms, sh, next);
      if (r) return r;
      sh = open_starting_at(s, from);
    }
  }
  return 0;
}

int slp_box_carry_out(slp_box *box, slp_stream *s, int64_t now_ms) {
  switch (s->change) {
    case SLP_BOX_SPLIT: return slp_box_split_at(box, s, now_ms, s->shards[s->change_a], s->change_hash);
    case SLP_BOX_MERGE:
      return slp_box_merge_two(box, s, now_ms, s->shards[s->change_a], s->shards[s->change_b]);
    case SLP_BOX_RESIZE: return resize_stream(box, s, now_ms, s->change_a);
    case SLP_BOX_NOTHING:
    case SLP_BOX_CREATE:
    case SLP_BOX_DELETE: break;
  }
  return 0;
}
