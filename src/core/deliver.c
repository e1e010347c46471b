/* deliver.c - takes batches out of the merge (merge.h): decides which record is handed out next, how long a
 * shard without records may hold the other shards back, and which records are late.
 *
 * A record is handed out when its key is the least in the merge. Then every other shard has a later record in
 * memory, or a later watermark. If the least key is a watermark, its shard has no record and holds all other
 * shards back. How long that lasts:
 *   1. While the shard answers, or while the waiting records are a backlog, the other shards wait for it.
 *   2. A shard that fails, or that does not answer although it is at its tip, is set aside after
 *      order_wait_ms: no shard waits for it any more. Records that it brings later are flagged late.
 *   3. If the waiting records are late themselves, waiting can't restore their order. So they never count as
 *      a backlog, even if they are old.
 *
 * A consumer that was started and has not listed its shards also holds joined consumers back. Two kinds of
 * consumers do not: a paused one, and one with leases, because its fleet decides when it gets shards. */
#include "core/deliver.h"

#include "base/list.h"
#include "base/mutant.h"
#include "core/batch.h"
#include "core/consumer_inside.h"
#include "core/core.h"
#include "core/delay.h"
#include "core/deliver_part.h"
#include "core/engine_inside.h"
#include "core/life.h"
#include "core/merge.h"
#include "core/order.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/svctime.h"
#include "host/host.h"

#include <sloop.h>

/* A record counts as being at the tip if it had arrived in the stream less than this time before it was read.
 * At the tip, a wait for a silent shard delays new records for the user. In a backlog such a wait matters
 * little. */
#define YOUNG_MS 10000

static void on_timer(slp_timer *t) { slp_deliver_soon(SLP_OWNER(t, slp_engine, delivery.timer)); }

/* To be called when a record was handed out, or when no record waits. Forgets since when the next record was
 * held back. */
static void is_not_blocked(slp_engine *e) {
  e->delivery.waits_since_us = e->delivery.blocked_since_us = e->delivery.held_since_us = 0;
  e->delivery.prolonged = 0;
}

/* Remembers that the next record is held back from now on, unless it is held back already. */
static void is_blocked(slp_engine *e) {
  if (!e->delivery.blocked_since_us) e->delivery.blocked_since_us = slp_now_us(e->host);
}

void slp_deliver_anew(slp_engine *e) {
  e->delivery.latest_ms = INT64_MIN;
  is_not_blocked(e);
}

/* Makes the delivery run at at_us, unless it is to run earlier anyway. */
static void look_again(slp_engine *e, uint64_t at_us) {
  if (at_us == UINT64_MAX || e->delivery.timer.at_us <= at_us) return;
  slp_timer_set_reserved(e->host, &e->delivery.timer, at_us);
}

/* The service pushes a record as soon as the record is stored; it arrives 70 ms later on average (Developer
 * Guide, "Develop enhanced fan-out consumers"). So a pushed shard that is silent has no record, although its
 * next empty event may be seconds away. PUSH_WAIT_MS is the longest wait for such a shard. Once delay.c knows
 * how much delays differ, the wait is shorter. */
#define PUSH_WAIT_MS 250u
/* The watermarks of silent pushed shards are raised only at multiples of a step: STEP_US times the number of
 * shards. With smaller steps and thousands of shards, raising watermarks would take most of the CPU time. */
#define STEP_US 16u
/* A shard is set aside only after the loop has run for SETTLES_US without a long pause. After a frozen
 * process or a long callback, the shard's answer may still lie unread in the socket. */
#define SETTLES_US 100000u

/* Returns in us how long the records of other shards may wait for shard s. */
static uint64_t order_wait_us(const slp_engine *e, const slp_shard *s) {
  uint64_t ms = e->order_wait_ms;
  return (s->consumer->source->pushes ? slp_min_u64(ms, PUSH_WAIT_MS) : ms) * 1000;
}

/* Returns when the earliest record of all shards was taken into its queue. The search for that record looks
 * at every shard, so the result is kept until a record is handed out. */
static uint64_t waits_since_us(slp_engine *e) {
  slp_buffered *buffered;
  uint32_t i;
  int redelivered;
  slp_merge_node *first = e->delivery.waits_since_us ? NULL : slp_merge_first_ready(&e->merge);
  if (first && slp_queue_head(slp_shard_in_order(first), &buffered, &i, &redelivered)) {
    e->delivery.waits_since_us = buffered->came_us;
    e->delivery.waits_came_ms =
        slp_svctime_low_ms(&slp_shard_in_order(first)->consumer->service, buffered->came_us);
    e->delivery.waits_time = first->key.time;
  }
  return e->delivery.waits_since_us;
}

/* Returns 1 if the earliest record of all shards is at the tip: it arrived in the stream less than YOUNG_MS
 * before it was read. Also returns 1 if that record is late already, because waiting can't restore its order.
 * The search looks at every shard, so a result of 0 is kept for 200 ms. */
static int waiting_is_young(slp_engine *e) {
  uint64_t now = slp_now_us(e->host);
  if (now < e->delivery.backlog_until_us) return 0;
  uint64_t came_us = waits_since_us(e);
  int64_t came_ms = e->delivery.waits_came_ms, time = e->delivery.waits_time;
  if (came_us && came_ms != INT64_MIN && (time > came_ms - YOUNG_MS || time < e->delivery.latest_ms))
    return 1;
  e->delivery.backlog_until_us = now + 200000;
  return 0;
}

/* Returns since when the earliest record of all shards has waited for silent shards:
 *   - if that record is at the tip: since it came. So N silent shards cost one wait and not N.
 *   - in a backlog: since a shard began to hold the record back, because records of a backlog are fetched
 *     long before they can be handed out.
 * The search looks at every shard, so the result is kept until a record is handed out. */
static uint64_t held_since_us(slp_engine *e) {
  slp_delivery *d = &e->delivery;
  if (!d->held_since_us) d->held_since_us = waiting_is_young(e) ? waits_since_us(e) : d->blocked_since_us;
  return d->held_since_us;
}

/* Returns the time at which the merge stops waiting for a pushed shard s whose subscription is open and
 * silent. By then s has brought all records as old as the waiting record, and the connections of both shards
 * were read once more. listens_since_us: the result of slp_reader_listens_since_us(s). */
static uint64_t push_patience(slp_engine *e, const slp_shard *s, uint64_t listens_since_us) {
  uint64_t came_us = waits_since_us(e);
  uint64_t until = slp_max_u64(slp_delay_over_us(&s->consumer->delay, e->delivery.waits_time),
                               slp_max_u64(came_us + SLP_READER_SETTLES_US, listens_since_us));
  uint64_t step = (uint64_t)slp_merge_count(&e->merge) * STEP_US;
  return slp_min_u64(slp_after_us(until, step - until % step), slp_after_us(came_us, order_wait_us(e, s)));
}

/* Raises the watermark of a pushed shard s that brought nothing while a record waited for it. The new
 * watermark is just after the order time of the waiting record or, if that is later, the time up to which all
 * events of s must have come. Records of different shards with the same order time have no order among each
 * other, so the watermark may pass that whole millisecond. */
static void move_watermark(slp_engine *e, slp_shard *s) {
  int64_t until_ms = slp_delay_came_until_ms(&s->consumer->delay, slp_now_us(e->host));
  slp_queue_set_watermark(s, slp_max_i64(e->delivery.waits_time + 1, until_ms), SLP_STR(""), 0);
  slp_order_update(s);
}

/* Returns until_us, the end of a wait, with one exception: if until_us has passed, the waiting records are a
 * backlog, and the silent shard does not fail, returns backlog_until_us. The wait is then checked again at
 * that time. */
static uint64_t longer_in_backlog_us(slp_engine *e, uint64_t until_us, uint64_t failing_since_us) {
  if (slp_now_us(e->host) < until_us || failing_since_us || waiting_is_young(e)) return until_us;
  return slp_max_u64(until_us, e->delivery.backlog_until_us);
}

/* Returns the time at which the merge stops waiting for shard s, which holds the other shards back;
 * UINT64_MAX: the wait has no limit. listens_since_us: the result of slp_reader_listens_since_us(s). */
static uint64_t merge_waits_until_us(slp_engine *e, const slp_shard *s, uint64_t listens_since_us) {
  if (e->order_wait_ms == UINT32_MAX || slp_merge_ready(&e->merge) == 0) return UINT64_MAX;
  if (listens_since_us != UINT64_MAX) return push_patience(e, s, listens_since_us);
  int late = slp_queue_watermark(s)->time < e->delivery.latest_ms;
  uint64_t since_us = slp_reading_silent_since_us(s, late);
  if (since_us == UINT64_MAX) return UINT64_MAX;
  uint64_t now = slp_now_us(e->host), until = slp_after_us(since_us, order_wait_us(e, s));
  /* For a pushed shard, the wait begins when the waiting record came, even if the shard's last event was long
   * before. */
  if (s->consumer->source->pushes && !slp_reading_failing_since_us(s))
    until = slp_after_us(waits_since_us(e), order_wait_us(e, s));
  else if (now >= until)
    until = slp_max_u64(until, slp_after_us(held_since_us(e), order_wait_us(e, s)));
  return longer_in_backlog_us(e, until, slp_reading_failing_since_us(s));
}

/* Returns until_us, the end of a wait. Returns a later time if the event loop was blocked: then the loop must
 * first run for a while, because the answer of the silent shard may lie unread in the socket. Also makes the
 * delivery run shortly before until_us, to notice if the loop is blocked until then. A wait that is over is
 * prolonged only once, because a program may block the loop again and again. */
static uint64_t settled_us(slp_engine *e, uint64_t order_wait_us, uint64_t until_us) {
  slp_delivery *d = &e->delivery;
  uint64_t now = slp_now_us(e->host), settles_us = slp_min_u64(SETTLES_US, order_wait_us);
  int stood = now - d->looked_us > settles_us + SETTLES_US;
  d->looked_us = now;
  if (stood && !d->prolonged) {
    d->alive_since_us = now;
    d->prolonged = now >= until_us;
  }
  if (until_us != UINT64_MAX && until_us > now + settles_us) look_again(e, until_us - settles_us);
  return slp_max_u64(until_us, slp_after_us(d->alive_since_us, settles_us));
}

/* Handles shard s, whose watermark is the least key in the merge. Returns 0 if the other shards go on waiting
 * for s. Returns 1 if s no longer holds them back; then the caller must look at the merge again. */
static int wait_or_set_aside(slp_engine *e, slp_shard *s) {
  if (slp_merge_ready(&e->merge) == 0) {
    is_not_blocked(e);
    return 0;
  }
  is_blocked(e);
  /* A shard at its tip would be asked again only after poll_ms. Meanwhile the other shards' buffers would
   * fill up, because they have a backlog and wait for this shard. So it is asked earlier. */
  if (e->behind_n) slp_reading_hurry(s);
  uint64_t listens_since_us = slp_reader_listens_since_us(s),
           until = merge_waits_until_us(e, s, listens_since_us);
  if (listens_since_us == UINT64_MAX) until = settled_us(e, order_wait_us(e, s), until);
  if (slp_now_us(e->host) < until) {
    look_again(e, until);
    return 0;
  }
  if (listens_since_us != UINT64_MAX) {
    move_watermark(e, s);
    return 1;
  }
  slp_report_log(s->consumer, s->consumer->source->pushes ? SLOOP_LOG_DEBUG : SLOOP_LOG_INFO,
                 "order: shard set aside, it holds nobody back now shard=%s", s->name->shard);
  slp_order_set_aside(s);
  return 1;
}

/* Returns the time at which records stop waiting for the first listing of consumer c. */
static uint64_t listing_patience(slp_engine *e, const slp_consumer *c) {
  if (e->order_wait_ms == UINT32_MAX) return UINT64_MAX;
  uint64_t wait_us = (uint64_t)e->order_wait_ms * 1000, failing_us = c->failing_since_us;
  uint64_t until = slp_after_us(failing_us ? failing_us : c->started_us, wait_us);
  return settled_us(e, wait_us, longer_in_backlog_us(e, until, failing_us));
}

/* Returns 1 if no record may be handed out now, because a joined consumer has not listed its shards yet. */
static int a_listing_is_waited_for(slp_engine *e) {
  if (slp_merge_ready(&e->merge) == 0) return 0;
  SLP_LIST_EACH(&e->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    if (!slp_consumer_is_yet_to_list(c)) continue;
    /* When a part of the listing has come, the rest may name a shard with earlier records. So the wait for
     * the rest has no limit. */
    uint64_t until = c->shards.live ? UINT64_MAX : listing_patience(e, c);
    if (slp_now_us(e->host) >= until) continue;
    is_blocked(e);
    look_again(e, until);
    return 1;
  }
  return 0;
}

/* Returns 1 if a record with next_bytes of data does not fit into the batch. */
static int batch_full(const slp_engine *e, const slp_batch *b, uint32_t next_bytes) {
  return b->n >= e->batch_records_max ||
         (b->n && b->payload_bytes + (SLP_MUTANT(batch_one_too_many) ? 0 : next_bytes) > e->batch_bytes_max);
}

/* Moves the oldest record that the user gave back into the batch. Returns 0 if it was moved. Returns 1 if it
 * must wait, or if it is a dead letter and is now the batch's only record. Returns SLP_ENOMEM without
 * memory. */
static int move_given_back(slp_engine *e, slp_batch *b, slp_shard *s) {
  uint32_t i;
  slp_buffered *buffered = slp_queue_given_back(s, &i);
  if (slp_queue_rests_until_us(s) > slp_now_us(e->host) && !SLP_MUTANT(no_rest_after_give_back)) {
    look_again(e, slp_queue_rests_until_us(s));
    return 1;
  }
  if (batch_full(e, b, slp_buffered_payload(buffered, i))) return 1;
  if (slp_queue_is_dead(s, buffered, i)) {
    if (b->n) return 1; /* a dead letter (a record that came back too often) gets a batch of its own */
    b->dead = 1;
  }
  int r = slp_batch_room(b);
  if (r) return r;
  slp_batch_add(b, buffered, i, SLOOP_REC_REDELIVERED);
  slp_queue_take_given_back(s, buffered, i);
  if (slp_queue_empty(s)) slp_reading_poke(s); /* s may wait in slp_calls.later, as long as it has records */
  slp_order_update(s);
  return b->dead;
}

/* Moves the next record of the queue of s into the batch. by_time: 1 if the batch takes records of all shards
 * in their order. Returns 0 if it was moved. Returns 1 if no more records can join this batch: the record
 * does not fit, or must wait, or must be the only record of its batch. Returns SLP_ENOMEM without memory.
 * Runs for every record, so every instruction counts. */
static int move_head(slp_engine *e, slp_batch *b, slp_shard *s, int by_time) {
  if (slp_queue_gave_back(&s->queue)) return move_given_back(e, b, s);
  slp_buffered *buffered = slp_queue_next_page(&s->queue);
  if (!buffered) return 1;
  uint32_t i = slp_queue_next_i(&s->queue), flags = 0;
  if (batch_full(e, b, slp_buffered_payload(buffered, i))) return 1;
  int64_t time = slp_queue_next_time(&s->queue);
  /* A record is late only if its order time is before that of a record handed out earlier. With the same
   * order time it is not late: among such records no order is promised, and a server that stamps whole
   * seconds gives many records the same time. */
  if (by_time && time < e->delivery.latest_ms && !SLP_MUTANT(late_not_flagged)) flags = SLOOP_REC_LATE;
  int r = slp_batch_room(b);
  if (r) return r;
  slp_batch_add(b, buffered, i, flags);
  if (by_time) e->delivery.latest_ms = slp_max_i64(e->delivery.latest_ms, time);
  slp_order_take(s, time);
  return 0;
}

/* Returns the shard whose record comes before the records of all other shards. NULL: no record may be handed
 * out now. */
static slp_shard *first_in_time(slp_engine *e) {
  slp_merge_node *top;
  while ((top = slp_merge_top(&e->merge))) {
    slp_shard *s = slp_shard_in_order(top);
    if (top->ready) return s;
    if (!wait_or_set_aside(e, s)) return NULL;
  }
  return NULL;
}

/* Returns the first shard of slp_engine.ready_shards that may hand out records now; NULL: there is none.
 * Skips shards of which the user holds batches_out_max batches, and shards whose returned records must
 * wait. */
static slp_shard *next_ready_shard(slp_engine *e) {
  uint64_t now = slp_now_us(e->host);
  SLP_LIST_EACH(&e->ready_shards, it) {
    slp_shard *s = slp_order_ready(it);
    if (slp_batches_of(s) >= e->batches_out_max) continue;
    if (slp_queue_rests_until_us(s) > now) {
      look_again(e, slp_queue_rests_until_us(s));
      continue;
    }
    return s;
  }
  return NULL;
}

/* Fills the batch with records that may be handed out now. only: the shard whose records are taken; NULL:
 * takes records of all shards, in the order of their keys. Returns 0 or SLP_ENOMEM. */
static int fill_batch(slp_engine *e, slp_batch *b, slp_shard *only) {
  int r = 0;
  slp_shard *s;
  while (!r && (s = only ? only : first_in_time(e))) {
    if (b->consumer != s->consumer) {
      if (b->consumer) break; /* all records of a batch are of one consumer */
      b->consumer = s->consumer;
    }
    r = move_head(e, b, s, !only);
    is_not_blocked(e);
  }
  return r < 0 ? r : 0;
}

static int fill_by_shard(slp_engine *e, slp_batch *b) {
  slp_shard *s = next_ready_shard(e);
  if (!s) return 0;
  b->shard = s;
  int r = fill_batch(e, b, s);
  slp_order_ready_again(s);
  return r;
}

/* Returns 1 if a callback to the user is due that reports something (not on_batch). Such a callback comes
 * before the next batch, so that a loss is reported before the records that follow the gap. */
static int somebody_is_being_told(const slp_engine *e) {
  SLP_LIST_EACH(&e->consumers, it) {
    if (slp_report_pending(SLP_OWNER(it, slp_consumer, link))) return 1;
  }
  return 0;
}

static void run_delivery(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, deliver_ev);
  if (somebody_is_being_told(e)) {
    slp_deliver_soon(e);
    return;
  }
  int by_time = e->order == SLOOP_ORDER_TIME;
  if (by_time && slp_batches_out(e) >= e->batches_out_max + (SLP_MUTANT(one_batch_more) ? 1 : 0)) return;
  slp_batch *b = slp_batch_new(e);
  if (!b) {
    look_again(e, slp_after_us(slp_now_us(e->host), 100000));
    return;
  }
  SLP_LIST_EACH(&e->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    if (c->leases) c->leases->ops->gate(c->leases);
  }
  b->engine = e;
  e->delivery.waits_since_us = 0;
  int r = !by_time ? fill_by_shard(e, b) : a_listing_is_waited_for(e) ? 0 : fill_batch(e, b, NULL);
  if (b->n == 0) {
    slp_batch_recycle(b);
    if (r) look_again(e, slp_after_us(slp_now_us(e->host), 100000));
    slp_pump_soon(e); /* the merge may wait for a shard that must first be allowed to exceed the budget */
    SLP_LIST_EACH(&e->consumers, it) slp_consumer_check(SLP_OWNER(it, slp_consumer, link));
    return;
  }
  slp_deliver_soon(e); /* after this batch, more records may be ready */
  if (b->dead)
    slp_batch_bury(b);
  else
    slp_batch_send(b);
}

void slp_deliver_init(slp_engine *e) {
  e->deliver_ev.run = run_delivery;
  e->delivery.latest_ms = INT64_MIN;
  e->delivery.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
}

void slp_deliver_free(slp_engine *e) {
  slp_unpost(&e->deliver_ev);
  slp_timer_clear(e->host, &e->delivery.timer);
}
