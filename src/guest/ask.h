/* ask.h - asks a living worker for its lease by a claim: this worker's name in the row of the lease. For
 * tables in which workers have no rows of their own. (ask.c) */
#ifndef SLP_GUEST_ASK_H
#define SLP_GUEST_ASK_H

#include "lease/lease.h"

/* The lease is no longer chosen (slp_lease_choice), and no longer wanted. */
void slp_choice_forget(slp_lease *l);
/* These are slp_strategy.chosen_us, .restores and .removed. */
uint64_t slp_choice_us(const slp_lease *l);
int slp_choice_restores(const slp_lease *l);
int slp_choice_removed(slp_lease *l);

/* Forgets the choice, and sends the write that takes this worker's claim out of the row. */
void slp_ask_take_back(slp_lease *l);
void slp_ask_look_soon(slp_lease *l); /* reads the row in half a second: has the owner let go? */
/* These are slp_strategy.claimed and .leaves. A worker that leaves takes back all of its claims. */
void slp_ask_claimed(slp_lease *l);
void slp_ask_leaves(slp_fleet *f);
/* Returns 1 if the owner has been silent long enough to be dead, and the row has not changed since the last
 * round over the table. */
int slp_ask_owner_is_dead(slp_lease *l, const slp_lease_row *row);
/* Returns 1 if the claim in the row is this worker's. */
int slp_ask_is_mine(const slp_lease *l, const slp_lease_row *row);

#endif
