/* from_listing.h - what the stream's listing tells of a shard, where rows of leases tell less than ours.
 * (from_listing.c) */
#ifndef SLP_GUEST_FROM_LISTING_H
#define SLP_GUEST_FROM_LISTING_H

#include "lease/lease.h"

/* As slp_strategy has them. */
int slp_listing_knows_parents(slp_lease *l);
int slp_listing_knows_start(slp_lease *l, const slp_shard_desc *kid, slp_str *ret);

#endif
