/* steal.h - sharing where nobody leads: each worker reads the whole table in rounds, and takes leases by
 * rules of its own. (steal.c, steal_kept.c, steal_sync.c) */
#ifndef SLP_GUEST_STEAL_H
#define SLP_GUEST_STEAL_H

#include "lease/lease.h"
#include "lease/read.h"
#include "lease/snapshot.h"

typedef struct slp_stealing {
  uint8_t first;         /* of all living workers, this one compares the stream with the table */
  uint8_t sync;          /* the round under way compares the stream with the table */
  uint8_t strange;       /* the user was told of a program that does not share leases */
  uint8_t made;          /* rows were made since a list of the table last had some */
  uint32_t unlisted;     /* lists in a row without a row, though rows were made or leases are renewed */
  uint8_t unheard;       /* claims in a row that the owner did not hear, up to a maximum */
  uint64_t next_us;      /* no lease is taken from a living worker before this time */
  uint64_t table_us;     /* when the last complete list of the table was answered */
  uint64_t sync_at_us;   /* when the next shard sync is due; SLP_NEVER: the worker does not run */
  uint64_t sync_from_us; /* a shard sync waits for a listing made after this time; SLP_NEVER: none waits */
  slp_timer timer;
  slp_read read;
} slp_stealing;

/* Functions of slp_strategy. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed);
void slp_steal_missed(slp_lease *l);
void slp_steal_begin(slp_fleet *f);
void slp_steal_resumed(slp_fleet *f);
/* Forgets the choice of a lease that is no longer this worker's. If `undone` says that a peer has put an
 * older row over this worker's, the lease is chosen again at once. */
void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row));
/* Returns 1 if a program of another system has overwritten the row as if it were new. */
int slp_steal_is_put_anew(const slp_lease *l, const slp_lease_row *row);
void slp_steal_listed(slp_fleet *f, int ok);
void slp_steal_unknown_children(slp_fleet *f);
int slp_steal_may_make(slp_lease *l, const slp_shard_desc *kid);
void slp_steal_part(slp_fleet *f);
/* Compares the stream's shards with the rows, and adds what must be written to the bulk write: steal_sync.c.
 * ret_made: leases are made. ret_removed: rows are removed; then rows of their children may go soon. Returns
 * 0, or SLP_ENOMEM; the next shard sync then finds what is left out. */
int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s, int *ret_made, int *ret_removed);
int slp_sync_is_begun(const slp_position *position); /* returns 1 if some of the shard is saved as read */
/* Adds to the bulk write the renewals that keep leases of ended shards from being taken: steal_kept.c. */
void slp_steal_keep_ended(slp_fleet *f, const slp_snapshot *s);
/* unheard 1: the owner did not hear a claim, so the wait until the next claim doubles, up to 64 leases.
 * unheard 0: the owner heard it, and the wait begins again at its shortest. */
void slp_steal_unheard(slp_fleet *f, int unheard);

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
