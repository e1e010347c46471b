/* entry.h - decides whether a worker may join a table at all, before the worker writes anything. (entry.c)
 *
 * The worker stays out, and says which row shows it, when the table
 *   - is another system's, whose rows happen to have the same key;
 *   - is another stream's, where rows do not name their stream;
 *   - is of an application that names its leases in another way;
 *   - is used by a running program that does not share leases.
 * A worker must never take such a table for an empty one. */
#ifndef SLP_GUEST_ENTRY_H
#define SLP_GUEST_ENTRY_H

#include "lease/read.h"

/* How far the listing of the stream's shards is. Rows that do not name their stream are compared with it. */
typedef enum slp_entry_listing {
  SLP_ENTRY_UNLISTED,
  SLP_ENTRY_ASKED,
  SLP_ENTRY_LISTED,
  SLP_ENTRY_GIVEN_UP /* no listing could be had: the rows are accepted unchecked, and the user is told */
} slp_entry_listing;

typedef struct slp_entry {
  slp_read read;
  slp_timer timer;
  slp_entry_listing listing;
  uint32_t unlisted_n;        /* failed listings in a row */
  uint32_t doubts;            /* listings without a shard that has a row in the table */
  uint64_t since_us;          /* when the first complete look was answered; 0: not yet */
  uint8_t owned;              /* a program that does not share leases owned one when last looked at */
  void (*then)(slp_fleet *f); /* called when the worker may join */
} slp_entry;

/* Looks at the table. Calls `then` if the worker may join; otherwise ends the worker and tells the user
 * why. */
void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f));
void slp_entry_listed(slp_fleet *f, int ok); /* the answer to the listing of the stream's shards */

void slp_entry_init(slp_fleet *f);
void slp_entry_stop(slp_fleet *f);
void slp_entry_free(slp_fleet *f);

#endif
