/* snapshot.h - all rows of the table that belong to one stream, sorted by what they are. A pure function of
 * the rows, so that a worker and an operator's command see the table alike. */
#ifndef SLP_LEASE_SNAPSHOT_H
#define SLP_LEASE_SNAPSHOT_H

#include "lease/schema.h"

typedef struct slp_bad_row { /* a row that is damaged or of a newer format; it is left alone */
  slp_row_key key;
  slp_str name;    /* the shard or worker that its key names */
  const char *why; /* static */
} slp_bad_row;

typedef struct slp_snapshot { /* points into the rows that it was made from, and must not outlive them */
  slp_lease_row *leases;      /* sorted by shard */
  slp_lease_row *elsewhere;   /* of other streams of the application, in the order of the rows */
  slp_worker_row *workers;    /* sorted by id */
  slp_assignment_row *assignments;
  slp_bad_row *bad; /* in the order of the rows */
  size_t leases_n, elsewhere_n, workers_n, assignments_n, bad_n;
  slp_leadership_row leadership;
  /* the row of leadership exists */
  uint8_t leadership_there;
} slp_snapshot;
/* Returns 0, or SLP_ENOMEM with nothing in *ret that must be freed. */
int slp_snapshot_make(slp_snapshot *ret, slp_schema *schema, slp_store_rows *rows);

/* NULL: there is none */
const slp_lease_row *slp_snapshot_lease_of(const slp_snapshot *s, slp_str shard);
const slp_worker_row *slp_snapshot_worker(const slp_snapshot *s, slp_str id);
/* Returns the row of a worker with exactly this incarnation, alive or not. */
const slp_worker_row *slp_snapshot_instance(const slp_snapshot *s, slp_str instance);
/* Returns the same, but only if the worker is neither evicted nor leaving. */
const slp_worker_row *slp_snapshot_worker_of(const slp_snapshot *s, slp_str instance);
/* returns 1 if there is a row of this name that can't be read */
int slp_snapshot_is_bad(const slp_snapshot *s, slp_str name);

#endif
