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
  slp_str *all; /* owned; the texts of the names follow the array in the same block */
  size_t n;
} slp_index_names;

typedef struct slp_indexing {
  slp_index_phase phase;
  slp_index_names workers; /* the names of the living workers, sorted */
  size_t place;            /* this worker's index in `workers`; workers.n: this worker is not among them */
  slp_index_names list;    /* the list of shards, as the table has it */
  uint64_t list_ns;        /* the time that the list's row says it was written; 0: there is no list */
  slp_instance leader;     /* the worker whose name is in the leader's row; empty: there is no name */
  uint64_t leader_ns;      /* the time that the leader's row says it was written */
  uint64_t changed_us;     /* when `workers` or `list` last changed */
  /* when this worker's last successful write of its own row was sent; 0: none has succeeded yet */
  uint64_t round_us;
  /* goes up with each change of `workers` or `list`; used as the version of the assignment */
  uint64_t version;
  uint8_t leads;        /* 1: in its last round this worker wrote its name into the leader's row */
  uint8_t look;         /* 1: the next round must list the stream's shards */
  uint8_t listed;       /* 1: this round has listed the stream's shards */
  uint8_t told;         /* 1: this worker's row has been written at least once */
  uint32_t unpublished; /* how many writes of this worker's own row have failed in a row */
  uint32_t unled;       /* how many writes of the leader's row by this worker have failed in a row */
  slp_timer timer;
  slp_read read;
  slp_write write; /* writes this worker's own row, or the leader's row */
} slp_indexing;

/* The next functions are members of slp_strategy and slp_guest_strategy. */
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

/* The next functions are in index_lead.c. */
/* Returns 1 if this worker is the first by name of all living workers, and the leader's row has no name, this
 * worker's name, or the name of a dead worker. */
int slp_index_may_lead(slp_fleet *f);
/* Returns 1 if this worker leads, and the list of shards must be compared with the stream now. */
int slp_index_renews(slp_fleet *f);
/* Both functions add a write to the bulk write. slp_index_write_list: the new list of shards, if it differs
 * from the list in the table. slp_index_reap: the removal of the row of worker w, if that worker is long
 * gone. */
void slp_index_write_list(slp_fleet *f, const slp_snapshot *s);
void slp_index_reap(slp_fleet *f, const slp_worker_row *w);

#endif
