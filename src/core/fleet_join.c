/* fleet_join.c - a worker comes to its row: a new boot each time, over nothing or over a tombstone. A row of
 * the same id that still moves belongs to somebody else; one that does not for a whole lease is condemned. */
#include "base/probe.h"
#include "core/fleet_inside.h"

#include <stdio.h>

static const slp_str nothing = {NULL, 0};

void slp_draw_boot(slp_fleet *f) {
  char text[SLP_INSTANCE_MAX + 1];
  int n = snprintf(text, sizeof text, "%.*s.%016llx", (int)f->o.worker.n, f->o.worker.p,
                   (unsigned long long)slp_random(f->h));
  slp_instance_set(&f->me, (slp_str){text, (size_t)n});
  f->boot = (slp_str){f->me.p + f->me.n - SLP_BOOT_N, SLP_BOOT_N};
}

static void in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->join_timer, slp_after_us(slp_fleet_now(f), us));
}

static void registered(slp_op *op) {
  slp_fleet *f = op->f;
  slp_peer *p = slp_peer_get(f, f->o.worker);
  if (p) slp_peer_saw_op(p, op);
  if (op->end == SLP_OP_DONE)
    slp_worker_runs(f, op->sent_us);
  else
    slp_join(f); /* somebody was faster, or this boot was condemned before it was heard */
}

static void send_registration(slp_fleet *f, const slp_peer *p) {
  slp_intent *i = &f->join_op.i;
  slp_fleet_intent(f, i, SLP_W1_REGISTER);
  i->id = f->o.worker;
  i->boot = f->boot;
  i->lease_ms = f->o.lease_ms;
  i->weight = f->o.weight;
  i->host = f->o.machine;
  i->over_tombstone = p->gone && !p->missing;
  i->boot_before = (slp_str){p->boot, p->boot_n};
  slp_op_send(&f->join_op, registered);
}

/* A row of this id that is not condemned. */
static void meet(slp_fleet *f, slp_peer *p) {
  uint64_t now = slp_now_refresh_us(f->h);
  uint64_t lease_us = slp_max_u64(slp_fleet_lease_us(f), (uint64_t)p->lease_ms * 1000);
  if (slp_peer_may_condemn(f, p, 0)) {
    SLP_PROBE("join: my id was a dead one's");
    slp_peer_condemn(f, p);
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
  slp_peer *p = slp_peer_make(f, f->o.worker);
  slp_fact fact = {.kind = SLP_FACT_OTHER};
  if (!slp_read_came(f, SLP_READ_MINE, rq) || !p) {
    if (p) slp_peer_unread(p);
    in(f, 100000 + slp_random_below(f->h, 300000));
    return;
  }
  if (f->join_get.out.n) f->schema->read(f->schema, &f->join_get.out.rows[0], &fact);
  if (fact.kind == SLP_FACT_BAD) {
    f->state = SLP_WORKER_OUT;
    slp_fleet_tell(f, SLP_FLEET_FAILED, nothing, 0, "the row of worker \"%.*s\" can't be used: %s",
                   (int)f->o.worker.n, f->o.worker.p, fact.why);
    return;
  }
  slp_peer_saw(p, f->join_get.out.n ? &fact.u.worker : NULL, 1, rq);
  if (p->missing || p->gone)
    send_registration(f, p);
  else
    meet(f, p);
}

static void read_row(slp_fleet *f) {
  slp_buf_clear(&f->join_text);
  if (slp_fleet_key(f, SLP_W1_REGISTER, f->o.worker, &f->join_text, &f->join_key)) {
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
  slp_draw_boot(f);
  read_row(f);
}

/* The timer's: evicted a while ago, or met a row of this id. */
void slp_join_again(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, join_timer);
  if (f->state == SLP_WORKER_LEAVING) {
    slp_leave_step(f);
  } else if (f->state == SLP_WORKER_JOINING) {
    if (!f->boot.n)
      slp_join(f);
    else
      read_row(f);
  }
}
