/* pump.c - which shard may call next. Shards that want to call queue by watermark: the one that is furthest
 * back in the order goes first. Each call reserves budget before it is sent.
 *
 * When the budget is full and the user holds nothing, nothing will ever come free by itself, and the
 * shard that holds the merge back may need the very bytes that the shards ahead of it occupy. So the other
 * answers that do not fit are given up and asked for again, a single record first; that one shard may take
 * one page beyond the budget; and before a second page goes beyond it, paused shards and then the shard
 * furthest ahead forget what they fetched: of pushed events the end at first, of others all. Buffered bytes
 * stay under the budget plus one page. */
#include "core/core.h"

static slp_shard *want_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, call.want); }

/* ---- beyond the budget ------------------------------------------------------------------------------- */

/* A call that is not paused for lack of budget will end, and change what there is. */
static int calls_moving(const slp_engine *e) {
  uint32_t stalled_n = 0;
  SLP_LIST_EACH(&e->calls.stalled, it) stalled_n += SLP_OWNER(it, slp_shard, call.stalled_link)->call.counts;
  return e->calls.in_flight > stalled_n;
}

/* Of the paused ones; empty: of those that have nothing to hand out. */
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

/* The shard without whose answer nothing more can be handed out; NULL when something can be, or when the
 * user still holds batches, whose return will free bytes. */
static slp_shard *starving(slp_engine *e) {
  if (slp_batches_out(e) || calls_moving(e)) return NULL;
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (least && least->ready) return NULL;
  if (least) {
    /* An event may not come for long; what is paused can't wait for it. */
    slp_shard *first = slp_shard_in_order(least);
    int waits = first->consumer->source->pushes && !slp_calls_is_stalled(first) && !slp_calls_wants(first);
    slp_shard *paused = waits ? furthest_back(e, 1) : NULL;
    return paused ? paused : first;
  }
  /* No shard is waited for (ORDER_SHARD; or all are paused or set aside): the first one may call. */
  if (!slp_list_empty(&e->ready_shards)) return NULL;
  if (!slp_list_empty(&e->calls.stalled))
    return SLP_OWNER(e->calls.stalled.next, slp_shard, call.stalled_link);
  slp_merge_node *top = slp_merge_top(&e->calls.want);
  return top ? want_owner(top) : NULL;
}

static int can_rewind(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  return slp_queue_can_rewind(s) && state != SLP_READER_GONE &&
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

/* The shard whose next record comes last of all; share: of those that can be shortened to it. */
static slp_shard *furthest_ahead(slp_engine *e, const slp_shard *but, uint64_t share) {
  slp_merge_node *far = NULL;
  for (uint32_t i = 0; i < slp_merge_count(&e->merge); i++) {
    slp_merge_node *node = slp_merge_at(&e->merge, i);
    slp_shard *s = slp_shard_in_order(node);
    int can = node->ready && s != but && can_rewind(s);
    if (share && (!s->consumer->source->pushes || !slp_queue_can_shorten(s, share))) can = 0;
    if (can && (!far || slp_key_cmp(&node->key, &far->key) > 0)) far = node;
  }
  return far ? slp_shard_in_order(far) : NULL;
}

/* Free bytes from which on a paused transfer is woken; more where its next piece is larger, or it would be
 * paused again at once, and so on. */
#define RESUME_BYTES (64u * 1024)

static uint64_t wakes_at(const slp_shard *s) {
  return slp_calls_is_stalled(s) ? slp_max_u64(RESUME_BYTES, s->call.lacks) : RESUME_BYTES;
}

/* Of pushed events each shard keeps a beginning, so that the order has a record of every shard. */
static int shorten_one(slp_engine *e, const slp_shard *starved) {
  uint64_t share = slp_budget_max(&e->budget) / slp_max_u64(1, 2 * (uint64_t)slp_merge_count(&e->merge));
  slp_shard *far = furthest_ahead(e, starved, slp_max_u64(1, share));
  if (!far || !slp_reader_shorten(far, share)) return 0;
  slp_report_log(far->consumer, SLOOP_LOG_INFO,
                 "budget: the end of a page fetched too far ahead is dropped shard=%s", far->name->shard);
  return 1;
}

/* At most a single page may lie beyond the budget: before a second one would, the shard that is furthest
 * ahead forgets what it fetched, and fetches it again when its turn comes nearer. */
static void make_room(slp_engine *e, const slp_shard *starved) {
  while (slp_budget_is_over(&e->budget)) {
    slp_shard *far = paused_holder(e, starved);
    if (!far && shorten_one(e, starved)) continue;
    if (!far) far = furthest_ahead(e, starved, 0);
    if (!far || !slp_reader_rewind(far)) return;
    slp_report_log(far->consumer, SLOOP_LOG_INFO, "budget: a page fetched too far ahead is dropped shard=%s",
                   far->name->shard);
  }
}

static void resume(slp_shard *s) {
  slp_list_remove(&s->call.stalled_link);
  slp_reader_resume(s);
}

static void resume_stalled(slp_engine *e, slp_shard *starved) {
  uint64_t free = slp_budget_free(&e->budget), needs;
  if (starved && slp_calls_is_stalled(starved) && free < wakes_at(starved)) {
    starved->call.beyond = 1;
    resume(starved);
  }
  for (slp_shard *first; (first = furthest_back(e, 0)) && free >= (needs = wakes_at(first)); free -= needs)
    resume(first);
}

/* Answers that were far larger than their reservations have filled the budget with beginnings, and none of
 * them can be finished: all but the starved shard's are given up and asked for again, a single record first.
 * (The service counts what it sent either way, so that is done once and thoroughly.) Single records too, when
 * they keep the starved one from calling at all. */
static void shrink_stalled(slp_engine *e, const slp_shard *starved) {
  int no_call_free = slp_calls_wants(starved) && e->calls.in_flight >= e->calls.in_flight_max;
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
  slp_calls_unwant(s);
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
    if (!may_go_beyond) return 0;
    make_room(e, s);
    slp_budget_force(&e->budget, bytes);
    s->call.beyond = 1;
  }
  start(s, bytes, limit);
  return 1;
}

/* Building, signing and starting a call takes tens of microseconds; a hundred of them would hold the loop. */
#define STARTS_PER_EVENT 8

void slp_pump_run(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, pump_ev);
  if (!slp_list_empty(&e->calls.stalled)) slp_pages_drop(e);
  slp_shard *starved = starving(e);
  int locked =
      starved && slp_budget_free(&e->budget) < wakes_at(starved) &&
      (slp_calls_is_stalled(starved) || (slp_calls_wants(starved) && !slp_list_empty(&e->calls.stalled)));
  if (locked) shrink_stalled(e, starved);
  if (starved && slp_calls_is_stalled(starved)) make_room(e, starved);
  resume_stalled(e, starved);
  slp_merge_node *top;
  int started = 0;
  while (e->calls.in_flight < e->calls.in_flight_max && (top = slp_merge_top(&e->calls.want)) &&
         let_go(e, want_owner(top), 0)) {
    if (++started == STARTS_PER_EVENT) {
      slp_pump_soon(e);
      return;
    }
  }
  /* Last: a shard that is set aside is waited for by nobody, and where few calls may be out it would never
   * have its turn before one that is. */
  if (!started && starved && slp_calls_wants(starved) && e->calls.in_flight < e->calls.in_flight_max)
    let_go(e, starved, 1);
}
