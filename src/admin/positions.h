/* positions.h - the positions of a stream's shards while they are copied. They come from rows or a token. A
 * shard that is in neither gets a position that follows from those of its relatives. */
#ifndef SLP_ADMIN_POSITIONS_H
#define SLP_ADMIN_POSITIONS_H

#include "core/position.h"

typedef struct slp_placed {
  slp_str shard, parents[2], hash_start, hash_end;
  slp_position position;
  const char *bad; /* why the shard's row can't be read; NULL: it can be */
  uint8_t parked;
  /* 1: the shard is in neither rows nor token; its position follows from those of its relatives */
  uint8_t filled;
} slp_placed;

typedef struct slp_placed_list { /* sorted by shard */
  slp_placed *all;
  size_t n;
} slp_placed_list;

#endif
