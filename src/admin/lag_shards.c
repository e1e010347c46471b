/* lag_shards.c - chooses the shards that LAG reads at their positions: those with a lease whose owner does
 * not report how far it is behind, and those without a lease. */
#include "admin/command_inside.h"
#include "admin/positions.h"
#include "core/position.h"
#include "lease/schema.h"
#include "lease/snapshot.h"

#include <sloop_admin.h>

/* Returns 1 if the row of the lease's owner says how far the owner is behind. */
static int is_told(const slp_admin *a, const slp_lease_row *l) {
  const slp_worker_row *w = slp_admin_worker_of(&a->snapshot, l->owner);
  return w && !w->gone.n && w->behind_ms >= 0 && w->wall_ms >= 0;
}

/* Returns 1 if the owner of the lease may live: it has no row, its row has no time, or that time is less than
 * a lease ago by this machine's clock. */
static int owner_may_live(slp_admin *a, const slp_lease_row *l) {
  const slp_worker_row *w = slp_admin_worker_of(&a->snapshot, l->owner);
  if (l->parked || slp_admin_lease_state(a, l) != SLOOP_LEASE_OWNED) return 0;
  return !w || !w->lease_ms || w->wall_ms < 0 || a->wall_ms - w->wall_ms <= (int64_t)w->lease_ms;
}

static int is_to_be_read(slp_admin *a, const slp_lease_row *l) {
  return l->position.kind != SLP_POSITION_END && !(owner_may_live(a, l) && is_told(a, l));
}

/* Makes the entry of a shard. */
static slp_lag_entry entry_of(slp_str shard, const slp_position *position, int leased) {
  int none = position->kind == SLP_POSITION_NONE;
  return (slp_lag_entry){.shard = shard,
                         .position = *position,
                         .lag = none ? SLOOP_LAG_NO_POSITION : SLOOP_LAG_OUT_OF_TIME,
                         .behind_ms = -1,
                         .at_ms = -1,
                         .error = "",
                         .leased = leased != 0};
}

/* Returns 1 if an ancestor of the shard has a lease, so that the shard will be read from its beginning. For
 * other shards without a lease, only the application's workers know where reading will begin. */
static int is_below_lease(const slp_admin *a, const slp_admin_shard *s) {
  for (size_t depth = 0; s && depth <= a->shards_n; depth++) {
    const slp_admin_shard *up = NULL;
    for (int k = 0; k < 2; k++) {
      if (!s->parents[k].n) continue;
      if (slp_snapshot_lease_of(&a->snapshot, s->parents[k])) return 1;
      if (!up) up = slp_admin_listed(a, s->parents[k]);
    }
    s = up;
  }
  return 0;
}

static void add_unleased(slp_admin *a) {
  slp_placed_of_rows(a);
  slp_placed_fill(a);
  for (size_t i = 0; i < a->placed.n && !a->starved; i++) {
    const slp_placed *p = &a->placed.all[i];
    if (!p->filled || p->position.kind == SLP_POSITION_END) continue;
    slp_position from = p->position;
    if (!is_below_lease(a, slp_admin_listed(a, p->shard))) from.kind = SLP_POSITION_NONE;
    a->lag.all[a->lag.n++] = entry_of(p->shard, &from, 0);
  }
}

void slp_lags_choose(slp_admin *a) {
  slp_lag_list *l = &a->lag;
  l->all = slp_admin_room(a, (a->snapshot.leases_n + a->shards_n + 1) * sizeof *l->all);
  if (!l->all) return;
  for (size_t i = 0; i < a->snapshot.leases_n; i++) {
    const slp_lease_row *row = &a->snapshot.leases[i];
    if (!is_to_be_read(a, row)) continue;
    l->all[l->n] = entry_of(row->shard, &row->position, 1);
    /* LATEST does not come from the row here, but from the operator's options, so the shard has no
     * position */
    if (row->begin_untold && row->position.kind == SLP_POSITION_LATEST)
      l->all[l->n].lag = SLOOP_LAG_NO_POSITION;
    l->all[l->n++].may_live = owner_may_live(a, row) != 0;
  }
  if (!a->unlisted) add_unleased(a);
}
