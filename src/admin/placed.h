/* placed.h - the positions of a stream's shards while they are copied: what rows or a token say, and what
 * follows from it for shards that these do not name. */
#ifndef SLP_ADMIN_PLACED_H
#define SLP_ADMIN_PLACED_H

#include "core/position.h"

typedef struct slp_placed {
  slp_str shard, parents[2], hash_start, hash_end;
  slp_position position;
  const char *bad; /* why its row can't be read; NULL: it can */
  uint8_t parked;
  uint8_t filled; /* 1: rows or token do not name the shard; its position follows from those of others */
} slp_placed;

typedef struct slp_placed_list { /* sorted by shard */
  slp_placed *all;
  size_t n;
} slp_placed_list;

#endif
