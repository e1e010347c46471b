/* produce_shards.h - finds the shard to which a hash key belongs, by the stream's last listing. -P
 * --aggregate uses this map to choose the records of an aggregate, and to check the shard in which an
 * aggregate was stored. */
#ifndef SLP_CLI_PRODUCE_SHARDS_H
#define SLP_CLI_PRODUCE_SHARDS_H

#include "base/map.h"
#include "base/mem.h"
#include "codec/kpl.h"

#include <sloop.h>

typedef struct slp_put_shard {
  slp_str id;
  slp_hash_range range;
  /* Index of this shard's aggregate in the call that is being filled. Valid if `call` is the number of that
   * call (produce_aggregate.c). */
  size_t entry;
  uint64_t call;
} slp_put_shard;

typedef struct slp_put_shards {
  slp_mem *mem;
  slp_put_shard *all; /* owned; all shards of the listing that have a range; their ids are in `ids` */
  size_t n;
  char *ids;
  /* owned; the shards that are open for records, sorted by the beginning of their ranges */
  slp_put_shard **open;
  size_t open_n;
  slp_map by_id;
} slp_put_shards;

void slp_put_shards_init(slp_put_shards *s, slp_mem *mem);
void slp_put_shards_free(slp_put_shards *s);
/* Replaces all shards by those of a listing. Shards without a range are left out. Returns 0, or SLP_ENOMEM;
 * then there are no shards. */
int slp_put_shards_take(slp_put_shards *s, const sloop_shard_t *const *shards, size_t n);
/* Returns the open shard whose range has the hash key; NULL: the listing has no such shard. */
slp_put_shard *slp_put_shards_at(const slp_put_shards *s, const uint8_t hash[16]);
/* Returns the shard with this id, open or closed; NULL: the listing does not have it. */
const slp_put_shard *slp_put_shards_find(const slp_put_shards *s, slp_str id);

#endif
