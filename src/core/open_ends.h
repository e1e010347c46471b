/* open_ends.h - decides whether a new shard whose parents are not known may descend from a shard that is
 * read.
 *
 * An open end is a shard that is read, that the service no longer lists, and whose children were not all
 * listed. (A shard that was split has two children, a shard that was merged has one.) Descendants of an open
 * end get the records with its hash keys. The rules:
 *   1. A new shard that has a hash key in common with an open end descends from it.
 *   2. If the hash keys of one of the two are not known, the new shard may descend from the open end.
 *   3. Such a new shard may be a half of a shard P that was split and never listed. Then P descends from the
 *      open end too, and so does the other half of P. That other half need not have a key in common with the
 *      open end, because a merge may have come in between.
 * One case is left out, because nothing shows it: the other half was itself split before it was listed. */
#ifndef SLP_CORE_OPEN_ENDS_H
#define SLP_CORE_OPEN_ENDS_H

#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"

typedef struct slp_open_ends {
  slp_mem *mem;
  /* Owned. If `settled` is 1, the ranges are sorted by `first`. Each `last` is then the greatest `last` of
   * the range itself and of all ranges before it. */
  slp_hash_range *ranges;
  size_t n, cap;
  uint8_t settled;  /* 1: the ranges are sorted, see `ranges` */
  uint8_t anywhere; /* 1: the hash keys of an open end are not known, so any new shard may descend from it */
  /* ids of shards that were split, never listed, and descend from an open end (P in rule 3) */
  slp_map parents;
  uint8_t all; /* 1: there was no memory to add an id to `parents`, so every id counts as being in it */
} slp_open_ends;

void slp_open_ends_init(slp_open_ends *ends, slp_mem *mem);
/* Adds an open end with this range of hash keys; NULL: its hash keys are not known. Without memory its hash
 * keys count as not known. Then too many shards may be read, but no record is lost. */
void slp_open_ends_add(slp_open_ends *ends, const slp_hash_range *range);
/* Returns 1 if a new shard with this range of hash keys may descend from an open end. range NULL: its keys
 * are not known. */
int slp_open_ends_reach(slp_open_ends *ends, const slp_hash_range *range);
/* Adds the id of a shard that was split and never listed, and one half of which descends from an open end (P
 * in rule 3). The id is borrowed. Without memory every id counts as added. */
void slp_open_ends_add_parent(slp_open_ends *ends, slp_str id);
/* Returns 1 if slp_open_ends_add_parent was called with this id. */
int slp_open_ends_is_parent(const slp_open_ends *ends, slp_str id);
void slp_open_ends_free(slp_open_ends *ends);

#endif
