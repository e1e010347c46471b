/* fleet_bell.c - who leads, and what a follower polls: one small row, the leader's own, which tells its life,
 * and by a counter that something has changed. When the leader is gone, whoever is first leads. */
#include "lease/lease.h"

#define ALERT_US 200000
#define ALERT_FOR_US 5000000
#define MEMBERS_US 1000000 /* how often all workers are read while the leader is silent */
#define TURN_US 200000     /* followers do not all condemn in the same moment */

static void leadership_read(slp_store_req *rq);
static void leader_read(slp_store_req *rq);

static int may_lead(const slp_fleet *f) {
  return f->state == SLP_WORKER_RUNS && !f->suspended && !f->stopping;
}

static void in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->election_timer, slp_after_us(slp_fleet_now(f), us));
}

void slp_election_seek(slp_fleet *f, uint64_t in_us) {
  if (!may_lead(f)) return;
  if (f->role == SLP_ROLE_LEADS) slp_leader_end(f);
  f->role = SLP_ROLE_SEEKS;
  in(f, in_us);
}

void slp_election_begin(slp_fleet *f) {
  slp_assignment_read(f);
  if (f->role == SLP_ROLE_NONE) slp_election_seek(f, 0);
}

void slp_election_drop(slp_fleet *f) {
  if (f->role == SLP_ROLE_LEADS) slp_leader_end(f);
  f->role = SLP_ROLE_NONE;
  f->changes_known = 0;
  slp_timer_clear(f->h, &f->election_timer);
}

void slp_election_alert(slp_fleet *f, uint64_t for_us) {
  uint64_t now = slp_fleet_now(f);
  f->alert_us = slp_max_u64(f->alert_us, now + for_us);
  if (f->role == SLP_ROLE_FOLLOWS && !f->election_reading &&
      (f->election_timer.at_us == SLP_NEVER || f->election_timer.at_us > now + ALERT_US))
    in(f, slp_fleet_jitter(f, ALERT_US, 20));
}

/* Something has changed: my plan may have, and so may what I hold. */
void slp_election_changed(slp_fleet *f) {
  slp_election_alert(f, ALERT_FOR_US);
  slp_assignment_read(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_map_each(&f->leases, &at));)
    if (slp_lease_in(l, SLP_LEASE_SOUGHT | SLP_LEASE_HELD)) slp_lease_poll(l, slp_fleet_now(f));
}

static void read_row(slp_fleet *f, uint8_t what, slp_operation_kind kind, slp_str name, int exact) {
  if (f->election_reading) return;
  slp_buf_clear(&f->leader_text);
  if (slp_fleet_key(f, kind, name, &f->leader_text, &f->leader_key)) {
    in(f, ALERT_US);
    return;
  }
  f->stats.reads++;
  f->election_reading = what;
  memset(&f->leader_get.rq, 0, sizeof f->leader_get.rq);
  f->leader_get.rq.on_done = what == 1 ? leadership_read : leader_read;
  f->leader_get.rq.ms_max = (uint32_t)slp_max_u64(f->o.lease_ms / 6, 20);
  f->leader_get.keys = &f->leader_key;
  f->leader_get.keys_n = 1;
  f->leader_get.consistent = (uint8_t)exact;
  f->store->ops->get(f->store, &f->leader_get);
}

static slp_str leader_id(const slp_fleet *f) {
  slp_str id = {NULL, 0}, incarnation;
  slp_instance_split(slp_instance_str(&f->leader), &id, &incarnation);
  return id;
}

void slp_election_run(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, election_timer);
  if (f->role == SLP_ROLE_SEEKS && !f->lead_write.busy)
    read_row(f, 1, SLP_OPERATION_LEAD, (slp_str){"", 0}, 1);
  else if (f->role == SLP_ROLE_FOLLOWS)
    read_row(f, 2, SLP_OPERATION_HEARTBEAT, leader_id(f), f->exact_next);
}

/* ---- who leads --------------------------------------------------------------------------------- */

static void elected(slp_write *op) {
  slp_fleet *f = op->f;
  if (f->role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (op->end != SLP_OUTCOME_DONE) {
    slp_election_seek(f, op->end == SLP_OUTCOME_GIVEN_UP ? ALERT_US : 0);
    return;
  }
  f->leadership_epoch = op->i.epoch + 1;
  slp_leader_begin(f);
}

static void run_for(slp_fleet *f, slp_str owner, uint64_t epoch) {
  slp_operation *i = &f->lead_write.i;
  slp_instance_set(&f->leader, owner);
  slp_fleet_operation(f, i, SLP_OPERATION_LEAD);
  i->owner = slp_instance_str(&f->leader);
  i->epoch = epoch;
  i->start = slp_fleet_start_position(f);
  f->lead_write.tries_max = 3;
  slp_write_send(&f->lead_write, elected);
}

static void follow(slp_fleet *f, slp_str owner) {
  int same = f->changes_known && slp_str_eq(owner, slp_instance_str(&f->leader));
  f->role = SLP_ROLE_FOLLOWS;
  in(f, 0);
  slp_assignment_read(f);
  slp_members_forget(f); /* about once a minute */
  slp_leases_forget(f);
  if (same) return;
  slp_instance_set(&f->leader, owner);
  f->changes_known = 0;
  f->exact_next = 1;
  slp_notify_leader(f); /* a leader that was alone does not look */
}

/* When this owner of leadership was first read. */
static uint64_t named_since(slp_fleet *f, slp_str owner, uint64_t now_us) {
  if (!slp_str_eq(owner, slp_instance_str(&f->named))) f->leader_named_us = now_us;
  slp_instance_set(&f->named, owner);
  return f->leader_named_us;
}

static void leadership_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, leader_get);
  slp_parsed_row row = {.kind = SLP_ROW_OTHER};
  f->election_reading = 0;
  int came = slp_read_came(f, SLP_READ_LEADER, rq);
  if (f->role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (!came) {
    slp_election_seek(f, slp_fleet_jitter(f, ALERT_US, 20));
    return;
  }
  if (f->leader_get.out.n) f->schema->read(f->schema, &f->leader_get.out.rows[0], &row);
  if (row.kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key, row.why);
    slp_election_seek(f, 5000000);
    return;
  }
  const slp_leadership_row *lead = &row.u.leadership;
  f->leadership_read_us = rq->done_us;
  if (row.kind == SLP_ROW_LEADERSHIP && lead->start.kind == SLP_POSITION_TIME) f->start = lead->start;
  if (row.kind != SLP_ROW_LEADERSHIP || !lead->owner.n) {
    run_for(f, (slp_str){NULL, 0}, row.kind == SLP_ROW_LEADERSHIP ? lead->epoch : 0);
  } else if (slp_str_eq(lead->owner, slp_instance_str(&f->me))) {
    f->leadership_epoch = lead->epoch;
    slp_leader_begin(f);
  } else if (slp_member_verdict(f, lead->owner, named_since(f, lead->owner, rq->done_us)) ==
             SLP_MEMBER_EVICTED) {
    run_for(f, lead->owner, lead->epoch);
  } else {
    follow(f, lead->owner);
  }
}

/* ---- the leader's row -------------------------------------------------------------------------- */

static uint64_t silent_us(slp_fleet *f, const slp_member *p) {
  uint64_t since = p->missing ? p->missing_since_us : p->since_us;
  uint64_t now = slp_now_refresh_us(f->h);
  return now > since ? now - since : 0;
}

static void listen(slp_fleet *f, slp_member *p) {
  if (!f->changes_known || p->changes != f->changes) slp_election_changed(f);
  f->changes = p->changes;
  f->changes_known = 1;
}

/* Nobody waits for a turn when there is nobody else. */
static uint64_t my_turn_us(slp_fleet *f, const slp_member *leader) {
  size_t at = 0;
  for (slp_member *p; (p = slp_map_each(&f->members, &at));)
    if (p != leader && p->in_list && !p->gone && !slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker))
      return f->turn_us;
  return f->members_ok ? 0 : f->turn_us;
}

/* After half a lease of silence whoever may lead next begins to observe the others. */
static void worry(slp_fleet *f, slp_member *p) {
  uint64_t now = slp_fleet_now(f);
  if (silent_us(f, p) < slp_fleet_lease_us(f) / 2) {
    f->turn_us = slp_random_below(f->h, TURN_US);
    return;
  }
  slp_election_alert(f, ALERT_FOR_US / 5);
  if (now >= f->members_us && slp_workers_list(f, 0, NULL)) f->members_us = now + MEMBERS_US;
  if (slp_member_may_evict(f, p, my_turn_us(f, p))) slp_member_evict(f, p);
}

static void next_poll(slp_fleet *f, const slp_member *p) {
  uint64_t now = slp_fleet_now(f), leader_poll_us = (uint64_t)f->o.leader_poll_ms * 1000;
  int alert = f->alert_us > now;
  uint64_t wait = alert ? slp_fleet_jitter(f, slp_min_u64(ALERT_US, leader_poll_us), 20)
                        : slp_fleet_jitter(f, leader_poll_us, 10);
  uint64_t quiet = p ? slp_member_quiet_us(f, p, my_turn_us(f, p)) : SLP_NEVER;
  in(f, slp_min_u64(wait, quiet == SLP_NEVER ? wait : quiet - now));
}

static void leader_read(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_get, rq), slp_fleet, leader_get);
  slp_parsed_row parsed = {.kind = SLP_ROW_OTHER};
  int came = slp_read_came(f, SLP_READ_LEADER, rq);
  f->election_reading = 0;
  if (f->role != SLP_ROLE_FOLLOWS) {
    if (f->role == SLP_ROLE_SEEKS) in(f, 0);
    return;
  }
  slp_member *p = slp_member_make(f, leader_id(f));
  /* Now and then the row of leadership itself: an operator may have touched it. */
  int stale = came && slp_fleet_now(f) - f->leadership_read_us > UINT64_C(60000000);
  if (!came || (!p && !stale)) {
    if (p) slp_member_unread(p);
    next_poll(f, p);
    return;
  }
  if (f->leader_get.out.n) f->schema->read(f->schema, &f->leader_get.out.rows[0], &parsed);
  if (!p || parsed.kind == SLP_ROW_BAD) { /* a name that is nobody's; a row that can't be read: it stays */
    if (p) slp_member_saw_bad(p, &parsed);
    if (stale)
      slp_election_seek(f, 0);
    else
      next_poll(f, NULL);
    return;
  }
  slp_member_saw(p, parsed.kind == SLP_ROW_WORKER ? &parsed.u.worker : NULL, f->leader_get.consistent, rq);
  slp_verdict v = slp_member_verdict(f, slp_instance_str(&f->leader), f->leader_named_us);
  f->exact_next = v == SLP_MEMBER_UNKNOWN || p->missing || parsed.kind != SLP_ROW_WORKER;
  listen(f, p);
  if (v == SLP_MEMBER_EVICTED || stale) {
    slp_election_seek(f, 0);
    return;
  }
  worry(f, p);
  next_poll(f, p);
}

/* ---- ringing ----------------------------------------------------------------------------------- */

static void notified(slp_write *op) {
  slp_fleet *f = op->f;
  slp_member *p = op->i.id.n ? slp_member_get(f, op->i.id) : NULL;
  if (p) slp_member_saw_write(p, op);
  if (f->role == SLP_ROLE_LEADS && p && slp_str_eq(op->i.id, f->o.worker) && op->end == SLP_OUTCOME_DONE) {
    /* My own ring is the one more; any other is somebody's that I am to hear. */
    int other = !f->changes_known || p->changes != f->changes + 1;
    f->changes = p->changes;
    f->changes_known = 1;
    if (other) slp_watch_now(f);
  }
  if (f->notify_again) {
    f->notify_again = 0;
    slp_notify_leader(f);
  } else {
    slp_leave_notified(f);
  }
}

void slp_notify_leader(slp_fleet *f) {
  slp_operation *i = &f->notify_write.i;
  slp_str id = f->role == SLP_ROLE_LEADS ? f->o.worker : leader_id(f);
  if (!id.n) return;
  if (f->notify_write.busy) {
    f->notify_again = 1;
    return;
  }
  slp_fleet_operation(f, i, SLP_OPERATION_NOTIFY);
  f->notify_id_n = (uint8_t)id.n;
  memmove(f->notify_id, id.p, id.n);
  i->id = (slp_str){f->notify_id, f->notify_id_n};
  f->notify_write.tries_max = 5;
  slp_write_send(&f->notify_write, notified);
}
