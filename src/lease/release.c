/* fleet_let.c - letting a lease go. Once the first letting-go write was sent this tenancy never reads again,
 * whatever is answered: a copy of it may land at any later moment. What is refused and still mine is let go
 * again, or taken anew with a higher epoch, which no old copy can touch. */
#include "base/probe.h"
#include "lease/fleet_inside.h"

#define SHUN_US 30000000 /* what made no progress here is not taken up again sooner, unless planned anew */

static void settled(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  slp_lease_touch(l);
  if (op->end == SLP_OUTCOME_UNCHANGED) {
    l->release_again = 1;
    if (op->row.kind == SLP_ROW_LEASE) {
      slp_lease_image(l, &op->row.u.lease, slp_fleet_now(f));
      if (slp_position_cmp(&op->row.u.lease.position, &l->position) > 0)
        l->position = op->row.u.lease.position;
    }
    return;
  }
  if (op->i.kind == SLP_OPERATION_RETAKE && op->end == SLP_OUTCOME_DONE) {
    SLP_PROBE("lease: kept after all");
    f->stats.taken++;
    if (l->told) slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->epoch, "given up, and taken anew");
    l->told = 0;
    slp_lease_begin_write(l, op);
    return;
  }
  int done = op->end == SLP_OUTCOME_DONE;
  if (f->state == SLP_WORKER_LEAVING) l->to_successor = done && op->i.kind == SLP_OPERATION_RELEASE;
  if (l->release_reason == SLP_RELEASE_STALL && done) {
    slp_notify_leader(f);
    slp_assignment_soon(f, 0); /* when that is me */
  }
  slp_lease_gone(l,
                 done || op->i.kind != SLP_OPERATION_RETAKE ? SLP_SHUTDOWN_HANDED_OVER : SLP_SHUTDOWN_LOST);
}

static void send(slp_lease *l, slp_operation_kind kind) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  slp_fleet_operation(f, i, kind);
  i->epoch = l->held;
  i->owner = i->me;
  i->position = l->position;
  i->behind_ms = l->behind_ms;
  i->to = slp_instance_str(&l->to);
  i->avoid_me = l->release_reason == SLP_RELEASE_STALL;
  i->park = l->release_reason == SLP_RELEASE_PARK;
  l->op.tries_max = 0;
  slp_lease_send(l, kind, settled);
}

void slp_lease_release_step(slp_lease *l) {
  slp_fleet *f = l->f;
  int claimed = l->claim.n && !slp_str_eq(slp_instance_str(&l->claim), slp_instance_str(&f->me));
  if (l->release_again && slp_lease_wanted(l)) {
    send(l, SLP_OPERATION_RETAKE);
  } else if (l->release_reason == SLP_RELEASE_HANDOVER && claimed) {
    l->to = l->claim;
    send(l, SLP_OPERATION_TRANSFER);
  } else {
    send(l, SLP_OPERATION_RELEASE);
  }
}

void slp_lease_release(slp_lease *l, slp_release_reason why) {
  slp_fleet *f = l->f;
  l->release_reason = (uint8_t)why;
  if (l->open) {
    slp_position mark;
    slp_lease_mark(l, &mark);
    int whole = mark.kind != SLP_POSITION_END || mark.mark.seq_n;
    /* The end is only ever written with its children's rows; behind the last record is as good a place. */
    if (mark.kind == SLP_POSITION_END && whole) mark.kind = SLP_POSITION_AFTER;
    if (whole && slp_position_cmp(&mark, &l->position) > 0 && !SLP_MUTANT(hand_over_forgets_place))
      l->position = mark; /* all acknowledged so far goes along */
    slp_shutdown_reason part = why == SLP_RELEASE_HANDOVER ? SLP_SHUTDOWN_HANDED_OVER : SLP_SHUTDOWN_LEFT;
    f->processor->ops->revoke(f->processor, l->shard, l->drained && whole ? part : SLP_SHUTDOWN_EXPIRED);
    l->open = 0;
  } else if (slp_position_cmp(&l->begin, &l->position) > 0) {
    l->position =
        l->begin; /* taken anew and not read yet: what it knew to be acknowledged is not saved yet */
  }
  if (why == SLP_RELEASE_STALL) {
    l->shunned_v = f->assignment_version;
    l->shunned_us = slp_fleet_now(f) + slp_max_u64(SHUN_US, f->sharing->shun_leases * slp_fleet_lease_us(f));
  }
  l->state = SLP_LEASE_RELEASING;
  l->saving |= l->save_now; /* its position goes along */
  l->dirty = l->save_now = 0;
  l->released_epoch = slp_max_u64(l->released_epoch, l->epoch + 1);
  slp_lease_release_step(l);
}
