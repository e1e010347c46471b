/* fleet_plan.c - what the leader wants this worker to read, from its row of the plan. A hint: a lease moves
 * only by its own row. */
#include "lease/lease.h"

#include "lease/shard_set.h"

static void assignment_read(slp_store_req *rq);

static void again(slp_fleet *f) {
  f->assignment_again = 0;
  slp_assignment_read(f);
}

static void assign_one(slp_fleet *f, slp_str shard) {
  slp_lease *l = slp_lease_make(f, shard);
  if (l)
    slp_lease_assign(l);
  else if (shard.n <= SLP_SHARD_ID_MAX) /* no memory; else it is the name of nothing */
    f->assignment_short = 1;
}

/* 0, or the set can't be understood. */
static int assign_set(slp_fleet *f, slp_str set) {
  slp_shard_set_reader r;
  slp_str id;
  int more;
  slp_shard_set_begin(&r, set);
  while ((more = slp_shard_set_next(&r, &id)) == 1) assign_one(f, id);
  return more;
}

/* keep: the assignment can't be read whole, so what is assigned stays so. */
static void settle(slp_fleet *f, int keep) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_assigned(l, keep);
}

/* A newer assignment knows better: they may have been set back. */
static void doubt_ends(slp_fleet *f) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));) slp_lease_doubt_end(l);
}

static void take_assignment(slp_fleet *f, const slp_assignment_row *plan) {
  for (size_t i = 0; i < plan->plus_n; i++) assign_one(f, plan->plus[i]);
  int bad = assign_set(f, plan->set);
  if (bad)
    slp_fleet_tell(f, SLP_FLEET_BAD_ROW, (slp_str){NULL, 0}, 0,
                   "the plan for %.*s: its set of shards is damaged", (int)plan->worker.n, plan->worker.p);
  settle(f, bad);
  if (plan->version != f->assignment_version) doubt_ends(f);
  f->assignment_version = plan->version;
  f->fleet_leases = plan->leases;
}

static void assignment_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, assignment_get);
  slp_parsed_row row = {.kind = SLP_ROW_OTHER};
  f->assignment_reading = 0;
  if (!slp_read_came(f, SLP_READ_ASSIGNMENT, rq)) {
    slp_poll_soon(f, slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20));
    f->assignment_again = 1;
    return;
  }
  if (f->assignment_get.out.n) f->schema->read(f->schema, &f->assignment_get.out.rows[0], &row);
  if (row.kind == SLP_ROW_ASSIGNMENT) {
    take_assignment(f, &row.u.assignment);
  } else if (row.kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key, row.why);
  } else {
    settle(f, 0);
    f->assignment_version = 0;
  }
  f->assignment_known = 1;
  if (f->assignment_again) {
    again(f);
  } else if (f->assignment_short) {
    f->assignment_again = 1;
    slp_poll_soon(f, slp_fleet_now(f) + slp_fleet_jitter(f, 200000, 20));
  }
}

void slp_assignment_read(slp_fleet *f) {
  if (f->state != SLP_WORKER_RUNS && f->state != SLP_WORKER_LEAVING) return;
  if (f->assignment_reading) {
    f->assignment_again = 1;
    return;
  }
  f->assignment_again = 0;
  slp_buf_clear(&f->assignment_text);
  if (slp_fleet_key(f, SLP_OPERATION_ASSIGN, f->o.worker, &f->assignment_text, &f->assignment_key)) {
    f->assignment_again = 1;
    slp_poll_soon(f, slp_fleet_now(f) + 200000);
    return;
  }
  f->stats.reads++;
  f->assignment_reading = 1;
  f->assignment_short = 0;
  memset(&f->assignment_get.rq, 0, sizeof f->assignment_get.rq);
  f->assignment_get.rq.on_done = assignment_read;
  f->assignment_get.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 3, 20);
  f->assignment_get.keys = &f->assignment_key;
  f->assignment_get.keys_n = 1;
  f->assignment_get.consistent = 1;
  f->store->ops->get(f->store, &f->assignment_get);
}
