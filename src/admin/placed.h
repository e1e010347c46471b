/* placed.h - the positions of a stream's shards on their way from one place to another: what rows or a token
 * say, and what follows from it for the shards that they do not name. */
#ifndef SLP_ADMIN_PLACED_H
#define SLP_ADMIN_PLACED_H

#include "core/position.h"

typedef struct slp_placed {
  slp_str shard, parents[2], hash_start, hash_end;
  slp_position position;
  const char *bad; /* its row can't be read, and why; NULL: it can */
  uint8_t parked;
  uint8_t filled; /* nothing names it: its position follows from those that are named */
} slp_placed;

typedef struct slp_placed_list { /* sorted by shard */
  slp_placed *all;
  size_t n;
} slp_placed_list;

#endif
