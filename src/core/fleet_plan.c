/* fleet_plan.c - what the leader wants this worker to read, from its row of the plan. A hint: a lease moves
 * only by its own row. */
#include "core/fleet_inside.h"

#include "core/shard_set.h"

static void plan_read(slp_store_req *rq);

static void again(slp_fleet *f) {
  f->plan_again = 0;
  slp_plan_read(f);
}

static void plan_one(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_make(f, shard);
  if (l)
    l->planned = 2;
  else if (shard.n <= SLP_SHARD_ID_MAX) /* no memory; else it is the name of nothing */
    f->plan_short = 1;
}

/* 0, or the set can't be understood. */
static int plan_set(slp_fleet *f, slp_str set) {
  slp_shard_set_reader r;
  slp_str id;
  int more;
  slp_shard_set_begin(&r, set);
  while ((more = slp_shard_set_next(&r, &id)) == 1) plan_one(f, id);
  return more;
}

/* The leases that are in the plan were marked 2: they are in now; those still at 1 are not any more. */
static void settle(slp_fleet *f, int keep) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) {
    int is = l->planned == 2 || (keep && l->planned);
    if (is != (l->planned == 1)) slp_lease_touch(l);
    l->planned = (uint8_t)is;
  }
}

/* A newer plan knows better: they may have been set back. */
static void doubt_ends(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->planned && l->ended && l->state == SLP_IDLE) slp_lease_look(l, slp_fleet_now(f));
}

static void take_plan(slp_fleet *f, const slp_plan_fact *plan) {
  for (size_t i = 0; i < plan->plus_n; i++) plan_one(f, plan->plus[i]);
  int bad = plan_set(f, plan->set);
  if (bad)
    slp_fleet_tell(f, SLP_FLEET_BAD_ROW, (slp_str){NULL, 0}, 0,
                   "the plan for %.*s: its set of shards is damaged", (int)plan->worker.n, plan->worker.p);
  settle(f, bad);
  if (plan->version != f->plan_v) doubt_ends(f);
  f->plan_v = plan->version;
  f->fleet_leases = plan->leases;
}

static void plan_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, plan_get);
  slp_fact fact = {.kind = SLP_FACT_OTHER};
  f->plan_reading = 0;
  if (!slp_read_came(f, SLP_READ_PLAN, rq)) {
    slp_look_soon(f, slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20));
    f->plan_again = 1;
    return;
  }
  if (f->plan_get.out.n) f->schema->read(f->schema, &f->plan_get.out.rows[0], &fact);
  if (fact.kind == SLP_FACT_PLAN) {
    take_plan(f, &fact.u.plan);
  } else if (fact.kind == SLP_FACT_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &fact);
  } else {
    settle(f, 0);
    f->plan_v = 0;
  }
  f->plan_known = 1;
  if (f->plan_again) {
    again(f);
  } else if (f->plan_short) {
    f->plan_again = 1;
    slp_look_soon(f, slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20));
  }
}

void slp_plan_read(slp_fleet *f) {
  if (f->state != SLP_WORKER_RUNS && f->state != SLP_WORKER_LEAVING) return;
  if (f->plan_reading) {
    f->plan_again = 1;
    return;
  }
  f->plan_again = 0;
  slp_buf_clear(&f->plan_text);
  if (slp_fleet_key(f, SLP_A1_PLAN, f->o.worker, &f->plan_text, &f->plan_key)) {
    f->plan_again = 1;
    slp_look_soon(f, slp_fleet_now(f) + 200000);
    return;
  }
  f->stats.reads++;
  f->plan_reading = 1;
  f->plan_short = 0;
  memset(&f->plan_get.rq, 0, sizeof f->plan_get.rq);
  f->plan_get.rq.on_done = plan_read;
  f->plan_get.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->plan_get.keys = &f->plan_key;
  f->plan_get.keys_n = 1;
  f->plan_get.consistent = 1;
  f->store->ops->get(f->store, &f->plan_get);
}
