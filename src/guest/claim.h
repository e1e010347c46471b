/* claim.h - sharing where no worker leads, and living owners are asked and never stolen from. (claim.c) */
#ifndef SLP_GUEST_CLAIM_H
#define SLP_GUEST_CLAIM_H

#include "lease/lease.h"

/* These are slp_guest_strategy.reserved_until_us, and slp_strategy.met and .missed. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row);
void slp_claim_met(slp_lease *l, const slp_lease_row *row);
void slp_claim_missed(slp_lease *l);
/* Returns 1 if the Go program's late checkpoint has put an older row over this worker's. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row);

#endif
