/* fleet_lead.c - leading: watch who comes and goes, and when to take stock of the table and plan anew.
 *
 * One round at a time: read all rows; in an audit, with a fresh listing, write what the table lacks; else
 * plan. Everything is only a hint to the others, so a leader that was replaced without knowing does no harm.
 */
#include "base/probe.h"
#include "lease/fleet_inside.h"

#define WATCH_US 500000
#define SETTLE_US 1000000       /* many workers that come together make one plan */
#define SETTLE_FIRST_US 2000000 /* at the fleet's first start */
#define SYNC_EVERY_US 60000000

static void round_run(slp_fleet *f);

/* An audit waits for a listing that was asked for after it was due; a plan does not wait for an audit. */
static int sync_ready(const slp_fleet *f) {
  return f->sync_wanted && !f->listing && f->listed_us >= f->sync_from_us;
}

void slp_leader_arm(slp_fleet *f) {
  uint64_t at = sync_ready(f) ? slp_fleet_now(f) : slp_min_u64(f->assign_at_us, f->sync_at_us);
  int busy = f->snapshot_busy || f->jobs.busy;
  at = slp_max_u64(at, f->rest_until_us);
  if (f->role == SLP_ROLE_LEADS) slp_fleet_timer(f, &f->assign_timer, busy ? SLP_NEVER : at);
}

void slp_assignment_soon(slp_fleet *f, uint64_t in_us) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->assign_at_us = slp_min_u64(f->assign_at_us, slp_after_us(slp_fleet_now(f), in_us));
  slp_leader_arm(f);
}

void slp_shard_sync_soon(slp_fleet *f, uint64_t in_us) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->sync_at_us = slp_min_u64(f->sync_at_us, slp_after_us(slp_fleet_now(f), in_us));
  slp_leader_arm(f);
}

void slp_leader_begin(slp_fleet *f) {
  f->role = SLP_ROLE_LEADS;
  f->leader = f->me;
  f->changes_known = f->sync_wanted = f->made_some = f->notify_due = 0;
  f->alone = 1;
  f->version_serial = f->version_base = 0;
  f->assign_at_us = f->sync_at_us = SLP_NEVER;
  f->led_us = slp_fleet_now(f);
  f->rest_until_us = 0;
  size_t at = 0;
  for (slp_member *p; (p = slp_map_each(&f->members, &at));) p->takes = 0;
  slp_fleet_tell(f, SLP_FLEET_LEADS, (slp_str){NULL, 0}, f->leadership_epoch, "leads");
  slp_assignment_soon(f, 0); /* the shards of a leader that died do not wait for an audit */
  slp_shard_sync_soon(f, 0);
  /* Plans that were written before and never heard of, by me or by who led before. */
  slp_notify_leader(f);
  slp_election_changed(f);
  slp_watch_now(f);
}

void slp_leader_end(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->role = SLP_ROLE_NONE;
  f->store->ops->cancel(f->store, &f->snapshot.rq);
  f->snapshot_busy = 0;
  if (f->state != SLP_WORKER_LEAVING) slp_bulk_write_stop(f);
  slp_timer_clear(f->h, &f->watch_timer);
  slp_timer_clear(f->h, &f->assign_timer);
  f->assign_at_us = f->sync_at_us = SLP_NEVER;
  SLP_PROBE("lead: given up");
  f->stats.holes_now = 0; /* the next one looks */
  slp_fleet_tell(f, SLP_FLEET_FOLLOWS, (slp_str){NULL, 0}, f->leadership_epoch, "leads no more");
}

/* ---- the watch --------------------------------------------------------------------------------- */

/* A worker that the plan may count on. One whose row is missing counts until it was missing for a lease. */
static int takes(slp_fleet *f, slp_member *p) {
  if (p->gone || p->leaving || !p->incarnation_n) return 0;
  if (!p->missing) return p->in_list || p->takes;
  slp_instance i;
  slp_member_instance(p, &i);
  return slp_member_verdict(f, slp_instance_str(&i), 0) != SLP_MEMBER_EVICTED && p->takes;
}

static void watched(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  uint32_t others = 0;
  size_t at = 0;
  uint64_t next = slp_fleet_now(f) + slp_fleet_jitter(f, WATCH_US, 10);
  if (f->members_ok) {
    for (slp_member *p; (p = slp_map_each(&f->members, &at));) {
      int is_me = slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker);
      int now = takes(f, p);
      others += !is_me && now;
      if (!p->in_list && p->takes) p->wanted = 1;
      others += p->wanted; /* who is not known for sure yet */
      if (p->wanted) slp_poll_soon(f, slp_fleet_now(f));
      int same = memcmp(p->incarnation_took, p->incarnation, sizeof p->incarnation) == 0;
      if (now && (!p->takes || !same)) slp_assignment_soon(f, SETTLE_US);
      if (!now && p->takes) slp_assignment_soon(f, 0);
      memcpy(p->incarnation_took, p->incarnation, sizeof p->incarnation);
      p->takes = (uint8_t)now;
      if (!now || is_me) continue;
      if (slp_member_may_evict(f, p, 0)) slp_member_evict(f, p);
      next = slp_min_u64(next, slp_member_quiet_us(f, p, 0));
    }
    f->alone = others == 0;
    slp_member *me = slp_member_get(f, f->o.worker);
    if (me && f->changes_known && me->changes != f->changes) {
      f->changes = me->changes;
      slp_election_changed(f);
      slp_assignment_soon(f, 0); /* somebody has left, or gave up what it can't read */
    }
  }
  if (!f->alone || !f->members_ok) slp_fleet_timer(f, &f->watch_timer, next);
}

void slp_watch_now(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  if (!slp_workers_list(f, 0, watched)) {
    f->members_done = watched; /* the one under way is as good */
    slp_fleet_timer(f, &f->watch_timer, slp_fleet_now(f) + slp_fleet_jitter(f, WATCH_US, 10));
  }
}

void slp_watch_run(slp_timer *t) { slp_watch_now(SLP_OWNER(t, slp_fleet, watch_timer)); }

/* ---- rounds ------------------------------------------------------------------------------------ */

static uint64_t sync_every_us(const slp_fleet *f) {
  return slp_max_u64(SYNC_EVERY_US, (uint64_t)f->listed.live * 6000);
}

static void next_sync(slp_fleet *f) {
  f->sync_wanted = 0;
  slp_shard_sync_soon(f, slp_fleet_jitter(f, sync_every_us(f), 10));
}

/* The audit's writes are in: plan with what there is now. */
static void audited(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused;
  if (f->role != SLP_ROLE_LEADS) return;
  next_sync(f);
  if (given_up) slp_shard_sync_soon(f, 1000000);
  uint64_t settle = f->led_us + SETTLE_FIRST_US, now = slp_fleet_now(f);
  slp_assignment_soon(f, f->made_some && settle > now ? settle - now : 0);
  slp_leader_arm(f);
}

static void assigned(slp_fleet *f, uint32_t refused, int given_up) {
  if (f->role != SLP_ROLE_LEADS) return;
  slp_notify_leader(f);
  slp_election_changed(f); /* the others hear it; I know */
  if (refused) {
    slp_election_seek(f, 0); /* a newer leader plans already */
    return;
  }
  if (given_up) slp_assignment_soon(f, 1000000);
  slp_leader_arm(f);
}

/* Somebody else leads, by the row itself. */
static int displaced(slp_fleet *f, const slp_snapshot *s) {
  return !s->leadership_there || s->leadership.epoch != f->leadership_epoch ||
         !slp_str_eq(s->leadership.owner, slp_instance_str(&f->me));
}

static void use_snapshot(slp_fleet *f, const slp_snapshot *s) {
  if (displaced(f, s)) {
    slp_election_seek(f, 0);
    return;
  }
  f->start = s->leadership.start;
  if (f->sync_in_round) {
    f->stats.shard_syncs++;
    slp_watch_now(f);
    if (slp_shard_sync_write(f, s)) {
      slp_bulk_write_run(f, audited);
      return;
    }
    next_sync(f);
  }
  if (slp_assignment_write(f, s)) {
    f->stats.assignments++;
    slp_bulk_write_run(f, assigned);
  }
}

static void snapshot_done(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_fleet, snapshot);
  slp_snapshot s;
  f->snapshot_busy = 0;
  if (f->role != SLP_ROLE_LEADS) return;
  if (!slp_read_came(f, SLP_READ_SNAPSHOT, rq) || slp_snapshot_sort(f, &s)) {
    uint64_t rest_us = slp_fleet_jitter(f, 300000, 50);
    f->rest_until_us = slp_after_us(slp_fleet_now(f), rest_us); /* an audit that is ready waits as well */
    slp_assignment_soon(f, rest_us);
  } else {
    use_snapshot(f, &s);
  }
  slp_store_rows_free(&f->snapshot.out);
  slp_leader_arm(f);
}

static void round_run(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f);
  if (f->role != SLP_ROLE_LEADS || f->snapshot_busy || f->jobs.busy) return;
  if (now >= f->sync_at_us) {
    f->sync_at_us = SLP_NEVER;
    f->sync_wanted = 1;
    f->sync_from_us = now;
    slp_fleet_list(f);
  }
  int ready = sync_ready(f);
  if (now < f->rest_until_us || (!ready && now < f->assign_at_us)) {
    slp_leader_arm(f);
    return;
  }
  f->assign_at_us = SLP_NEVER;
  f->sync_in_round = (uint8_t)ready;
  slp_snapshot_ask(f, 1, snapshot_done);
}

void slp_assignment_run(slp_timer *t) { round_run(SLP_OWNER(t, slp_fleet, assign_timer)); }

/* The listing is there, or is not to be had. */
void slp_leader_listed(slp_fleet *f, int ok) {
  if (f->role != SLP_ROLE_LEADS || !f->sync_wanted) return;
  if (ok) {
    round_run(f);
  } else {
    f->sync_wanted = 0;
    slp_shard_sync_soon(f, 1000000);
  }
}
