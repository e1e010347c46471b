/* consumer.c - a consumer whose shards come by leases. It is the shard processor of lease/processor.h.
 *
 * A shard exists here from `open` to `revoke`, without its parents: these are read, or it would not be open.
 * Records that are out with the user when a lease goes stay with the user, and no longer count. */
#include "lease/consumer.h"

#include "core/consumer.h"
#include "lease/context.h"
#include "lease/naming.h"
#include "core/desc.h"
#include "core/progress.h"
#include "core/start.h"

#include <stdio.h>

#define TIMERS 2

struct slp_leased {
  slp_leases leases; /* what core sees */
  slp_processor processor;
  slp_consumer *c;
  slp_leased_opts o; /* worker and machine point into texts */
  char *texts;       /* owned */
  slp_store *store;  /* owned, as the next two; NULL: not yet */
  slp_schema *schema;
  slp_fleet *fleet;
  slp_store_prepare prepare;
  uint8_t preparing, joined, leaving, left, list_asked;
  uint64_t load_us, load_bytes; /* when the load was last told; the bytes handed out by then */
  uint64_t list_serial;         /* the first listing that answers the fleet's request */
  slp_timer timer;              /* to prepare the table again; later, to look for shards without progress */
  slp_event end_ev;             /* frees a fleet that can't be used */
  sloop_cb save_cb;
  void *save_arg;
  uint8_t save_done;
  slp_event save_ev;
  slp_event named_ev;  /* writes positions that the user named, or tells the user what became of them */
  slp_list reopenings; /* shards to be read again (reopening.link) */
  slp_timer reopen;    /* runs on_reopen */
  char instance[160];
};

/* A shard that the user wants to be read again. Once it is retired, c->shards does not have it. */
typedef struct reopening {
  slp_list link;
  uint8_t retired;         /* what was read of the shard is gone */
  uint64_t epoch, held_us; /* held_us: slp_progress_held_us of the shard before */
  slp_position from;
  size_t shard_n;
  char shard[];
} reopening;

static slp_host *host_of(const slp_leased *ld) { return ld->c->engine->host; }
static slp_leased *leased_of(slp_processor *t) { return SLP_OWNER(t, slp_leased, processor); }
static slp_leased *of(const slp_leases *l) {
  return SLP_OWNER((slp_leases *)(uintptr_t)l, slp_leased, leases);
}
static slp_leased *leased_by(const slp_consumer *c) { return c->leases ? of(c->leases) : NULL; }
static int is_named(const slp_consumer *c) { return c->o->checkpoints == SLOOP_CHECKPOINTS_ASKED; }

static reopening *reopening_of(slp_leased *ld, slp_str id) {
  SLP_LIST_EACH(&ld->reopenings, it) {
    reopening *r = SLP_OWNER(it, reopening, link);
    if (slp_str_eq((slp_str){r->shard, r->shard_n}, id)) return r;
  }
  return NULL;
}

/* Drops a reopening. Returns 1 if its shard was retired and not opened again. */
static int forget_reopening(slp_leased *ld, slp_str id) {
  reopening *r = reopening_of(ld, id);
  int retired = r && r->retired;
  if (!r) return 0;
  slp_list_remove(&r->link);
  slp_free(ld->c->mem, r);
  return retired;
}

/* ---- what the fleet asks for: the functions of slp_processor_ops ------------------------------------- */

static int t_open(slp_processor *t, slp_str id, uint64_t epoch, const slp_position *from) {
  slp_leased *ld = leased_of(t);
  slp_consumer *c = ld->c;
  if (ld->left) return SLP_ENOMEM; /* the fleet has just ended by itself */
  SLP_CHECK(!slp_lineage_get(c, id));
  slp_shard *s = slp_lineage_add(c, id, (slp_str){NULL, 0}, (slp_str){NULL, 0});
  if (!s) return SLP_ENOMEM;
  if (SLP_MUTANT(pause_forgets_leased)) s->paused = c->paused_all;
  s->name->epoch = epoch;
  s->lease.from = *from;
  s->lease.progress_us = slp_now_us(host_of(ld));
  slp_start_shard(s, from);
  slp_lineage_start(s);
  slp_order_enter(s);
  return 0;
}

#define BIT(drain) (1u << (drain))
static const unsigned allowed[] = {[SLP_DRAIN_NO] = BIT(SLP_DRAIN_STOPPED),
                                   [SLP_DRAIN_STOPPED] = BIT(SLP_DRAIN_OFFERED) | BIT(SLP_DRAIN_ASKED),
                                   [SLP_DRAIN_OFFERED] = BIT(SLP_DRAIN_OFFERED) | BIT(SLP_DRAIN_ASKED),
                                   [SLP_DRAIN_ASKED] = BIT(SLP_DRAIN_ASKED)};

static void move_drain(slp_shard *s, slp_drain to) {
  SLP_CHECK(allowed[s->lease.drain] & BIT(to));
  s->lease.drain = to;
}

/* Stops reading and drops what was not handed out; records that are out are waited for. */
static void stop_reading(slp_shard *s) {
  if (s->lease.drain) return;
  move_drain(s, SLP_DRAIN_STOPPED);
  s->consumer->sum.going_n++;
  slp_reader_stop(s);
  slp_order_leave(s);
  slp_queue_drop(s);
}

static void go_on(slp_consumer *c) {
  slp_deliver_soon(c->engine); /* others may have waited for what is gone */
  slp_pump_soon(c->engine);
  slp_consumer_check(c);
}

static void let_go(slp_shard *s) {
  move_drain(s, SLP_DRAIN_ASKED);
  if (!slp_queue_is_out(s)) slp_fleet_drained(leased_by(s->consumer)->fleet, s->id);
}

static void t_drain(slp_processor *t, slp_str id) {
  slp_leased *ld = leased_of(t);
  slp_shard *s = slp_lineage_get(ld->c, id);
  if (!s) {
    if (forget_reopening(ld, id)) slp_fleet_drained(ld->fleet, id);
    return;
  }
  stop_reading(s);
  if (is_named(ld->c) && !ld->leaving) {
    if (s->lease.drain == SLP_DRAIN_STOPPED) {
      move_drain(s, SLP_DRAIN_OFFERED);
      slp_report_shard(ld->c, s, SLOOP_SHARD_LEAVING);
    }
  } else {
    let_go(s);
  }
  go_on(ld->c);
}

/* Removes the shard. Records of it that are out stay with the user and no longer count. */
static void retire(slp_shard *s) {
  slp_consumer *c = s->consumer;
  stop_reading(s);
  c->sum.going_n--;
  slp_batches_forget_shard(s);
  slp_queue_detach(s, &c->detached);
  slp_lineage_drop(s);
}

static void t_revoke(slp_processor *t, slp_str id, slp_shutdown_reason why) {
  slp_leased *ld = leased_of(t);
  slp_consumer *c = ld->c;
  slp_shard *s = slp_lineage_get(c, id);
  forget_reopening(ld, id);
  if (!s || (SLP_MUTANT(lost_and_read_on) && why == SLP_SHUTDOWN_LOST)) return;
  if (why == SLP_SHUTDOWN_ENDED) {
    slp_reader_kept_end(s);
  } else if (s->opened_told)
    slp_report_shard(c, s, why == SLP_SHUTDOWN_LOST ? SLOOP_SHARD_LOST : SLOOP_SHARD_RELEASED);
  retire(s);
  go_on(c);
}

static void t_suspend(slp_processor *t, int on) {
  slp_consumer *c = leased_of(t)->c;
  c->suspended = (uint8_t)on;
  c->suspended_us = slp_now_us(c->engine->host);
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_order_update(s);
    if (on) {
      slp_calls_unwant(s);
    } else { /* earlier failures may have had the same cause as the suspension */
      slp_reading_forgive(s);
      s->lease.progress_us = slp_now_us(host_of(leased_of(t)));
      slp_reading_poke(s);
    }
  }
  go_on(c);
}

/* Returns 1 if a place is older than the start time that the shard is still looking for. Saved, it would make
 * the next owner hand out records from before the start. */
static int is_before_start(const slp_shard *s, const slp_mark *at) {
  return at->arrived_ms >= 0 && at->arrived_ms < s->at.not_before_ms;
}

static void t_mark(slp_processor *t, slp_str id, slp_position *ret) {
  slp_shard *s = slp_lineage_get(leased_of(t)->c, id);
  const reopening *reopened = s ? NULL : reopening_of(leased_of(t), id);
  SLP_CHECK(s || reopened);
  memset(ret, 0, sizeof *ret);
  if (!s || (is_named(s->consumer) && s->lease.end != SLP_END_NAMED)) {
    *ret = !s ? reopened->from : s->lease.named.kind ? s->lease.named : s->lease.from;
    return;
  }
  int whole = s->consumer->whole_records || s->consumer->o->aggregates == SLOOP_AGGREGATES_KEEP;
  if (s->lease.end != SLP_END_NO &&
      (SLP_MUTANT(no_batch_is_acknowledged) ? slp_batches_of(s) == 0 : slp_queue_all_acked(s))) {
    (void)slp_acked_prefix(s, &ret->mark);
    ret->kind = SLP_POSITION_END;
    if (s->consumer->whole_records) ret->mark.sub = UINT32_MAX;
  } else if ((s->consumer->idle_places ? slp_acked_place(s, &ret->mark) : slp_acked_prefix(s, &ret->mark)) &&
             !is_before_start(s, &ret->mark) && !(s->consumer->whole_records && ret->mark.part)) {
    ret->kind = SLP_POSITION_AFTER;
    if (!s->consumer->clear_places) ret->mark.clear_ms = -1;
    /* An aggregate that is handed out as one record is acknowledged as a whole. */
    if (whole) ret->mark.sub = UINT32_MAX;
  } else {
    *ret = s->lease.from;
  }
}

static int64_t t_behind(slp_processor *t, slp_str id) {
  const slp_shard *s = slp_lineage_get(leased_of(t)->c, id);
  return s ? slp_progress_behind_ms(s) : -1;
}

static void t_list(slp_processor *t) {
  slp_leased *ld = leased_of(t);
  ld->list_asked = 1;
  ld->list_serial = slp_listing_next(ld->c);
  slp_listing_soon(ld->c, 0);
}

static void t_load(slp_processor *t, int64_t *ret_behind_ms, int64_t *ret_rate_bytes) {
  slp_leased *ld = leased_of(t);
  uint64_t now = slp_now_us(host_of(ld)), bytes = ld->c->counts.payload_bytes;
  slp_progress_sum all;
  slp_progress_of_all(ld->c, &all);
  *ret_behind_ms = all.behind_ms;
  *ret_rate_bytes = -1;
  uint64_t ms = (now - ld->load_us) / 1000;
  if (ld->load_us && ms) *ret_rate_bytes = (int64_t)((bytes - ld->load_bytes) * 1000 / ms);
  ld->load_us = now;
  ld->load_bytes = bytes;
}

static int64_t t_service_ms(slp_processor *t) {
  slp_leased *ld = leased_of(t);
  return slp_svctime_low_ms(&ld->c->service, slp_now_us(host_of(ld)));
}

static uint64_t t_bytes(slp_processor *t, slp_str id) {
  const slp_shard *s = slp_lineage_get(leased_of(t)->c, id);
  return s ? s->lease.bytes : 0;
}

static const slp_processor_ops processor_ops = {t_open, t_drain,  t_revoke, t_suspend,    t_mark,
                                                t_list, t_behind, t_load,   t_service_ms, t_bytes};

/* ---- what the consumer reports ------------------------------------------------------------------------ */

static const unsigned end_allowed[] = {[SLP_END_NO] = BIT(SLP_END_READ_OUT),
                                       [SLP_END_READ_OUT] = BIT(SLP_END_TOLD),
                                       [SLP_END_TOLD] = BIT(SLP_END_NAMED),
                                       [SLP_END_NAMED] = 0};

static void move_end(slp_shard *s, slp_shard_end to) {
  SLP_CHECK(end_allowed[s->lease.end] & BIT(to));
  s->lease.end = to;
}

/* If the user names positions, the end too must be named: tells the user that the shard is read out. */
static void offer_end(slp_shard *s) {
  if (!is_named(s->consumer) || s->lease.end != SLP_END_READ_OUT || !slp_queue_all_acked(s)) return;
  move_end(s, SLP_END_TOLD);
  slp_report_shard(s->consumer, s, SLOOP_SHARD_READ_OUT);
}

static void on_settled(slp_leases *l, slp_shard *s, int acked) {
  slp_leased *ld = of(l);
  if (!ld->fleet) return; /* the fleet has ended by itself, so nothing is counted */
  if (acked) {
    slp_fleet_progressed(ld->fleet, s->id);
    s->lease.progress_us = slp_now_us(host_of(ld));
  }
  if (s->lease.drain == SLP_DRAIN_ASKED && !slp_queue_is_out(s)) slp_fleet_drained(ld->fleet, s->id);
  if (!s->lease.drain) offer_end(s);
}

static void on_read_out(slp_leases *l, slp_shard *s) {
  slp_leased *ld = of(l);
  if (s->lease.end != SLP_END_NO || s->lease.drain) return;
  move_end(s, SLP_END_READ_OUT);
  slp_fleet_ended(ld->fleet, s->id, s->lease.children, s->lease.children_n);
  offer_end(s);
}

/* Keeps the children for slp_fleet_ended. Without memory for them the leader's next listing finds them. */
static void on_children(slp_leases *l, slp_shard *s, const slp_shard_desc *children, size_t n) {
  (void)l;
  slp_mem *mem = s->consumer->mem;
  slp_free(mem, s->lease.children);
  s->lease.children = n ? slp_descs_copy(mem, children, n) : NULL;
  s->lease.children_n = s->lease.children ? n : 0;
}

static void on_hopeless(slp_leases *l, slp_shard *s, slp_hopeless how) {
  slp_fleet *f = of(l)->fleet;
  switch (how) {
    case SLP_HOPELESS_HERE: slp_fleet_stalled(f, s->id); break;
    case SLP_HOPELESS_REFUSED: slp_fleet_refused(f, s->id); break;
    case SLP_HOPELESS_PARK: slp_fleet_park(f, s->id); break;
  }
}

static void on_gate(slp_leases *l) {
  slp_leased *ld = of(l);
  if (!ld->fleet) return;
  slp_fleet_beat_first(ld->fleet);
  (void)slp_fleet_may_deliver(ld->fleet); /* calls t_suspend if records may not be handed out */
}

static void on_listed(slp_leases *l, const slp_fail *f) {
  slp_leased *ld = of(l);
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
  slp_leased *ld = of(l);
  slp_consumer *c = ld->c;
  if (!ld->fleet || !ld->list_asked || slp_listing_begun(c) < ld->list_serial) return;
  size_t n;
  const slp_shard_desc *rows = slp_listing_next_rows(c, &n);
  slp_fleet_listed_part(ld->fleet, rows, n);
}

/* ---- shards without progress ------------------------------------------------------------------------ */

/* A shard counts as stuck this much later if another worker would meet the same. CHECKING_US is how long
 * listings take to tell whether the shard ended. BUSY_US is how long the service keeps it for its last
 * subscriber. */
#define CHECKING_US UINT64_C(60000000)
#define BUSY_US UINT64_C(5000000)

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
  uint64_t now = slp_now_us(host_of(ld)), limit_us = (uint64_t)ld->c->o->stall_ms * 1000;
  size_t at = 0;
  if (!limit_us || ld->leaving) return;
  uint64_t back_us = slp_min_u64(slp_fleet_back_us(ld->fleet), now); /* until then this process stood still */
  for (slp_shard *s; (s = slp_map_each(&ld->c->shards, &at));)
    if (is_stuck(s, now, back_us, limit_us)) slp_fleet_stalled(ld->fleet, s->id);
  slp_timer_set_reserved(host_of(ld), &ld->timer, slp_after_us(now, limit_us / 4 + 1));
}

/* ---- events of the fleet ---------------------------------------------------------------------------- */

/* How an event is reported to the user, and how its line in the log begins. */
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
    [SLP_FLEET_LEFT] = {SLOOP_LEASE_LEFT, ""},
};

static void remember_instance(slp_leased *ld) {
  slp_str me = slp_fleet_instance(ld->fleet);
  size_t n = me.n < sizeof ld->instance ? me.n : sizeof ld->instance - 1;
  if (n) memcpy(ld->instance, me.p, n);
  ld->instance[n] = 0;
}

/* Also logs events of the fleet, for users without on_lease. */
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

/* Before the worker has joined, a failure that waiting does not mend ends the consumer, as with the stream. A
 * missing table is handled in context.c. */
static int ends_it(const slp_leased *ld, const slp_fleet_event *ev) {
  if (ev->kind != SLP_FLEET_TROUBLE || !ev->fail) return 0;
  return ev->ends || (slp_class_lasts(ev->fail->class) && ev->fail->class != SLP_GONE && !ld->instance[0]);
}

static void on_end_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, end_ev);
  slp_fleet_free(ld->fleet);
  ld->fleet = NULL;
}

static void end_now(slp_leases *l, const slp_fail *f) {
  slp_leased *ld = of(l);
  if (ld->left) return;
  ld->left = 1;
  ld->joined = 0;
  slp_consumer_fatal(ld->c, f);
  slp_post(host_of(ld), &ld->end_ev);
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
  slp_host *h = host_of(ld);
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

static int begin(slp_leased *ld) {
  slp_consumer *c = ld->c;
  slp_fleet_opts fo = {.host = host_of(ld),
                       .store = ld->store,
                       .schema = ld->schema,
                       .processor = &ld->processor,
                       .worker = ld->o.worker,
                       .machine = ld->o.machine,
                       .guest = ld->o.guest,
                       .start = ld->o.start,
                       .lease_ms = c->o->lease_ms,
                       .checkpoint_ms = c->o->checkpoint_ms ? c->o->checkpoint_ms : UINT32_MAX, /* 49 days */
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
  if (ld->c->life != SLP_LIFE_LISTING) return; /* meanwhile a listing has failed for good */
  int r = f.class == SLP_FINE ? begin(ld) : 0;
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
  slp_leased *ld = of(l);
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
  slp_leased *ld = of(l);
  slp_consumer *c = ld->c;
  size_t at = 0;
  slp_shard *s;
  if (ld->leaving) return;
  ld->leaving = 1;
  slp_timer_clear(host_of(ld), &ld->timer);
  if (ld->preparing) ld->store->ops->cancel(ld->store, &ld->prepare.rq);
  ld->preparing = 0;
  if (!ld->fleet || ld->left) {
    ld->left = 1;
    return;
  }
  while ((s = slp_map_each(&c->shards, &at))) {
    stop_reading(s);
    if (s->lease.drain == SLP_DRAIN_OFFERED) let_go(s);
  }
  slp_deliver_soon(c->engine);
  slp_fleet_leave(ld->fleet, (uint32_t)slp_min_u64(limit_ms, UINT32_MAX));
}

static int has_left(const slp_leases *l) { return of(l)->left; }

static int left_undone(const slp_leases *l) {
  slp_fleet_stats st = {0};
  if (of(l)->fleet) slp_fleet_stats_get(of(l)->fleet, &st);
  return st.undone;
}

/* ---- saving positions ------------------------------------------------------------------------------- */

static void on_save_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, save_ev);
  sloop_cb cb = ld->save_cb;
  void *arg = ld->save_arg;
  if (!ld->save_done) return;
  ld->save_done = 0;
  ld->save_cb = NULL;
  cb(ld->c->handle, 0, arg);
}

static void nothing(sloop_t *s, int status, void *arg) {
  (void)s;
  (void)status;
  (void)arg;
}

static void on_saved(void *arg) {
  slp_leased *ld = arg;
  ld->save_done = 1;
  slp_post(host_of(ld), &ld->save_ev);
}

int slp_leased_save(slp_consumer *c, const char *shard, sloop_cb cb, void *arg) {
  slp_leased *ld = leased_by(c);
  if (!ld || !ld->fleet || ld->left || ld->save_cb || is_named(c) || c->life != SLP_LIFE_RUNNING)
    return SLOOP_ESTATE;
  if (shard && !slp_lineage_get(c, slp_str_of(shard))) return SLOOP_ENOSHARD;
  if (slp_fleet_save(ld->fleet, slp_str_of(shard), on_saved, ld)) return SLOOP_ESTATE;
  ld->save_cb = cb ? cb : nothing;
  ld->save_arg = arg;
  return 0;
}

int slp_leased_save_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg) {
  slp_leased *ld = leased_by(c);
  if (!ld || !ld->save_cb) return 0;
  *ret_cb = ld->save_cb;
  *ret_arg = ld->save_arg;
  ld->save_cb = NULL;
  ld->save_done = 0;
  return 1;
}

/* ---- positions that the user names --------------------------------------------------------------------- */

static int is_sent(void *arg, slp_str shard) {
  slp_leased *ld = arg;
  return slp_namings_have(&ld->c->namings, SLP_NAMING_SENT, shard);
}

static int is_here(void *arg, slp_str shard) {
  slp_leased *ld = arg;
  return slp_lineage_get(ld->c, shard) || reopening_of(ld, shard);
}

static void on_named_saved(void *arg) {
  slp_leased *ld = arg;
  slp_namings_written(&ld->c->namings, is_here, ld);
  slp_post(host_of(ld), &ld->named_ev);
}

/* Writes all namings that wait in one save, once the save before is done. */
static void write_namings(slp_leased *ld) {
  slp_list *all = &ld->c->namings;
  slp_str any = {NULL, 0};
  if (!ld->fleet || slp_namings_have(all, SLP_NAMING_SENT, any)) return;
  if (!slp_namings_have(all, SLP_NAMING_WAITS, any)) return;
  slp_namings_move(all, SLP_NAMING_WAITS, SLP_NAMING_SENT);
  if (slp_fleet_save_each(ld->fleet, is_sent, ld, on_named_saved, ld))
    slp_namings_move(all, SLP_NAMING_SENT, SLP_NAMING_WAITS); /* a save is under way, which ends here again */
}

static void on_named_event(slp_event *ev) {
  slp_leased *ld = SLP_OWNER(ev, slp_leased, named_ev);
  slp_consumer *c = ld->c;
  slp_naming told;
  write_namings(ld);
  if (!slp_namings_take(&c->namings, 1, c->mem, &told)) return;
  slp_post(host_of(ld), &ld->named_ev);
  if (told.cb) told.cb(c->handle, told.status, told.arg);
}

static int may_name(slp_consumer *c, const char *shard, slp_leased **ret_ld, slp_shard **ret_s) {
  slp_leased *ld = *ret_ld = leased_by(c);
  if (!ld || !ld->fleet || ld->left || !is_named(c) || c->life != SLP_LIFE_RUNNING) return SLOOP_ESTATE;
  *ret_s = slp_lineage_get(c, slp_str_of(shard));
  return *ret_s ? 0 : SLOOP_ENOSHARD;
}

/* Returns 1 if the position may be written: it is not beyond the row's, or its number was read here. The
 * service would refuse a number of another stream to every later owner of the lease. */
static int may_be_written(const slp_shard *s, const slp_position *to) {
  const slp_position *saved = s->lease.named.kind ? &s->lease.named : &s->lease.from;
  return slp_position_cmp(to, saved) <= 0 || slp_has_taken_number(&s->at, slp_mark_seq(&to->mark));
}

int slp_leased_name(slp_consumer *c, const char *shard, const slp_position *where, sloop_cb cb, void *arg) {
  slp_leased *ld;
  slp_shard *s;
  slp_position to = *where;
  int r = may_name(c, shard, &ld, &s), ends = to.kind == SLP_POSITION_END;
  if (r) return r;
  if (ends && s->lease.end < SLP_END_TOLD) return SLOOP_ESTATE;
  slp_mark_canonical(&to.mark, c->source->number_digits_min);
  if (!ends && !may_be_written(s, &to)) return SLOOP_EOPTION;
  /* The fleet writes the end in its own time. */
  r = slp_namings_add(&c->namings, c->mem, s->id, ends ? SLP_NAMING_OVER : SLP_NAMING_WAITS, cb, arg);
  if (r) return r;
  s->lease.progress_us = slp_now_us(host_of(ld));
  if (ends) {
    if (s->lease.end == SLP_END_TOLD) move_end(s, SLP_END_NAMED);
  } else if (slp_position_cmp(&to, &s->lease.named) > 0) {
    s->lease.named = to;
  }
  slp_fleet_progressed(ld->fleet, s->id);
  slp_post(host_of(ld), &ld->named_ev);
  return 0;
}

int slp_leased_naming_take(slp_consumer *c, sloop_cb *ret_cb, void **ret_arg) {
  slp_naming told;
  if (!slp_namings_take(&c->namings, 0, c->mem, &told)) return 0;
  *ret_cb = told.cb;
  *ret_arg = told.arg;
  return 1;
}

int slp_leased_hand_over(slp_consumer *c, const char *shard) {
  slp_leased *ld;
  slp_shard *s;
  int r = may_name(c, shard, &ld, &s);
  if (r) return r;
  if (s->lease.drain != SLP_DRAIN_OFFERED) return SLOOP_ESTATE;
  let_go(s);
  return 0;
}

/* ---- reading a shard again: slp_leased_rewind --------------------------------------------------------- */

#define REOPEN_AGAIN_US 200000

/* Returns 0 if the shard is open again or gone, otherwise an error to try again. */
static int reopen(slp_leased *ld, reopening *r) {
  slp_consumer *c = ld->c;
  slp_str id = {r->shard, r->shard_n};
  slp_shard *s = slp_lineage_get(c, id);
  if (!r->retired && (!s || s->lease.drain)) return 0;
  if (!r->retired) {
    if (s->opened_told) slp_report_shard(c, s, SLOOP_SHARD_REPOSITIONED);
    r->held_us = slp_progress_held_us(s);
    retire(s);
    r->retired = 1;
  }
  int bad = t_open(&ld->processor, id, r->epoch, &r->from);
  if (!bad) slp_lineage_get(c, id)->lease.held_us = r->held_us;
  return bad;
}

static void on_reopen(slp_timer *t) {
  slp_leased *ld = SLP_OWNER(t, slp_leased, reopen);
  slp_list again;
  slp_list_init(&again);
  for (slp_list *it; !ld->left && (it = slp_list_first(&ld->reopenings));) {
    reopening *r = SLP_OWNER(it, reopening, link);
    int bad = reopen(ld, r);
    slp_list_remove(it);
    if (bad)
      slp_list_add_last(&again, it);
    else
      slp_free(ld->c->mem, r);
  }
  for (slp_list *it; (it = slp_list_pop(&again));) {
    slp_list_add_last(&ld->reopenings, it);
    slp_timer_set_reserved(host_of(ld), &ld->reopen, slp_after_us(slp_now_us(host_of(ld)), REOPEN_AGAIN_US));
  }
  go_on(ld->c);
}

int slp_leased_rewind(slp_consumer *c, const char *shard) {
  slp_leased *ld;
  slp_shard *s;
  int r = may_name(c, shard, &ld, &s);
  if (r) return r;
  if (s->lease.drain || s->lease.end == SLP_END_NAMED) return SLOOP_ESTATE;
  if (reopening_of(ld, s->id)) return 0;
  reopening *o = slp_zalloc(c->mem, sizeof *o + s->id.n);
  if (!o) return SLP_ENOMEM;
  o->epoch = s->name->epoch;
  o->from = s->lease.named.kind ? s->lease.named : s->lease.from;
  o->shard_n = s->id.n;
  memcpy(o->shard, s->id.p, s->id.n);
  slp_list_add_last(&ld->reopenings, &o->link);
  slp_timer_set_reserved(host_of(ld), &ld->reopen, slp_now_us(host_of(ld)));
  return 0;
}

/* ---- statistics ------------------------------------------------------------------------------------- */

const char *slp_leased_instance(const slp_consumer *c) { return c->leases ? leased_by(c)->instance : ""; }

static void add_stats(slp_leases *l, slp_counts *out) {
  slp_leased *ld = of(l);
  out->joined_now = ld->joined;
  if (ld->store) {
    slp_store_cost cost = slp_store_cost_of(ld->store);
    out->store_write_units = cost.write_units;
    out->store_read_units = cost.read_units;
    out->store_throttles = cost.throttles;
  }
  slp_fleet_stats st = {0};
  if (ld->fleet) slp_fleet_stats_get(ld->fleet, &st);
  if (!st.taken) out->behind_ms_now = UINT64_MAX; /* no lease yet, so nothing was read */
  if (!ld->fleet) return;
  out->holes_now = st.holes_now;
  out->leases_taken = st.taken;
  out->leases_lost = st.lost;
  out->leases_released = st.released;
  out->checkpoints = st.checkpoints;
  out->heartbeats = st.heartbeats;
  out->evictions = st.evictions;
  out->leads_now = st.leads_now;
  out->suspended_now = st.suspended_now;
  if (st.heartbeats || ld->joined) out->heartbeat_age_ms_now = st.beat_age_us_now / 1000;
}

static void tell_shut(slp_leases *l, slp_shut_sum *ret, slp_shut_tell tell, void *arg) {
  *ret = (slp_shut_sum){.longest_ms = -1, .rows_age_ms = -1};
  if (of(l)->fleet) slp_fleet_shut(of(l)->fleet, ret, tell, arg);
}

/* ---- creating and freeing --------------------------------------------------------------------------- */

static void free_now(slp_leases *l) {
  slp_leased *ld = of(l);
  slp_consumer *c = ld->c;
  slp_mem *mem = c->mem;
  slp_host *h = host_of(ld);
  slp_timer_clear(h, &ld->timer);
  slp_timer_clear(h, &ld->reopen);
  slp_unpost(&ld->save_ev);
  slp_unpost(&ld->named_ev);
  slp_unpost(&ld->end_ev);
  for (slp_list *it; (it = slp_list_pop(&ld->reopenings));) slp_free(mem, SLP_OWNER(it, reopening, link));
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

static slp_str put(char **at, slp_str s) {
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
  ld->o.worker = put(&at, o->worker);
  ld->o.machine = put(&at, o->machine);
  ld->processor.ops = &processor_ops;
  ld->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  ld->reopen = (slp_timer){.at_us = UINT64_MAX, .run = on_reopen};
  slp_list_init(&ld->reopenings);
  ld->save_ev.run = on_save_event;
  ld->named_ev.run = on_named_event;
  ld->end_ev.run = on_end_event;
  ld->leases.ops = &leases_ops;
  c->leases = &ld->leases;
  return 0;
}
