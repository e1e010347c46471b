/* row_poll.h - reads the rows of leases and of their owners. One request reads all rows that are due. */
#ifndef SLP_LEASE_ROW_POLL_H
#define SLP_LEASE_ROW_POLL_H

#include "lease/read.h"

/* most keys of one request */
#define SLP_POLL_KEYS 100

typedef struct slp_lease slp_lease;
typedef struct slp_member slp_member;

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

void slp_polls_init(slp_fleet *f);
void slp_polls_stop(slp_fleet *f);
void slp_polls_free(slp_fleet *f);
/* Called when the timer of slp_due runs. Touches the leases that must be stepped, and reads the rows that are
 * due. */
void slp_polls_run(slp_timer *t);
/* Forgets members and leases that were not needed for long, unless their rows are being read. Called in each
 * shard sync, and by followers. leader: the id of the leader, which is kept. */
void slp_polls_forget(slp_fleet *f, slp_str leader);
void slp_polls_forget_leases(slp_fleet *f); /* for fleets without members: forgets leases only */

#endif
