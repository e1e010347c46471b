/* ask_owner.c - what steal.c and claim_strategy.c have in common: to ask a living owner for a lease, a worker
 * writes a claim (its name) into the lease's row. Then the worker reads the row until the owner has given the
 * lease up. A worker that no longer wants the lease removes its claim. */
#include "guest/ask_owner.h"

#include "base/mutant.h"
#include "base/probe.h"
#include "guest/counter.h"
#include "guest/guest.h"
#include "guest/guest_operations.h"
#include "guest/strategies.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/worker_life.h"
#include "lease/write.h"

#define LOOK_US 500000 /* the time between two reads of the row of a lease that this worker has asked for */
/* how often UNCLAIM is tried, in layouts where a claim runs out by itself */
#define TAKE_BACK_TRIES 3

/* Handles the answer to UNCLAIM, which removes this worker's claim. The owner may have handed the lease
 * over to this worker just before. This worker no longer wants the lease, so the lease is released. */
static void taken_back(slp_write *op) {
  slp_lease *l = op->owner;
  const slp_lease_row *row = &op->row.u.lease;
  int here = op->end == SLP_OUTCOME_REFUSED && op->row.kind == SLP_ROW_LEASE;
  slp_lease_touch(l);
  if (here && slp_str_eq(row->owner, slp_instance_str(&l->f->me)) && !l->row.ended) {
    SLP_PROBE("ask: taken back too late");
    /* the position that this worker had from an earlier ownership of the lease is no longer valid */
    l->own.begin = row->position;
    if (slp_lease_read_image(l, row, slp_fleet_now(l->f)) == 0) slp_lease_release_again(l, row);
  }
}

void slp_choice_forget(slp_lease *l) {
  slp_guest_lease_of(l)->choice = (slp_lease_choice){.counter = 0};
  slp_lease_forget(l);
}

uint64_t slp_choice_us(const slp_lease *l) { return slp_guest_lease_of(l)->choice.at_us; }

int slp_choice_restores(const slp_lease *l) { return slp_guest_lease_of(l)->choice.restores; }

/* Called when a lease that this worker chose from a list of all rows has no row any more. There is no
 * owner to ask, so the choice is dropped. Returns 1: the lease is no longer wanted. */
int slp_choice_removed(slp_lease *l) {
  if (!slp_guest_lease_of(l)->choice.counter) return 0;
  SLP_PROBE("lease: removed after it was chosen");
  slp_choice_forget(l);
  return 1;
}

void slp_ask_take_back(slp_lease *l) {
  slp_choice_forget(l);
  slp_fleet_operation(l->f, &l->op.i, SLP_GUEST_UNCLAIM);
  l->op.tries_max = slp_guest_rules_of(l->f)->asks == SLP_ASKS_OURS ? 0 : TAKE_BACK_TRIES;
  slp_lease_send(l, SLP_GUEST_UNCLAIM, taken_back);
}

int slp_ask_must_give_up(const slp_lease *l) {
  slp_str claim = slp_instance_str(&l->row.claim);
  return claim.n && !slp_str_eq(claim, slp_instance_str(&l->f->me)) && !SLP_MUTANT(claim_ignored);
}

void slp_ask_look_soon(slp_lease *l) {
  slp_lease_poll(l, slp_fleet_now(l->f) + slp_fleet_jitter(l->f, LOOK_US, 20));
}

void slp_ask_claimed(slp_lease *l) {
  if (slp_worker_is(l->f, SLP_WORKER_LEAVING)) slp_ask_leaves(l->f);
}

void slp_ask_leaves(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    int asked = l->state == SLP_LEASE_CLAIMED ||
                (l->state == SLP_LEASE_WANTED && slp_guest_lease_of(l)->choice.from.n);
    if (asked && !l->op.busy) slp_ask_take_back(l);
  }
}

int slp_ask_owner_is_dead(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  const slp_seen_shard *seen = slp_seen_get(f, l->shard);
  return seen && slp_guest_seen_of(seen)->silence.last.counter == row->epoch && slp_counter_dead(f, seen, 1);
}

int slp_ask_is_mine(const slp_lease *l, const slp_lease_row *row) {
  return slp_str_eq(row->claim, slp_instance_str(&l->f->me));
}
