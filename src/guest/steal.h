/* steal.h - sharing where no worker leads: each worker reads the whole table in rounds, and takes leases by a
 * rule of its own. (steal.c, steal_kept.c, steal_sync.c) */
#ifndef SLP_GUEST_STEAL_H
#define SLP_GUEST_STEAL_H

#include "lease/lease.h"
#include "lease/read.h"
#include "lease/snapshot.h"

typedef struct slp_stealing {
  uint8_t first;   /* 1: of all living workers, this one must compare the stream with the table */
  uint8_t sync;    /* 1: the present round compares the stream with the table (shard sync) */
  uint8_t strange; /* 1: the user was told that a program at this table does not share leases */
  uint8_t made;    /* 1: this worker has created rows since a list of the table last had rows */
  /* how many lists in a row had no rows, although rows were created or leases are renewed */
  uint32_t unlisted;
  uint8_t unheard;     /* how many claims of this worker in a row their owners did not see, up to a maximum */
  uint64_t next_us;    /* before this time no lease is taken from a living worker */
  uint64_t table_us;   /* when the last complete list of the table was answered */
  uint64_t sync_at_us; /* when the next shard sync is due; SLP_NEVER: this worker is not running */
  /* a shard sync waits for a listing that is begun after this time; SLP_NEVER: none waits */
  uint64_t sync_from_us;
  slp_timer timer;
  slp_read read;
} slp_stealing;

/* The next functions are members of slp_strategy. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed);
void slp_steal_missed(slp_lease *l);
void slp_steal_begin(slp_fleet *f);
void slp_steal_resumed(slp_fleet *f);
/* To be called when the ownership of a lease has ended: ends the choice of the lease. If undone() returns 1,
 * a worker of the other system has put an older row over this worker's row; then the lease is chosen again at
 * once. */
void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row));
/* Returns 1 if a program of another system has put a row over this worker's row as if the shard were new. */
int slp_steal_is_put_anew(const slp_lease *l, const slp_lease_row *row);
void slp_steal_listed(slp_fleet *f, int ok);
void slp_steal_unknown_children(slp_fleet *f);
int slp_steal_may_make(slp_lease *l, const slp_shard_desc *kid);
void slp_steal_part(slp_fleet *f);
/* Compares the stream's shards with the rows, and adds the writes that are needed to the bulk write
 * (steal_sync.c). *ret_made 1: leases are created. *ret_removed 1: rows are removed, so rows of their
 * children may be removable soon. Returns 0, or SLP_ENOMEM; then the next shard sync adds the missing
 * writes. */
int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s, int *ret_made, int *ret_removed);
/* returns 1 if the position shows that the shard was read in part */
int slp_sync_is_begun(const slp_position *position);
/* Adds to the bulk write the renewals that keep other workers from taking leases of ended shards
 * (steal_kept.c). */
void slp_steal_keep_ended(slp_fleet *f, const slp_snapshot *s);
/* To be called when a claim had an effect or not. unheard, 1: the owner did not see it, so the wait until the
 * next claim doubles, up to 64 lease times. 0: the owner saw it, so the next wait is the shortest again. */
void slp_steal_unheard(slp_fleet *f, int unheard);

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
