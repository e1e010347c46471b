/* progress.c - computes what is reported about a shard's progress. The lag of a shard is the greater of two
 * values:
 *   1. the age of its oldest fetched record that is not acknowledged;
 *   2. the lag in the last successful answer, plus the time since the call for that answer. If the answer
 *      said that the lag is 0, no time is added until the next answer is overdue. (For a pushed shard the
 *      next event is the next answer.)
 * So the lag grows by itself while calls fail, while no call is made, and while the user holds records. */
#include "core/progress.h"

#include "base/map.h"
#include "base/mutant.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/leases.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/order.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"
#include "core/svctime.h"
#include "host/host.h"

#include <sloop.h>

/* A poll is overdue when it comes more than ANSWER_MS after poll_ms is over. Then the last answer no longer
 * shows that the shard is at its tip. */
#define ANSWER_MS 1000u
/* if no event comes for this time, the subscription may be dead, so the last event no longer shows the tip */
#define EVENT_MS (SLP_READING_EVENT_US / 1000)

static uint64_t now_us(const slp_shard *s) { return slp_now_us(s->consumer->engine->host); }

/* Returns how long ago at_us was, a time on the host's clock. */
static int64_t since_ms(const slp_shard *s, uint64_t at_us) {
  uint64_t now = now_us(s);
  return now > at_us ? (int64_t)((now - at_us) / 1000) : 0;
}

/* Returns the age of the oldest record that is not acknowledged, at least 1 ms; -1: all are acknowledged. The
 * age is computed in two ways, and the greater value counts: the lag of the record's page plus the time since
 * that page was asked for; and the time since the record arrived in the stream. */
static int64_t oldest_age_ms(const slp_shard *s) {
  const slp_buffered *buffered;
  uint32_t i;
  if (!slp_acked_next(s, &buffered, &i) || SLP_MUTANT(held_has_no_age)) return -1;
  int64_t age = slp_add_i64(slp_max_i64(buffered->behind_ms, 0), since_ms(s, buffered->asked_us));
  int64_t now_ms = slp_svctime_low_ms(&s->consumer->service, now_us(s));
  int64_t arrived_ms = buffered->page ? buffered->page->recs[i].arrived_ms : -1;
  /* The arrival time alone is not enough, because our estimate of the service's clock may be too low. */
  if (arrived_ms >= 0 && now_ms != INT64_MIN) age = slp_max_i64(age, now_ms - arrived_ms);
  return slp_max_i64(age, 1);
}

/* Returns 1 if the last answer still shows that the shard is at its tip, because the next one is not
 * overdue. */
static int is_fresh(const slp_shard *s) {
  int listens = slp_reader_listens_since_us(s) != UINT64_MAX;
  if (SLP_MUTANT(answer_never_old) || (listens && SLP_MUTANT(silence_is_proof))) return 1;
  return since_ms(s, slp_lag_told_us(s)) <
         (listens ? EVENT_MS : (int64_t)s->consumer->o->poll_ms + ANSWER_MS);
}

/* ---- the state that is reported ----------------------------------------------------------------------- */

/* A call in flight for longer than this is reported as not answered. (The network gives up later.) */
#define UNANSWERED_MS 3000
/* If the user has held records of a shard for longer than this, the shard is reported as waiting for the
 * user, even if more records are being fetched. */
#define OUT_MS 1000

static void is_doing(slp_progress *p, sloop_shard_state_t state, int64_t state_ms) {
  p->state = state;
  p->state_ms = state_ms;
}

/* Returns how long the shard's call has been without an answer. Returns -1 if no call is in flight, if the
 * answer is just arriving, or if the call was sent a short time ago. An answer that says only that the
 * iterator has expired does not count: the time of that call is added to the time of the next one. */
static int64_t unanswered_ms(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  int waits_for_event = state == SLP_READER_FETCHING && s->consumer->source->pushes;
  int out = state == SLP_READER_LOCATING || state == SLP_READER_FETCHING;
  uint64_t lost_us = SLP_MUTANT(expired_is_an_answer) ? 0 : slp_reader_lost_us(s);
  int64_t ms = (int64_t)(lost_us / 1000) + (out ? since_ms(s, slp_reading_sent_us(s)) : 0);
  if (!out && !(lost_us && state == SLP_READER_WAITING)) return -1;
  return !slp_calls_is_stalled(s) && ms >= (waits_for_event ? EVENT_MS : UNANSWERED_MS) ? ms : -1;
}

/* Returns for how long the shard has waited for a listing that shows whether it ended. The time is counted
 * until a page comes, even if a listing has come. Returns -1 if the shard does not wait, or for less than
 * UNANSWERED_MS. */
static int64_t unlisted_ms(const slp_shard *s) {
  uint64_t since_us = slp_reading_failing_since_us(s);
  return since_us && since_ms(s, since_us) >= UNANSWERED_MS ? since_ms(s, since_us) : -1;
}

/* Returns for how long calls have failed, or were not answered, or the shard has waited for a listing; sets
 * ret->error and ret->fails to the reason. Returns -1 if none of these is the case. */
static int64_t fails_ms(const slp_shard *s, slp_progress *ret) {
  const char *error;
  uint64_t since_us = slp_reading_fails_since_us(s, &error);
  int64_t silent_ms = unanswered_ms(s), listing_ms = unlisted_ms(s);
  if (SLP_MUTANT(failing_is_read)) return -1;
  if (since_us) {
    ret->error = error;
    ret->fails = slp_reader_fails(s);
    return since_ms(s, since_us);
  }
  if (silent_ms >= 0) { /* the call in flight counts as a failed call too */
    ret->error = "no answer";
    ret->fails = slp_reader_fails(s) + 1;
  }
  if (listing_ms >= 0) {
    ret->error = slp_reading_state(s) == SLP_READER_CHECKING ? "not listed"
                 : silent_ms >= 0                            ? "no answer"
                                                             : "no page yet";
    ret->fails = (uint32_t)slp_max_u64(slp_reader_unlisted(s), 1);
  }
  return slp_max_i64(silent_ms, listing_ms);
}

/* Returns since when the user has kept the oldest unacknowledged record: since that record came or, if later,
 * since another record of the shard was last acknowledged. But if the user has made the shard be read again
 * (slp_leased_rewind), and no record was acknowledged since, returns lease.held_us. */
static uint64_t kept_since_us(const slp_shard *s, const slp_buffered *oldest) {
  uint64_t acked_us = slp_queue_acked_us(s);
  return s->lease.held_us && !acked_us ? s->lease.held_us : slp_max_u64(acked_us, oldest->came_us);
}

static int64_t kept_ms(const slp_shard *s, const slp_buffered *oldest) {
  return since_ms(s, kept_since_us(s, oldest));
}

/* Returns how long the shard's records have waited for the user in all, if two conditions hold: the user has
 * made the shard be read again (slp_leased_rewind), and no record was acknowledged since. Otherwise returns
 * -1. */
static int64_t held_again_ms(const slp_shard *s) {
  int there = !slp_reading_at_tip(s) || slp_queue_unacked_n(s) > 0;
  return s->lease.held_us && !slp_queue_acked_us(s) && there ? since_ms(s, s->lease.held_us) : -1;
}

uint64_t slp_progress_held_us(const slp_shard *s) {
  const slp_buffered *oldest;
  uint32_t i;
  if (slp_acked_next(s, &oldest, &i)) return kept_since_us(s, oldest);
  return slp_queue_acked_us(s) ? 0 : s->lease.held_us;
}

/* Returns 1 if the shard makes no progress because the user holds records. ms: for how long the user has kept
 * the oldest one. */
static int waits_for_user(const slp_shard *s, int64_t ms) {
  int fetching = slp_reading_state(s) == SLP_READER_FETCHING && !s->consumer->source->pushes;
  if (fetching && ms < OUT_MS) return 0;
  /* records of the shard wait to be handed out, perhaps between two batches of other shards */
  if (ms >= OUT_MS && !slp_queue_empty(s)) return 1;
  return slp_queue_is_out(s) || s->consumer->sum.batches_out || slp_queue_rests_until_us(s);
}

/* Reports that a shard waits because other shards use all bytes of the budget or all calls. Such a shard has
 * no record in memory, and either can't ask for records or can't receive the answer. */
static void find_held_up(const slp_shard *s, slp_progress *ret) {
  uint64_t since_us = slp_calls_is_stalled(s) ? slp_reading_sent_us(s) : slp_reading_held_up_since_us(s);
  int64_t ms = since_us ? since_ms(s, since_us) : 0;
  if (ms < OUT_MS || SLP_MUTANT(held_up_is_read)) return;
  is_doing(ret, s->consumer->sum.batches_out ? SLOOP_SHARD_WAITS_FOR_YOU : SLOOP_SHARD_WAITS_FOR_ANOTHER, ms);
}

/* Returns 1 if the shard's lease is being given up, and the user still holds records of the shard. This
 * worker reads the shard no more. Another worker begins when the user has returned these records. */
static int is_leaving(const slp_shard *s) {
  return s->consumer->leases && s->lease.drain != SLP_DRAIN_NO && slp_queue_is_out(s);
}

/* Returns for how long the user has held records of a shard that is leaving. */
static int64_t leaving_ms(const slp_shard *s) {
  const slp_buffered *oldest;
  uint32_t i;
  return slp_acked_next(s, &oldest, &i) ? kept_ms(s, oldest) : since_ms(s, slp_queue_acked_us(s));
}

static void find_state(const slp_shard *s, slp_progress *ret) {
  const slp_consumer *c = s->consumer;
  const slp_buffered *oldest;
  uint32_t i;
  int64_t ms = slp_reading_state(s) == SLP_READER_ENDED ? -1 : fails_ms(s, ret), held_ms = held_again_ms(s);
  is_doing(ret, SLOOP_SHARD_IS_READ, -1);
  if (is_leaving(s))
    is_doing(ret, SLOOP_SHARD_WAITS_FOR_YOU, leaving_ms(s));
  else if (slp_reading_state(s) == SLP_READER_GONE)
    is_doing(ret, SLOOP_SHARD_IS_GIVEN_UP, ms);
  else if (c->suspended && !SLP_MUTANT(suspended_is_read))
    is_doing(ret, SLOOP_SHARD_IS_SUSPENDED, since_ms(s, c->suspended_us));
  else if (s->paused)
    is_doing(ret, SLOOP_SHARD_IS_PAUSED, since_ms(s, s->paused_us));
  else if (ms >= 0 && ms >= held_ms)
    is_doing(ret, SLOOP_SHARD_FAILS, ms);
  else if (held_ms >= 0)
    is_doing(ret, SLOOP_SHARD_WAITS_FOR_YOU, held_ms);
  else if (ret->at_tip)
    is_doing(ret, SLOOP_SHARD_IS_AT_TIP, since_ms(s, slp_reading_tip_since_us(s)));
  else if (slp_acked_next(s, &oldest, &i)) {
    int64_t since = kept_ms(s, oldest);
    if (!slp_queue_empty(s) && !slp_queue_is_out(s) &&
        (!slp_order_is_in(s) || slp_order_waits_for_other(s))) {
      ret->other = slp_order_waited_for(s);
      is_doing(ret, SLOOP_SHARD_WAITS_FOR_ANOTHER, since);
    } else if (waits_for_user(s, since)) {
      is_doing(ret, SLOOP_SHARD_WAITS_FOR_YOU, since);
    }
  } else if (c->leases && s->lease.end == SLP_END_TOLD) {
    /* The lag of a shard becomes unknown when the shard ends. So this is the time at which the shard was read
     * to its end. */
    uint64_t ended_us = slp_lag_told_us(s);
    is_doing(ret, SLOOP_SHARD_WAITS_FOR_YOU, since_ms(s, slp_max_u64(ended_us, slp_queue_acked_us(s))));
  } else {
    find_held_up(s, ret);
  }
  if (ret->state == SLOOP_SHARD_FAILS || ret->state == SLOOP_SHARD_IS_GIVEN_UP) return;
  ret->error = "";
  ret->fails = 0;
}

/* ---- lag and state together ---------------------------------------------------------------------------- */

void slp_progress_of(const slp_shard *s, slp_progress *ret) {
  int64_t told_ms = slp_lag_told_ms(s), oldest_ms = oldest_age_ms(s);
  int ended = slp_reading_state(s) == SLP_READER_ENDED;
  uint64_t acked_us = slp_queue_acked_us(s);
  *ret = (slp_progress){.behind_ms = -1, .unknown_ms = -1, .error = ""};
  if (told_ms >= 0 && !ended)
    ret->behind_ms = told_ms == 0 && is_fresh(s) ? 0 : slp_add_i64(told_ms, since_ms(s, slp_lag_told_us(s)));
  ret->behind_ms = slp_max_i64(ret->behind_ms, oldest_ms);
  if (ret->behind_ms < 0 && !ended) ret->unknown_ms = since_ms(s, slp_lag_told_us(s));
  ret->at_tip = slp_reading_at_tip(s) && ret->behind_ms == 0;
  ret->acked_age_ms = acked_us ? since_ms(s, acked_us) : -1;
  find_state(s, ret);
}

int64_t slp_progress_behind_ms(const slp_shard *s) {
  slp_progress now;
  slp_progress_of(s, &now);
  return now.behind_ms;
}

/* Returns 1 if the shard was given up and this is to be reported. With leases returns 0, because the lease is
 * then given up, and the shard is freed. */
static int is_given_up(const slp_shard *s) {
  const char *error;
  return slp_reading_state(s) == SLP_READER_GONE && !s->consumer->leases &&
         s->consumer->life == SLP_LIFE_RUNNING && slp_reading_fails_since_us(s, &error);
}

int slp_progress_is_told(const slp_shard *s) {
  if (SLP_MUTANT(tip_is_not_told) && slp_reading_at_tip(s)) return 0;
  int ends = slp_reading_state(s) == SLP_READER_ENDED && !s->ended_told && slp_lineage_wanted(s);
  return ends || slp_reading_is_on(s) || is_given_up(s) || is_leaving(s);
}

void slp_progress_of_all(slp_consumer *c, slp_progress_sum *ret) {
  size_t at = 0;
  slp_shard *s;
  *ret = (slp_progress_sum){.behind_ms = -1, .unknown_ms = -1, .acked_age_ms = -1};
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_progress one;
    if (!slp_progress_is_told(s)) continue;
    slp_progress_of(s, &one);
    ret->behind_ms = slp_max_i64(ret->behind_ms, one.behind_ms);
    ret->unknown_ms = slp_max_i64(ret->unknown_ms, one.unknown_ms);
    ret->tip_n += one.at_tip != 0;
    if (one.acked_age_ms >= 0 && (ret->acked_age_ms < 0 || one.acked_age_ms < ret->acked_age_ms))
      ret->acked_age_ms = one.acked_age_ms;
  }
  if (ret->unknown_ms >= 0) ret->behind_ms = -1;
}

/* After this time the lease's row shows the refusal. A worker that reads all rows then reports the refusal
 * from that row (slp_leases_ops.shut). */
#define NOTED_MS UINT64_C(10000)
/* After this time a worker that does not read all rows stops reporting a refusal. */
#define LEFT_MS UINT64_C(20000)

int slp_progress_refused(slp_consumer *c, const char **ret_shard, uint64_t *ret_ago_ms) {
  slp_shut_sum shut;
  if (!c->refusal.us || !c->leases) return 0;
  const slp_shard *s = slp_map_get(&c->shards, slp_str_of(c->refusal.shard));
  uint64_t ago_ms = (slp_now_us(c->engine->host) - c->refusal.us) / 1000;
  c->leases->ops->shut(c->leases, &shut, NULL, NULL);
  int by_rows = shut.rows_age_ms >= 0 && ago_ms > NOTED_MS + (uint64_t)shut.rows_age_ms;
  if (by_rows || ago_ms > LEFT_MS || (s && slp_progress_behind_ms(s) >= 0)) return 0;
  *ret_shard = c->refusal.shard;
  *ret_ago_ms = ago_ms;
  return 1;
}
