/* desk_leases.c - what the table says, for programs: one block of memory with all of it. */
#include "admin/admin_inside.h"

#include <stdio.h>

static const char *text(slp_admin *d, slp_str s) {
  if (!s.n) return "";
  const char *p = slp_admin_keep(d, s).p;
  return p ? p : "";
}

static const char *instance(slp_admin *d, const slp_worker_row *w) {
  char *p = slp_admin_room(d, w->id.n + w->incarnation.n + 2);
  if (p)
    snprintf(p, w->id.n + w->incarnation.n + 2, "%.*s.%.*s", (int)w->id.n, w->id.p, (int)w->incarnation.n,
             w->incarnation.p);
  return p ? p : "";
}

static const char *bad_row(slp_admin *d, const slp_bad_row *b) {
  slp_str key = b->key.range.n ? b->key.range : b->key.hash;
  size_t n = key.n + strlen(b->why) + 3;
  char *p = slp_admin_room(d, n);
  if (p) snprintf(p, n, "%.*s: %s", (int)key.n, key.p ? key.p : "", b->why);
  return p ? p : "";
}

/* One look has no more than this: who is not condemned may have died since, and clocks may differ. */
static sloop_lease_state_t state_of(const slp_admin *d, const slp_lease_row *l) {
  switch (slp_admin_owner_life(d->schema, &d->snapshot, l->owner, d->wall_ms)) {
    case SLP_OWNER_NONE: return SLOOP_LEASE_FREE;
    case SLP_OWNER_SILENT:
    case SLP_OWNER_EVICTED:
    case SLP_OWNER_MISSING: return SLOOP_LEASE_OWNER_DEAD;
    case SLP_OWNER_ALIVE:
    case SLP_OWNER_UNKNOWN: break;
  }
  return SLOOP_LEASE_OWNED;
}

static void fill_leases(slp_admin *d, sloop_lease_t *to) {
  for (size_t i = 0; i < d->snapshot.leases_n; i++) {
    const slp_lease_row *l = &d->snapshot.leases[i];
    char position[200];
    size_t n = slp_admin_position_text(&l->position, position);
    to[i] = (sloop_lease_t){.shard = text(d, l->shard),
                            .owner = text(d, l->owner),
                            .claim = text(d, l->claim),
                            .position = text(d, (slp_str){position, n}),
                            .parents = {text(d, l->parents[0]), text(d, l->parents[1])},
                            .state = state_of(d, l),
                            .epoch = l->epoch,
                            .parked = l->parked,
                            .written_at_ms = l->wall_ms,
                            .behind_ms = l->behind_ms};
  }
}

static void fill_workers(slp_admin *d, sloop_worker_t *to) {
  for (size_t i = 0; i < d->snapshot.workers_n; i++) {
    const slp_worker_row *w = &d->snapshot.workers[i];
    to[i] = (sloop_worker_t){.worker = instance(d, w),
                             .host = text(d, w->host),
                             .counter = w->counter,
                             .lease_ms = w->lease_ms,
                             .held = w->held,
                             .weight = w->weight,
                             .leads = slp_admin_is_instance(w, d->snapshot.leadership.owner),
                             .leaving = w->leaving,
                             .dead = w->gone.n > 0,
                             .written_at_ms = w->wall_ms,
                             .behind_ms = w->behind_ms,
                             .rate_bytes = w->rate_bytes};
  }
}

/* Where only leases prove life, a worker is whoever a lease names. */
static size_t owners(const slp_admin *d, sloop_worker_t *to, const sloop_lease_t *leases, size_t n) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    if (!leases[i].owner[0]) continue;
    while (k < found && strcmp(to[k].worker, leases[i].owner) != 0) k++;
    if (k == found)
      to[found++] = (sloop_worker_t){.worker = leases[i].owner,
                                     .host = "",
                                     .lease_ms = d->o.lease_ms,
                                     .weight = 1,
                                     .written_at_ms = -1,
                                     .behind_ms = -1,
                                     .rate_bytes = -1};
    to[k].held++;
  }
  return found;
}

void slp_admin_leases(slp_admin *d) {
  const slp_snapshot *s = &d->snapshot;
  int by_rows = d->schema->liveness == SLP_BY_WORKER;
  size_t workers_max = by_rows ? s->workers_n : s->leases_n;
  sloop_leases_t *a = slp_admin_room(d, sizeof *a);
  sloop_lease_t *leases = slp_admin_room(d, (s->leases_n + 1) * sizeof *leases);
  sloop_worker_t *workers = slp_admin_room(d, (workers_max + 1) * sizeof *workers);
  const char **bad = slp_admin_room(d, (s->bad_n + 1) * sizeof *bad);
  if (!a || !leases || !workers || !bad) {
    slp_admin_no_memory(d);
    return;
  }
  fill_leases(d, leases);
  if (by_rows) fill_workers(d, workers);
  for (size_t i = 0; i < s->bad_n; i++) bad[i] = bad_row(d, &s->bad[i]);
  size_t workers_n = by_rows ? s->workers_n : owners(d, workers, leases, s->leases_n);
  *a = (sloop_leases_t){leases, s->leases_n, workers, workers_n, bad, s->bad_n};
  d->answer = a;
  slp_admin_finish(d);
}
