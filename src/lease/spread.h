/* spread.h - under how many partition keys the leases lie. It is settled when the row of leadership is made,
 * and a worker knows it before it joins, so it never looks for a lease where it is not. (spread.c) */
#ifndef SLP_LEASE_SPREAD_H
#define SLP_LEASE_SPREAD_H

#include "lease/read.h"

typedef enum slp_spread_state {
  SLP_SPREAD_UNKNOWN,
  SLP_SPREAD_ASSUMED, /* there was no row of leadership: whoever makes it decides */
  SLP_SPREAD_KNOWN
} slp_spread_state;

typedef struct slp_lead_seen { /* the row of leadership, as this worker read it before it joined */
  uint64_t at_us;              /* answered then; 0: it was not read, or is used up */
  uint8_t there;
  slp_leadership_row row; /* owner: in the field below */
  slp_instance owner;
} slp_lead_seen;

typedef struct slp_spreading {
  slp_spread_state state;
  uint8_t other; /* what was assumed was not so: this worker's row is of another format than it says */
  slp_lead_seen lead;
  slp_read read, former; /* former: reads the rows of an earlier stream of this name */
  slp_timer timer;
  void (*then)(slp_fleet *f);
} slp_spreading;

/* Reads it, for as long as that takes; then `then`. At once where it is known. */
void slp_spread_learn(slp_fleet *f, void (*then)(slp_fleet *f));
/* Gives the row of leadership as it was read before this worker joined; *ret NULL: there was none. Returns 0
 * if it was given before, or was read long ago. */
int slp_spread_take_lead(slp_fleet *f, const slp_leadership_row **ret, uint64_t *ret_at_us);
/* The row of leadership was read. 0: it says that leases lie elsewhere than where this worker has looked. */
int slp_spread_agrees(slp_fleet *f, const slp_leadership_row *row);
/* Whether this worker assumed wrongly: its own row is of another format than the row of leadership says. */
int slp_spread_was_other(const slp_fleet *f);
void slp_spread_made(slp_fleet *f); /* this worker has made that row */
/* Under how many keys so many leases lie, if their shards' numbers follow each other. */
uint64_t slp_spread_used(const slp_fleet *f, uint64_t leases);

void slp_spread_init(slp_fleet *f);
void slp_spread_stop(slp_fleet *f);
void slp_spread_free(slp_fleet *f);

#endif
