/* snapshot.c - sorts all rows of the table by their kinds, and finds a row among them. */
#include "lease/snapshot.h"

#include "lease/schema.h"
#include "lease/store.h"

#include <stdlib.h>

static int by_shard(const void *a, const void *b) {
  return slp_str_cmp(((const slp_lease_row *)a)->shard, ((const slp_lease_row *)b)->shard);
}
static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_worker_row *)a)->id, ((const slp_worker_row *)b)->id);
}

static void sort_row(slp_schema *schema, slp_snapshot *s, const slp_row *row) {
  slp_parsed_row parsed;
  slp_schema_read_row(schema, row, &parsed);
  switch (parsed.kind) {
    case SLP_ROW_LEASE: s->leases[s->leases_n++] = parsed.u.lease; return;
    case SLP_ROW_WORKER: s->workers[s->workers_n++] = parsed.u.worker; return;
    case SLP_ROW_ASSIGNMENT: s->assignments[s->assignments_n++] = parsed.u.assignment; return;
    case SLP_ROW_BAD: s->bad[s->bad_n++] = (slp_bad_row){parsed.key, parsed.u.name, parsed.why}; return;
    case SLP_ROW_LEADERSHIP:
      s->leadership = parsed.u.leadership;
      s->leadership_there = 1;
      return;
    case SLP_ROW_ELSEWHERE: s->elsewhere[s->elsewhere_n++] = parsed.u.lease; return;
    case SLP_ROW_OTHER:
    case SLP_ROW_BESIDE: return;
  }
}

int slp_snapshot_make(slp_snapshot *ret, slp_schema *schema, slp_store_rows *rows) {
  size_t n = rows->n + 1;
  memset(ret, 0, sizeof *ret);
  ret->leases = slp_store_rows_get(rows, n * sizeof *ret->leases);
  ret->elsewhere = slp_store_rows_get(rows, n * sizeof *ret->elsewhere);
  ret->workers = slp_store_rows_get(rows, n * sizeof *ret->workers);
  ret->assignments = slp_store_rows_get(rows, n * sizeof *ret->assignments);
  ret->bad = slp_store_rows_get(rows, n * sizeof *ret->bad);
  if (!ret->leases || !ret->elsewhere || !ret->workers || !ret->assignments || !ret->bad) return SLP_ENOMEM;
  for (size_t i = 0; i < rows->n; i++) sort_row(schema, ret, &rows->rows[i]);
  if (ret->leases_n) qsort(ret->leases, ret->leases_n, sizeof *ret->leases, by_shard);
  if (ret->workers_n) qsort(ret->workers, ret->workers_n, sizeof *ret->workers, by_id);
  return 0;
}

const slp_lease_row *slp_snapshot_lease_of(const slp_snapshot *s, slp_str shard) {
  slp_lease_row key = {.shard = shard};
  return s->leases_n && shard.n ? bsearch(&key, s->leases, s->leases_n, sizeof key, by_shard) : NULL;
}

const slp_worker_row *slp_snapshot_worker(const slp_snapshot *s, slp_str id) {
  slp_worker_row key = {.id = id};
  return s->workers_n && id.n ? bsearch(&key, s->workers, s->workers_n, sizeof key, by_id) : NULL;
}

const slp_worker_row *slp_snapshot_instance(const slp_snapshot *s, slp_str instance) {
  slp_str id, incarnation;
  if (!slp_instance_split(instance, &id, &incarnation)) return NULL;
  const slp_worker_row *w = slp_snapshot_worker(s, id);
  return w && slp_str_eq(w->incarnation, incarnation) ? w : NULL;
}

const slp_worker_row *slp_snapshot_worker_of(const slp_snapshot *s, slp_str instance) {
  const slp_worker_row *w = slp_snapshot_instance(s, instance);
  return w && slp_worker_takes(w) ? w : NULL;
}

int slp_snapshot_is_bad(const slp_snapshot *s, slp_str name) {
  for (size_t i = 0; i < s->bad_n; i++)
    if (slp_str_eq(s->bad[i].name, name)) return 1;
  return 0;
}
