/* guest_rules.h - decides which worker reads which shard, where no worker of sloop leads. All functions
 * here are pure: they depend only on what they are passed, and not on a clock, a table or an order of
 * arrival. They decide which leases a worker takes, which part of a shared list belongs to a worker, and
 * which leases a stream's shards need. */
#ifndef SLP_GUEST_GUEST_RULES_H
#define SLP_GUEST_GUEST_RULES_H

#include "lease/lease_rules.h"

/* ---- which leases one worker takes
 * ---------------------------------------------------------------------- */
typedef struct slp_steal_lease {
  uint32_t owner; /* the number of the worker that owns the lease; SLP_NOBODY: the lease is free */
  uint8_t free;   /* 1: the lease has no owner, or its owner is dead */
  /* 1: the lease has been free for long: it was not renewed for three lease times, or was free when first
   * seen */
  uint8_t old;
  uint8_t ready; /* 1: this worker may take the lease now; 0: the lease only counts for the fair share */
  uint8_t ret;   /* out: 1: take the lease */
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
  /* leases that this worker is about to get, and that `leases` does not show as this worker's */
  uint32_t me_more;
} slp_steal;

/* Sets `ret` of each lease that this worker should take. Takes free leases; if there are none, takes up to
 * steal_max leases of the worker that holds the most. Returns 0, or SLP_ENOMEM with no `ret` set. */
int slp_steal_make(slp_steal *s, slp_mem *mem);

/* ---- sharing by index ---------------------------------------------------------------------------------- */

/* Sorts `names` by their bytes. Returns the place of `me` among them, or n if `me` is not among them. */
size_t slp_index_place(slp_str *names, size_t n, slp_str me);
/* Returns 1 if the shard at place `shard` of the list belongs to the worker at `place` among workers_n
 * workers. */
static inline int slp_index_is_mine(size_t shard, size_t place, size_t workers_n) {
  return place < workers_n && shard % workers_n == place;
}

typedef struct slp_index_shard {
  slp_str id;
  /* listed: the stream lists the shard. cached: the shard is in the list that workers share now. finished:
   * some worker has read the shard to its end */
  uint8_t listed, cached, finished;
} slp_index_shard;
/* Computes the new list that workers are to share: the shards that the stream lists and that no worker has
 * finished, sorted. `shards` must have each shard that is listed or cached, once, in any order. The
 * function reorders it so that the new list comes first, and sets *ret_n to the list's length. Returns 1
 * if the new list differs from the list that workers share now. */
int slp_index_list(slp_index_shard *shards, size_t n, size_t *ret_n);

/* ---- KCL 2's election ---------------------------------------------------------------------------------- */
/* Returns the place of the elected worker among n sorted names, from 0. Returns SLP_NOBODY if there is no
 * memory. */
uint32_t slp_elected(uint32_t n, slp_mem *mem);

/* ---- which leases must be created ---------------------------------------------------------------------- */
#define SLP_NO_SHARD SIZE_MAX

typedef enum slp_sync_row {
  SLP_SYNC_NO_ROW,
  SLP_SYNC_UNREAD, /* the row has no saved position: the shard's parents may still have to be read first */
  SLP_SYNC_UNFINISHED, /* the row has a position within the shard */
  SLP_SYNC_ENDED
} slp_sync_row;
/* whether a shard's lease must be created, and where reading then begins */
typedef enum slp_sync_make {
  SLP_SYNC_NOT,
  SLP_SYNC_AT_START,  /* where the application begins to read */
  SLP_SYNC_AT_OLDEST, /* at the oldest record of the shard, because its parents were read */
  SLP_SYNC_AT_END     /* at the shard's end, so the shard counts as read */
} slp_sync_make;
/* a shard that the stream lists, or that has a row although the stream does not list it */
typedef struct slp_sync_shard {
  size_t parents[2]; /* indexes in the array of shards; SLP_NO_SHARD: there is no such parent */
  uint8_t open;
  uint8_t row; /* slp_sync_row */
  uint8_t ret; /* out: slp_sync_make */
} slp_sync_shard;

/* Sets `ret` of each shard whose lease must be created now. The rules:
 *
 *   - Children are read after their parents, and no shard is read twice. So of new shards, only those without
 *     new parents get leases. A shard that descends from a shard with a lease gets its own lease when that
 *     shard ends.
 *   - `latest`: the application begins at the latest record, so only open shards get leases.
 *   - The end of one parent of a merge needs the other parent's row, until the child has been read in part.
 *     So if an operator has removed the row of such a parent, it is created again.
 *
 * Returns 0, or SLP_ENOMEM with no `ret` set. */
int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);
/* Does the same for systems that treat every listed shard without a row as a new shard. So each shard gets
 * its lease at once. `latest`: a closed shard gets its lease with the position SLP_SYNC_AT_END, if none of
 * its ancestors has a lease. */
int slp_sync_every(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);

#endif
