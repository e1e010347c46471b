/* strategies.h - how workers live and share in the tables of each system. A strategy has the functions of
 * lease/strategy.h, and further rules that only files of this room use. (strategies.c) */
#ifndef SLP_GUEST_STRATEGIES_H
#define SLP_GUEST_STRATEGIES_H

#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/strategy.h"

typedef struct slp_guest slp_guest;

/* which living owners are asked for a lease before it is taken; OURS: only workers of sloop */
typedef enum slp_asks { SLP_ASKS_NOBODY, SLP_ASKS_OURS, SLP_ASKS_ALL } slp_asks;

typedef struct slp_guest_strategy {
  slp_strategy base; /* must be the first member: slp_guest_rules_of relies on it */
  /* 1: the epoch of a lease only grows. So if a row has a smaller epoch than this worker's last write, the
   * row was read before that write. */
  uint8_t grows;
  /* 1: the row has a time, which is the same each time that a write is sent again. So a proof of life
   * counts from when the write was first sent. */
  uint8_t of_first;
  /* 1: a worker of the other system may put an older row over the row of a worker that has just taken the
   * lease. So a shard is read only when a renewal has shown that the row is still this worker's. */
  uint8_t settles;
  /* an slp_asks: which living owners are asked for a lease by a claim, before it is taken from them */
  uint8_t asks;
  /* 1: programs of the other system treat a listed shard without a row as a new shard. So the row of a listed
   * shard is never removed. */
  uint8_t keeps_listed;
  /* 1: programs of the other system take a lease that no worker renews, even if its shard has ended. So
   * leases of ended shards are renewed. */
  uint8_t renews_ended;
  /* 1: rows may show that other rules hold (mode.h), so these rows are read before anything is written */
  uint8_t versions;
  /* time between two renewals, if less than a third of a lease time; 0: a third of a lease time */
  uint32_t tick_us;
  /* Reads what must be known before the worker joins, then calls slp_worker_begins or ends the worker. NULL:
   * slp_mode_begin is called instead, which decides by the application's version. */
  void (*joins)(slp_fleet *f);
  /* Returns the time before which only the worker that has claimed the lease may take it; 0: no other worker
   * has claimed it. NULL: in this system, no lease is kept for its claimant. */
  uint64_t (*reserved_until_us)(slp_fleet *f, const slp_lease_row *row);
} slp_guest_strategy;

/* each lease has a counter; leases are taken from living owners */
extern const slp_guest_strategy slp_strategy_kcl;
/* each lease has a time at which it runs out; living owners are asked for leases */
extern const slp_guest_strategy slp_strategy_vmware;
/* each lease has a time at which it runs out; leases are shared by index (index.h) */
extern const slp_guest_strategy slp_strategy_kinsumer;
/* each lease has a number that begins again with each owner; leases are taken from living owners */
extern const slp_guest_strategy slp_strategy_motorway;
/* each lease has a number that begins again with each owner; leases are taken from living owners */
extern const slp_guest_strategy slp_strategy_kcl_rb;

#endif
