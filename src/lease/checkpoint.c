/* checkpoint.c - finds out how far a shard is acknowledged, and writes that position to the lease's row. */
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
#include "lease/spread.h"
#include "lease/strategy.h"
#include "lease/write.h"

void slp_lease_mark(slp_lease *l, slp_position *ret) {
  slp_fleet *f = l->f;
  *ret = l->own.saved;
  if (!slp_lease_in(l, SLP_LEASE_OPEN)) return;
  slp_position mark;
  if (f->processor->ops->behind_ms) l->own.behind_ms = f->processor->ops->behind_ms(f->processor, l->shard);
  f->processor->ops->mark(f->processor, l->shard, &mark);
  if (slp_position_ahead(&mark, ret)) *ret = mark;
}

int slp_lease_clean(slp_lease *l) {
  slp_position mark;
  slp_lease_mark(l, &mark);
  return slp_position_cmp(&mark, &l->own.saved) == 0 && !slp_position_ahead(&mark, &l->own.saved);
}

/* Returns the time between two checkpoints of a lease. The time is longer in a large fleet, because each
 * partition key of a table accepts only 400 checkpoints a second. It is also longer while the table
 * throttles. */
static uint64_t period_us(slp_fleet *f) {
  uint64_t leases = slp_max_u64(f->leases.all.live, f->leases.of_fleet);
  uint64_t ms = slp_max_u64(f->o.checkpoint_ms, leases * 1000 / (400 * slp_spread_used(f, leases)));
  return slp_fleet_jitter(f, slp_writes_wait_us(&f->writes, ms * 1000), 20);
}

static void on_checkpoint_saved(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  /* SLP_SAVE_ASKED stays: the user has asked for another checkpoint since this write was sent */
  if (l->save.request == SLP_SAVE_SENT) l->save.request = SLP_SAVE_NONE;
  slp_lease_touch(l);
  /* The write was given up, mostly because the table throttles; then period_us is longer than usual. The next
   * try comes after a quarter of period_us. */
  if (op->end == SLP_OUTCOME_GIVEN_UP) {
    l->save.dirty = 1;
    l->save.at_us = slp_fleet_now(f) + period_us(f) / 4;
    return;
  }
  if (op->end != SLP_OUTCOME_DONE) {
    slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    return;
  }
  f->stats.checkpoints++;
  if (f->strategy->wrote) f->strategy->wrote(l, op);
  if (op->row.kind == SLP_ROW_LEASE && slp_position_cmp(&op->row.u.lease.position, &op->i.position) < 0) {
    /* the lease is still this worker's, but an operator has set the position in its row back */
    l->save.dirty = 1;
    return;
  }
  if (slp_position_ahead(&op->i.position, &l->own.saved)) l->own.saved = op->i.position;
  /* the row in the answer may have a claim of another worker, so the lease is brought up to date with that
   * row */
  if (op->row.kind == SLP_ROW_LEASE) slp_lease_read_image(l, &op->row.u.lease, slp_fleet_now(f));
}

void slp_lease_save_now(slp_lease *l) {
  l->save.request = SLP_SAVE_ASKED;
  slp_lease_touch(l);
}

int slp_lease_is_saving(const slp_lease *l) { return l->save.request != SLP_SAVE_NONE; }

/* Called for a checkpoint that the user does not wait for. Returns 1 if the checkpoint must be sent later,
 * because the table can't take it at once. If it went into the queue of writes instead, it would delay the
 * writes that take leases. */
static int waits_for_others(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t open_us = slp_writes_open_us(&f->writes), gap_us = slp_writes_gap_us(&f->writes);
  if (open_us <= slp_fleet_now(f)) return 0;
  l->save.at_us = open_us + slp_random_below(f->h, 4 * gap_us + 1);
  slp_lease_step_at(l, l->save.at_us);
  return 1;
}

int slp_lease_save_due(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_lease_save *save = &l->save;
  uint64_t now = slp_fleet_now(f);
  if (save->dirty && !save->at_us) save->at_us = now + period_us(f);
  if (save->request != SLP_SAVE_ASKED && (!save->dirty || now < save->at_us)) {
    if (save->dirty) slp_lease_step_at(l, save->at_us);
    return 0;
  }
  if (save->request != SLP_SAVE_ASKED && waits_for_others(l)) return 0;
  return slp_lease_put(l);
}

int slp_lease_put(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_position mark;
  slp_lease_mark(l, &mark);
  l->save.dirty = 0;
  l->save.at_us = 0;
  /* The end of a shard is not written as a checkpoint, but by the operation END, together with the children
   * (end.c). */
  if (mark.kind == SLP_POSITION_END || !slp_position_ahead(&mark, &l->own.saved)) {
    l->save.request = SLP_SAVE_NONE;
    return 0;
  }
  slp_fleet_operation(f, &l->op.i, SLP_OPERATION_CHECKPOINT);
  l->op.i.epoch = l->own.row_epoch;
  slp_lease_quote_claim(l, &l->op.i);
  l->op.i.position = mark;
  l->op.i.odd = l->own.odd;
  l->op.i.behind_ms = l->own.behind_ms;
  if (f->strategy->tell_load) f->strategy->tell_load(l, &l->op.i);
  l->op.tries_max = 0;
  /* yields, 1: the write is given up if the table throttles it, so that other writes go first. 0: the user
   * waits for this checkpoint. */
  l->op.yields = l->save.request == SLP_SAVE_NONE;
  if (slp_lease_send(l, SLP_OPERATION_CHECKPOINT, on_checkpoint_saved)) {
    if (l->save.request == SLP_SAVE_ASKED) l->save.request = SLP_SAVE_SENT;
    return 1;
  }
  l->op.yields = 0;
  l->save.dirty = 1;
  return 0;
}
