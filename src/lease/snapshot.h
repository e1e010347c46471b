/* snapshot.h - all rows of one stream's part of the table, sorted by what they are. A pure function of the
 * rows: a worker and an operator's command read the table alike. */
#ifndef SLP_LEASE_SNAPSHOT_H
#define SLP_LEASE_SNAPSHOT_H

#include "lease/schema.h"

typedef struct slp_bad_row { /* damaged, or of a newer format: left alone */
  slp_row_key key;
  slp_str name;    /* the shard or the worker that its key names */
  const char *why; /* static */
} slp_bad_row;

typedef struct slp_snapshot { /* lives in the rows it was made from, and goes with them */
  slp_lease_row *leases;      /* by shard */
  slp_lease_row *elsewhere;   /* of other streams of the application, in the order of the rows */
  slp_worker_row *workers;    /* by id */
  slp_assignment_row *assignments;
  slp_bad_row *bad; /* in the order of the rows */
  size_t leases_n, elsewhere_n, workers_n, assignments_n, bad_n;
  slp_leadership_row leadership;
  uint8_t leadership_there;
} slp_snapshot;
/* SLP_ENOMEM: *ret holds nothing that needs to be freed. */
int slp_snapshot_make(slp_snapshot *ret, slp_schema *schema, slp_store_rows *rows);

/* NULL: there is none. */
const slp_lease_row *slp_snapshot_lease_of(const slp_snapshot *s, slp_str shard);
const slp_worker_row *slp_snapshot_worker(const slp_snapshot *s, slp_str id);
/* The row of a worker in just this incarnation, whether it lives or not. */
const slp_worker_row *slp_snapshot_instance(const slp_snapshot *s, slp_str instance);
/* The same, of one that is neither evicted nor leaving. */
const slp_worker_row *slp_snapshot_worker_of(const slp_snapshot *s, slp_str instance);
int slp_snapshot_is_bad(const slp_snapshot *s, slp_str name); /* 1: there is a row of it that can't be read */

#endif
