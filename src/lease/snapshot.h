/* snapshot.h - all rows of the table that belong to one stream, sorted by their kinds. The result depends on
 * the rows only, so a worker and an operator's command see the same. */
#ifndef SLP_LEASE_SNAPSHOT_H
#define SLP_LEASE_SNAPSHOT_H

#include "lease/schema.h"
#include "lease/store.h"

typedef struct slp_bad_row { /* a row that is damaged or of a newer format; no worker uses or changes it */
  slp_row_key key;
  slp_str name;    /* the shard or worker in the row's key */
  const char *why; /* why the row can't be used; static text */
} slp_bad_row;

typedef struct slp_snapshot { /* Points into the rows from which it was made, so it must not outlive them. */
  slp_lease_row *leases;      /* sorted by shard */
  slp_lease_row *elsewhere;   /* leases of other streams of the application, in the order of the rows */
  slp_worker_row *workers;    /* sorted by id */
  slp_assignment_row *assignments;
  slp_bad_row *bad; /* the rows that can't be used, in the order of the rows */
  size_t leases_n, elsewhere_n, workers_n, assignments_n, bad_n;
  slp_leadership_row leadership;
  /* 1: the row of leadership exists */
  uint8_t leadership_there;
} slp_snapshot;
/* Sorts the rows. Returns 0, or SLP_ENOMEM. The memory belongs to `rows`, so *ret need not be freed. */
int slp_snapshot_make(slp_snapshot *ret, slp_schema *schema, slp_store_rows *rows);

/* The next functions return NULL if there is no such row. slp_snapshot_lease_of returns the lease of a shard,
 * slp_snapshot_worker the worker with this id. */
const slp_lease_row *slp_snapshot_lease_of(const slp_snapshot *s, slp_str shard);
const slp_worker_row *slp_snapshot_worker(const slp_snapshot *s, slp_str id);
/* Returns the row of the worker with exactly this instance, alive or not. */
const slp_worker_row *slp_snapshot_instance(const slp_snapshot *s, slp_str instance);
/* Returns the row of the worker with exactly this instance; NULL also if no leases may be given to it
 * (slp_worker_takes). */
const slp_worker_row *slp_snapshot_worker_of(const slp_snapshot *s, slp_str instance);
/* returns 1 if the row with this shard or worker in its key exists, but can't be read */
int slp_snapshot_is_bad(const slp_snapshot *s, slp_str name);

#endif
