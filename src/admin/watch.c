/* watch.c - is an owner dead? It is found out as a worker would: what proves life is read several times, and
 * when it has been the same for a whole lease by our own clock, its owner is dead. The stamps of others'
 * clocks are not looked at. A read that fails begins the watch anew: an outage of the table kills nobody. */
#include "admin/admin_inside.h"

#include "base/map.h"

#define READS_MIN 3u

struct slp_watch {
  slp_map by_name; /* slp_watched, in keep */
};

static int by_rows(const slp_admin *a) { return a->schema->liveness == SLP_BY_WORKER; }

/* Its proof of life, as the rows that were read last have it. */
static void proof_of(const slp_admin *a, slp_watched *w, uint64_t *ret_counter, uint8_t *ret_missing) {
  slp_str id, incarnation;
  *ret_counter = 0;
  *ret_missing = 0;
  if (!by_rows(a)) {
    const slp_lease_row *l = slp_snapshot_lease_of(&a->snapshot, w->name);
    *ret_missing = l == NULL;
    if (l) *ret_counter = l->epoch;
    return;
  }
  const slp_worker_row *row =
      slp_instance_split(w->name, &id, &incarnation) ? slp_snapshot_worker(&a->snapshot, id) : NULL;
  *ret_missing = row == NULL;
  if (!row) return;
  w->evicted = row->gone.n || !slp_str_eq(row->incarnation, incarnation);
  *ret_counter = row->counter;
  w->lease_us = slp_max_u64(w->lease_us, (uint64_t)row->lease_ms * 1000);
}

static slp_map *watched(slp_admin *a) {
  if (!a->watch) {
    a->watch = slp_admin_room(a, sizeof *a->watch);
    if (a->watch) slp_map_init(&a->watch->by_name, a->mem);
  }
  return a->watch ? &a->watch->by_name : NULL;
}

const slp_watched *slp_watch_get(const slp_admin *a, slp_str name) {
  return a->watch ? slp_map_get(&a->watch->by_name, name) : NULL;
}

const slp_watched *slp_watch_each(const slp_admin *a, size_t *at) {
  return a->watch ? slp_map_each(&a->watch->by_name, at) : NULL;
}

slp_watched *slp_watch_add(slp_admin *a, const slp_lease_row *l) {
  slp_str name = by_rows(a) ? l->owner : l->shard;
  slp_map *all = watched(a);
  slp_watched *w = all ? slp_map_get(all, name) : NULL;
  if (w || !all) return w;
  w = slp_admin_room(a, sizeof *w);
  if (!w) return NULL;
  w->name = slp_admin_keep(a, name);
  if (!w->name.p || slp_map_put(all, w->name, w)) {
    a->starved = 1;
    return NULL;
  }
  w->lease_us = (uint64_t)a->o.lease_ms * 1000;
  proof_of(a, w, &w->counter, &w->missing);
  w->since_us = a->rows.rq.done_us;
  w->reads = 1;
  return w;
}

static void saw(const slp_admin *a, slp_watched *w) {
  const slp_store_req *rq = &a->rows.rq;
  uint64_t counter;
  uint8_t missing;
  proof_of(a, w, &counter, &missing);
  if ((counter != w->counter || missing != w->missing) && !w->evicted) w->alive = 1;
  w->counter = counter;
  w->missing = missing;
  w->reads++;
  /* Trouble of the table may have kept its owner from writing as well: it gets a whole lease again. */
  if (a->trouble_us && w->since_us <= a->trouble_us) {
    w->since_us = rq->done_us;
    w->reads = 1;
  }
  /* What a write's condition proves again counts up to the answer, a row that is missing up to the
   * question. */
  uint64_t seen_us = missing ? rq->sent_us : rq->done_us;
  uint64_t quiet_us = seen_us > w->since_us ? seen_us - w->since_us : 0;
  /* Once seen alive, a worker counts as alive for the rest of this command. */
  w->dead = !w->alive && w->reads >= READS_MIN && quiet_us >= w->lease_us;
}

void slp_watch_saw(slp_admin *a) {
  size_t at = 0;
  for (slp_watched *w; a->watch && (w = slp_map_each(&a->watch->by_name, &at));) saw(a, w);
}

uint64_t slp_watch_wait_us(const slp_admin *a, const slp_watched *w) {
  uint64_t now = slp_now_us(a->o.host), end = w->since_us + w->lease_us + 1;
  uint64_t left = end > now ? end - now : 1;
  return slp_min_u64(left, w->lease_us / 4 + 1);
}

void slp_watch_free(slp_admin *a) {
  if (a->watch) slp_map_free(&a->watch->by_name);
  a->watch = NULL;
}
