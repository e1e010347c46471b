/* other_stream.h - for layouts whose rows do not have the name of their stream: decides whether the rows
 * belong to another stream than the stream that should be read. The rows are compared with the stream's
 * shards. A shard's id alone proves nothing, because every stream begins with shardId-000000000000. Pure: no
 * input but the arguments. (other_stream.c) */
#ifndef SLP_GUEST_OTHER_STREAM_H
#define SLP_GUEST_OTHER_STREAM_H

#include "codec/page.h"
#include "lease/schema.h"

typedef struct slp_other_stream {
  /* input: the id of the listed shard with the greatest number in its id; empty: no listed id has a number */
  slp_str newest;
  uint64_t newest_n; /* input: the number of `newest` */
  /* placed: how many rows have a position with a sequence number. early: how many of these numbers are less
   * than the first number of the row's shard. */
  size_t early, placed;
  /* for each kind of proof, the first shard whose row has it */
  slp_str early_shard, beyond_shard, range_shard;
  uint8_t proven; /* 1: the hash-key range in a row is not that of its shard; a shard's range never changes */
  /* 1: a row's shard has a greater number than every listed shard. This is a proof, unless the listing is
   * older than the shard. */
  uint8_t beyond;
} slp_other_stream;

/* Takes the id of a listed shard. To be called for all listed shards before slp_other_stream_saw. */
void slp_other_stream_newest(slp_other_stream *o, slp_str listed);
/* Takes a row of the table. listed: the row's shard in the listing; NULL: the stream does not list it. */
void slp_other_stream_saw(slp_other_stream *o, const slp_lease_row *row, const slp_shard_desc *listed);
/* Returns 1 if the rows are proven to belong to another stream; `text` then says which row proves it, and
 * what to do. late 1: the rows were compared with a later listing too, so the listing is not older than
 * the rows. */
int slp_other_stream_proven(const slp_other_stream *o, int late, char *text, size_t size);

/* Calls the functions above with the leases and shards of `c`. For slp_schema.is_other_streams. */
int slp_other_stream_is(const slp_stream_check *c, char *why, size_t size);

#endif
