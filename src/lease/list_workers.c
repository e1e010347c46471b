/* fleet_wide.c - every worker's row in one query: for the leader's watch, for those who may lead next, and
 * for wills. */
#include "lease/fleet_inside.h"

static void see_rows(slp_fleet *f, const slp_store_list *list) {
  for (size_t i = 0; i < list->out.n; i++) {
    slp_parsed_row parsed;
    f->schema->read(f->schema, &list->out.rows[i], &parsed);
    slp_member *known = parsed.kind == SLP_ROW_BAD ? slp_member_get(f, parsed.u.worker.id) : NULL;
    if (known) slp_member_saw_bad(known, &parsed);
    if (parsed.kind != SLP_ROW_WORKER) continue;
    slp_member *p = slp_member_make(f, parsed.u.worker.id);
    if (!p) continue;
    slp_member_saw(p, &parsed.u.worker, list->consistent, &list->rq);
    p->in_list = 1;
  }
}

static void members_done(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_fleet, members_list);
  slp_member *p;
  f->members_busy = 0;
  f->members_ok = (uint8_t)slp_read_came(f, SLP_READ_WORKERS, rq);
  for (size_t at = 0; (p = slp_map_each(&f->members, &at));) p->in_list = 0;
  if (f->members_ok) see_rows(f, &f->members_list);
  for (size_t at = 0; (p = slp_map_each(&f->members, &at));) {
    if (!f->members_ok)
      slp_member_unread(p);
    else if (!p->in_list && !p->strange)
      slp_member_saw(p, NULL, f->members_list.consistent, rq);
  }
  slp_store_rows_free(&f->members_list.out);
  if (f->members_done) f->members_done(f);
}

int slp_workers_list(slp_fleet *f, int exact, void (*done)(slp_fleet *f)) {
  if (f->members_busy) return 0;
  slp_buf_clear(&f->members_text);
  if (slp_fleet_key(f, SLP_OPERATION_HEARTBEAT, (slp_str){"", 0}, &f->members_text, &f->members_key))
    return 0;
  f->members_busy = 1;
  f->members_done = done;
  f->stats.reads++;
  memset(&f->members_list.rq, 0, sizeof f->members_list.rq);
  f->members_list.rq.on_done = members_done;
  f->members_list.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->members_list.hash = f->members_key.hash;
  f->members_list.prefix = f->members_key.range;
  f->members_list.consistent = (uint8_t)exact;
  f->store->ops->list(f->store, &f->members_list);
  return 1;
}
