/* leader.c - leading: watch which workers come and go, and when to read the whole table and assign anew.
 *
 * One round at a time: read all rows; if the stream is to be compared with the table and its listing is
 * fresh, write what the table lacks; else assign. Everything is only a hint to the others, so a leader
 * that was replaced without knowing does no harm. */
#include "lease/leader.h"

#include "base/probe.h"
#include "lease/fleet_inside.h"
#include "lease/shard_sync.h"

#define WATCH_US 500000
#define SETTLE_US 1000000       /* many workers that come together are assigned to in one round */
#define SETTLE_FIRST_US 2000000 /* at the fleet's first start */
/* Rows that nobody acts on are looked for so often, however seldom or often shards are listed. */
#define REVIEW_US 60000000
#define REVIEW_LEAST_US 50000000
#define REST_US_MAX 5000000 /* after a table that can't be read */

static int leads(const slp_fleet *f) { return slp_role_is(f, SLP_ROLE_LEADS); }

/* A shard sync waits for a listing that was asked for after it was due; assigning does not wait for it. */
static int sync_ready(const slp_fleet *f) {
  return f->leader.sync_from_us != SLP_NEVER && slp_listed_since(f, f->leader.sync_from_us);
}

static int round_runs(const slp_fleet *f) { return f->leader.read.busy || slp_bulk_write_busy(f); }

static void arm(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t at = sync_ready(f) ? slp_fleet_now(f) : slp_min_u64(d->assign_at_us, d->sync_at_us);
  at = slp_max_u64(at, d->rest_us);
  if (leads(f)) slp_fleet_timer(f, &d->timer, round_runs(f) ? SLP_NEVER : at);
}

void slp_leader_assign(slp_fleet *f, uint64_t in_us) {
  if (!leads(f)) return;
  f->leader.assign_at_us = slp_min_u64(f->leader.assign_at_us, slp_after_us(slp_fleet_now(f), in_us));
  arm(f);
}

void slp_leader_sync(slp_fleet *f, uint64_t in_us) {
  if (!leads(f)) return;
  f->leader.sync_at_us = slp_min_u64(f->leader.sync_at_us, slp_after_us(slp_fleet_now(f), in_us));
  arm(f);
}

static void begin(slp_fleet *f) {
  slp_leader *d = &f->leader;
  d->made_first = 0;
  d->alone = 1;
  d->assign_at_us = d->sync_at_us = d->sync_from_us = SLP_NEVER;
  d->since_us = slp_fleet_now(f);
  d->rest_us = d->reviewed_us = 0;
  slp_assign_begin(f);
  size_t at = 0;
  for (slp_member *p; (p = slp_member_each(f, &at));) p->takes = 0;
  slp_fleet_tell(f, SLP_FLEET_LEADS, (slp_str){NULL, 0}, slp_election_epoch(f), "leads");
  slp_leader_assign(f, 0); /* the shards of a leader that died do not wait for a shard sync */
  slp_leader_sync(f, 0);
  /* Assignments that were written before and never heard of, by me or by the leader before. */
  slp_notify_leader(f);
  slp_election_changed(f);
  slp_leader_watch(f);
}

static void end(slp_fleet *f) {
  slp_leader *d = &f->leader;
  slp_read_stop(&d->read);
  slp_bulk_write_stop(f);
  slp_timer_clear(f->h, &d->watch_timer);
  slp_timer_clear(f->h, &d->timer);
  d->assign_at_us = d->sync_at_us = SLP_NEVER;
  SLP_PROBE("lead: given up");
  f->stats.holes_now = 0; /* the next one looks */
  slp_fleet_tell(f, SLP_FLEET_FOLLOWS, (slp_str){NULL, 0}, slp_election_epoch(f), "leads no more");
}

void slp_leader_leads(slp_fleet *f, int on) {
  if (on)
    begin(f);
  else
    end(f);
}

/* ---- the watch --------------------------------------------------------------------------------- */

/* A worker that can be assigned to. One whose row is missing can until it was missing for a lease. */
static int takes(slp_fleet *f, slp_member *p) {
  if (p->gone || p->leaving || p->older || !p->incarnation_n) return 0;
  if (!slp_member_is_missing(p)) return p->in_list || p->takes;
  slp_instance i;
  slp_member_instance(p, &i);
  return slp_member_verdict(f, slp_instance_str(&i), 0) != SLP_MEMBER_EVICTED && p->takes;
}

/* Returns when it is to be looked at again, if that is soon. */
static uint64_t watch_one(slp_fleet *f, slp_member *p, uint32_t *others) {
  int is_me = slp_member_is_me(f, p), now = takes(f, p);
  *others += !is_me && now;
  if (!p->in_list && p->takes) p->wanted = 1;
  *others += p->wanted; /* it is not known for sure yet */
  if (p->wanted) slp_poll_soon(f, slp_fleet_now(f));
  int same = memcmp(p->incarnation_took, p->incarnation, sizeof p->incarnation) == 0;
  if (now && (!p->takes || !same)) slp_leader_assign(f, SETTLE_US);
  if (!now && p->takes) slp_leader_assign(f, 0);
  memcpy(p->incarnation_took, p->incarnation, sizeof p->incarnation);
  p->takes = (uint8_t)now;
  if ((!now && !p->older) || is_me) return SLP_NEVER;
  if (slp_member_may_evict(f, p, 0)) slp_member_evict(f, p);
  return slp_member_quiet_us(f, p, 0);
}

static uint64_t next_watch_us(slp_fleet *f) { return slp_fleet_now(f) + slp_fleet_jitter(f, WATCH_US, 10); }

static void watched(slp_fleet *f) {
  if (!leads(f)) return;
  uint32_t others = 0;
  size_t at = 0;
  uint64_t next = next_watch_us(f);
  if (slp_members_list_came(f)) {
    for (slp_member *p; (p = slp_member_each(f, &at));) next = slp_min_u64(next, watch_one(f, p, &others));
    f->leader.alone = others == 0;
    slp_member *me = slp_member_get(f, f->o.worker);
    if (me && slp_election_heard(f, me->changes)) {
      slp_election_changed(f);
      slp_leader_assign(f, 0); /* somebody has left, or gave up what it can't read */
    }
  }
  if (!f->leader.alone || !slp_members_list_came(f)) slp_fleet_timer(f, &f->leader.watch_timer, next);
}

void slp_leader_watch(slp_fleet *f) {
  if (!leads(f) || slp_members_list(f, 0, watched)) return;
  slp_members_list_joined(f, watched);
  slp_fleet_timer(f, &f->leader.watch_timer, next_watch_us(f));
}

/* Its heartbeat shows its own row: others have written to it to notify it. */
void slp_leader_heartbeat(slp_fleet *f, const slp_member *me) {
  if (me && leads(f) && slp_election_differs(f, me->changes)) slp_leader_watch(f);
}

static void run_watch(slp_timer *t) { slp_leader_watch(SLP_OWNER(t, slp_fleet, leader.watch_timer)); }

/* ---- rounds ------------------------------------------------------------------------------------ */

static void next_sync(slp_fleet *f) {
  f->leader.sync_from_us = SLP_NEVER;
  slp_leader_sync(f, slp_fleet_jitter(f, slp_listed_every_us(f), 10));
}

/* Returns 1 if this round counts: a lease that stayed nobody's, or with its former owner, for several rounds
 * that count is assigned elsewhere (assign.c), and its worker needs that long to act. */
static int is_review(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t now = slp_fleet_now(f);
  if (d->reviewed_us && now - d->reviewed_us < REVIEW_LEAST_US) return 0;
  d->reviewed_us = now;
  return 1;
}

/* A shard sync reviews as well, if it comes in time. */
static void review_later(slp_fleet *f) {
  slp_leader *d = &f->leader;
  if (d->sync_at_us != SLP_NEVER && d->sync_at_us > slp_after_us(slp_fleet_now(f), 2 * REVIEW_US))
    slp_leader_assign(f, slp_fleet_jitter(f, REVIEW_US, 10));
}

/* The rows that the table lacked are in: assign with what there is now. */
static void synced(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused;
  if (!leads(f)) return;
  next_sync(f);
  if (given_up) slp_leader_sync(f, 1000000);
  uint64_t settle = f->leader.since_us + SETTLE_FIRST_US, now = slp_fleet_now(f);
  slp_leader_assign(f, f->leader.made_first && settle > now ? settle - now : 0);
  arm(f);
}

static void assigned(slp_fleet *f, uint32_t refused, int given_up) {
  if (!leads(f)) return;
  slp_notify_leader(f);
  slp_election_changed(f); /* the others hear it; I know */
  if (refused) {
    slp_election_seek(f, 0); /* a newer leader assigns already */
    return;
  }
  if (given_up) slp_leader_assign(f, 1000000);
  arm(f);
}

/* Another worker leads, by the row itself. */
static int displaced(slp_fleet *f, const slp_snapshot *s) {
  return !s->leadership_there || s->leadership.epoch != slp_election_epoch(f) ||
         !slp_str_eq(s->leadership.owner, slp_instance_str(&f->me));
}

/* 1: rows are written, and the round goes on when they are in. */
static int sync_shards(slp_fleet *f, const slp_snapshot *s) {
  f->stats.shard_syncs++;
  slp_leader_watch(f);
  size_t made = slp_shard_sync_write(f, s);
  f->leader.made_first = made && !s->leases_n;
  if (slp_bulk_write_n(f)) {
    slp_bulk_write_run(f, synced);
    return 1;
  }
  next_sync(f);
  return 0;
}

static void use_snapshot(slp_fleet *f, const slp_snapshot *s) {
  uint64_t again_us;
  if (f->leader.sync) slp_shard_sync_tell_bad(f, s);
  slp_election_listed(f, s->leadership_there);
  if (displaced(f, s)) {
    slp_election_seek(f, 0);
    return;
  }
  slp_election_set_start(f, &s->leadership.start);
  int review = is_review(f);
  if (review && slp_shard_sync_count(f, s)) { /* perhaps its worker has not heard of its assignment */
    slp_notify_leader(f);
    slp_election_changed(f);
  }
  if (f->leader.sync && sync_shards(f, s)) return;
  int some = slp_assign_write(f, s, review, &again_us);
  review_later(f);
  if (again_us != SLP_NEVER) slp_leader_assign(f, again_us);
  if (!some) return;
  f->stats.assignments++;
  slp_bulk_write_run(f, assigned);
}

static void table_read(slp_read *r) {
  slp_fleet *f = r->f;
  slp_snapshot s;
  if (!leads(f)) return;
  if (!r->came || slp_snapshot_make(&s, f->schema, r->rows)) {
    uint64_t rest_us =
        slp_fleet_jitter(f, slp_min_u64(300000 << slp_min_u64(f->leader.read.failed, 6), REST_US_MAX), 50);
    f->leader.rest_us =
        slp_after_us(slp_fleet_now(f), rest_us); /* a shard sync that is ready waits as well */
    slp_leader_assign(f, rest_us);
  } else {
    use_snapshot(f, &s);
  }
  arm(f);
}

static void begin_round(slp_fleet *f) {
  slp_leader *d = &f->leader;
  uint64_t now = slp_fleet_now(f);
  if (!leads(f) || round_runs(f)) return;
  if (now >= d->sync_at_us) {
    d->sync_at_us = SLP_NEVER;
    d->sync_from_us = now;
    slp_fleet_list(f);
  }
  int ready = sync_ready(f);
  if (now < d->rest_us || (!ready && now < d->assign_at_us)) {
    arm(f);
    return;
  }
  d->assign_at_us = SLP_NEVER;
  d->sync = (uint8_t)ready;
  slp_read_all(&d->read, 1, table_read);
}

static void run(slp_timer *t) { begin_round(SLP_OWNER(t, slp_fleet, leader.timer)); }

void slp_leader_listed(slp_fleet *f, int ok) {
  if (!leads(f) || f->leader.sync_from_us == SLP_NEVER) return;
  if (ok) {
    begin_round(f);
  } else {
    f->leader.sync_from_us = SLP_NEVER;
    slp_leader_sync(f, 1000000);
  }
}

/* ---- birth and death --------------------------------------------------------------------------- */

void slp_leader_init(slp_fleet *f) {
  slp_leader *d = &f->leader;
  slp_fleet_timer_init(&d->watch_timer, run_watch);
  slp_fleet_timer_init(&d->timer, run);
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
