/* outlet.c - a shard's records on their way out and back in: pages are taken in here, records leave for
 * batches one by one, acknowledgements and give-backs are counted per page.
 *
 * The key of a record, by which shards are merged, is (time, sequence, sub-sequence). `time` is its
 * arrival time, raised to the time of the record before it in its shard (shard order is never broken), and
 * lowered to the service's clock when its page was answered (a record stamped in the future can't drag
 * its shard along). Users see the raw arrival time. */
#include "core/core.h"

#include "base/num.h"

static int bit_get(const uint8_t *bits, uint32_t i) { return bits[i / 8] >> (i % 8) & 1; }
static void bit_set(uint8_t *bits, uint32_t i) { bits[i / 8] |= (uint8_t)(1u << (i % 8)); }
static void bit_clear(uint8_t *bits, uint32_t i) { bits[i / 8] &= (uint8_t) ~(1u << (i % 8)); }

static slp_held *held_of(slp_list *it) { return SLP_OWNER(it, slp_held, link); }
static slp_str last_seq(const slp_shard *s) { return (slp_str){s->last_seq, s->last_seq_n}; }

/* ---- taking a page in ------------------------------------------------------------------------------- */

/* We asked for a certain record, to see that nothing was trimmed in front of it, and another came first.
 * Records may be lost, and surely are when the one we had taken was young enough to be kept. */
static void report_gap(slp_shard *s, slp_str wanted, slp_str first) {
  slp_consumer *c = s->consumer;
  int64_t now_ms = slp_svctime_low_ms(&c->service, slp_now_us(c->engine->host));
  int certain = s->taken && c->retention_ms > 0 && s->last_arrived_ms >= 0 && now_ms != INT64_MIN &&
                s->last_arrived_ms > now_ms - c->retention_ms;
  slp_report_loss(c, s, wanted, first, certain,
                  certain ? "records were removed from the stream before they were read"
                          : "the record to go on from is not kept any more; records after it may be missing");
}

/* Whether the page, the first with records after an iterator AT some record, begins with another one. */
static int begins_behind(const slp_shard *s, const slp_page *page, slp_str *ret_wanted) {
  if (page->recs_n == 0) return 0;
  if (s->taken && s->cursor_after_last) {
    *ret_wanted = last_seq(s);
  } else if (!s->taken && s->start.place == SLP_PLACE_AT_SEQ) {
    *ret_wanted = (slp_str){s->start.seq, s->start.seq_n};
  } else {
    return 0;
  }
  return slp_num_cmp(slp_rec_seq(page, &page->recs[0]), *ret_wanted) > 0;
}

/* Drops what was taken before. Returns the records kept. *ret_bad: one went back, and then none is kept:
 * which of them are out of place can't be told. A page in order that begins behind the last record taken, as
 * nearly all do, is not looked through again: its bytes are cold. */
static uint32_t filter(slp_shard *s, slp_page *page, int *ret_bad) {
  slp_str prev = last_seq(s);
  const sloop_opts_t *o = s->consumer->o;
  /* The service's AT_TIMESTAMP finds the first record of that time or later, and knows no time to come. */
  int64_t not_before_ms = o->start == SLOOP_AT_TIME ? o->start_at_ms : INT64_MIN;
  if (page->recs_n && !page->unordered && !page->empty_n && !s->cursor_after_last &&
      page->earliest_ms >= not_before_ms &&
      (!s->taken || slp_num_cmp(slp_rec_seq(page, &page->recs[0]), prev) > 0))
    return (uint32_t)page->recs_n;
  int have = s->taken;
  uint32_t kept = 0;
  for (size_t i = 0; i < page->recs_n; i++) {
    slp_rec *r = &page->recs[i];
    slp_str seq = slp_rec_seq(page, r);
    if (have) {
      int c = slp_num_cmp(seq, prev);
      int expected = s->cursor_after_last && i == 0;
      if (c == 0 && r->sub == 0) {
        if (!expected) s->consumer->counts.repeats_dropped++;
        continue;
      }
      if (c < 0) {
        *ret_bad = 1;
        return 0;
      }
    }
    prev = seq;
    have = 1;
    if (r->flags & SLP_REC_EMPTY) continue;
    if (r->arrived_ms >= 0 && r->arrived_ms < not_before_ms) continue;
    if (page->changes) page->changes[kept] = page->changes[i];
    page->recs[kept++] = *r;
  }
  return kept;
}

static void remember_last(slp_shard *s, const slp_page *page, const slp_rec *r) {
  slp_str seq = slp_rec_seq(page, r);
  SLP_CHECK(seq.n <= SLP_SEQ_MAX);
  memcpy(s->last_seq, seq.p, seq.n);
  s->last_seq_n = (uint8_t)seq.n;
  s->last_arrived_ms = r->arrived_ms;
  s->taken = 1;
}

/* Nothing of the page stays. */
static int refuse(slp_shard *s, slp_page *page, int r) {
  slp_engine *e = s->consumer->engine;
  slp_budget_give(&e->budget, s->reserved);
  s->reserved = 0;
  slp_engine_page_back(e, page);
  return r;
}

/* A small answer in a large recycled body would hold the budget of a large one; where the budget is spent, so
 * would one that grew by doubling. Records are offsets, so the body may move. */
static void trim_memory(slp_page *page, int pressed) {
  size_t n = page->body.n;
  if (page->body.cap < 65536 || page->body.cap - n < 4096) return;
  if (!pressed && n > page->body.cap / 2) return;
  char *p = slp_realloc(page->body.mem, page->body.p, n + 1);
  if (!p) return;
  page->body.p = p;
  page->body.cap = n;
}

int slp_outlet_admit(slp_shard *s, slp_page *page, int64_t service_high_ms) {
  slp_engine *e = s->consumer->engine;
  size_t bits = (page->recs_n + 7) / 8;
  slp_held *held = slp_zalloc(e->mem, sizeof *held + 2 * bits);
  if (!held) return SLP_ENOMEM;
  slp_str wanted;
  if (begins_behind(s, page, &wanted)) {
    report_gap(s, wanted, slp_rec_seq(page, &page->recs[0]));
    if (s->consumer->o->on_trimmed == SLOOP_TRIMMED_STOP) {
      slp_free(e->mem, held);
      return refuse(s, page, SLOOP_ETRIMMED);
    }
  }
  int bad = 0;
  int64_t latest = page->latest_ms; /* of a page cut short: at most too late, and lowered below */
  uint32_t kept = filter(s, page, &bad);
  if (page->recs_n > 0) s->cursor_after_last = 0;
  if (kept == 0) {
    slp_free(e->mem, held);
    return refuse(s, page, bad ? SLOOP_EPROTO : 0);
  }
  trim_memory(page, e->budget.used + page->body.cap - s->reserved > e->budget.max);
  page->recs_n = kept;
  held->shard = s;
  held->engine = e;
  held->mem = e->mem;
  held->name = slp_name_hold(s->name);
  held->page = page;
  held->n = held->unacked = kept;
  held->again = held->bits + bits;
  held->floor_time = s->tail_time;
  held->prev_taken = s->taken;
  held->prev_seq_n = s->last_seq_n;
  held->prev_arrived_ms = s->last_arrived_ms;
  memcpy(held->prev_seq, s->last_seq, s->last_seq_n);
  held->service_ms = slp_max_i64(service_high_ms, s->tail_time);
  held->behind_ms = page->behind_ms;
  held->charged = slp_page_bytes(page) + slp_alloc_size(held);
  slp_budget_settle(&e->budget, s->reserved, held->charged);
  s->reserved = 0;
  slp_list_add_last(&s->pages, &held->link);
  if (!s->next_page) {
    s->next_page = held;
    s->next_i = 0;
  }
  s->queued_n += kept;
  s->consumer->queued_n += kept;
  s->tail_time = slp_min_i64(slp_max_i64(latest, s->tail_time), held->service_ms);
  remember_last(s, page, &page->recs[kept - 1]);
  return 0;
}

/* ---- the place in the order ---------------------------------------------------------------------- */

void slp_outlet_set_frontier(slp_shard *s, int64_t time, slp_str seq) {
  slp_key key = {time, seq, 0};
  if (slp_key_cmp(&key, &s->frontier) <= 0) return; /* never back */
  if (seq.n) memcpy(s->frontier_seq, seq.p, seq.n);
  s->frontier = (slp_key){time, {s->frontier_seq, seq.n}, 0};
}

int slp_outlet_empty(const slp_shard *s) { return s->queued_n == 0 && s->again_n == 0; }

int slp_outlet_head(slp_shard *s, slp_held **ret_held, uint32_t *ret_i, int *ret_again) {
  if (s->again_n) {
    SLP_LIST_EACH(&s->pages, it) {
      slp_held *held = held_of(it);
      for (uint32_t i = 0; held->again_n && i < held->n; i++) {
        if (!bit_get(held->again, i)) continue;
        *ret_held = held;
        *ret_i = i;
        *ret_again = 1;
        return 1;
      }
    }
    SLP_CHECK(!"records given back are in some page");
  }
  if (!s->next_page) return 0;
  *ret_held = s->next_page;
  *ret_i = s->next_i;
  *ret_again = 0;
  return 1;
}

slp_key slp_outlet_key(slp_shard *s, slp_held *held, uint32_t i) {
  const slp_rec *r = &held->page->recs[i];
  int fresh = held == s->next_page && i == s->next_i;
  int64_t floor = fresh ? s->key_time : held->floor_time;
  int64_t time = slp_min_i64(slp_max_i64(r->arrived_ms, floor), held->service_ms);
  return (slp_key){time, slp_rec_seq(held->page, r), r->sub};
}

void slp_outlet_leave_order(slp_shard *s) {
  slp_merge_remove(&s->consumer->engine->merge, &s->node);
  slp_list_remove(&s->ready_link);
}

void slp_outlet_put_in_order(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  slp_held *held;
  uint32_t i;
  int again;
  int some = s->in_order && !s->paused && slp_outlet_head(s, &held, &i, &again);
  /* Set aside means "is not waited for"; what it has, it may hand out. */
  if (!s->in_order || s->paused || (s->aside && !some)) {
    slp_outlet_leave_order(s);
    return;
  }
  if (!some && (s->state == SLP_READER_ENDED || s->state == SLP_READER_GONE)) {
    s->in_order = 0;
    slp_outlet_leave_order(s);
    slp_lineage_enter_ready(s->consumer); /* its children's turn */
    return;
  }
  if (e->order == SLOOP_ORDER_SHARD) {
    if (some && !slp_list_linked(&s->ready_link)) slp_list_add_last(&e->ready_shards, &s->ready_link);
    if (!some) slp_list_remove(&s->ready_link);
    return;
  }
  slp_key key = some ? slp_outlet_key(s, held, i) : s->frontier;
  slp_merge_put(&e->merge, &s->node, &key, some);
}

/* ---- out --------------------------------------------------------------------------------------------- */

void slp_outlet_take(slp_shard *s, slp_held *held, uint32_t i, int again, const slp_key *key) {
  held->out++;
  s->consumer->queued_n--;
  if (again) {
    bit_clear(held->again, i);
    held->again_n--;
    s->again_n--;
    return;
  }
  s->queued_n--;
  s->key_time = key->time;
  if (++s->next_i < held->n) return;
  s->next_page = held->link.next == &s->pages ? NULL : held_of(held->link.next);
  s->next_i = 0;
  slp_reader_poke(s); /* a page's worth of room */
}

/* ---- and back in -------------------------------------------------------------------------------------- */

void slp_outlet_ack(slp_held *held, uint32_t i) {
  if (bit_get(held->bits, i)) return;
  bit_set(held->bits, i);
  SLP_CHECK(held->unacked > 0);
  held->unacked--;
  if (held->shard) held->shard->given_in = 1;
}

static void held_free(slp_held *held) {
  slp_mem *mem = held->mem;
  SLP_CHECK(held->out == 0);
  slp_list_remove(&held->link);
  if (held->engine) {
    slp_budget_give(&held->engine->budget, held->charged);
    if (held->page) slp_engine_page_back(held->engine, held->page);
  } else {
    slp_page_free(held->page);
  }
  slp_free(mem, held->attempts);
  slp_name_drop(held->name);
  slp_free(mem, held);
}

void slp_outlet_return(slp_held *held, uint32_t i) {
  SLP_CHECK(held->out > 0);
  held->out--;
  slp_shard *s = held->shard;
  if (!s) {
    if (held->out == 0) held_free(held);
    return;
  }
  if (bit_get(held->bits, i) || held->dropped) return;
  if (!held->attempts) held->attempts = slp_zalloc(held->mem, held->n); /* without: attempt stays 2 */
  if (held->attempts && held->attempts[i] < 255) held->attempts[i]++;
  bit_set(held->again, i);
  held->again_n++;
  s->again_n++;
  s->consumer->queued_n++;
  s->given_back = 1;
  s->in_order = 1; /* it had left when its last record was handed out */
}

/* A page whose records are all acknowledged but that waits for an older one gives its memory back. */
static void drop_body(slp_held *held) {
  if (!held->page || held->unacked || held->out) return;
  slp_engine *e = held->engine;
  uint64_t stays = slp_alloc_size(held);
  slp_budget_settle(&e->budget, held->charged, stays);
  held->charged = stays;
  slp_engine_page_back(e, held->page);
  held->page = NULL;
}

#define AGAIN_US_MIN 100000u
#define AGAIN_US_MAX 30000000u

void slp_outlet_settle(slp_shard *s) {
  slp_engine *e = s->consumer->engine;
  if (s->given_back) {
    uint32_t shift = s->again_tries < 9 ? s->again_tries : 9;
    s->again_tries++;
    s->again_at_us =
        slp_after_us(slp_now_us(e->host), slp_min_u64((uint64_t)AGAIN_US_MIN << shift, AGAIN_US_MAX));
  } else if (s->given_in) {
    s->again_tries = 0;
  }
  s->given_back = s->given_in = 0;
  slp_list *it = s->pages.next;
  while (it != &s->pages) {
    slp_held *held = held_of(it);
    it = it->next;
    if (held->out) continue;
    if (held->dropped || (held->unacked == 0 && held->link.prev == &s->pages)) {
      held_free(held);
    } else {
      drop_body(held);
    }
  }
  if (slp_list_empty(&s->pages)) slp_reader_told_end(s);
  slp_outlet_put_in_order(s);
}

int slp_outlet_rewind(slp_shard *s) {
  slp_held *held = s->next_page;
  if (!held || s->again_n || held->out) return 0;
  slp_key head = slp_outlet_key(s, held, s->next_i);
  if (s->next_i) {
    remember_last(s, held->page, &held->page->recs[s->next_i - 1]);
  } else {
    s->taken = held->prev_taken;
    s->last_seq_n = held->prev_seq_n;
    s->last_arrived_ms = held->prev_arrived_ms;
    memcpy(s->last_seq, held->prev_seq, held->prev_seq_n);
  }
  if (!s->taken) { /* the first of all: latest or a time would find another one now */
    s->start.place = SLP_PLACE_AT_SEQ;
    s->start.seq_n = (uint8_t)head.seq.n;
    memcpy(s->start.seq, head.seq.p, head.seq.n);
  }
  s->tail_time = s->key_time;
  /* The frontier goes back to the first record forgotten: the merge did not let anything pass it. */
  memcpy(s->frontier_seq, head.seq.p, head.seq.n);
  s->frontier = (slp_key){head.time, {s->frontier_seq, head.seq.n}, head.sub};
  s->consumer->queued_n -= s->queued_n;
  s->queued_n = 0;
  s->next_page = NULL;
  s->next_i = 0;
  while (!slp_list_empty(&s->pages)) {
    slp_held *last = held_of(s->pages.prev);
    held_free(last);
    if (last == held) break; /* only its address is looked at */
  }
  return 1;
}

void slp_outlet_drop(slp_shard *s) {
  s->consumer->queued_n -= s->queued_n + s->again_n;
  s->queued_n = s->again_n = 0;
  s->next_page = NULL;
  s->next_i = 0;
  slp_list *it = s->pages.next;
  while (it != &s->pages) {
    slp_held *held = held_of(it);
    it = it->next;
    held->dropped = 1;
    held->again_n = 0;
    if (held->out == 0) held_free(held);
  }
}

void slp_outlet_orphan(slp_shard *s) {
  slp_outlet_drop(s);
  slp_list *it;
  while ((it = slp_list_pop(&s->pages))) {
    slp_held *held = held_of(it);
    slp_budget_give(&held->engine->budget, held->charged);
    held->charged = 0;
    held->shard = NULL;
    held->engine = NULL;
  }
}
