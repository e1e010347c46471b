/* desk_stock.c - the rows of a fleet sorted out for one look, and what one look can say about who lives. */
#include "admin/admin_inside.h"

#include "lease/fleet_inside.h"

#include <stdlib.h>

#define SKEW_MS 30000 /* clocks of different machines may be so far apart, or a heartbeat so late */

static int by_shard(const void *a, const void *b) {
  return slp_str_cmp(((const slp_lease_row *)a)->shard, ((const slp_lease_row *)b)->shard);
}
static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_worker_row *)a)->id, ((const slp_worker_row *)b)->id);
}

static void sort_row(slp_schema *schema, slp_admin_snapshot *s, const slp_row *row) {
  slp_parsed_row parsed;
  schema->read(schema, row, &parsed);
  switch (parsed.kind) {
    case SLP_ROW_LEASE: s->leases[s->leases_n++] = parsed.u.lease; return;
    case SLP_ROW_WORKER: s->workers[s->workers_n++] = parsed.u.worker; return;
    case SLP_ROW_ASSIGNMENT: s->assignments[s->assignments_n++] = parsed.u.assignment; return;
    case SLP_ROW_BAD: s->bad[s->bad_n++] = (slp_admin_bad){parsed.key, parsed.why}; return;
    case SLP_ROW_LEADERSHIP:
      s->leadership = parsed.u.leadership;
      s->leadership_there = 1;
      return;
    case SLP_ROW_OTHER: return;
  }
}

int slp_admin_snapshot_sort(slp_schema *schema, slp_store_rows *rows, slp_admin_snapshot *ret) {
  size_t n = rows->n + 1;
  memset(ret, 0, sizeof *ret);
  ret->leases = slp_store_rows_get(rows, n * sizeof *ret->leases);
  ret->workers = slp_store_rows_get(rows, n * sizeof *ret->workers);
  ret->assignments = slp_store_rows_get(rows, n * sizeof *ret->assignments);
  ret->bad = slp_store_rows_get(rows, n * sizeof *ret->bad);
  if (!ret->leases || !ret->workers || !ret->assignments || !ret->bad) return SLP_ENOMEM;
  for (size_t i = 0; i < rows->n; i++) sort_row(schema, ret, &rows->rows[i]);
  if (ret->leases_n) qsort(ret->leases, ret->leases_n, sizeof *ret->leases, by_shard);
  if (ret->workers_n) qsort(ret->workers, ret->workers_n, sizeof *ret->workers, by_id);
  return 0;
}

const slp_lease_row *slp_admin_lease_of(const slp_admin_snapshot *s, slp_str shard) {
  slp_lease_row key = {.shard = shard};
  return s->leases_n && shard.n ? bsearch(&key, s->leases, s->leases_n, sizeof key, by_shard) : NULL;
}

static const slp_worker_row *by_its_id(const slp_admin_snapshot *s, slp_str id) {
  slp_worker_row key = {.id = id};
  return s->workers_n && id.n ? bsearch(&key, s->workers, s->workers_n, sizeof key, by_id) : NULL;
}

const slp_worker_row *slp_admin_worker_of(const slp_admin_snapshot *s, slp_str name) {
  slp_str id, incarnation;
  const slp_worker_row *w = by_its_id(s, name);
  if (w || !slp_instance_split(name, &id, &incarnation)) return w;
  w = by_its_id(s, id);
  return w && slp_str_eq(w->incarnation, incarnation) ? w : NULL;
}

int slp_admin_is_instance(const slp_worker_row *w, slp_str instance) {
  slp_str id, incarnation;
  return slp_instance_split(instance, &id, &incarnation) && slp_str_eq(id, w->id) &&
         slp_str_eq(incarnation, w->incarnation);
}

int slp_admin_worker_silent(const slp_worker_row *w, int64_t wall_ms) {
  return w->wall_ms >= 0 && wall_ms - w->wall_ms > (int64_t)w->lease_ms + SKEW_MS;
}

slp_owner_life slp_admin_owner_life(const slp_schema *schema, const slp_admin_snapshot *s, slp_str owner,
                                    int64_t wall_ms) {
  slp_str id, incarnation;
  if (!owner.n) return SLP_OWNER_NONE;
  if (schema->liveness != SLP_BY_WORKER || !slp_instance_split(owner, &id, &incarnation))
    return SLP_OWNER_UNKNOWN;
  const slp_worker_row *w = by_its_id(s, id);
  if (!w) return SLP_OWNER_MISSING;
  if (w->gone.n || !slp_str_eq(w->incarnation, incarnation)) return SLP_OWNER_EVICTED;
  return slp_admin_worker_silent(w, wall_ms) ? SLP_OWNER_SILENT : SLP_OWNER_ALIVE;
}
