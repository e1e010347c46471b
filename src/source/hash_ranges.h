/* hash_ranges.h - which hash keys belong to which shard. A range is taken from the listing; for a child that
 * the listing does not have yet, from the page that named the child. */
#ifndef SLP_SOURCE_HASH_RANGES_H
#define SLP_SOURCE_HASH_RANGES_H

#include "base/map.h"
#include "codec/kpl.h"
#include "source/listing.h"

typedef struct slp_hash_ranges {
  slp_mem *mem;
  slp_map children; /* shard id -> its range, for children that the listing does not have yet */
} slp_hash_ranges;

void slp_hash_ranges_init(slp_hash_ranges *r, slp_mem *mem);
void slp_hash_ranges_free(slp_hash_ranges *r);
/* Remembers the ranges of the page's ChildShards. Without memory a range stays unknown. */
void slp_hash_ranges_learn(slp_hash_ranges *r, const slp_page *page);
/* Forgets the ranges of shards that the new listing `l` has. */
void slp_hash_ranges_listed(slp_hash_ranges *r, slp_listing *l);
/* 1: *ret is the range of that shard. 0: it is not known. l: the newest listing, or NULL. */
int slp_hash_ranges_get(const slp_hash_ranges *r, slp_listing *l, slp_str shard, slp_hash_range *ret);

#endif
