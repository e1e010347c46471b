/* index.h - sharing by index. Each worker has a row, and all workers share one list of the stream's shards.
 * With n living workers, sorted by name, the shard at place s of the list belongs to the worker at place
 * s modulo n. Each worker computes that by itself, once in each check period, which is a fifth of a lease.
 * (index.c, index_lead.c)
 *
 * The phases of a round:
 *
 *          due         told           read         first of all     asked for     listed
 *   REST -----> TELLING ---> WORKERS ---> LIST ---> LEADING ------> SHARDS ------> LEASES ---> WRITING
 *     \                       ^             \          \______________________________^             |
 *      +----------------------+              +--------------> LEASES, at once                 -> REST
 *          (before it joins)
 *
 *   REST     waits for the next round
 *   TELLING  writes its own row
 *   WORKERS  reads the rows of all workers
 *   LIST     reads the list and the leader's row. A worker that has not joined yet joins or fails after this
 *   LEADING  the first worker writes its name into the leader's row; a worker that is no longer the first
 *            takes its name out
 *   SHARDS   lists the stream's shards, if the list is due to be renewed or a shard of its share has no row
 *   LEASES   reads the rows of leases, and assigns itself its share
 *   WRITING  makes missing rows of leases, renews the list, removes rows of workers that are long gone
 *   PARTING  removes its own row, and its name from the leader's row. After this the worker has left
 *
 * Every phase leads to REST when a step fails or the worker leaves. REST leads to PARTING. */
#ifndef SLP_GUEST_INDEX_H
#define SLP_GUEST_INDEX_H

#include "lease/lease.h"
#include "lease/read.h"
#include "lease/snapshot.h"

typedef enum slp_index_phase {
  SLP_INDEX_REST,
  SLP_INDEX_TELLING,
  SLP_INDEX_WORKERS,
  SLP_INDEX_LIST,
  SLP_INDEX_LEADING,
  SLP_INDEX_SHARDS,
  SLP_INDEX_LEASES,
  SLP_INDEX_WRITING,
  SLP_INDEX_PARTING
} slp_index_phase;

typedef struct slp_index_names {
  slp_str *all; /* owned, with the texts behind it */
  size_t n;
} slp_index_names;

typedef struct slp_indexing {
  slp_index_phase phase;
  slp_index_names workers; /* the living workers, sorted */
  size_t place;            /* of this worker among `workers`; workers.n: it is none of them */
  slp_index_names list;    /* the list of shards, as it is in the table */
  uint64_t list_ns;        /* when the list was written, by its row; 0: there is no list */
  slp_instance leader;     /* the worker that the leader's row names; empty: none */
  uint64_t leader_ns;      /* when the leader's row was written, by the row */
  uint64_t changed_us;     /* when `workers` or `list` last changed */
  uint64_t round_us;       /* when the last good write of this worker's row was sent; 0: none yet */
  uint64_t version;        /* counts changes of `workers` and `list`; it stands for an assignment's version */
  uint8_t leads;           /* this worker wrote the leader's row in its last round */
  uint8_t look;            /* the next round lists the stream's shards */
  uint8_t listed;          /* this round has listed them */
  uint8_t told;            /* this worker's row was written at least once */
  uint32_t unpublished;    /* failed writes of this worker's row in a row */
  uint32_t unled;          /* failed writes of the leader's row in a row */
  slp_timer timer;
  slp_read read;
  slp_write write; /* of this worker's row or of the leader's */
} slp_indexing;

/* Functions of slp_strategy and slp_guest_strategy. */
void slp_indexing_joins(slp_fleet *f);
void slp_indexing_begin(slp_fleet *f);
void slp_indexing_met(slp_lease *l, const slp_lease_row *row);
void slp_indexing_missed(slp_lease *l);
void slp_indexing_listed(slp_fleet *f, int ok);
void slp_indexing_unknown_children(slp_fleet *f);
void slp_indexing_leaves(slp_fleet *f);
void slp_indexing_part(slp_fleet *f);

void slp_indexing_init(slp_fleet *f);
void slp_indexing_stop(slp_fleet *f);
void slp_indexing_free(slp_fleet *f);

/* index_lead.c */
/* Returns 1 if this worker is the first, and the leader's row names nobody, this worker, or a dead leader. */
int slp_index_may_lead(slp_fleet *f);
/* Returns 1 if this worker leads and the list is due to be compared with the stream. */
int slp_index_renews(slp_fleet *f);
/* Both add to the bulk write. slp_index_write_list: the new list, if it differs. slp_index_reap: the removal
 * of the worker's row, if the worker is long gone. */
void slp_index_write_list(slp_fleet *f, const slp_snapshot *s);
void slp_index_reap(slp_fleet *f, const slp_worker_row *w);

#endif
