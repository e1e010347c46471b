/* fleet_wide.c - every worker's row in one query: for the leader's watch, for those who may lead next, and
 * for wills. */
#include "core/fleet_inside.h"

static void see_rows(slp_fleet *f, const slp_store_list *list) {
  for (size_t i = 0; i < list->out.n; i++) {
    slp_fact fact;
    f->schema->read(f->schema, &list->out.rows[i], &fact);
    slp_peer *known = fact.kind == SLP_FACT_BAD ? slp_peer_get(f, fact.u.worker.id) : NULL;
    if (known) slp_peer_saw_bad(known, &fact);
    if (fact.kind != SLP_FACT_WORKER) continue;
    slp_peer *p = slp_peer_make(f, fact.u.worker.id);
    if (!p) continue;
    slp_peer_saw(p, &fact.u.worker, list->consistent, &list->rq);
    p->in_list = 1;
  }
}

static void wide_done(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_fleet, wide);
  slp_peer *p;
  f->wide_busy = 0;
  f->wide_ok = (uint8_t)slp_read_came(f, SLP_READ_WORKERS, rq);
  for (size_t at = 0; (p = slp_map_each(&f->peers, &at));) p->in_list = 0;
  if (f->wide_ok) see_rows(f, &f->wide);
  for (size_t at = 0; (p = slp_map_each(&f->peers, &at));) {
    if (!f->wide_ok)
      slp_peer_unread(p);
    else if (!p->in_list && !p->strange)
      slp_peer_saw(p, NULL, f->wide.consistent, rq);
  }
  slp_store_rows_free(&f->wide.out);
  if (f->wide_done) f->wide_done(f);
}

int slp_wide_read(slp_fleet *f, int exact, void (*done)(slp_fleet *f)) {
  if (f->wide_busy) return 0;
  slp_buf_clear(&f->wide_text);
  if (slp_fleet_key(f, SLP_W2_BEAT, (slp_str){"", 0}, &f->wide_text, &f->wide_key)) return 0;
  f->wide_busy = 1;
  f->wide_done = done;
  f->stats.reads++;
  memset(&f->wide.rq, 0, sizeof f->wide.rq);
  f->wide.rq.on_done = wide_done;
  f->wide.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->wide.hash = f->wide_key.hash;
  f->wide.prefix = f->wide_key.range;
  f->wide.consistent = (uint8_t)exact;
  f->store->ops->list(f->store, &f->wide);
  return 1;
}
