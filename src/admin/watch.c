/* desk_watch.c - is an owner dead? The desk finds out as a worker would: what proves life is read several
 * times, and when it has been the same for a whole lease of the desk's own clock, its owner is dead. What
 * workers stamp by their clocks is not asked. A read that fails ends the task, so an outage of the table
 * kills nobody. */
#include "admin/admin_inside.h"

#define READS_MIN 3u

static int by_rows(const slp_admin *d) { return d->schema->liveness == SLP_BY_WORKER; }

/* What is to be seen of it in the rows as read last. */
static void proof_of(const slp_admin *d, slp_watched *w, uint64_t *ret_counter, uint8_t *ret_missing) {
  slp_str id, incarnation;
  *ret_counter = 0;
  *ret_missing = 0;
  if (!by_rows(d)) {
    const slp_lease_row *l = slp_snapshot_lease_of(&d->snapshot, w->name);
    *ret_missing = l == NULL;
    if (l) *ret_counter = l->epoch;
    return;
  }
  const slp_worker_row *row =
      slp_instance_split(w->name, &id, &incarnation) ? slp_admin_worker_of(&d->snapshot, id) : NULL;
  *ret_missing = row == NULL;
  if (!row) return;
  w->evicted = row->gone.n || !slp_str_eq(row->incarnation, incarnation);
  *ret_counter = row->counter;
  w->lease_us = slp_max_u64(w->lease_us, (uint64_t)row->lease_ms * 1000);
}

slp_watched *slp_admin_watch(slp_admin *d, const slp_lease_row *l) {
  slp_str name = by_rows(d) ? l->owner : l->shard;
  slp_watched *w = slp_map_get(&d->watched, name);
  if (w) return w;
  w = slp_admin_room(d, sizeof *w);
  if (!w) return NULL;
  w->name = slp_admin_keep(d, name);
  if (!w->name.p || slp_map_put(&d->watched, w->name, w)) {
    d->starved = 1;
    return NULL;
  }
  w->lease_us = (uint64_t)d->o.lease_ms * 1000;
  proof_of(d, w, &w->counter, &w->missing);
  w->since_us = d->rows.rq.done_us;
  w->reads = 1;
  return w;
}

void slp_admin_watch_saw(slp_admin *d) {
  const slp_store_req *rq = &d->rows.rq;
  uint8_t troubled = d->troubled;
  d->troubled = 0;
  size_t at = 0;
  for (slp_watched *w; (w = slp_map_each(&d->watched, &at));) {
    uint64_t counter;
    uint8_t missing;
    proof_of(d, w, &counter, &missing);
    if ((counter != w->counter || missing != w->missing) && !w->evicted) w->alive = 1;
    w->counter = counter;
    w->missing = missing;
    w->reads++;
    if (troubled) { /* who can't be heard while the table is ill gets a whole lease when it is well again */
      w->since_us = rq->done_us;
      w->reads = 1;
    }
    /* What a write's condition proves again counts up to the answer, a row that is missing up to the
     * question. */
    uint64_t seen_us = missing ? rq->sent_us : rq->done_us;
    uint64_t quiet_us = seen_us > w->since_us ? seen_us - w->since_us : 0;
    /* Who was seen alive once stays so: another lease of silence is for another day. */
    w->dead = !w->alive && w->reads >= READS_MIN && quiet_us >= w->lease_us;
  }
}

uint64_t slp_admin_watch_us(const slp_admin *d, const slp_watched *w) {
  uint64_t now = slp_now_us(d->o.host), end = w->since_us + w->lease_us + 1;
  uint64_t left = end > now ? end - now : 1;
  return slp_min_u64(left, w->lease_us / 4 + 1);
}
