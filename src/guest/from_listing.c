/* from_listing.c - learns from the stream's listing what a lease's row does not say about its shard. For
 * layouts whose rows have fewer attributes than native rows. */
#include "guest/from_listing.h"

#include "codec/page.h"
#include "lease/context.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/lease_types.h"
#include "lease/shard_listing.h"

/* if listings have lacked a child shard for longer than this, the child is gone */
#define UNLISTED_US UINT64_C(60000000)

/* If listings have lacked a shard for longer than this, the shard is gone. Before that, the shard may be too
 * new to be listed. */
#define ABSENT_US 60000000

/* Returns 1 if all parents of the lease's shard are known. In these layouts a row names one parent at most,
 * so the other parent of a merge is taken from the listing. A shard that the listing lacks is either
 * forgotten by the stream or newer than the listing. If the stream has forgotten it, its parents do not
 * matter any more. If it is newer, its parent is still listed. */
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

/* Finds the sequence number with which the child `kid` begins, because the end of a shard shows only the ids
 * of its children. Returns 1 and sets *ret if the listing has it. Returns 1 and leaves *ret as it is if
 * listings have lacked the child for UNLISTED_US. Otherwise returns 0. */
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
