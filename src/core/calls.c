/* calls.c - keeps the list of calls in flight, and limits the bytes that the answer to a call may hold. */
#include "core/calls.h"

#include "base/list.h"
#include "base/mutant.h"
#include "core/ahead.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/merge.h"
#include "core/shard_inside.h"
#include "core/source.h"
#include "host/host.h"
#include "host/op.h"

int slp_calls_is_stalled(const slp_shard *s) {
  return slp_list_linked(&s->call.stalled_link) && s->call.lacks;
}

void slp_calls_put_off(slp_shard *s) {
  s->call.lacks = 0;
  slp_list_add_last(&s->consumer->engine->calls.later, &s->call.stalled_link);
}

void slp_calls_put_off_no_more(slp_shard *s) {
  if (!slp_calls_is_stalled(s)) slp_list_remove(&s->call.stalled_link);
}

void slp_calls_over(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  e->calls.in_flight -= (uint32_t)slp_list_linked(&s->call.out_link);
  slp_list_remove(&s->call.out_link);
  /* Another shard's transfer may be paused, and the records of this call's page may have to be handed out
   * after that shard's records. So s loses the permission to exceed the budget, which the other shard can
   * then get. Otherwise neither shard could ever go on. */
  if (e->calls.beyond == s) e->calls.beyond = NULL;
  slp_list_remove(&s->call.stalled_link);
  slp_pump_soon(e);
}

uint64_t slp_calls_reserved(const slp_shard *s) { return s->call.reserved; }

void slp_calls_settle(slp_shard *s, uint64_t real) {
  slp_budget_settle(&s->consumer->engine->budget, s->call.reserved, real);
  s->call.reserved = 0;
}

void slp_calls_give(slp_shard *s) { slp_calls_settle(s, 0); }

int slp_calls_room(slp_engine *e) {
  int r = slp_merge_reserve(&e->merge, e->shards_n + 1);
  return r ? r : slp_merge_reserve(&e->calls.want, e->shards_n + 1);
}

int slp_calls_grow(slp_shard *s, uint64_t need) {
  slp_engine *e = s->consumer->engine;
  if (!s->call.answered_us) s->call.answered_us = (uint32_t)slp_now_us(e->host) | 1;
  if (need <= s->call.reserved) return 1;
  uint64_t extra = need - s->call.reserved;
  if (!slp_budget_try(&e->budget, extra)) {
    if (e->calls.beyond != s && !SLP_MUTANT(budget_is_advice)) {
      s->call.lacks = extra;
      if (!slp_list_linked(&s->call.stalled_link))
        slp_list_add_last(&e->calls.stalled, &s->call.stalled_link);
      slp_pump_soon(e);
      return 0;
    }
    slp_budget_force(&e->budget, extra);
  }
  s->call.reserved = need;
  return 1;
}

void slp_calls_learn_trip(slp_shard *s, const slp_op *op, uint64_t wait_us) {
  slp_engine *e = s->consumer->engine;
  uint64_t now_us = slp_now_us(e->host);
  uint32_t trip_us = s->call.answered_us - (uint32_t)op->sent_us;
  /* a call that was sent again later than its first answer came, or without bytes, says nothing better */
  if (!s->call.answered_us || trip_us > INT32_MAX) trip_us = (uint32_t)(op->done_us - op->sent_us);
  slp_ahead_trip(&s->consumer->ahead, slp_max_u64(trip_us, wait_us), now_us);
  e->ahead_needs = 0;
  for (slp_list *it = e->consumers.next; it != &e->consumers; it = it->next) {
    slp_ahead *ahead = &SLP_OWNER(it, slp_consumer, link)->ahead;
    slp_ahead_forget_old(ahead, now_us);
    e->ahead_needs += slp_ahead_needs(ahead);
  }
}

uint32_t slp_calls_shards_busy(const slp_engine *e) {
  uint32_t ready = slp_merge_ready(&e->merge);
  return e->behind_n > ready ? e->behind_n : ready;
}

uint64_t slp_calls_page_worth(const slp_shard *s, const slp_src_fetch *last) {
  const slp_engine *e = s->consumer->engine;
  uint64_t since_us = slp_now_us(e->host) - last->rq.sent_us;
  return slp_max_u64(slp_ahead_page(e->ahead_needs, slp_calls_shards_busy(e)),
                     slp_ahead_page_after(&s->consumer->ahead, last->body_bytes, since_us));
}

static void on_timer(slp_timer *t) { slp_pump_soon(SLP_OWNER(t, slp_engine, calls.timer)); }

void slp_calls_init(slp_engine *e, uint32_t in_flight_max) {
  e->calls.in_flight_max = in_flight_max;
  e->calls.timer = (slp_timer){.at_us = UINT64_MAX, .run = on_timer};
  slp_list_init(&e->calls.out);
  slp_list_init(&e->calls.stalled);
  slp_list_init(&e->calls.later);
  slp_merge_init(&e->calls.want, e->mem);
}

void slp_calls_free(slp_engine *e) {
  slp_timer_clear(e->host, &e->calls.timer);
  slp_merge_free(&e->calls.want);
}
