/* claim.h - sharing where no worker leads, and living owners are asked and never stolen from. (claim.c) */
#ifndef SLP_GUEST_CLAIM_H
#define SLP_GUEST_CLAIM_H

#include "lease/lease.h"

/* reserved_until_us of slp_guest_strategy; met and missed of slp_strategy. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row);
void slp_claim_met(slp_lease *l, const slp_lease_row *row);
void slp_claim_missed(slp_lease *l);
/* Returns 1 if the Go program's late checkpoint has put an older row over this worker's. */
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row);

#endif
