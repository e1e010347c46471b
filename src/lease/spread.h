/* spread.h - how many partition keys the leases are spread over. The number is fixed when the row of
 * leadership is created. A worker learns it before it joins, so it never looks for a lease under a wrong key.
 * (spread.c) */
#ifndef SLP_LEASE_SPREAD_H
#define SLP_LEASE_SPREAD_H

#include "lease/read.h"

typedef enum slp_spread_state {
  SLP_SPREAD_UNKNOWN,
  SLP_SPREAD_ASSUMED, /* there was no row of leadership; the worker that creates it decides */
  SLP_SPREAD_KNOWN
} slp_spread_state;

typedef struct slp_lead_seen { /* the row of leadership, as this worker read it before it joined */
  uint64_t at_us;              /* when it was answered; 0: it was not read, or was already used */
  uint8_t there;
  slp_leadership_row row; /* its owner points to the field below */
  slp_instance owner;
} slp_lead_seen;

typedef struct slp_spreading {
  slp_spread_state state;
  uint8_t other; /* the assumption was wrong: this worker's row is of another format than it says */
  slp_lead_seen lead;
  slp_read read, former; /* former: reads the rows of an earlier stream of the same name */
  slp_timer timer;
  void (*then)(slp_fleet *f);
} slp_spreading;

/* Reads the spread, however long that takes, then calls `then`; at once if it is known already. */
void slp_spread_learn(slp_fleet *f, void (*then)(slp_fleet *f));
/* Gives the row of leadership as it was read before this worker joined; *ret is NULL if there was none.
 * Returns 0 if it was given already, or was read too long ago. */
int slp_spread_take_lead(slp_fleet *f, const slp_leadership_row **ret, uint64_t *ret_at_us);
/* Takes a read of the row of leadership. Returns 0 if it says that leases are under other keys than this
 * worker has looked at. */
int slp_spread_agrees(slp_fleet *f, const slp_leadership_row *row);
/* Returns 1 if this worker assumed wrongly, so that its own row has another format than the row of leadership
 * says. */
int slp_spread_was_other(const slp_fleet *f);
void slp_spread_made(slp_fleet *f); /* this worker has created that row */
/* Returns over how many keys that many leases are spread, if their shards have consecutive numbers. */
uint64_t slp_spread_used(const slp_fleet *f, uint64_t leases);

void slp_spread_init(slp_fleet *f);
void slp_spread_stop(slp_fleet *f);
void slp_spread_free(slp_fleet *f);

#endif
