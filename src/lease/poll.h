/* poll.h - reads the rows of leases and of their owners, as many as are due in one call. */
#ifndef SLP_LEASE_POLL_H
#define SLP_LEASE_POLL_H

#include "lease/read.h"

#define SLP_POLL_KEYS 100

typedef struct slp_lease slp_lease;
typedef struct slp_member slp_member;

typedef struct slp_poll_item {
  slp_lease *lease;
  slp_member *member;
  uint8_t which; /* 0: the lease's own row; 1, 2: the row of a parent */
} slp_poll_item;

typedef struct slp_polls {
  slp_read read;
  slp_poll_item items[SLP_POLL_KEYS];
  slp_row_key keys[SLP_POLL_KEYS];
  size_t n, most; /* n: keys of this read; most: how many the table's capacity allows */
} slp_polls;

void slp_polls_init(slp_fleet *f);
void slp_polls_stop(slp_fleet *f);
void slp_polls_free(slp_fleet *f);
void slp_polls_run(slp_timer *t); /* called by the timer of slp_due */
/* Forgets members and leases that nobody has needed for long, unless their rows are being read. Each round
 * over the table calls this or the next function. leader: the id of the worker that is followed. */
void slp_polls_forget(slp_fleet *f, slp_str leader);
void slp_polls_forget_leases(slp_fleet *f); /* for fleets without members */

#endif
