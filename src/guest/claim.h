/* claim.h - sharing where nobody leads and nobody takes from the living. (claim.c) */
#ifndef SLP_GUEST_CLAIM_H
#define SLP_GUEST_CLAIM_H

#include "lease/lease.h"

/* As slp_strategy and slp_guest_strategy have them. */
uint64_t slp_claim_reserved_until_us(slp_fleet *f, const slp_lease_row *row);
void slp_claim_met(slp_lease *l, const slp_lease_row *row);
void slp_claim_missed(slp_lease *l);
int slp_claim_is_put_back(const slp_lease *l, const slp_lease_row *row); /* by a peer's late checkpoint */

#endif
