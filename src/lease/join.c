/* fleet_join.c - a worker comes to its row: a new boot each time, over nothing or over a tombstone. A row of
 * the same id that still moves belongs to somebody else; one that does not for a whole lease is condemned. */
#include "base/probe.h"
#include "lease/fleet_inside.h"

#include <stdio.h>

static const slp_str nothing = {NULL, 0};

void slp_draw_incarnation(slp_fleet *f) {
  char text[SLP_INSTANCE_MAX + 1];
  int n = snprintf(text, sizeof text, "%.*s.%016llx", (int)f->o.worker.n, f->o.worker.p,
                   (unsigned long long)slp_random(f->h));
  slp_instance_set(&f->me, (slp_str){text, (size_t)n});
  f->incarnation = (slp_str){f->me.p + f->me.n - SLP_INCARNATION_N, SLP_INCARNATION_N};
}

static void in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->join_timer, slp_after_us(slp_fleet_now(f), us));
}

static void registered(slp_write *op) {
  slp_fleet *f = op->f;
  slp_member *p = slp_member_get(f, f->o.worker);
  if (p) slp_member_saw_write(p, op);
  if (op->end == SLP_OUTCOME_DONE)
    slp_worker_runs(f, op->sent_us);
  else
    slp_join(f); /* somebody was faster, or this boot was condemned before it was heard */
}

static void send_registration(slp_fleet *f, const slp_member *p) {
  slp_operation *i = &f->join_write.i;
  slp_fleet_operation(f, i, SLP_OPERATION_REGISTER);
  i->id = f->o.worker;
  i->incarnation = f->incarnation;
  i->lease_ms = f->o.lease_ms;
  i->weight = f->o.weight;
  i->host = f->o.machine;
  i->over_tombstone = p->gone && !p->missing;
  i->incarnation_before = (slp_str){p->incarnation, p->incarnation_n};
  slp_write_send(&f->join_write, registered);
}

/* A row of this id that is not condemned. */
static void meet(slp_fleet *f, slp_member *p) {
  uint64_t now = slp_now_refresh_us(f->h);
  uint64_t lease_us = slp_max_u64(slp_fleet_lease_us(f), (uint64_t)p->lease_ms * 1000);
  if (slp_member_may_evict(f, p, 0)) {
    SLP_PROBE("join: my id was a dead one's");
    slp_member_evict(f, p);
    in(f, 50000);
  } else if (now - f->joined_us > lease_us + lease_us / 2 && p->since_us > f->joined_us + lease_us / 4) {
    SLP_PROBE("join: my id is somebody's who lives");
    f->state = SLP_WORKER_OUT;
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "another worker is alive under the id \"%.*s\"",
                   (int)f->o.worker.n, f->o.worker.p);
  } else {
    uint64_t quiet = p->since_us + lease_us;
    in(f, quiet > now ? slp_min_u64(lease_us / 5, quiet - now + 1) : lease_us / 5);
  }
}

static void row_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, join_get);
  slp_member *p = slp_member_make(f, f->o.worker);
  slp_parsed_row parsed = {.kind = SLP_ROW_OTHER};
  if (!slp_read_came(f, SLP_READ_MINE, rq) || !p) {
    if (p) slp_member_unread(p);
    in(f, 100000 + slp_random_below(f->h, 300000));
    return;
  }
  if (f->join_get.out.n) f->schema->read(f->schema, &f->join_get.out.rows[0], &parsed);
  if (parsed.kind == SLP_ROW_BAD) {
    f->state = SLP_WORKER_OUT;
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "the row of worker \"%.*s\" can't be used: %s",
                   (int)f->o.worker.n, f->o.worker.p, parsed.why);
    return;
  }
  slp_member_saw(p, f->join_get.out.n ? &parsed.u.worker : NULL, 1, rq);
  if (p->missing || p->gone)
    send_registration(f, p);
  else
    meet(f, p);
}

static void read_row(slp_fleet *f) {
  slp_buf_clear(&f->join_text);
  if (slp_fleet_key(f, SLP_OPERATION_REGISTER, f->o.worker, &f->join_text, &f->join_key)) {
    in(f, 100000);
    return;
  }
  f->stats.reads++;
  memset(&f->join_get.rq, 0, sizeof f->join_get.rq);
  f->join_get.rq.on_done = row_read;
  f->join_get.keys = &f->join_key;
  f->join_get.keys_n = 1;
  f->join_get.consistent = 1;
  f->store->ops->get(f->store, &f->join_get);
}

void slp_join(slp_fleet *f) {
  f->joined_us = slp_fleet_now(f);
  slp_draw_incarnation(f);
  read_row(f);
}

/* The timer's: evicted a while ago, or met a row of this id. */
void slp_join_again(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, join_timer);
  if (f->state == SLP_WORKER_LEAVING) {
    slp_leave_step(f);
  } else if (f->state == SLP_WORKER_JOINING) {
    if (!f->incarnation.n)
      slp_join(f);
    else
      read_row(f);
  }
}
