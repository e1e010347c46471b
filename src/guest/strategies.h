/* strategies.h - how workers live and share in the tables of each system: the functions of lease/strategy.h,
 * and further rules that only the files of this room ask for. (strategies.c) */
#ifndef SLP_GUEST_STRATEGIES_H
#define SLP_GUEST_STRATEGIES_H

#include "lease/strategy.h"

typedef struct slp_guest slp_guest;

/* Which living owners are asked for a lease. OURS: only workers of sloop. */
typedef enum slp_asks { SLP_ASKS_NOBODY, SLP_ASKS_OURS, SLP_ASKS_ALL } slp_asks;

typedef struct slp_guest_strategy {
  slp_strategy base; /* must be the first member: slp_guest_rules_of relies on it */
  /* The epoch of a lease never goes back, so a row with a smaller epoch was read before this worker's own
   * last write. */
  uint8_t grows;
  /* The row holds a time, and all copies of a write carry the same one. So a proof of life counts from the
   * sending of the first copy. */
  uint8_t of_first;
  /* A peer may put an older row over a take. So a lease that was taken is only read when a renewal has shown
   * that the row is still this worker's. */
  uint8_t settles;
  /* slp_asks: these living owners are asked by a claim, and their leases are not taken. */
  uint8_t asks;
  /* Programs of the other system read a listed shard without a row as a new one, so its row stays. */
  uint8_t keeps_listed;
  /* Programs of the other system take a lease that nobody renews, even if its shard has ended. So it is
   * renewed. */
  uint8_t renews_ended;
  /* The time between two renewals, if it is less than a third of a lease; 0: a third of a lease. */
  uint32_t tick_us;
  /* Reads what must be known before the worker joins. slp_worker_begins comes later, or never. NULL: the
   * application's version decides (slp_mode_begin). */
  void (*joins)(slp_fleet *f);
  /* Returns until when only the claimant may take the lease; 0: nobody else has claimed it. NULL: never. */
  uint64_t (*reserved_until_us)(slp_fleet *f, const slp_lease_row *row);
} slp_guest_strategy;

extern const slp_guest_strategy slp_strategy_kcl;      /* a counter in each lease; steals */
extern const slp_guest_strategy slp_strategy_vmware;   /* a time at which each lease runs out; asks */
extern const slp_guest_strategy slp_strategy_kinsumer; /* such a time; shares by index */
extern const slp_guest_strategy slp_strategy_motorway; /* a number that begins again with an owner; steals */
extern const slp_guest_strategy slp_strategy_kcl_rb;   /* such a number; steals */

#endif
