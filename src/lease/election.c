/* election.c - the role of a worker: leader or follower (election.h). A follower reads the leader's own row
 * regularly. That row shows that the leader lives, and its change counter shows that something has changed.
 * When the leader is gone, the first worker that writes itself into the row of leadership becomes the
 * leader. */
#include "lease/election.h"

#include "base/mutant.h"
#include "base/repeat.h"
#include "base/states.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/assignment.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/deadline_part.h"
#include "lease/election_part.h"
#include "lease/fleet_inside.h"
#include "lease/hold.h"
#include "lease/instance.h"
#include "lease/lease.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/row_poll.h"
#include "lease/schema.h"
#include "lease/spread.h"
#include "lease/worker_life.h"
#include "lease/write.h"

/* time between two reads of the leader's row while a change is expected */
#define ALERT_US 200000
/* between two reads of the leader's row, the table has time to serve this many read units of other reads */
#define POLL_REST 8
/* when a change is expected, the leader's row is read often for this long */
#define ALERT_FOR_US 5000000
#define MEMBERS_US 1000000 /* time between two reads of all workers' rows while the leader is silent */
/* With N workers, MEMBERS_US is multiplied by N * N / MEMBERS_SQUARED, if that is more than 1. The reason: N
 * workers then read N rows each. */
#define MEMBERS_SQUARED 50000
#define LEADERSHIP_US UINT64_C(60000000) /* time between two reads of the row of leadership by a follower */
/* Least and greatest time between two attempts to lead. The time grows while attempts follow each other
 * closely. */
#define SEEK_LEAST_US 200000
#define SEEK_MOST_US 2000000
/* a follower waits up to this much longer before it evicts a silent leader, so that not all followers do it
 * at the same moment */
#define TURN_US 200000

static void leadership_read(slp_read *r);
static void run_for_free_leadership(slp_fleet *f, const slp_leaderless *none);
static void know_leadership(slp_fleet *f, const slp_leadership_row *lead, uint64_t sent_us, uint64_t at_us);
static void leader_read(slp_read *r);
static void on_notify_written(slp_write *op);

static const slp_set allowed[] = {
    [SLP_ROLE_NONE] = SLP_BIT(SLP_ROLE_NONE) | SLP_BIT(SLP_ROLE_SEEKS),
    [SLP_ROLE_SEEKS] = SLP_BIT(SLP_ROLE_NONE) | SLP_BIT(SLP_ROLE_SEEKS) | SLP_BIT(SLP_ROLE_FOLLOWS) |
                       SLP_BIT(SLP_ROLE_LEADS),
    [SLP_ROLE_FOLLOWS] = SLP_BIT(SLP_ROLE_NONE) | SLP_BIT(SLP_ROLE_SEEKS),
    [SLP_ROLE_LEADS] = SLP_BIT(SLP_ROLE_NONE) | SLP_BIT(SLP_ROLE_SEEKS),
};

static void move(slp_fleet *f, slp_role to) {
  slp_election *e = &f->election;
  slp_role was = e->role;
  SLP_MOVE(allowed, e->role, to);
  if (was == SLP_ROLE_LEADS) e->leads(f, 0);
  if (to == SLP_ROLE_NONE) {
    e->changes_known = 0;
    slp_timer_clear(f->h, &e->timer);
  }
  if (to == SLP_ROLE_LEADS) {
    e->leader = f->me;
    e->changes_known = 0;
    e->leads(f, 1);
  }
}

int slp_role_is(const slp_fleet *f, slp_role role) { return f->election.role == role; }

static int may_lead(const slp_fleet *f) {
  return slp_worker_is(f, SLP_WORKER_RUNS) && slp_proof_is(f, SLP_PROOF_GOOD);
}

/* sets the timer */
static void set_election_timer_in(slp_fleet *f, uint64_t us) {
  slp_fleet_timer(f, &f->election.timer, slp_after_us(slp_fleet_now(f), us));
}

void slp_election_seek(slp_fleet *f, uint64_t in_us) {
  if (!may_lead(f)) return;
  move(f, SLP_ROLE_SEEKS);
  uint64_t at_us = slp_after_us(slp_fleet_now(f), in_us);
  slp_fleet_timer(f, &f->election.timer,
                  slp_paced_us(&f->election.paced, at_us, SEEK_LEAST_US, SEEK_MOST_US));
}

void slp_election_begin(slp_fleet *f) {
  if (f->election.role == SLP_ROLE_NONE) slp_election_seek(f, 0);
}

void slp_election_drop(slp_fleet *f) { move(f, SLP_ROLE_NONE); }

void slp_election_alert(slp_fleet *f, uint64_t for_us) {
  slp_election *e = &f->election;
  uint64_t now = slp_fleet_now(f);
  e->alert_us = slp_max_u64(e->alert_us, now + for_us);
  if (e->role == SLP_ROLE_FOLLOWS && !e->read.busy &&
      (e->timer.at_us == SLP_NEVER || e->timer.at_us > now + ALERT_US))
    set_election_timer_in(f, slp_fleet_jitter(f, ALERT_US, 20));
}

void slp_election_alert_soon(slp_fleet *f) { slp_election_alert(f, ALERT_FOR_US); }

void slp_election_changed(slp_fleet *f) {
  slp_election_alert_soon(f);
  slp_assignment_read(f);
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) slp_lease_alert(l);
}

slp_str slp_election_leader_id(const slp_fleet *f) {
  slp_str id = {NULL, 0}, incarnation;
  slp_instance_split(slp_instance_str(&f->election.leader), &id, &incarnation);
  return id;
}

uint64_t slp_election_epoch(const slp_fleet *f) { return f->election.epoch; }

int slp_election_made(const slp_fleet *f) { return f->election.made; }

static void read_row(slp_fleet *f, slp_operation_kind kind, slp_str name, int exact,
                     void (*on_done)(slp_read *r)) {
  slp_election *e = &f->election;
  if (!e->read.busy && slp_read_row(&e->read, kind, name, exact, on_done)) set_election_timer_in(f, ALERT_US);
}

static void on_election_timer(slp_timer *t) {
  slp_fleet *f = SLP_OWNER(t, slp_fleet, election.timer);
  slp_election *e = &f->election;
  if (e->role == SLP_ROLE_SEEKS && !e->write.busy && !e->read.busy) {
    slp_paced_done(&e->paced, slp_fleet_now(f), SEEK_MOST_US);
    slp_leaderless none;
    if (slp_spread_take_leaderless(f, &none))
      run_for_free_leadership(f, &none);
    else
      read_row(f, SLP_OPERATION_LEAD, (slp_str){"", 0}, 1, leadership_read);
  } else if (e->role == SLP_ROLE_FOLLOWS) {
    read_row(f, SLP_OPERATION_HEARTBEAT, slp_election_leader_id(f), e->exact_next, leader_read);
  }
}

/* ---- leadership -------------------------------------------------------------------------------- */

/* Returns the service's time if it is known, otherwise this machine's time. This machine's clock may be ahead
 * of the service's. If the fleet began to read at the machine's time, the records between the two times would
 * be left out. */
static int64_t service_ms(slp_fleet *f) {
  int64_t ms = f->processor->ops->service_ms ? f->processor->ops->service_ms(f->processor) : INT64_MIN;
  return ms > 0 ? ms : slp_wall_ms(f->h);
}

/* Returns where the fleet begins to read. LATEST is replaced by the present time before any lease exists. If
 * an operator removes the row of leadership, a worker that has read the row before writes the same time
 * again. A new LATEST would leave out the records that came since. */
static slp_position start_position(slp_fleet *f) {
  slp_position s = f->o.start, known = f->election.start;
  if (s.kind == SLP_POSITION_TIME) return s;
  if (s.kind != SLP_POSITION_LATEST) return (slp_position){.kind = SLP_POSITION_OLDEST};
  return known.kind == SLP_POSITION_TIME ? known
                                         : (slp_position){.kind = SLP_POSITION_TIME, .at_ms = service_ms(f)};
}

void slp_election_set_start(slp_fleet *f, const slp_position *start) { f->election.start = *start; }

/* Returns when this worker first read that `owner` owns the row of leadership. */
static uint64_t named_since(slp_fleet *f, slp_str owner, uint64_t now_us) {
  slp_election *e = &f->election;
  if (!slp_str_eq(owner, slp_instance_str(&e->named))) e->named_us = now_us;
  slp_instance_set(&e->named, owner);
  return e->named_us;
}

/* Returns 1 if this worker's write was refused because another worker leads already, and if that worker
 * lives. */
static int another_was_faster(slp_fleet *f, const slp_write *op) {
  if (op->end != SLP_OUTCOME_REFUSED || op->row.kind != SLP_ROW_LEADERSHIP || op->row_read) return 0;
  const slp_leadership_row *lead = &op->row.u.leadership;
  return lead->owner.n && !slp_str_eq(lead->owner, slp_instance_str(&f->me)) && slp_spread_agrees(f, lead) &&
         slp_member_verdict(f, lead->owner, named_since(f, lead->owner, op->w.rq.done_us)) !=
             SLP_MEMBER_EVICTED;
}

/* Called when this worker has become the leader: takes in the hold (hold.h) from the row of leadership in the
 * answer. If the answer shows no row: a row that this worker has just created has no hold. The hold in an
 * older row was taken in when the row was read, or will be in the leader's first round. */
static void know_hold(slp_fleet *f, const slp_write *op) {
  const slp_leadership_row *lead = op->row.kind == SLP_ROW_LEADERSHIP ? &op->row.u.leadership : NULL;
  static const slp_hold none = {.version = 0};
  if (lead || f->election.made)
    slp_hold_saw(f, lead ? &lead->hold : &none, lead ? lead->hold_by : (slp_str){NULL, 0}, op->sent_us);
}

static void on_leadership_written(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  if (f->election.role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (another_was_faster(f, op)) {
    know_leadership(f, &op->row.u.leadership, op->sent_us, op->w.rq.done_us);
    return;
  }
  if (op->end != SLP_OUTCOME_DONE) {
    slp_election_seek(f, op->end == SLP_OUTCOME_GIVEN_UP ? ALERT_US : 0);
    return;
  }
  f->election.epoch = op->i.epoch + 1;
  know_hold(f, op);
  slp_spread_made(f);
  move(f, SLP_ROLE_LEADS);
}

/* Tries to lead: writes this worker into the row of leadership. lead: that row as it was read; NULL: there is
 * no such row, so the write creates it. */
static void run_for(slp_fleet *f, const slp_leadership_row *lead) {
  slp_election *e = &f->election;
  slp_operation *i = &e->write.i;
  slp_instance_set(&e->leader, lead ? lead->owner : (slp_str){NULL, 0});
  slp_fleet_operation(f, i, SLP_OPERATION_LEAD);
  i->owner = slp_instance_str(&e->leader);
  i->epoch = lead ? lead->epoch : 0;
  i->start = start_position(f);
  e->made = !lead;
  if (!lead) i->spread = f->schema->spread;
  e->write.tries_max = 3;
  slp_write_send(&e->write, on_leadership_written);
}

/* Tries to lead, when no worker led before this worker joined. The row is not read again: the write has the
 * row of that time as its condition, and its answer shows the hold (hold.h) as it is after this worker
 * joined. */
static void run_for_free_leadership(slp_fleet *f, const slp_leaderless *none) {
  slp_leadership_row lead = {.epoch = none->epoch};
  f->election.read_us = none->at_us;
  if (none->there && none->start.kind == SLP_POSITION_TIME) f->election.start = none->start;
  run_for(f, none->there ? &lead : NULL);
}

void slp_election_resign(slp_fleet *f, void (*done)(slp_write *op)) {
  slp_election *e = &f->election;
  slp_write_stop(&e->write);
  slp_fleet_operation(f, &e->write.i, SLP_OPERATION_RESIGN);
  e->write.i.epoch = e->epoch;
  e->write.tries_max = 3;
  slp_write_send(&e->write, done);
}

static void follow_leader(slp_fleet *f, slp_str owner) {
  slp_election *e = &f->election;
  int same = e->changes_known && slp_str_eq(owner, slp_instance_str(&e->leader));
  move(f, SLP_ROLE_FOLLOWS);
  set_election_timer_in(f, slp_reads_rest_us(f, 0, POLL_REST));
  /* called here, because a follower comes here about once a minute */
  slp_polls_forget(f, slp_election_leader_id(f));
  if (same) {
    slp_assignment_read(f);
    return;
  }
  slp_instance_set(&e->leader, owner);
  e->changes_known = 0;
  e->exact_next = 1;
  /* If the leader was alone in its fleet, it does not look for other workers by itself. So a new follower
   * notifies it, unless the table throttles. */
  if (!slp_fleet_writes_throttled(f)) slp_notify_leader(f);
}

void slp_election_listed(slp_fleet *f, int there) {
  f->election.unlisted = (uint8_t)!there;
  if (there) f->election.unlisted_n = 0;
}

/* Reports a table that contradicts itself: a consistent list of all rows lacked the row of leadership, and
 * then a read of that row finds it, with this worker as the owner and the same epoch. Without a report, this
 * worker would begin to lead again and again while all workers wait, and the user would not know why. */
static void tell_unlisted(slp_fleet *f, const slp_leadership_row *lead) {
  slp_election *e = &f->election;
  int contradicts = e->unlisted && lead->epoch == e->epoch;
  e->unlisted = 0;
  if (!contradicts) return;
  slp_fleet_tell_contradiction(
      f, ++e->unlisted_n,
      "the list of all rows lacks the row of leadership, and a read of that row shows it");
}

static void leadership_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_election *e = &f->election;
  slp_parsed_row row;
  if (e->role != SLP_ROLE_SEEKS || !may_lead(f)) return;
  if (!r->came) {
    slp_election_seek(f, slp_fleet_jitter(f, ALERT_US, 20));
    return;
  }
  slp_read_one(r, &row);
  if (row.kind == SLP_ROW_BAD) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key, row.why);
    slp_election_seek(f, 5000000);
    return;
  }
  const slp_leadership_row *lead = row.kind == SLP_ROW_LEADERSHIP ? &row.u.leadership : NULL;
  if (lead && !slp_spread_agrees(f, lead)) {
    slp_fleet_bad_row(f, (slp_str){NULL, 0}, &row.key,
                      "it says that leases are stored under other keys than when this worker joined");
    slp_election_seek(f, 5000000);
    return;
  }
  know_leadership(f, lead, r->rq->sent_us, r->rq->done_us);
}

/* Acts on the row of leadership that was asked for at sent_us and came at at_us. lead NULL: there was no such
 * row. */
static void know_leadership(slp_fleet *f, const slp_leadership_row *lead, uint64_t sent_us, uint64_t at_us) {
  slp_election *e = &f->election;
  e->read_us = at_us;
  if (lead && lead->start.kind == SLP_POSITION_TIME) e->start = lead->start;
  if (lead && !SLP_MUTANT(joins_unheld)) slp_hold_saw(f, &lead->hold, lead->hold_by, sent_us);
  if (lead && slp_str_eq(lead->owner, slp_instance_str(&f->me))) {
    tell_unlisted(f, lead);
    e->epoch = lead->epoch;
    e->made = 0;
    move(f, SLP_ROLE_LEADS);
  } else if (!lead || !lead->owner.n ||
             slp_member_verdict(f, lead->owner, named_since(f, lead->owner, at_us)) == SLP_MEMBER_EVICTED) {
    run_for(f, lead);
  } else {
    follow_leader(f, lead->owner);
  }
}

/* ---- the leader's row -------------------------------------------------------------------------- */

/* Returns for how long this worker has seen no sign of life of p. */
static uint64_t silent_us(slp_fleet *f, const slp_member *p) {
  uint64_t since = p->silence.since_us;
  uint64_t now = slp_now_refresh_us(f->h);
  return now > since ? now - since : 0;
}

/* Acts on the leader's change counter: if it has changed, reads this worker's assignment. Does so also when
 * the row of a leader is read for the first time, so that no earlier change is missed. */
static void note_leader_changes(slp_fleet *f, uint64_t changes) {
  if (!f->election.changes_known || changes != f->election.changes) slp_election_changed(f);
  f->election.changes = changes;
  f->election.changes_known = 1;
}

/* Returns how much longer than the lease time this worker waits before it evicts the leader; 0 if there is
 * surely no third worker that could evict the leader at the same moment. */
static uint64_t my_turn_us(slp_fleet *f, const slp_member *leader) {
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));)
    if (p != leader && p->in_list && !p->gone && !slp_member_is_me(f, p)) return f->election.turn_us;
  return slp_members_list_came(f) ? 0 : f->election.turn_us;
}

/* Returns the time between two reads of all workers' rows. The time grows with the number of workers: if a
 * thousand followers each read a thousand rows once a second, that would cost 20,000 units a second. */
static uint64_t members_us(const slp_fleet *f) {
  uint64_t n = slp_members_n(f);
  return MEMBERS_US * slp_max_u64(n * n / MEMBERS_SQUARED, 1);
}

/* Called when the leader's row was read; p: the leader. When the leader has been silent for half a lease
 * time, begins to observe the other workers, because this worker may have to lead. When the leader has been
 * silent for a whole lease time and this worker's turn_us, evicts the leader. */
static void watch_silent_leader(slp_fleet *f, slp_member *p) {
  uint64_t now = slp_fleet_now(f);
  if (silent_us(f, p) < slp_fleet_lease_us(f) / 2) {
    f->election.turn_us = slp_random_below(f->h, TURN_US);
    return;
  }
  slp_election_alert(f, ALERT_FOR_US / 5);
  if (now >= f->election.list_us && slp_members_list(f, 0, NULL)) f->election.list_us = now + members_us(f);
  if (slp_member_may_evict(f, p, my_turn_us(f, p))) slp_member_evict(f, p);
}

static void next_poll(slp_fleet *f, const slp_member *p) {
  uint64_t now = slp_fleet_now(f), leader_poll_us = (uint64_t)f->o.leader_poll_ms * 1000;
  int alert = f->election.alert_us > now;
  uint64_t wait = alert ? slp_fleet_jitter(f, slp_min_u64(ALERT_US, leader_poll_us), 20)
                        : slp_fleet_jitter(f, leader_poll_us, 10);
  wait = slp_reads_rest_us(f, wait, POLL_REST);
  uint64_t quiet = p ? slp_member_quiet_us(f, p, my_turn_us(f, p)) : SLP_NEVER;
  set_election_timer_in(f, slp_min_u64(wait, quiet == SLP_NEVER ? wait : quiet - now));
}

static void leader_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_election *e = &f->election;
  slp_parsed_row row;
  if (e->role != SLP_ROLE_FOLLOWS) {
    if (e->role == SLP_ROLE_SEEKS) set_election_timer_in(f, 0);
    return;
  }
  slp_member *p = slp_member_make(f, slp_election_leader_id(f));
  /* The row of leadership is read again about once a minute, because an operator may have changed it. */
  int stale = r->came && slp_fleet_now(f) - e->read_us > LEADERSHIP_US;
  if (!r->came || (!p && !stale)) {
    if (p) slp_member_unread(p);
    next_poll(f, p);
    return;
  }
  slp_read_one(r, &row);
  /* The leader's id is not valid, or its row can't be read. Such a row is left as it is. */
  if (!p || row.kind == SLP_ROW_BAD) {
    if (p) slp_member_saw_bad(p, &row);
    if (!e->changes_known) note_leader_changes(f, UINT64_MAX);
    if (stale)
      slp_election_seek(f, 0);
    else
      next_poll(f, NULL);
    return;
  }
  slp_member_saw(p, row.kind == SLP_ROW_WORKER ? &row.u.worker : NULL, r->get.consistent, r->rq);
  slp_verdict v = slp_member_verdict(f, slp_instance_str(&e->leader), e->named_us);
  e->exact_next = v == SLP_MEMBER_UNKNOWN || slp_member_is_missing(p) || row.kind != SLP_ROW_WORKER;
  note_leader_changes(f, p->changes);
  if (v == SLP_MEMBER_EVICTED || stale) {
    slp_election_seek(f, 0);
    return;
  }
  watch_silent_leader(f, p);
  next_poll(f, p);
}

/* ---- the change counter of the leader's row --------------------------------------------------------- */

int slp_election_differs(const slp_fleet *f, uint64_t changes) { return changes != f->election.changes; }

int slp_election_heard(slp_fleet *f, uint64_t changes) {
  slp_election *e = &f->election;
  uint64_t known = e->changes_known ? e->changes : 0; /* the counter of a new row begins at 0 */
  e->changes = changes;
  e->changes_known = 1;
  return changes != known;
}

/* Takes in the change counter after this worker's own notification, which added one to it. Returns 1 if other
 * workers have raised it too, so that this worker must act on their change. Then the counter is not taken in:
 * slp_election_heard does that after the next read of the workers' rows, and finds the change. */
static int others_notified(slp_fleet *f, uint64_t changes) {
  slp_election *e = &f->election;
  if (!e->changes_known || changes != e->changes + 1) return 1;
  e->changes = changes;
  return 0;
}

/* Calls what waits for the notification to be answered. */
static void end_notification(slp_fleet *f) {
  void (*done)(slp_fleet * f) = f->election.notify.done;
  f->election.notify.done = NULL;
  if (done) done(f);
}

/* Sends a notification. Returns 0 if this worker knows no leader: it tries to lead itself, and the row of
 * leadership had no owner. Returns 1 otherwise. */
static int send_notification(slp_fleet *f) {
  slp_notify *n = &f->election.notify;
  slp_str id = slp_election_leader_id(f);
  if (!id.n) return 0;
  slp_fleet_operation(f, &n->write.i, SLP_OPERATION_NOTIFY);
  n->id_n = (uint8_t)id.n;
  memmove(n->id, id.p, id.n);
  n->write.i.id = (slp_str){n->id, n->id_n};
  n->write.tries_max = 5;
  slp_write_send(&n->write, on_notify_written);
  return 1;
}

static void on_notify_written(slp_write *op) {
  slp_fleet *f = slp_write_fleet(op);
  slp_notify *n = &f->election.notify;
  slp_member *p = op->i.id.n ? slp_member_get(f, op->i.id) : NULL;
  if (p) slp_member_saw_write(p, op);
  int of_me = f->election.role == SLP_ROLE_LEADS && p && slp_member_is_me(f, p);
  if (of_me && op->end == SLP_OUTCOME_DONE && others_notified(f, p->changes)) f->election.news(f);
  int again = n->again;
  n->again = 0;
  if (again && (n->write.busy || send_notification(f))) return;
  end_notification(f);
}

void slp_notify_leader(slp_fleet *f) {
  slp_notify *n = &f->election.notify;
  if (n->write.busy)
    n->again = 1;
  else
    send_notification(f);
}

void slp_notify_leader_then(slp_fleet *f, void (*done)(slp_fleet *f)) {
  slp_notify *n = &f->election.notify;
  n->done = done;
  if (n->write.busy)
    n->again = 1;
  else if (!send_notification(f))
    end_notification(f);
}

/* ---- creating and freeing ---------------------------------------------------------------------- */

void slp_election_init(slp_fleet *f, void (*leads)(slp_fleet *f, int on), void (*news)(slp_fleet *f)) {
  slp_election *e = &f->election;
  e->leads = leads;
  e->news = news;
  slp_fleet_timer_init(&e->timer, on_election_timer);
  slp_read_init(&e->read, f, "the leader", 6);
  slp_write_init(&e->write, &f->writes, f);
  slp_write_init(&e->notify.write, &f->writes, f);
}

void slp_election_stop(slp_fleet *f) {
  slp_election *e = &f->election;
  slp_read_stop(&e->read);
  slp_timer_clear(f->h, &e->timer);
  slp_write_stop(&e->write);
  slp_write_stop(&e->notify.write);
  e->notify.again = 0;
  e->notify.done = NULL;
}

void slp_election_free(slp_fleet *f) {
  slp_read_free(&f->election.read);
  slp_write_free(&f->election.write);
  slp_write_free(&f->election.notify.write);
}
