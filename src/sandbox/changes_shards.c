/* changes_shards.c - the shards of a table's stream. They are created, roll over into children, are closed,
 * and are removed when all their records have expired. */
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/changes.h"
#include "sandbox/model.h"

#include <stdio.h>

/* When the clock jumps ahead, a shard is rolled over at most this many times to catch up. */
#define GENERATIONS_MAX 32
#define SPLIT_OPEN_MAX 1000 /* with more open shards than this, rollovers no longer split shards */
#define BASE_RANGE 9000u
#define COUNTER_GAP 512u /* the most numbers that are skipped between a shard's end and its child's start */

static int room_for(slp_mem *mem, void **array, uint32_t *cap, uint64_t wanted, size_t each) {
  if (wanted <= *cap) return 0;
  uint64_t more = slp_max_u64(wanted, *cap ? (uint64_t)*cap * 2 : 16);
  void *p = slp_realloc(mem, *array, (size_t)more * each);
  if (!p) return SLP_ENOMEM;
  *array = p;
  *cap = (uint32_t)more;
  return 0;
}

/* Makes room for `more` further shards, which may all be open. */
static int reserve_change_shards(slp_box *box, slp_changes *s, uint32_t more) {
  void *shards = s->shards, *open = s->open;
  int r = room_for(box->mem, &shards, &s->shards_cap, (uint64_t)s->shards_n + more, sizeof(void *));
  s->shards = shards;
  if (!r) r = room_for(box->mem, &open, &s->open_cap, (uint64_t)s->open_n + more, sizeof *s->open);
  s->open = open;
  return r;
}

/* Gives a shard its id. Ids must ascend with the index. An id is the time, then digits that ascend for shards
 * of the same millisecond. */
static void name_shard(slp_box *box, slp_changes *s, slp_change_shard *sh) {
  uint64_t ms = sh->born_ms > 0 ? (uint64_t)sh->born_ms : 0;
  uint64_t tail = slp_box_random(box) >> 33;
  if (s->last_name_n && ms <= s->last_name_ms) {
    ms = s->last_name_ms;
    tail = s->last_name_tail + 1 + (slp_box_random(box) & 0xffff);
  }
  if (tail > UINT32_MAX) {
    ms++;
    tail &= 0xffff;
  }
  s->last_name_n = 1;
  s->last_name_ms = ms;
  s->last_name_tail = tail;
  snprintf(sh->id, sizeof sh->id, "shardId-%020llu-%08x", (unsigned long long)ms, (unsigned)tail);
}

static int64_t roll_time(slp_box *box, int64_t born_ms) {
  int64_t roll_ms = (int64_t)box->o.roll_ms;
  if (roll_ms == 0) return INT64_MAX;
  /* A shard rolls over after 3/4 to 5/4 of roll_ms, at random, so that not all shards roll over at once. */
  return born_ms + roll_ms * 3 / 4 + (int64_t)(slp_box_random(box) % (uint64_t)(roll_ms / 2 + 1)) + 1;
}

static slp_change_shard *shard_new(slp_box *box, slp_changes *s, int64_t at_ms,
                                   const slp_change_shard *parent) {
  slp_change_shard *sh = SLP_NEW(box->mem, slp_change_shard);
  if (!sh) return NULL;
  sh->stream = s;
  sh->born_ms = at_ms;
  sh->closed_ms = INT64_MAX;
  sh->roll_ms = roll_time(box, at_ms);
  sh->salt = slp_box_random(box);
  if (parent) {
    snprintf(sh->parent, sizeof sh->parent, "%s", parent->id);
    sh->base = parent->base + 2 + parent->next + slp_box_random(box) % COUNTER_GAP;
  } else {
    sh->base = SLP_CHANGE_BASE_MIN + slp_box_random(box) % BASE_RANGE;
  }
  return sh;
}

/* Adds the shard to s->shards. reserve_change_shards() must have made room for it. */
static void take_in(slp_box *box, slp_changes *s, slp_change_shard *sh) {
  name_shard(box, s, sh);
  sh->index = s->shards_n;
  s->shards[s->shards_n++] = sh;
  s->live++;
}

int slp_change_shards_begin(slp_box *box, slp_changes *s, int64_t at_ms) {
  uint64_t rest;
  slp_u128 each = slp_u128_div(SLP_U128_MAX, s->partitions, &rest);
  if (s->partitions > 1) each = slp_u128_add(each, SLP_U128(1));
  int r = reserve_change_shards(box, s, s->partitions);
  for (uint32_t i = s->open_n; !r && i < s->partitions; i++) {
    slp_change_shard *sh = shard_new(box, s, at_ms, NULL);
    if (!sh) return SLP_ENOMEM;
    sh->hash_start = slp_u128_times(each, i);
    sh->hash_end = slp_box_equal_end(each, i, s->partitions);
    take_in(box, s, sh);
    sh->open_at = s->open_n;
    s->open[s->open_n++] = sh->index;
  }
  return r;
}

void slp_change_shards_end(slp_changes *s, int64_t at_ms) {
  for (uint32_t i = 0; i < s->open_n; i++) {
    slp_change_shard *sh = s->shards[s->open[i]];
    sh->closed_ms = slp_max_i64(at_ms, sh->born_ms);
  }
  s->open_n = 0;
}

int slp_change_roll(slp_box *box, slp_changes *s, slp_change_shard *sh, int64_t at_ms, uint32_t children) {
  slp_change_shard *child[2] = {NULL, NULL};
  SLP_CHECK(slp_change_open(sh) && s->open[sh->open_at] == sh->index && (children == 1 || children == 2));
  if (slp_u128_eq(sh->hash_start, sh->hash_end)) children = 1;
  int r = reserve_change_shards(box, s, children);
  for (uint32_t i = 0; !r && i < children; i++) {
    child[i] = shard_new(box, s, at_ms, sh);
    if (!child[i]) r = SLP_ENOMEM;
  }
  if (r) {
    slp_free(box->mem, child[0]);
    return r;
  }
  slp_u128 middle = slp_u128_middle(sh->hash_start, sh->hash_end);
  sh->closed_ms = slp_max_i64(at_ms, sh->born_ms);
  for (uint32_t i = 0; i < children; i++) {
    child[i]->hash_start = i == 0 ? sh->hash_start : slp_u128_add(middle, SLP_U128(1));
    child[i]->hash_end = i + 1 == children ? sh->hash_end : middle;
    take_in(box, s, child[i]);
    sh->child[sh->child_n++] = child[i]->index;
    child[i]->open_at = i == 0 ? sh->open_at : s->open_n++;
    s->open[child[i]->open_at] = child[i]->index;
  }
  return 0;
}

int slp_change_roll_due(slp_box *box, slp_changes *s, int64_t now_ms) {
  int64_t roll_ms = (int64_t)box->o.roll_ms;
  if (s->quirks.keep_open) return 0;
  for (uint32_t i = 0; i < s->open_n; i++) {
    slp_change_shard *sh = s->shards[s->open[i]];
    if (roll_ms && now_ms - sh->roll_ms > GENERATIONS_MAX * roll_ms) {
      sh->roll_ms = now_ms - GENERATIONS_MAX * roll_ms;
    }
    while (now_ms >= sh->roll_ms && s->live < SLP_CHANGE_SHARDS_MAX) {
      s->rolls++;
      int split =
          s->quirks.split_every && s->rolls % s->quirks.split_every == 0 && s->open_n < SPLIT_OPEN_MAX;
      int r = slp_change_roll(box, s, sh, sh->roll_ms, split ? 2 : 1);
      if (r) return r;
      sh = s->shards[s->open[i]];
    }
  }
  return 0;
}

/* Removes and frees a shard. */
static void remove_change_shard(slp_box *box, slp_changes *s, slp_change_shard *sh) {
  slp_change_records_free(box, sh);
  s->shards[sh->index] = NULL;
  s->live--;
  slp_free(box->mem, sh);
}

/* Returns when something of this shard expires next: its oldest record; or, if it is closed and has no
 * records, the shard itself. */
static int64_t fades_ms(const slp_change_shard *sh) {
  if (sh->first < sh->next) return slp_change_at(sh, sh->first)->at_ms + SLP_CHANGE_KEPT_MS + 1;
  return slp_change_open(sh) ? INT64_MAX : sh->closed_ms + SLP_CHANGE_KEPT_MS;
}

void slp_change_sweep(slp_box *box, slp_changes *s, int64_t now_ms) {
  if (now_ms < s->sweep_ms) return;
  int64_t horizon_ms = slp_max_i64(s->trimmed_ms, now_ms - SLP_CHANGE_KEPT_MS);
  /* a record that is added from now on does not expire before this */
  s->sweep_ms = now_ms + SLP_CHANGE_KEPT_MS;
  for (uint32_t i = 0; i < s->shards_n; i++) {
    slp_change_shard *sh = s->shards[i];
    if (!sh) continue;
    slp_change_drop_before(box, sh, horizon_ms);
    if (!slp_change_open(sh) && sh->first == sh->next && sh->closed_ms <= horizon_ms)
      remove_change_shard(box, s, sh);
    else
      s->sweep_ms = slp_min_i64(s->sweep_ms, fades_ms(sh));
  }
}

slp_change_shard *slp_change_shard_for(const slp_changes *s, slp_u128 hash) {
  for (uint32_t i = 0; i < s->open_n; i++) {
    slp_change_shard *sh = s->shards[s->open[i]];
    if (slp_u128_within(hash, sh->hash_start, sh->hash_end)) return sh;
  }
  return NULL;
}

slp_change_shard *slp_change_shard_by_id(const slp_changes *s, slp_str id) {
  for (uint32_t i = 0; i < s->shards_n; i++) {
    if (s->shards[i] && slp_str_is(id, s->shards[i]->id)) return s->shards[i];
  }
  return NULL;
}

void slp_change_shards_free(slp_box *box, slp_changes *s) {
  for (uint32_t i = 0; i < s->shards_n; i++) {
    if (s->shards[i]) remove_change_shard(box, s, s->shards[i]);
  }
  slp_free(box->mem, s->shards);
  slp_free(box->mem, s->open);
}
