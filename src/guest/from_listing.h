/* from_listing.h - learns from the stream's listing what a lease's row does not say about its shard.
 * (from_listing.c) */
#ifndef SLP_GUEST_FROM_LISTING_H
#define SLP_GUEST_FROM_LISTING_H

#include "codec/page.h"
#include "lease/lease_types.h"

/* The next two functions are the members knows_parents and knows_start of slp_strategy. */
int slp_listing_knows_parents(slp_lease *l);
int slp_listing_knows_start(slp_lease *l, const slp_shard_desc *kid, slp_str *ret);

#endif
