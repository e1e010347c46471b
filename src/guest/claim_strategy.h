/* claim_strategy.h - how workers share leases in tables of vmware-go-kcl, where no worker leads. A lease
 * is never taken from a living owner; the owner is asked for it. (claim_strategy.c) */
#ifndef SLP_GUEST_CLAIM_STRATEGY_H
#define SLP_GUEST_CLAIM_STRATEGY_H

#include "lease/lease_types.h"
#include "lease/schema.h"

/* slp_claim_reserved_until_us is the member reserved_until_us of slp_guest_strategy. slp_claim_met and
 * slp_claim_missed are the members met and missed of slp_strategy. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row);
void slp_claim_met(slp_lease *l, const slp_lease_row *row);
void slp_claim_missed(slp_lease *l);
/* Returns 1 if a late checkpoint of a Go program (vmware-go-kcl) has put an older row over this worker's
 * row. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row);

#endif
