/* desc.h - descriptions of shards that outlive what they were read from. */
#ifndef SLP_CORE_DESC_H
#define SLP_CORE_DESC_H

#include "codec/page.h"

size_t slp_desc_bytes(const slp_shard_desc *d); /* of all its texts */
/* A copy whose texts begin at *at, which moves behind them: slp_desc_bytes of room. */
slp_shard_desc slp_desc_copy(char **at, const slp_shard_desc *d);
/* All of them in one block, freed with slp_free. n > 0. NULL: no memory. */
slp_shard_desc *slp_descs_copy(slp_mem *mem, const slp_shard_desc *descs, size_t n);

#endif
