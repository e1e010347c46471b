/* open_ends.h - decides whether a new shard with unknown parents may descend from a shard that is read. Pure.
 *
 * An open end is a shard that is read, that the service no longer lists, and whose children were not all
 * listed. (A shard that was split has two children, a merged one has one.) Descendants of an open end get the
 * records with its hash keys. The rules:
 *   1. A new shard that has a hash key in common with an open end descends from it.
 *   2. If the hash keys are not known, the new shard may descend from it.
 *   3. If the new shard was made by splitting a shard that was never listed, that shard descends from the
 *      open end too, and so does its other half. The other half need not have a key in common with the open
 *      end, because a merge may have come in between.
 * One case is left out, because nothing shows it: the other half was itself split before it was listed. */
#ifndef SLP_CORE_OPEN_ENDS_H
#define SLP_CORE_OPEN_ENDS_H

#include "base/map.h"
#include "codec/kpl.h"

typedef struct slp_open_ends {
  slp_mem *mem;
  /* owned. If settled: sorted by the first key, and each `last` is the greatest `last` of all ranges up to
   * there */
  slp_hash_range *ranges;
  size_t n, cap;
  uint8_t settled;  /* 1: the ranges are sorted */
  uint8_t anywhere; /* 1: the hash keys of an open end are not known, so any new shard may descend from it */
  slp_map parents;  /* ids of split shards that descend from an open end (rule 3) */
  uint8_t all; /* 1: there was no memory to add an id to `parents`, so every shard counts as such a parent */
} slp_open_ends;

void slp_open_ends_init(slp_open_ends *ends, slp_mem *mem);
/* Adds an open end with these hash keys; NULL: they are not known. Without memory the keys count as not
 * known, because reading too many shards loses nothing. */
void slp_open_ends_add(slp_open_ends *ends, const slp_hash_range *range);
/* Returns 1 if a new shard with these hash keys may descend from an open end. range NULL: the keys are not
 * known. */
int slp_open_ends_reach(slp_open_ends *ends, const slp_hash_range *range);
/* Adds the id of a shard that was split and never listed, but one half of which descends from an open end
 * (rule 3). The id is borrowed. Without memory every shard counts as such a parent. */
void slp_open_ends_add_parent(slp_open_ends *ends, slp_str id);
/* 1: slp_open_ends_add_parent was called with this id */
int slp_open_ends_is_parent(const slp_open_ends *ends, slp_str id);
void slp_open_ends_free(slp_open_ends *ends);

#endif
