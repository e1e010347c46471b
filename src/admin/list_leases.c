/* list_leases.c - makes what the tasks LEASES and LAG return: all leases and workers, from all rows of the
 * table. */
#include "admin/command_inside.h"
#include "lease/snapshot.h"

#include <sloop.h>
#include <sloop_admin.h>
#include <stdio.h>
#include <stdlib.h>

static const char *bad_row(slp_admin *a, const slp_bad_row *b) {
  slp_str key = b->key.range.n ? b->key.range : b->key.hash;
  size_t n = key.n + strlen(b->why) + 3;
  char *p = slp_admin_room(a, n);
  if (p) snprintf(p, n, "%.*s: %s", (int)key.n, key.p ? key.p : "", b->why);
  return p ? p : "";
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const sloop_worker_t *)a)->worker, ((const sloop_worker_t *)b)->worker);
}

/* Lists each worker that is known only from leases. Ended leases are ignored, because such a lease still
 * names its last owner, which may have left long ago. A worker counts as dead if all its leases have
 * expired. */
static size_t list_lease_owners(const slp_admin *a, sloop_worker_t *to, const sloop_lease_t *leases,
                                size_t n) {
  size_t named = 0, found = 0;
  for (size_t i = 0; i < n; i++) {
    if (!leases[i].owner[0] || leases[i].position.kind == SLOOP_AT_END) continue;
    to[named++] = (sloop_worker_t){.worker = leases[i].owner,
                                   .host = "",
                                   .lease_ms = a->o.lease_ms,
                                   .held = 1,
                                   .weight = 1,
                                   .dead = leases[i].state == SLOOP_LEASE_OWNER_DEAD,
                                   .written_at_ms = -1,
                                   .behind_ms = -1,
                                   .rate_bytes = -1,
                                   .evicted_by = ""};
  }
  if (named) qsort(to, named, sizeof *to, by_name);
  for (size_t i = 0; i < named; i++) {
    if (found && by_name(&to[found - 1], &to[i]) == 0) {
      to[found - 1].held++;
      to[found - 1].dead &= to[i].dead;
    } else {
      to[found++] = to[i];
    }
  }
  return found;
}

static void add_lag(sloop_lease_t *to, const slp_lag_entry *e) {
  to->lag = e->lag;
  to->read_behind_ms = e->behind_ms;
  to->read_at_ms = e->at_ms;
  to->lag_error = e->error;
}

/* Adds the lags that were measured to the leases. Both lists are sorted by shard. Returns how many of the
 * measured shards have a lease. */
static size_t add_lags(const slp_admin *a, sloop_lease_t *leases, size_t n) {
  size_t at = 0, i = 0;
  for (; at < a->lag.n && a->lag.all[at].leased; at++) {
    const slp_lag_entry *e = &a->lag.all[at];
    while (i < n && !slp_str_is(e->shard, leases[i].shard)) i++;
    if (i < n) add_lag(&leases[i], e);
  }
  return at;
}

static sloop_lease_t no_lease(slp_admin *a, const slp_lag_entry *e) {
  const slp_admin_shard *s = slp_admin_listed(a, e->shard);
  sloop_lease_t l = {.shard = slp_admin_text(a, e->shard),
                     .owner = "",
                     .claim = "",
                     .position = slp_admin_position(a, e->shard, &e->position),
                     .parents = {slp_admin_text(a, s ? s->parents[0] : (slp_str){NULL, 0}),
                                 slp_admin_text(a, s ? s->parents[1] : (slp_str){NULL, 0})},
                     .state = SLOOP_LEASE_FREE,
                     .written_at_ms = -1,
                     .behind_ms = -1,
                     .avoid = "",
                     .refused_at_ms = -1,
                     .refused_until_ms = -1};
  add_lag(&l, e);
  return l;
}

static void add_unleased(slp_admin *a, sloop_leases_t *all, size_t from) {
  size_t n = a->lag.n - from;
  sloop_lease_t *rows = slp_admin_room(a, (n + 1) * sizeof *rows);
  const sloop_lease_t **at = slp_admin_room(a, (n + 1) * sizeof(const sloop_lease_t *));
  if (!rows || !at) return;
  for (size_t i = 0; i < n; i++) {
    rows[i] = no_lease(a, &a->lag.all[from + i]);
    at[i] = &rows[i];
  }
  all->unleased = at;
  all->unleased_n = n;
}

void slp_admin_leases(slp_admin *a) {
  const slp_snapshot *s = &a->snapshot;
  int by_rows = !a->schema->strategy || slp_admin_has_clients(a);
  size_t workers_n = by_rows ? s->workers_n : s->leases_n;
  sloop_leases_t *all = slp_admin_room(a, sizeof *all);
  sloop_lease_t *leases = slp_admin_room(a, (s->leases_n + 1) * sizeof *leases);
  sloop_worker_t *workers = slp_admin_room(a, (workers_n + 1) * sizeof *workers);
  const sloop_lease_t **lease_at = slp_admin_room(a, (s->leases_n + 1) * sizeof(const sloop_lease_t *));
  const sloop_worker_t **worker_at = slp_admin_room(a, (workers_n + 1) * sizeof(const sloop_worker_t *));
  const char **bad = slp_admin_room(a, (s->bad_n + 1) * sizeof *bad);
  if (!all || !leases || !workers || !lease_at || !worker_at || !bad) {
    slp_admin_no_memory(a);
    return;
  }
  for (size_t i = 0; i < s->leases_n; i++) leases[i] = slp_admin_lease(a, &s->leases[i]);
  for (size_t i = 0; i < s->workers_n && by_rows; i++) workers[i] = slp_admin_worker(a, &s->workers[i]);
  for (size_t i = 0; i < s->bad_n; i++) bad[i] = bad_row(a, &s->bad[i]);
  if (!by_rows) workers_n = list_lease_owners(a, workers, leases, s->leases_n);
  for (size_t i = 0; i < s->leases_n; i++) lease_at[i] = &leases[i];
  for (size_t i = 0; i < workers_n; i++) worker_at[i] = &workers[i];
  *all = (sloop_leases_t){.leases = lease_at,
                          .leases_n = s->leases_n,
                          .workers = worker_at,
                          .workers_n = workers_n,
                          .bad_rows = bad,
                          .bad_rows_n = s->bad_n,
                          .passed_over = a->passed.n ? a->passed.p : "",
                          .unlisted = a->unlisted ? a->unlisted : "",
                          .draining = s->leadership.hold.on,
                          .drained_by = slp_admin_text(a, s->leadership.hold_by),
                          .drained_at_ms = s->leadership.hold.on ? s->leadership.hold_ms : -1};
  add_unleased(a, all, add_lags(a, leases, s->leases_n));
  a->answer.leases = all;
  slp_admin_finish(a);
}
