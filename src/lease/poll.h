/* poll.h - reading the rows of leases and of their owners, as many as are due in one call. */
#ifndef SLP_LEASE_POLL_H
#define SLP_LEASE_POLL_H

#include "lease/read.h"

#define SLP_POLL_KEYS 100

typedef struct slp_lease slp_lease;
typedef struct slp_member slp_member;

typedef struct slp_poll_item {
  slp_lease *lease;
  slp_member *member;
  uint8_t which; /* 0: its own row; 1, 2: a parent's */
} slp_poll_item;

typedef struct slp_polls {
  slp_read read;
  slp_poll_item items[SLP_POLL_KEYS];
  slp_row_key keys[SLP_POLL_KEYS];
  size_t n, most; /* as many as are asked for, and may be */
} slp_polls;

void slp_polls_init(slp_fleet *f);
void slp_polls_stop(slp_fleet *f);
void slp_polls_free(slp_fleet *f);
void slp_polls_run(slp_timer *t); /* of slp_due */
/* Members and leases that nobody has needed for long are forgotten, unless their rows are being read. Every
 * round over the table calls one of these. leader: the id of the worker that is followed. */
void slp_polls_forget(slp_fleet *f, slp_str leader);
void slp_polls_forget_leases(slp_fleet *f); /* where there are no members */

#endif
