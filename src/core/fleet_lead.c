/* fleet_lead.c - leading: watch who comes and goes, and when to take stock of the table and plan anew.
 *
 * One round at a time: read all rows; in an audit, with a fresh listing, write what the table lacks; else
 * plan. Everything is only a hint to the others, so a leader that was replaced without knowing does no harm.
 */
#include "base/probe.h"
#include "core/fleet_inside.h"

#define WATCH_US 500000
#define SETTLE_US 1000000       /* many workers that come together make one plan */
#define SETTLE_FIRST_US 2000000 /* at the fleet's first start */
#define AUDIT_US 60000000

static void round_run(slp_fleet *f);

/* An audit waits for a listing that was asked for after it was due; a plan does not wait for an audit. */
static int audit_ready(const slp_fleet *f) {
  return f->audit && !f->listing && f->listed_us >= f->audit_from_us;
}

void slp_lead_arm(slp_fleet *f) {
  uint64_t at = audit_ready(f) ? slp_fleet_now(f) : slp_min_u64(f->plan_at_us, f->audit_at_us);
  int busy = f->stocking || f->jobs.busy;
  at = slp_max_u64(at, f->rest_until_us);
  if (f->role == SLP_ROLE_LEADS) slp_fleet_timer(f, &f->plan_timer, busy ? SLP_NEVER : at);
}

void slp_plan_soon(slp_fleet *f, uint64_t in_us) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->plan_at_us = slp_min_u64(f->plan_at_us, slp_after_us(slp_fleet_now(f), in_us));
  slp_lead_arm(f);
}

void slp_audit_soon(slp_fleet *f, uint64_t in_us) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->audit_at_us = slp_min_u64(f->audit_at_us, slp_after_us(slp_fleet_now(f), in_us));
  slp_lead_arm(f);
}

void slp_lead_begin(slp_fleet *f) {
  f->role = SLP_ROLE_LEADS;
  f->leader = f->me;
  f->bell_known = f->audit = f->made_some = f->ring_due = 0;
  f->alone = 1;
  f->plan_serial = f->plan_base = 0;
  f->plan_at_us = f->audit_at_us = SLP_NEVER;
  f->led_us = slp_fleet_now(f);
  f->rest_until_us = 0;
  size_t at = 0;
  for (slp_peer *p; (p = slp_map_each(&f->peers, &at));) p->takes = 0;
  slp_fleet_tell(f, SLP_FLEET_LEADS, (slp_str){NULL, 0}, f->lead_epoch, "leads");
  slp_plan_soon(f, 0); /* the shards of a leader that died do not wait for an audit */
  slp_audit_soon(f, 0);
  /* Plans that were written before and never heard of, by me or by who led before. */
  slp_ring_leader(f);
  slp_bell_rang(f);
  slp_watch_now(f);
}

void slp_lead_end(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  f->role = SLP_ROLE_NONE;
  f->store->ops->cancel(f->store, &f->stock.rq);
  f->stocking = 0;
  if (f->state != SLP_WORKER_LEAVING) slp_jobs_stop(f);
  slp_timer_clear(f->h, &f->watch_timer);
  slp_timer_clear(f->h, &f->plan_timer);
  f->plan_at_us = f->audit_at_us = SLP_NEVER;
  SLP_PROBE("lead: given up");
  f->stats.holes_now = 0; /* the next one looks */
  slp_fleet_tell(f, SLP_FLEET_FOLLOWS, (slp_str){NULL, 0}, f->lead_epoch, "leads no more");
}

/* ---- the watch --------------------------------------------------------------------------------- */

/* A worker that the plan may count on. One whose row is missing counts until it was missing for a lease. */
static int takes(slp_fleet *f, slp_peer *p) {
  if (p->gone || p->leaving || !p->boot_n) return 0;
  if (!p->missing) return p->in_list || p->takes;
  slp_instance i;
  slp_peer_instance(p, &i);
  return slp_peer_verdict(f, slp_instance_str(&i), 0) != SLP_PEER_CONDEMNED && p->takes;
}

static void watched(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  uint32_t others = 0;
  size_t at = 0;
  uint64_t next = slp_fleet_now(f) + slp_fleet_jitter(f, WATCH_US, 10);
  if (f->wide_ok) {
    for (slp_peer *p; (p = slp_map_each(&f->peers, &at));) {
      int is_me = slp_str_eq((slp_str){p->id, p->id_n}, f->o.worker);
      int now = takes(f, p);
      others += !is_me && now;
      if (!p->in_list && p->takes) p->wanted = 1;
      others += p->wanted; /* who is not known for sure yet */
      if (p->wanted) slp_look_soon(f, slp_fleet_now(f));
      int same = memcmp(p->boot_took, p->boot, sizeof p->boot) == 0;
      if (now && (!p->takes || !same)) slp_plan_soon(f, SETTLE_US);
      if (!now && p->takes) slp_plan_soon(f, 0);
      memcpy(p->boot_took, p->boot, sizeof p->boot);
      p->takes = (uint8_t)now;
      if (!now || is_me) continue;
      if (slp_peer_may_condemn(f, p, 0)) slp_peer_condemn(f, p);
      next = slp_min_u64(next, slp_peer_quiet_us(f, p, 0));
    }
    f->alone = others == 0;
    slp_peer *me = slp_peer_get(f, f->o.worker);
    if (me && f->bell_known && me->bell != f->bell) {
      f->bell = me->bell;
      slp_bell_rang(f);
      slp_plan_soon(f, 0); /* somebody has left, or gave up what it can't read */
    }
  }
  if (!f->alone || !f->wide_ok) slp_fleet_timer(f, &f->watch_timer, next);
}

void slp_watch_now(slp_fleet *f) {
  if (f->role != SLP_ROLE_LEADS) return;
  if (!slp_wide_read(f, 0, watched)) {
    f->wide_done = watched; /* the one under way is as good */
    slp_fleet_timer(f, &f->watch_timer, slp_fleet_now(f) + slp_fleet_jitter(f, WATCH_US, 10));
  }
}

void slp_watch_run(slp_timer *t) { slp_watch_now(SLP_OWNER(t, slp_fleet, watch_timer)); }

/* ---- rounds ------------------------------------------------------------------------------------ */

static uint64_t audit_us(const slp_fleet *f) {
  return slp_max_u64(AUDIT_US, (uint64_t)f->listed.live * 6000);
}

static void next_audit(slp_fleet *f) {
  f->audit = 0;
  slp_audit_soon(f, slp_fleet_jitter(f, audit_us(f), 10));
}

/* The audit's writes are in: plan with what there is now. */
static void audited(slp_fleet *f, uint32_t refused, int given_up) {
  (void)refused;
  if (f->role != SLP_ROLE_LEADS) return;
  next_audit(f);
  if (given_up) slp_audit_soon(f, 1000000);
  uint64_t settle = f->led_us + SETTLE_FIRST_US, now = slp_fleet_now(f);
  slp_plan_soon(f, f->made_some && settle > now ? settle - now : 0);
  slp_lead_arm(f);
}

static void planned(slp_fleet *f, uint32_t refused, int given_up) {
  if (f->role != SLP_ROLE_LEADS) return;
  slp_ring_leader(f);
  slp_bell_rang(f); /* the others hear it; I know */
  if (refused) {
    slp_role_seek(f, 0); /* a newer leader plans already */
    return;
  }
  if (given_up) slp_plan_soon(f, 1000000);
  slp_lead_arm(f);
}

/* Somebody else leads, by the row itself. */
static int displaced(slp_fleet *f, const slp_stock *s) {
  return !s->lead_there || s->lead.epoch != f->lead_epoch ||
         !slp_str_eq(s->lead.owner, slp_instance_str(&f->me));
}

static void use_stock(slp_fleet *f, const slp_stock *s) {
  if (displaced(f, s)) {
    slp_role_seek(f, 0);
    return;
  }
  f->start = s->lead.start;
  if (f->audit_in_round) {
    f->stats.audits++;
    slp_watch_now(f);
    if (slp_audit_write(f, s)) {
      slp_jobs_run(f, audited);
      return;
    }
    next_audit(f);
  }
  if (slp_plan_write(f, s)) {
    f->stats.plans++;
    slp_jobs_run(f, planned);
  }
}

static void stock_done(slp_store_req *rq) {
  slp_fleet *f = SLP_OWNER(SLP_OWNER(rq, slp_store_list, rq), slp_fleet, stock);
  slp_stock s;
  f->stocking = 0;
  if (f->role != SLP_ROLE_LEADS) return;
  if (!slp_read_came(f, SLP_READ_STOCK, rq) || slp_stock_read(f, &f->stock.out, &s)) {
    uint64_t rest_us = slp_fleet_jitter(f, 300000, 50);
    f->rest_until_us = slp_after_us(slp_fleet_now(f), rest_us); /* an audit that is ready waits as well */
    slp_plan_soon(f, rest_us);
  } else {
    use_stock(f, &s);
    slp_stock_free(f, &s);
  }
  slp_store_rows_free(&f->stock.out);
  slp_lead_arm(f);
}

static void round_run(slp_fleet *f) {
  uint64_t now = slp_fleet_now(f);
  if (f->role != SLP_ROLE_LEADS || f->stocking || f->jobs.busy) return;
  if (now >= f->audit_at_us) {
    f->audit_at_us = SLP_NEVER;
    f->audit = 1;
    f->audit_from_us = now;
    slp_fleet_list(f);
  }
  int ready = audit_ready(f);
  if (now < f->rest_until_us || (!ready && now < f->plan_at_us)) {
    slp_lead_arm(f);
    return;
  }
  f->plan_at_us = SLP_NEVER;
  f->audit_in_round = (uint8_t)ready;
  slp_stock_ask(f, 1, stock_done);
}

void slp_plan_run(slp_timer *t) { round_run(SLP_OWNER(t, slp_fleet, plan_timer)); }

/* The listing is there, or is not to be had. */
void slp_lead_listed(slp_fleet *f, int ok) {
  if (f->role != SLP_ROLE_LEADS || !f->audit) return;
  if (ok) {
    round_run(f);
  } else {
    f->audit = 0;
    slp_audit_soon(f, 1000000);
  }
}
