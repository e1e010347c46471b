/* hash_ranges.h - knows which range of hash keys belongs to which shard. The range of a shard comes from the
 * listing. If the listing does not contain the shard yet, the range comes from the last page of the shard's
 * parent, which names its children. */
#ifndef SLP_SOURCE_HASH_RANGES_H
#define SLP_SOURCE_HASH_RANGES_H

#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"
#include "source/listing_pages.h"

typedef struct slp_hash_ranges {
  slp_mem *mem;
  slp_map children; /* the range of each child that the newest listing does not contain yet, by shard id */
} slp_hash_ranges;

void slp_hash_ranges_init(slp_hash_ranges *r, slp_mem *mem);
void slp_hash_ranges_free(slp_hash_ranges *r);
/* Remembers the ranges in the page's ChildShards. Without memory, such a range stays unknown. */
void slp_hash_ranges_learn(slp_hash_ranges *r, const slp_page *page);
/* Forgets the remembered ranges of all shards that the new listing `l` contains. */
void slp_hash_ranges_listed(slp_hash_ranges *r, slp_listing *l);
/* Returns 1 and the range of the shard in *ret, or 0 if it is not known. l: the newest listing; NULL: there
 * is none. */
int slp_hash_ranges_get(const slp_hash_ranges *r, slp_listing *l, slp_str shard, slp_hash_range *ret);

#endif
