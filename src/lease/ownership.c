/* fleet_tenancy.c - the states of a lease and what each may do:
 *
 *   IDLE      nothing                                    planned, inherited            -> WANTED
 *   WANTED    read the row; take what is free or whose owner is condemned; claim from
 *             the living                                 it is mine                    -> WAITING
 *   WAITING   read the parents' rows                     all ended                     -> OWNED
 *   OWNED     everything                                 a claim, a stop, a stall      -> DRAINING
 *                                                        its end was handed out        -> ENDING
 *   DRAINING  wait for acknowledgements                  all, or the deadline          -> LET
 *   ENDING    children's rows, acknowledgements          the end's write was sent      -> LET
 *                                                        a stop, a stall               -> DRAINING
 *   LET       only letting go, or taking it anew         settled                       -> IDLE
 *
 * Whenever the row shows another owner or epoch the tenancy is gone at once. */
#include "base/probe.h"
#include "lease/fleet_inside.h"

#define OFTEN_US 200000
#define SELDOM_US 1000000
#define ALERT_US 5000000
#define PARENT_AGAIN_US 20000000 /* a parent that has no row is looked for in a new listing */

int slp_lease_wanted(const slp_lease *l) {
  slp_fleet *f = l->f;
  if (f->state != SLP_WORKER_RUNS || l->ended || !(l->assigned || l->inherited)) return 0;
  return !l->shunned_us || l->shunned_v != f->assignment_version || slp_fleet_now(f) >= l->shunned_us;
}

static uint64_t soon(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  return now + slp_fleet_jitter(f, now < l->alert_us ? OFTEN_US : SELDOM_US, 20);
}

/* ---- wanting ----------------------------------------------------------------------------------- */

static void want(slp_lease *l) {
  uint64_t now = slp_fleet_now(l->f);
  l->state = SLP_LEASE_WANTED;
  l->alert_us = now + ALERT_US;
  slp_election_alert(l->f, ALERT_US);
  slp_lease_poll(l, now);
}

static void taken(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  f->lease_writes--;
  if (op->end == SLP_OUTCOME_DONE) {
    f->stats.taken++;
    slp_lease_begin_write(l, op);
    return;
  }
  f->sharing->missed(l);
}

void slp_lease_take(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  if (f->suspended) {
    slp_lease_poll(l, soon(l));
    return;
  }
  slp_fleet_operation(f, i, SLP_OPERATION_TAKE);
  i->owner = slp_instance_str(&l->owner);
  i->epoch = l->image_epoch;
  l->op.tries_max = 0;
  if (!slp_lease_send(l, SLP_OPERATION_TAKE, taken)) slp_lease_poll(l, slp_fleet_now(f) + 20000);
}

static void claimed(slp_write *op) {
  slp_lease *l = op->owner;
  l->f->lease_writes--;
  if (op->end == SLP_OUTCOME_DONE) l->maybe = 1;
  slp_lease_poll(l, soon(l));
}

/* Whoever asked for it before is condemned, perhaps an earlier life of mine: its owner will never listen. */
static int dead_claim(slp_lease *l) {
  slp_str claim = slp_instance_str(&l->claim);
  return claim.n && slp_member_verdict(l->f, claim, l->claim_named_us) == SLP_MEMBER_EVICTED;
}

static void claim(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  slp_fleet_operation(f, i, SLP_OPERATION_CLAIM);
  i->owner = slp_instance_str(&l->owner);
  i->epoch = l->image_epoch;
  i->plan = f->assignment_version;
  if (dead_claim(l)) SLP_PROBE("lease: claimed over a dead claim");
  if (dead_claim(l)) i->plan = slp_max_u64(i->plan, l->claim_version + 1);
  l->op.tries_max = 0;
  if (!slp_lease_send(l, SLP_OPERATION_CLAIM, claimed)) slp_lease_poll(l, slp_fleet_now(f) + 20000);
}

/* It belongs to somebody who lives. */
void slp_lease_ask(slp_lease *l) {
  slp_fleet *f = l->f;
  int mine = slp_str_eq(slp_instance_str(&l->claim), slp_instance_str(&f->me));
  slp_str id, incarnation;
  slp_member *p = NULL;
  if (slp_instance_split(slp_instance_str(&l->owner), &id, &incarnation)) p = slp_member_get(f, id);
  if (p) p->wanted = 1; /* it may die meanwhile */
  if (l->inherited && !l->assigned) {
    l->inherited = 0;
    l->maybe = mine ? 1 : 0; /* asked for when it was planned: it may come yet */
    l->state = SLP_LEASE_IDLE;
    slp_lease_touch(l);
  } else if (!mine && (!l->claim.n || l->claim_version < f->assignment_version || dead_claim(l))) {
    claim(l);
  } else {
    if (mine) l->maybe = 1;
    slp_lease_poll(l, soon(l));
  }
}

static void saw_mine_unasked(slp_lease *l, const slp_lease_row *row) {
  if (row->epoch >= l->released_epoch) {
    SLP_PROBE("lease: given to me by its owner");
    l->f->stats.taken++;
    slp_lease_begin(l, row->epoch, &row->position);
    return;
  }
  /* A tenancy that I have let go: it may not be taken up again, but it may be let go again. */
  SLP_PROBE("lease: what I had let go is mine, and let go again");
  l->epoch = l->held = row->epoch;
  l->position = row->position;
  l->release_again = 1;
  slp_lease_release(l, SLP_RELEASE_LEAVE);
}

/* Where a leader plans: sharing->met. */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  slp_str me = slp_instance_str(&f->me);
  if (slp_str_eq(row->owner, me)) {
    saw_mine_unasked(l, row);
    return;
  }
  if (!slp_lease_wanted(l)) {
    l->maybe = slp_str_eq(row->claim, me) ? 1 : 0;
    l->state = SLP_LEASE_IDLE;
    slp_lease_touch(l);
    return;
  }
  if (row->parked) {
    slp_lease_poll(l, slp_fleet_now(f) + 10 * SELDOM_US);
  } else if (!row->owner.n) {
    slp_lease_take(l);
  } else {
    switch (slp_member_verdict(f, slp_instance_str(&l->owner), l->named_us)) {
      case SLP_MEMBER_EVICTED:
        SLP_PROBE("lease: taken from the dead");
        slp_lease_take(l);
        break;
      case SLP_MEMBER_UNKNOWN: slp_lease_poll(l, slp_fleet_now(f)); break;
      case SLP_MEMBER_ALIVE: slp_lease_ask(l); break;
    }
  }
}

/* ---- having ------------------------------------------------------------------------------------ */

/* A claim counts only when my own plan does not hold the lease any more: two plans can't make it bounce. */
static int honours(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_str claim = slp_instance_str(&l->claim);
  if (!(f->schema->operations >> SLP_OPERATION_TRANSFER & 1)) return 0;
  if (!claim.n || slp_str_eq(claim, slp_instance_str(&f->me)) || SLP_MUTANT(claim_ignored)) return 0;
  if (f->state == SLP_WORKER_RUNS && l->assigned)
    return 0; /* what was only inherited goes to who was planned */
  return slp_member_verdict(f, claim, l->claim_named_us) != SLP_MEMBER_EVICTED;
}

static void saw_mine(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  if (l->claim.n && l->assigned && l->claim_version > f->assignment_version) slp_assignment_read(f);
  if (l->claim.n && l->state == SLP_LEASE_DRAINING) {
    slp_str id, incarnation;
    slp_member *p = NULL;
    if (slp_instance_split(slp_instance_str(&l->claim), &id, &incarnation)) p = slp_member_make(f, id);
    if (p) p->wanted = 1;
  }
  if (l->state == SLP_LEASE_DRAINING || !l->assigned)
    slp_lease_poll(l, now + slp_fleet_jitter(f, SELDOM_US, 10));
  slp_lease_touch(l);
}

void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  int ownership = l->state >= SLP_LEASE_WAITING && l->state <= SLP_LEASE_ENDING;
  if (l->state == SLP_LEASE_RELEASING) return;
  if (l->op.busy || (ownership && sent_us < l->ownership_us)) {
    slp_lease_poll(l, now + OFTEN_US / 2);
    return;
  }
  if (row && slp_lease_image(l, row, done_us)) {
    slp_lease_poll(l, now + OFTEN_US);
  } else if (ownership) {
    if (row && slp_str_eq(row->owner, slp_instance_str(&f->me)) && row->epoch == l->held)
      saw_mine(l);
    else {
      SLP_PROBE("lease: seen to be another's");
      slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    }
  } else if (!row) { /* not made yet, or removed */
    l->maybe = 0;
    if (slp_lease_wanted(l))
      slp_lease_poll(l, soon(l));
    else
      l->state = SLP_LEASE_IDLE;
  } else if (l->ended) {
    l->maybe = l->inherited = 0;
    l->state = SLP_LEASE_IDLE;
  } else {
    f->sharing->met(l, row);
  }
}

/* ---- the gate ---------------------------------------------------------------------------------- */

void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row) {
  if (l->state != SLP_LEASE_WAITING) return;
  l->parent_ended[which] = row && row->position.kind == SLP_POSITION_END;
  /* Listed without a row: the leader makes it one, unless the stream forgets the shard before. */
  uint64_t now = slp_fleet_now(l->f);
  int anew = !l->parent_missing[which] || now - l->asked_us >= PARENT_AGAIN_US;
  if (!row && anew && l->f->sharing->missing_blocks) {
    l->asked_us = now;
    slp_fleet_list(l->f);
  }
  l->parent_missing[which] = !row;
  slp_lease_touch(l);
}

static int parent_done(slp_lease *l, int k) {
  slp_fleet *f = l->f;
  if (!l->parents[k].n || l->parent_ended[k] || SLP_MUTANT(gate_open)) return 1;
  /* Of what I have read just now I need no proof; of long ago, an operator may have set it back. */
  slp_lease *p = l->inherited ? slp_lease_get(f, l->parents[k]) : NULL;
  if (p && p->ended) return 1;
  if (!l->parent_missing[k]) return 0;
  if (!f->sharing->missing_blocks) return 1;
  if (f->listed_us <= l->asked_us) {
    slp_fleet_list(f);
    return 0;
  }
  return !slp_fleet_listed_has(f, l->parents[k]);
}

static void open(slp_lease *l) {
  slp_fleet *f = l->f;
  /* It may have been taken from me long ago; resuming, or its next proof, comes here again. */
  if (!slp_fleet_may_deliver(f) || (f->liveness->may_open && !f->liveness->may_open(l))) return;
  if (f->processor->ops->open(f->processor, l->shard, l->epoch, &l->begin)) {
    slp_lease_due(l, slp_fleet_now(f) + OFTEN_US);
    return;
  }
  l->open = l->told = 1;
  l->state = SLP_LEASE_OWNED;
  slp_fleet_tell(f, SLP_FLEET_TAKEN, l->shard, l->epoch, "is read now");
  slp_lease_touch(l);
}

static void waiting(slp_lease *l) {
  slp_fleet *f = l->f;
  int unsaved = slp_position_cmp(&l->begin, &l->position) > 0;
  if (f->state == SLP_WORKER_LEAVING && (unsaved || !f->liveness->frees_all)) {
    slp_lease_release(l, SLP_RELEASE_LEAVE);
  } else if (f->state == SLP_WORKER_LEAVING) {
    l->to_successor = 1;
    slp_lease_gone(l, SLP_SHUTDOWN_LEFT);
  } else if (honours(l)) {
    SLP_PROBE("lease: handed on before it was opened");
    slp_lease_release(l, SLP_RELEASE_HANDOVER);
  } else if (l->kept_shut) {
    l->poll_us = SLP_NEVER;
  } else if (parent_done(l, 0) && parent_done(l, 1)) {
    open(l);
  } else {
    uint64_t now = slp_fleet_now(f);
    if (l->poll_us == SLP_NEVER) {
      l->parent_wait_ms = !l->parent_wait_ms ? 1 : l->parent_wait_ms == 1 ? 1000 : l->parent_wait_ms * 2;
      if (l->parent_wait_ms > 10000) l->parent_wait_ms = 10000;
      slp_lease_poll(l, now + slp_fleet_jitter(f, (uint64_t)l->parent_wait_ms * 1000, 20));
    }
    /* It may be due long since: while the table takes its time to answer, nobody looks. */
    slp_lease_due(l, slp_max_u64(l->poll_us, now) + OFTEN_US);
  }
}

/* ---- reading and giving up --------------------------------------------------------------------- */

static void drain(slp_lease *l, slp_release_reason why) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  l->state = SLP_LEASE_DRAINING;
  l->release_reason = (uint8_t)why;
  l->deadline_us = now + (uint64_t)f->o.handover_ms * 1000;
  if (why == SLP_RELEASE_LEAVE) l->deadline_us = f->leave_by_us;
  f->processor->ops->drain(f->processor, l->shard);
  slp_lease_due(l, l->deadline_us);
  slp_lease_poll(l, now + slp_fleet_jitter(f, SELDOM_US, 10));
}

/* Its last record was handed out before it was to be given up, and everything is acknowledged since. */
static int is_over(slp_lease *l) {
  slp_position mark;
  if (!l->end_told) return 0;
  slp_lease_mark(l, &mark);
  return mark.kind == SLP_POSITION_END;
}

/* All of it is out with the user, and that may last: who stops, or gets nowhere, does not wait for ever. */
static void ending(slp_lease *l) {
  int leaves = l->f->state == SLP_WORKER_LEAVING;
  if ((leaves || l->park || l->stall) && !is_over(l)) {
    SLP_PROBE("lease: its end waits for the user, and it has to go");
    drain(l, leaves ? SLP_RELEASE_LEAVE : l->park ? SLP_RELEASE_PARK : SLP_RELEASE_STALL);
  } else {
    slp_lease_end(l);
  }
}

static void owned(slp_lease *l) {
  slp_fleet *f = l->f;
  if (l->end_told) {
    l->state = SLP_LEASE_ENDING;
    ending(l);
  } else if (f->state == SLP_WORKER_LEAVING) {
    drain(l, SLP_RELEASE_LEAVE);
  } else if (l->park || l->stall) {
    drain(l, l->park ? SLP_RELEASE_PARK : SLP_RELEASE_STALL);
  } else if (honours(l)) {
    drain(l, SLP_RELEASE_HANDOVER);
  } else if (!slp_lease_save(l) && !l->assigned) {
    slp_lease_poll(l, slp_fleet_now(f) + slp_fleet_jitter(f, SELDOM_US, 10));
  }
}

/* A table that has no word for "nobody is to read it": kept, and not read. */
static void keep_shut(slp_lease *l) {
  slp_fleet *f = l->f;
  if (slp_lease_put(l)) return;
  SLP_PROBE("lease: kept shut, parked");
  f->processor->ops->revoke(f->processor, l->shard, SLP_SHUTDOWN_LEFT);
  l->told = l->open = l->park = l->drained = l->dirty = l->save_now = 0;
  l->begin = l->position;
  l->kept_shut = 1;
  l->state = SLP_LEASE_WAITING;
  slp_fleet_tell(f, SLP_FLEET_RELEASED, l->shard, l->epoch,
                 "parked: kept by this worker, unread, as long as it lives");
}

static void draining(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  if (!l->drained && now >= l->deadline_us) SLP_PROBE("lease: the deadline of a hand-over");
  if (is_over(l)) { /* nobody else is to read it: only its end and its children are left to be written */
    SLP_PROBE("lease: over while it was to be handed on");
    l->state = SLP_LEASE_ENDING;
    slp_lease_end(l);
    return;
  }
  if (f->state == SLP_WORKER_LEAVING) l->deadline_us = slp_min_u64(l->deadline_us, f->leave_by_us);
  if (!l->drained && now < l->deadline_us && !SLP_MUTANT(hands_over_undrained)) {
    slp_lease_due(l, l->deadline_us);
    slp_lease_save(l);
    return;
  }
  /* Who asked may have died while the user took its time: then whoever is planned next takes it free. */
  slp_release_reason why = (slp_release_reason)l->release_reason;
  if (why == SLP_RELEASE_HANDOVER && !honours(l)) {
    SLP_PROBE("lease: who asked for it has died meanwhile");
    why = SLP_RELEASE_LEAVE;
  }
  if (why == SLP_RELEASE_PARK && !f->schema->parks && f->state == SLP_WORKER_RUNS) {
    keep_shut(l);
    return;
  }
  if (f->state == SLP_WORKER_LEAVING && f->liveness->frees_all && slp_lease_clean(l)) {
    l->to_successor = 1;
    slp_lease_gone(l, l->drained ? SLP_SHUTDOWN_LEFT : SLP_SHUTDOWN_EXPIRED);
    return;
  }
  slp_lease_release(l, why);
}

void slp_lease_step(slp_lease *l) {
  slp_fleet *f = l->f;
  if ((f->state != SLP_WORKER_RUNS && f->state != SLP_WORKER_LEAVING) || l->op.busy) return;
  switch (l->state) {
    case SLP_LEASE_IDLE:
      if (slp_lease_wanted(l))
        want(l);
      else if (l->maybe)
        slp_lease_poll(l, slp_fleet_now(f) + SELDOM_US);
      else if (l->shunned_us > slp_fleet_now(f) && l->assigned)
        slp_lease_due(l, l->shunned_us);
      break;
    case SLP_LEASE_WANTED:
      if (!slp_lease_wanted(l) && !l->maybe) l->state = SLP_LEASE_IDLE;
      break;
    case SLP_LEASE_WAITING: waiting(l); break;
    case SLP_LEASE_OWNED: owned(l); break;
    case SLP_LEASE_DRAINING: draining(l); break;
    case SLP_LEASE_ENDING: ending(l); break;
    case SLP_LEASE_RELEASING: slp_lease_release_step(l); break;
  }
}
