/* progress.c - what is told of a shard's progress.
 *
 * How far behind a shard is, is the greater of
 *   1. the age of the oldest record of it in our hands that is not acknowledged;
 *   2. what the last good answer told, and the time since that answer was asked for.
 * The second is 0 while the answer told 0 and the next one is not overdue, or while the shard is pushed and
 * its subscription is silent, which proves that nothing came. So the lag grows by itself while calls fail,
 * while nobody calls, and while the user keeps records. */
#include "core/progress.h"

#include "core/core.h"

/* An answer may come that late before the one before it is old. */
#define ANSWER_MS 1000u

static uint64_t now_us(const slp_shard *s) { return slp_now_us(s->consumer->engine->host); }

static int64_t since_ms(const slp_shard *s, uint64_t at_us) {
  uint64_t now = now_us(s);
  return now > at_us ? (int64_t)((now - at_us) / 1000) : 0;
}

/* The age of the oldest record that is not acknowledged; at least 1. -1: there is none. Where neither the
 * record nor the service tells a time, the record is as old as its page was behind, and the time since. */
static int64_t oldest_age_ms(const slp_shard *s) {
  const slp_buffered *buffered;
  uint32_t i;
  if (!slp_acked_next(s, &buffered, &i)) return -1;
  int64_t age = slp_max_i64(buffered->behind_ms, 0) + since_ms(s, buffered->came_us);
  int64_t now_ms = slp_svctime_low_ms(&s->consumer->service, now_us(s));
  int64_t arrived_ms = buffered->page ? buffered->page->recs[i].arrived_ms : -1;
  if (arrived_ms >= 0 && now_ms != INT64_MIN) age = now_ms - arrived_ms;
  return slp_max_i64(age, 1);
}

static int is_fresh(const slp_shard *s) {
  if (slp_reader_listens_since_us(s) != UINT64_MAX) return 1;
  return since_ms(s, slp_lag_told_us(s)) < (int64_t)s->consumer->o->poll_ms + ANSWER_MS;
}

void slp_progress_of(const slp_shard *s, slp_progress *ret) {
  int64_t told_ms = slp_lag_told_ms(s), oldest_ms = oldest_age_ms(s);
  int ended = slp_reading_state(s) == SLP_READER_ENDED;
  *ret = (slp_progress){.behind_ms = -1, .unknown_ms = -1};
  if (told_ms >= 0 && !ended)
    ret->behind_ms = told_ms == 0 && is_fresh(s) ? 0 : told_ms + since_ms(s, slp_lag_told_us(s));
  ret->behind_ms = slp_max_i64(ret->behind_ms, oldest_ms);
  if (ret->behind_ms < 0 && !ended) ret->unknown_ms = since_ms(s, slp_lag_told_us(s));
  ret->at_tip = slp_reading_at_tip(s) && ret->behind_ms == 0;
}

int64_t slp_progress_behind_ms(const slp_shard *s) {
  slp_progress now;
  slp_progress_of(s, &now);
  return now.behind_ms;
}

int slp_progress_is_told(const slp_shard *s) {
  int ends = slp_reading_state(s) == SLP_READER_ENDED && !s->ended_told && slp_lineage_wanted(s);
  return ends || slp_reading_is_on(s);
}

void slp_progress_of_all(slp_consumer *c, slp_progress_sum *ret) {
  size_t at = 0;
  slp_shard *s;
  *ret = (slp_progress_sum){-1, -1, 0};
  while ((s = slp_map_each(&c->shards, &at))) {
    slp_progress one;
    if (!slp_progress_is_told(s)) continue;
    slp_progress_of(s, &one);
    ret->behind_ms = slp_max_i64(ret->behind_ms, one.behind_ms);
    ret->unknown_ms = slp_max_i64(ret->unknown_ms, one.unknown_ms);
    ret->tip_n += one.at_tip != 0;
  }
  if (ret->unknown_ms >= 0) ret->behind_ms = -1;
}
