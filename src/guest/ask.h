/* ask.h - asks a living worker for its lease by a claim: this worker's name in the row of the lease. For
 * tables in which workers have no rows of their own. (ask.c) */
#ifndef SLP_GUEST_ASK_H
#define SLP_GUEST_ASK_H

#include "lease/lease.h"

/* The lease is no longer chosen (slp_lease_choice), and no longer wanted. */
void slp_choice_forget(slp_lease *l);
/* chosen_us, restores and removed of slp_strategy. */
uint64_t slp_choice_us(const slp_lease *l);
int slp_choice_restores(const slp_lease *l);
int slp_choice_removed(slp_lease *l);

/* Forgets the choice, and sends the write that takes this worker's claim out of the row. */
void slp_ask_take_back(slp_lease *l);
void slp_ask_look_soon(slp_lease *l); /* reads the row in half a second: has the owner let go? */
/* claimed and leaves of slp_strategy. A worker that leaves takes back every claim that it has made. */
void slp_ask_claimed(slp_lease *l);
void slp_ask_leaves(slp_fleet *f);
/* Returns 1 if the owner in the row has been silent long enough to be dead, and the row is still the one that
 * the last round over the table saw. */
int slp_ask_owner_is_dead(slp_lease *l, const slp_lease_row *row);
/* Returns 1 if the claim in the row is this worker's. */
int slp_ask_is_mine(const slp_lease *l, const slp_lease_row *row);

#endif
