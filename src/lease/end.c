/* fleet_end.c - a shard that was read to its end: its children's rows first, then, once every record is
 * acknowledged, its own end. So nobody can ever take a read shard for a new one, and no child is without a
 * row or read too early. */
#include "core/desc.h"
#include "lease/fleet_inside.h"

#define AGAIN_US 500000

void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n) {
  slp_lease *l = slp_lease_get(f, shard);
  if (!l || !l->open || l->end_told) return;
  slp_kids_free(l);
  l->kids = n ? slp_descs_copy(f->mem, children, n) : NULL;
  l->kid_names = l->kids ? slp_zalloc_n(f->mem, n, sizeof *l->kid_names) : NULL;
  for (size_t i = 0; i < n && l->kid_names; i++) {
    l->kid_names[i] = l->kids[i].id;
    l->kids_n = i + 1;
  }
  if (l->kids_n < n) slp_kids_free(l);
  if (n && !l->kids) { /* no memory: the same as a worker that dies here; the next one ends it */
    l->stall = 1;
  } else {
    l->end_told = 1;
    if (!n) f->unknown_kids = 1;
  }
  slp_lease_touch(l);
}

/* ---- children ---------------------------------------------------------------------------------- */

static void kid_made(slp_write *op) {
  slp_lease *l = op->owner;
  l->f->lease_writes--;
  if (op->end == SLP_OUTCOME_DONE) l->kid_at++;
  slp_lease_touch(l);
}

/* A row that was there before and was removed is made with epochs that were not, as by an audit. */
static uint64_t epoch_first(slp_fleet *f, slp_str shard) {
  return slp_lease_seen(f, shard) ? (uint64_t)(slp_wall_ms(f->h) / 1000) : 0;
}

static void make_kid(slp_lease *l) {
  slp_fleet *f = l->f;
  const slp_shard_desc *kid = &l->kids[l->kid_at];
  slp_operation *i = &l->op.i;
  if (f->sharing->may_make && !f->sharing->may_make(l, kid)) {
    if (f->state == SLP_WORKER_LEAVING && slp_fleet_now(f) >= f->leave_by_us) {
      slp_lease_release(l, SLP_RELEASE_LEAVE);
      return;
    }
    slp_lease_due(l, slp_fleet_now(f) + AGAIN_US);
    slp_lease_save(l);
    return;
  }
  if (f->lease_writes >= 64) {
    slp_lease_due(l, slp_fleet_now(f) + 20000);
    return;
  }
  slp_fleet_operation(f, i, SLP_OPERATION_CREATE);
  /* A time stays the beginning as long as nothing behind it was acknowledged. */
  i->position = l->begin.kind == SLP_POSITION_TIME ? l->begin : (slp_position){.kind = SLP_POSITION_OLDEST};
  i->parents[0] = kid->parent;
  i->parents[1] = kid->adjacent_parent;
  i->hash_start = kid->hash_start;
  i->hash_end = kid->hash_end;
  i->seq_start = kid->seq_start;
  i->epoch_first = epoch_first(f, kid->id);
  i->shard = kid->id;
  l->op.tries_max = 0;
  f->lease_writes++;
  slp_write_send(&l->op, kid_made);
}

/* A child is read by whoever read its first parent, until a newer plan says otherwise. */
static void inherit(slp_lease *l) {
  slp_fleet *f = l->f;
  for (size_t k = 0; k < l->kids_n; k++) {
    if (!slp_str_eq(l->kids[k].parent, l->shard)) continue;
    slp_lease *kid = slp_lease_make(f, l->kids[k].id);
    if (!kid) continue; /* the audit will plan it */
    kid->inherited = 1;
    slp_lease_touch(kid);
  }
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int ended_row(const slp_write *op) {
  const slp_lease_row *row = &op->row.u.lease;
  return op->row.kind == SLP_ROW_LEASE && row->position.kind == SLP_POSITION_END && row->epoch == op->i.epoch;
}

static void end_written(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  slp_lease_touch(l);
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    l->state = SLP_LEASE_ENDING; /* everything is acknowledged: the same write again is all there is to do */
    slp_lease_due(l, slp_fleet_now(f) + 100000);
    return;
  }
  if (op->end != SLP_OUTCOME_DONE && !ended_row(op)) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    return;
  }
  l->ended = 1;
  l->ended_epoch = op->i.epoch;
  l->inherited = 0;
  if (f->state == SLP_WORKER_RUNS) inherit(l);
  slp_lease_gone(l, SLP_SHUTDOWN_ENDED);
  size_t at = 0; /* those that wait for it */
  for (slp_lease *kid; (kid = slp_map_each(&f->leases, &at));)
    if (kid->state == SLP_LEASE_WAITING) slp_lease_touch(kid);
  if (f->unknown_kids) {
    f->unknown_kids = 0;
    f->sharing->unknown_children(f);
  }
}

static void write_end(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  slp_fleet_operation(f, i, SLP_OPERATION_END);
  i->epoch = l->held;
  i->shards = l->kid_names;
  i->shards_n = l->kids_n;
  l->op.tries_max = 0;
  if (!slp_lease_send(l, SLP_OPERATION_END, end_written)) return;
  l->state = SLP_LEASE_RELEASING;
  l->released_epoch = slp_max_u64(l->released_epoch, l->epoch + 1);
}

void slp_lease_end(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_position mark;
  if (l->kid_at < l->kids_n && !SLP_MUTANT(end_before_children)) {
    make_kid(l);
    return;
  }
  slp_lease_mark(l, &mark);
  if (mark.kind == SLP_POSITION_END) {
    write_end(l);
  } else if (f->state == SLP_WORKER_LEAVING && slp_fleet_now(f) >= f->leave_by_us) {
    slp_lease_release(l, SLP_RELEASE_LEAVE);
  } else {
    if (f->state == SLP_WORKER_LEAVING) slp_lease_due(l, f->leave_by_us);
    slp_lease_save(l);
  }
}
