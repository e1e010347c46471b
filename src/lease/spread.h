/* spread.h - over how many partition keys the leases are spread. The spread is fixed when the row of
 * leadership is created. A worker learns it before it joins, so it never looks for a lease under a wrong
 * key. (spread.c) */
#ifndef SLP_LEASE_SPREAD_H
#define SLP_LEASE_SPREAD_H

#include "lease/read.h"

typedef enum slp_spread_state {
  /* the row of leadership was not read yet */
  SLP_SPREAD_UNKNOWN,
  SLP_SPREAD_ASSUMED, /* the row of leadership did not exist; the worker that creates it decides the spread */
  /* the row of leadership was read, or this worker has created it */
  SLP_SPREAD_KNOWN
} slp_spread_state;

typedef struct slp_lead_seen { /* the row of leadership, as this worker read it before it joined */
  /* when the read was answered; 0: there was no read, or slp_spread_take_lead has given it out */
  uint64_t at_us;
  /* 1: the row exists */
  uint8_t there;
  slp_leadership_row row; /* the row; its owner points to the next member */
  slp_instance owner;
} slp_lead_seen;

typedef struct slp_spreading {
  slp_spread_state state;
  /* ASSUMED was wrong: this worker's own row has another format than the row of leadership requires */
  uint8_t other;
  slp_lead_seen lead;
  /* read: the row of leadership, or leases under the first key. former: the rows of an earlier stream of
   * the same name */
  slp_read read, former;
  /* runs for the next try of a read that failed */
  slp_timer timer;
  /* called when the spread is known or assumed */
  void (*then)(slp_fleet *f);
} slp_spreading;

/* Finds out the spread, however long that takes, and then calls `then`. If the spread was found out
 * before, calls `then` at once. */
void slp_spread_learn(slp_fleet *f, void (*then)(slp_fleet *f));
/* Returns 1 and the row of leadership as it was read before this worker joined; *ret is NULL if it did not
 * exist. Returns 0 if the row was given out before, or was read too long ago. */
int slp_spread_take_lead(slp_fleet *f, const slp_leadership_row **ret, uint64_t *ret_at_us);
/* Takes a read of the row of leadership. Returns 1, or 0 if the leases are under other keys than those at
 * which this worker has looked. */
int slp_spread_agrees(slp_fleet *f, const slp_leadership_row *row);
/* Returns 1 if this worker assumed a wrong spread, so that its own row has another format than the row of
 * leadership requires. */
int slp_spread_was_other(const slp_fleet *f);
void slp_spread_made(slp_fleet *f); /* notes that this worker has created the row of leadership */
/* Returns over how many keys `leases` leases are spread, if their shards have consecutive numbers. */
uint64_t slp_spread_used(const slp_fleet *f, uint64_t leases);

void slp_spread_init(slp_fleet *f);
void slp_spread_stop(slp_fleet *f);
void slp_spread_free(slp_fleet *f);

#endif
