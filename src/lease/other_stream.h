/* other_stream.h - for layouts whose rows do not name their stream: do the rows prove that they belong to
 * another stream than the one to be read? They are compared with the stream's shards. Ids of shards prove
 * nothing, because every stream begins with shardId-000000000000. Pure. (other_stream.c) */
#ifndef SLP_LEASE_OTHER_STREAM_H
#define SLP_LEASE_OTHER_STREAM_H

#include "codec/page.h"
#include "lease/schema.h"

typedef struct slp_other_stream {
  slp_str newest;    /* in: the listed shard with the greatest number in its id; empty: no id has a number */
  uint64_t newest_n; /* in */
  /* early: rows whose record number is less than the first number of their shard. placed: rows with a record
   * number */
  size_t early, placed;
  slp_str early_shard, beyond_shard, range_shard;
  uint8_t proven; /* proven by a range of hash keys, which never changes for a shard */
  uint8_t beyond; /* a row's shard has a greater number than every listed one, unless the listing is late */
} slp_other_stream;

void slp_other_stream_newest(slp_other_stream *o, slp_str listed);
/* Takes a row. listed is NULL if the stream does not list its shard. */
void slp_other_stream_saw(slp_other_stream *o, const slp_lease_row *row, const slp_shard_desc *listed);
/* Returns 1 if it is proven that the rows are another stream's. `text` then says by which row, and what to
 * do. `late`: a later listing did not help. */
int slp_other_stream_proven(const slp_other_stream *o, int late, char *text, size_t size);

#endif
