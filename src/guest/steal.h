/* steal.h - sharing where no worker leads: each worker reads the whole table in rounds, and takes leases
 * by rules of its own. (steal.c, steal_kept.c, steal_sync.c) */
#ifndef SLP_GUEST_STEAL_H
#define SLP_GUEST_STEAL_H

#include "lease/lease.h"
#include "lease/read.h"
#include "lease/snapshot.h"

typedef struct slp_stealing {
  uint8_t first;   /* 1: of all living workers, this one has to compare the stream with the table */
  uint8_t sync;    /* 1: the present round compares the stream with the table */
  uint8_t strange; /* 1: the user was told that a program here does not share leases */
  uint8_t made;    /* 1: this worker has created rows since it last found rows in a list of the table */
  /* how many lists in a row had no rows, although rows were created or leases are renewed */
  uint32_t unlisted;
  uint8_t unheard;     /* how many claims in a row the owner did not see, up to a maximum */
  uint64_t next_us;    /* before this time, no lease is taken from a living worker */
  uint64_t table_us;   /* when the last complete list of the table was answered */
  uint64_t sync_at_us; /* when the next shard sync is due; SLP_NEVER: this worker does not run */
  /* a shard sync waits for a listing that is made after this time; SLP_NEVER: no shard sync waits */
  uint64_t sync_from_us;
  slp_timer timer;
  slp_read read;
} slp_stealing;

/* These functions are members of slp_strategy. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed);
void slp_steal_missed(slp_lease *l);
void slp_steal_begin(slp_fleet *f);
void slp_steal_resumed(slp_fleet *f);
/* Ends the choice of a lease whose ownership has ended. If `undone` returns 1, a worker of the other
 * system has replaced this worker's row by an older one. Then the lease is chosen again at once. */
void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row));
/* Returns 1 if a program of another system has overwritten the row as if the shard were new. */
int slp_steal_is_put_anew(const slp_lease *l, const slp_lease_row *row);
void slp_steal_listed(slp_fleet *f, int ok);
void slp_steal_unknown_children(slp_fleet *f);
int slp_steal_may_make(slp_lease *l, const slp_shard_desc *kid);
void slp_steal_part(slp_fleet *f);
/* Compares the stream's shards with the rows, and adds the necessary writes to the bulk write:
 * steal_sync.c. *ret_made is 1 if leases are created. *ret_removed is 1 if rows are removed; then rows of
 * their children may be removable soon. Returns 0, or SLP_ENOMEM; after SLP_ENOMEM, the next shard sync
 * adds the writes that are missing. */
int slp_steal_sync_write(slp_fleet *f, const slp_snapshot *s, int *ret_made, int *ret_removed);
/* returns 1 if the position shows that part of the shard was read */
int slp_sync_is_begun(const slp_position *position);
/* Adds to the bulk write the renewals that keep other workers from taking leases of ended shards:
 * steal_kept.c. */
void slp_steal_keep_ended(slp_fleet *f, const slp_snapshot *s);
/* unheard 1: the owner did not see a claim, so the wait until the next claim doubles, up to 64 lease
 * times. unheard 0: the owner saw the claim, so the next wait is the shortest again. */
void slp_steal_unheard(slp_fleet *f, int unheard);

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
