/* reading.c - the state of a shard's reading, and when the shard wants to call next. */
#include "core/reading.h"

#include "base/fail.h"
#include "base/states.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/merge.h"
#include "core/pace.h"
#include "core/pages.h"
#include "core/queue.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

static const slp_set allowed[] = {
    [SLP_READER_IDLE] = SLP_BIT(SLP_READER_WAITING) | SLP_BIT(SLP_READER_GONE),
    [SLP_READER_WAITING] =
        SLP_BIT(SLP_READER_LOCATING) | SLP_BIT(SLP_READER_FETCHING) | SLP_BIT(SLP_READER_GONE),
    [SLP_READER_LOCATING] =
        SLP_BIT(SLP_READER_WAITING) | SLP_BIT(SLP_READER_CHECKING) | SLP_BIT(SLP_READER_GONE),
    [SLP_READER_FETCHING] = SLP_BIT(SLP_READER_WAITING) | SLP_BIT(SLP_READER_CHECKING) |
                            SLP_BIT(SLP_READER_ENDED) | SLP_BIT(SLP_READER_GONE),
    [SLP_READER_CHECKING] =
        SLP_BIT(SLP_READER_WAITING) | SLP_BIT(SLP_READER_ENDED) | SLP_BIT(SLP_READER_GONE),
    /* a shard that ended is read again after slp_reader_rewind */
    [SLP_READER_ENDED] = SLP_BIT(SLP_READER_WAITING) | SLP_BIT(SLP_READER_GONE),
    [SLP_READER_GONE] = SLP_BIT(SLP_READER_GONE),
};

void slp_reading_move(slp_shard *s, slp_reader_state to) { SLP_MOVE(allowed, s->reading.state, to); }

slp_reader_state slp_reading_state(const slp_shard *s) { return s->reading.state; }

int slp_reading_is_over(const slp_shard *s) {
  return s->reading.state == SLP_READER_ENDED || s->reading.state == SLP_READER_GONE;
}

int slp_reading_is_on(const slp_shard *s) {
  return s->reading.state != SLP_READER_IDLE && !slp_reading_is_over(s);
}

static slp_host *host_of(const slp_shard *s) { return s->consumer->engine->host; }

/* ---- waiting ---------------------------------------------------------------------------------------- */

/* A paused shard is still asked once a minute, so that its lag stays known and its iterator does not
 * expire. */
#define PEEK_US 60000000u

int slp_reading_wants_call(const slp_shard *s) { return s->call.want.slot != 0; }

void slp_reading_unwant_call(slp_shard *s) {
  slp_merge_remove(&s->consumer->engine->calls.want, &s->call.want);
  slp_calls_put_off_no_more(s);
}

void slp_reading_call_later(slp_shard *s) {
  slp_reading_unwant_call(s);
  slp_calls_put_off(s);
}

/* Puts s into the queue of shards that want to call, and makes the pump run. */
static void want_call(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  slp_calls_put_off_no_more(s);
  slp_merge_put(&e->calls.want, &s->call.want, slp_queue_watermark(s), 1);
  slp_pump_soon(e);
}

void slp_reading_poke(slp_shard *s) {
  if (s->reading.state != SLP_READER_WAITING || slp_reading_wants_call(s)) return;
  if (!s->paused && !slp_queue_has_room(s)) return;
  if (s->consumer->suspended) return; /* slp_reading_poke is called again when the suspension ends */
  uint64_t at_us =
      s->paused ? slp_max_u64(s->reading.next_at_us, s->reading.peek_at_us) : s->reading.next_at_us;
  if (slp_now_us(host_of(s)) < at_us) {
    slp_timer_set_reserved(host_of(s), &s->reading.timer, at_us);
    return;
  }
  /* stops the timer, which may still be set for a time in the future */
  slp_timer_clear(host_of(s), &s->reading.timer);
  want_call(s);
}

void slp_reading_hurry(slp_shard *s) {
  uint64_t at_us = s->reading.sent_us + SLP_PACE_FLOOR_US;
  if (s->reading.state != SLP_READER_WAITING || slp_reading_wants_call(s) || s->reading.failing_since_us ||
      s->reading.next_at_us <= at_us)
    return;
  s->reading.next_at_us = at_us;
  slp_reading_poke(s);
}

static void on_timer(slp_timer *t) { slp_reading_poke(SLP_OWNER(t, slp_shard, reading.timer)); }

void slp_reading_wait(slp_shard *s, uint64_t at_us) {
  s->reading.next_at_us = slp_max_u64(at_us, slp_now_us(host_of(s)));
  slp_reading_move(s, SLP_READER_WAITING);
  slp_reading_poke(s);
}

void slp_reading_at_once(slp_shard *s) {
  s->reading.next_at_us = slp_min_u64(s->reading.next_at_us, slp_now_us(host_of(s)));
  slp_reading_poke(s);
}

void slp_reading_call_off(slp_shard *s) {
  slp_timer_clear(host_of(s), &s->reading.timer);
  slp_reading_unwant_call(s);
  slp_reading_set_tip(s, 0);
}

void slp_reading_init(slp_shard *s) { s->reading.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer}; }

/* ---- calls ------------------------------------------------------------------------------------------- */

void slp_reading_sent(slp_shard *s) {
  s->reading.sent_us = slp_now_us(host_of(s));
  s->consumer->counts.retries += s->reading.failing_since_us > 0;
}

uint64_t slp_reading_sent_us(const slp_shard *s) { return s->reading.sent_us; }
void slp_reading_peeks(slp_shard *s) { s->reading.peek_at_us = slp_after_us(s->reading.sent_us, PEEK_US); }

void slp_reading_failed(slp_shard *s) {
  uint64_t now_us = slp_now_us(host_of(s));
  if (s->reading.failing_since_us) return;
  s->reading.failing_since_us = now_us;
  /* A subscription may wait for its next event for up to SLP_READING_EVENT_US. Until then it had not failed,
   * so it counts as failing only from now on. */
  int was_fine = s->consumer->source->pushes && now_us - s->reading.sent_us < SLP_READING_EVENT_US;
  s->reading.failing_from_us = was_fine ? now_us : s->reading.sent_us;
}

/* One refusal may be noted twice within this time: when the call fails, and when the shard is given up
 * because of that. Such a pair counts once. */
#define ONE_REFUSAL_US 1000000u

/* Remembers in the consumer that the service refused the shard's position. The shard itself is freed when its
 * lease is given up. */
static void note_refusal(slp_shard *s) {
  slp_consumer *c = s->consumer;
  int again = slp_str_is(s->id, c->refusal.shard);
  uint64_t now_us = slp_now_us(c->engine->host);
  size_t n = slp_min_u64(s->id.n, sizeof c->refusal.shard - 1);
  if (again && now_us - c->refusal.us < ONE_REFUSAL_US) return;
  memcpy(c->refusal.shard, s->id.p, n);
  c->refusal.shard[n] = 0;
  c->refusal.us = now_us;
  c->refusal.n = again ? c->refusal.n + 1 : 1;
}

/* Writes the service's name for the failure to `out` or, if it has none, the kind of the failure. */
static void name_failure(const slp_fail *f, char *out, size_t size) {
  if (f->aws_code[0])
    snprintf(out, size, "%.47s", f->aws_code);
  else if (f->code == SLOOP_EPROTO)
    snprintf(out, size, "bad answer");
  else if (f->http_status)
    snprintf(out, size, "HTTP %d", f->http_status);
  else
    snprintf(out, size, "%s", f->class == SLP_TRANSIENT ? "no answer" : slp_class_name(f->class));
}

void slp_reading_refused(slp_shard *s, const slp_fail *f) {
  if (s->consumer->leases && f->class == SLP_REFUSED) note_refusal(s);
  slp_reading_failed(s);
  s->reading.refused_as = f->class;
  name_failure(f, s->reading.error, sizeof s->reading.error);
}

uint64_t slp_reading_fails_since_us(const slp_shard *s, const char **ret_error) {
  *ret_error = s->reading.error;
  return s->reading.refused_as == SLP_FINE || !s->reading.failing_since_us ? 0 : s->reading.failing_from_us;
}

uint64_t slp_reading_tip_since_us(const slp_shard *s) { return s->reading.tip_since_us; }
int slp_reading_is_busy(const slp_shard *s) { return s->reading.refused_as == SLP_BUSY; }

void slp_reading_fine(slp_shard *s) {
  s->reading.failing_since_us = 0;
  s->reading.refused_as = SLP_FINE;
}

void slp_reading_forgive(slp_shard *s) {
  if (s->reading.failing_since_us) s->reading.failing_since_us = slp_now_us(host_of(s));
}

uint64_t slp_reading_failing_since_us(const slp_shard *s) {
  return s->reading.refused_as == SLP_THROTTLE ? 0 : s->reading.failing_since_us;
}

uint64_t slp_reading_held_up_since_us(const slp_shard *s) {
  uint64_t at_us = s->reading.next_at_us;
  int waits = s->reading.state == SLP_READER_WAITING && !s->paused;
  return waits && at_us <= slp_now_us(s->consumer->engine->host) ? at_us : 0;
}

uint64_t slp_reading_silent_since_us(const slp_shard *s, int late) {
  const slp_shard_reading *r = &s->reading;
  int silent = r->state == SLP_READER_FETCHING || r->state == SLP_READER_LOCATING,
      behind = r->is_behind && !late;
  if (!r->failing_since_us && (!silent || slp_calls_is_stalled(s) || behind)) return UINT64_MAX;
  /* If the last call was throttled and the shard has a backlog, other shards wait for it without a limit:
   * throttling is normal then, and the shard's records are the earliest of all. */
  if (r->refused_as == SLP_THROTTLE && behind) return UINT64_MAX;
  return r->failing_since_us ? r->failing_since_us : r->sent_us;
}

/* ---- what the last page told ------------------------------------------------------------------------- */

void slp_reading_set_tip(slp_shard *s, int at_tip) {
  if (at_tip) s->reading.tip_asked_us = s->reading.sent_us;
  if (s->reading.at_tip == at_tip) return;
  s->reading.at_tip = (uint8_t)at_tip;
  s->reading.tip_since_us = s->reading.sent_us;
  s->consumer->sum.tip_n += at_tip ? 1u : -1u;
}

int slp_reading_at_tip(const slp_shard *s) { return s->reading.at_tip; }
uint64_t slp_reading_tip_asked_us(const slp_shard *s) { return s->reading.tip_asked_us; }

void slp_reading_set_behind(slp_shard *s, int behind) {
  if (s->reading.is_behind == behind) return;
  s->reading.is_behind = (uint8_t)behind;
  s->consumer->engine->behind_n += behind ? 1u : -1u;
  if (!s->consumer->engine->behind_n) slp_pages_drop(s->consumer->engine);
}

int slp_reading_brings_more(const slp_shard *s) { return !s->reading.failing_since_us && !s->reading.at_tip; }
