/* fleet_bell.c - who leads, and what a follower polls: one small row, the leader's own, which tells its life,
 * and by a counter that something has changed. When the leader is gone, whoever is first leads. */
#include "core/fleet_inside.h"

#define ALERT_US 200000
#define ALERT_FOR_US 5000000
#define WIDE_US 1000000 /* how often all workers are read while the leader is silent */
#define TURN_US 200000  /* followers do not all condemn in the same moment */

static void lead_read(slp_store_req *rq);
static void leader_read(slp_store_req *rq);

static int may_lead(const slp_fleet *f) {
  return f->state == SLP_WORKER_RUNS && !f->suspended && !f->stopping;
}

static void in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->bell_timer, slp_after_us(slp_fleet_now(f), us));
}

void slp_role_seek(slp_fleet *f, uint64_t in_us) {
  if (!may_lead(f)) return;
  if (f->role == SLP_ROLE_LEADS) slp_lead_end(f);
  f->role = SLP_ROLE_SEEKS;
  in(f, in_us);
}

void slp_role_begin(slp_fleet *f) {
  slp_plan_read(f);
  if (f->role == SLP_ROLE_NONE) slp_role_seek(f, 0);
}

void slp_role_drop(slp_fleet *f) {
  if (f->role == SLP_ROLE_LEADS) slp_lead_end(f);
  f->role = SLP_ROLE_NONE;
  f->bell_known = 0;
  slp_timer_clear(f->h, &f->bell_timer);
}

void slp_bell_alert(slp_fleet *f, uint64_t for_us) {
  uint64_t now = slp_fleet_now(f);
  f->alert_us = slp_max_u64(f->alert_us, now + for_us);
  if (f->role == SLP_ROLE_FOLLOWS && !f->bell_reading &&
      (f->bell_timer.at_us == SLP_NEVER || f->bell_timer.at_us > now + ALERT_US))
    in(f, slp_fleet_jitter(f, ALERT_US, 20));
}

/* Something has changed: my plan may have, and so may what I hold. */
void slp_bell_rang(slp_fleet *f) {
  slp_bell_alert(f, ALERT_FOR_US);
  slp_plan_read(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (l->state >= SLP_WANTED && l->state <= SLP_ENDING) slp_lease_look(l, slp_fleet_now(f));
}

static void read_row(slp_fleet *f, uint8_t what, slp_verb verb, slp_str name, int exact) {
  if (f->bell_reading) return;
  slp_buf_clear(&f->bell_text);
  if (slp_fleet_key(f, verb, name, &f->bell_text, &f->bell_key)) {
    in(f, ALERT_US);
    return;
  }
  f->stats.reads++;
  f->bell_reading = what;
  memset(&f->bell_get.rq, 0, sizeof f->bell_get.rq);
  f->bell_get.rq.on_done = what == 1 ? lead_read : leader_read;
  f->bell_get.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 6, 20);
  f->bell_get.keys = &f->bell_key;
  f->bell_get.keys_n = 1;
  f->bell_get.consistent = (uint8_t)exact;
  f->store->ops->get(f->store, &f->bell_get);
}

static slp_str leader_id(const slp_fleet *f) {
  slp_str id = {NULL, 0}, boot;
  slp_instance_split(slp_instance_str(&f->leader), &id, &boot);
  return id;
}

void slp_bell_run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, bell_timer);
  if (f->role == SLP_ROLE_SEEKS && !f->lead_op.busy)
    read_row(f, 1, SLP_G1_LEAD, (slp_str){"", 0}, 1);
  else if (f->role == SLP_ROLE_FOLLOWS)
    read_row(f, 2, SLP_W2_BEAT, leader_id(f), f->exact_next);
}

/* ---- who leads --------------------------------------------------------------------------------- */

static void elected(slp_op *op) {
  slp_fleet *f = op->f;
  if (f->role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (op->end != SLP_OP_DONE) {
    slp_role_seek(f, op->end == SLP_OP_GIVEN_UP ? ALERT_US : 0);
    return;
  }
  f->lead_epoch = op->i.epoch + 1;
  slp_lead_begin(f);
}

static void run_for(slp_fleet *f, slp_str owner, uint64_t epoch) {
  slp_intent *i = &f->lead_op.i;
  slp_instance_set(&f->leader, owner);
  slp_fleet_intent(f, i, SLP_G1_LEAD);
  i->owner = slp_instance_str(&f->leader);
  i->epoch = epoch;
  i->start = slp_fleet_start_spot(f);
  f->lead_op.tries_max = 3;
  slp_op_send(&f->lead_op, elected);
}

static void follow(slp_fleet *f, slp_str owner) {
  int same = f->bell_known && slp_str_eq(owner, slp_instance_str(&f->leader));
  f->role = SLP_ROLE_FOLLOWS;
  in(f, 0);
  slp_plan_read(f);
  slp_peers_forget(f); /* about once a minute */
  slp_leases_forget(f);
  if (same) return;
  slp_instance_set(&f->leader, owner);
  f->bell_known = 0;
  f->exact_next = 1;
  slp_ring_leader(f); /* a leader that was alone does not look */
}

/* When this owner of leadership was first read. */
static uint64_t named_since(slp_fleet *f, slp_str owner, uint64_t now_us) {
  if (!slp_str_eq(owner, slp_instance_str(&f->named))) f->leader_named_us = now_us;
  slp_instance_set(&f->named, owner);
  return f->leader_named_us;
}

static void lead_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, bell_get);
  slp_fact fact = {.kind = SLP_FACT_OTHER};
  f->bell_reading = 0;
  int came = slp_read_came(f, SLP_READ_LEADER, rq);
  if (f->role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (!came) {
    slp_role_seek(f, slp_fleet_jitter(f, ALERT_US, 20));
    return;
  }
  if (f->bell_get.out.n) f->schema->read(f->schema, &f->bell_get.out.rows[0], &fact);
  if (fact.kind == SLP_FACT_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &fact);
    slp_role_seek(f, 5000000);
    return;
  }
  const slp_lead_fact *lead = &fact.u.lead;
  f->lead_read_us = rq->done_us;
  if (fact.kind == SLP_FACT_LEAD && lead->start.kind == SLP_SPOT_TIME) f->start = lead->start;
  if (fact.kind != SLP_FACT_LEAD || !lead->owner.n) {
    run_for(f, (slp_str){NULL, 0}, fact.kind == SLP_FACT_LEAD ? lead->epoch : 0);
  } else if (slp_str_eq(lead->owner, slp_instance_str(&f->me))) {
    f->lead_epoch = lead->epoch;
    slp_lead_begin(f);
  } else if (slp_peer_verdict(f, lead->owner, named_since(f, lead->owner, rq->done_us)) ==
             SLP_PEER_CONDEMNED) {
    run_for(f, lead->owner, lead->epoch);
  } else {
    follow(f, lead->owner);
  }
}

/* ---- the leader's row -------------------------------------------------------------------------- */

static uint64_t silent_us(slp_fleet *f, const slp_peer *p) {
  uint64_t since = p->missing ? p->missing_since_us : p->since_us;
  uint64_t now = slp_now_refresh_us(f->h);
  return now > since ? now - since : 0;
}

static void listen(slp_fleet *f, slp_peer *p) {
  if (!f->bell_known || p->bell != f->bell) slp_bell_rang(f);
  f->bell = p->bell;
  f->bell_known = 1;
}

/* Nobody waits for a turn when there is nobody else. */
static uint64_t my_turn_us(slp_fleet *f, const slp_peer *leader) {
  size_t at = 0;
  for (slp_peer *p; (p = slp_map_each(&f->peers, &at));)
    if (p != leader && p->in_list && !p->gone && !slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker))
      return f->turn_us;
  return f->wide_ok ? 0 : f->turn_us;
}

/* After half a lease of silence whoever may lead next begins to observe the others. */
static void worry(slp_fleet *f, slp_peer *p) {
  uint64_t now = slp_fleet_now(f);
  if (silent_us(f, p) < slp_fleet_lease_us(f) / 2) {
    f->turn_us = slp_random_below(f->h, TURN_US);
    return;
  }
  slp_bell_alert(f, ALERT_FOR_US / 5);
  if (now >= f->wide_us && slp_wide_read(f, 0, NULL)) f->wide_us = now + WIDE_US;
  if (slp_peer_may_condemn(f, p, my_turn_us(f, p))) slp_peer_condemn(f, p);
}

static void next_poll(slp_fleet *f, const slp_peer *p) {
  uint64_t now = slp_fleet_now(f), bell_us = (uint64_t)f->o.bell_ms * 1000;
  int alert = f->alert_us > now;
  uint64_t wait =
      alert ? slp_fleet_jitter(f, slp_min_u64(ALERT_US, bell_us), 20) : slp_fleet_jitter(f, bell_us, 10);
  uint64_t quiet = p ? slp_peer_quiet_us(f, p, my_turn_us(f, p)) : SLP_NEVER;
  in(f, slp_min_u64(wait, quiet == SLP_NEVER ? wait : quiet - now));
}

static void leader_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, bell_get);
  slp_fact fact = {.kind = SLP_FACT_OTHER};
  int came = slp_read_came(f, SLP_READ_LEADER, rq);
  f->bell_reading = 0;
  if (f->role != SLP_ROLE_FOLLOWS) {
    if (f->role == SLP_ROLE_SEEKS) in(f, 0);
    return;
  }
  slp_peer *p = slp_peer_make(f, leader_id(f));
  /* Now and then the row of leadership itself: an operator may have touched it. */
  int stale = came && slp_fleet_now(f) - f->lead_read_us > UINT64_C(60000000);
  if (!came || (!p && !stale)) {
    if (p) slp_peer_unread(p);
    next_poll(f, p);
    return;
  }
  if (f->bell_get.out.n) f->schema->read(f->schema, &f->bell_get.out.rows[0], &fact);
  if (!p || fact.kind == SLP_FACT_BAD) { /* a name that is nobody's; a row that can't be read: it stays */
    if (p) slp_peer_saw_bad(p, &fact);
    if (stale)
      slp_role_seek(f, 0);
    else
      next_poll(f, NULL);
    return;
  }
  slp_peer_saw(p, fact.kind == SLP_FACT_WORKER ? &fact.u.worker : NULL, f->bell_get.consistent, rq);
  slp_verdict v = slp_peer_verdict(f, slp_instance_str(&f->leader), f->leader_named_us);
  f->exact_next = v == SLP_PEER_UNKNOWN || p->missing || fact.kind != SLP_FACT_WORKER;
  listen(f, p);
  if (v == SLP_PEER_CONDEMNED || stale) {
    slp_role_seek(f, 0);
    return;
  }
  worry(f, p);
  next_poll(f, p);
}

/* ---- ringing ----------------------------------------------------------------------------------- */

static void rung(slp_op *op) {
  slp_fleet *f = op->f;
  slp_peer *p = op->i.id.n ? slp_peer_get(f, op->i.id) : NULL;
  if (p) slp_peer_saw_op(p, op);
  if (f->role == SLP_ROLE_LEADS && p && slp_str_eq(op->i.id, f->o.worker) && op->end == SLP_OP_DONE) {
    /* My own ring is the one more; any other is somebody's that I am to hear. */
    int other = !f->bell_known || p->bell != f->bell + 1;
    f->bell = p->bell;
    f->bell_known = 1;
    if (other) slp_watch_now(f);
  }
  if (f->ring_again) {
    f->ring_again = 0;
    slp_ring_leader(f);
  } else {
    slp_leave_rang(f);
  }
}

void slp_ring_leader(slp_fleet *f) {
  slp_intent *i = &f->ring_op.i;
  slp_str id = f->role == SLP_ROLE_LEADS ? f->o.worker : leader_id(f);
  if (!id.n) return;
  if (f->ring_op.busy) {
    f->ring_again = 1;
    return;
  }
  slp_fleet_intent(f, i, SLP_W5_RING);
  f->ring_id_n = (uint8_t)id.n;
  memmove(f->ring_id, id.p, id.n);
  i->id = (slp_str){f->ring_id, f->ring_id_n};
  f->ring_op.tries_max = 5;
  slp_op_send(&f->ring_op, rung);
}
