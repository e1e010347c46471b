/* owner.c - decides whether the owner of a lease lives, as far as the rows show. */
#include "admin/command_inside.h"
#include "lease/lease_types.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

slp_owner_life slp_admin_owner_life(const slp_admin *a, slp_str owner) {
  slp_str id, incarnation;
  if (!owner.n) return SLP_OWNER_NONE;
  if (slp_admin_has_clients(a)) return slp_admin_client_life(a, owner);
  if (a->schema->strategy || !slp_instance_split(owner, &id, &incarnation)) return SLP_OWNER_UNKNOWN;
  const slp_worker_row *w = slp_snapshot_worker(&a->snapshot, id);
  if (!w) return SLP_OWNER_MISSING;
  if (w->gone.n || !slp_str_eq(w->incarnation, incarnation)) return SLP_OWNER_EVICTED;
  if (!slp_admin_worker_silent(a, w)) return SLP_OWNER_ALIVE;
  const slp_watched *seen = slp_watch_get(a, owner);
  return seen && seen->alive ? SLP_OWNER_ALIVE : SLP_OWNER_SILENT;
}

slp_owner_life slp_admin_lease_life(const slp_admin *a, const slp_lease_row *l) {
  /* Clients (slp_admin_has_clients) do not write the lease of an idle shard, so an old lease of a client
   * proves nothing. */
  const slp_strategy *s = a->schema->strategy;
  int by_time = s && s->past_us && !slp_admin_has_clients(a) && l->owner.n && l->epoch;
  /* The lease has expired, so a worker that waits for it takes it now. One read is enough to know that. */
  if (by_time && s->past_us(l->epoch, a->wall_ms, 0, a->o.lease_ms) == 0) return SLP_OWNER_EVICTED;
  return slp_admin_owner_life(a, l->owner);
}
