/* claim.c - sharing where nobody leads and nobody takes from the living: a worker that holds too few asks
 * for a lease of the one with the most, by its name in the row, and takes it when its owner has let go. All
 * else is as where leases are stolen (steal.c).
 *
 * One claim at a time. A peer may not see it: each checkpoint of the Go program puts a whole row and erases
 * it before the next renewal has a look, and one that is not made to share erases every claim. It is made
 * again for a while; then the next one is made later, and ever later. A claim that is not wanted any more is
 * taken back: while it stands nobody else takes the lease. */
#include "guest/claim.h"

#include "base/probe.h"
#include "guest/ask.h"
#include "guest/expiry.h"
#include "guest/guest.h"

#define CLAIMS_MAX 20 /* one in five is heard of an owner that saves each second and renews each 2.5 s */

static slp_str me(const slp_fleet *f) { return slp_instance_str(&f->me); }

/* The time in the row is by the clock of the last owner, which may be ahead. A claim on a row that has stood
 * still for a lease on this worker's own clock is over as well, where one of ours made it. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row) {
  const slp_seen_shard *seen = slp_seen_get(f, row->shard);
  uint64_t until_us = slp_expiry_reserved_us(row, me(f), slp_wall_ms(f->h), slp_fleet_now(f), f->o.lease_ms);
  slp_str id, incarnation;
  int still = until_us && seen && seen->silence.reads && seen->silence.last.counter == row->epoch;
  if (!still || !slp_instance_split(row->claim, &id, &incarnation)) return until_us;
  return slp_min_u64(until_us, slp_after_us(seen->silence.since_us, slp_fleet_lease_us(f)));
}

static int reserved(slp_fleet *f, const slp_lease_row *row) {
  return slp_claim_reserved_until_us(f, row) > slp_fleet_now(f);
}

/* ---- asking ------------------------------------------------------------------------------------ */

static void unheard(slp_lease *l) {
  slp_steal_unheard(l->f, 1);
  slp_choice_forget(l);
}

/* It is another's, and that one lives. */
static void wait(slp_lease *l, const slp_lease_row *row) {
  int asked = slp_ask_is_mine(l, row);
  int as_chosen = slp_str_eq(row->owner, slp_instance_str(&slp_guest_lease_of(l)->choice.from));
  if (asked && as_chosen) {
    slp_ask_look_soon(l);
  } else if (asked) { /* somebody took it all the same */
    slp_ask_take_back(l);
  } else if (as_chosen &&
             (l->state == SLP_LEASE_WANTED || ++slp_guest_lease_of(l)->choice.unheard < CLAIMS_MAX)) {
    slp_lease_claim(l);
  } else {
    unheard(l);
  }
}

/* A peer's late checkpoint, which has no condition, has put an older row over mine: its time is one that the
 * lease had before it was mine. No take makes a time that is earlier than the one it replaces. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row) {
  return row->owner.n && !slp_str_eq(row->owner, me(l->f)) && row->epoch < l->own.row_epoch;
}

/* Its row was read: what was chosen is asked for, waited for, and taken when it is free. */
void slp_claim_met(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  int free = !row->owner.n || slp_str_eq(row->owner, me(f)) || slp_ask_owner_is_dead(l, row) ||
             (slp_guest_lease_of(l)->choice.restores && slp_claim_is_put_back(l, row));
  int may = slp_lease_wanted(l) && !reserved(f, row);
  if (!may && slp_ask_is_mine(l, row)) {
    slp_ask_take_back(l);
  } else if (may && free) {
    if (slp_guest_lease_of(l)->choice.from.n) slp_steal_unheard(f, 0);
    slp_lease_choose(l);
    slp_lease_take(l);
  } else if (may && slp_guest_lease_of(l)->choice.from.n) {
    wait(l, row);
  } else {
    slp_choice_forget(l);
  }
}

/* Its take was refused, or was not sent in the end: then the row may ask for it still. */
void slp_claim_missed(slp_lease *l) {
  int unsent = l->op.end == SLP_OUTCOME_GIVEN_UP;
  if (unsent && slp_str_eq(slp_instance_str(&l->row.claim), me(l->f)))
    slp_ask_take_back(l);
  else
    slp_choice_forget(l);
}
