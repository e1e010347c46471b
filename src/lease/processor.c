/* processor.c - the shard processor of a consumer with leases: the functions that the fleet calls to have
 * shards read. A shard exists from `open` to `revoke`. If the lease is lost, records that the user holds stay
 * valid, but acknowledging them has no effect. */
#include "lease/processor.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/states.h"
#include "core/batch.h"
#include "core/core.h"
#include "core/engine_inside.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/listing.h"
#include "core/mark.h"
#include "core/order.h"
#include "core/position.h"
#include "core/progress.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/start.h"
#include "core/svctime.h"
#include "host/host.h"
#include "lease/lease.h"
#include "lease/leased_inside.h"

#include <sloop.h>

static slp_leased *leased_of(slp_processor *t) { return SLP_OWNER(t, slp_leased, processor); }

slp_reopening *slp_leased_reopening(slp_leased *ld, slp_str id) {
  SLP_LIST_EACH(&ld->reopenings, it) {
    slp_reopening *r = SLP_OWNER(it, slp_reopening, link);
    if (slp_str_eq((slp_str){r->shard, r->shard_n}, id)) return r;
  }
  return NULL;
}

/* Removes the entry of the shard from `reopenings`, the shards that the user wants to be read again. Returns
 * 1 if the shard was removed from c->shards and not opened again yet. */
static int forget_reopening(slp_leased *ld, slp_str id) {
  slp_reopening *r = slp_leased_reopening(ld, id);
  int retired = r && r->retired;
  if (!r) return 0;
  slp_list_remove(&r->link);
  slp_free(ld->c->mem, r);
  return retired;
}

int slp_leased_open(slp_processor *t, slp_str id, uint64_t epoch, const slp_position *from) {
  slp_leased *ld = leased_of(t);
  slp_consumer *c = ld->c;
  if (ld->left) return SLP_ENOMEM; /* the fleet has ended by itself, and will be freed */
  SLP_CHECK(!slp_lineage_get(c, id));
  slp_shard *s = slp_lineage_add(c, id, (slp_str){NULL, 0}, (slp_str){NULL, 0});
  if (!s) return SLP_ENOMEM;
  if (SLP_MUTANT(pause_forgets_leased)) s->paused = c->paused_all;
  s->name->epoch = epoch;
  s->lease.from = *from;
  s->lease.progress_us = slp_now_us(slp_leased_host(ld));
  slp_start_shard(s, from);
  slp_order_open(s);
  return 0;
}

static const slp_set drain_allowed[] = {
    [SLP_DRAIN_NO] = SLP_BIT(SLP_DRAIN_STOPPED),
    [SLP_DRAIN_STOPPED] = SLP_BIT(SLP_DRAIN_OFFERED) | SLP_BIT(SLP_DRAIN_ASKED),
    [SLP_DRAIN_OFFERED] = SLP_BIT(SLP_DRAIN_OFFERED) | SLP_BIT(SLP_DRAIN_ASKED),
    [SLP_DRAIN_ASKED] = SLP_BIT(SLP_DRAIN_ASKED),
};

static void move_drain(slp_shard *s, slp_drain to) { SLP_MOVE(drain_allowed, s->lease.drain, to); }

static const slp_set end_allowed[] = {
    [SLP_END_NO] = SLP_BIT(SLP_END_READ_OUT),
    [SLP_END_READ_OUT] = SLP_BIT(SLP_END_TOLD),
    [SLP_END_TOLD] = SLP_BIT(SLP_END_NAMED),
    [SLP_END_NAMED] = 0,
};

void slp_leased_move_end(slp_shard *s, slp_shard_end to) { SLP_MOVE(end_allowed, s->lease.end, to); }

/* Stops reading the shard, and drops the records that were not handed out. Afterwards only the records that
 * the user holds keep the shard busy. */
void slp_leased_stop_reading(slp_shard *s) {
  if (s->lease.drain) return;
  move_drain(s, SLP_DRAIN_STOPPED);
  s->consumer->sum.going_n++;
  slp_reader_stop(s);
  slp_order_leave(s);
  slp_queue_drop(s);
}

void slp_leased_go_on(slp_consumer *c) {
  slp_deliver_soon(c->engine); /* other shards may have waited for records of this shard, which is gone now */
  slp_pump_soon(c->engine);
  slp_consumer_check(c);
}

void slp_leased_let_go(slp_shard *s) {
  move_drain(s, SLP_DRAIN_ASKED);
  if (!slp_queue_is_out(s)) slp_fleet_drained(slp_leased_by(s->consumer)->fleet, s->id);
}

static void t_drain(slp_processor *t, slp_str id) {
  slp_leased *ld = leased_of(t);
  slp_shard *s = slp_lineage_get(ld->c, id);
  if (!s) {
    if (forget_reopening(ld, id)) slp_fleet_drained(ld->fleet, id);
    return;
  }
  slp_leased_stop_reading(s);
  if (slp_leased_is_named(ld->c) && !ld->leaving) {
    if (s->lease.drain == SLP_DRAIN_STOPPED) {
      move_drain(s, SLP_DRAIN_OFFERED);
      slp_report_shard(ld->c, s, SLOOP_SHARD_LEAVING);
    }
  } else {
    slp_leased_let_go(s);
  }
  slp_leased_go_on(ld->c);
}

/* Removes the shard. Records of it that the user holds stay valid, but acknowledging them has no effect. */
void slp_leased_retire(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_leased_stop_reading(s);
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
  slp_leased_retire(s);
  slp_leased_go_on(c);
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
      slp_reading_unwant_call(s);
    } else {
      /* Earlier failures may have the same cause as the suspension, so they do not count any more. */
      slp_reading_forgive(s);
      s->lease.progress_us = slp_now_us(slp_leased_host(leased_of(t)));
      slp_reading_poke(s);
    }
  }
  slp_leased_go_on(c);
}

/* Returns 1 if the mark `at` is older than the start time, which the shard has not reached yet. If it were
 * saved, the next owner would hand out records from before that time. */
static int is_before_start(const slp_shard *s, const slp_mark *at) {
  return at->arrived_ms >= 0 && at->arrived_ms < s->at.not_before_ms;
}

static void t_mark(slp_processor *t, slp_str id, slp_position *ret) {
  slp_shard *s = slp_lineage_get(leased_of(t)->c, id);
  const slp_reopening *reopened = s ? NULL : slp_leased_reopening(leased_of(t), id);
  SLP_CHECK(s || reopened);
  memset(ret, 0, sizeof *ret);
  if (!s || (slp_leased_is_named(s->consumer) && s->lease.end != SLP_END_NAMED)) {
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
    /* an aggregate that was handed out as one record is acknowledged as a whole */
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
  uint64_t now = slp_now_us(slp_leased_host(ld)), bytes = ld->c->counts.payload_bytes;
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
  return slp_svctime_low_ms(&ld->c->service, slp_now_us(slp_leased_host(ld)));
}

static uint64_t t_bytes(slp_processor *t, slp_str id) {
  const slp_shard *s = slp_lineage_get(leased_of(t)->c, id);
  return s ? s->lease.bytes : 0;
}

const slp_processor_ops slp_leased_processor_ops = {
    slp_leased_open, t_drain, t_revoke, t_suspend, t_mark, t_list, t_behind, t_load, t_service_ms, t_bytes};
