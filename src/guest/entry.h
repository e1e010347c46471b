/* entry.h - whether a worker may join a table at all, found out before it writes anything. (entry.c)
 *
 * A table may be another system's, where the rows of two have one key; another stream's, where rows do not
 * name theirs; or of an application that names its leases in another way. A program that shares with
 * nobody may be at work in it. Such a table is never read as an empty one: the worker keeps out and says
 * which row it was. */
#ifndef SLP_GUEST_ENTRY_H
#define SLP_GUEST_ENTRY_H

#include "lease/read.h"

/* The stream's shards, with which rows are compared that do not name it. */
typedef enum slp_entry_listing {
  SLP_ENTRY_UNLISTED,
  SLP_ENTRY_ASKED,
  SLP_ENTRY_LISTED,
  SLP_ENTRY_GIVEN_UP /* they could not be had: the rows are taken as they are, and that is told */
} slp_entry_listing;

typedef struct slp_entry {
  slp_read read;
  slp_timer timer;
  slp_entry_listing listing;
  uint32_t unlisted_n;        /* listings in a row that failed */
  uint32_t doubts;            /* listings that lacked a shard of which there is a row */
  uint64_t since_us;          /* the first complete look was answered then; 0: there was none */
  uint8_t owned;              /* a stranger had a lease in the last look */
  void (*then)(slp_fleet *f); /* the worker may join */
} slp_entry;

/* Then `then`, or the worker is out and the user told why. */
void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f));
void slp_entry_listed(slp_fleet *f, int ok); /* the stream's shards */

void slp_entry_init(slp_fleet *f);
void slp_entry_stop(slp_fleet *f);
void slp_entry_free(slp_fleet *f);

#endif
