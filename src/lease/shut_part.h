/* shut_part.h - what a worker knows of leases whose shards no worker reads; shut.c owns it. */
#ifndef SLP_LEASE_SHUT_PART_H
#define SLP_LEASE_SHUT_PART_H

#include <stddef.h>
#include <stdint.h>

typedef struct slp_shut_row slp_shut_row;

typedef struct slp_shut { /* these leases, as the last round over all rows found them */
  /* Owned: the leases that are reported one by one, up to a limit; those of the first shards. */
  slp_shut_row *named;
  size_t named_n;
  /* how many leases are parked, how many are refused, including those beyond the limit */
  uint64_t parked_n, refused_n;
  /* when the rows were read from which parked_n and refused_n were counted; 0: this worker does not read all
   * rows */
  uint64_t seen_us;
} slp_shut;

#endif
