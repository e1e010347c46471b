/* claim_strategy.c - how leases are shared in tables of vmware-go-kcl, where no worker leads, and no worker
 * takes a lease from a living owner.
 *
 * A worker that holds too few leases chooses a lease of the worker that holds the most. The worker asks for
 * that lease by a claim, which is its own name in the lease's row. It takes the lease when the owner has
 * given the lease up. Everything else is done as in steal.c.
 *   - A worker makes one claim at a time.
 *   - The owner may not see the claim. A checkpoint of the Go program writes the whole row, and so erases a
 *     claim before the program's next renewal would see it. A Go program that is configured not to share
 *     erases every claim.
 *   - A claim that was erased is written again, up to CLAIMS_MAX times. After that the wait until the next
 *     claim doubles each time (slp_steal_unheard).
 *   - A worker removes a claim that it no longer wants, because no other worker takes the lease while the
 *     claim is in the row. */
#include "guest/claim_strategy.h"

#include "guest/ask_owner.h"
#include "guest/expiry.h"
#include "guest/guest.h"
#include "guest/steal.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/outcome.h"
#include "lease/schema.h"
#include "lease/seen.h"

/* enough, because an owner that saves every second and renews every 2.5 s sees one claim in five */
#define CLAIMS_MAX 20

static slp_str own_instance(const slp_fleet *f) { return slp_instance_str(&f->me); }

/* The time in the row is by the last owner's clock, which may be ahead. So a claim of a worker of sloop also
 * ends when the row has not changed for one lease time by this worker's own clock. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row) {
  const slp_seen_shard *seen = slp_seen_get(f, row->shard);
  uint64_t until_us =
      slp_expiry_reserved_us(row, own_instance(f), slp_wall_ms(f->h), slp_fleet_now(f), f->o.lease_ms);
  slp_str id, incarnation;
  int still = until_us && seen && slp_guest_seen_of(seen)->silence.reads &&
              slp_guest_seen_of(seen)->silence.last.counter == row->epoch;
  if (!still || !slp_instance_split(row->claim, &id, &incarnation)) return until_us;
  return slp_min_u64(until_us,
                     slp_after_us(slp_guest_seen_of(seen)->silence.since_us, slp_fleet_lease_us(f)));
}

static int is_reserved(slp_fleet *f, const slp_lease_row *row) {
  return slp_claim_reserved_until_us(f, row) > slp_fleet_now(f);
}

/* ---- asking ------------------------------------------------------------------------------------ */

/* Stops asking for this lease for some time, because its owner does not see the claims. */
static void give_up_unheard_claim(slp_lease *l) {
  slp_steal_unheard(l->f, 1);
  slp_choice_forget(l);
}

/* Called when a lease that this worker wants is still a living owner's. Waits, writes a claim (again), or
 * gives up. */
static void wait_or_claim(slp_lease *l, const slp_lease_row *row) {
  int asked = slp_ask_is_mine(l, row);
  int as_chosen = slp_str_eq(row->owner, slp_instance_str(&slp_guest_lease_of(l)->choice.from));
  if (asked && as_chosen) {
    slp_ask_look_soon(l);
  } else if (asked) {
    /* the claim is still in the row, but the lease is now owned by another worker, which was not asked */
    slp_ask_take_back(l);
  } else if (as_chosen &&
             (l->state == SLP_LEASE_WANTED || ++slp_guest_lease_of(l)->choice.unheard < CLAIMS_MAX)) {
    slp_lease_claim(l);
  } else {
    give_up_unheard_claim(l);
  }
}

/* Returns 1 if a worker of the other system has put an older row over the row that this worker wrote. A
 * late checkpoint of a Go program does that, because it is written without a condition. Its sign is that
 * the time in the row is earlier than the time that this worker wrote; no take sets an earlier time. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row) {
  return row->owner.n && !slp_str_eq(row->owner, own_instance(l->f)) && row->epoch < l->own.row_epoch;
}

/* Handles the row of one lease that was read by itself. If this worker has chosen the lease, it asks for the
 * lease, waits, or takes the lease if it is free. */
void slp_claim_met(slp_lease *l, const slp_lease_row *row) {
  slp_fleet *f = l->f;
  int free = !row->owner.n || slp_str_eq(row->owner, own_instance(f)) || slp_ask_owner_is_dead(l, row) ||
             (slp_guest_lease_of(l)->choice.restores && slp_claim_is_put_back(l, row));
  int may = slp_lease_wanted(l) && !is_reserved(f, row);
  if (!may && slp_ask_is_mine(l, row)) {
    slp_ask_take_back(l);
  } else if (may && free) {
    if (slp_guest_lease_of(l)->choice.from.n) slp_steal_unheard(f, 0);
    slp_lease_choose(l);
    slp_lease_take(l);
  } else if (may && slp_guest_lease_of(l)->choice.from.n) {
    wait_or_claim(l, row);
  } else {
    slp_choice_forget(l);
  }
}

/* Handles a take that was refused, or given up before it was sent. If it was not sent, this worker's claim
 * may still be in the row, so it is removed. */
void slp_claim_missed(slp_lease *l) {
  int unsent = l->op.end == SLP_OUTCOME_GIVEN_UP;
  if (unsent && slp_str_eq(slp_instance_str(&l->row.claim), own_instance(l->f)))
    slp_ask_take_back(l);
  else
    slp_choice_forget(l);
}
