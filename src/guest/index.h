/* index.h - sharing by index. Each worker has a row, and all workers share one list of the stream's
 * shards. With n living workers, sorted by name, the shard at place s of the list belongs to the worker at
 * place s modulo n. Each worker computes its share by itself, once in each check period, which is a fifth
 * of a lease time. (index.c, index_lead.c)
 *
 * The phases of a round:
 *
 *          due         told           read         this is first     asked for     listed
 *   REST -----> TELLING ---> WORKERS ---> LIST ---> LEADING ------> SHARDS ------> LEASES ---> WRITING
 *     \                       ^             \          \______________________________^             |
 *      +----------------------+              +--------------> LEASES, at once                 -> REST
 *          (before it joins)
 *
 *   REST     waits for the next round
 *   TELLING  writes this worker's own row
 *   WORKERS  reads the rows of all workers
 *   LIST     reads the list and the leader's row. A worker that has not joined yet joins or fails after this
 *   LEADING  the worker that is first by name writes its name into the leader's row; a worker that is no
 *            longer the first removes its name from that row
 *   SHARDS   lists the stream's shards, if the list is due to be renewed or a shard of this worker's share
 *            has no row
 *   LEASES   reads the rows of leases, and assigns to this worker the leases of its share
 *   WRITING  creates missing rows of leases, renews the list, removes rows of workers that are long gone
 *   PARTING  removes this worker's own row, and its name from the leader's row. After this the worker has
 *            left
 *
 * Every phase leads to REST when a step fails or the worker leaves. REST leads to PARTING. */
#ifndef SLP_GUEST_INDEX_H
#define SLP_GUEST_INDEX_H

#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

/* The next functions are members of slp_strategy and slp_guest_strategy. */
void slp_indexing_joins(slp_fleet *f);
void slp_indexing_begin(slp_fleet *f);
void slp_indexing_met(slp_lease *l, const slp_lease_row *row);
void slp_indexing_missed(slp_lease *l);
int slp_indexing_must_give_up(const slp_lease *l); /* returns 1 if the lease is not of this worker's share */
void slp_indexing_listed(slp_fleet *f, int ok);
void slp_indexing_unknown_children(slp_fleet *f);
void slp_indexing_leaves(slp_fleet *f);
void slp_indexing_part(slp_fleet *f);

void slp_indexing_init(slp_fleet *f);
void slp_indexing_stop(slp_fleet *f);
void slp_indexing_free(slp_fleet *f);

/* The next functions are in index_lead.c. */
/* Returns 1 if this worker may lead: it is the first by name of all living workers, and no other worker
 * leads. Another worker leads if its name is in the leader's row, and was written there less than a lease
 * time ago. */
int slp_index_may_lead(slp_fleet *f);
/* Returns 1 if this worker leads, and the list of shards must be compared with the stream now. */
int slp_index_renews(slp_fleet *f);
/* Both functions add a write to the writes that the round will send (lease/bulk_write.h).
 * slp_index_write_list: the new list of shards, if it differs from the list in the table. slp_index_reap:
 * the removal of the row of worker w, if that worker is long gone. */
void slp_index_write_list(slp_fleet *f, const slp_snapshot *s);
void slp_index_reap(slp_fleet *f, const slp_worker_row *w);

#endif
