/* claim_strategy.h - sharing where no worker leads. A living owner is asked for a lease; its lease is never
 * stolen. (claim_strategy.c) */
#ifndef SLP_GUEST_CLAIM_STRATEGY_H
#define SLP_GUEST_CLAIM_STRATEGY_H

#include "lease/lease.h"

/* The first function is the member reserved_until_us of slp_guest_strategy. The other two are the members
 * met and missed of slp_strategy. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row);
void slp_claim_met(slp_lease *l, const slp_lease_row *row);
void slp_claim_missed(slp_lease *l);
/* Returns 1 if a late checkpoint of the Go program has replaced this worker's row by an older row. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row);

#endif
