/* positions.c - the positions of a stream's shards: made from rows or a token, and made into a token.
 *
 * Neither the rows nor a token have all shards. Workers remove the rows of shards that were read to their
 * end, and a token leaves such shards out. A child gets its row only when its parent has ended. Without a
 * position, a shard would begin at its oldest record in the target's layout, or where the application began.
 * So every listed shard gets a position here:
 *   - an ancestor of a shard with a position was read to its end, because it would have a position itself
 *     otherwise;
 *   - a descendant of such a shard, or a shard without relatives, begins at its oldest record. */
#include "admin/positions.h"

#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/buf.h"
#include "base/fail.h"
#include "core/mark.h"
#include "core/position.h"
#include "core/token.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <stdlib.h>

static int by_shard(const void *a, const void *b) {
  return slp_str_cmp(((const slp_placed *)a)->shard, ((const slp_placed *)b)->shard);
}

slp_placed *slp_placed_find(const slp_placed_list *list, slp_str shard) {
  slp_placed key = {.shard = shard};
  return list->n && shard.n ? bsearch(&key, list->all, list->n, sizeof key, by_shard) : NULL;
}

static void sort_placed_by_shard(slp_placed_list *list) {
  if (list->all && list->n) qsort(list->all, list->n, sizeof *list->all, by_shard);
}

/* ---- from rows ---------------------------------------------------------------------------------------- */

/* Returns a copy of a text that lives as long as the command. The rows, from which texts come, are freed
 * earlier. */
static slp_str keep_placed_text(slp_admin *a, slp_str s) {
  return s.n ? slp_admin_keep(a, s) : (slp_str){NULL, 0};
}

void slp_placed_of_rows(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  slp_placed_list *list = &a->placed;
  list->all = slp_admin_room(a, (s->leases_n + s->bad_n + a->shards_n + 1) * sizeof *list->all);
  if (!list->all) return;
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    list->all[list->n++] =
        (slp_placed){.shard = keep_placed_text(a, l->shard),
                     .parents = {keep_placed_text(a, l->parents[0]), keep_placed_text(a, l->parents[1])},
                     .hash_start = keep_placed_text(a, l->hash_start),
                     .hash_end = keep_placed_text(a, l->hash_end),
                     .position = l->position,
                     .parked = l->parked};
  }
  for (size_t i = 0; i < s->bad_n; i++) {
    const slp_bad_row *b = &s->bad[i];
    slp_str name = b->name.n ? b->name : b->key.range.n ? b->key.range : b->key.hash;
    list->all[list->n++] = (slp_placed){.shard = keep_placed_text(a, name), .bad = b->why};
  }
  sort_placed_by_shard(list);
}

/* ---- from a token ------------------------------------------------------------------------------------- */

/* Returns the position for a row. A token has two things for each shard: a position, and a time before which
 * no record is handed out. A row can hold only one of them. So if the position is the oldest record, returns
 * the time, otherwise the position. */
static slp_position position_of(const slp_admin *a, const slp_token_shard *t) {
  slp_position from = t->from;
  if (from.kind == SLP_POSITION_OLDEST && t->not_before_ms >= 0)
    return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = t->not_before_ms};
  slp_mark_canonical(&from.mark, a->o.source->number_digits_min);
  return from;
}

static void take_token(slp_admin *a, slp_token *t) {
  slp_placed_list *list = &a->placed;
  list->all = slp_admin_room(a, (t->shards_n + a->shards_n + 1) * sizeof *list->all);
  slp_token_mark_readable(t);
  for (size_t i = 0; i < t->shards_n && list->all; i++) {
    const slp_token_shard *s = &t->shards[i];
    if (!s->reads) continue;
    list->all[list->n++] = (slp_placed){.shard = keep_placed_text(a, s->id),
                                        .parents = {keep_placed_text(a, s->parent), {NULL, 0}},
                                        .position = position_of(a, s)};
  }
  sort_placed_by_shard(list);
}

static slp_str stream_of(const slp_admin *a) {
  return slp_str_of(a->describe.arn[0] ? a->describe.arn : a->describe.name);
}

int slp_placed_of_token(slp_admin *a, slp_str text) {
  char why[160] = "";
  slp_token *t;
  int r = slp_token_read(&t, a->mem, text, why);
  if (r == SLP_ENOMEM) return r;
  if (r) return slp_fail_set(&a->fail, SLP_REFUSED, SLOOP_ETOKEN, "%s", why);
  if (slp_token_is_of(stream_of(a), t->stream) == 1) {
    take_token(a, t);
  } else {
    r = SLOOP_ETOKEN;
    slp_admin_note(a, SLP_ADMIN_OTHER_STREAM, SLP_REFUSED, r);
    a->why.name = slp_admin_keep(a, t->stream);
  }
  slp_token_free(t);
  return r;
}

/* ---- shards that are in neither rows nor token -------------------------------------------------------- */

static void complete_from_listing(slp_admin *a, slp_placed *p) {
  const slp_admin_shard *s = slp_admin_listed(a, p->shard);
  if (!s) return;
  if (s->parents[0].n) memcpy(p->parents, s->parents, sizeof p->parents);
  if (!p->hash_start.n) {
    p->hash_start = s->hash_start;
    p->hash_end = s->hash_end;
  }
}

/* Sets before[] of all listed ancestors that have no position, from `parents` upwards: they were read to
 * their end. */
static void mark_before(slp_admin *a, const slp_placed_list *named, const slp_str parents[2],
                        const slp_admin_shard **stack, uint8_t *before) {
  size_t n = 0;
  for (;;) {
    for (int k = 0; k < 2; k++) {
      const slp_admin_shard *p = slp_admin_listed(a, parents[k]);
      if (!p || before[p - a->shards] || slp_placed_find(named, p->id)) continue;
      before[p - a->shards] = 1;
      stack[n++] = p;
    }
    if (!n) return;
    parents = stack[--n]->parents;
  }
}

void slp_placed_fill(slp_admin *a) {
  slp_placed_list *list = &a->placed, named = *list;
  uint8_t *before = slp_admin_room(a, a->shards_n + 1);
  const slp_admin_shard **stack = slp_admin_room(a, (a->shards_n + 1) * sizeof(const slp_admin_shard *));
  if (!before || !stack || !list->all) return;
  for (size_t i = 0; i < named.n; i++) {
    complete_from_listing(a, &named.all[i]);
    mark_before(a, &named, named.all[i].parents, stack, before);
  }
  for (size_t i = 0; i < a->shards_n; i++) {
    const slp_admin_shard *s = &a->shards[i];
    if (slp_placed_find(&named, s->id)) continue;
    list->all[list->n++] =
        (slp_placed){.shard = s->id,
                     .parents = {s->parents[0], s->parents[1]},
                     .hash_start = s->hash_start,
                     .hash_end = s->hash_end,
                     .position = {.kind = before[i] ? SLP_POSITION_END : SLP_POSITION_OLDEST},
                     .filled = 1};
  }
  sort_placed_by_shard(list);
}

/* ---- to a token --------------------------------------------------------------------------------------- */

/* Returns 1 if the shard is in the list, its row can be read, and it is not read to its end. */
static int is_read(const slp_placed *p) { return p && !p->bad && p->position.kind != SLP_POSITION_END; }

static slp_token_shard shard_of(const slp_placed_list *list, const slp_placed *p) {
  slp_token_shard t = {.id = p->shard, .from = p->position, .not_before_ms = INT64_MIN};
  if (p->position.kind == SLP_POSITION_TIME) t.not_before_ms = p->position.at_ms;
  for (int k = 0; k < 2 && !t.parent.p; k++)
    if (is_read(slp_placed_find(list, p->parents[k]))) t.parent = p->parents[k];
  t.active = !t.parent.p;
  return t;
}

int slp_placed_token(slp_admin *a, slp_buf *text) {
  const slp_placed_list *list = &a->placed;
  slp_token_shard *shards = slp_admin_room(a, (list->n + 1) * sizeof *shards);
  size_t n = 0;
  if (!shards) return SLP_ENOMEM;
  for (size_t i = 0; i < list->n; i++)
    if (is_read(&list->all[i])) shards[n++] = shard_of(list, &list->all[i]);
  return n ? slp_token_write(text, stream_of(a), shards, n) : SLOOP_ELEASE;
}
