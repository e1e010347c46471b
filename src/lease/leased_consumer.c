/* leased_consumer.c - a consumer whose shards come by leases (leased_inside.h). It passes on to the fleet
 * what core reports about shards, and to the user what the fleet reports; it starts and ends the fleet. The
 * shards in c->shards have no parents here, because the fleet opens a shard only after its parents are
 * read. */
#include "lease/leased_consumer.h"

#include "base/fail.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/consumer.h"
#include "core/core.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/order.h"
#include "core/pace.h"
#include "core/queue.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/tally.h"
#include "host/host.h"
#include "lease/context.h"
#include "lease/deadline.h"
#include "lease/fleet.h"
#include "lease/fleet_opts.h"
#include "lease/lease.h"
#include "lease/lease_types.h"
#include "lease/leased_inside.h"
#include "lease/shut.h"
#include "lease/store.h"

#include <sloop.h>
#include <stdio.h>

#define TIMERS 2

static slp_leased *leased_consumer_of(const slp_leases *l) {
  return SLP_OWNER((slp_leases *)(uintptr_t)l, slp_leased, leases);
}

/* ---- reports of core to the fleet --------------------------------------------------------------------- */

/* With the option SLOOP_CHECKPOINTS_ASKED the user must also ask for the end of a shard to be saved. Reports
 * SLOOP_SHARD_READ_OUT to the user when all records of the shard are acknowledged. */
static void offer_end(slp_shard *s) {
  if (!slp_leased_is_named(s->consumer) || s->lease.end != SLP_END_READ_OUT || !slp_queue_all_acked(s))
    return;
  slp_leased_move_end(s, SLP_END_TOLD);
  slp_report_shard(s->consumer, s, SLOOP_SHARD_READ_OUT);
}

static void on_settled(slp_leases *l, slp_shard *s, int acked) {
  slp_leased *ld = leased_consumer_of(l);
  if (!ld->fleet) return; /* the fleet has ended by itself, so no part of it needs the progress */
  if (acked) {
    slp_fleet_progressed(ld->fleet, s->id);
    s->lease.progress_us = slp_now_us(slp_leased_host(ld));
  }
  if (s->lease.drain == SLP_DRAIN_ASKED && !slp_queue_is_out(s)) slp_fleet_drained(ld->fleet, s->id);
  if (!s->lease.drain) offer_end(s);
}

static void on_read_out(slp_leases *l, slp_shard *s) {
  slp_leased *ld = leased_consumer_of(l);
  if (s->lease.end != SLP_END_NO || s->lease.drain) return;
  slp_leased_move_end(s, SLP_END_READ_OUT);
  slp_fleet_ended(ld->fleet, s->id, s->lease.children, s->lease.children_n);
  offer_end(s);
}

/* Keeps a copy of the child shards, to pass it to slp_fleet_ended later. If there is no memory, the leader
 * finds the children in its next listing. */
static void on_children(slp_leases *l, slp_shard *s, const slp_shard_desc *children, size_t n) {
  (void)l;
  slp_mem *mem = s->consumer->mem;
  slp_free(mem, s->lease.children);
  s->lease.children = n ? slp_descs_copy(mem, children, n) : NULL;
  s->lease.children_n = s->lease.children ? n : 0;
}

static void on_hopeless(slp_leases *l, slp_shard *s, slp_hopeless how) {
  slp_fleet *f = leased_consumer_of(l)->fleet;
  switch (how) {
    case SLP_HOPELESS_HERE: slp_fleet_stalled(f, s->id); break;
    case SLP_HOPELESS_REFUSED: slp_fleet_refused(f, s->id); break;
    case SLP_HOPELESS_PARK: slp_fleet_park(f, s->id); break;
  }
}

static void on_gate(slp_leases *l) {
  slp_leased *ld = leased_consumer_of(l);
  if (!ld->fleet) return;
  slp_fleet_beat_first(ld->fleet);
  /* calls the processor's suspend() if no records may be handed out */
  (void)slp_fleet_may_deliver(ld->fleet);
}

/* Passes a listing of the stream to the fleet, if the listing began after the fleet had asked for one. */
static void on_listed(slp_leases *l, const slp_fail *f) {
  slp_leased *ld = leased_consumer_of(l);
  slp_consumer *c = ld->c;
  int fine = f->class == SLP_FINE;
  if (fine) slp_lineage_note_listing(c);
  if (!ld->fleet || !ld->list_asked || (fine && slp_listing_done(c) < ld->list_serial)) return;
  ld->list_asked = 0;
  size_t n;
  const slp_shard_desc *rows = slp_listing_rows(c, &n);
  slp_fleet_listed(ld->fleet, f, fine ? rows : NULL, fine ? n : 0);
}

static void on_listed_part(slp_leases *l) {
  slp_leased *ld = leased_consumer_of(l);
  slp_consumer *c = ld->c;
  if (!ld->fleet || !ld->list_asked || slp_listing_begun(c) < ld->list_serial) return;
  size_t n;
  const slp_shard_desc *rows = slp_listing_next_rows(c, &n);
  slp_fleet_listed_part(ld->fleet, rows, n);
}

/* ---- shards without progress ------------------------------------------------------------------------ */

/* A shard is stuck if it made no progress for opts.stall_ms. More time is allowed in two cases in which
 * another worker would have the same difficulty. CHECKING_US: listings must show whether the shard has ended.
 * BUSY_US: the service still reserves the shard for its last subscriber. */
#define CHECKING_US UINT64_C(60000000)
#define BUSY_US UINT64_C(5000000)

/* Returns 1 if s is stuck. back_us: when this process last came back after it stood still (absence.h); the
 * time before is not counted. */
static int is_stuck(slp_shard *s, uint64_t now, uint64_t back_us, uint64_t limit_us) {
  int idle = s->paused || s->consumer->paused_all || s->lease.drain || s->consumer->suspended;
  if (idle || slp_queue_unacked_n(s) == 0 || slp_order_waits_for_other(s)) s->lease.progress_us = now;
  uint64_t since = s->lease.progress_us, failing_us = slp_reading_failing_since_us(s);
  if (failing_us && slp_reading_state(s) == SLP_READER_CHECKING)
    failing_us = slp_after_us(failing_us, CHECKING_US);
  if (failing_us && slp_reading_is_busy(s)) failing_us = slp_after_us(failing_us, BUSY_US);
  if (failing_us && !idle) since = slp_min_u64(since, failing_us);
  return !s->lease.drain && now - slp_max_u64(since, back_us) >= limit_us;
}

static void look_for_stuck(slp_leased *ld) {
  uint64_t now = slp_now_us(slp_leased_host(ld)), limit_us = (uint64_t)ld->c->o->stall_ms * 1000;
  size_t at = 0;
  if (!limit_us || ld->leaving) return;
  /* when this process last came back after it stood still (absence.h) */
  uint64_t back_us = slp_min_u64(slp_fleet_back_us(ld->fleet), now);
  for (slp_shard *s; (s = slp_map_each(&ld->c->shards, &at));)
    if (is_stuck(s, now, back_us, limit_us)) slp_fleet_stalled(ld->fleet, s->id);
  slp_timer_set_reserved(slp_leased_host(ld), &ld->timer, slp_after_us(now, limit_us / 4 + 1));
}

/* ---- events of the fleet ---------------------------------------------------------------------------- */

/* for each kind of event of the fleet: the kind that is passed to the user's on_lease, and how the log line
 * begins */
static const struct {
  sloop_lease_event_kind_t as;
  const char *words;
} events_told[] = {
    [SLP_FLEET_JOINED] = {SLOOP_LEASE_JOINED, "joined as "},
    [SLP_FLEET_EVICTED] = {SLOOP_LEASE_EVICTED, "evicted: "},
    [SLP_FLEET_SUSPENDED] = {SLOOP_LEASE_SUSPENDED, "suspended: "},
    [SLP_FLEET_RESUMED] = {SLOOP_LEASE_RESUMED, "resumed: "},
    [SLP_FLEET_TAKEN] = {SLOOP_LEASE_TAKEN, "taken: "},
    [SLP_FLEET_LOST] = {SLOOP_LEASE_LOST, "lost: "},
    [SLP_FLEET_RELEASED] = {SLOOP_LEASE_RELEASED, "released: "},
    [SLP_FLEET_ENDED_SHARD] = {SLOOP_LEASE_ENDED, "ended: "},
    [SLP_FLEET_LEADS] = {SLOOP_LEASE_LEADS, ""},
    [SLP_FLEET_FOLLOWS] = {SLOOP_LEASE_FOLLOWS, ""},
    [SLP_FLEET_EVICTED_OTHER] = {SLOOP_LEASE_EVICTED_OTHER, "evicted another worker: "},
    [SLP_FLEET_HOLE] = {SLOOP_LEASE_HOLE, "a hole: "},
    [SLP_FLEET_BAD_ROW] = {SLOOP_LEASE_BAD_ROW, "a bad row: "},
    [SLP_FLEET_TROUBLE] = {SLOOP_LEASE_TROUBLE, "trouble: "},
    [SLP_FLEET_DRAINED] = {SLOOP_LEASE_DRAINED, "drained: "},
    [SLP_FLEET_UNDRAINED] = {SLOOP_LEASE_UNDRAINED, "undrained: "},
    [SLP_FLEET_LEFT] = {SLOOP_LEASE_LEFT, ""},
};

static void remember_instance(slp_leased *ld) {
  slp_str me = slp_fleet_instance(ld->fleet);
  size_t n = me.n < sizeof ld->instance ? me.n : sizeof ld->instance - 1;
  if (n) memcpy(ld->instance, me.p, n);
  ld->instance[n] = 0;
}

/* Writes an event of the fleet to the log, or reports it as an error if the store failed. */
static void tell_plainly(slp_leased *ld, const slp_fleet_event *ev) {
  slp_consumer *c = ld->c;
  slp_fail f = {0};
  if (ev->kind == SLP_FLEET_TROUBLE && ev->fail) {
    f = *ev->fail;
    snprintf(f.message, sizeof f.message, "%.*s", (int)ev->text.n, ev->text.p);
    slp_report_error(c, &f, NULL, 0, 1, 1000);
    return;
  }
  int warns = ev->kind == SLP_FLEET_TROUBLE || ev->kind == SLP_FLEET_HOLE || ev->kind == SLP_FLEET_BAD_ROW ||
              ev->kind == SLP_FLEET_EVICTED || ev->kind == SLP_FLEET_SUSPENDED;
  slp_report_log(c, warns ? SLOOP_LOG_WARN : SLOOP_LOG_INFO, "lease: %s%.*s%s%.*s",
                 events_told[ev->kind].words, (int)ev->shard.n, ev->shard.n ? ev->shard.p : "",
                 ev->shard.n ? ": " : "", (int)ev->text.n, ev->text.n ? ev->text.p : "");
}

/* Returns 1 if the event ends the consumer: either ev->ends is set, or the worker has not joined yet and
 * waiting will not help. A table that is missing is an exception (context.c decides). */
static int ends_it(const slp_leased *ld, const slp_fleet_event *ev) {
  if (ev->kind != SLP_FLEET_TROUBLE || !ev->fail) return 0;
  return ev->ends || (slp_class_lasts(ev->fail->class) && ev->fail->class != SLP_GONE && !ld->instance[0]);
}

static void on_end_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, end_ev);
  if (ld->fleet) slp_fleet_stats_get(ld->fleet, &ld->last);
  slp_fleet_free(ld->fleet);
  ld->fleet = NULL;
}

static void end_now(slp_leases *l, const slp_fail *f) {
  slp_leased *ld = leased_consumer_of(l);
  if (ld->left) return;
  ld->left = 1;
  ld->joined = 0;
  slp_consumer_fatal(ld->c, f);
  slp_leased_requests_end(ld, f->code);
  slp_post(slp_leased_host(ld), &ld->end_ev);
}

static void on_fleet(void *arg, const slp_fleet_event *ev) {
  slp_leased *ld = arg;
  slp_consumer *c = ld->c;
  if (ends_it(ld, ev)) {
    end_now(&ld->leases, ev->fail);
    return;
  }
  switch (ev->kind) {
    case SLP_FLEET_JOINED:
      ld->joined = 1;
      remember_instance(ld);
      break;
    case SLP_FLEET_EVICTED: ld->joined = 0; break;
    case SLP_FLEET_LEFT:
      ld->left = 1;
      ld->joined = 0;
      break;
    case SLP_FLEET_FAILED: {
      slp_fail f = {0};
      slp_fail_set(&f, SLP_REFUSED, SLOOP_ELEASE, "%.*s", (int)ev->text.n, ev->text.p);
      ld->left = 1;
      ld->joined = 0;
      slp_consumer_fatal(c, &f);
      slp_leased_requests_end(ld, f.code);
      return;
    }
    case SLP_FLEET_SUSPENDED:
    case SLP_FLEET_RESUMED:
    case SLP_FLEET_LEADS:
    case SLP_FLEET_FOLLOWS:
    case SLP_FLEET_HOLE:
    case SLP_FLEET_TAKEN:
    case SLP_FLEET_LOST:
    case SLP_FLEET_RELEASED:
    case SLP_FLEET_ENDED_SHARD:
    case SLP_FLEET_EVICTED_OTHER:
    case SLP_FLEET_BAD_ROW:
    case SLP_FLEET_DRAINED:
    case SLP_FLEET_UNDRAINED:
    case SLP_FLEET_TROUBLE: break;
  }
  tell_plainly(ld, ev);
  slp_report_lease(c, events_told[ev->kind].as, ev->shard, slp_str_of(ld->instance), ev->text, ev->epoch);
  slp_consumer_check(c);
}

/* ---- starting --------------------------------------------------------------------------------------- */

static void prepare_now(slp_leased *ld);

static void on_timer(slp_timer *t) {
  slp_leased *ld = SLP_OWNER(t, slp_leased, timer);
  if (ld->left) return;
  if (ld->fleet)
    look_for_stuck(ld);
  else
    prepare_now(ld);
}

static void not_prepared(slp_leased *ld, const slp_fail *f) {
  slp_consumer *c = ld->c;
  slp_host *h = slp_leased_host(ld);
  if (slp_class_lasts(f->class)) {
    slp_consumer_fatal(c, f);
    return;
  }
  c->fails++;
  uint64_t wait =
      slp_pace_backoff_us(c->fails, f->class == SLP_THROTTLE, (uint32_t)slp_random_below(h, 1000));
  slp_report_error(c, f, NULL, 0, c->fails, wait / 1000);
  slp_timer_set_reserved(h, &ld->timer, slp_after_us(slp_now_us(h), wait));
}

static int begin_fleet(slp_leased *ld) {
  slp_consumer *c = ld->c;
  slp_fleet_opts fo = {.host = slp_leased_host(ld),
                       .store = ld->store,
                       .schema = ld->schema,
                       .processor = &ld->processor,
                       .worker = ld->o.worker,
                       .machine = ld->o.machine,
                       .guest = ld->o.guest,
                       .start = ld->o.start,
                       .lease_ms = c->o->lease_ms,
                       /* 0: no regular checkpoints. The fleet takes 0 for its default, so it gets UINT32_MAX
                        * ms (49 days). */
                       .checkpoint_ms = c->o->checkpoint_ms ? c->o->checkpoint_ms : UINT32_MAX,
                       .handover_ms = c->o->handover_ms,
                       .weight = c->o->weight,
                       .list_ms = c->o->list_ms,
                       .on_event = on_fleet,
                       .arg = ld};
  int r = slp_fleet_new(&ld->fleet, c->mem, &fo);
  if (r) return r;
  c->fails = 0;
  c->started_from = 1;
  slp_consumer_move(c, SLP_LIFE_RUNNING);
  slp_fleet_start(ld->fleet);
  if (ld->leaving) return 0;
  look_for_stuck(ld);
  return 0;
}

static void on_prepared(slp_store_req *rq) {
  slp_store_prepare *p = SLP_OWNER(rq, slp_store_prepare, rq);
  slp_leased *ld = SLP_OWNER(p, slp_leased, prepare);
  slp_fail f = rq->fail;
  ld->preparing = 0;
  /* a listing of the stream failed while the table was being prepared, which has ended the consumer */
  if (ld->c->life != SLP_LIFE_LISTING) return;
  int r = f.class == SLP_FINE ? begin_fleet(ld) : 0;
  if (r == SLP_ENOMEM) slp_fail_set(&f, SLP_NOMEM, r, "no memory to join the fleet");
  if (r && r != SLP_ENOMEM)
    slp_fail_set(&f, SLP_REFUSED, SLOOP_EOPTION, "worker %.*s: not an id", (int)ld->o.worker.n,
                 ld->o.worker.p);
  if (f.class != SLP_FINE) not_prepared(ld, &f);
}

static void prepare_now(slp_leased *ld) {
  memset(&ld->prepare, 0, sizeof ld->prepare);
  ld->prepare.rq.on_done = on_prepared;
  ld->prepare.create = 1;
  ld->preparing = 1;
  ld->store->ops->prepare(ld->store, &ld->prepare);
}

static void on_described(slp_leases *l) {
  slp_leased *ld = leased_consumer_of(l);
  slp_consumer *c = ld->c;
  slp_fail f = {0};
  slp_consumer_move(c, SLP_LIFE_LISTING);
  if (ld->o.open(ld->o.ctx, slp_listing_stream(c), &ld->store, &ld->schema, &f)) {
    slp_consumer_fatal(c, &f);
    return;
  }
  c->whole_records = ld->schema->whole_records;
  c->idle_places = ld->schema->idle_places;
  c->clear_places = ld->schema->clear != NULL;
  prepare_now(ld);
}

/* ---- leaving ---------------------------------------------------------------------------------------- */

static void on_leave(slp_leases *l, uint64_t limit_ms) {
  slp_leased *ld = leased_consumer_of(l);
  slp_consumer *c = ld->c;
  size_t at = 0;
  slp_shard *s;
  if (ld->leaving) return;
  ld->leaving = 1;
  slp_timer_clear(slp_leased_host(ld), &ld->timer);
  if (ld->preparing) ld->store->ops->cancel(ld->store, &ld->prepare.rq);
  ld->preparing = 0;
  if (!ld->fleet || ld->left) {
    ld->left = 1;
    return;
  }
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_leased_stop_reading(s);
    if (s->lease.drain == SLP_DRAIN_OFFERED) slp_leased_let_go(s);
  }
  slp_deliver_soon(c->engine);
  slp_fleet_leave(ld->fleet, (uint32_t)slp_min_u64(limit_ms, UINT32_MAX));
}

static int has_left(const slp_leases *l) { return leased_consumer_of(l)->left; }

static int left_undone(const slp_leases *l) {
  slp_fleet_stats st = {0};
  if (leased_consumer_of(l)->fleet) slp_fleet_stats_get(leased_consumer_of(l)->fleet, &st);
  return st.undone;
}
/* ---- statistics ------------------------------------------------------------------------------------- */

const char *slp_leased_instance(const slp_consumer *c) { return c->leases ? slp_leased_by(c)->instance : ""; }

static void add_stats(slp_leases *l, slp_counts *out) {
  slp_leased *ld = leased_consumer_of(l);
  out->joined_now = ld->joined;
  if (ld->store) {
    slp_store_cost cost = slp_store_cost_of(ld->store);
    out->store_write_units = cost.write_units;
    out->store_read_units = cost.read_units;
    out->store_throttles = cost.throttles;
  }
  slp_fleet_stats st = ld->last;
  if (ld->fleet) slp_fleet_stats_get(ld->fleet, &st);
  if (!st.taken) out->behind_ms_now = UINT64_MAX; /* no lease yet, so no record was read */
  out->leases_taken = st.taken;
  out->leases_lost = st.lost;
  out->leases_released = st.released;
  out->checkpoints = st.checkpoints;
  out->heartbeats = st.heartbeats;
  out->evictions = st.evictions;
  if (!ld->fleet) return;
  out->holes_now = st.holes_now;
  out->leads_now = st.leads_now;
  out->suspended_now = st.suspended_now;
  if (st.heartbeats || ld->joined) out->heartbeat_age_ms_now = st.beat_age_us_now / 1000;
}

static void tell_shut(slp_leases *l, slp_shut_sum *ret, slp_shut_tell tell, void *arg) {
  *ret = (slp_shut_sum){.longest_ms = -1, .rows_age_ms = -1};
  if (leased_consumer_of(l)->fleet) slp_fleet_shut(leased_consumer_of(l)->fleet, ret, tell, arg);
}

/* ---- creating and freeing --------------------------------------------------------------------------- */

static void free_now(slp_leases *l) {
  slp_leased *ld = leased_consumer_of(l);
  slp_consumer *c = ld->c;
  slp_mem *mem = c->mem;
  slp_host *h = slp_leased_host(ld);
  slp_timer_clear(h, &ld->timer);
  slp_leased_requests_free(ld);
  slp_unpost(&ld->end_ev);
  if (ld->preparing) ld->store->ops->cancel(ld->store, &ld->prepare.rq);
  slp_fleet_free(ld->fleet);
  if (ld->store) ld->store->ops->close(ld->store);
  if (ld->schema) ld->schema->free(ld->schema);
  slp_host_unreserve_timers(h, TIMERS);
  if (ld->o.guest_drop) ld->o.guest_drop(ld->o.guest);
  c->leases = NULL;
  slp_free(mem, ld->texts);
  slp_free(mem, ld);
}

static const slp_leases_ops leases_ops = {on_described, on_listed,   on_listed_part, on_gate,   on_settled,
                                          on_read_out,  on_children, on_hopeless,    on_leave,  has_left,
                                          left_undone,  end_now,     add_stats,      tell_shut, free_now};

static slp_str copy_option_text(char **at, slp_str s) {
  slp_str copy = {*at, s.n};
  if (s.n) memcpy(*at, s.p, s.n);
  *at += s.n;
  return copy;
}

int slp_leased_make(slp_consumer *c, const slp_leased_opts *o) {
  slp_leased *ld = SLP_NEW(c->mem, slp_leased);
  char *texts = slp_alloc(c->mem, o->worker.n + o->machine.n + 1);
  if (!ld || !texts || slp_host_reserve_timers(c->engine->host, TIMERS)) {
    slp_free(c->mem, texts);
    slp_free(c->mem, ld);
    return SLP_ENOMEM;
  }
  ld->c = c;
  ld->o = *o;
  ld->texts = texts;
  char *at = texts;
  ld->o.worker = copy_option_text(&at, o->worker);
  ld->o.machine = copy_option_text(&at, o->machine);
  ld->processor.ops = &slp_leased_processor_ops;
  ld->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  slp_leased_requests_init(ld);
  ld->end_ev.run = on_end_event;
  ld->leases.ops = &leases_ops;
  c->leases = &ld->leases;
  return 0;
}
