/* strategies.h - how workers live and share in the tables of each system: what lease/strategy.h asks for, and
 * what the files of this room ask for beside it. */
#ifndef SLP_GUEST_STRATEGIES_H
#define SLP_GUEST_STRATEGIES_H

#include "lease/strategy.h"

typedef struct slp_guest slp_guest;

/* Which living workers are asked for a lease. */
typedef enum slp_asks { SLP_ASKS_NOBODY, SLP_ASKS_OURS, SLP_ASKS_ALL } slp_asks;

typedef struct slp_guest_strategy {
  slp_strategy base; /* the first member: slp_guest_rules_of */
  uint8_t grows;     /* the epoch of a lease never goes back: what is less is from before this worker's own */
  uint8_t of_first;  /* the row holds a time: a proof of life counts from its write's first copy */
  uint8_t settles;   /* what was taken is read once a renewal says that nobody has put it back */
  uint8_t asks;      /* slp_asks: what a living worker has is claimed, and not taken */
  uint8_t keeps_listed; /* a shard that is listed and has no row is read as a new one: its row stays */
  uint8_t renews_ended; /* others take a lease that nobody renews, also when its shard has ended */
  uint32_t
      tick_us; /* a proof of life is due so long after the last, if a third of a lease is longer; 0: no */
  void (*joins)(slp_fleet *f); /* looks before it joins: slp_worker_begins comes later, or never. NULL: by the
                                  application's version, as mode.h has it */
  /* Until when it is kept for the worker that claimed it; 0: it is not. NULL: never. */
  uint64_t (*reserved_until_us)(slp_fleet *f, const slp_lease_row *row);
} slp_guest_strategy;

extern const slp_guest_strategy slp_strategy_kcl;      /* a counter a lease; steals */
extern const slp_guest_strategy slp_strategy_vmware;   /* a time at which each lease runs out; asks */
extern const slp_guest_strategy slp_strategy_kinsumer; /* likewise; the n-th shard is the n-th worker's */
extern const slp_guest_strategy slp_strategy_motorway; /* a number that may begin anew; steals */
extern const slp_guest_strategy slp_strategy_kcl_rb;   /* likewise */

#endif
