/* positions.h - the positions of a stream's shards while they are copied. They come from rows or from a
 * token. Shards that are in neither get a position that follows from those of their relatives. */
#ifndef SLP_ADMIN_POSITIONS_H
#define SLP_ADMIN_POSITIONS_H

#include "core/position.h"

typedef struct slp_placed {
  slp_str shard, parents[2], hash_start, hash_end;
  slp_position position;
  const char *bad; /* why the shard's row can't be read; NULL: it can be read */
  uint8_t parked;
  /* 1: the shard is in neither rows nor token; its position follows from those of other shards */
  uint8_t filled;
} slp_placed;

typedef struct slp_placed_list { /* sorted by shard */
  slp_placed *all;
  size_t n;
} slp_placed_list;

#endif
