/* steal_sync.c - compares the stream's listing with the table's rows, where no worker leads: creates missing
 * leases, as the KCL would (sync_rule.c), removes rows of ended shards that no worker needs any more, and
 * reports hash keys that no lease covers. */
#include "base/map.h"
#include "base/mem.h"
#include "base/states.h"
#include "codec/page.h"
#include "core/position.h"
#include "guest/guest.h"
#include "guest/guest_rules.h"
#include "guest/steal.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/lease.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shard_sync.h"
#include "lease/snapshot.h"

#include <stdlib.h>

/* A row is not removed before this time has passed since it was first seen. A late copy of the write that
 * created the row is accepted while its signature is valid: for five minutes (IAM user guide, "Elements of an
 * AWS API request signature"). If the copy found no row, it would create the row again. */
#define COPIES_US UINT64_C(360000000)

typedef struct place {
  const slp_shard_desc *desc; /* NULL: the shard has a row, but the stream does not list it */
  slp_str parents[2];
} place;

typedef struct sync {
  slp_fleet *f;
  const slp_snapshot *s;
  slp_sync_shard *shards; /* owned; n elements */
  place *places;          /* owned; places[i] is about shards[i] */
  slp_map numbers;        /* maps a shard's id to the shard's element in `shards` */
  size_t n;
  uint8_t removed; /* 1: this shard sync removes rows */
} sync;

/* ---- the stream and the table as one tree -------------------------------------------------------- */

static int add_sync_shard(sync *y, slp_str id, place at, slp_sync_row row) {
  slp_sync_shard *s = &y->shards[y->n];
  *s = (slp_sync_shard){.parents = {SLP_NO_SHARD, SLP_NO_SHARD}, .row = (uint8_t)row};
  y->places[y->n] = at;
  if (slp_map_put(&y->numbers, id, s)) return SLP_ENOMEM;
  y->n++;
  return 0;
}

static size_t number_of(const sync *y, slp_str id) {
  const slp_sync_shard *s = id.n ? slp_map_get(&y->numbers, id) : NULL;
  return s ? (size_t)(s - y->shards) : SLP_NO_SHARD;
}

int slp_sync_is_begun(const slp_position *position) {
  return position->kind == SLP_POSITION_AFTER || position->kind == SLP_POSITION_END;
}

static slp_sync_row row_of(const slp_lease_row *l) {
  if (!l) return SLP_SYNC_NO_ROW;
  if (l->position.kind == SLP_POSITION_END) return SLP_SYNC_ENDED;
  return slp_sync_is_begun(&l->position) ? SLP_SYNC_UNFINISHED : SLP_SYNC_UNREAD;
}

/* Marks shards whose rows can't be read. Such a shard has a row, so no row is created. Its position is not
 * known, so the shard counts as unread. */
static void mark_damaged(sync *y) {
  for (size_t i = 0; i < y->s->bad_n; i++) {
    size_t number = number_of(y, y->s->bad[i].name);
    if (number != SLP_NO_SHARD) y->shards[number].row = SLP_SYNC_UNREAD;
  }
}

static place place_of_listed(const slp_listed *d) {
  return (place){&d->desc, {d->desc.parent, d->desc.adjacent_parent}};
}

/* Returns the place of a shard that has a row but is not listed. The place is needed for the shard's
 * parent: a late listing shows the parent without its children. If the parent's row was removed after its
 * end, the parent would look like a new shard, and its row would be created again. The children's rows,
 * which have the parent's id, prevent that. */
static place place_of_unlisted(const slp_lease_row *l) {
  return (place){NULL, {l->parents[0], l->parents[1]}};
}

static int fill_sync_shards(sync *y) {
  slp_fleet *f = y->f;
  size_t at = 0;
  int r = 0;
  for (slp_listed *d; !r && (d = slp_listed_each(f, &at));) {
    r = add_sync_shard(y, d->desc.id, place_of_listed(d), row_of(slp_snapshot_lease_of(y->s, d->desc.id)));
    if (!r) y->shards[y->n - 1].open = d->open;
  }
  for (size_t i = 0; i < y->s->leases_n && !r; i++)
    if (number_of(y, y->s->leases[i].shard) == SLP_NO_SHARD)
      r = add_sync_shard(y, y->s->leases[i].shard, place_of_unlisted(&y->s->leases[i]),
                         row_of(&y->s->leases[i]));
  for (size_t i = 0; i < y->n && !r; i++)
    for (int k = 0; k < 2; k++) y->shards[i].parents[k] = number_of(y, y->places[i].parents[k]);
  mark_damaged(y);
  return r;
}

/* ---- leases that are missing --------------------------------------------------------------------- */

static int by_start(const void *a, const void *b) {
  const slp_shard_desc *x = ((const place *)a)->desc, *y = ((const place *)b)->desc;
  slp_str s = x->seq_start, t = y->seq_start;
  if (s.n != t.n) return s.n < t.n ? -1 : 1;
  return s.n ? memcmp(s.p, t.p, s.n) : 0;
}

static void make_lease(sync *y, const slp_shard_desc *d, slp_sync_make how) {
  const slp_seen_shard *seen = slp_seen_get(y->f, d->id);
  slp_operation *i = slp_bulk_write_create(
      y->f, d, (seen && slp_guest_seen_of(seen)->silence.reads) || slp_lease_seen(y->f, d->id));
  if (!i) return; /* no memory: the next shard sync tries again */
  /* A start at a time is the same for all shards. A start at LATEST is not: the child of a shard that was
   * read begins at its oldest record. */
  i->position = y->f->o.start;
  if (how == SLP_SYNC_AT_OLDEST && i->position.kind != SLP_POSITION_TIME)
    i->position.kind = SLP_POSITION_OLDEST;
  if (how == SLP_SYNC_AT_END) i->position.kind = SLP_POSITION_END;
}

static int make_missing(sync *y, size_t *ret_made) {
  place *missing = slp_zalloc_n(y->f->mem, y->n + 1, sizeof *missing);
  size_t n = 0;
  int latest = y->f->o.start.kind == SLP_POSITION_LATEST;
  int every = slp_guest_rules_of(y->f)->keeps_listed;
  int r = !missing ? SLP_ENOMEM
          : every  ? slp_sync_every(y->shards, y->n, latest, y->f->mem)
                   : slp_sync_shards(y->shards, y->n, latest, y->f->mem);
  for (size_t i = 0; i < y->n && !r; i++)
    if (y->shards[i].ret && y->places[i].desc) missing[n++] = y->places[i];
  /* Older shards come first, so that if writing stops early, the next shard sync creates the rest. */
  if (n) qsort(missing, n, sizeof *missing, by_start);
  for (size_t i = 0; i < n; i++)
    make_lease(y, missing[i].desc, (slp_sync_make)y->shards[number_of(y, missing[i].desc->id)].ret);
  slp_free(y->f->mem, missing);
  *ret_made = n;
  return r;
}

/* ---- rows to be removed ----------------------------------------------------------------------------- */

enum { HAS_CHILD = 1, NEEDED = 2 };

static void mark_parent(uint8_t *marks, size_t parent, int needed) {
  if (parent != SLP_NO_SHARD) marks[parent] |= (uint8_t)(needed ? HAS_CHILD | NEEDED : HAS_CHILD);
}

/* Marks each parent that has children. A parent's row is needed until each child has a row with a position
 * inside the child's shard. Then everything before that position is read and saved, and no worker creates the
 * child's row again. */
static void mark_parents(const sync *y, uint8_t *marks) {
  for (size_t i = 0; i < y->n; i++) /* first marks the parents of children that are listed and have no row */
    for (int k = 0; k < 2 && !y->shards[i].row; k++) mark_parent(marks, y->shards[i].parents[k], 1);
  for (size_t i = 0; i < y->s->leases_n; i++) {
    const slp_lease_row *kid = &y->s->leases[i];
    int somewhere = slp_sync_is_begun(&kid->position);
    for (int k = 0; k < 2; k++) mark_parent(marks, number_of(y, kid->parents[k]), !somewhere);
  }
}

/* Returns 1 if the row must not be removed. */
static int is_needed(const sync *y, const slp_lease_row *l, uint8_t marks) {
  slp_fleet *f = y->f;
  const slp_seen_shard *seen = slp_seen_get(f, l->shard);
  if (l->position.kind != SLP_POSITION_END || !seen || !seen->ended_us || marks & NEEDED) return 1;
  if (slp_guest_rules_of(f)->keeps_listed && slp_fleet_listed_has(f, l->shard)) return 1;
  if (slp_fleet_now(f) - slp_guest_seen_of(seen)->first_us < COPIES_US) return 1;
  if (slp_snapshot_lease_of(y->s, l->parents[0]) || slp_snapshot_lease_of(y->s, l->parents[1])) return 1;
  return !(marks & HAS_CHILD) && slp_fleet_listed_has(f, l->shard);
}

static void remove_ended(sync *y) {
  if (!slp_set_has(y->f->schema->operations, SLP_OPERATION_REMOVE)) return; /* this layout removes no rows */
  uint8_t *marks = slp_zalloc_n(y->f->mem, y->n + 1, 1);
  if (marks) mark_parents(y, marks);
  for (size_t i = 0; i < y->s->leases_n && marks; i++) {
    const slp_lease_row *l = &y->s->leases[i];
    if (is_needed(y, l, marks[number_of(y, l->shard)])) continue;
    slp_operation *operation = slp_bulk_write_add(y->f, SLP_OPERATION_REMOVE, l->shard.n, 0);
    if (!operation) continue;
    operation->shard = slp_bulk_write_text(y->f, l->shard);
    y->removed = 1;
  }
  slp_free(y->f->mem, marks);
}

/* ---- the shard sync ---------------------------------------------------------------------------------- */

int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s, int *ret_made, int *ret_removed) {
  sync y = {.f = f, .s = s};
  size_t made = 0, room = slp_listed_n(f) + s->leases_n + 1;
  y.shards = slp_zalloc_n(f->mem, room, sizeof *y.shards);
  y.places = slp_zalloc_n(f->mem, room, sizeof *y.places);
  slp_map_init(&y.numbers, f->mem);
  int r = y.shards && y.places ? fill_sync_shards(&y) : SLP_ENOMEM;
  if (!r) r = make_missing(&y, &made);
  if (!r && !made) slp_shard_sync_name_hole(f, s);
  if (!r) remove_ended(&y);
  *ret_made = made > 0;
  *ret_removed = y.removed;
  slp_map_free(&y.numbers);
  slp_free(f->mem, y.shards);
  slp_free(f->mem, y.places);
  return r;
}
