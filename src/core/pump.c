/* pump.c - which shard may call next. Shards that want to call queue by watermark: the one that is furthest
 * back in the order goes first. Each call reserves budget before it is sent.
 *
 * When the budget is full and the user holds nothing, nothing will ever come free by itself, and the
 * shard that holds the merge back may need the very bytes that the shards ahead of it occupy. So the other
 * answers that do not fit are given up and asked for again, a single record first; that one shard may take
 * one page beyond the budget; and before a second page goes beyond it, paused shards and then the shard
 * furthest ahead forget what they fetched: of pushed events the end at first, of others all. Buffered bytes
 * stay under the budget plus one page.
 *
 * Nobody waits for a shard that is set aside, so that it would never be that one. It has its turn at going
 * beyond when the one that is waited for needs no bytes, and every ten seconds though it does. Of several it
 * is the one that was asked longest ago: so each has its turn, however many of them never answer. The one
 * that is waited for goes beyond the budget meanwhile too, for it takes that right over, and what the other
 * one occupies is made up for by what is furthest ahead. Only where nothing is left to be forgotten, since
 * one page is as large as the budget, it waits: for a second, then the other one's call is given up. */
#include "core/core.h"

static slp_shard *want_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, call.want); }

/* ---- beyond the budget ------------------------------------------------------------------------------- */

/* A call that will end soon, and change what there is: not one that is paused for lack of budget. At its tip
 * a shard has hardly anything to bring, and one whose last call failed, or that is set aside, may say nothing
 * for minutes. Those that count end: a shard brings records until its queue is full, or its next call does
 * not count. */
static int calls_moving(const slp_engine *e) {
  SLP_LIST_EACH(&e->calls.out, it) {
    const slp_shard *s = SLP_OWNER(it, slp_shard, call.out_link);
    if (!slp_calls_is_stalled(s) && !slp_order_is_aside(s) && slp_reading_brings_more(s)) return 1;
  }
  return 0;
}

static int call_is_free(const slp_engine *e) { return e->calls.in_flight < e->calls.in_flight_max; }

static int lacks_bytes(const slp_shard *s) { return slp_calls_is_stalled(s) || slp_calls_wants(s); }

/* Returns the shard with the lowest watermark of those whose answer is paused; empty: of those among them
 * that have no record to hand out. NULL: there is none. */
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

/* The shard that holds the merge back; NULL: none does. */
static slp_shard *waited_for(slp_engine *e) {
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (!least || least->ready) return NULL;
  /* An event may not come for long; what is paused can't wait for it. */
  slp_shard *first = slp_shard_in_order(least);
  slp_shard *paused = first->consumer->source->pushes && !lacks_bytes(first) ? furthest_back(e, 1) : NULL;
  return paused ? paused : first;
}

/* Bytes that it lacks come free for nobody's sake but its own. While no record is in the merge, nobody is set
 * aside, though the one that is waited for may fail for ever: then this is said of all. */
static int takes_turns(const slp_engine *e, const slp_shard *s) {
  int all = slp_merge_count(&e->merge) && !slp_merge_ready(&e->merge);
  return slp_order_is_aside(s) || (all && slp_order_is_in(s));
}

static slp_shard *asked_first(slp_shard *a, slp_shard *b) {
  return !a || slp_reading_sent_us(b) < slp_reading_sent_us(a) ? b : a;
}

/* Returns the shard that was asked the longest ago. Shards whose answer has begun to come go
 * first. While no call is free, shards that want to call have no turn: they could not use it, and would
 * block the others. */
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

#define TURN_US 1000000u /* so long whoever may go beyond the budget keeps that right */
#define TURN_EVERY_US \
  10000000u /* so often it is somebody's turn though the shard that is waited for lacks bytes */

static int is_past(slp_engine *e, uint64_t us) {
  if (slp_now_us(e->host) >= us) return 1;
  slp_timer_set_reserved(e->host, &e->calls.timer, us);
  return 0;
}

/* Only the shard that is waited for takes the right over at once: of two others, each would for ever. */
static int right_is_free(slp_engine *e) {
  return !e->calls.beyond || is_past(e, slp_after_us(e->calls.beyond_us, TURN_US));
}

/* The shard that may go beyond the budget; NULL when something can be handed out, or when the user still
 * holds batches, whose return will free bytes. */
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
  if (!next && !least) { /* ORDER_SHARD; or all are paused: the first one may call */
    slp_merge_node *top = slp_merge_top(&e->calls.want);
    if (top) next = want_owner(top);
    if (!slp_list_empty(&e->calls.stalled))
      next = SLP_OWNER(e->calls.stalled.next, slp_shard, call.stalled_link);
  }
  return next && right_is_free(e) ? next : NULL;
}

/* Returns 1 if the shard has a turn, and the merge does not wait for it. */
static int has_turn(slp_engine *e, const slp_shard *s) { return s != waited_for(e) && takes_turns(e, s); }

static int can_rewind(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  return slp_queue_can_rewind(s) && state != SLP_READER_GONE && state != SLP_READER_CHECKING &&
         (state != SLP_READER_ENDED || slp_lineage_is_listed(s));
}

/* Records that a paused shard, or one of a suspended consumer, has buffered can't be handed out now. */
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

/* The shard whose next record comes last of all, in the merge or waiting for its parents; share: of those
 * that can be shortened to it. */
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

/* Free bytes from which on a paused transfer is woken; more where its next piece is larger, or it would be
 * paused again at once, and so on. */
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

/* Returns a shard other than `but` whose call holds bytes: rather one whose answer is paused than one whose
 * call may end by itself. */
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

/* 1: a call that is out was given up for the starved one. */
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

/* At most a single page may lie beyond the budget: before a second one would, the shard that is furthest
 * ahead forgets what it fetched, and fetches it again when its turn comes nearer. 0: the starved one has to
 * wait for a call that is out. */
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

/* Answers that were far larger than their reservations have filled the budget with beginnings, and none of
 * them can be finished: all but the starved shard's are given up and asked for again, a single record first.
 * (The service counts what it sent either way, so that is done once and thoroughly.) Single records too, when
 * they keep the starved one from calling at all. */
static void shrink_stalled(slp_engine *e, const slp_shard *starved) {
  int no_call_free = slp_calls_wants(starved) && !call_is_free(e);
  slp_list *it = e->calls.stalled.next;
  while (it != &e->calls.stalled) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    it = it->next;
    /* A pushed page can't be asked for in smaller pieces; it does not keep others from calling either. */
    if (s->consumer->source->pushes) continue;
    if (s != starved && (s->call.limit > 1 || no_call_free)) slp_reader_ask_less(s);
  }
}

static void start(slp_shard *s, uint64_t reserved, uint32_t limit) {
  slp_engine *e = s->consumer->engine;
  slp_calls_unwant(s);
  /* Records wait for it: from now on its silence is measured, and perhaps nothing else ever happens. */
  if (slp_merge_ready(&e->merge) && slp_shard_in_order(slp_merge_top(&e->merge)) == s) slp_deliver_soon(e);
  s->call.reserved = reserved;
  s->call.limit = limit;
  slp_calls_begin(s);
  slp_reader_go(s, reserved, limit);
}

/* 1: it was let go. */
static int let_go(slp_engine *e, slp_shard *s, int may_go_beyond) {
  uint32_t limit = 0;
  uint64_t bytes = slp_reader_reserve(s, &limit);
  if (bytes > slp_budget_free(&e->budget)) slp_pages_drop(e);
  if (!slp_budget_try(&e->budget, bytes)) {
    if (!may_go_beyond || !make_room(e, s)) return 0;
    let_beyond(e, s);
    bytes = slp_budget_free(&e->budget); /* the rest as it comes: it may be far less, or nothing ever */
    slp_budget_force(&e->budget, bytes);
  }
  start(s, bytes, limit);
  return 1;
}

static void resume_stalled(slp_engine *e) {
  slp_shard *starved = starving(e);
  int lacks = starved && slp_budget_free(&e->budget) < wakes_at(starved), all_out = !call_is_free(e);
  if (lacks && !has_turn(e, starved)) shrink_stalled(e, starved);
  /* It calls before the one whose call was given up for it. That one may be as far back in the order, make
   * the same call again, and be given up again, for ever. */
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

/* Building, signing and starting a call takes tens of microseconds; a hundred of them would hold the loop. */
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
  /* Last: a shard that is set aside is waited for by nobody, and where few calls may be out it would never
   * have its turn before one that is. Then others may be starving still. */
  if (!call_is_free(e) || !slp_merge_top(&e->calls.want)) return;
  slp_shard *starved = starving(e);
  if (starved && slp_calls_wants(starved) && let_go(e, starved, 1)) slp_pump_soon(e);
}
