/* engine.c - which shard may call next. Shards that want to call queue by watermark: the one that is furthest
 * back in the order goes first. Each call reserves budget before it is sent.
 *
 * When the budget is full and the user holds nothing, nothing will ever come free by itself, and the
 * shard that holds the merge back may need the very bytes that the shards ahead of it occupy. So the other
 * answers that do not fit are given up and asked for again, a single record first; that one shard may take
 * one page beyond the budget; and before a second page goes beyond it, paused shards and then the shard
 * furthest ahead forget what they fetched. Buffered bytes stay under the budget plus one page. */
#include "core/core.h"

static slp_shard *want_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, call.want); }
static slp_shard *node_owner(slp_merge_node *node) { return SLP_OWNER(node, slp_shard, queue.node); }

int slp_engine_wants(const slp_shard *s) { return s->call.want.slot != 0; }
int slp_engine_is_stalled(const slp_shard *s) { return slp_list_linked(&s->call.stalled_link); }

/* ---- recycled pages ------------------------------------------------------------------------------------ */

typedef struct spare {
  slp_list link;
  slp_page *page;
  uint64_t bytes;
} spare;

/* Small bodies are malloc's daily bread; only large ones are worth keeping. */
#define SPARE_BYTES_MIN (64u * 1024)

static void spares_free(slp_engine *e) {
  slp_list *it;
  while ((it = slp_list_pop(&e->calls.spares))) {
    spare *sp = SLP_OWNER(it, spare, link);
    slp_budget_give(&e->budget, sp->bytes);
    slp_page_free(sp->page);
    slp_free(e->mem, sp);
  }
  e->calls.spare_bytes = 0;
}

slp_page *slp_engine_page(slp_engine *e, uint64_t expected_bytes) {
  slp_list *it = expected_bytes > SPARE_BYTES_MIN ? slp_list_pop(&e->calls.spares) : NULL;
  if (!it) return slp_page_new(e->mem);
  spare *sp = SLP_OWNER(it, spare, link);
  slp_page *page = sp->page;
  /* The call's own reservation stands for it from here on. */
  slp_budget_give(&e->budget, sp->bytes);
  e->calls.spare_bytes -= sp->bytes;
  slp_free(e->mem, sp);
  return page;
}

void slp_engine_page_back(slp_engine *e, slp_page *page) {
  if (!page) return;
  uint64_t bytes = slp_page_bytes(page);
  int worth = bytes >= SPARE_BYTES_MIN && e->calls.spare_bytes + bytes <= e->budget.max / 4;
  spare *sp = worth && bytes <= slp_budget_free(&e->budget) ? SLP_NEW(e->mem, spare) : NULL;
  if (!sp) {
    slp_page_free(page);
    return;
  }
  slp_budget_force(&e->budget, bytes);
  slp_page_reset(page);
  sp->page = page;
  sp->bytes = bytes;
  e->calls.spare_bytes += bytes;
  slp_list_add_first(&e->calls.spares, &sp->link);
}

/* ---- the queue --------------------------------------------------------------------------------------- */

void slp_engine_pump(slp_engine *e) { slp_post(e->host, &e->calls.pump_ev); }

void slp_engine_want(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  if (slp_engine_wants(s)) return;
  slp_merge_put(&e->calls.want, &s->call.want, &s->queue.watermark, 1);
  slp_engine_pump(e);
}

void slp_engine_unwant(slp_shard *s) { slp_merge_remove(&s->consumer->engine->calls.want, &s->call.want); }

void slp_engine_call_over(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  SLP_CHECK(e->calls.in_flight > 0);
  e->calls.in_flight--;
  /* Its page may still lie buffered behind a shard that is stalled itself: that one must be let go beyond
   * too, or nothing moves ever again. */
  s->call.beyond = 0;
  slp_list_remove(&s->call.stalled_link);
  slp_engine_pump(e);
}

void slp_engine_give_reserve(slp_shard *s) {
  slp_budget_give(&s->consumer->engine->budget, s->call.reserved);
  s->call.reserved = 0;
}

int slp_engine_room(slp_engine *e) {
  int r = slp_merge_reserve(&e->merge, e->shards_n + 1);
  return r ? r : slp_merge_reserve(&e->calls.want, e->shards_n + 1);
}

/* PURE but for the post: runs deep inside the transport. */
int slp_engine_may_grow(slp_src_fetch *f, size_t more) {
  slp_shard *s = SLP_OWNER(f, slp_shard, reader.fetch);
  slp_engine *e = s->consumer->engine;
  uint64_t need = s->reader.page->body.n + more;
  if (need <= s->call.reserved) return 1;
  uint64_t extra = need - s->call.reserved;
  if (!slp_budget_try(&e->budget, extra)) {
    if (!s->call.beyond && !SLP_MUTANT(budget_is_advice)) {
      if (!slp_list_linked(&s->call.stalled_link))
        slp_list_add_last(&e->calls.stalled, &s->call.stalled_link);
      slp_engine_pump(e);
      return 0;
    }
    slp_budget_force(&e->budget, extra);
  }
  s->call.reserved = need;
  return 1;
}

/* ---- beyond the budget ------------------------------------------------------------------------------- */

/* A call that is not paused for lack of budget will end, and change what there is. */
static int calls_moving(const slp_engine *e) {
  uint32_t stalled_n = 0;
  SLP_LIST_EACH(&e->calls.stalled, it) stalled_n++;
  return e->calls.in_flight > stalled_n;
}

/* The shard without whose answer nothing more can be handed out; NULL when something can be, or when the
 * user still holds batches, whose return will free bytes. */
static slp_shard *starving(slp_engine *e) {
  if (e->batches_out || calls_moving(e)) return NULL;
  slp_merge_node *least = slp_merge_top(&e->merge);
  if (least) return least->ready ? NULL : node_owner(least);
  /* No shard is waited for (ORDER_SHARD; or all are paused or set aside): the first one may call. */
  if (!slp_list_empty(&e->ready_shards)) return NULL;
  if (!slp_list_empty(&e->calls.stalled))
    return SLP_OWNER(e->calls.stalled.next, slp_shard, call.stalled_link);
  slp_merge_node *top = slp_merge_top(&e->calls.want);
  return top ? want_owner(top) : NULL;
}

static int can_rewind(const slp_shard *s) {
  int ended = s->reader.state == SLP_READER_ENDED;
  return s->queue.next_page && !s->queue.redelivered_n && s->reader.state != SLP_READER_GONE &&
         (!ended || s->lineage.listed);
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

/* The shard whose next record comes last of all. */
static slp_shard *furthest_ahead(slp_engine *e, const slp_shard *but) {
  slp_merge_node *far = NULL;
  for (uint32_t i = 0; i < e->merge.n; i++) {
    slp_merge_node *node = e->merge.heap[i].node;
    slp_shard *s = node_owner(node);
    int can = node->ready && s != but && can_rewind(s);
    if (can && (!far || slp_key_cmp(&node->key, &far->key) > 0)) far = node;
  }
  return far ? node_owner(far) : NULL;
}

/* Free bytes from which on a paused transfer is woken. */
#define RESUME_BYTES (64u * 1024)

/* One page may lie beyond the budget, no second one: before that, whoever is furthest ahead forgets what it
 * fetched, and fetches it again when its turn comes nearer. */
static void make_room(slp_engine *e, const slp_shard *starved) {
  while (e->budget.used > e->budget.max) {
    slp_shard *far = paused_holder(e, starved);
    if (!far) far = furthest_ahead(e, starved);
    if (!far || !slp_reader_rewind(far)) return;
    slp_report_log(far->consumer, SLOOP_LOG_INFO, "budget: a page fetched too far ahead is dropped shard=%s",
                   far->name->shard);
  }
}

static void resume(slp_shard *s) {
  slp_list_remove(&s->call.stalled_link);
  s->consumer->source->ops->resume(s->consumer->source, &s->reader.fetch);
}

static slp_shard *furthest_back(slp_engine *e) {
  slp_shard *first = NULL;
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only loose nodes have no next */
  SLP_LIST_EACH(&e->calls.stalled, it) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    if (!first || slp_key_cmp(&s->queue.watermark, &first->queue.watermark) < 0) first = s;
  }
  return first;
}

static void resume_stalled(slp_engine *e, slp_shard *starved) {
  uint64_t free = slp_budget_free(&e->budget);
  if (starved && slp_engine_is_stalled(starved) && free < RESUME_BYTES) {
    starved->call.beyond = 1;
    resume(starved);
  }
  for (slp_shard *first; free >= RESUME_BYTES && (first = furthest_back(e)); free -= RESUME_BYTES)
    resume(first);
}

/* Answers that were far larger than their reservations have filled the budget with beginnings, and none of
 * them can be finished: all but the starved shard's are given up and asked for again, a single record first.
 * (The service counts what it sent either way, so that is done once and thoroughly.) Single records too, when
 * they keep the starved one from calling at all. */
static void shrink_stalled(slp_engine *e, const slp_shard *starved) {
  int no_call_free = slp_engine_wants(starved) && e->calls.in_flight >= e->calls.in_flight_max;
  slp_list *it = e->calls.stalled.next;
  while (it != &e->calls.stalled) {
    slp_shard *s = SLP_OWNER(it, slp_shard, call.stalled_link);
    it = it->next;
    if (s != starved && (s->call.limit > 1 || no_call_free)) slp_reader_ask_less(s);
  }
}

static void start(slp_shard *s, uint64_t reserved, uint32_t limit) {
  slp_engine_unwant(s);
  s->call.reserved = reserved;
  s->call.limit = limit;
  s->consumer->engine->calls.in_flight++;
  slp_reader_go(s);
}

/* 1: it was let go. */
static int let_go(slp_engine *e, slp_shard *s, int may_go_beyond) {
  uint32_t limit = 0;
  uint64_t bytes = slp_reader_reserve(s, &limit);
  if (bytes > slp_budget_free(&e->budget)) spares_free(e);
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

static void on_pump(slp_event *ev) {
  slp_engine *e = SLP_OWNER(ev, slp_engine, calls.pump_ev);
  if (!slp_list_empty(&e->calls.stalled)) spares_free(e);
  slp_shard *starved = starving(e);
  int locked =
      starved && slp_budget_free(&e->budget) < RESUME_BYTES &&
      (slp_engine_is_stalled(starved) || (slp_engine_wants(starved) && !slp_list_empty(&e->calls.stalled)));
  if (locked) shrink_stalled(e, starved);
  if (starved && slp_engine_is_stalled(starved)) make_room(e, starved);
  resume_stalled(e, starved);
  if (starved && slp_engine_wants(starved) && e->calls.in_flight < e->calls.in_flight_max)
    let_go(e, starved, 1);
  slp_merge_node *top;
  for (int i = 0; e->calls.in_flight < e->calls.in_flight_max && (top = slp_merge_top(&e->calls.want)); i++) {
    if (i == STARTS_PER_EVENT) {
      slp_engine_pump(e);
      return;
    }
    if (!let_go(e, want_owner(top), 0)) return;
  }
}

/* ---- life ---------------------------------------------------------------------------------------------- */

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o) {
  slp_engine *e = SLP_NEW(mem, slp_engine);
  if (!e) return SLP_ENOMEM;
  if (slp_host_reserve_timers(h, 1)) {
    slp_free(mem, e);
    return SLP_ENOMEM;
  }
  e->host = h;
  e->mem = mem;
  e->budget.max = o->buffered_bytes_max;
  e->order = o->order;
  e->order_wait_ms = o->order_wait_ms;
  e->batches_out_max = o->batches_out_max;
  e->batch_records_max = o->batch_records_max;
  e->batch_bytes_max = o->batch_bytes_max;
  e->calls.in_flight_max = o->in_flight_max;
  slp_list_init(&e->consumers);
  slp_list_init(&e->ready_shards);
  slp_list_init(&e->batches);
  slp_list_init(&e->calls.stalled);
  slp_list_init(&e->calls.spares);
  slp_merge_init(&e->merge, mem);
  slp_merge_init(&e->calls.want, mem);
  slp_deliver_init(e);
  e->calls.pump_ev.run = on_pump;
  *ret = e;
  return 0;
}

void slp_engine_free(slp_engine *e) {
  if (!e) return;
  SLP_CHECK(slp_list_empty(&e->consumers) && slp_list_empty(&e->batches));
  slp_deliver_free(e);
  slp_unpost(&e->calls.pump_ev);
  slp_host_unreserve_timers(e->host, 1);
  spares_free(e);
  slp_batch_free(e->spare_batch);
  slp_merge_free(&e->merge);
  slp_merge_free(&e->calls.want);
  SLP_CHECK(e->budget.used == 0);
  slp_free(e->mem, e);
}
