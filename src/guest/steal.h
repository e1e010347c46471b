/* steal.h - sharing where no worker leads: each worker reads the whole table in rounds, and takes leases by a
 * rule of its own. (steal.c, steal_kept.c, steal_sync.c) */
#ifndef SLP_GUEST_STEAL_H
#define SLP_GUEST_STEAL_H

#include "codec/page.h"
#include "core/position.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

/* The next functions are members of slp_strategy. */
void slp_steal_met(slp_lease *l, const slp_lease_row *parsed);
void slp_steal_missed(slp_lease *l);
void slp_steal_begin(slp_fleet *f);
void slp_steal_resumed(slp_fleet *f);
/* To be called when the ownership of a lease has ended: ends the choice of the lease. If undone() returns 1,
 * a worker of the other system has put an older row over this worker's row; then the lease is chosen again at
 * once. */
void slp_steal_gone(slp_lease *l, int (*undone)(const slp_lease *l, const slp_lease_row *row));
/* Returns 1 if a program of the other system (such as motorway) has replaced this worker's row by a row
 * for a new shard. */
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
/* To be called when it is known whether an owner has seen this worker's claim. unheard 1: the owner did
 * not see it, so the wait until the next claim doubles, up to 64 lease times. unheard 0: the owner saw it,
 * so the next wait is the shortest again. */
void slp_steal_unheard(slp_fleet *f, int unheard);

void slp_steal_init(slp_fleet *f);
void slp_steal_stop(slp_fleet *f);
void slp_steal_free(slp_fleet *f);

#endif
