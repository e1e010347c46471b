/* entry.h - decides whether a worker may join a table at all, before the worker writes anything. (entry.c)
 *
 * The worker stays out, and tells the user which row is the reason, when the table
 *   - belongs to another system, whose rows happen to have the same key;
 *   - belongs to another stream, in layouts where rows do not name their stream;
 *   - belongs to an application whose leases have names of another form;
 *   - is used by a running program that does not share leases. The rule to keep: a worker must never treat
 *     such a table as an empty one. */
#ifndef SLP_GUEST_ENTRY_H
#define SLP_GUEST_ENTRY_H

#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/read.h"

/* Whether the stream's shards have been listed. The listing is compared with rows that do not have the name
 * of their stream. */
typedef enum slp_entry_listing {
  SLP_ENTRY_UNLISTED,
  SLP_ENTRY_ASKED,
  SLP_ENTRY_LISTED,
  /* the listing failed too often, so the rows are accepted without a comparison; the user was told */
  SLP_ENTRY_GIVEN_UP
} slp_entry_listing;

typedef struct slp_entry {
  slp_read read;
  slp_timer timer;
  slp_entry_listing listing;
  uint32_t unlisted_n; /* how many successive listings have failed */
  uint32_t doubts;     /* how many listings lacked a shard that has a row */
  uint64_t since_us;   /* when the first read of all rows was answered; 0: not answered yet */
  uint8_t owned; /* 1: when the table was last read, a program that does not share leases owned a lease */
  void (*then)(slp_fleet *f); /* called when the worker may join */
} slp_entry;

/* Reads the table and decides. Calls `then` later if the worker may join. Otherwise ends the worker and
 * tells the user why. */
void slp_entry_begin(slp_fleet *f, void (*then)(slp_fleet *f));
/* to be called when the stream's shards were listed; ok 0: the listing failed */
void slp_entry_listed(slp_fleet *f, int ok);

void slp_entry_init(slp_fleet *f);
void slp_entry_stop(slp_fleet *f);
void slp_entry_free(slp_fleet *f);

#endif
