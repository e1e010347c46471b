/* guest_rules.h - which worker should read which shard where nobody of ours leads: pure functions of what is
 * known, without a clock, a table or an order of arrival. One worker's takes, a worker's part of a shared
 * list, and which leases a stream's shards need. */
#ifndef SLP_GUEST_GUEST_RULES_H
#define SLP_GUEST_GUEST_RULES_H

#include "lease/lease_rules.h"

/* ---- one worker's takes -------------------------------------------------------------------------------- */
typedef struct slp_steal_lease {
  uint32_t owner; /* SLP_NOBODY: free */
  uint8_t free;   /* free, or its owner was silent for a lease */
  uint8_t old;    /* free, and was so for three leases */
  uint8_t ready;  /* may be read: not ended, its parents are */
  uint8_t ret;    /* out: take it */
} slp_steal_lease;

typedef struct slp_steal {
  uint32_t me;        /* a worker's number */
  uint32_t workers_n; /* numbers are below */
  slp_steal_lease *leases;
  size_t leases_n;
  uint32_t held_max;                        /* leases a worker may hold; 0: no limit */
  uint32_t steal_max;                       /* from a living worker in one go */
  uint32_t (*below)(void *ctx, uint32_t n); /* uniform in [0, n) */
  void *ctx;
  uint32_t me_more; /* leases that it is about to have, and that count in none of these for it */
} slp_steal;

/* Takes free leases first; when there are none, one of the worker with the most. SLP_ENOMEM: nothing set. */
int slp_steal_make(slp_steal *s, slp_mem *mem);

/* ---- by index ------------------------------------------------------------------------------------------ */

/* Sorts names by their bytes. Returns the place of `me` among them; n: it is none of them. */
size_t slp_index_place(slp_str *names, size_t n, slp_str me);
static inline int slp_index_is_mine(size_t shard, size_t place, size_t workers_n) {
  return place < workers_n && shard % workers_n == place;
}

typedef struct slp_index_shard {
  slp_str id;
  uint8_t listed, cached, finished;
} slp_index_shard;
/* The list that workers are to share from now on: what the stream lists and nobody has finished, sorted.
 * shards: all that are listed or cached, each once, in any order; those that stay come first, *ret_n of them.
 * Returns 1 when that differs from what is cached. */
int slp_index_list(slp_index_shard *shards, size_t n, size_t *ret_n);

/* ---- KCL 2's election ---------------------------------------------------------------------------------- */
/* The place of the elected one among n sorted names, from 0. SLP_NOBODY: no memory. */
uint32_t slp_elected(uint32_t n, slp_mem *mem);

/* ---- which leases are to be made ----------------------------------------------------------------------- */
#define SLP_NO_SHARD SIZE_MAX

typedef enum slp_sync_row {
  SLP_SYNC_NO_ROW,
  SLP_SYNC_UNREAD,     /* nothing of it is saved as read: its parents may still have to come first */
  SLP_SYNC_UNFINISHED, /* something is */
  SLP_SYNC_ENDED
} slp_sync_row;
typedef enum slp_sync_make {
  SLP_SYNC_NOT,
  SLP_SYNC_AT_START,
  SLP_SYNC_AT_OLDEST,
  SLP_SYNC_AT_END
} slp_sync_make;
typedef struct slp_sync_shard { /* of the stream, or one that only has a lease yet */
  size_t parents[2];            /* numbers of shards, or SLP_NO_SHARD */
  uint8_t open;
  uint8_t row; /* slp_sync_row */
  uint8_t ret; /* out: slp_sync_make */
} slp_sync_shard;

/* So that every shard is read in its order, and none that was read before: only the first level of what is
 * new gets leases; what descends from a shard with a lease gets its own when that one ends. latest: nothing
 * but what is open counts. The parents of a merge need each other's rows until their child is read from: when
 * an operator has removed one, it is made again. SLP_ENOMEM: nothing was set. */
int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);
/* Where a listed shard without a row is read as a new one: each gets its lease at once. latest: what was
 * closed before anything of its line had a lease counts as read. */
int slp_sync_every(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);

#endif
