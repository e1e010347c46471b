/* save.c - writes a consumer's positions as a token.
 *
 * A shard is finished if it was read to its end, every record of it is acknowledged, and its children are
 * known. The token has:
 *   - every unfinished shard;
 *   - every shard that descends from an unfinished one, even if it is finished itself, because it leads to
 *     its own children. Its position is after its last record.
 * A shard of the token is active if it descends from no unfinished shard. Only active shards are started at
 * once. bloop (another program that reads such tokens, see token.h) starts a child when its parent ends. If a
 * child were active together with its parent, bloop would start the child twice. */
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "core/consumer.h"
#include "core/consumer_inside.h"
#include "core/lineage.h"
#include "core/position.h"
#include "core/queue.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"
#include "core/token.h"

#include <sloop.h>
#include <stdlib.h>

/* Returns 1 if the shard is finished. The token then needs only the shard's children. */
static int is_finished(const slp_shard *s) {
  return slp_reading_state(s) == SLP_READER_ENDED &&
         (slp_queue_all_acked(s) || SLP_MUTANT(token_forgets_ended)) && slp_lineage_has_children(s);
}

static int is_unfinished(const slp_shard *s) { return !slp_lineage_skipped(s) && !is_finished(s); }

/* Marks all shards that descend from an unfinished shard. */
static void mark_held_back(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) s->marked = 0;
  for (s = slp_lineage_ordered(c, SLP_PARENTS_FIRST); s; s = slp_lineage_next(s)) {
    for (int i = 0; i < 2 && !s->marked && !slp_lineage_skipped(s); i++) {
      slp_shard *p = slp_lineage_parent(s, i);
      s->marked = p && !slp_lineage_skipped(p) && (p->marked || is_unfinished(p));
    }
  }
}

/* Returns 1 if the shard is to be in the token. */
static int belongs_in_token(const slp_shard *s) {
  return !slp_lineage_skipped(s) && (s->marked || is_unfinished(s));
}

/* Sets the shard's position in the token to the position where reading of the shard started, because no
 * record of the shard is acknowledged. */
static void set_start(slp_token_shard *t, const slp_shard *s) {
  t->from.kind = SLP_POSITION_OLDEST;
  switch (s->at.start.kind) {
    case SLP_POSITION_AT:
    case SLP_POSITION_AFTER:
      t->from.kind = SLP_POSITION_AT;
      t->from.mark = s->at.start.mark;
      break;
    case SLP_POSITION_TIME: t->not_before_ms = slp_max_i64(s->at.not_before_ms, s->at.start.at_ms); break;
    case SLP_POSITION_LATEST:
      t->not_before_ms = slp_max_i64(s->at.not_before_ms, slp_lineage_anchor(s));
      break;
    case SLP_POSITION_NONE:
    case SLP_POSITION_OLDEST:
    case SLP_POSITION_END: break;
  }
}

static void describe_token_shard(slp_token_shard *t, const slp_shard *s) {
  *t = (slp_token_shard){.id = s->id, .from.mark.arrived_ms = -1, .not_before_ms = s->at.not_before_ms};
  t->active = !s->marked;
  if (slp_acked_place(s, &t->from.mark)) {
    t->from.kind = SLP_POSITION_AFTER;
    /* The acknowledged record arrived later than not_before_ms. So not_before_ms has no effect on later
     * records, and is left out. */
    if (SLP_MUTANT(token_drops_not_before) || t->from.mark.arrived_ms >= t->not_before_ms)
      t->not_before_ms = INT64_MIN;
  } else {
    set_start(t, s);
  }
  for (int i = 0; i < 2 && !t->parent.p; i++) {
    const slp_shard *p = slp_lineage_parent(s, i);
    if (p && belongs_in_token(p)) t->parent = p->id;
  }
}

static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_token_shard *)a)->id, ((const slp_token_shard *)b)->id);
}

static int write_positions(slp_consumer *c, slp_buf *text) {
  size_t at = 0, n = 0, i = 0;
  slp_shard *s;
  mark_held_back(c);
  while ((s = slp_map_each(&c->shards, &at))) n += (size_t)belongs_in_token(s);
  if (n == 0) return SLOOP_ESTATE;
  slp_token_shard *shards = slp_zalloc_n(c->mem, n, sizeof *shards);
  if (!shards) return SLP_ENOMEM;
  for (at = 0; (s = slp_map_each(&c->shards, &at));) {
    if (belongs_in_token(s)) describe_token_shard(&shards[i++], s);
  }
  qsort(shards, n, sizeof *shards, by_id);
  int r = slp_token_write(text, slp_str_of(c->arn ? c->arn : c->stream), shards, n);
  slp_free(c->mem, shards);
  return r == SLP_EBADDATA ? SLOOP_EPROTO : r == SLP_ELIMIT ? SLOOP_ETOOBIG : r;
}

int slp_consumer_save(slp_consumer *c, char *buf, size_t *len) {
  if (!c->started_from) return SLOOP_ESTATE;
  slp_buf text;
  slp_buf_init(&text, c->mem, SLP_TOKEN_BYTES_MAX);
  int r = write_positions(c, &text);
  size_t room = *len;
  if (!r) {
    *len = text.n;
    if (buf && text.n < room) {
      memcpy(buf, slp_buf_z(&text), text.n + 1);
    } else {
      r = SLP_ENOBUFS;
      *len = text.n + 1;
    }
  }
  slp_buf_free(&text);
  return r;
}
