/* hash_range.h - checks whether the unfinished leases cover every hash key. Pure. */
#ifndef SLP_LEASE_HASH_RANGE_H
#define SLP_LEASE_HASH_RANGE_H

#include "lease/schema.h"

/* Finds the first range of hash keys that no unfinished lease covers. Returns 1 with its bounds in from and
 * to (decimal), 0 if everything is covered or a lease does not tell its range, or SLP_ENOMEM. */
int slp_hash_range_hole(slp_mem *mem, const slp_lease_row *leases, size_t n, char from[40], char to[40]);

#endif
