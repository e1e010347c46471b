/* entry.h - whether a worker may join a table at all, found out before it writes anything: where the rows of
 * two systems have one key, the table may be another one's; and a program that shares with nobody may be at
 * work in it. (entry.c) */
#ifndef SLP_LEASE_ENTRY_H
#define SLP_LEASE_ENTRY_H

#include "lease/read.h"

typedef struct slp_entry {
  slp_read read;
  slp_timer timer;
  uint64_t since_us;          /* the first complete look was answered then; 0: there was none */
  uint8_t owned;              /* a stranger had a lease in the last look */
  void (*then)(slp_fleet *f); /* the worker may join */
} slp_entry;

/* Then `then`, or the worker is out and the user told why. */
void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f));

void slp_entry_init(slp_fleet *f);
void slp_entry_stop(slp_fleet *f);
void slp_entry_free(slp_fleet *f);

#endif
