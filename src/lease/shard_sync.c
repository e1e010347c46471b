/* shard_sync.c - the leader compares the stream's listing with the leases in the table. It creates missing
 * leases, and removes leases of shards that the stream has forgotten. It also removes the rows of evicted
 * workers, and reports hash keys that no lease covers. */
#include "lease/shard_sync.h"

#include "codec/page.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hash_range.h"
#include "lease/lease.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/refused.h"
#include "lease/row_poll.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shard_set.h"
#include "lease/snapshot.h"

#define ABSENT_US 60000000 /* if the listings lack a shard for this time, the shard is gone */
/* the row of an evicted worker is kept for this time, which is longer than any signed request is valid */
#define TOMBSTONE_US UINT64_C(3600000000)
/* at most this many bad rows are reported one by one; the others are only counted */
#define BAD_NAMED_MAX 100

/* Remembers which shards have rows, and since when the listings lack a shard. */
static void remember_shards_with_rows(slp_fleet *f, const slp_snapshot *s) {
  slp_seen_rows(f, slp_fleet_now(f));
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    slp_seen_shard *seen = slp_seen_of(f, l->shard);
    if (!seen) continue;
    int listed = slp_fleet_listed_has(f, l->shard);
    seen->row = 1;
    slp_seen_row(f, seen);
    if (listed) seen->absent_us = 0;
    if (!listed && !seen->absent_us) seen->absent_us = slp_listed_us(f);
  }
  slp_seen_forget(f, s, NULL);
}

int slp_shard_sync_count(slp_fleet *f, const slp_snapshot *s) {
  int again = 0;
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    slp_seen_shard *seen = slp_seen_of(f, l->shard);
    if (!seen) continue;
    int waits = l->parked || slp_refused_waits(l, slp_wall_ms(f->h));
    int nobodys = !waits && l->position.kind != SLP_POSITION_END && !slp_snapshot_worker_of(s, l->owner);
    seen->unowned_n = nobodys ? seen->unowned_n + 1 : 0;
    again |= seen->unowned_n > 1;
  }
  return again;
}

/* ---- leases that are missing ------------------------------------------------------------------- */

static void mark_assigned(slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->assignments_n; i++) {
    slp_shard_set_reader r;
    slp_str id;
    slp_shard_set_begin(&r, s->assignments[i].set);
    while (slp_shard_set_next(&r, &id) == 1) {
      slp_listed *d = slp_listed_get(f, id);
      if (d) d->assigned = 1;
    }
  }
}

static void mark_damaged(slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->bad_n; i++) {
    slp_listed *d = slp_listed_get(f, s->bad[i].name);
    if (d) d->damaged = 1;
  }
}

/* Returns 1 if the shard had a row before. Its new row must then begin with an epoch that was never used. */
static int was_there(slp_fleet *f, const slp_listed *d) {
  const slp_seen_shard *seen = slp_seen_get(f, d->desc.id);
  return (seen && seen->row) || d->assigned || slp_lease_seen(f, d->desc.id);
}

/* Returns the position of a new lease: mostly where the fleet began. But if a parent has a row, the parent is
 * read first, so the shard begins at its oldest record. */
static slp_position begin_of(const slp_snapshot *s, const slp_shard_desc *d) {
  slp_position at = s->leadership.start;
  slp_str parents[2] = {d->parent, d->adjacent_parent};
  for (int k = 0; k < 2; k++) {
    const slp_lease_row *p = slp_snapshot_lease_of(s, parents[k]);
    if (p && p->position.kind != SLP_POSITION_TIME) return (slp_position){.kind = SLP_POSITION_OLDEST};
    if (p) at = p->position;
  }
  return at;
}

static void make_lease(slp_fleet *f, const slp_snapshot *s, const slp_listed *listed) {
  slp_operation *i = slp_bulk_write_create(f, &listed->desc, was_there(f, listed));
  if (!i) return; /* no memory: the next shard sync creates the lease */
  i->position = begin_of(s, &listed->desc);
}

/* Adds a CREATE for each listed shard that has no row, and returns their number. A row that exists is kept,
 * even if it is damaged. */
static size_t make_missing(slp_fleet *f, const slp_snapshot *s) {
  size_t at = 0, n = 0;
  mark_assigned(f, s);
  mark_damaged(f, s);
  for (slp_listed *d; (d = slp_listed_each(f, &at));) {
    if (slp_snapshot_lease_of(s, d->desc.id) || d->damaged) continue;
    make_lease(f, s, d);
    n++;
  }
  return n;
}

/* ---- rows that are removed ----------------------------------------------------------------------- */

/* Removes the leases of ended shards that the listings have lacked for ABSENT_US. */
static void remove_ended(slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->leases_n; i++) {
    const slp_lease_row *l = &s->leases[i];
    const slp_seen_shard *seen = slp_seen_get(f, l->shard);
    if (l->position.kind != SLP_POSITION_END || l->owner.n || !seen || !seen->absent_us) continue;
    if (slp_listed_us(f) - seen->absent_us < ABSENT_US) continue;
    slp_operation *operation = slp_bulk_write_add(f, SLP_OPERATION_REMOVE, l->shard.n, 0);
    if (operation) operation->shard = slp_bulk_write_text(f, l->shard);
  }
}

/* Returns 1 if the worker w, in its present incarnation, is the owner of a lease. */
static int worker_owns_a_lease(const slp_snapshot *s, const slp_worker_row *w) {
  for (size_t i = 0; i < s->leases_n; i++) {
    slp_str id, incarnation;
    if (!slp_instance_split(s->leases[i].owner, &id, &incarnation)) continue;
    if (slp_str_eq(id, w->id) && slp_str_eq(incarnation, w->incarnation)) return 1;
  }
  return 0;
}

/* Removes rows of workers that were evicted or left more than TOMBSTONE_US ago. */
static void reap_workers(slp_fleet *f, const slp_snapshot *s) {
  uint64_t now = slp_fleet_now(f);
  for (size_t i = 0; i < s->workers_n; i++) {
    const slp_worker_row *w = &s->workers[i];
    slp_member *p = w->gone.n ? slp_member_get(f, w->id) : NULL;
    if (!p || !p->gone || !slp_str_eq((slp_str){p->incarnation, p->incarnation_n}, w->incarnation)) continue;
    if (now - p->gone_since_us < TOMBSTONE_US || worker_owns_a_lease(s, w)) continue;
    slp_operation *operation = slp_bulk_write_add(f, SLP_OPERATION_REAP, w->id.n + w->incarnation.n, 0);
    if (!operation) continue;
    operation->id = slp_bulk_write_text(f, w->id);
    operation->incarnation = slp_bulk_write_text(f, w->incarnation);
  }
}

static void reap_assignments(slp_fleet *f, const slp_snapshot *s) {
  /* removes assignment rows of workers whose own rows were removed */
  for (size_t i = 0; i < s->assignments_n; i++) {
    slp_str id = s->assignments[i].worker;
    if (slp_snapshot_worker(s, id) || slp_snapshot_is_bad(s, id)) continue;
    slp_operation *operation = slp_bulk_write_add(f, SLP_OPERATION_UNASSIGN, id.n, 0);
    if (operation) operation->id = slp_bulk_write_text(f, id);
  }
}

/* ---- the whole comparison ---------------------------------------------------------------------- */

void slp_shard_sync_tell_bad(slp_fleet *f, const slp_snapshot *s) {
  size_t named = (size_t)slp_min_u64(s->bad_n, BAD_NAMED_MAX);
  if (!s->bad_n || !slp_listed_may_tell(f, SLP_LISTED_BAD_ROWS, 0)) return;
  for (size_t i = 0; i < named; i++) slp_fleet_bad_row(f, (slp_str){NULL, 0}, &s->bad[i].key, s->bad[i].why);
  if (s->bad_n > named)
    slp_fleet_tell(f, SLP_FLEET_BAD_ROW, (slp_str){NULL, 0}, 0, "and %zu more invalid rows",
                   s->bad_n - named);
}

static int find_hole(slp_fleet *f, const slp_snapshot *s, char from[40], char to[40]) {
  return s->leases_n ? slp_hash_range_hole(f->mem, s->leases, s->leases_n, from, to) : 0;
}

void slp_shard_sync_name_hole(slp_fleet *f, const slp_snapshot *s) {
  char from[40], to[40];
  int r = find_hole(f, s, from, to);
  int news = !f->stats.holes_now;
  if (r >= 0) f->stats.holes_now = r == 1;
  if (r != 1 || !slp_listed_may_tell(f, SLP_LISTED_HOLE, news)) return;
  slp_fleet_tell(f, SLP_FLEET_HOLE, (slp_str){NULL, 0}, 0, "no lease covers the hash keys %s to %s", from,
                 to);
}

slp_sync_found slp_shard_sync_write(slp_fleet *f, const slp_snapshot *s, int whole) {
  slp_sync_found found;
  char from[40], to[40];
  slp_polls_forget(f, f->o.worker);
  remember_shards_with_rows(f, s);
  found.made = make_missing(f, s);
  found.doubt = !found.made && !whole && find_hole(f, s, from, to) == 1;
  if (!found.made && !found.doubt) slp_shard_sync_name_hole(f, s);
  remove_ended(f, s);
  /* only if all leases were read, because a worker's row is kept if it owns a lease */
  if (whole) reap_workers(f, s);
  reap_assignments(f, s);
  return found;
}
