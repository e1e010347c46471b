/* open_ends.h - pure: may a shard whose parents nobody knows descend from one that is read?
 *
 * An open end is a shard that is read and that the service keeps no more, while not all of its children
 * were ever listed: a split has two, a merge one. Its descendants are what is written under its hash keys
 * now, so a new shard descends from it when they have a key in common. Where the service tells no keys, it
 * may. When such a shard was made by a split, what was split is a descendant too, although nobody heard of
 * it, and so is the other half, which may have no key in common: a merge came in between. What such a half
 * was split into, when nobody heard of it either, nothing shows; it is left out. */
#ifndef SLP_CORE_OPEN_ENDS_H
#define SLP_CORE_OPEN_ENDS_H

#include "base/map.h"
#include "codec/kpl.h"

typedef struct slp_open_ends {
  slp_mem *mem;
  slp_hash_range *ranges; /* owned; once settled by first key, and last is the greatest one up to there */
  size_t n, cap;
  uint8_t settled;
  uint8_t anywhere; /* the keys of an end are not known */
  slp_map parents;  /* of splits, descendants; their ids */
  uint8_t all;      /* no memory for one of them */
} slp_open_ends;

void slp_open_ends_init(slp_open_ends *ends, slp_mem *mem);
/* NULL: its keys are not known. Without memory they count as not known: to read too much loses nothing. */
void slp_open_ends_add(slp_open_ends *ends, const slp_hash_range *range);
/* range: of the new shard; NULL: not known. */
int slp_open_ends_reach(slp_open_ends *ends, const slp_hash_range *range);
/* What is known of a descendant whose only parent this is. id is borrowed. Without memory as above. */
void slp_open_ends_add_parent(slp_open_ends *ends, slp_str id);
int slp_open_ends_is_parent(const slp_open_ends *ends, slp_str id);
void slp_open_ends_free(slp_open_ends *ends);

#endif
