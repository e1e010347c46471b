/* desc.h - descriptions and names of shards that outlive what they were read from. */
#ifndef SLP_CORE_DESC_H
#define SLP_CORE_DESC_H

#include "codec/kpl.h"
#include "codec/page.h"

size_t slp_desc_bytes(const slp_shard_desc *d); /* of all its texts */
/* A copy whose texts begin at *at, which moves behind them: slp_desc_bytes of room. */
slp_shard_desc slp_desc_copy(char **at, const slp_shard_desc *d);
/* All of them in one block, freed with slp_free. n > 0. NULL: no memory. */
slp_shard_desc *slp_descs_copy(slp_mem *mem, const slp_shard_desc *descs, size_t n);

/* The number in a shard's id, which grows from each shard of a stream to those made later:
 * shardId-000000000012 of Kinesis, shardId-00000001415575708000-09de7c54 of DynamoDB (a time in ms). 0: the
 * id has none. */
int slp_desc_number(slp_str id, uint64_t *ret);
/* Its hash keys. 0: it does not say which. */
int slp_desc_range(const slp_shard_desc *d, slp_hash_range *ret);

/* Is a shard of these its own ancestor? *ret: one of them; NULL: none is. SLP_ENOMEM */
int slp_descs_circle(slp_mem *mem, const slp_shard_desc *descs, size_t n, const slp_shard_desc **ret);

/* A name that outlives its shard, for records in batches. */
typedef struct slp_name {
  slp_mem *mem; /* held */
  uint32_t refs;
  const char *stream, *shard; /* NUL-ended, in text */
  uint64_t epoch;             /* of the lease; 0: there is none */
  size_t shard_n;
  char text[];
} slp_name;

slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard);
slp_name *slp_name_hold(slp_name *name);
void slp_name_drop(slp_name *name);

#endif
