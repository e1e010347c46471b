/* guest.h - a worker in a table of another system: what the files of this room store with a fleet and with
 * each lease, and the rules by which the systems differ. GUESTS.md describes the systems.  Words of this
 * room:
 *   claim       a worker's name in a lease's row, by which it asks the owner for the lease
 *   take        the write by which a worker makes itself the owner of a lease
 *   renewal     a write by which an owner keeps its lease: it changes the counter or time in the row
 *   round       one read of the whole table, and what follows from it
 *   lease time  the option lease_ms: how long a lease is kept without a renewal
 *   the other system   the system whose table this is, such as Amazon's KCL
 *   worker of sloop    known by the form of its name, "id.incarnation"; others are of the other system
 *   stranger    a worker or program of the other system
 * slp_strategy and slp_guest_strategy are tables of functions (strategies.h); many functions of this room are
 * members of them.
 *
 * The files have floors: a file calls its own floor's functions and those of lower floors.
 *
 *   5  layouts.c      the registry of layouts
 *   4  schema_*.c     how rows are laid out
 *   3  strategies.c   which system uses which of the functions below
 *   2  steal.c        rounds over the table, where each worker takes leases for itself
 *      claim_strategy.c  as steal.c, but a living owner is asked, and its lease is never taken
 *      steal_kept.c   keeps leases of ended shards from being taken by others
 *      steal_sync.c   compares the stream with the table
 *      index.c        rounds where each worker computes which shards are its own
 *      index_lead.c   what the first of these workers does for all of them
 *   1  counter.c      a worker proves its life by the rows of its leases
 *      common_name.c  one name for the fleets of one process
 *      write_proof.c  proves that the table accepts writes, where workers have no rows
 *      mode.c         which rules the workers of a KCL application follow
 *      elected.c      tells the user that an upgrade of the KCL waits for this worker
 *      entry.c        decides whether the table may be joined at all
 *      ask_owner.c    asks for a lease by this worker's name in its row
 *      from_listing.c learns from the stream's listing what rows don't tell of a shard
 *   0  counted_writes.c, expiry.c, wall_time.c, other_stream.c, *_rule.c: pure
 *      kcl3_rows.c    reads the rows of KCL 3 that are no leases
 *      multi_table.c  one store over several tables */
#ifndef SLP_GUEST_GUEST_H
#define SLP_GUEST_GUEST_H

#include "base/list.h"
#include "guest/entry.h"
#include "guest/index_part.h"
#include "guest/mode.h"
#include "guest/steal_part.h"
#include "guest/strategies.h"
#include "guest/write_proof.h"
#include "lease/fleet_inside.h"
#include "lease/instance.h"
#include "lease/lease_part.h"
#include "lease/seen.h"
#include "lease/silence.h"

struct slp_guest { /* what this room stores with a fleet; slp_fleet.guest points to it */
  slp_fleet *f;
  slp_list name_link; /* in the list slp_common_name.fleets */
  slp_entry entry;
  slp_mode mode;
  slp_write_proof write_proof;
  slp_stealing stealing;
  slp_indexing index;
};

/* What is known of the counter in the row of a lease that this worker holds (counter.c). */
typedef struct slp_lease_counter {
  uint64_t good_us;  /* when the last write that raised the counter was sent */
  uint64_t renew_us; /* when the next renewal is due */
  /* 1: since the take, a renewal has succeeded, which shows that the row is still this worker's */
  uint8_t settled;
} slp_lease_counter;

/* How many bytes a second the lease's shard delivers. Renewals write this rate into the row, for a leader of
 * KCL 3 (counter.c). */
typedef struct slp_lease_load {
  /* at_us: when the bytes were last counted. bytes: how many were handed out until then. */
  uint64_t at_us, bytes;
  int64_t rate_bytes; /* the average rate in bytes a second; -1: not known */
} slp_lease_load;

/* Set while this worker has chosen the lease and means to take it (steal.c). */
typedef struct slp_lease_choice {
  /* one more than the row's counter was when the lease was chosen; 0: the lease is not chosen */
  uint64_t counter;
  uint64_t at_us;    /* when the lease was chosen */
  slp_instance from; /* the living worker that the lease is taken from; empty: the lease is free */
  uint8_t unheard;   /* how many claims of this worker on the lease were erased by other workers */
  /* with SLP_ASKS_OURS: after this time the lease is taken, even if its owner was asked and has not given it
   * up */
  uint64_t until_us;
  /* 1: the lease was chosen because a worker of the other system put an older row over this worker's row */
  uint8_t restores;
} slp_lease_choice;

typedef struct slp_guest_lease { /* what this room stores with a lease; slp_lease.guest points to it */
  slp_lease_counter counter;
  slp_lease_load load;
  slp_lease_choice choice;
} slp_guest_lease;

typedef struct slp_guest_seen { /* what this room remembers of a shard; slp_seen_shard.guest points to it */
  uint8_t born_free;            /* 1: the lease was free when it was first seen */
  uint8_t begun;                /* 1: a position was saved in the row when it was last seen */
  /* since when every list of rows has shown the lease with an owner and without a saved position; 0: the last
   * list did not */
  uint64_t unsaved_us;
  slp_silence silence; /* for how long the counter in the row has not changed */
  uint64_t listed_us;  /* when the last complete list of the table's rows came in which the shard has a row */
  uint64_t first_us;   /* when the first such list came */
} slp_guest_seen;

static inline slp_guest_seen *slp_guest_seen_of(const slp_seen_shard *s) { return s->guest; }
static inline slp_guest *slp_guest_of(const slp_fleet *f) { return f->guest; }
static inline slp_guest_lease *slp_guest_lease_of(const slp_lease *l) { return l->guest; }
static inline const slp_guest_strategy *slp_guest_rules_of(const slp_fleet *f) {
  return (const slp_guest_strategy *)(const void *)f->strategy;
}

#endif
