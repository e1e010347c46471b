/* hash_range.h - checks whether the leases of shards that have not ended cover every hash key of the stream.
 * Pure: no input but the arguments. */
#ifndef SLP_LEASE_HASH_RANGE_H
#define SLP_LEASE_HASH_RANGE_H

#include "base/mem.h"
#include "lease/schema.h"

/* Finds the first hash keys that no lease covers; leases of ended shards do not count. Returns 1 with the
 * bounds of these keys in `from` and `to` (decimal), 0 if every key is covered or if the row of a lease has
 * no range, or SLP_ENOMEM. */
int slp_hash_range_hole(slp_mem *mem, const slp_lease_row *leases, size_t n, char from[40], char to[40]);

#endif
