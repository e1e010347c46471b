/* other_stream.h - rows that do not name their stream, against the shards of the stream that is to be read
 * by them: do they prove that they are another stream's? Ids of shards prove nothing, because every stream
 * begins with shardId-000000000000. Pure. (other_stream.c) */
#ifndef SLP_LEASE_OTHER_STREAM_H
#define SLP_LEASE_OTHER_STREAM_H

#include "codec/page.h"
#include "lease/schema.h"

typedef struct slp_other_stream {
  slp_str newest; /* in: of the listed shards, the one with the greatest number; empty: none has a number */
  uint64_t newest_n;    /* in */
  size_t early, placed; /* rows with a record's number that is less than their shard's first; rows with one */
  slp_str early_shard, beyond_shard, range_shard;
  uint8_t proven; /* by a range of hash keys, which no shard ever changes */
  uint8_t beyond; /* a row has a greater number than every listed shard: or the listing is late */
} slp_other_stream;

void slp_other_stream_newest(slp_other_stream *o, slp_str listed);
/* listed NULL: the stream does not list this shard. */
void slp_other_stream_saw(slp_other_stream *o, const slp_lease_row *row, const slp_shard_desc *listed);
/* 1: it is proven, and `text` says by which row, and what to do. late: a later listing has not helped. */
int slp_other_stream_proven(const slp_other_stream *o, int late, char *text, size_t size);

#endif
