/* lag.c - remembers how far behind its tip each answer left a shard. Kinesis states this lag in every page.
 * For other services the lag is the age of the newest record in the page, and 0 at the tip. */
#include "core/lag.h"

#include "base/fail.h"
#include "base/mutant.h"
#include "codec/page.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/mark.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "core/svctime.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>

/* The user is warned when two answers in a row leave a shard's lag above FAR_BEHIND_PERCENT of the stream's
 * retention. One does not count, because the first page of a shard has only few records. The next warning
 * comes only after the lag was below NEAR_AGAIN_PERCENT. */
#define FAR_BEHIND_PERCENT 80
#define NEAR_AGAIN_PERCENT 70

int64_t slp_lag_of_page(const slp_shard *s, const slp_page *page) {
  const slp_consumer *c = s->consumer;
  if (c->source->tells_behind) return page->behind_ms;
  int64_t now_ms = slp_svctime_low_ms(&c->service, slp_now_us(c->engine->host));
  if (page->recs_n == 0 || page->latest_ms < 0 || now_ms == INT64_MIN) return -1;
  return slp_max_i64(now_ms - page->latest_ms, 0);
}

static void warn_far_behind(slp_shard *s) {
  slp_consumer *c = s->consumer;
  slp_fail f = {0};
  int64_t left_ms = c->retention_ms - s->lag.told_ms;
  char when[100] = "records are being lost";
  if (left_ms > 0)
    snprintf(when, sizeof when, "records will be lost in %lld minutes unless it catches up",
             (long long)(left_ms / 60000));
  slp_fail_set(&f, SLP_TRANSIENT, SLOOP_EBEHIND,
               "reading is %lld minutes behind, but the stream keeps only %lld: %s",
               (long long)(s->lag.told_ms / 60000), (long long)(c->retention_ms / 60000), when);
  slp_report_error(c, &f, s, 0, 1, UINT64_MAX);
}

/* Remembers told_ms as the lag of s, from an answer whose call was made at asked_us. May warn the user.
 * told_ms -1: does the same as slp_lag_forget. */
static void note_lag(slp_shard *s, int64_t told_ms, uint64_t asked_us) {
  int64_t kept_ms = s->consumer->retention_ms;
  if (told_ms < 0) {
    slp_lag_forget(s);
    return;
  }
  s->lag.told_ms = told_ms;
  s->lag.told_us = asked_us;
  if (kept_ms <= 0) return;
  int was_far = s->lag.far;
  s->lag.far = told_ms > kept_ms / 100 * FAR_BEHIND_PERCENT;
  if (!s->lag.warned && s->lag.far && was_far) {
    s->lag.warned = 1;
    warn_far_behind(s);
  } else if (s->lag.warned && told_ms < kept_ms / 100 * NEAR_AGAIN_PERCENT) {
    s->lag.warned = 0;
  }
}

void slp_lag_note_page(slp_shard *s, int64_t told_ms, uint64_t asked_us, int at_tip) {
  if (told_ms >= 0) {
    if (SLP_MUTANT(records_tell_no_lag) && s->lag.told_ms < 0) return;
    note_lag(s, told_ms, asked_us);
  } else if (s->consumer->source->tells_behind) {
    slp_lag_forget(s);
  } else if (at_tip) {
    note_lag(s, 0, asked_us);
  }
}

/* Returns the page's first record that was not yet taken into the queue; NULL: there is none. */
static const slp_rec *first_new(const slp_shard *s, const slp_page *page) {
  for (uint32_t i = 0; i < page->recs_n; i++) {
    const slp_rec *r = &page->recs[i];
    if (!slp_has_taken(&s->at) || slp_mark_side(&s->at.last, slp_rec_seq(page, r), r->sub) > 0) return r;
  }
  return NULL;
}

void slp_lag_note_peek(slp_shard *s, const slp_page *page, uint64_t asked_us) {
  const slp_rec *first = first_new(s, page);
  int64_t told_ms = slp_lag_of_page(s, page), now_ms = slp_svctime_low_ms(&s->consumer->service, asked_us);
  int dated = first && first->arrived_ms >= 0;
  /* The first new record arrived before the time at which reading begins, so that record will not be handed
   * out. Its age does not show how old the first record to be handed out is. */
  if (dated && first->arrived_ms < s->at.not_before_ms) {
    slp_lag_forget(s);
    return;
  }
  if (dated && now_ms != INT64_MIN && !SLP_MUTANT(peek_sees_no_record))
    told_ms = slp_max_i64(told_ms, now_ms - first->arrived_ms);
  if (first && told_ms == 0) told_ms = 1;
  note_lag(s, told_ms, asked_us);
}

void slp_lag_kept_for(slp_shard *s) {
  s->lag.warned = 0;
  if (s->lag.told_ms >= 0) note_lag(s, s->lag.told_ms, s->lag.told_us);
}

int64_t slp_lag_told_ms(const slp_shard *s) { return s->lag.told_ms; }
uint64_t slp_lag_told_us(const slp_shard *s) { return s->lag.told_us; }

void slp_lag_init(slp_shard *s) {
  s->lag.told_ms = -1;
  s->lag.told_us = 0;
}

void slp_lag_forget(slp_shard *s) {
  /* if the lag is unknown already, told_us stays: it is the time since which the lag is unknown */
  if (s->lag.told_ms < 0 && s->lag.told_us) return;
  s->lag.told_ms = -1;
  s->lag.told_us = slp_now_us(s->consumer->engine->host);
}
