/* guest_rules.h - which worker should read which shard, where no worker of sloop leads. These are pure
 * functions of what is known, without a clock, a table or an order of arrival: which leases a worker takes,
 * which part of a shared list is a worker's, and which leases a stream's shards need. */
#ifndef SLP_GUEST_GUEST_RULES_H
#define SLP_GUEST_GUEST_RULES_H

#include "lease/lease_rules.h"

/* ---- one worker's takes -------------------------------------------------------------------------------- */
typedef struct slp_steal_lease {
  uint32_t owner; /* the number of a worker; SLP_NOBODY: free */
  uint8_t free;   /* it has no owner, or its owner is dead */
  uint8_t old;    /* free for long: not renewed for three leases, or free when first seen */
  uint8_t ready;  /* this worker may take it now; otherwise it only counts for the fair share */
  uint8_t ret;    /* out: take it */
} slp_steal_lease;

typedef struct slp_steal {
  uint32_t me;        /* this worker's number */
  uint32_t workers_n; /* workers are numbered from 0 to workers_n - 1 */
  slp_steal_lease *leases;
  size_t leases_n;
  uint32_t held_max;                        /* how many leases a worker may hold; 0: no limit */
  uint32_t steal_max;                       /* how many leases may be taken from a living worker at once */
  uint32_t (*below)(void *ctx, uint32_t n); /* returns a random number, uniform in [0, n) */
  void *ctx;
  uint32_t me_more; /* leases that this worker is about to get, and that `leases` does not show as its own */
} slp_steal;

/* Sets `ret` of each lease that this worker should take: free leases first; if there are none, up to
 * steal_max of the worker with the most. Returns 0, or SLP_ENOMEM with nothing set. */
int slp_steal_make(slp_steal *s, slp_mem *mem);

/* ---- by index ------------------------------------------------------------------------------------------ */

/* Sorts names by their bytes. Returns the place of `me` among them, or n if it is none of them. */
size_t slp_index_place(slp_str *names, size_t n, slp_str me);
/* Returns 1 if the shard at place `shard` in the list belongs to the worker at `place` among workers_n. */
static inline int slp_index_is_mine(size_t shard, size_t place, size_t workers_n) {
  return place < workers_n && shard % workers_n == place;
}

typedef struct slp_index_shard {
  slp_str id;
  /* the stream lists it; it is in the list that workers share now; some worker has read it to its end */
  uint8_t listed, cached, finished;
} slp_index_shard;
/* Makes the list that workers are to share from now on: shards that the stream lists and nobody has finished,
 * sorted. `shards` has all that are listed or cached, each once, in any order. It is reordered so that
 * the new list comes first; *ret_n is the list's length. Returns 1 if the new list differs from what is
 * cached. */
int slp_index_list(slp_index_shard *shards, size_t n, size_t *ret_n);

/* ---- KCL 2's election ---------------------------------------------------------------------------------- */
/* Returns the place of the elected worker among n sorted names, from 0. SLP_NOBODY: no memory. */
uint32_t slp_elected(uint32_t n, slp_mem *mem);

/* ---- which leases are to be made ----------------------------------------------------------------------- */
#define SLP_NO_SHARD SIZE_MAX

typedef enum slp_sync_row {
  SLP_SYNC_NO_ROW,
  SLP_SYNC_UNREAD,     /* the row has no saved position: the parents may still have to be read first */
  SLP_SYNC_UNFINISHED, /* the row has a position within the shard */
  SLP_SYNC_ENDED
} slp_sync_row;
/* Whether a lease is to be made, and where it begins. */
typedef enum slp_sync_make {
  SLP_SYNC_NOT,
  SLP_SYNC_AT_START,  /* where the application begins */
  SLP_SYNC_AT_OLDEST, /* at the shard's oldest record, because its parents were read */
  SLP_SYNC_AT_END     /* at its end: the shard counts as read */
} slp_sync_make;
typedef struct slp_sync_shard { /* a shard that the stream lists, or one that only has a lease */
  size_t parents[2];            /* places in the array of shards, or SLP_NO_SHARD */
  uint8_t open;
  uint8_t row; /* slp_sync_row */
  uint8_t ret; /* out: slp_sync_make */
} slp_sync_shard;

/* Sets `ret` of each shard whose lease is to be made now. Children must be read after their parents, and no
 * shard twice. So of new shards only the first generation gets leases; a descendant of a shard with a lease
 * gets its own when that shard ends. latest: the application begins at the latest record, so only open shards
 * get leases. Each parent of a merge needs the other one's row until their child is begun; a row of a parent
 * that an operator has removed is made again. Returns 0, or SLP_ENOMEM with nothing set. */
int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);
/* The same, for systems that read every listed shard without a row as a new one: each shard gets its lease at
 * once. latest: a closed shard of which no ancestor has a lease is made as read to its end. */
int slp_sync_every(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);

#endif
