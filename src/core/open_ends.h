/* open_ends.h - decides whether a new shard whose parents nobody knows may descend from one that is read.
 * Pure.
 *
 * An open end is a shard that is read, that the service no longer keeps, and whose children were not all
 * listed: a split has two, a merge one. Its descendants get what is written under its hash keys.
 *   1. A new shard that has a hash key in common with an open end descends from it.
 *   2. If the service tells no keys, the new shard may descend from it.
 *   3. If such a shard was made by a split, the shard that was split is a descendant too, although nobody
 *      heard of it. So is the other half, even without a common key: a merge came in between.
 * What that other half was split into, if nobody heard of the half either, nothing shows; it is left out. */
#ifndef SLP_CORE_OPEN_ENDS_H
#define SLP_CORE_OPEN_ENDS_H

#include "base/map.h"
#include "codec/kpl.h"

typedef struct slp_open_ends {
  slp_mem *mem;
  slp_hash_range *ranges; /* owned; if settled: by first key, and `last` is the greatest up to there */
  size_t n, cap;
  uint8_t settled;  /* 1: the ranges are sorted */
  uint8_t anywhere; /* 1: the keys of an open end are not known, so any new shard may descend from it */
  slp_map parents;  /* ids of the split shards that rule 3 finds */
  uint8_t all;      /* 1: no memory for one of `parents`, so any shard counts as one */
} slp_open_ends;

void slp_open_ends_init(slp_open_ends *ends, slp_mem *mem);
/* Adds an open end; NULL: its keys are not known. Without memory its keys count as not known, because reading
 * too much loses nothing. */
void slp_open_ends_add(slp_open_ends *ends, const slp_hash_range *range);
/* Returns 1 if a new shard may descend from an open end. range: its keys; NULL: not known. */
int slp_open_ends_reach(slp_open_ends *ends, const slp_hash_range *range);
/* Adds the only parent of a descendant, which is a descendant too (rule 3). id is borrowed. Without memory
 * any shard counts as such a parent. */
void slp_open_ends_add_parent(slp_open_ends *ends, slp_str id);
int slp_open_ends_is_parent(const slp_open_ends *ends, slp_str id);
void slp_open_ends_free(slp_open_ends *ends);

#endif
