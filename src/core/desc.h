/* desc.h - copies of shard descriptions and names that outlive the page or listing they came from. */
#ifndef SLP_CORE_DESC_H
#define SLP_CORE_DESC_H

#include "codec/kpl.h"
#include "codec/page.h"

size_t slp_desc_bytes(const slp_shard_desc *d); /* the bytes of all texts in d */
/* Returns a copy whose texts begin at *at, and moves *at behind them. There must be slp_desc_bytes of
 * room. */
slp_shard_desc slp_desc_copy(char **at, const slp_shard_desc *d);
/* Copies n > 0 descriptions into one block, to be freed with slp_free. Returns NULL without memory. */
slp_shard_desc *slp_descs_copy(slp_mem *mem, const slp_shard_desc *descs, size_t n);

/* Reads the number in a shard's id, which grows from each shard of a stream to those made later:
 * shardId-000000000012 of Kinesis, shardId-00000001415575708000-09de7c54 of DynamoDB (a time in ms). Returns
 * 0 if the id has none. */
int slp_desc_number(slp_str id, uint64_t *ret);
/* Reads the shard's range of hash keys. Returns 0 if d does not tell it. */
int slp_desc_range(const slp_shard_desc *d, slp_hash_range *ret);

/* Looks for a shard that is its own ancestor. *ret is one of them, or NULL if there is none. Returns 0 or
 * SLP_ENOMEM. */
int slp_descs_circle(slp_mem *mem, const slp_shard_desc *descs, size_t n, const slp_shard_desc **ret);

/* The names that records in batches point to. They are counted, because a batch may outlive the shard. */
typedef struct slp_name {
  slp_mem *mem;               /* a counted reference */
  uint32_t refs;              /* references; the last slp_name_drop frees it */
  const char *stream, *shard; /* NUL-ended, in `text` */
  uint64_t epoch;             /* of the shard's lease; 0: no lease */
  size_t shard_n;
  char text[]; /* the shard's id, NUL, the stream's name, NUL */
} slp_name;

slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard);
slp_name *slp_name_hold(slp_name *name);
void slp_name_drop(slp_name *name);

#endif
