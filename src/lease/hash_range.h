/* hash_range.h - do the leases that are not ended cover every hash key? Pure. */
#ifndef SLP_LEASE_HASH_RANGE_H
#define SLP_LEASE_HASH_RANGE_H

#include "lease/schema.h"

/* The first range that no unfinished lease covers. 1: from and to (decimal) say where; 0: all is covered,
 * or a lease does not tell its range; SLP_ENOMEM. */
int slp_hash_range_hole(slp_mem *mem, const slp_lease_row *leases, size_t n, char from[40], char to[40]);

#endif
