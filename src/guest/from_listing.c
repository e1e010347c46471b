/* from_listing.c - learns from the stream's listing what a lease's row doesn't tell of its shard, in layouts
 * whose rows tell less than the native ones. */
#include "guest/from_listing.h"

#include "guest/guest.h"

#define UNLISTED_US UINT64_C(60000000) /* a child that listings lack for longer than this is gone */

#define ABSENT_US 60000000 /* a shard that listings lack for longer than this is gone, and not only new */

/* Returns 1 if all parents of the lease's shard are known. Where rows name one parent at most, the listing
 * of the stream names the other. A shard that the stream no longer lists has no parent that matters. But a
 * shard may also be unlisted because it is newer than the listing; then its parent is listed. */
int slp_listing_knows_parents(slp_lease *l) {
  slp_fleet *f = l->f;
  slp_lease_gate *gate = &l->gate;
  if (gate->known) return 1;
  const slp_listed *listed = slp_listed_get(f, l->shard);
  if (!gate->asked_us) gate->asked_us = slp_fleet_now(f);
  uint64_t wait_us = slp_fleet_listed_has(f, l->row.parents[0]) ? ABSENT_US : 0;
  if (listed)
    gate->known = slp_lease_know_parents(l, &listed->desc) == 0;
  else if (slp_listed_us(f) > gate->asked_us + wait_us)
    gate->known = 1;
  else
    slp_fleet_list(f);
  return gate->known;
}

/* The end of a shard names its children, but not the sequence numbers with which they start. Sets *ret to the
 * number from the listing. Returns 1 with *ret unset if listings lack the child for UNLISTED_US. */
int slp_listing_knows_start(slp_lease *l, const slp_shard_desc *kid, slp_str *ret) {
  slp_fleet *f = l->f;
  const slp_listed *listed = slp_listed_get(f, kid->id);
  if (!l->end.listing_us) l->end.listing_us = slp_fleet_now(f);
  if (listed)
    *ret = listed->desc.seq_start;
  else if (slp_listed_us(f) <= l->end.listing_us + UNLISTED_US)
    slp_fleet_list(f);
  return listed || slp_listed_us(f) > l->end.listing_us + UNLISTED_US;
}
