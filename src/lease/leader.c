/* leader.c - what the leader does: it watches which workers come and go, and decides when to read the whole
 * table and to assign leases again.
 *
 * One round runs at a time. It reads all rows. If a shard sync (the comparison of the stream's listing with
 * the rows) is due and the listing has come, the round creates the rows that the table lacks; otherwise it
 * assigns leases. Whatever the leader writes is only a hint to the other workers, so a leader that was
 * replaced and does not know that yet does no harm. */
#include "lease/leader.h"

#include "base/probe.h"
#include "base/states.h"
#include "core/position.h"
#include "host/host.h"
#include "lease/assign.h"
#include "lease/assignment.h"
#include "lease/bulk_write.h"
#include "lease/context.h"
#include "lease/due.h"
#include "lease/election.h"
#include "lease/election_part.h"
#include "lease/fleet_inside.h"
#include "lease/fleet_opts.h"
#include "lease/hold.h"
#include "lease/instance.h"
#include "lease/leader_part.h"
#include "lease/lease.h"
#include "lease/lease_part.h"
#include "lease/members.h"
#include "lease/members_part.h"
#include "lease/outcome.h"
#include "lease/read.h"
#include "lease/schema.h"
#include "lease/seen.h"
#include "lease/shard_listing.h"
#include "lease/shard_set.h"
#include "lease/shard_sync.h"
#include "lease/shut.h"
#include "lease/snapshot.h"
#include "lease/store.h"
#include "lease/write.h"

/* time between two reads of the list of workers (slp_leader_watch) */
#define WATCH_US 500000
/* the same while no other worker takes leases */
#define WATCH_ALONE_US 750000
/* between two reads of the list of workers, the table has time to serve this many read units of other
 * reads */
#define WATCH_REST 8
/* how long the leader waits before it assigns, so that workers that start together get their leases in one
 * round; not needed for a worker that has notified the leader */
#define SETTLE_US 1000000
/* The first leader of a new fleet assigns leases only this long after it began to lead, if other workers have
 * joined, and if not all leases have an owner. */
#define SETTLE_FIRST_US 2000000
/* the first leader of a new application may hand over many leases in one round for this long */
#define START_US 10000000
/* time between two counting rounds if shard syncs are further apart (list_ms); counting rounds find leases
 * that no worker acts on */
#define REVIEW_US 60000000
/* at least this time passes between two counting rounds */
#define REVIEW_LEAST_US 50000000
#define REST_US_MAX 5000000 /* the longest wait after the table could not be read */
/* Until WHOLE_FIRST_US after its first shard sync, a leader reads only the partition keys that it knows to be
 * in use. Then a round reads every key, and again every WHOLE_EVERY_US. The reason: a worker that is gone may
 * have read a shard to its end and created leases for its children. If the stream has forgotten these
 * children, no listing has them. */
#define WHOLE_FIRST_US 30000000
#define WHOLE_EVERY_US 300000000

static int is_leading(const slp_fleet *f) { return slp_role_is(f, SLP_ROLE_LEADS); }

/* Returns 1 if the listing for a shard sync has come. It must have been asked for after the sync was due.
 * (Assigning leases does not wait for a listing.) */
static int sync_ready(const slp_fleet *f) {
  return f->leader.sync_from_us != SLP_NEVER && slp_listed_since(f, f->leader.sync_from_us);
}

static int round_runs(const slp_fleet *f) { return f->leader.read.busy || slp_bulk_write_busy(f); }

/* Sets the timer for the next round. */
static void set_round_timer(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t at = sync_ready(f) ? slp_fleet_now(f) : slp_min_u64(d->assign_at_us, d->sync_at_us);
  at = slp_max_u64(at, d->rest_us);
  if (is_leading(f)) slp_fleet_timer(f, &d->timer, round_runs(f) ? SLP_NEVER : at);
}

void slp_leader_assign(slp_fleet *f, uint64_t in_us) {
  if (!is_leading(f)) return;
  f->leader.assign_at_us = slp_min_u64(f->leader.assign_at_us, slp_after_us(slp_fleet_now(f), in_us));
  set_round_timer(f);
}

void slp_leader_sync(slp_fleet *f, uint64_t in_us) {
  if (!is_leading(f)) return;
  f->leader.sync_at_us = slp_min_u64(f->leader.sync_at_us, slp_after_us(slp_fleet_now(f), in_us));
  set_round_timer(f);
}

static uint64_t next_watch_us(slp_fleet *f) {
  uint64_t every_us = f->leader.alone ? WATCH_ALONE_US : WATCH_US;
  return slp_fleet_now(f) + slp_reads_rest_us(f, slp_fleet_jitter(f, every_us, 10), WATCH_REST);
}

/* Reads the list of workers, unless the table throttles. Then it may allow only one read in several seconds,
 * and the round needs that read. */
static void watch_beside_rounds(slp_fleet *f) {
  if (slp_fleet_throttled(f))
    slp_fleet_timer(f, &f->leader.watch_timer, next_watch_us(f));
  else
    slp_leader_watch(f);
}

static const slp_set early_allowed[] = {
    [SLP_EARLY_UNKNOWN] = SLP_BIT(SLP_EARLY_UNKNOWN) | SLP_BIT(SLP_EARLY_LOOKS),
    [SLP_EARLY_LOOKS] = SLP_BIT(SLP_EARLY_UNKNOWN) | SLP_BIT(SLP_EARLY_MAY) | SLP_BIT(SLP_EARLY_NOT),
    [SLP_EARLY_MAY] = SLP_BIT(SLP_EARLY_UNKNOWN) | SLP_BIT(SLP_EARLY_NOT),
    [SLP_EARLY_NOT] = SLP_BIT(SLP_EARLY_UNKNOWN),
};

static void early_move(slp_fleet *f, slp_early to) { SLP_MOVE(early_allowed, f->leader.early, to); }

static void begin_leading(slp_fleet *f) {
  slp_leader *d = &f->leader;
  d->made = d->made_first = 0;
  early_move(f, SLP_EARLY_UNKNOWN);
  d->alone = 1;
  d->assign_at_us = d->sync_at_us = d->sync_from_us = SLP_NEVER;
  d->since_us = slp_fleet_now(f);
  d->rest_us = d->reviewed_us = 0;
  /* another worker led before and is gone; it may have created leases that no listing shows */
  d->lost_one = !slp_election_made(f) && !slp_fleet_is_scarce(f);
  /* When the first shard sync is over, next_sync sets the time of a round that reads every partition key. A
   * leader that created the row of leadership needs that round too: an operator may have removed an older
   * row, and leases may be left from before. */
  d->whole_us = SLP_NEVER;
  slp_assign_begin(f);
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));) p->takes = 0;
  slp_fleet_tell(f, SLP_FLEET_LEADS, (slp_str){NULL, 0}, slp_election_epoch(f), "leads");
  slp_leader_sync(f, 0);
  watch_beside_rounds(f);
  /* no worker led before, so no lease is assigned yet */
  if (slp_election_made(f)) return;
  /* assigns the shards of the former leader now, without waiting for a shard sync */
  slp_leader_assign(f, 0);
  /* The table may have assignments of which no worker was notified, not even this worker. */
  slp_notify_leader(f);
  slp_election_changed(f);
}

static void end_leading(slp_fleet *f) {
  slp_leader *d = &f->leader;
  slp_read_stop(&d->read);
  slp_bulk_write_stop(f);
  slp_timer_clear(f->h, &d->watch_timer);
  slp_timer_clear(f->h, &d->timer);
  d->assign_at_us = d->sync_at_us = SLP_NEVER;
  slp_seen_rows(f, SLP_NEVER);
  SLP_PROBE("lead: given up");
  f->stats.holes_now = 0; /* the next leader looks for hash keys without a lease itself */
  slp_shut_forget(f);
  slp_fleet_tell(f, SLP_FLEET_FOLLOWS, (slp_str){NULL, 0}, slp_election_epoch(f), "is no longer the leader");
}

void slp_leader_leads(slp_fleet *f, int on) {
  if (on)
    begin_leading(f);
  else
    end_leading(f);
}

/* ---- watching the workers ---------------------------------------------------------------------- */

/* Returns 1 if leases can be assigned to the worker p. A worker whose row is missing keeps its leases until
 * the row has been missing for a whole lease time. */
static int member_takes_leases(slp_fleet *f, slp_member *p) {
  if (p->gone || p->leaving || p->older || !p->incarnation_n) return 0;
  if (!slp_member_is_missing(p)) return p->in_list || p->takes;
  slp_instance i;
  slp_member_instance(p, &i);
  return slp_member_verdict(f, slp_instance_str(&i), 0) != SLP_MEMBER_EVICTED && p->takes;
}

/* Looks at the worker p when the list of workers was read, and evicts it if it has been silent for too long.
 * Returns when to look at p again; SLP_NEVER: no need. Adds one to *others if p is another worker that takes
 * leases. */
static uint64_t watch_one(slp_fleet *f, slp_member *p, uint32_t *others) {
  int is_me = slp_member_is_me(f, p), now = member_takes_leases(f, p);
  *others += !is_me && now;
  if (!p->in_list && p->takes) p->wanted = 1;
  *others += p->wanted; /* p may be another living worker; its row must be read to know */
  if (p->wanted) slp_poll_soon(f, slp_fleet_now(f));
  int same = memcmp(p->incarnation_took, p->incarnation, sizeof p->incarnation) == 0;
  if (now && (!p->takes || !same)) slp_leader_assign(f, SETTLE_US);
  if (!now && p->takes) slp_leader_assign(f, 0);
  /* If the worker's id has a new incarnation, or its row is not marked as leaving, the former incarnation has
   * died. Then there may be leases that it has created and that no listing shows. A worker that leaves in an
   * orderly way has proposed its leases to other workers. */
  if (p->takes && (now ? !same : !p->leaving)) f->leader.lost_one = 1;
  memcpy(p->incarnation_took, p->incarnation, sizeof p->incarnation);
  p->takes = (uint8_t)now;
  if ((!now && !p->older) || is_me) return SLP_NEVER;
  if (slp_member_may_evict(f, p, 0)) slp_member_evict(f, p);
  return slp_member_quiet_us(f, p, 0);
}

static void on_members_watched(slp_fleet *f) {
  if (!is_leading(f)) return;
  uint32_t others = 0;
  size_t at = 0;
  uint64_t next = next_watch_us(f);
  if (slp_members_list_came(f)) {
    for (slp_member *p; (p = slp_member_each(f, &at));) next = slp_min_u64(next, watch_one(f, p, &others));
    f->leader.alone = others == 0;
    slp_member *me = slp_member_get(f, f->o.worker);
    if (me && slp_election_heard(f, me->changes)) {
      slp_election_changed(f);
      /* the counter was raised by a worker that left, or gave a shard up because it can't read it */
      slp_leader_assign(f, 0);
    }
  }
  slp_fleet_timer(f, &f->leader.watch_timer, next);
}

void slp_leader_watch(slp_fleet *f) {
  if (!is_leading(f) || slp_members_list(f, 0, on_members_watched)) return;
  slp_members_list_joined(f, on_members_watched);
  slp_fleet_timer(f, &f->leader.watch_timer, next_watch_us(f));
}

/* The answer to a heartbeat shows the leader's own row, and in it the change counter that other workers
 * raise. */
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me) {
  if (me && is_leading(f) && slp_election_differs(f, me->changes)) slp_leader_watch(f);
}

static void run_watch(slp_timer *t) { slp_leader_watch(SLP_OWNER(t, slp_fleet, leader.watch_timer)); }

/* ---- rounds ------------------------------------------------------------------------------------ */

static void next_sync(slp_fleet *f) {
  slp_leader *d = &f->leader;
  d->sync_from_us = SLP_NEVER;
  if (d->whole_us == SLP_NEVER) d->whole_us = slp_after_us(slp_fleet_now(f), WHOLE_FIRST_US);
  slp_leader_sync(f, slp_fleet_jitter(f, slp_listed_every_us(f), 10));
}

/* Returns 1 if this round is a counting round. A lease that stays without an owner, or with its former owner,
 * for several counting rounds is assigned to another worker (assign.c). Counting rounds are a minute apart,
 * because the worker to which a lease is assigned needs time to act. */
static int is_review(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t now = slp_fleet_now(f);
  if (d->reviewed_us && now - d->reviewed_us < REVIEW_LEAST_US) return 0;
  d->reviewed_us = now;
  return 1;
}

/* Makes a counting round begin after REVIEW_US, unless a shard sync is due before 2 * REVIEW_US: the round of
 * a shard sync counts too. */
static void review_later(slp_fleet *f) {
  slp_leader *d = &f->leader;
  if (d->sync_at_us != SLP_NEVER && d->sync_at_us > slp_after_us(slp_fleet_now(f), 2 * REVIEW_US))
    slp_leader_assign(f, slp_fleet_jitter(f, REVIEW_US, 10));
}

/* Called when the missing rows were created. Begins a round that assigns the leases that the table has
 * now. */
static void on_missing_rows_created(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused;
  if (!is_leading(f)) return;
  next_sync(f);
  /* Some rows were not written, or the new leases may cover hash keys that no lease covered: the next shard
   * sync comes soon. */
  if (given_up || (f->leader.made && f->stats.holes_now)) slp_leader_sync(f, 1000000);
  uint64_t settle = f->leader.since_us + SETTLE_US, now = slp_fleet_now(f);
  slp_leader_assign(f, f->leader.made_first && settle > now ? settle - now : 0);
  set_round_timer(f);
}

static void on_assignments_written(slp_fleet *f, uint32_t refused, int given_up) {
  if (!is_leading(f)) return;
  if (f->leader.others) slp_notify_leader(f);
  if (refused) {
    slp_election_seek(f, 0); /* a newer leader has assigned leases already, so read who leads */
    return;
  }
  if (given_up) slp_leader_assign(f, 1000000);
  set_round_timer(f);
}

/* ---- the writes of a round ---------------------------------------------------------------------- */

/* The first leader of an application takes up to OWNED_MOST leases itself, with the writes that create them.
 * So their first records need not wait for workers that may join, nor for an assignment. The leader hands a
 * lease over when the lease is assigned to another worker. With thousands of leases that would be thousands
 * of hand-overs, so the other leases wait for the first assignment.
 *
 * If a table allows about one write a second, other workers learn of their assignments long after the leases
 * were created. So a leader then takes each lease that it creates, with that write or right after it. A
 * stream with more than OWNED_MOST shards needs more capacity than such a table has, whichever worker takes
 * the leases. */
#define OWNED_MOST 64

/* Returns 1 if this worker has led for SETTLE_FIRST_US without another worker; workers that start together
 * have joined by then. So all leases are for this worker. It can create them with itself as the owner, which
 * saves the writes that take leases. */
static int has_been_alone(slp_fleet *f) {
  const slp_leader *d = &f->leader;
  return d->alone && !d->others && slp_fleet_now(f) >= slp_after_us(d->since_us, SETTLE_FIRST_US);
}

/* Returns 1 if this leader should create its next lease with itself as the owner. */
static int takes_what_it_makes(slp_fleet *f) {
  if (!slp_hold_is(f, SLP_HOLD_OFF)) return 0;
  if (slp_fleet_is_scarce(f)) return slp_listed_n(f) <= OWNED_MOST;
  return has_been_alone(f) || (f->leader.made_first && f->leader.owned_n < OWNED_MOST);
}

/* Called before a write of a round is sent. Returns 0 if it is a CREATE that is not needed: this worker has
 * read the parent shard to its end meanwhile, and has created the child's row then. */
static int to_be_written(slp_fleet *f, slp_operation *i) {
  if (i->kind != SLP_OPERATION_CREATE) return 1;
  if (slp_seen_has_row(f, i->shard, slp_seen_lately_us(f))) return 0;
  slp_lease *l = takes_what_it_makes(f) ? slp_lease_make(f, i->shard) : NULL;
  if (!l) return 1; /* no memory: the row is created without an owner */
  i->owns = 1;
  f->leader.owned_n++;
  slp_lease_makes(l);
  return 1;
}

/* Returns 1 if this worker has created the row of the lease, 0 if another worker did. With 1, *row is the row
 * as it was sent. If the CREATE was refused because an earlier copy of it had reached the table, *row is the
 * row as the table has it. */
static int is_made_by_me(const slp_write *op, slp_lease_row *row) {
  const slp_operation *made = &op->i;
  if (op->w.written != SLP_WRITTEN_YES) {
    *row = op->row.u.lease;
    return op->row.kind == SLP_ROW_LEASE && slp_str_eq(row->owner, made->me);
  }
  *row = (slp_lease_row){.shard = made->shard, .epoch = made->epoch_first, .position = made->position};
  if (made->owns) {
    row->owner = made->me;
    row->epoch++;
  }
  memcpy(row->parents, made->parents, sizeof row->parents);
  return 1;
}

/* Called when this worker has created a lease with itself as the owner: begins to read the shard. The lease
 * is handed over if it is assigned to another worker. */
static void take_made(slp_fleet *f, const slp_write *op) {
  slp_lease_row row;
  slp_lease *l = slp_lease_make(f, op->i.shard);
  if (!l || !slp_lease_in(l, SLP_LEASE_UNSOUGHT) || !is_made_by_me(op, &row)) return;
  slp_lease_inherit(l);
  slp_lease_move(l, l->state == SLP_LEASE_EXPECTED ? SLP_LEASE_CLAIMED : SLP_LEASE_WANTED);
  slp_lease_saw(l, &row, slp_fleet_now(f), slp_fleet_now(f));
}

/* Does nothing unless this worker leads, because only a leader would notice later that the row is gone. */
void slp_leader_made(slp_fleet *f, slp_str shard) {
  slp_seen_shard *seen = is_leading(f) ? slp_seen_of(f, shard) : NULL;
  if (seen) slp_seen_row(f, seen);
}

/* Called when one write of a round is answered. */
static void on_round_write_done(slp_fleet *f, const slp_write *op) {
  if (!is_leading(f) || op->end != SLP_OUTCOME_DONE) return;
  if (op->i.kind == SLP_OPERATION_CREATE) slp_leader_made(f, op->i.shard);
  if (op->i.kind == SLP_OPERATION_CREATE && (op->i.owns || takes_what_it_makes(f))) take_made(f, op);
  if (op->i.kind != SLP_OPERATION_ASSIGN || !slp_str_eq(op->i.id, f->o.worker)) return;
  if (op->row.kind == SLP_ROW_ASSIGNMENT)
    slp_assignment_saw(f, &op->row.u.assignment);
  else
    slp_assignment_read(f);
}

static const slp_bulk_watch of_round = {to_be_written, on_round_write_done};

/* ---- rounds, continued ------------------------------------------------------------------------- */

/* Returns 1 if the row of leadership does not have this worker as its owner. */
static int is_displaced(slp_fleet *f, const slp_snapshot *s) {
  return !s->leadership_there || s->leadership.epoch != slp_election_epoch(f) ||
         !slp_str_eq(s->leadership.owner, slp_instance_str(&f->me));
}

/* Compares the stream with the table. Returns 1 if missing rows are being written; on_missing_rows_created()
 * is called when they are in the table. */
static int sync_shards(slp_fleet *f, const slp_snapshot *s) {
  f->stats.shard_syncs++;
  watch_beside_rounds(f);
  slp_sync_found found = slp_shard_sync_write(f, s, f->leader.read.whole);
  /* the hash keys that seem to have no lease may have one under a partition key that was not read; so read
   * every key now */
  if (found.doubt) {
    f->leader.whole_us = 0;
    slp_leader_sync(f, 0);
  }
  f->leader.made = found.made > 0;
  /* If there are assignments, an operator has removed the rows of all leases, and their owners may read on
   * until they notice. So the leader does not take the leases. */
  f->leader.made_first = found.made && !s->leases_n && !s->assignments_n;
  f->leader.owned_n = 0;
  if (slp_bulk_write_n(f)) {
    slp_bulk_write_run(f, &of_round, on_missing_rows_created);
    return 1;
  }
  next_sync(f);
  return 0;
}

/* Takes this worker's own assignment from the snapshot, so that the row need not be read separately. */
static void take_own_assignment(slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->assignments_n; i++)
    if (slp_str_eq(s->assignments[i].worker, f->o.worker)) slp_assignment_saw(f, &s->assignments[i]);
}

/* Finds shards that this worker believes to be ended, but whose position an operator has set back. They may
 * be assigned to this worker already, so no new assignment would make it look at them. */
static void look_at_what_was_set_back(slp_fleet *f, const slp_snapshot *s) {
  size_t at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) {
    const slp_lease_row *row = l->row.ended ? slp_snapshot_lease_of(s, l->shard) : NULL;
    if (row && row->position.kind != SLP_POSITION_END) slp_lease_doubt_end(l);
  }
}

/* Returns 1 if another worker takes leases. (A worker that is not in this snapshot joins later, and then
 * reads all rows that concern it.) */
static int others_take(slp_fleet *f, const slp_snapshot *s) {
  for (size_t i = 0; i < s->workers_n; i++)
    if (slp_worker_takes(&s->workers[i]) && !slp_str_eq(s->workers[i].id, f->o.worker)) return 1;
  return 0;
}

static int some_have_no_owner(const slp_snapshot *s) {
  for (size_t i = 0; i < s->leases_n; i++)
    if (!s->leases[i].owner.n && s->leases[i].position.kind != SLP_POSITION_END) return 1;
  return 0;
}

/* Returns 1 while other workers that were started together with this worker may still join, and leases wait
 * for an owner. The leader then assigns when SETTLE_FIRST_US is over. */
static int is_settling(slp_fleet *f, const slp_snapshot *s) {
  uint64_t settle = f->leader.since_us + SETTLE_FIRST_US, now = slp_fleet_now(f);
  if (!f->leader.made_first || !f->leader.others || now >= settle || !some_have_no_owner(s)) return 0;
  slp_leader_assign(f, settle - now);
  return 1;
}

/* Takes in the hold (hold.h) from the row of leadership and from the assignment rows. The assignment rows
 * were read first, because of the order of their keys. So if one of them has a newer version of the hold, the
 * row of leadership was deleted and created again. */
static void know_hold(slp_fleet *f, const slp_snapshot *s) {
  slp_hold newest = {.version = 0};
  slp_hold_saw(f, &s->leadership.hold, s->leadership.hold_by, f->leader.round_us);
  for (size_t i = 0; i < s->assignments_n; i++)
    if (s->assignments[i].hold.version > newest.version) newest = s->assignments[i].hold;
  slp_hold_outlived(f, &newest);
}

/* Returns 1 if this worker has made the first leases of the application less than START_US ago. */
static int has_just_started(slp_fleet *f) {
  return f->leader.made_first && slp_fleet_now(f) < slp_after_us(f->leader.since_us, START_US);
}

static void use_snapshot(slp_fleet *f, const slp_snapshot *s) {
  uint64_t again_us;
  if (f->leader.sync) slp_shard_sync_tell_bad(f, s);
  slp_election_listed(f, s->leadership_there);
  if (is_displaced(f, s)) {
    slp_election_seek(f, 0);
    return;
  }
  slp_election_set_start(f, &s->leadership.start);
  know_hold(f, s);
  slp_shut_saw(f, s);
  take_own_assignment(f, s);
  look_at_what_was_set_back(f, s);
  f->leader.others = (uint8_t)others_take(f, s);
  /* while the application is held, it is right that leases have no owner */
  int review = is_review(f) && !slp_hold_is(f, SLP_HOLD_ON);
  /* slp_shard_sync_count returns 1 if a lease had no owner in two counting rounds in a row; the worker to
   * which the lease is assigned may not know of it */
  if (review && slp_shard_sync_count(f, s)) {
    slp_notify_leader(f);
    slp_election_changed(f);
  }
  if (f->leader.sync && sync_shards(f, s)) return;
  if (is_settling(f, s)) return;
  int some = slp_assign_write(f, s, review, has_just_started(f), &again_us);
  review_later(f);
  if (again_us != SLP_NEVER) slp_leader_assign(f, again_us);
  if (!some) return;
  f->stats.assignments++;
  slp_bulk_write_run(f, &of_round, on_assignments_written);
}

static void table_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_snapshot s;
  if (!is_leading(f)) return;
  if (!r->came || slp_snapshot_make(&s, f->schema, r->rows)) {
    uint64_t rest_us =
        slp_fleet_jitter(f, slp_min_u64(300000 << slp_min_u64(f->leader.read.failed, 6), REST_US_MAX), 50);
    f->leader.lost_one |= f->leader.whole;
    /* before this time no shard sync begins either, even if the listing that it waits for has come */
    f->leader.rest_us = slp_after_us(slp_fleet_now(f), rest_us);
    slp_leader_assign(f, rest_us);
  } else {
    use_snapshot(f, &s);
  }
  set_round_timer(f);
}

/* ---- which partition keys a round reads ----------------------------------------------------------- */

/* Marks the partition key of every shard that is in an assignment row of the answer. */
static void mark_assigned(slp_read *r, uint8_t keys[]) {
  slp_schema *schema = r->f->schema;
  slp_parsed_row row;
  while (slp_read_next(r, &row)) {
    slp_shard_set_reader set;
    slp_str id;
    if (row.kind != SLP_ROW_ASSIGNMENT) continue;
    slp_shard_set_begin(&set, row.u.assignment.set);
    while (slp_shard_set_next(&set, &id) == 1) keys[schema->lease_key_of(schema, id)] = 1;
    for (size_t i = 0; i < row.u.assignment.plus_n; i++)
      keys[schema->lease_key_of(schema, row.u.assignment.plus[i])] = 1;
  }
  r->next = 0;
}

/* Marks the partition keys that may have a lease: those of shards in the stream's listing, in assignments and
 * in earlier rounds, and of leases that this worker knows. Other keys are not read, because an empty key
 * costs a read unit too. A lease of a shard that the stream has forgotten may be under another key; it is
 * found in the next round that reads every key. */
static void choose_keys(slp_read *r, uint8_t keys[]) {
  slp_fleet *f = r->f;
  slp_schema *schema = f->schema;
  if (f->leader.whole) {
    memset(keys, 1, SLP_SPREAD_KEYS_MAX);
    return;
  }
  size_t at = 0;
  for (slp_listed *d; (d = slp_listed_each(f, &at));) keys[schema->lease_key_of(schema, d->desc.id)] = 1;
  at = 0;
  for (slp_seen_shard *s; (s = slp_seen_each(f, &at));)
    keys[schema->lease_key_of(schema, slp_str_of(s->id))] = 1;
  at = 0;
  for (slp_lease *l; (l = slp_lease_each(f, &at));) keys[schema->lease_key_of(schema, l->shard)] = 1;
  mark_assigned(r, keys);
}

static void begin_round(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t now = slp_fleet_now(f);
  if (!is_leading(f) || round_runs(f)) return;
  if (now >= d->sync_at_us) {
    d->sync_at_us = SLP_NEVER;
    d->sync_from_us = now;
    slp_fleet_list(f);
  }
  int ready = sync_ready(f);
  if (now < d->rest_us || (!ready && now < d->assign_at_us)) {
    set_round_timer(f);
    return;
  }
  d->assign_at_us = SLP_NEVER;
  d->sync = (uint8_t)ready;
  d->whole = (ready && now >= d->whole_us) || d->lost_one;
  if (d->whole) d->whole_us = slp_after_us(now, WHOLE_EVERY_US);
  d->lost_one = 0;
  d->round_us = slp_now_refresh_us(f->h);
  slp_read_chosen(&d->read, 1, choose_keys, table_read);
}

static void on_round_timer(slp_timer *t) { begin_round(SLP_OWNER(t, slp_fleet, leader.timer)); }

void slp_leader_listed(slp_fleet *f, int ok) {
  if (!is_leading(f) || f->leader.sync_from_us == SLP_NEVER) return;
  if (ok) {
    begin_round(f);
  } else {
    f->leader.sync_from_us = SLP_NEVER;
    slp_leader_sync(f, 1000000);
  }
}

/* ---- leases before the first listing is complete -------------------------------------------------- */

/* A page of a listing has at most 100 shards of a table's stream, and an account is allowed ten pages a
 * second. So the listing of a table with 1,000 partitions takes seconds. The first leader of an application
 * does not wait for the whole listing if it is alone and the application begins at the oldest record. Then
 * every lease begins at the oldest record, whatever the other pages have, and no other worker waits for its
 * share. For each page the leader creates the leases with itself as the owner. A child is not read before its
 * parent: if the parent has no row, the child waits until a complete listing lacks the parent
 * (slp_lease_parent_saw). */

/* Called when the leases of the pages that have come were created. */
static void early_made(slp_fleet *f, uint32_t refused, int given_up) {
  if (!is_leading(f)) return;
  if (refused || given_up) early_move(f, SLP_EARLY_NOT);
  slp_leader_listed_part(f); /* the next pages of the listing may have come meanwhile */
  set_round_timer(f);
}

static void make_early(slp_fleet *f) {
  size_t at = 0;
  for (slp_listed *d; (d = slp_listed_each(f, &at));) {
    slp_operation *i = d->early ? NULL : slp_bulk_write_create(f, &d->desc, 0);
    if (i) i->position = (slp_position){.kind = SLP_POSITION_OLDEST};
    d->early = 1;
  }
  if (!slp_bulk_write_n(f)) return;
  SLP_PROBE("lead: leases are created before the listing is complete");
  slp_bulk_write_run(f, &of_round, early_made);
}

static void early_looked(slp_read *r) {
  slp_fleet *f = r->f;
  slp_snapshot s;
  if (!is_leading(f)) return;
  int first = r->came && r->whole && !slp_snapshot_make(&s, f->schema, r->rows) && !is_displaced(f, &s) &&
              !s.leases_n && !s.assignments_n && !s.bad_n && !others_take(f, &s) &&
              s.leadership.start.kind == SLP_POSITION_OLDEST;
  early_move(f, first ? SLP_EARLY_MAY : SLP_EARLY_NOT);
  slp_leader_listed_part(f);
  set_round_timer(f);
}

void slp_leader_listed_part(slp_fleet *f) {
  slp_leader *d = &f->leader;
  if (!is_leading(f) || !slp_election_made(f) || slp_listed_us(f) || d->sync_from_us == SLP_NEVER) return;
  if (round_runs(f) || !has_been_alone(f) || slp_fleet_is_scarce(f) || slp_fleet_throttled(f)) return;
  if (d->early == SLP_EARLY_MAY) make_early(f);
  if (d->early != SLP_EARLY_UNKNOWN) return;
  early_move(f, SLP_EARLY_LOOKS);
  slp_read_all(&d->read, 1, early_looked);
}

/* ---- creating and freeing ---------------------------------------------------------------------- */

void slp_leader_init(slp_fleet *f) {
  slp_leader *d = &f->leader;
  slp_fleet_timer_init(&d->watch_timer, run_watch);
  slp_fleet_timer_init(&d->timer, on_round_timer);
  slp_read_init(&d->read, f, "the whole fleet", 2);
  d->assign_at_us = d->sync_at_us = d->sync_from_us = SLP_NEVER;
}

void slp_leader_stop(slp_fleet *f) {
  slp_leader *d = &f->leader;
  slp_read_stop(&d->read);
  slp_timer_clear(f->h, &d->watch_timer);
  slp_timer_clear(f->h, &d->timer);
  d->assign_at_us = d->sync_at_us = SLP_NEVER;
}

void slp_leader_free(slp_fleet *f) { slp_read_free(&f->leader.read); }
