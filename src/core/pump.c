/* pump.c - decides which shard sends the next GetRecords call.
 *
 * Shards that want to call are sorted by watermark; the lowest calls first. A call reserves its bytes in the
 * budget before it is sent.
 *
 * A full budget can deadlock. The merge hands out nothing until its lowest shard has a record; every byte is
 * held by pages of other shards; and the user holds no batch whose return would free some. The way out, in
 * order:
 *   1. cancel the paused answers that do not fit, and ask again for a single record first;
 *   2. let the lowest shard fetch one page beyond the budget;
 *   3. before a second page goes beyond it, drop fetched pages, first of paused shards, then of the shard
 *      that is furthest ahead (of pushed pages first the end). They are fetched again later.
 * So buffered bytes never exceed the budget plus one page.
 *
 * A shard that is set aside (order.h) is never the lowest, so rule 2 would starve it. It gets that right
 * while the lowest shard needs no bytes, and every TURN_EVERY_US although it does; of several shards the one
 * that was asked longest ago. The lowest shard takes the right back at once, and rule 3 makes up for the
 * bytes of the other one. If nothing is left to drop, because one page is as large as the budget, the lowest
 * shard waits TURN_US; then the other one's call is given up. */
#include "core/core.h"

static slp_shard *want_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, call.want); }

/* ---- beyond the budget ------------------------------------------------------------------------------- */

/* Returns 1 if a call in flight will end soon and bring records. These do not count: a call that is paused
 * for lack of budget; a shard at its tip, which has hardly anything to bring; a shard that failed or is set
 * aside, which may say nothing for minutes. This does not go on for ever: a shard brings records until its
 * queue is full, or until its next call is one of these. */
static int calls_moving(const slp_engine *e) {
  SLP_LIST_EACH(&e->calls.out, it) {
    const slp_shard *s = SLP_OWNER(it, slp_shard, call.out_link);
    if (!slp_calls_is_stalled(s) && !slp_order_is_aside(s) && slp_reading_brings_more(s)) return 1;
  }
  return 0;
}

static int call_is_free(const slp_engine *e) { return e->calls.in_flight < e->calls.in_flight_max; }

static int lacks_bytes(const slp_shard *s) { return slp_calls_is_stalled(s) || slp_calls_wants(s); }

/* Returns the shard with the lowest watermark of those whose answer is paused; NULL: there is none. empty:
 * only of those that have no record to hand out. */
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

/* Returns the shard that holds the merge back; NULL: none does. */
static slp_shard *waited_for(slp_engine *e) {
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (!least || least->ready) return NULL;
  /* The first shard's event may not come for long. A shard whose answer is paused can't wait for that. */
  slp_shard *first = slp_shard_in_order(least);
  slp_shard *paused = first->consumer->source->pushes && !lacks_bytes(first) ? furthest_back(e, 1) : NULL;
  return paused ? paused : first;
}

/* Returns 1 if nobody waits for this shard, so that nobody will free bytes for it: it is set aside. While no
 * record is in the merge no shard is set aside, although the lowest one may fail for ever. Then every shard
 * in the order takes turns. */
static int takes_turns(const slp_engine *e, const slp_shard *s) {
  int all = slp_merge_count(&e->merge) && !slp_merge_ready(&e->merge);
  return slp_order_is_aside(s) || (all && slp_order_is_in(s));
}

static slp_shard *asked_first(slp_shard *a, slp_shard *b) {
  return !a || slp_reading_sent_us(b) < slp_reading_sent_us(a) ? b : a;
}

/* Returns the shard that was asked the longest ago, of those that take turns; NULL: there is none. Shards
 * whose answer has begun to come go first. While no call is free, shards that want to call have no turn: they
 * could not use it, and would block the others. */
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

/* A shard that may exceed the budget keeps that right for this time. */
#define TURN_US 1000000u
/* A shard that nobody waits for may exceed the budget this often, although the shard that is waited for lacks
 * bytes. */
#define TURN_EVERY_US 10000000u

/* Returns 1 if the time `us` is past. Otherwise makes the pump run at that time. */
static int is_past(slp_engine *e, uint64_t us) {
  if (slp_now_us(e->host) >= us) return 1;
  slp_timer_set_reserved(e->host, &e->calls.timer, us);
  return 0;
}

/* Returns 1 if another shard may take over the right to exceed the budget. Only the shard that is waited for
 * takes it at once: two others would take it from each other for ever. */
static int right_is_free(slp_engine *e) {
  return !e->calls.beyond || is_past(e, slp_after_us(e->calls.beyond_us, TURN_US));
}

/* Returns the shard that may exceed the budget. Returns NULL if something can be handed out, or if the user
 * still holds batches, whose return will free bytes. */
static slp_shard *starving(slp_engine *e) {
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
  if (!next && !least) { /* ORDER_SHARD, or all shards are paused: the first one may call */
    slp_merge_node *top = slp_merge_top(&e->calls.want);
    if (top) next = want_owner(top);
    if (!slp_list_empty(&e->calls.stalled))
      next = SLP_OWNER(e->calls.stalled.next, slp_shard, call.stalled_link);
  }
  return next && right_is_free(e) ? next : NULL;
}

/* Returns 1 if the shard takes turns, and the merge does not wait for it. */
static int has_turn(slp_engine *e, const slp_shard *s) { return s != waited_for(e) && takes_turns(e, s); }

/* Returns 1 if the records that the shard fetched can be dropped and fetched again. */
static int can_rewind(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  return slp_queue_can_rewind(s) && state != SLP_READER_GONE && state != SLP_READER_CHECKING &&
         (state != SLP_READER_ENDED || slp_lineage_is_listed(s));
}

/* Returns a shard whose buffered records can't be handed out now, because it is paused or its consumer is
 * suspended; NULL: there is none. */
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

/* Returns the shard, other than `but`, whose next record comes last of all, in the merge or waiting for its
 * parents; NULL: there is none. share: if not 0, only of pushed shards that can be shortened to so many
 * bytes. */
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

/* A paused transfer is woken when this many bytes are free, or more if its next piece is larger. Otherwise it
 * would be paused again at once, and so on. */
#define RESUME_BYTES (64u * 1024)

static uint64_t wakes_at(const slp_shard *s) {
  return slp_calls_is_stalled(s) ? slp_max_u64(RESUME_BYTES, s->call.lacks) : RESUME_BYTES;
}

/* Drops the end of one page that was pushed too far ahead. Each shard keeps the beginning of its events, so
 * that the merge has a record of every shard. Returns 1 if a page became shorter. */
static int shorten_one(slp_engine *e, const slp_shard *starved) {
  uint64_t share = slp_budget_max(&e->budget) / slp_max_u64(1, 2 * (uint64_t)slp_merge_count(&e->merge));
  slp_shard *far = furthest_ahead(e, starved, slp_max_u64(1, share));
  if (!far || !slp_reader_shorten(far, share)) return 0;
  slp_report_log(far->consumer, SLOOP_LOG_INFO,
                 "budget: the end of a page fetched too far ahead is dropped shard=%s", far->name->shard);
  return 1;
}

/* Returns a shard other than `but` whose call holds bytes. One whose answer is paused comes first, because
 * other calls may end by themselves. */
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

/* Gives up a call in flight for the starved shard. Returns 1 if it did. */
static int call_one_off(slp_engine *e, const slp_shard *starved) {
  slp_shard *holder = holds_bytes(e, starved);
  if (!holder) return 0;
  if (!slp_calls_is_stalled(holder) &&
      (starved != waited_for(e) || !is_past(e, slp_after_us(e->calls.turn_us, TURN_US))))
    return 0;
  slp_reader_ask_less(holder);
  return 1;
}

static int drop_pages(slp_engine *e, const slp_shard *starved) {
  slp_shard *far = paused_holder(e, starved);
  if (!far && shorten_one(e, starved)) return 1;
  if (!far) far = furthest_ahead(e, starved, 0);
  if (!far || !slp_reader_rewind(far)) return 0;
  slp_report_log(far->consumer, SLOOP_LOG_INFO, "budget: a page fetched too far ahead is dropped shard=%s",
                 far->name->shard);
  return 1;
}

/* Makes the budget free of any page beyond it, so that there is never more than one. The shard furthest ahead
 * drops what it fetched, and fetches it again when its turn comes nearer. Returns 0 if the starved shard must
 * wait for a call in flight. */
static int make_room(slp_engine *e, const slp_shard *starved) {
  while (slp_budget_is_over(&e->budget)) {
    if (!drop_pages(e, starved) && !call_one_off(e, starved)) return !holds_bytes(e, starved);
  }
  return 1;
}

static void let_beyond(slp_engine *e, slp_shard *s) {
  e->calls.beyond = s;
  e->calls.beyond_us = slp_now_us(e->host);
  if (has_turn(e, s)) e->calls.turn_us = e->calls.beyond_us;
}

static void resume(slp_shard *s) {
  slp_list_remove(&s->call.stalled_link);
  slp_reader_resume(s);
}

/* Gives up the paused answers of all shards but the starved one, and asks for a single record first. Answers
 * far larger than their reservations have filled the budget with beginnings, and none of them can be
 * finished. The service counts what it sent either way, so this is done once and thoroughly. Calls for a
 * single record are given up too if they keep the starved shard from calling at all. */
static void shrink_stalled(slp_engine *e, const slp_shard *starved) {
  int no_call_free = slp_calls_wants(starved) && !call_is_free(e);
  slp_list *it = e->calls.stalled.next;
  while (it != &e->calls.stalled) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    it = it->next;
    /* A pushed page can't be asked for in smaller pieces. It keeps nobody from calling either. */
    if (s->consumer->source->pushes) continue;
    if (s != starved && (s->call.limit > 1 || no_call_free)) slp_reader_ask_less(s);
  }
}

static void start(slp_shard *s, uint64_t reserved, uint32_t limit) {
  slp_engine *e = s->consumer->engine;
  slp_calls_unwant(s);
  /* Records wait for this shard. From now on its silence is measured, and perhaps nothing else ever wakes the
   * delivery. */
  if (slp_merge_ready(&e->merge) && slp_shard_in_order(slp_merge_top(&e->merge)) == s) slp_deliver_soon(e);
  s->call.reserved = reserved;
  s->call.limit = limit;
  slp_calls_begin(s);
  slp_reader_go(s, reserved, limit);
}

/* Lets the shard call if its bytes are free, or if it may exceed the budget. Returns 1 if it calls. */
static int let_go(slp_engine *e, slp_shard *s, int may_go_beyond) {
  uint32_t limit = 0;
  uint64_t bytes = slp_reader_reserve(s, &limit);
  if (bytes > slp_budget_free(&e->budget)) slp_pages_drop(e);
  if (!slp_budget_try(&e->budget, bytes)) {
    if (!may_go_beyond || !make_room(e, s)) return 0;
    let_beyond(e, s);
    bytes = slp_budget_free(&e->budget); /* bytes beyond these are taken as they come */
    slp_budget_force(&e->budget, bytes);
  }
  start(s, bytes, limit);
  return 1;
}

static void resume_stalled(slp_engine *e) {
  slp_shard *starved = starving(e);
  int lacks = starved && slp_budget_free(&e->budget) < wakes_at(starved), all_out = !call_is_free(e);
  if (lacks && !has_turn(e, starved)) shrink_stalled(e, starved);
  /* The starved shard calls before the one whose call was given up for it. That one may be as far back in the
   * order, make the same call again, and be given up again, for ever. */
  if (starved && all_out && call_is_free(e) && slp_calls_wants(starved)) let_go(e, starved, 1);
  if (starved && slp_calls_is_stalled(starved) && make_room(e, starved) &&
      slp_budget_free(&e->budget) < wakes_at(starved)) {
    let_beyond(e, starved);
    resume(starved);
    slp_pump_soon(e);
  }
  uint64_t free = slp_budget_free(&e->budget), needs;
  for (slp_shard *first; (first = furthest_back(e, 0)) && free >= (needs = wakes_at(first)); free -= needs)
    resume(first);
}

/* Building, signing and starting a call takes tens of microseconds, so a hundred of them would hold up the
 * loop. */
#define STARTS_PER_EVENT 8

void slp_pump_run(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, pump_ev);
  if (!slp_list_empty(&e->calls.stalled)) {
    slp_pages_drop(e);
    resume_stalled(e);
  }
  slp_merge_node *top;
  int started = 0;
  while (call_is_free(e) && (top = slp_merge_top(&e->calls.want)) && let_go(e, want_owner(top), 0)) {
    if (++started == STARTS_PER_EVENT) {
      slp_pump_soon(e);
      return;
    }
  }
  /* Comes last. Nobody waits for a shard that is set aside. Where few calls may be in flight, it would never
   * have its turn before a shard that is waited for. After it others may still be starving. */
  if (!call_is_free(e) || !slp_merge_top(&e->calls.want)) return;
  slp_shard *starved = starving(e);
  if (starved && slp_calls_wants(starved) && let_go(e, starved, 1)) slp_pump_soon(e);
}
