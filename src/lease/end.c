/* end.c - ends the lease of a shard that was read to its end. The rows of its children are created first;
 * then, when every record is acknowledged, the END is written. So no worker takes the ended shard for a new
 * one, and each child has a row and is not read too early. */
#include "base/mem.h"
#include "base/num.h"
#include "codec/page.h"
#include "core/desc.h"
#include "core/mark.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/outcome.h"
#include "lease/processor.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* after this time the creation of a child's row is tried again */
#define AGAIN_US 500000

/* ---- child shards ("kids") --------------------------------------------------------------------- */

int slp_lease_keep_kids(slp_lease *l, const slp_shard_desc *kids, size_t n) {
  slp_mem *mem = l->f->mem;
  slp_lease_end_part *end = &l->end;
  slp_lease_drop_kids(l);
  end->kids = n ? slp_descs_copy(mem, kids, n) : NULL;
  end->names = end->kids ? slp_zalloc_n(mem, n, sizeof *end->names) : NULL;
  if (n && !end->names) {
    slp_lease_drop_kids(l);
    return SLP_ENOMEM;
  }
  for (; end->kids_n < n; end->kids_n++) end->names[end->kids_n] = end->kids[end->kids_n].id;
  end->reached = 1;
  return 0;
}

static void kid_made(slp_write *op) {
  slp_lease *l = op->owner;
  if (op->end == SLP_OUTCOME_DONE) {
    if (l->f->strategy->made) l->f->strategy->made(l->f, op->i.shard);
    l->end.made_n++;
  }
  slp_lease_touch(l);
}

/* Returns the first epoch of a new row. If the shard had a row before, which was removed, the new row gets an
 * epoch that was never used. (shard_sync.c does the same.) */
static uint64_t epoch_first(slp_fleet *f, slp_str shard) {
  return slp_lease_seen(f, shard) ? (uint64_t)(slp_wall_ms(f->h) / 1000) : 0;
}

static int start_known(slp_lease *l, const slp_shard_desc *kid, slp_str *ret) {
  *ret = kid->seq_start;
  return kid->seq_start.n || !l->f->strategy->knows_start || l->f->strategy->knows_start(l, kid, ret);
}

/* Tries again later to create the row of a child. If this worker is leaving and has no time left, gives the
 * lease up instead. */
static void make_kid_later(slp_lease *l) {
  slp_fleet *f = l->f;
  if (slp_worker_is(f, SLP_WORKER_LEAVING) && slp_fleet_now(f) >= slp_worker_leave_by_us(f)) {
    slp_lease_release(l, SLP_RELEASE_LEAVE);
    return;
  }
  slp_lease_step_at(l, slp_fleet_now(f) + AGAIN_US);
  slp_lease_save_due(l);
}

/* Returns 1 if the shard's row existed very recently, because this worker took the lease, read the row or
 * created it. Only an operator removes a row so soon after. Without this check, a CREATE would be sent and
 * refused for each child that already has a row. That is so if a listing had the shard and its children. */
static int row_is_known(slp_fleet *f, slp_str shard) {
  const slp_lease *l = slp_lease_get(f, shard);
  uint64_t since_us = slp_seen_lately_us(f);
  return (l && slp_lease_in(l, SLP_LEASE_HELD) && l->own.since_us >= since_us) ||
         slp_seen_has_row(f, shard, since_us);
}

static int may_make(slp_lease *l, const slp_shard_desc *kid) {
  return !l->f->strategy->may_make || l->f->strategy->may_make(l, kid);
}

static int kids_are_made(slp_lease *l) {
  slp_lease_end_part *end = &l->end;
  while (end->made_n < end->kids_n && row_is_known(l->f, end->names[end->made_n]) &&
         may_make(l, &end->kids[end->made_n]))
    end->made_n++;
  return end->made_n == end->kids_n;
}

static void make_kid(slp_lease *l) {
  slp_fleet *f = l->f;
  const slp_shard_desc *kid = &l->end.kids[l->end.made_n];
  slp_operation *i = &l->op.i;
  slp_str seq_start;
  if (!may_make(l, kid) || !start_known(l, kid, &seq_start)) {
    make_kid_later(l);
    return;
  }
  if (!slp_lease_may_write(f, SLP_OPERATION_CREATE)) {
    slp_lease_wait_turn(l);
    return;
  }
  const slp_position *begin = &l->own.begin;
  slp_fleet_operation(f, i, SLP_OPERATION_CREATE);
  /* If this worker began to read the shard at a time, because no owner had saved a position, the children
   * begin at that time too. Otherwise the children begin at their oldest record. */
  i->position = begin->kind == SLP_POSITION_TIME ? *begin : (slp_position){.kind = SLP_POSITION_OLDEST};
  i->parents[0] = kid->parent;
  i->parents[1] = kid->adjacent_parent;
  i->hash_start = kid->hash_start;
  i->hash_end = kid->hash_end;
  i->seq_start = seq_start;
  i->epoch_first = epoch_first(f, kid->id);
  i->shard = kid->id;
  l->op.tries_max = 0;
  slp_lease_send(l, SLP_OPERATION_CREATE, kid_made);
}

/* Makes this worker want the children of the shard. The worker that read a child's first parent also reads
 * the child, until a newer assignment gives the child to another worker. A worker that leaves takes no
 * children, but proposes them to others (leave.c), because the leader may not have seen the rows of the
 * children yet. */
static void inherit_children(slp_lease *l) {
  slp_fleet *f = l->f;
  for (size_t k = 0; k < l->end.kids_n; k++) {
    if (!slp_str_eq(l->end.kids[k].parent, l->shard)) continue;
    slp_lease *kid = slp_lease_make(f, l->end.kids[k].id);
    /* without memory, the leader's shard sync finds the child, and the leader assigns it */
    if (kid) slp_lease_inherit(kid);
  }
}

/* ---- the end ----------------------------------------------------------------------------------- */

/* Returns 1 if the row in the answer shows the END that this worker wrote. */
static int ended_row(const slp_write *op) {
  const slp_lease_row *row = &op->row.u.lease;
  return op->row.kind == SLP_ROW_LEASE && row->position.kind == SLP_POSITION_END && row->epoch == op->i.epoch;
}

/* Touches the leases that wait for the end of this shard, so that they are stepped soon. If the children are
 * not known, touches every lease that waits for a parent. */
static void touch_kids(slp_lease *l) {
  slp_fleet *f = l->f;
  if (!l->end.kids_n) slp_leases_touch_waiting(f);
  for (size_t k = 0; k < l->end.kids_n; k++) {
    slp_lease *kid = slp_lease_get(f, l->end.kids[k].id);
    if (kid && kid->state == SLP_LEASE_WAITING) slp_lease_touch(kid);
  }
}

static void end_written(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  slp_lease_touch(l);
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    /* the write was refused and the row is unchanged; every record is acknowledged, so the same write is sent
     * again */
    slp_lease_move(l, SLP_LEASE_ENDING);
    slp_lease_step_at(l, slp_fleet_now(f) + 100000);
    return;
  }
  if (op->end != SLP_OUTCOME_DONE && !ended_row(op)) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    return;
  }
  slp_lease_ended(l, op->i.epoch);
  inherit_children(l);
  touch_kids(l);
  slp_lease_gone(l, SLP_SHUTDOWN_ENDED);
  if (f->leases.unknown_kids) {
    f->leases.unknown_kids = 0;
    f->strategy->unknown_children(f);
  }
}

static void write_end(slp_lease *l, const slp_position *at) {
  slp_operation *i = &l->op.i;
  slp_fleet_operation(l->f, i, SLP_OPERATION_END);
  i->epoch = l->own.row_epoch;
  /* The position is the shard's last record, as far as the reader knows it, but never one before the saved
   * position. */
  i->position =
      slp_num_cmp(slp_mark_seq(&at->mark), slp_mark_seq(&l->own.saved.mark)) < 0 ? l->own.saved : *at;
  i->position.kind = SLP_POSITION_END;
  i->shards = l->end.names;
  i->shards_n = l->end.kids_n;
  if (l->f->strategy->tell_load) l->f->strategy->tell_load(l, i);
  l->op.tries_max = 0;
  if (!slp_lease_send(l, SLP_OPERATION_END, end_written)) return;
  slp_lease_move(l, SLP_LEASE_CLOSING);
  l->own.released_epoch = slp_max_u64(l->own.released_epoch, l->own.epoch + 1);
}

void slp_lease_end(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_position mark;
  if (!kids_are_made(l)) {
    make_kid(l);
    return;
  }
  slp_lease_mark(l, &mark);
  if (mark.kind == SLP_POSITION_END) {
    write_end(l, &mark);
  } else if (slp_worker_is(f, SLP_WORKER_LEAVING) && slp_fleet_now(f) >= slp_worker_leave_by_us(f)) {
    slp_lease_release(l, SLP_RELEASE_LEAVE);
  } else {
    if (slp_worker_is(f, SLP_WORKER_LEAVING)) slp_lease_step_at(l, slp_worker_leave_by_us(f));
    slp_lease_save_due(l);
  }
}
