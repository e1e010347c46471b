/* worker_rows.c - what the row of one worker says: whose row it is, and whether its time is too old. */
#include "admin/command.h"
#include "admin/command_inside.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <stdio.h>

/* The clocks of two machines may differ by this much, or a heartbeat may be late by this much. EXPLAIN does
 * not allow for it, because it reads the rows a second time instead. */
#define SKEW_MS 30000

const slp_worker_row *slp_admin_worker_of(const slp_snapshot *s, slp_str name) {
  const slp_worker_row *w = slp_snapshot_worker(s, name);
  return w ? w : slp_snapshot_instance(s, name);
}

const slp_worker_row *slp_admin_leader(const slp_admin *a) {
  const slp_worker_row *w = slp_snapshot_instance(&a->snapshot, a->snapshot.leadership.owner);
  return w && !w->gone.n ? w : NULL;
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

slp_owner_life slp_admin_client_life(const slp_admin *a, slp_str owner) {
  const slp_worker_row *w = slp_snapshot_worker(&a->snapshot, owner);
  if (!w) return SLP_OWNER_MISSING;
  return slp_admin_worker_silent(a, w) ? SLP_OWNER_SILENT : SLP_OWNER_ALIVE;
}

const char *slp_admin_instance(slp_admin *a, const slp_worker_row *w) {
  if (!w->incarnation.n) return slp_admin_text(a, w->id);
  size_t n = w->id.n + w->incarnation.n + 2;
  char *p = slp_admin_room(a, n);
  if (p) snprintf(p, n, "%.*s.%.*s", (int)w->id.n, w->id.p, (int)w->incarnation.n, w->incarnation.p);
  return p ? p : "";
}
