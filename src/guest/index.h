/* index.h - sharing by index: all workers keep a row each, and one list of the stream's shards. A shard's
 * place in the list, modulo the number of workers that live, is the place of its worker among them, sorted by
 * name. Every worker reckons that out by itself, once in each check period, a fifth of a lease.
 * (index.c, index_lead.c)
 *
 *          look        told           read         first of all     asked for     listed
 *   REST -----> TELLING ---> WORKERS ---> LIST ---> LEADING ------> SHARDS ------> LEASES ---> WRITING
 *     \                       ^             \          \______________________________^             |
 *      +----------------------+              +--------------> LEASES, at once                 -> REST
 *          (before it joins)
 *
 *   REST     until the next round
 *   TELLING  its own row is written
 *   WORKERS  the workers' rows are read
 *   LIST     the list and the leader's row are read. A worker that has not joined joins or fails behind it
 *   LEADING  the first of all writes the leader's row; one that is not any more takes its name out
 *   SHARDS   the stream's shards are listed: the list may be renewed, or a shard of this worker has no row
 *   LEASES   the rows of leases are read; behind it this worker knows what is its own
 *   WRITING  rows of leases that are missing are made, the list is renewed, rows of old workers go
 *   PARTING  its row goes, and its name out of the leader's: it has left
 *
 * From every state -> REST when a step failed or the worker leaves, and REST -> PARTING. */
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
  slp_index_names workers; /* that live, sorted */
  size_t place;            /* of this worker among them; workers.n: it is none of them */
  slp_index_names list;    /* of shards, as it stands in the table */
  uint64_t list_ns;        /* its time there; 0: there is none */
  slp_instance leader;     /* as its row names it; nobody: none */
  uint64_t leader_ns;      /* the time of that row */
  uint64_t changed_us;     /* workers or list were others before */
  uint64_t round_us;       /* the last round that told others of this worker began then */
  uint64_t version;        /* of what is shared */
  uint8_t leads;           /* the leader's row names this worker, by its last round */
  uint8_t look;            /* the next round lists the stream's shards */
  uint8_t listed;          /* this one did */
  uint8_t told;            /* its row has been written */
  uint32_t unpublished;    /* so often in a row its row could not be written, */
  uint32_t unled;          /* and the leader's */
  slp_timer timer;
  slp_read read;
  slp_write write; /* one of its row or the leader's */
} slp_indexing;

/* As slp_strategy and slp_guest_strategy have them. */
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
int slp_index_may_lead(slp_fleet *f); /* 1: it is the first of all, and the leader's row is free for it */
int slp_index_renews(slp_fleet *f);   /* 1: the list is to be compared with the stream's */
/* The list as it should be, and rows of workers that are long gone: adds them to the bulk write. */
void slp_index_write_list(slp_fleet *f, const slp_snapshot *s);
void slp_index_reap(slp_fleet *f, const slp_worker_row *w);

#endif
