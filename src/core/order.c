/* order.c - decides which shards may be read, and which may hand out records (order.h: are "in the order"). A
 * shard may be read when each known parent was read to its end. It may hand out records when each parent has
 * handed out all its records. So a child's first record never comes before the last record of its parents,
 * even if clocks are wrong. And yet a child's pages can be fetched early. Two kinds of parents count as read:
 * those that the service no longer lists, because their records are too old; and those that the start
 * position leaves out. */
#include "core/order.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mutant.h"
#include "base/states.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/life.h"
#include "core/lineage.h"
#include "core/merge.h"
#include "core/order_part.h"
#include "core/queue.h"
#include "core/reading.h"
#include "core/reading_part.h"
#include "core/shard_inside.h"

#include <sloop.h>

static const slp_set allowed[] = {
    [SLP_ORDER_OUTSIDE] = SLP_BIT(SLP_ORDER_IN),
    [SLP_ORDER_IN] = SLP_BIT(SLP_ORDER_IN) | SLP_BIT(SLP_ORDER_ASIDE) | SLP_BIT(SLP_ORDER_LEFT),
    [SLP_ORDER_ASIDE] = SLP_BIT(SLP_ORDER_IN) | SLP_BIT(SLP_ORDER_LEFT),
    [SLP_ORDER_LEFT] = SLP_BIT(SLP_ORDER_IN),
};

static void move(slp_shard *s, slp_order_state to) { SLP_MOVE(allowed, s->order.state, to); }

int slp_order_is_in(const slp_shard *s) {
  return s->order.state == SLP_ORDER_IN || s->order.state == SLP_ORDER_ASIDE;
}

int slp_order_is_aside(const slp_shard *s) { return s->order.state == SLP_ORDER_ASIDE; }

static void leave_merge(slp_shard *s) {
  slp_merge_remove(&s->consumer->engine->merge, &s->order.node);
  slp_list_remove(&s->order.ready_link);
}

void slp_order_leave(slp_shard *s) {
  if (slp_order_is_in(s)) move(s, SLP_ORDER_LEFT);
  leave_merge(s);
}

void slp_order_set_aside(slp_shard *s) {
  move(s, SLP_ORDER_ASIDE);
  slp_order_update(s);
}

int slp_order_take_back(slp_shard *s) {
  if (s->order.state != SLP_ORDER_ASIDE) return 0;
  move(s, SLP_ORDER_IN);
  return 1;
}

void slp_order_come_back(slp_shard *s) {
  /* A shard leaves the order when its last record is handed out. If that record is given back, the shard must
   * enter the order again. */
  if (s->order.state == SLP_ORDER_LEFT) move(s, SLP_ORDER_IN);
}

slp_shard *slp_order_ready(slp_list *it) { return SLP_OWNER(it, slp_shard, order.ready_link); }

void slp_order_ready_again(slp_shard *s) {
  if (!slp_list_linked(&s->order.ready_link)) return;
  slp_list_remove(&s->order.ready_link);
  slp_list_add_last(&s->consumer->engine->ready_shards, &s->order.ready_link);
}

static void enter_children(slp_shard *s);

void slp_order_update(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  slp_buffered *buffered;
  uint32_t i;
  int redelivered;
  int paused = s->paused || s->consumer->suspended || s->lease.rewinds;
  int some = slp_order_is_in(s) && !paused && slp_queue_head(s, &buffered, &i, &redelivered);
  /* A shard that is set aside is in the merge only while it has records to hand out, because no shard waits
   * for it. */
  if (!slp_order_is_in(s) || paused || (s->order.state == SLP_ORDER_ASIDE && !some)) {
    leave_merge(s);
    return;
  }
  if (!some && slp_reading_is_over(s)) {
    slp_order_leave(s);
    if (s->consumer->leases && slp_reading_state(s) == SLP_READER_ENDED)
      s->consumer->leases->ops->read_out(s->consumer->leases, s);
    enter_children(s);
    return;
  }
  if (e->order == SLOOP_ORDER_SHARD) {
    if (some && !slp_list_linked(&s->order.ready_link))
      slp_list_add_last(&e->ready_shards, &s->order.ready_link);
    if (!some) slp_list_remove(&s->order.ready_link);
    return;
  }
  slp_key key = some ? slp_queue_key(s, buffered, i) : *slp_queue_watermark(s);
  slp_merge_put(&e->merge, &s->order.node, &key, some);
}

int slp_order_waits_for_other(const slp_shard *s) {
  const slp_engine *e = s->consumer->engine;
  if (e->order != SLOOP_ORDER_TIME || s->order.state != SLP_ORDER_IN || slp_queue_is_out(s)) return 0;
  const slp_merge_node *first = slp_merge_top(&e->merge);
  if (first && first != &s->order.node && !first->ready) return 1;
  SLP_LIST_EACH(&e->consumers, it) {
    if (slp_consumer_is_yet_to_list(SLP_OWNER(it, slp_consumer, link))) return 1;
  }
  return 0;
}

/* Takes the next record of a shard. Until the page is at its end, only the key of the shard's entry in the
 * merge changes. */
void slp_order_take(slp_shard *s, int64_t time) {
  slp_engine *e = s->consumer->engine;
  if (slp_queue_take(&s->queue, time)) {
    slp_queue_page_spent(s);
    slp_pump_soon(e); /* other shards may fetch ahead now */
    slp_reading_poke(s);
    slp_order_update(s);
  } else if (e->order == SLOOP_ORDER_TIME) {
    slp_key key = slp_queue_next_key(&s->queue);
    /* loads the numbers into the CPU's cache before they are compared */
    if (slp_merge_needs_numbers(&e->merge)) {
      slp_str seq = slp_queue_number_ahead(&s->queue);
      __builtin_prefetch(seq.p);
      __builtin_prefetch(seq.p + seq.n);
    }
    const uint64_t *word = slp_queue_next_word(&s->queue, slp_merge_focus_now(&e->merge));
    if (word)
      slp_merge_put_word(&e->merge, &s->order.node, &key, *word, 1);
    else
      slp_merge_put(&e->merge, &s->order.node, &key, 1);
  }
}

/* ---- children after their parents -------------------------------------------------------------------- */

/* Returns a parent of s that has not handed out all its records; NULL: there is none. */
static const slp_shard *parent_not_out(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    /* A parent that has not entered the order waits for its own parents, so it counts even if it has no
     * records. */
    if (p && !slp_lineage_skipped(p) &&
        (slp_reading_state(p) != SLP_READER_ENDED || p->order.state == SLP_ORDER_OUTSIDE ||
         (!slp_queue_empty(p) && !SLP_MUTANT(child_enters_early))))
      return p;
  }
  return NULL;
}

const slp_shard *slp_order_waited_for(const slp_shard *s) {
  if (s->order.state == SLP_ORDER_OUTSIDE) return parent_not_out(s);
  slp_merge_node *first = slp_merge_top(&s->consumer->engine->merge);
  return first && !first->ready && first != &s->order.node ? slp_shard_in_order(first) : NULL;
}

/* Adds s to the candidates for the order, unless it has entered the order already. */
static void may_enter(slp_shard *s) {
  slp_list *candidates = &s->consumer->candidates;
  if (s->order.state == SLP_ORDER_OUTSIDE && !slp_list_linked(&s->order.candidate_link))
    slp_list_add_last(candidates, &s->order.candidate_link);
}

/* Lets each candidate into the order whose parents have handed out all records. If a shard that enters has
 * ended and has no records left, its children become candidates too. The same loop takes them, so that calls
 * do not nest without limit. */
static void let_in(slp_consumer *c) {
  if (c->entering) return;
  c->entering = 1;
  for (slp_list *it; (it = slp_list_pop(&c->candidates));) {
    slp_shard *s = SLP_OWNER(it, slp_shard, order.candidate_link);
    int reading = slp_reading_state(s) != SLP_READER_IDLE && slp_lineage_wanted(s) &&
                  s->order.state == SLP_ORDER_OUTSIDE;
    if (!reading || parent_not_out(s)) continue;
    move(s, SLP_ORDER_IN);
    slp_order_update(s);
  }
  c->entering = 0;
}

static void enter_children(slp_shard *s) {
  slp_lineage_each_child(s, may_enter);
  let_in(s->consumer);
}

/* ---- starting ---------------------------------------------------------------------------------------- */

/* Returns the latest order time of a record taken from the known parents of s (slp_standing.tail_time); 0: no
 * parent is known. */
static int64_t latest_of_parents(const slp_shard *s) {
  int64_t floor = 0;
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p) floor = slp_max_i64(floor, p->at.tail_time);
  }
  return floor;
}

/* Returns the time before which all known parents of s pass records over (slp_standing.not_before_ms);
 * INT64_MIN: there is no such time. */
static int64_t passed_over_by_parents(const slp_shard *s) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < 2; i++) {
    slp_shard *p = slp_lineage_parent(s, i);
    if (p && !slp_lineage_skipped(p)) least = slp_min_i64(least, p->at.not_before_ms);
  }
  return least == INT64_MAX ? INT64_MIN : least;
}

/* Starts reading s, which must be WANTED and IDLE. */
static void start_reading(slp_shard *s) {
  slp_consumer *c = s->consumer;
  SLP_CHECK(slp_reading_state(s) == SLP_READER_IDLE && slp_lineage_wanted(s));
  SLP_CHECK(c->sum.waiting_n > 0);
  c->sum.waiting_n--;
  c->sum.open_n++;
  slp_queue_begin(s, latest_of_parents(s));
  slp_lag_forget(s);
  s->at.not_before_ms = slp_max_i64(s->at.not_before_ms, passed_over_by_parents(s));
  c->tip_told = 0;
  slp_reading_wait(s, 0);
}

static void open_if_ready(slp_shard *s) {
  if (!slp_lineage_wanted(s) || slp_reading_state(s) != SLP_READER_IDLE || !slp_lineage_parents_read(s))
    return;
  start_reading(s);
  may_enter(s);
}

void slp_order_open(slp_shard *s) {
  start_reading(s);
  may_enter(s);
  let_in(s->consumer);
}

void slp_order_open_children(slp_shard *s) {
  slp_lineage_each_child(s, open_if_ready);
  enter_children(s);
}

void slp_order_open_ready(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    open_if_ready(s);
    may_enter(s);
  }
  let_in(c);
}

/* Returns 1 if s is finished: no record of s is to be read or handed out, and nothing about s is to be
 * reported. */
static int is_finished(const slp_shard *s) {
  slp_reader_state state = slp_reading_state(s);
  if (state == SLP_READER_GONE) return slp_queue_all_acked(s) && !slp_order_is_in(s);
  return slp_lineage_skipped(s) || slp_lineage_is_barred(s) ||
         (state == SLP_READER_ENDED && s->ended_told && !slp_order_is_in(s));
}

/* Returns 1 if s must be kept because it links its children to one of its parents: reading of that parent may
 * still fail for good, or has failed and the parent is still listed. Descendants of such a parent must not be
 * read. */
static int is_link(const slp_shard *s) {
  for (int i = 0; i < 2; i++) {
    const slp_shard *p = slp_lineage_parent(s, i);
    if (p && (slp_lineage_wanted(p) || (!slp_lineage_skipped(p) && slp_lineage_is_listed(p)))) return 1;
  }
  return 0;
}

void slp_order_forget(slp_consumer *c) {
  size_t at = 0;
  slp_shard *s;
  while ((s = slp_map_each(&c->shards, &at))) {
    if (slp_lineage_is_missed(s) && is_finished(s) && !is_link(s)) slp_lineage_drop(s);
  }
}
