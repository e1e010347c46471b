/* ask_owner.h - asks a living worker for its lease by a claim: this worker's name in the lease's row. For
 * tables that have no rows of workers. (ask_owner.c) */
#ifndef SLP_GUEST_ASK_OWNER_H
#define SLP_GUEST_ASK_OWNER_H

#include "lease/lease_types.h"
#include "lease/schema.h"

/* Clears slp_lease_choice, and makes the lease idle (SLP_LEASE_IDLE): this worker no longer wants to take the
 * lease. */
void slp_choice_forget(slp_lease *l);
/* The next three functions are the members chosen_us, restores and removed of slp_strategy. */
uint64_t slp_choice_us(const slp_lease *l);
int slp_choice_restores(const slp_lease *l);
int slp_choice_removed(slp_lease *l);

/* Calls slp_choice_forget, and sends UNCLAIM, the write that removes this worker's claim from the row. */
void slp_ask_take_back(slp_lease *l);
/* schedules a read of the lease's row in half a second, to see whether the owner has given the lease up */
void slp_ask_look_soon(slp_lease *l);
/* The next three functions are the members must_give_up, claimed and leaves of slp_strategy. An owner obeys
 * every claim of another worker, whether that worker or a leader wrote it. A worker that leaves removes all
 * its claims. */
int slp_ask_must_give_up(const slp_lease *l);
void slp_ask_claimed(slp_lease *l);
void slp_ask_leaves(slp_fleet *f);
/* Returns 1 if the lease's owner is dead: it has shown no sign of life for long enough (slp_counter_dead),
 * and the counter in `row` is unchanged since it was last seen. */
int slp_ask_owner_is_dead(slp_lease *l, const slp_lease_row *row);
/* Returns 1 if the row has a claim, and the claim is this worker's. */
int slp_ask_is_mine(const slp_lease *l, const slp_lease_row *row);

#endif
