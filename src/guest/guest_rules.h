/* guest_rules.h - decides which worker reads which shard, where no worker of sloop leads: which leases a
 * worker takes, which part of a shared list of shards belongs to a worker, and which leases a stream's shards
 * need. All functions are pure: they depend only on their arguments, and not on a clock, a table or an order
 * of arrival. */
#ifndef SLP_GUEST_GUEST_RULES_H
#define SLP_GUEST_GUEST_RULES_H

#include "base/mem.h"

/* ---- which leases one worker takes
 * ---------------------------------------------------------------------- */
typedef struct slp_steal_lease {
  uint32_t owner; /* the number of the worker that owns the lease; SLP_NOBODY: the lease is free */
  uint8_t free;   /* 1: the lease has no owner, or its owner is dead */
  /* 1: the lease has been free for long: it was free when it was first seen, or its last owner has not
   * renewed it for three lease times */
  uint8_t old;
  uint8_t ready; /* 1: this worker may take the lease now; 0: the lease only counts for the fair share */
  uint8_t ret;   /* out: 1: take the lease */
} slp_steal_lease;

typedef struct slp_steal {
  uint32_t me;        /* this worker's number */
  uint32_t workers_n; /* workers are numbered from 0 to workers_n - 1 */
  slp_steal_lease *leases;
  size_t leases_n;
  uint32_t held_max;  /* how many leases this worker may hold; 0: no limit */
  uint32_t steal_max; /* at most this many leases are taken from a living worker in one call */
  uint32_t (*below)(void *ctx, uint32_t n); /* returns a random number, uniform in [0, n) */
  void *ctx;
  /* how many leases this worker is about to get that `leases` does not show as its own */
  uint32_t me_more;
} slp_steal;

/* Sets `ret` of each lease that this worker should take. Chooses free leases; if there are none, up to
 * steal_max leases of the worker that holds the most. Returns 0, or SLP_ENOMEM with no `ret` set. */
int slp_steal_make(slp_steal *s, slp_mem *mem);

/* ---- sharing by index ---------------------------------------------------------------------------------- */

/* Sorts `names` by their bytes. Returns the index of `me` among them, or n if `me` is not among them. */
size_t slp_index_place(slp_str *names, size_t n, slp_str me);
/* Returns 1 if the shard with this index in the list belongs to the worker with the index `place` among
 * workers_n workers. */
static inline int slp_index_is_mine(size_t shard, size_t place, size_t workers_n) {
  return place < workers_n && shard % workers_n == place;
}

typedef struct slp_index_shard {
  slp_str id;
  /* listed: 1 if the stream lists the shard. cached: 1 if the shard is in the list that the workers share
   * now. finished: 1 if some worker has read the shard to its end. */
  uint8_t listed, cached, finished;
} slp_index_shard;
/* Computes the new list for the workers to share: the sorted shards that the stream lists and that no worker
 * has finished. `shards` must contain, once and in any order, each shard whose member `listed` or `cached` is
 * 1. The function reorders `shards` so that the new list comes first, and sets *ret_n to the length of the
 * new list. Returns 1 if the new list differs from the list that the workers share now. */
int slp_index_list(slp_index_shard *shards, size_t n, size_t *ret_n);

/* ---- KCL 2's election ---------------------------------------------------------------------------------- */
/* Returns the index of the worker that KCL 2 elects among n sorted names, to decide on an upgrade to KCL 3
 * (elected_rule.c). Returns SLP_NOBODY if there is no memory. */
uint32_t slp_elected(uint32_t n, slp_mem *mem);

/* ---- which leases must be created ---------------------------------------------------------------------- */
#define SLP_NO_SHARD SIZE_MAX

typedef enum slp_sync_row {
  SLP_SYNC_NO_ROW,
  SLP_SYNC_UNREAD,     /* the row has no saved position; the shard's parents may still have to be read */
  SLP_SYNC_UNFINISHED, /* the row has a position inside the shard */
  SLP_SYNC_ENDED
} slp_sync_row;
/* whether a shard's lease must be created, and with which position */
typedef enum slp_sync_make {
  SLP_SYNC_NOT,
  SLP_SYNC_AT_START,  /* with the position at which the application begins to read */
  SLP_SYNC_AT_OLDEST, /* at the shard's oldest record, because its parents were read */
  SLP_SYNC_AT_END     /* at the shard's end, so that it counts as read */
} slp_sync_make;
/* a shard that the stream lists or that has a row */
typedef struct slp_sync_shard {
  /* indexes of the parents in the array of shards; SLP_NO_SHARD: there is no such parent */
  size_t parents[2];
  uint8_t open;
  uint8_t row; /* slp_sync_row */
  uint8_t ret; /* out: an slp_sync_make */
} slp_sync_shard;

/* Sets `ret` of each shard whose lease must be created now. The rules:
 *   - Children are read after their parents, and no shard is read twice. So a new shard gets a lease only if
 *     none of its parents is new. A shard that descends from a shard with a lease gets its own lease when
 *     that shard ends.
 *   - latest 1: the application begins at the latest record, so only open shards get leases.
 *   - When one parent of a merge ends, the other parent must have a row, until the child has been read in
 *     part. So if an operator has removed the row of such a parent, it is created again.
 * Returns 0, or SLP_ENOMEM with no `ret` set. */
int slp_sync_shards(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);
/* Does what slp_sync_shards does, for systems that treat every listed shard without a row as a new shard,
 * so that each shard gets its lease at once. latest 1: a closed shard gets its lease with SLP_SYNC_AT_END,
 * if none of its ancestors has a lease. */
int slp_sync_every(slp_sync_shard *shards, size_t n, int latest, slp_mem *mem);

#endif
