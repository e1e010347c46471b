/* ownership.c - what is done in each state of a lease (lease.h). A worker wants the lease, takes it or claims
 * it, waits for the parent shards, reads the shard, and gives the lease up or ends it. When the row shows
 * another owner or epoch, the ownership is over at once. lease.c has the table of states. */
#include "base/mutant.h"
#include "base/probe.h"
#include "base/repeat.h"
#include "codec/page.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/assignment.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/due.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/processor.h"
#include "lease/read.h"
#include "lease/refused.h"
#include "lease/schema.h"
#include "lease/shard_listing.h"
#include "lease/strategy.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* Time between two reads of a lease's row: OFTEN_US until poll.often_us, then SELDOM_US. */
#define OFTEN_US 200000
/* Least time between two reads of the row of a lease that this worker wants, in read units: the table must be
 * able to serve this many to other reads meanwhile. */
#define WANTED_REST 3
/* the same for the row of a lease that this worker has */
#define KEPT_REST 20
#define SELDOM_US 1000000
#define EXPECTED_US 20000000 /* the longest time between reads of the row of a lease in EXPECTED */
#define ALERT_US SLP_LEASE_ALERT_US
/* AWS accepts no copy of a signed request that is older than this, so no copy of a CREATE can arrive later */
#define MADE_US UINT64_C(300000000)
/* Least and greatest time between two TAKEs of the same lease. The time grows while the lease is taken again
 * and again. */
#define TAKE_LEAST_US 200000
#define TAKE_MOST_US 5000000
/* if a parent still has no row after this time, another listing is asked for */
#define PARENT_AGAIN_US 20000000

/* Returns when the row of a lease that this worker wants is read again. */
static uint64_t next_wanted_read_us(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  uint64_t wait_us = slp_reads_rest_us(f, now < l->poll.often_us ? OFTEN_US : SELDOM_US, WANTED_REST);
  return now + slp_fleet_jitter(f, wait_us, 20);
}

/* Returns when the row of a lease that this worker has is read again. */
static uint64_t next_kept_read_us(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f), wait_us = now < l->poll.often_us ? OFTEN_US : SELDOM_US;
  return now + slp_reads_rest_us(f, slp_fleet_jitter(f, wait_us, 10), KEPT_REST);
}

/* ---- a lease that this worker wants ------------------------------------------------------------ */

static void start_wanting(slp_lease *l) {
  uint64_t now = slp_fleet_now(l->f);
  slp_lease_move(l, l->state == SLP_LEASE_EXPECTED ? SLP_LEASE_CLAIMED : SLP_LEASE_WANTED);
  l->poll.often_us = now + ALERT_US;
  if (l->f->strategy->wants) l->f->strategy->wants(l->f);
  slp_lease_poll(l, now);
}

void slp_lease_makes(slp_lease *l) {
  l->own.made_us = slp_fleet_now(l->f);
  slp_lease_touch(l);
}

/* Returns 1 if a copy of this worker's CREATE may still reach the table, and make this worker the owner. */
static int may_be_made(const slp_lease *l) {
  return l->own.made_us && slp_fleet_now(l->f) - l->own.made_us < MADE_US;
}

void slp_lease_alert(slp_lease *l) {
  uint64_t now = slp_fleet_now(l->f);
  if (l->state == SLP_LEASE_EXPECTED)
    l->poll.often_us = now + ALERT_US;
  else if (!slp_lease_in(l, SLP_LEASE_SOUGHT | SLP_LEASE_HELD))
    return;
  slp_lease_poll(l, now);
}

/* To be called when the row has this worker's claim: the owner may hand the lease over to this worker, even
 * if this worker no longer wants it. */
static void expect_handover(slp_lease *l) {
  slp_lease_move(l, slp_lease_in(l, SLP_LEASE_SOUGHT) ? SLP_LEASE_CLAIMED : SLP_LEASE_EXPECTED);
}

static void on_take_answered(slp_write *op) {
  slp_lease *l = op->owner;
  slp_fleet *f = l->f;
  if (op->end == SLP_OUTCOME_DONE) {
    f->stats.taken++;
    slp_lease_begin_write(l, op);
    return;
  }
  f->strategy->missed(l);
}

/* Returns 1 if this worker may take a lease that it has seen free or without a living owner. A worker that is
 * evicted may not know that yet, and meanwhile leases may be freed or reset. So in fleets where one row
 * proves a worker's life, a heartbeat must be sent after the lease was seen. The lease may be taken when that
 * heartbeat is answered. A lease of epoch 0 never had an owner, so no such proof is needed. */
static int is_proven_since(slp_lease *l) {
  slp_fleet *f = l->f;
  if (!f->strategy->proves_takes || !l->row.epoch) return 1;
  if (!l->row.take_us) l->row.take_us = slp_now_refresh_us(f->h);
  if (slp_proof_us(f) >= l->row.take_us) return 1;
  slp_proof_want(f, l->row.take_us);
  return 0;
}

void slp_leases_proven(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    int waits = l->row.take_us && slp_lease_in(l, SLP_LEASE_SOUGHT) && slp_lease_wanted(l) && !l->op.busy;
    if (waits && slp_proof_us(f) >= l->row.take_us) slp_lease_take(l);
  }
}

/* Puts the lease into the queue of leases that wait to write, because too many writes are under way. When a
 * write is possible, the lease is taken on the basis of its row as it was last read. With thousands of
 * leases, reading each row again would cost more reads than takes. */
static void wait_to_take(slp_lease *l) {
  uint64_t now = slp_fleet_now(l->f);
  if (!l->row.take_us) l->row.take_us = now;
  slp_lease_wait_turn(l);
  slp_lease_poll(l, now + slp_fleet_jitter(l->f, ALERT_US, 20));
}

/* Returns 1 if this process stood still (absence.h) after it decided to take the lease from another worker.
 * The owner may have been stopped by the same cause, and may run again now. So the decision must be made
 * again. */
static int was_overslept(slp_lease *l) {
  slp_str owner = slp_instance_str(&l->row.owner);
  uint64_t since_us = l->f->strategy->chosen_us ? l->f->strategy->chosen_us(l) : 0;
  if (!since_us) since_us = l->row.take_us;
  return owner.n && !slp_str_eq(owner, slp_instance_str(&l->f->me)) && since_us &&
         slp_fleet_back_us(l->f) > since_us;
}

/* Drops the decision to take the lease, and calls the strategy as if the TAKE had failed, so that it decides
 * again. */
static void decide_anew(slp_lease *l) {
  SLP_PROBE("lease: to be taken since before an absence");
  l->row.take_us = 0;
  l->op.end = SLP_OUTCOME_GIVEN_UP; /* for the strategy the write was given up; in fact it was not sent */
  memset(&l->op.row, 0, sizeof l->op.row);
  l->f->strategy->missed(l);
}

void slp_lease_take(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  if (was_overslept(l)) {
    decide_anew(l);
    return;
  }
  if (!slp_proof_is(f, SLP_PROOF_GOOD) || !is_proven_since(l)) {
    slp_lease_poll(l, next_wanted_read_us(l));
    return;
  }
  if (!slp_lease_may_write(f, SLP_OPERATION_TAKE)) {
    wait_to_take(l);
    return;
  }
  uint64_t now = slp_fleet_now(f), at = slp_paced_us(&l->own.takes, now, TAKE_LEAST_US, TAKE_MOST_US);
  if (at > now) {
    slp_lease_poll(l, at);
    return;
  }
  slp_paced_done(&l->own.takes, now, TAKE_MOST_US);
  slp_fleet_operation(f, i, SLP_OPERATION_TAKE);
  i->owner = slp_instance_str(&l->row.owner);
  slp_lease_quote_claim(l, i);
  i->epoch = l->row.epoch;
  i->position = l->row.position;
  if (f->strategy->take_epoch) i->epoch_after = f->strategy->take_epoch(l);
  l->op.tries_max = 0;
  slp_lease_send(l, SLP_OPERATION_TAKE, on_take_answered);
}

static void on_claim_answered(slp_write *op) {
  slp_lease *l = op->owner;
  if (op->end == SLP_OUTCOME_DONE) expect_handover(l);
  slp_lease_poll(l, next_wanted_read_us(l));
  if (l->f->strategy->claimed) l->f->strategy->claimed(l);
}

/* Returns 1 if the worker that claims the lease in its row is evicted; it may be an earlier incarnation of
 * this worker. No owner obeys such a claim. */
static int dead_claim(slp_lease *l) {
  slp_str claim = slp_instance_str(&l->row.claim);
  if (!l->f->strategy->members) return 0;
  return claim.n && slp_member_verdict(l->f, claim, l->row.claim_us) == SLP_MEMBER_EVICTED;
}

void slp_lease_claim(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_operation *i = &l->op.i;
  slp_fleet_operation(f, i, SLP_OPERATION_CLAIM);
  i->owner = slp_instance_str(&l->row.owner);
  i->epoch = l->row.epoch;
  i->version = slp_leases_version(f);
  if (dead_claim(l)) SLP_PROBE("lease: claimed over a dead claim");
  if (dead_claim(l)) i->version = slp_max_u64(i->version, l->row.claim_version + 1);
  l->op.tries_max = 0;
  if (!slp_lease_send(l, SLP_OPERATION_CLAIM, on_claim_answered)) slp_lease_poll(l, slp_fleet_now(f) + 20000);
}

static int is_mine(const slp_lease *l, slp_str instance) {
  return slp_str_eq(instance, slp_instance_str(&l->f->me));
}

/* Asks the living owner for the lease, by writing a claim into the lease's row. But if this worker wants the
 * lease only because it has read the parent shard (`inherited`), it does not ask, and stops wanting it. */
static void claim_from_owner(slp_lease *l) {
  slp_fleet *f = l->f;
  int claims = is_mine(l, slp_instance_str(&l->row.claim));
  slp_str id, incarnation;
  slp_member *p = NULL;
  if (slp_instance_split(slp_instance_str(&l->row.owner), &id, &incarnation)) p = slp_member_get(f, id);
  /* the owner's row must be read too, because the owner may die before it hands the lease over */
  if (p) p->wanted = 1;
  if (l->want.inherited && !l->want.assigned) {
    slp_lease_unwant(l);
    slp_lease_move(l, claims ? SLP_LEASE_EXPECTED : SLP_LEASE_IDLE);
    slp_lease_touch(l);
  } else if (!claims && (!l->row.claim.n || l->row.claim_version < slp_leases_version(f) || dead_claim(l))) {
    slp_lease_claim(l);
  } else {
    if (claims) expect_handover(l);
    slp_lease_poll(l, next_wanted_read_us(l));
  }
}

/* Handles a row that names this worker as the owner, although no write of this worker was answered that made
 * it the owner. */
static void saw_mine_unasked(slp_lease *l, const slp_lease_row *row) {
  if (row->epoch < l->own.released_epoch) {
    slp_lease_release_again(l, row);
    return;
  }
  SLP_PROBE("lease: given to me by its owner");
  l->f->stats.taken++;
  slp_lease_begin(l, row->epoch, &row->position);
}

/* For a fleet with a leader. Decides from the lease's row what to do: take the lease, ask for it, wait, or
 * forget it. */
void slp_lease_met_assigned(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  if (is_mine(l, row->owner)) {
    saw_mine_unasked(l, row);
    return;
  }
  if (!slp_lease_wanted(l)) {
    slp_lease_move(l, is_mine(l, row->claim) ? SLP_LEASE_EXPECTED : SLP_LEASE_IDLE);
    slp_lease_touch(l);
    return;
  }
  if (row->parked || slp_refused_waits(row, slp_wall_ms(f->h))) {
    slp_lease_poll(l, slp_fleet_now(f) + 10 * SELDOM_US);
  } else if (!row->owner.n) {
    slp_lease_take(l);
  } else {
    switch (slp_member_verdict(f, slp_instance_str(&l->row.owner), l->row.owner_us)) {
      case SLP_MEMBER_EVICTED:
        SLP_PROBE("lease: taken from the dead");
        slp_lease_take(l);
        break;
      case SLP_MEMBER_UNKNOWN: slp_lease_poll(l, slp_fleet_now(f)); break;
      case SLP_MEMBER_ALIVE: claim_from_owner(l); break;
    }
  }
}

/* ---- a lease that this worker has -------------------------------------------------------------- */

/* Returns 1 if the lease must be handed to the worker that claims it. Usually an owner obeys a claim only if
 * the lease is no longer in its own assignment. Otherwise two leaders that disagree could move the lease back
 * and forth. */
static int must_hand_to_claimer(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_str claim = slp_instance_str(&l->row.claim);
  if (f->strategy->must_give_up) return f->strategy->must_give_up(l);
  if (!claim.n || slp_str_eq(claim, slp_instance_str(&f->me)) || SLP_MUTANT(claim_ignored)) return 0;
  /* A lease that is assigned to this worker stays here. A lease that this worker only inherited goes to the
   * worker that claims it. */
  if (slp_worker_is(f, SLP_WORKER_RUNS) && l->want.assigned) return 0;
  return slp_member_verdict(f, claim, l->row.claim_us) != SLP_MEMBER_EVICTED;
}

static int is_draining(const slp_lease *l) {
  return l->state == SLP_LEASE_DRAINING || l->state == SLP_LEASE_DRAINED;
}

/* Remembers that the lease must be given up, and why. Of several reasons the greatest slp_release_reason
 * counts. When the lease has begun to drain, the reason does not change any more. */
static void give_up(slp_lease *l, slp_release_reason why) {
  if (!is_draining(l) && why > (slp_release_reason)l->release.why) l->release.why = (uint8_t)why;
  slp_lease_touch(l);
}

static void saw_mine(slp_lease *l) {
  slp_fleet *f = l->f;
  if (l->row.claim.n && l->want.assigned && l->row.claim_version > slp_leases_version(f))
    slp_assignment_read(f);
  if (l->row.claim.n && is_draining(l) && f->strategy->members) {
    slp_str id, incarnation;
    slp_member *p = NULL;
    if (slp_instance_split(slp_instance_str(&l->row.claim), &id, &incarnation)) p = slp_member_make(f, id);
    if (p) p->wanted = 1;
  }
  if (l->row.paused && slp_lease_in(l, SLP_LEASE_OPEN)) give_up(l, SLP_RELEASE_HOLD);
  if (is_draining(l) || !l->want.assigned) slp_lease_poll(l, next_kept_read_us(l));
  slp_lease_touch(l);
}

/* Handles an answer that shows no row of the lease: the row is not created yet, or was removed. */
static void saw_nothing(slp_lease *l) {
  if (l->f->strategy->removed && l->f->strategy->removed(l)) return;
  int wanted = slp_lease_wanted(l);
  slp_lease_move(l, wanted && slp_lease_in(l, SLP_LEASE_SOUGHT) ? SLP_LEASE_WANTED : SLP_LEASE_IDLE);
  if (wanted)
    slp_lease_poll(l, next_wanted_read_us(l));
  else
    slp_lease_touch(l);
}

void slp_lease_saw(slp_lease *l, const slp_lease_row *row, uint64_t sent_us, uint64_t done_us) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  int held = slp_lease_in(l, SLP_LEASE_HELD);
  /* The last write of this ownership was sent. Its answer decides what happens, and not this read. */
  if (slp_lease_in(l, SLP_LEASE_MINE) && !held) return;
  if (l->op.busy || (held && sent_us < l->own.since_us)) {
    slp_lease_poll(l, now + OFTEN_US / 2);
    return;
  }
  if (row) l->own.made_us = 0;
  if (row && slp_lease_read_image(l, row, done_us)) {
    slp_lease_poll(l, now + OFTEN_US);
  } else if (held) {
    if (row && is_mine(l, row->owner) && row->epoch == l->own.row_epoch)
      saw_mine(l);
    else {
      SLP_PROBE("lease: seen to be another's");
      slp_lease_gone(l, SLP_SHUTDOWN_LOST);
    }
  } else if (!row) {
    saw_nothing(l);
  } else if (l->row.ended) {
    l->want.inherited = 0;
    slp_lease_move(l, SLP_LEASE_IDLE);
  } else {
    f->strategy->met(l, row);
  }
}

/* ---- waiting for the parents ------------------------------------------------------------------- */

/* Returns 1 if a child must wait while its parent has no row: until the leader creates the row, or until the
 * stream no longer lists the parent. */
static int missing_blocks(const slp_fleet *f) { return f->strategy->missing_blocks; }

void slp_lease_parent_saw(slp_lease *l, int which, const slp_lease_row *row) {
  slp_lease_gate *gate = &l->gate;
  if (l->state != SLP_LEASE_WAITING) return;
  /* If the stream still lists the parent, the leader will create its row. So a listing is asked for, to
   * know. */
  uint64_t now = slp_fleet_now(l->f);
  int anew = gate->parents[which] != SLP_PARENT_MISSING || now - gate->listing_us >= PARENT_AGAIN_US;
  if (!row && anew && missing_blocks(l->f)) {
    gate->listing_us = now;
    slp_fleet_list(l->f);
  }
  gate->parents[which] = !row                                     ? SLP_PARENT_MISSING
                         : row->position.kind == SLP_POSITION_END ? SLP_PARENT_ENDED
                                                                  : SLP_PARENT_UNFINISHED;
  slp_lease_touch(l);
}

static int parents_known(slp_lease *l) {
  return !l->f->strategy->knows_parents || l->f->strategy->knows_parents(l);
}

static int parent_done(slp_lease *l, int k) {
  slp_fleet *f = l->f;
  slp_str parent = l->row.parents[k];
  if (!parent.n || l->gate.parents[k] == SLP_PARENT_ENDED || SLP_MUTANT(gate_open)) return 1;
  /* If this worker still remembers that it has read the parent to its end, the parent's row need not be read.
   * If that was long ago, the row is read, because an operator may have set the position back. */
  slp_lease *p = l->want.inherited ? slp_lease_get(f, parent) : NULL;
  if (p && p->row.ended) return 1;
  if (l->gate.parents[k] != SLP_PARENT_MISSING) return 0;
  if (!missing_blocks(f)) return 1;
  if (slp_listed_us(f) <= l->gate.listing_us) {
    slp_fleet_list(f);
    return 0;
  }
  return !slp_fleet_listed_has(f, parent);
}

static void open_owned_shard(slp_lease *l) {
  slp_fleet *f = l->f;
  /* A worker that can't prove its life may have lost the lease long ago, so it opens no shard. The next proof
   * of life, or the end of the suspension, makes slp_lease_step run again for the lease. */
  if (!slp_fleet_may_deliver(f) || (f->strategy->may_open && !f->strategy->may_open(l))) return;
  if (f->processor->ops->open(f->processor, l->shard, l->own.epoch, &l->own.begin)) {
    slp_lease_step_at(l, slp_fleet_now(f) + OFTEN_US);
    return;
  }
  slp_lease_move(l, SLP_LEASE_OWNED);
  slp_fleet_tell(f, SLP_FLEET_TAKEN, l->shard, l->own.epoch, "is read now");
  slp_lease_touch(l);
}

/* Gives up a lease that has no new position to save, without sending a write for it. The worker's last write,
 * LEAVE, frees all such leases at once. */
static void leave_free(slp_lease *l, slp_shutdown_reason why) {
  l->succession.freed = 1;
  slp_lease_gone(l, why);
}

/* If the lease must be given up, and its shard was not opened yet, gives the lease up. Returns 1 if it was
 * given up. */
static int given_up_unread(slp_lease *l) {
  slp_fleet *f = l->f;
  int unsaved = slp_position_ahead(&l->own.begin, &l->own.saved);
  if (slp_worker_is(f, SLP_WORKER_LEAVING) && (unsaved || !f->strategy->frees_all)) {
    slp_lease_release(l, SLP_RELEASE_LEAVE);
  } else if (slp_worker_is(f, SLP_WORKER_LEAVING)) {
    leave_free(l, SLP_SHUTDOWN_LEFT);
  } else if ((slp_hold_is(f, SLP_HOLD_ON) || l->row.paused) && !SLP_MUTANT(opens_while_held)) {
    SLP_PROBE("lease: given up unread, because of a hold or a pause");
    slp_lease_release(l, SLP_RELEASE_HOLD);
  } else if (must_hand_to_claimer(l)) {
    SLP_PROBE("lease: handed on before it was opened");
    slp_lease_release(l, SLP_RELEASE_HANDOVER);
  } else {
    return 0;
  }
  return 1;
}

static void step_waiting_lease(slp_lease *l) {
  slp_fleet *f = l->f;
  uint32_t *wait_ms = &l->gate.wait_ms;
  if (given_up_unread(l)) return;
  if (parents_known(l) && parent_done(l, 0) && parent_done(l, 1)) {
    open_owned_shard(l);
    return;
  }
  uint64_t now = slp_fleet_now(f);
  /* A read that is planned already is from before the lease was taken, and may be seconds away. */
  int first = !*wait_ms;
  if (first || l->poll.row_us == SLP_NEVER) {
    *wait_ms = !*wait_ms ? 1 : *wait_ms == 1 ? 1000 : *wait_ms * 2;
    if (*wait_ms > 10000) *wait_ms = 10000;
    slp_lease_poll(l, now + slp_fleet_jitter(f, (uint64_t)*wait_ms * 1000, 20));
  }
  /* The row may be read later than planned: while an earlier read of rows is unanswered, no other is sent. */
  slp_lease_step_at(l, slp_max_u64(l->poll.row_us, now) + OFTEN_US);
}

/* ---- reading and giving up --------------------------------------------------------------------- */

static void start_draining(slp_lease *l, slp_release_reason why) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f);
  slp_lease_move(l, SLP_LEASE_DRAINING);
  if (why == SLP_RELEASE_HANDOVER && f->strategy->hands_over) f->strategy->hands_over(l);
  l->release.why = (uint8_t)why;
  l->release.deadline_us = now + (uint64_t)f->o.handover_ms * 1000;
  if (why == SLP_RELEASE_LEAVE) l->release.deadline_us = slp_worker_leave_by_us(f);
  f->processor->ops->drain(f->processor, l->shard);
  slp_lease_step_at(l, l->release.deadline_us);
  slp_lease_poll(l, now + slp_fleet_jitter(f, SELDOM_US, 10));
}

/* Returns 1 if the shard was handed out to its end and the user has acknowledged every record. */
static int is_over(slp_lease *l) {
  slp_position mark;
  if (!l->end.reached) return 0;
  slp_lease_mark(l, &mark);
  return mark.kind == SLP_POSITION_END;
}

/* Waits for the user's acknowledgements of the last records of an ended shard. If the lease must be given up
 * before they come, moves it to DRAINING, which has a time limit. */
static void step_ending_lease(slp_lease *l) {
  int leaves = slp_worker_is(l->f, SLP_WORKER_LEAVING);
  if ((leaves || l->release.why) && !is_over(l)) {
    SLP_PROBE("lease: its end waits for the user, and it has to go");
    start_draining(l, leaves ? SLP_RELEASE_LEAVE : (slp_release_reason)l->release.why);
  } else {
    slp_lease_end(l);
  }
}

static void step_owned_lease(slp_lease *l) {
  slp_fleet *f = l->f;
  if (l->end.reached) {
    slp_lease_move(l, SLP_LEASE_ENDING);
    step_ending_lease(l);
  } else if (slp_worker_is(f, SLP_WORKER_LEAVING)) {
    start_draining(l, SLP_RELEASE_LEAVE);
  } else if (l->release.why) {
    start_draining(l, (slp_release_reason)l->release.why);
  } else if (must_hand_to_claimer(l)) {
    start_draining(l, SLP_RELEASE_HANDOVER);
  } else if (!slp_lease_save_due(l) && !l->want.assigned) {
    slp_lease_poll(l, next_kept_read_us(l));
  }
}

static void step_draining_lease(slp_lease *l) {
  slp_fleet *f = l->f;
  uint64_t now = slp_fleet_now(f), *deadline_us = &l->release.deadline_us;
  int drained = l->state == SLP_LEASE_DRAINED;
  if (!drained && now >= *deadline_us) SLP_PROBE("lease: the deadline of a hand-over");
  /* The shard is read to its end and acknowledged. Only writes are left: its END, and the rows of its
   * children. So no other worker needs to read the shard, and the lease is not given up. */
  if (is_over(l)) {
    SLP_PROBE("lease: over while it was to be handed on");
    slp_lease_move(l, SLP_LEASE_ENDING);
    slp_lease_end(l);
    return;
  }
  if (slp_worker_is(f, SLP_WORKER_LEAVING))
    *deadline_us = slp_min_u64(*deadline_us, slp_worker_leave_by_us(f));
  if (!drained && now < *deadline_us && !SLP_MUTANT(hands_over_undrained)) {
    slp_lease_step_at(l, *deadline_us);
    slp_lease_save_due(l);
    return;
  }
  /* The worker that claimed the lease may have died while this worker waited for the user's acknowledgements.
   * Then the lease is released to nobody, and the worker to which it is assigned next takes it. */
  slp_release_reason why = (slp_release_reason)l->release.why;
  if (why == SLP_RELEASE_HANDOVER && !must_hand_to_claimer(l)) {
    SLP_PROBE("lease: who asked for it has died meanwhile");
    why = SLP_RELEASE_LEAVE;
  }
  if (why == SLP_RELEASE_PARK && f->strategy->park && slp_worker_is(f, SLP_WORKER_RUNS)) {
    f->strategy->park(l);
    return;
  }
  if (slp_worker_is(f, SLP_WORKER_LEAVING) && f->strategy->frees_all && slp_lease_clean(l)) {
    leave_free(l, drained ? SLP_SHUTDOWN_LEFT : SLP_SHUTDOWN_EXPIRED);
    return;
  }
  slp_lease_release(l, why);
}

/* ---- one step of a lease ----------------------------------------------------------------------- */

/* Returns how long to wait before the row of a lease in EXPECTED is read again. In EXPECTED this worker no
 * longer wants the lease, but may still become its owner, mostly because the row has its claim. Then nobody
 * reads the shard until this worker sees that, and passes the lease on. The longer this has not happened, the
 * less often the row is read. */
static uint64_t expected_us(const slp_lease *l, uint64_t now_us) {
  if (now_us < l->poll.often_us) return slp_fleet_jitter(l->f, OFTEN_US, 20);
  return slp_min_u64(slp_max_u64((now_us - l->poll.often_us) / 4, SELDOM_US), EXPECTED_US);
}

static void step_idle_lease(slp_lease *l) {
  uint64_t now = slp_fleet_now(l->f);
  if (slp_lease_wanted(l)) {
    start_wanting(l);
    return;
  }
  if (l->state == SLP_LEASE_IDLE && may_be_made(l)) slp_lease_move(l, SLP_LEASE_EXPECTED);
  if (l->state == SLP_LEASE_EXPECTED)
    slp_lease_poll(l, now + expected_us(l, now));
  else if (l->want.shunned_us > now && l->want.assigned)
    slp_lease_step_at(l, l->want.shunned_us);
}

void slp_lease_step(slp_lease *l) {
  slp_fleet *f = l->f;
  if (!slp_worker_lives(f) || l->op.busy) return;
  switch (l->state) {
    case SLP_LEASE_IDLE:
    case SLP_LEASE_EXPECTED: step_idle_lease(l); break;
    case SLP_LEASE_WANTED:
      if (!slp_lease_wanted(l)) {
        slp_lease_move(l, SLP_LEASE_IDLE);
        slp_lease_touch(l);
      } else if (l->row.take_us) {
        slp_lease_take(l);
      }
      break;
    /* Nothing to do: the next read of the lease's row decides, even if this worker no longer wants the
     * lease. */
    case SLP_LEASE_CLAIMED: break;
    case SLP_LEASE_WAITING: step_waiting_lease(l); break;
    case SLP_LEASE_PARKED:
      if (!given_up_unread(l)) l->poll.row_us = SLP_NEVER;
      break;
    case SLP_LEASE_OWNED: step_owned_lease(l); break;
    case SLP_LEASE_DRAINING:
    case SLP_LEASE_DRAINED: step_draining_lease(l); break;
    case SLP_LEASE_ENDING: step_ending_lease(l); break;
    case SLP_LEASE_CLOSING: break; /* the END is under way, so its answer decides */
    case SLP_LEASE_RELEASING:
    case SLP_LEASE_UNRELEASED: slp_lease_release_step(l); break;
  }
}

/* ---- calls by the processor -------------------------------------------------------------------- */

static slp_lease *open_lease(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_get(f, shard);
  return l && slp_lease_in(l, SLP_LEASE_OPEN) ? l : NULL;
}

void slp_fleet_progressed(slp_fleet *f, slp_str shard) {
  slp_lease *l = open_lease(f, shard);
  if (!l) return;
  l->save.dirty = 1;
  slp_lease_touch(l);
}

void slp_fleet_drained(slp_fleet *f, slp_str shard) {
  slp_lease *l = open_lease(f, shard);
  if (!l) return;
  if (l->state == SLP_LEASE_DRAINING) slp_lease_move(l, SLP_LEASE_DRAINED);
  slp_lease_touch(l);
}

void slp_lease_hold(slp_lease *l) {
  if (slp_hold_is(l->f, SLP_HOLD_ON) && slp_lease_in(l, SLP_LEASE_OPEN)) {
    give_up(l, SLP_RELEASE_HOLD);
    return;
  }
  if (l->state == SLP_LEASE_OWNED && l->release.why == SLP_RELEASE_HOLD && !l->row.paused)
    l->release.why = SLP_RELEASE_NONE;
  slp_lease_touch(l);
}

void slp_fleet_stalled(slp_fleet *f, slp_str shard) {
  slp_lease *l = open_lease(f, shard);
  if (l) give_up(l, SLP_RELEASE_STALL);
}

void slp_fleet_refused(slp_fleet *f, slp_str shard) {
  slp_lease *l = open_lease(f, shard);
  if (l) give_up(l, SLP_RELEASE_REFUSED);
}

void slp_fleet_park(slp_fleet *f, slp_str shard) {
  slp_lease *l = open_lease(f, shard);
  if (l) give_up(l, SLP_RELEASE_PARK);
}

void slp_fleet_ended(slp_fleet *f, slp_str shard, const slp_shard_desc *children, size_t n) {
  slp_lease *l = open_lease(f, shard);
  if (!l || l->end.reached) return;
  /* There is no memory to keep the list of children. So the lease is given up, and another worker reads the
   * end. */
  if (slp_lease_keep_kids(l, children, n)) {
    give_up(l, SLP_RELEASE_STALL);
    return;
  }
  if (!n) f->leases.unknown_kids = 1;
  slp_lease_touch(l);
}
