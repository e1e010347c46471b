/* row_poll_part.h - the request that reads the rows that are due; row_poll.c owns it. */
#ifndef SLP_LEASE_ROW_POLL_PART_H
#define SLP_LEASE_ROW_POLL_PART_H

#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/store.h"

/* most keys of one request */
#define SLP_POLL_KEYS 100

/* what one key of the request belongs to: a lease or a member */
typedef struct slp_poll_item {
  slp_lease *lease;
  slp_member *member;
  uint8_t which; /* 0: the lease's own row; 1, 2: the row of its first or second parent */
} slp_poll_item;

typedef struct slp_polls {
  slp_read read;
  slp_poll_item items[SLP_POLL_KEYS];
  slp_row_key keys[SLP_POLL_KEYS];
  size_t n, most; /* n: keys of this request; most: how many keys the table's capacity allows for it */
} slp_polls;

#endif
