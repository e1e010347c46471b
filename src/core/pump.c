/* pump.c - decides which shard makes the next GetRecords call.
 *
 * Of the shards that want to call, the one with the lowest watermark calls first. A call reserves its bytes
 * in the budget before it is sent.
 *
 * A shard that still has records fetches ahead only while less is fetched than ahead.h says is worth it.
 * Otherwise it waits in slp_calls.later until records were handed out, or until it has no records.
 *
 * A full budget can deadlock. The merge (merge.h) hands out nothing until the shard with the least key has a
 * record; every byte is held by pages of other shards; and the user holds no batch whose return would free
 * bytes. The shard with the least key is then starved. The way out, in this order:
 *   1. Cancel the paused answers that do not fit, and make their shards ask for a single record first.
 *   2. Let the starved shard fetch one page beyond the budget.
 *   3. Before a second page goes beyond the budget, drop fetched pages. Pages of paused shards go first, then
 *      those of the shard that is furthest ahead. Of pushed pages only the last records go, if that is
 *      enough. Dropped records are fetched again later.
 * So buffered bytes never exceed the budget by more than one page.
 *
 * A shard that is set aside (order.h) never has the least key, so rule 2 would starve it. Therefore such
 * shards take turns: in its turn, a shard may exceed the budget. A turn begins when the shard that the merge
 * waits for lacks no bytes, or when TURN_EVERY_US have passed since the last turn. The shard that was asked
 * longest ago has the next turn. The shard that the merge waits for takes the permission back at once, and
 * rule 3 frees the bytes that the other shard took. If nothing can be dropped, because one page is as large
 * as the budget, the shard that the merge waits for must wait for TURN_US; then the call of the other shard
 * is cancelled. */
#include "core/pump.h"

#include "base/list.h"
#include "base/map.h"
#include "core/ahead.h"
#include "core/batch.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lineage.h"
#include "core/merge.h"
#include "core/order.h"
#include "core/pages.h"
#include "core/queue.h"
#include "core/reader.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/report.h"
#include "core/shard_inside.h"
#include "host/host.h"

#include <sloop.h>

/* Returns the shard that a node in slp_calls.want belongs to. */
static slp_shard *want_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, call.want); }

/* ---- exceeding the budget ---------------------------------------------------------------------------- */

/* Returns 1 if a call in flight will end soon and bring records. Three kinds of calls do not count:
 *   - calls whose transfer is paused because the budget is spent;
 *   - calls of a shard at its tip, which has hardly any records to bring;
 *   - calls of a shard that failed or is set aside, which may not be answered for minutes.
 * Waiting for calls that count never takes for ever: a shard brings records until its queue is full, or until
 * its next call is of one of the three kinds. */
static int calls_moving(const slp_engine *e) {
  SLP_LIST_EACH(&e->calls.out, it) {
    const slp_shard *s = SLP_OWNER(it, slp_shard, call.out_link);
    if (!slp_calls_is_stalled(s) && !slp_order_is_aside(s) && slp_reading_brings_more(s)) return 1;
  }
  return 0;
}

static int call_is_free(const slp_engine *e) { return e->calls.in_flight < e->calls.in_flight_max; }

static int lacks_bytes(const slp_shard *s) { return slp_calls_is_stalled(s) || slp_reading_wants_call(s); }

/* Of all shards whose transfer is paused, returns the one with the lowest watermark; NULL: none is paused.
 * empty: 1 to look only at shards that have no record to hand out. */
static slp_shard *furthest_back(slp_engine *e, int empty) {
  slp_shard *first = NULL;
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only loose nodes have no next */
  SLP_LIST_EACH(&e->calls.stalled, it) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    if (empty && !slp_queue_empty(s)) continue;
    if (!first || slp_key_cmp(slp_queue_watermark(s), slp_queue_watermark(first)) < 0) first = s;
  }
  return first;
}

/* Returns the shard that the merge waits for; NULL: it waits for no shard. */
static slp_shard *waited_for(slp_engine *e) {
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (!least || least->ready) return NULL;
  /* If the merge waits for a pushed shard, the next event of that shard may come much later. A shard that has
   * no records and whose transfer is paused can't wait until then, so it is returned instead. */
  slp_shard *first = slp_shard_in_order(least);
  slp_shard *paused = first->consumer->source->pushes && !lacks_bytes(first) ? furthest_back(e, 1) : NULL;
  return paused ? paused : first;
}

/* Returns 1 if s may exceed the budget only in its turn. That is so for a shard that is set aside: no other
 * shard waits for s, so none frees bytes for s. While no record is in the merge, no shard is set aside,
 * although the shard with the least key may fail for ever. Then all shards in the order take turns. */
static int takes_turns(const slp_engine *e, const slp_shard *s) {
  int all = slp_merge_count(&e->merge) && !slp_merge_ready(&e->merge);
  return slp_order_is_aside(s) || (all && slp_order_is_in(s));
}

/* Returns the shard whose last call was begun earlier: a or b. a may be NULL. */
static slp_shard *asked_first(slp_shard *a, slp_shard *b) {
  return !a || slp_reading_sent_us(b) < slp_reading_sent_us(a) ? b : a;
}

/* Of the shards that take turns (takes_turns), returns the one that was asked longest ago; NULL: there is
 * none. Shards with a paused transfer come before shards that want to call. While in_flight_max calls are in
 * flight, shards that want to call are left out: they could not use their turn, and would block other
 * shards. */
static slp_shard *next_in_turn(slp_engine *e) {
  slp_shard *next = NULL;
  SLP_LIST_EACH(&e->calls.stalled, it) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    if (takes_turns(e, s)) next = asked_first(next, s);
  }
  if (next || !call_is_free(e)) return next;
  for (uint32_t i = 0; i < slp_merge_count(&e->calls.want); i++) {
    slp_shard *s = want_owner(slp_merge_at(&e->calls.want, i));
    if (takes_turns(e, s)) next = asked_first(next, s);
  }
  return next;
}

/* A shard keeps the permission to exceed the budget for at least TURN_US. Only the shard that the merge waits
 * for may take it away earlier. */
#define TURN_US 1000000u
/* Every TURN_EVERY_US a shard that is set aside (order.h) may exceed the budget, even if the budget has no
 * bytes left for the shard that the merge waits for. */
#define TURN_EVERY_US 10000000u

/* Returns 1 if the time us has been reached. Otherwise makes the pump run at that time, and returns 0. */
static int is_past(slp_engine *e, uint64_t us) {
  if (slp_now_us(e->host) >= us) return 1;
  slp_timer_set_reserved(e->host, &e->calls.timer, us);
  return 0;
}

/* Returns 1 if another shard may take over the permission to exceed the budget: no shard has it, or a shard
 * has had it for TURN_US. Without that limit, two shards would take the permission from each other for
 * ever. */
static int right_is_free(slp_engine *e) {
  return !e->calls.beyond || is_past(e, slp_after_us(e->calls.beyond_us, TURN_US));
}

/* Returns the starved shard, which may exceed the budget. Returns NULL if no shard is starved: records can be
 * handed out, or bytes will be freed by a batch of the user or a call in flight. */
static slp_shard *find_starved_shard(slp_engine *e) {
  if (slp_batches_out(e) || calls_moving(e)) return NULL;
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (least ? least->ready : !slp_list_empty(&e->ready_shards)) return NULL;
  slp_shard *first = waited_for(e), *next = next_in_turn(e);
  if (first && lacks_bytes(first)) {
    uint64_t again_us = slp_after_us(e->calls.turn_us, TURN_EVERY_US);
    int turn = next && slp_order_is_aside(next) && slp_now_us(e->host) >= again_us && right_is_free(e) &&
               !slp_budget_is_over(&e->budget);
    if (turn) return next;
    return slp_shard_in_order(least) == first || right_is_free(e) ? first : NULL;
  }
  /* no shard has an entry in the merge (SLOOP_ORDER_SHARD, or all shards are paused): any shard that lacks
   * bytes may exceed the budget */
  if (!next && !least) {
    slp_merge_node *top = slp_merge_top(&e->calls.want);
    if (top) next = want_owner(top);
    if (!slp_list_empty(&e->calls.stalled))
      next = SLP_OWNER(e->calls.stalled.next, slp_shard, call.stalled_link);
  }
  return next && right_is_free(e) ? next : NULL;
}

/* Returns 1 if s may exceed the budget only in its turn (takes_turns), and the merge does not wait for s. */
static int has_turn(slp_engine *e, const slp_shard *s) { return s != waited_for(e) && takes_turns(e, s); }

/* Returns 1 if all records of s that were fetched and not handed out can be dropped and fetched again. */
static int can_rewind(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  return slp_queue_can_rewind(s) && state != SLP_READER_GONE && state != SLP_READER_CHECKING &&
         (state != SLP_READER_ENDED || slp_lineage_is_listed(s));
}

/* Returns a shard (not `but`) whose records in memory can't be handed out now, because the shard is paused or
 * its consumer is suspended; NULL: there is none. */
static slp_shard *paused_holder(slp_engine *e, const slp_shard *but) {
  SLP_LIST_EACH(&e->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) {
      if ((s->paused || c->suspended) && s != but && can_rewind(s)) return s;
    }
  }
  return NULL;
}

/* Returns the shard (not `but`) whose next record has the greatest key of all; NULL: there is none. Shards
 * that have not entered the order (order.h) count too. share: if not 0, looks only at pushed shards that can
 * drop their last records until `share` bytes are left. */
static slp_shard *furthest_ahead(slp_engine *e, const slp_shard *but, uint64_t share) {
  slp_shard *far = NULL;
  slp_key far_key = {0};
  SLP_LIST_EACH(&e->consumers, it) {
    slp_consumer *c = SLP_OWNER(it, slp_consumer, link);
    size_t at = 0;
    slp_shard *s;
    while ((s = slp_map_each(&c->shards, &at))) {
      if (s == but || !can_rewind(s)) continue;
      if (share && (!c->source->pushes || !slp_queue_can_shorten(s, share))) continue;
      slp_key key = slp_queue_next_key(&s->queue);
      if (far && slp_key_cmp(&key, &far_key) <= 0) continue;
      far = s;
      far_key = key;
    }
  }
  return far;
}

/* A paused transfer is resumed only when RESUME_BYTES are free or, if that is more, the bytes that its next
 * piece needs. With fewer bytes the transfer would be paused again at once. */
#define RESUME_BYTES (64u * 1024)

/* Returns how many bytes must be free before the transfer of s is resumed. */
static uint64_t wakes_at(const slp_shard *s) {
  return slp_calls_is_stalled(s) ? slp_max_u64(RESUME_BYTES, s->call.lacks) : RESUME_BYTES;
}

/* Drops the last records that the pushed shard furthest ahead has in memory. The shard's first records stay,
 * so that the merge still has a record of every shard. Returns 1 if records were dropped. */
static int shorten_one(slp_engine *e, const slp_shard *starved) {
  uint64_t share = slp_budget_max(&e->budget) / slp_max_u64(1, 2 * (uint64_t)slp_merge_count(&e->merge));
  slp_shard *far = furthest_ahead(e, starved, slp_max_u64(1, share));
  if (!far || !slp_reader_shorten(far, share)) return 0;
  slp_report_log(far->consumer, SLOOP_LOG_INFO,
                 "budget: the end of a page fetched too far ahead is dropped shard=%s", far->name->shard);
  return 1;
}

/* Returns a shard (not `but`) that has a call in flight and bytes reserved for that call; NULL: there is
 * none. Prefers a shard whose transfer is paused, because other calls may end by themselves. */
static slp_shard *holds_bytes(slp_engine *e, const slp_shard *but) {
  slp_shard *oldest = NULL;
  SLP_LIST_EACH(&e->calls.out, it) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.out_link);
    if (s == but || !slp_calls_reserved(s)) continue;
    if (slp_calls_is_stalled(s)) return s;
    if (!oldest) oldest = s;
  }
  return oldest;
}

/* Cancels the call of another shard, so that the starved shard gets the bytes that were reserved for that
 * call. Returns 1 if a call was cancelled. */
static int call_one_off(slp_engine *e, const slp_shard *starved) {
  slp_shard *holder = holds_bytes(e, starved);
  if (!holder) return 0;
  if (!slp_calls_is_stalled(holder) &&
      (starved != waited_for(e) || !is_past(e, slp_after_us(e->calls.turn_us, TURN_US))))
    return 0;
  slp_reader_ask_less(holder);
  return 1;
}

/* Drops fetched records of one shard (not `starved`). Returns 1 if records were dropped. */
static int drop_pages(slp_engine *e, const slp_shard *starved) {
  slp_shard *far = paused_holder(e, starved);
  if (!far && shorten_one(e, starved)) return 1;
  if (!far) far = furthest_ahead(e, starved, 0);
  if (!far || !slp_reader_rewind(far)) return 0;
  slp_report_log(far->consumer, SLOOP_LOG_INFO, "budget: a page fetched too far ahead is dropped shard=%s",
                 far->name->shard);
  return 1;
}

/* Called before the starved shard exceeds the budget. If another page exceeds it already, drops fetched
 * records of other shards, or cancels their calls, until the budget is not exceeded. So no more than one page
 * ever exceeds the budget. Returns 0 if the starved shard must wait until a call of another shard ends. */
static int make_room(slp_engine *e, const slp_shard *starved) {
  while (slp_budget_is_over(&e->budget)) {
    if (!drop_pages(e, starved) && !call_one_off(e, starved)) return !holds_bytes(e, starved);
  }
  return 1;
}

/* Gives s the permission to exceed the budget. */
static void let_beyond(slp_engine *e, slp_shard *s) {
  e->calls.beyond = s;
  e->calls.beyond_us = slp_now_us(e->host);
  if (has_turn(e, s)) e->calls.turn_us = e->calls.beyond_us;
}

static void resume_stalled_call(slp_shard *s) {
  slp_list_remove(&s->call.stalled_link);
  slp_reader_resume(s);
}

/* Cancels the paused calls of all shards but the starved one, and makes the next calls of these shards ask
 * for a single record. The answers are far larger than what was reserved: incomplete pages fill the budget,
 * and none of them can be completed. The service counts the bytes that it sent in any case, so all such calls
 * are cancelled together. A call that asks for a single record already is cancelled only if the starved shard
 * can't call because in_flight_max calls are in flight. */
static void shrink_stalled(slp_engine *e, const slp_shard *starved) {
  int no_call_free = slp_reading_wants_call(starved) && !call_is_free(e);
  slp_list *it = e->calls.stalled.next;
  while (it != &e->calls.stalled) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    it = it->next;
    /* a pushed page can't be asked for in smaller pieces, and a subscription does not count as a call in
     * flight */
    if (s->consumer->source->pushes) continue;
    if (s != starved && (s->call.limit > 1 || no_call_free)) slp_reader_ask_less(s);
  }
}

/* Lets s call. */
static void start_call(slp_shard *s, uint64_t reserved, uint32_t limit) {
  slp_engine *e = s->consumer->engine;
  slp_reading_unwant_call(s);
  /* If records of other shards wait for s, the time for which s is silent counts from now on. deliver.c must
   * run to set a timer for that, because perhaps no other event makes it run. */
  if (slp_merge_ready(&e->merge) && slp_shard_in_order(slp_merge_top(&e->merge)) == s) slp_deliver_soon(e);
  s->call.reserved = reserved;
  s->call.limit = limit;
  s->call.answered_us = 0;
  if (!s->consumer->source->pushes) { /* until slp_calls_over */
    slp_list_add_last(&e->calls.out, &s->call.out_link);
    e->calls.in_flight++;
  }
  slp_reader_go(s, reserved, limit);
}

/* Lets s call if the budget has room for the page. may_go_beyond 1: if it has no room, lets s exceed the
 * budget, unless another page exceeds it (make_room). Returns 1 if s calls. */
static int let_go(slp_engine *e, slp_shard *s, int may_go_beyond) {
  uint32_t limit = 0;
  uint64_t bytes = slp_reader_reserve(s, &limit);
  if (bytes > slp_budget_free(&e->budget)) slp_pages_drop(e);
  if (!slp_budget_try(&e->budget, bytes)) {
    if (!may_go_beyond || !make_room(e, s)) return 0;
    let_beyond(e, s);
    /* reserves the bytes that are free; the budget is charged for further bytes of the page as they arrive */
    bytes = slp_budget_free(&e->budget);
    slp_budget_force(&e->budget, bytes);
  }
  start_call(s, bytes, limit);
  return 1;
}

/* ---- fetching ahead ------------------------------------------------------------------------------------ */

/* Returns how many bytes of pages are fetched, or about to come, and not handed out. */
static uint64_t bytes_ahead(const slp_engine *e) { return slp_pages_held(e) - slp_budget_out(&e->budget); }

/* Returns how many bytes the next call of s fetches ahead; 0: s has no records, or the call reserves none. */
static uint64_t would_fetch_ahead(slp_shard *s) {
  uint32_t limit = 0;
  return slp_queue_empty(s) || s->paused ? 0 : slp_reader_reserve(s, &limit);
}

static uint64_t most_ahead(const slp_engine *e) {
  return slp_ahead_most(e->ahead_needs, slp_calls_shards_busy(e));
}

/* Makes s wait if it would fetch further ahead than is worth it. Returns 1 if s waits. */
static int put_off(slp_engine *e, slp_shard *s) {
  uint64_t bytes = would_fetch_ahead(s);
  if (!bytes || bytes_ahead(e) + bytes <= most_ahead(e)) return 0;
  slp_reading_call_later(s);
  return 1;
}

/* Lets as many of the shards in slp_calls.later want to call as may fetch ahead now. */
static void wake_later(slp_engine *e) {
  if (slp_list_empty(&e->calls.later)) return;
  uint64_t most = most_ahead(e), ahead = bytes_ahead(e);
  while (!slp_list_empty(&e->calls.later)) {
    slp_shard *s = SLP_OWNER(e->calls.later.next, slp_shard, call.stalled_link);
    ahead += would_fetch_ahead(s);
    if (ahead > most) return;
    slp_calls_put_off_no_more(s);
    slp_reading_poke(s);
  }
}

/* ---- the pump ------------------------------------------------------------------------------------------ */

static void resume_stalled(slp_engine *e) {
  slp_shard *starved = find_starved_shard(e);
  int lacks = starved && slp_budget_free(&e->budget) < wakes_at(starved), all_out = !call_is_free(e);
  if (lacks && !has_turn(e, starved)) shrink_stalled(e, starved);
  /* The starved shard must call before the shard whose call was just cancelled. The latter may have the same
   * watermark; it could make the same call again, which would be cancelled again, and so on for ever. */
  if (starved && all_out && call_is_free(e) && slp_reading_wants_call(starved)) let_go(e, starved, 1);
  if (starved && slp_calls_is_stalled(starved) && make_room(e, starved) &&
      slp_budget_free(&e->budget) < wakes_at(starved)) {
    let_beyond(e, starved);
    resume_stalled_call(starved);
    slp_pump_soon(e);
  }
  uint64_t free = slp_budget_free(&e->budget), needs;
  for (slp_shard *first; (first = furthest_back(e, 0)) && free >= (needs = wakes_at(first)); free -= needs)
    resume_stalled_call(first);
}

/* In one run of the pump at most STARTS_PER_EVENT calls start. To build, sign and start a call takes tens of
 * microseconds, so a hundred of them would hold up the loop. */
#define STARTS_PER_EVENT 8

void slp_pump_run(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, pump_ev);
  if (!slp_list_empty(&e->calls.stalled)) {
    slp_pages_drop(e);
    resume_stalled(e);
  }
  slp_merge_node *top;
  int started = 0;
  wake_later(e);
  while (call_is_free(e) && (top = slp_merge_top(&e->calls.want))) {
    if (put_off(e, want_owner(top))) continue;
    if (!let_go(e, want_owner(top), 0)) break;
    if (++started == STARTS_PER_EVENT) {
      slp_pump_soon(e);
      return;
    }
  }
  /* Shards that are set aside call last, because no shard waits for them. If few calls may be in flight, such
   * a shard must not take the last one from a shard that the merge waits for. After its call, other shards
   * may still be starving, so the pump runs again. */
  if (!call_is_free(e) || !slp_merge_top(&e->calls.want)) return;
  slp_shard *starved = find_starved_shard(e);
  if (starved && slp_reading_wants_call(starved) && let_go(e, starved, 1)) slp_pump_soon(e);
}
