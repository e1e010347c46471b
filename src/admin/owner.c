/* owner.c - decides whether the owner of a lease lives, as far as the rows show. */
#include "admin/command_inside.h"

/* The clocks of two machines may differ by this much, or a heartbeat may be late by it. EXPLAIN does not add
 * it, because it reads the rows a second time. */
#define SKEW_MS 30000

const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name) {
  const slp_worker_row *w = slp_snapshot_worker(s, name);
  return w ? w : slp_snapshot_instance(s, name);
}

int slp_admin_is_instance(const slp_worker_row *w, slp_str instance) {
  slp_str id, incarnation;
  if (!w->incarnation.n) return slp_str_eq(w->id, instance);
  return slp_instance_split(instance, &id, &incarnation) && slp_str_eq(id, w->id) &&
         slp_str_eq(incarnation, w->incarnation);
}

int slp_admin_worker_silent(const slp_admin *a, const slp_worker_row *w) {
  int64_t skew_ms = a->o.task == SLP_ADMIN_EXPLAIN ? 0 : SKEW_MS;
  return w->wall_ms >= 0 && a->wall_ms - w->wall_ms > (int64_t)w->lease_ms + skew_ms;
}

static slp_owner_life client_life(const slp_admin *a, slp_str owner) {
  const slp_worker_row *w = slp_snapshot_worker(&a->snapshot, owner);
  if (!w) return SLP_OWNER_MISSING;
  return slp_admin_worker_silent(a, w) ? SLP_OWNER_SILENT : SLP_OWNER_ALIVE;
}

slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner) {
  slp_str id, incarnation;
  if (!owner.n) return SLP_OWNER_NONE;
  if (slp_admin_has_clients(a)) return client_life(a, owner);
  if (a->schema->strategy || !slp_instance_split(owner, &id, &incarnation)) return SLP_OWNER_UNKNOWN;
  const slp_worker_row *w = slp_snapshot_worker(&a->snapshot, id);
  if (!w) return SLP_OWNER_MISSING;
  if (w->gone.n || !slp_str_eq(w->incarnation, incarnation)) return SLP_OWNER_EVICTED;
  if (!slp_admin_worker_silent(a, w)) return SLP_OWNER_ALIVE;
  const slp_watched *seen = slp_watch_get(a, owner);
  return seen && seen->alive ? SLP_OWNER_ALIVE : SLP_OWNER_SILENT;
}

slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l) {
  /* A client of kinsumer does not write the lease of an idle shard, so an old lease of a client proves
   * nothing. */
  const slp_strategy *s = a->schema->strategy;
  int by_time = s && s->past_us && !slp_admin_has_clients(a) && l->owner.n && l->epoch;
  /* The time in the lease's row is over, so a worker that waits for the lease takes it now. It need not be
   * read again. */
  if (by_time && s->past_us(l->epoch, a->wall_ms, 0, a->o.lease_ms) == 0) return SLP_OWNER_EVICTED;
  return slp_admin_owner_life(a, l->owner);
}
