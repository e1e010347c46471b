/* desc.h - copies shard descriptions, so that they outlive the listing or page that they came from. Keeps the
 * names of stream and shard to which records point. */
#ifndef SLP_CORE_DESC_H
#define SLP_CORE_DESC_H

#include "base/mem.h"
#include "codec/kpl.h"
#include "codec/page.h"

size_t slp_desc_bytes(const slp_shard_desc *d); /* Returns how many bytes all texts of d take. */
/* Returns a copy of d. Its texts are written to *at, which must have room for slp_desc_bytes(d) bytes; *at
 * then points past them. */
slp_shard_desc slp_desc_copy(char **at, const slp_shard_desc *d);
/* Copies n > 0 descriptions and their texts into one block, which the caller frees with slp_free. Returns
 * NULL without memory. */
slp_shard_desc *slp_descs_copy(slp_mem *mem, const slp_shard_desc *descs, size_t n);

/* Parses the number in a shard's id. A shard that was created later has a greater number: 12 in
 * shardId-000000000012 of Kinesis, a time in ms in shardId-00000001415575708000-09de7c54 of DynamoDB. Returns
 * 0 if the id has no number. */
int slp_desc_number(slp_str id, uint64_t *ret);
/* Parses the shard's range of hash keys. Returns 0 if d has no range. */
int slp_desc_range(const slp_shard_desc *d, slp_hash_range *ret);

/* Looks for a shard that is its own ancestor. Sets *ret to such a shard, or to NULL if there is none. Returns
 * 0 or SLP_ENOMEM. */
int slp_descs_circle(slp_mem *mem, const slp_shard_desc *descs, size_t n, const slp_shard_desc **ret);

/* The names of stream and shard to which the records in batches point. References to a slp_name are counted,
 * because a batch may outlive its shard. */
typedef struct slp_name {
  slp_mem *mem;               /* a counted reference */
  uint32_t refs;              /* number of references; slp_name_drop frees the struct with the last one */
  const char *stream, *shard; /* NUL-ended, in `text` */
  uint64_t epoch;             /* counts the owners of the shard's lease; 0: no lease */
  size_t shard_n;
  char text[]; /* the shard's id, NUL, the stream's name, NUL */
} slp_name;

/* Returns a new slp_name with one reference, which the caller owns; NULL: no memory. */
slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard);
slp_name *slp_name_hold(slp_name *name);
void slp_name_drop(slp_name *name);

#endif
