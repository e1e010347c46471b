/* ask.h - a lease that a living worker has is asked for by this worker's name in its row, where no worker has
 * a row of its own. (ask.c) */
#ifndef SLP_GUEST_ASK_H
#define SLP_GUEST_ASK_H

#include "lease/lease.h"

/* What this worker has chosen to take: it does not choose it any more; as slp_strategy has them. */
void slp_choice_forget(slp_lease *l);
uint64_t slp_choice_us(const slp_lease *l);
int slp_choice_restores(const slp_lease *l);
int slp_choice_removed(slp_lease *l);

/* This worker's name goes out of the row: it does not want the lease any more. */
void slp_ask_take_back(slp_lease *l);
void slp_ask_look_soon(slp_lease *l); /* whether the owner has let go */
void slp_ask_claimed(slp_lease *l);   /* its claim was answered; as slp_strategy has it */
void slp_ask_leaves(slp_fleet *f);    /* this worker begins to leave: all that it asked for is taken back */
/* The owner was silent for a lease, and was not heard of since. */
int slp_ask_owner_is_dead(slp_lease *l, const slp_lease_row *row);
int slp_ask_is_mine(const slp_lease *l, const slp_lease_row *row); /* the name in the row is this worker's */

#endif
