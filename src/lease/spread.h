/* spread.h - the spread: over how many partition keys the leases are spread. It is fixed when the row of
 * leadership is created. A worker learns it before it joins, so it never looks for a lease under a wrong key.
 * (spread.c) */
#ifndef SLP_LEASE_SPREAD_H
#define SLP_LEASE_SPREAD_H

#include "core/position.h"
#include "host/host.h"
#include "lease/lease_types.h"
#include "lease/read.h"
#include "lease/schema.h"

typedef enum slp_spread_state {
  /* the row of leadership was not read yet */
  SLP_SPREAD_UNKNOWN,
  /* there was no row of leadership, so the spread is a guess; the worker that creates the row decides */
  SLP_SPREAD_ASSUMED,
  /* the row of leadership was read, or this worker has created it */
  SLP_SPREAD_KNOWN
} slp_spread_state;

/* the row of leadership as it was read before this worker joined, if no worker led then */
typedef struct slp_leaderless {
  uint64_t at_us; /* when the answer came; 0: a worker led, or slp_spread_take_leaderless has returned it */
  uint8_t there;  /* 1: there was a row, without an owner; 0: there was no row */
  uint64_t epoch; /* of the row */
  slp_position start;
} slp_leaderless;

typedef struct slp_spreading {
  slp_spread_state state;
  /* 1: the guess was wrong, so this worker's own row has another format than the row of leadership asks
   * for */
  uint8_t other;
  slp_leaderless leaderless;
  /* read: of the row of leadership, or of leases under the first key. former: of the rows of an earlier
   * stream with the same name. */
  slp_read read, former;
  /* runs when a failed read is tried again */
  slp_timer timer;
  /* called when the spread is known or guessed */
  void (*then)(slp_fleet *f);
} slp_spreading;

/* Finds out the spread, however long that takes, and then calls `then`. If the spread is known already, calls
 * `then` at once. */
void slp_spread_learn(slp_fleet *f, void (*then)(slp_fleet *f));
/* Uses once what was read before this worker joined. Returns 1 if no worker led then, and fills *ret. Returns
 * 0 if a worker led, or if that read was too long ago or was used already. The hold (hold.h) in that row is
 * not returned, because an operator may have switched it on since. */
int slp_spread_take_leaderless(slp_fleet *f, slp_leaderless *ret);
/* To be called when the row of leadership was read. Returns 1; or 0 if leases are under other keys than those
 * that this worker uses. */
int slp_spread_agrees(slp_fleet *f, const slp_leadership_row *row);
/* Returns 1 if this worker guessed the spread wrong, so that its own row has another format than the row of
 * leadership asks for. */
int slp_spread_was_other(const slp_fleet *f);
void slp_spread_made(slp_fleet *f); /* to be called when this worker has created the row of leadership */
/* Returns under how many partition keys `leases` leases are, if their shards have consecutive numbers. */
uint64_t slp_spread_used(const slp_fleet *f, uint64_t leases);

void slp_spread_init(slp_fleet *f);
void slp_spread_stop(slp_fleet *f);
void slp_spread_free(slp_fleet *f);

#endif
