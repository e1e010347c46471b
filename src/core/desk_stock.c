/* desk_stock.c - the rows of a fleet sorted out for one look, and what one look can say about who lives. */
#include "core/desk_inside.h"

#include "core/fleet_inside.h"

#include <stdlib.h>

#define SKEW_MS 30000 /* clocks of different machines may be so far apart, or a heartbeat so late */

static int by_shard(const void *a, const void *b) {
  return slp_str_cmp(((const slp_lease_fact *)a)->shard, ((const slp_lease_fact *)b)->shard);
}
static int by_id(const void *a, const void *b) {
  return slp_str_cmp(((const slp_worker_fact *)a)->id, ((const slp_worker_fact *)b)->id);
}

static void sort_row(slp_schema *schema, slp_desk_stock *s, const slp_row *row) {
  slp_fact fact;
  schema->read(schema, row, &fact);
  switch (fact.kind) {
    case SLP_FACT_LEASE: s->leases[s->leases_n++] = fact.u.lease; return;
    case SLP_FACT_WORKER: s->workers[s->workers_n++] = fact.u.worker; return;
    case SLP_FACT_PLAN: s->plans[s->plans_n++] = fact.u.plan; return;
    case SLP_FACT_BAD: s->bad[s->bad_n++] = (slp_desk_bad){fact.key, fact.why}; return;
    case SLP_FACT_LEAD:
      s->lead = fact.u.lead;
      s->lead_there = 1;
      return;
    case SLP_FACT_OTHER: return;
  }
}

int slp_desk_stock_read(slp_schema *schema, slp_store_rows *rows, slp_desk_stock *ret) {
  size_t n = rows->n + 1;
  memset(ret, 0, sizeof *ret);
  ret->leases = slp_store_rows_get(rows, n * sizeof *ret->leases);
  ret->workers = slp_store_rows_get(rows, n * sizeof *ret->workers);
  ret->plans = slp_store_rows_get(rows, n * sizeof *ret->plans);
  ret->bad = slp_store_rows_get(rows, n * sizeof *ret->bad);
  if (!ret->leases || !ret->workers || !ret->plans || !ret->bad) return SLP_ENOMEM;
  for (size_t i = 0; i < rows->n; i++) sort_row(schema, ret, &rows->rows[i]);
  if (ret->leases_n) qsort(ret->leases, ret->leases_n, sizeof *ret->leases, by_shard);
  if (ret->workers_n) qsort(ret->workers, ret->workers_n, sizeof *ret->workers, by_id);
  return 0;
}

const slp_lease_fact *slp_desk_lease_of(const slp_desk_stock *s, slp_str shard) {
  slp_lease_fact key = {.shard = shard};
  return s->leases_n && shard.n ? bsearch(&key, s->leases, s->leases_n, sizeof key, by_shard) : NULL;
}

static const slp_worker_fact *by_its_id(const slp_desk_stock *s, slp_str id) {
  slp_worker_fact key = {.id = id};
  return s->workers_n && id.n ? bsearch(&key, s->workers, s->workers_n, sizeof key, by_id) : NULL;
}

const slp_worker_fact *slp_desk_worker_of(const slp_desk_stock *s, slp_str name) {
  slp_str id, boot;
  const slp_worker_fact *w = by_its_id(s, name);
  if (w || !slp_instance_split(name, &id, &boot)) return w;
  w = by_its_id(s, id);
  return w && slp_str_eq(w->boot, boot) ? w : NULL;
}

int slp_desk_is_instance(const slp_worker_fact *w, slp_str instance) {
  slp_str id, boot;
  return slp_instance_split(instance, &id, &boot) && slp_str_eq(id, w->id) && slp_str_eq(boot, w->boot);
}

int slp_desk_worker_silent(const slp_worker_fact *w, int64_t wall_ms) {
  return w->wall_ms >= 0 && wall_ms - w->wall_ms > (int64_t)w->lease_ms + SKEW_MS;
}

slp_owner_life slp_desk_owner_life(const slp_schema *schema, const slp_desk_stock *s, slp_str owner,
                                   int64_t wall_ms) {
  slp_str id, boot;
  if (!owner.n) return SLP_OWNER_NONE;
  if (schema->life != SLP_BY_WORKER || !slp_instance_split(owner, &id, &boot)) return SLP_OWNER_UNKNOWN;
  const slp_worker_fact *w = by_its_id(s, id);
  if (!w) return SLP_OWNER_MISSING;
  if (w->gone.n || !slp_str_eq(w->boot, boot)) return SLP_OWNER_CONDEMNED;
  return slp_desk_worker_silent(w, wall_ms) ? SLP_OWNER_SILENT : SLP_OWNER_ALIVE;
}
