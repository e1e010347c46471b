/* fleet_let.c - letting a lease go. Once the first letting-go write was sent this tenancy never reads again,
 * whatever is answered: a copy of it may land at any later moment. What is refused and still mine is let go
 * again, or taken anew with a higher epoch, which no old copy can touch. */
#include "base/probe.h"
#include "core/fleet_inside.h"

#define SHUN_US 30000000 /* what made no progress here is not taken up again sooner, unless planned anew */

static void settled(slp_op *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  slp_lease_touch(l);
  if (op->end == SLP_OP_STILL) {
    l->let_again = 1;
    if (op->fact.kind == SLP_FACT_LEASE) {
      slp_lease_image(l, &op->fact.u.lease, slp_fleet_now(f));
      if (slp_spot_cmp(&op->fact.u.lease.spot, &l->spot) > 0) l->spot = op->fact.u.lease.spot;
    }
    return;
  }
  if (op->i.verb == SLP_L3_RETAKE && op->end == SLP_OP_DONE) {
    SLP_PROBE("lease: kept after all");
    f->stats.taken++;
    if (l->told) slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->epoch, "given up, and taken anew");
    l->told = 0;
    slp_lease_begin_op(l, op);
    return;
  }
  int done = op->end == SLP_OP_DONE;
  if (f->state == SLP_WORKER_LEAVING) l->bequeath = done && op->i.verb == SLP_L7_RELEASE;
  if (l->let == SLP_LET_STALL && done) {
    slp_ring_leader(f);
    slp_plan_soon(f, 0); /* when that is me */
  }
  slp_lease_gone(l, done || op->i.verb != SLP_L3_RETAKE ? SLP_PART_HANDED : SLP_PART_LOST);
}

static void send(slp_lease *l, slp_verb verb) {
  slp_fleet *f = l->f;
  slp_intent *i = &l->op.i;
  slp_fleet_intent(f, i, verb);
  i->epoch = l->held;
  i->owner = i->me;
  i->spot = l->spot;
  i->behind_ms = l->behind_ms;
  i->to = slp_instance_str(&l->to);
  i->avoid_me = l->let == SLP_LET_STALL;
  i->park = l->let == SLP_LET_PARK;
  l->op.tries_max = 0;
  slp_lease_send(l, verb, settled);
}

void slp_lease_let_step(slp_lease *l) {
  slp_fleet *f = l->f;
  int claimed = l->claim.n && !slp_str_eq(slp_instance_str(&l->claim), slp_instance_str(&f->me));
  if (l->let_again && slp_lease_wanted(l)) {
    send(l, SLP_L3_RETAKE);
  } else if (l->let == SLP_LET_HAND && claimed) {
    l->to = l->claim;
    send(l, SLP_L6_TRANSFER);
  } else {
    send(l, SLP_L7_RELEASE);
  }
}

void slp_lease_let(slp_lease *l, slp_let_why why) {
  slp_fleet *f = l->f;
  l->let = (uint8_t)why;
  if (l->open) {
    slp_spot mark;
    slp_lease_mark(l, &mark);
    int whole = mark.kind != SLP_SPOT_END || mark.mark.seq_n;
    /* The end is only ever written with its children's rows; behind the last record is as good a place. */
    if (mark.kind == SLP_SPOT_END && whole) mark.kind = SLP_SPOT_AFTER;
    if (whole && slp_spot_cmp(&mark, &l->spot) > 0 && !SLP_MUTANT(54))
      l->spot = mark; /* all acknowledged so far goes along */
    slp_parting part = why == SLP_LET_HAND ? SLP_PART_HANDED : SLP_PART_LEFT;
    f->tenant->ops->revoke(f->tenant, l->shard, l->drained && whole ? part : SLP_PART_EXPIRED);
    l->open = 0;
  } else if (slp_spot_cmp(&l->begin, &l->spot) > 0) {
    l->spot = l->begin; /* taken anew and not read yet: what it knew to be acknowledged is not saved yet */
  }
  if (why == SLP_LET_STALL) {
    l->shunned_v = f->plan_v;
    l->shunned_us = slp_fleet_now(f) + slp_max_u64(SHUN_US, f->sharing->shun_leases * slp_fleet_lease_us(f));
  }
  l->state = SLP_LET;
  l->saving |= l->save_now; /* its position goes along */
  l->dirty = l->save_now = 0;
  l->let_epoch = slp_max_u64(l->let_epoch, l->epoch + 1);
  slp_lease_let_step(l);
}
