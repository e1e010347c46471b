/* strategies.h - how workers live and share in the tables of each system. A strategy has the functions of
 * lease/strategy.h, and further rules that only files of this room use. (strategies.c) */
#ifndef SLP_GUEST_STRATEGIES_H
#define SLP_GUEST_STRATEGIES_H

#include "lease/strategy.h"

typedef struct slp_guest slp_guest;

/* which living owners are asked for a lease; OURS: only workers of sloop */
typedef enum slp_asks { SLP_ASKS_NOBODY, SLP_ASKS_OURS, SLP_ASKS_ALL } slp_asks;

typedef struct slp_guest_strategy {
  slp_strategy base; /* must be the first member: slp_guest_rules_of relies on it */
  /* 1: the epoch of a lease never goes back. So if a row has a smaller epoch than this worker's own last
   * write, the row was read before that write. */
  uint8_t grows;
  /* 1: the row has a time, and all copies of a write have the same time in them. So a proof of life counts
   * from the moment when the first copy was sent. */
  uint8_t of_first;
  /* 1: a worker of the other system may replace the row of a take by an older row. So a shard is read only
   * after a renewal has shown that its row is still this worker's. */
  uint8_t settles;
  /* slp_asks: which living owners are asked for a lease by a claim, instead of having it taken from them */
  uint8_t asks;
  /* 1: programs of the other system treat a listed shard without a row as a new shard. So the row of a
   * listed shard is not removed. */
  uint8_t keeps_listed;
  /* 1: programs of the other system take a lease that no worker renews, even if the lease's shard has
   * ended. So leases of ended shards are renewed. */
  uint8_t renews_ended;
  /* the time between two renewals, if that is less than a third of a lease time; 0: a third of a lease
   * time */
  uint32_t tick_us;
  /* Reads what must be known before the worker joins. Then calls slp_worker_begins, or ends the worker.
   * NULL: slp_mode_begin is called, which decides by the application's version. */
  void (*joins)(slp_fleet *f);
  /* Returns until when only the claimant may take the lease; 0: no other worker has claimed it. NULL: the
   * lease is never kept for a claimant. */
  uint64_t (*reserved_until_us)(slp_fleet *f, const slp_lease_row *row);
} slp_guest_strategy;

extern const slp_guest_strategy slp_strategy_kcl; /* a counter in each lease; leases are stolen */
/* a time in each lease at which it runs out; owners are asked */
extern const slp_guest_strategy slp_strategy_vmware;
/* a time in each lease at which it runs out; shared by index */
extern const slp_guest_strategy slp_strategy_kinsumer;
/* a number in each lease that begins again with each owner; leases are stolen */
extern const slp_guest_strategy slp_strategy_motorway;
/* a number in each lease that begins again with each owner; leases are stolen */
extern const slp_guest_strategy slp_strategy_kcl_rb;

#endif
