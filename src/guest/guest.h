/* guest.h - a worker in a table of another system as the files of this room see it: what they keep behind a
 * fleet and behind each lease, and the rules by which the systems differ.
 * GUESTS.md has the systems.
 *
 * The files have floors: a file calls its own floor's functions and those of lower floors.
 *
 *   5  layouts.c      the registry of layouts
 *   4  schema_*.c     how rows are laid out
 *   3  strategies.c   which of the functions below are which system's
 *   2  steal.c        rounds of every worker, where nobody leads; claim.c: where the living are asked;
 *                     steal_kept.c: leases of ended shards; steal_sync.c: the stream against the table
 *      index.c        rounds where each worker reckons out its own part; index_lead.c: what the first does
 *   1  counter.c      lives by its leases' counters
 *      common_name.c  the fleets of one process that go by one name
 *      write_proof.c  that the table takes writes, where workers have no row
 *      mode.c         by which rules an application of another system goes; elected.c: whom its upgrade
 *                     waits for
 *      entry.c        looks whether the table may be joined at all
 *      ask.c          a name in a row, by which a lease is asked for
 *      from_listing.c what rows do not tell of a shard
 *   0  counted.c, expiry.c, wall_time.c, *_rule.c: pure
 *      several.c      a store over several tables
 */
#ifndef SLP_GUEST_GUEST_H
#define SLP_GUEST_GUEST_H

#include "guest/entry.h"
#include "guest/index.h"
#include "guest/mode.h"
#include "guest/steal.h"
#include "guest/strategies.h"
#include "guest/write_proof.h"
#include "lease/fleet_inside.h"

struct slp_guest { /* behind the fleet */
  slp_fleet *f;
  slp_list name_link; /* in the fleets of the common name */
  slp_entry entry;
  slp_mode mode;
  slp_write_proof write_proof;
  slp_stealing stealing;
  slp_indexing index;
};

/* A counter a lease: counter.c. */
typedef struct slp_lease_counter {
  uint64_t good_us;  /* the sending of the last write that moved it */
  uint64_t renew_us; /* when the next one is due */
  uint8_t settled;   /* it was moved again after the take */
} slp_lease_counter;

/* Bytes a second of the lease's shard, for rows in which a leader of another system reads them: counter.c. */
typedef struct slp_lease_load {
  uint64_t at_us, bytes; /* when it was counted last, and what had been handed out then */
  int64_t rate_bytes;    /* a second, on average; -1: not known */
} slp_lease_load;

/* How it was chosen to be taken: steal.c. */
typedef struct slp_lease_choice {
  uint64_t counter;  /* one more than the counter it was chosen by; 0: it was not chosen */
  uint64_t at_us;    /* when it was chosen */
  slp_instance from; /* the living worker that it is taken from; nobody: it is free */
  uint8_t unheard;   /* claims of it that were erased */
  uint64_t until_us; /* its owner is waited for so long, where it may be one that can't be asked */
  uint8_t restores;  /* its row was put back over this worker's: what this one had saved still counts */
} slp_lease_choice;

typedef struct slp_guest_lease { /* behind each lease */
  slp_lease_counter counter;
  slp_lease_load load;
  slp_lease_choice choice;
} slp_guest_lease;

static inline slp_guest *slp_guest_of(const slp_fleet *f) { return f->guest; }
static inline slp_guest_lease *slp_guest_lease_of(const slp_lease *l) { return l->guest; }
static inline const slp_guest_strategy *slp_guest_rules_of(const slp_fleet *f) {
  return (const slp_guest_strategy *)(const void *)f->strategy;
}

#endif
