/* reset.c - sets the position of one lease, or of all leases.
 *
 * If all positions are set, leases of shards that the stream does not list any more stay as they are: such
 * shards have nothing to read. Children are still read after their parents, because a parent that was read to
 * its end gets the new position too. LATEST means the present moment, as for a fleet that begins. If a shard
 * is closed and all its children have leases, all its records are older than that moment. So it counts as
 * read to its end. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "base/fail.h"
#include "core/position.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>

/* Finds out for each shard whether it has children, and whether all of them have leases. */
static void count_children(slp_admin *a) {
  for (size_t i = 0; i < a->shards_n; i++) {
    int there = slp_snapshot_lease_of(&a->snapshot, a->shards[i].id) != NULL;
    for (int k = 0; k < 2; k++) {
      const slp_admin_shard *parent = slp_admin_listed(a, a->shards[i].parents[k]);
      if (!parent) continue;
      slp_admin_shard *p = &a->shards[parent - a->shards];
      p->has_children = 1;
      if (!there) p->lacks_leases = 1;
    }
  }
}

/* Returns 1 if the shard is closed and all its children have leases. Then no new record comes into it. */
static int is_past(const slp_admin *a, slp_str shard) {
  const slp_admin_shard *s = slp_admin_listed(a, shard);
  return s && !s->open && s->has_children && !s->lacks_leases;
}

static slp_position place_of(const slp_admin *a, slp_str shard) {
  if (a->o.to.kind != SLP_POSITION_LATEST) return a->o.to;
  if (is_past(a, shard)) return (slp_position){.kind = SLP_POSITION_END};
  /* if rows of this layout can't hold a time, they have a word for LATEST */
  if (a->schema->strategy) return a->o.to;
  return (slp_position){.kind = SLP_POSITION_TIME, .at_ms = slp_admin_service_ms(a)};
}

static void add_reset_target(slp_admin *a, slp_str shard) {
  slp_position to = place_of(a, shard);
  slp_edits_add(a, shard, &to);
}

/* ---- one lease ---------------------------------------------------------------------------------- */

/* Returns 1 if the child was read in part or to its end, or if a worker owns its lease and will read it. */
static int is_ahead(const slp_lease_row *child) {
  return child->position.kind >= SLP_POSITION_AT || child->owner.n;
}

static int is_child(const slp_lease_row *c, slp_str shard) {
  return slp_str_eq(c->parents[0], shard) || slp_str_eq(c->parents[1], shard);
}

static void tell_kin(slp_admin *a, const slp_lease_row *l, sloop_admin_result_t *r) {
  const slp_snapshot *s = &a->snapshot;
  const char **parents = slp_admin_room(a, 2 * sizeof *parents);
  const char **children = slp_admin_room(a, (s->leases_n + 1) * sizeof *children);
  if (!parents || !children) return;
  for (int k = 0; k < 2; k++) {
    const slp_lease_row *p = slp_snapshot_lease_of(s, l->parents[k]);
    if (p && p->position.kind != SLP_POSITION_END)
      parents[r->unfinished_parents_n++] = slp_admin_text(a, p->shard);
  }
  for (size_t i = 0; i < s->leases_n; i++)
    if (is_child(&s->leases[i], l->shard) && is_ahead(&s->leases[i]))
      children[r->children_ahead_n++] = slp_admin_text(a, s->leases[i].shard);
  r->unfinished_parents = parents;
  r->children_ahead = children;
}

static int is_number(const slp_position *p) {
  return p->kind == SLP_POSITION_AT || p->kind == SLP_POSITION_AFTER;
}

/* Starts LOCATING: asks the service whether it knows the position. If it does, slp_admin_reset is called
 * again. */
static void start_locating(slp_admin *a, slp_str shard) {
  a->locate.shard = slp_admin_keep(a, shard);
  if (a->starved)
    slp_admin_no_memory(a);
  else
    slp_admin_move(a, SLP_ADMIN_LOCATING);
}

static void reset_one(slp_admin *a) {
  slp_str name = a->o.name;
  const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, name);
  const slp_admin_shard *listed = slp_admin_listed(a, name);
  if (!l) {
    slp_admin_failed(a, listed ? SLP_ADMIN_BAD_LEASE : SLP_ADMIN_NO_SUCH_LEASE, SLP_REFUSED, SLOOP_ENOSHARD,
                     name);
    return;
  }
  if (!listed) {
    slp_admin_failed(a, SLP_ADMIN_UNLISTED, SLP_REFUSED, SLOOP_ENOSHARD, name);
    return;
  }
  if (is_number(&a->o.to) && !a->located) {
    /* a position that the service does not know would make every worker that reads the shard fail later */
    start_locating(a, name);
    return;
  }
  if (slp_edits_begin(a, 1, a->o.force)) {
    slp_admin_no_memory(a);
    return;
  }
  sloop_admin_result_t *r = slp_edits_result(a);
  if (!r) return;
  add_reset_target(a, l->shard);
  tell_kin(a, l, r);
  slp_edits_round(a);
}

/* ---- all leases --------------------------------------------------------------------------------- */

static void reset_all(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  if (!s->leases_n) {
    slp_admin_failed(a, SLP_ADMIN_NO_LEASES, SLP_REFUSED, SLOOP_ENOSHARD, (slp_str){NULL, 0});
    return;
  }
  if (slp_edits_begin(a, s->leases_n, a->o.force)) {
    slp_admin_no_memory(a);
    return;
  }
  sloop_admin_result_t *r = slp_edits_result(a);
  if (!r) return;
  for (size_t i = 0; i < s->leases_n; i++) {
    if (slp_admin_listed(a, s->leases[i].shard))
      add_reset_target(a, s->leases[i].shard);
    else
      r->unlisted_n++;
  }
  for (size_t i = 0; i < a->shards_n; i++) r->missing_n += !slp_snapshot_lease_of(s, a->shards[i].id);
  r->bad_rows_n = s->bad_n;
  slp_edits_round(a);
}

void slp_admin_reset(slp_admin *a) {
  if (a->edits) {
    slp_edits_round(a);
    return;
  }
  count_children(a);
  if (a->o.to.kind == SLP_POSITION_TIME && a->schema->strategy)
    slp_admin_failed(a, SLP_ADMIN_NO_TIMES, SLP_REFUSED, SLOOP_EOPTION, (slp_str){NULL, 0});
  else if (a->o.name.n)
    reset_one(a);
  else
    reset_all(a);
}
