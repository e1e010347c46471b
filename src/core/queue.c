/* queue.c - the pages of a shard. Takes pages in, hands their records out to batches one by one, and marks
 * per page which records are acknowledged or given back. (order.c decides when a shard may hand out records.)
 *
 * Records of all shards are ordered by the key (order time, sequence number, index inside the aggregate). The
 * order time is the arrival time with two corrections:
 *   1. It is raised to the order time of the record before it in its shard, so that the order within a shard
 *      never breaks.
 *   2. It is lowered to the service's time when the page was answered, so that a record stamped in the future
 *      can't hold its shard back.
 * Users see the arrival time without these corrections. */
#include "core/queue.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/num.h"
#include "base/probe.h"
#include "codec/page.h"
#include "core/ahead.h"
#include "core/budget.h"
#include "core/calls.h"
#include "core/consumer_inside.h"
#include "core/desc.h"
#include "core/engine_inside.h"
#include "core/lag.h"
#include "core/loss.h"
#include "core/mark.h"
#include "core/merge.h"
#include "core/pages.h"
#include "core/position.h"
#include "core/shard_inside.h"
#include "core/standing.h"
#include "core/svctime.h"
#include "host/host.h"

#include <sloop.h>

static int bit_get(const uint8_t *bits, uint32_t i) { return bits[i / 8] >> (i % 8) & 1; }
static void bit_set(uint8_t *bits, uint32_t i) { bits[i / 8] |= (uint8_t)(1u << (i % 8)); }
static void bit_clear(uint8_t *bits, uint32_t i) { bits[i / 8] &= (uint8_t) ~(1u << (i % 8)); }

static slp_buffered *buffered_of(slp_list *it) { return SLP_OWNER(it, slp_buffered, link); }

void slp_queue_init(slp_shard *s) {
  s->queue.watermark.seq = (slp_str){s->queue.watermark_seq, 0};
  slp_list_init(&s->queue.pages);
}

void slp_queue_begin(slp_shard *s, int64_t floor_time) {
  s->queue.key_time = s->at.tail_time = floor_time;
  slp_queue_set_watermark(s, floor_time, SLP_STR(""), 0);
}

uint32_t slp_queue_unacked_n(const slp_shard *s) { return s->queue.unacked_n; }
void slp_queue_note_ack(slp_shard *s) { s->queue.acked_us = slp_now_us(s->consumer->engine->host); }
uint64_t slp_queue_acked_us(const slp_shard *s) { return s->queue.acked_us; }
int slp_queue_all_acked(const slp_shard *s) { return slp_list_empty(&s->queue.pages); }

/* Allows one page to be fetched while the page before it is being handed out. Otherwise every shard that runs
 * out of records would hold the merge back for a round trip. A shard's share of the budget
 * (slp_reader_reserve) is enough for two pages. */
int slp_queue_has_room(const slp_shard *s) {
  uint32_t most = s->consumer->o->buffered_records_per_shard_max;
  if (most && s->queue.unacked_n >= most) return 0;
  return s->queue.queued_n == 0 || (s->queue.next_page && s->queue.next_page->link.next == &s->queue.pages);
}

/* ---- taking a page in ------------------------------------------------------------------------------- */

/* Returns 1 if every record of the page is new and is to be handed out, as in nearly all pages. Looks only at
 * the page's fields about all its records, and at the first record, because the other records are not in the
 * CPU's cache. */
static int is_all_new(const slp_shard *s, const slp_page *page) {
  if (page->recs_n == 0 || page->unordered || page->empty_n) return 0;
  if (s->at.after_last || s->at.from_oldest) return 0;
  if (page->earliest_ms < s->at.not_before_ms) return 0;
  const slp_rec *first = &page->recs[0];
  if (slp_has_taken(&s->at)) return slp_mark_side(&s->at.last, slp_rec_seq(page, first), first->sub) > 0;
  return s->at.start.kind != SLP_POSITION_AT || s->at.start.mark.sub == 0;
}

int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r) {
  slp_str seq = slp_rec_seq(page, r);
  if (slp_has_taken(&s->at)) return slp_mark_side(&s->at.last, seq, r->sub) <= 0;
  return s->at.from_oldest && s->at.start.kind == SLP_POSITION_AT &&
         slp_mark_side(&s->at.start.mark, seq, r->sub) < 0;
}

/* Returns 1 if the record is not to be handed out (it is passed over): it is empty, or reading starts after
 * it. */
static int is_passed_over(const slp_shard *s, slp_str seq, const slp_rec *r) {
  if (r->flags & SLP_REC_EMPTY) return 1;
  if (r->arrived_ms >= 0 && r->arrived_ms < s->at.not_before_ms) return 1;
  return !slp_has_taken(&s->at) && s->at.start.kind == SLP_POSITION_AT &&
         slp_mark_side(&s->at.start.mark, seq, r->sub) < 0;
}

/* Removes from the page the records that were taken before, and those that are not to be handed out. Returns
 * how many are left. *ret_last: the last record that is left or passed over. If a sequence number is lower
 * than the number before it, sets *ret_bad to 1 and keeps no record. (It is unknown which records are out of
 * place.) */
static uint32_t keep_new_records(slp_shard *s, slp_page *page, slp_rec *ret_last, int *ret_bad) {
  if (is_all_new(s, page)) {
    *ret_last = page->recs[page->recs_n - 1];
    return (uint32_t)page->recs_n;
  }
  slp_str prev = slp_mark_seq(&s->at.last);
  uint32_t prev_sub = s->at.last.sub, kept = 0;
  int have = slp_has_taken(&s->at), expected = s->at.after_last;
  for (size_t i = 0; i < page->recs_n; i++) {
    slp_rec *r = &page->recs[i];
    slp_str seq = slp_rec_seq(page, r);
    if (s->at.from_oldest && slp_queue_knows(s, page, r)) continue;
    if (have) {
      int c = slp_num_cmp(seq, prev);
      if (c < 0) {
        SLP_PROBE("queue: numbers went back");
        *ret_bad = 1;
        return 0;
      }
      if (c == 0 && r->sub <= prev_sub) {
        SLP_PROBE("queue: a record that was there before is dropped");
        if (!expected) s->consumer->counts.repeats_dropped++;
        continue;
      }
    }
    prev = seq;
    prev_sub = r->sub;
    have = 1;
    expected = 0;
    *ret_last = *r;
    if (is_passed_over(s, seq, r)) continue;
    if (page->changes) page->changes[kept] = page->changes[i];
    page->recs[kept++] = *r;
  }
  return kept;
}

/* Remembers r as the last record taken from the shard (slp_standing.last). */
static void remember_last(slp_shard *s, const slp_page *page, const slp_rec *r) {
  slp_mark_rec(&s->at.last, page, r);
  s->at.idle.seq_n = s->at.idle_old = 0;
}

int slp_queue_is_out(const slp_shard *s) {
  SLP_LIST_EACH(&s->queue.pages, it) {
    if (buffered_of(it)->out) return 1;
  }
  return 0;
}

/* Frees the page and the bytes reserved for it. Returns r. */
static int discard_page(slp_shard *s, slp_page *page, int r) {
  slp_engine *e = s->consumer->engine;
  slp_calls_give(s);
  slp_pages_back(e, page);
  return r;
}

/* Shrinks the memory of the body to the bytes in use. Otherwise a small answer in memory that was made for a
 * large one would count in the budget as if it were large. pressed, 1: the budget is spent, so a body that
 * grew by doubling is shrunk too. The records of a page are offsets into the body, so the body may move. */
static void trim_memory(slp_page *page, int pressed) {
  size_t n = page->body.n;
  if (page->body.cap < 65536 || page->body.cap - n < 4096) return;
  if (!pressed && n > page->body.cap / 2) return;
  char *p = slp_realloc(page->body.mem, page->body.p, n + 1);
  if (!p) return;
  page->body.p = p;
  page->body.cap = n;
}

int slp_queue_admit(slp_shard *s, slp_page *page, uint64_t asked_us, int64_t service_high_ms) {
  slp_engine *e = s->consumer->engine;
  size_t bits = (page->recs_n + 7) / 8;
  slp_buffered *buffered = slp_zalloc(e->mem, sizeof *buffered + 2 * bits);
  if (!buffered) return SLP_ENOMEM;
  slp_mark told;
  int known = s->at.from_oldest && page->recs_n && slp_queue_knows(s, page, &page->recs[0]);
  if (slp_loss_before(s, page, known, &told) && s->consumer->o->on_trimmed == SLOOP_TRIMMED_STOP) {
    slp_free(e->mem, buffered);
    return discard_page(s, page, SLOOP_ETRIMMED);
  }
  int bad = 0;
  /* the latest arrival time in the page, even if that record is removed from it */
  int64_t latest = page->latest_ms;
  slp_rec last = {0};
  uint32_t kept = keep_new_records(s, page, &last, &bad);
  if (page->recs_n > 0) s->at.after_last = 0;
  if (last.seq_n) s->at.from_oldest = 0;
  if (kept == 0) {
    slp_free(e->mem, buffered);
    if (!bad && last.seq_n) remember_last(s, page, &last);
    return discard_page(s, page, bad ? SLOOP_EPROTO : 0);
  }
  trim_memory(page, slp_budget_used(&e->budget) + page->body.cap - slp_calls_reserved(s) >
                        slp_budget_max(&e->budget));
  page->recs_n = kept;
  buffered->shard = s;
  buffered->engine = e;
  buffered->mem = e->mem;
  buffered->name = slp_name_hold(s->name);
  buffered->page = page;
  buffered->n = buffered->unacked = kept;
  buffered->redelivered = buffered->bits + bits;
  buffered->floor_time = s->at.tail_time;
  if (slp_has_taken(&s->at)) {
    buffered->prev = s->at.last;
  } else {
    /* The shard's first record has come. From now on the start position is this record, and no longer
     * "latest", which would mean another record later. */
    s->at.start.kind = SLP_POSITION_AT;
    slp_mark_rec(&s->at.start.mark, page, &page->recs[0]);
  }
  if (told.seq_n) buffered->prev = told;
  buffered->service_ms = slp_max_i64(service_high_ms, s->at.tail_time);
  buffered->asked_us = asked_us;
  buffered->came_us = slp_now_us(e->host);
  buffered->behind_ms = slp_lag_of_page(s, page);
  buffered->charged = slp_page_bytes(page) + slp_alloc_size(buffered);
  slp_calls_settle(s, buffered->charged);
  slp_list_add_last(&s->queue.pages, &buffered->link);
  if (!s->queue.next_page) {
    s->queue.next_page = buffered;
    s->queue.next_i = 0;
  }
  s->queue.queued_n += kept;
  s->queue.unacked_n += kept;
  s->consumer->sum.queued_n += kept;
  s->at.tail_time = slp_min_i64(slp_max_i64(latest, s->at.tail_time), buffered->service_ms);
  remember_last(s, page, &last);
  return 0;
}

/* ---- the next record to leave ------------------------------------------------------------------------ */

void slp_queue_set_watermark(slp_shard *s, int64_t time, slp_str seq, uint32_t sub) {
  slp_key key = {time, seq, sub};
  /* a watermark never goes back here, so a lower key is ignored */
  if (slp_key_cmp(&key, &s->queue.watermark) <= 0) return;
  if (seq.n) memcpy(s->queue.watermark_seq, seq.p, seq.n);
  s->queue.watermark = (slp_key){time, {s->queue.watermark_seq, seq.n}, sub};
}

const slp_key *slp_queue_watermark(const slp_shard *s) { return &s->queue.watermark; }

int slp_queue_empty(const slp_shard *s) { return s->queue.queued_n == 0 && s->queue.redelivered_n == 0; }

slp_buffered *slp_queue_given_back(slp_shard *s, uint32_t *ret_i) {
  SLP_LIST_EACH(&s->queue.pages, it) {
    slp_buffered *buffered = buffered_of(it);
    for (uint32_t i = 0; buffered->redelivered_n && i < buffered->n; i++) {
      if (!bit_get(buffered->redelivered, i)) continue;
      *ret_i = i;
      return buffered;
    }
  }
  SLP_CHECK(!"records given back are in some page");
  return NULL;
}

int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i, int *ret_redelivered) {
  *ret_redelivered = slp_queue_gave_back(&s->queue);
  *ret_i = s->queue.next_i;
  *ret_buffered = *ret_redelivered ? slp_queue_given_back(s, ret_i) : s->queue.next_page;
  return *ret_buffered != NULL;
}

slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i) {
  if (buffered == s->queue.next_page && i == s->queue.next_i) return slp_queue_next_key(&s->queue);
  const slp_rec *r = &buffered->page->recs[i];
  int64_t time = slp_min_i64(slp_max_i64(r->arrived_ms, buffered->floor_time), buffered->service_ms);
  return (slp_key){time, slp_rec_seq(buffered->page, r), r->sub};
}

/* ---- records leave ----------------------------------------------------------------------------------- */

uint64_t slp_queue_rests_until_us(const slp_shard *s) {
  return s->queue.redelivered_n ? s->queue.redeliver_at_us : 0;
}

void slp_queue_take_given_back(slp_shard *s, slp_buffered *buffered, uint32_t i) {
  if (slp_queue_is_dead(s, buffered, i)) s->queue.tried.dead = 0;
  bit_clear(buffered->redelivered, i);
  buffered->out++;
  buffered->redelivered_n--;
  s->queue.redelivered_n--;
}

void slp_queue_page_spent(slp_shard *s) {
  slp_list *last = s->queue.next_page ? s->queue.next_page->link.prev : s->queue.pages.prev;
  slp_buffered *buffered = buffered_of(last);
  SLP_CHECK(last != &s->queue.pages && !buffered->spent);
  buffered->spent = 1;
  slp_budget_hand_out(&buffered->engine->budget, buffered->charged);
}

/* To be called before the bytes of the page are given back. */
static void take_in(slp_buffered *buffered) {
  if (buffered->spent) slp_budget_take_in(&buffered->engine->budget, buffered->charged);
  buffered->spent = 0;
}

/* ---- records come back -------------------------------------------------------------------------------- */

/* Sets the bits `from` to `to` - 1, up to eight at a time. Returns how many of them were 0 before. */
__attribute__((noinline)) static uint32_t set_bits(uint8_t *bits, uint32_t from, uint32_t to) {
  uint32_t n = 0;
  while (from < to) {
    uint32_t end = (uint32_t)slp_min_u64(to, from / 8 * 8 + 8);
    unsigned wanted = ((1u << (end - from)) - 1) << (from % 8), fresh = wanted & ~(unsigned)bits[from / 8];
    bits[from / 8] |= (uint8_t)wanted;
    n += fresh == 0xff ? 8 : (uint32_t)__builtin_popcount(fresh);
    from = end;
  }
  return n;
}

/* As set_bits(), for one bit. Many programs acknowledge record by record. */
static uint32_t set_bit(uint8_t *bits, uint32_t i) {
  uint32_t fresh = ~(unsigned)(bits[i / 8] >> (i % 8)) & 1u;
  bits[i / 8] |= (uint8_t)(1u << (i % 8));
  return fresh;
}

uint32_t slp_queue_ack(slp_buffered *buffered, uint32_t first, uint32_t n) {
  uint32_t fresh = n == 1 ? set_bit(buffered->bits, first) : set_bits(buffered->bits, first, first + n);
  SLP_CHECK(buffered->unacked >= fresh);
  buffered->unacked -= fresh;
  if (!fresh || !buffered->shard) return fresh;
  buffered->shard->queue.unacked_n -= fresh;
  buffered->shard->queue.acked = 1;
  return fresh;
}

/* To be called before the page is freed, because another page may get the same address: if the shard is stuck
 * at a record of this page (slp_tried), forgets that. */
static void forget_tries(slp_shard *s, const slp_buffered *buffered) {
  if (s->queue.tried.buffered == buffered) s->queue.tried = (slp_tried){.buffered = NULL};
}

void slp_queue_free(slp_buffered *buffered) {
  slp_mem *mem = buffered->mem;
  SLP_CHECK(buffered->out == 0);
  slp_list_remove(&buffered->link);
  if (buffered->shard) {
    buffered->shard->queue.unacked_n -= buffered->unacked;
    forget_tries(buffered->shard, buffered);
  }
  if (buffered->engine) {
    take_in(buffered);
    slp_budget_give(&buffered->engine->budget, buffered->charged);
    if (buffered->page) slp_pages_back(buffered->engine, buffered->page);
  } else {
    slp_page_free(buffered->page);
  }
  slp_free(mem, buffered->attempts);
  slp_name_drop(buffered->name);
  slp_free(mem, buffered);
}

int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered, uint32_t i) {
  return s->queue.tried.dead && buffered == s->queue.tried.buffered && i == s->queue.tried.i;
}

/* Finds the first unacknowledged record of the shard. Returns 1 if that record was given back and waits to be
 * handed out again. */
static int first_waits(const slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i) {
  SLP_LIST_EACH(&s->queue.pages, it) {
    slp_buffered *buffered = buffered_of(it);
    if (!buffered->unacked) continue;
    uint32_t i = slp_acked_until(buffered, 0);
    *ret_buffered = buffered;
    *ret_i = i;
    return bit_get(buffered->redelivered, i);
  }
  return 0;
}

/* Counts how often the shard's first unacknowledged record was given back. That record is taken to be the
 * reason why batches come back unacknowledged. Returns 1 if it came back retry_max times, unless the user
 * wants such records skipped. */
static int count_tries(slp_shard *s) {
  const sloop_opts_t *o = s->consumer->o;
  slp_buffered *buffered;
  uint32_t i;
  if (!first_waits(s, &buffered, &i) || !buffered->attempts) return 0;
  uint8_t attempts = buffered->attempts[i];
  int same = buffered == s->queue.tried.buffered && i == s->queue.tried.i;
  /* not this record was given back, but another one of the shard */
  if (same && attempts == s->queue.tried.attempts && attempts < 255) return 0;
  if (!same || attempts < s->queue.tried.attempts) s->queue.tried.n = s->queue.tried.dead = 0;
  s->queue.tried.buffered = buffered;
  s->queue.tried.i = i;
  s->queue.tried.attempts = attempts;
  s->queue.tried.n++;
  if (o->on_retry == SLOOP_RETRY_REDELIVER || s->queue.tried.n < o->retry_max) return 0;
  if (o->on_retry != SLOOP_RETRY_SKIP) return 1;
  s->queue.tried.dead = 1;
  return 0;
}

/* Makes record i of the page wait to be handed out again. */
static void give_back(slp_shard *s, slp_buffered *buffered, uint32_t i) {
  if (!buffered->attempts) /* if there is no memory for `attempts`, sloop_record_t.attempt stays 2 */
    buffered->attempts = slp_zalloc(buffered->mem, buffered->n);
  if (buffered->attempts && buffered->attempts[i] < (SLP_MUTANT(tries_not_counted) ? 1 : 255))
    buffered->attempts[i]++;
  bit_set(buffered->redelivered, i);
  buffered->redelivered_n++;
  s->queue.redelivered_n++;
  s->consumer->sum.queued_n++;
  s->queue.came_back = 1;
}

int slp_queue_return(slp_buffered *buffered, uint32_t first, uint32_t n) {
  SLP_CHECK(buffered->out >= n);
  buffered->out -= n;
  slp_shard *s = buffered->shard;
  if (!s) {
    if (buffered->out == 0) slp_queue_free(buffered);
    return 0;
  }
  if (buffered->dropped) return 0;
  uint32_t before = buffered->redelivered_n, i = slp_acked_until(buffered, first);
  for (; i < first + n; i = slp_acked_until(buffered, i + 1)) give_back(s, buffered, i);
  return buffered->redelivered_n > before;
}

/* Keeps the age of the page's first unacknowledged record in behind_ms, because nothing else shows that age
 * when the body is freed. */
static void keep_age(const slp_shard *s, slp_buffered *buffered) {
  const slp_svctime *service = &s->consumer->service;
  uint32_t i = slp_acked_until(buffered, 0);
  int64_t arrived_ms = i < buffered->n ? buffered->page->recs[i].arrived_ms : -1;
  if (arrived_ms < 0 || !slp_svctime_known(service) || SLP_MUTANT(dropped_has_no_age)) return;
  uint64_t now = slp_now_us(s->consumer->engine->host);
  int64_t since_ms = (int64_t)((now - slp_min_u64(now, buffered->asked_us)) / 1000);
  int64_t age_ms = slp_svctime_low_ms(service, now) - arrived_ms;
  buffered->behind_ms = slp_max_i64(buffered->behind_ms, age_ms - since_ms);
}

/* Frees the body of a page. The slp_buffered itself stays in the list, because its bitmaps and `prev` are
 * still needed. */
static void give_body_back(slp_buffered *buffered) {
  uint64_t stays = slp_alloc_size(buffered);
  take_in(buffered);
  slp_budget_settle(&buffered->engine->budget, buffered->charged, stays);
  buffered->charged = stays;
  slp_pages_back(buffered->engine, buffered->page);
  buffered->page = NULL;
}

/* Frees each dropped page of which the user holds no record. The first page that is not fully acknowledged
 * stays: it marks the end of the acknowledged prefix. */
static void drop_pages(slp_shard *s) {
  int bounded = 0;
  slp_list *it = s->queue.pages.next;
  while (it != &s->queue.pages) {
    slp_buffered *buffered = buffered_of(it);
    it = it->next;
    if (SLP_MUTANT(out_is_bound_enough) && buffered->dropped && buffered->out && buffered->unacked)
      bounded = 1;
    if (!buffered->dropped || buffered->out) continue;
    if (buffered->unacked && !bounded) {
      if (buffered->page) {
        keep_age(s, buffered);
        slp_acked_mark(buffered, &buffered->prev);
        give_body_back(buffered);
      }
      bounded = 1;
    } else {
      slp_queue_free(buffered);
    }
  }
}

/* Records that were given back wait for REDELIVER_US_MIN before they are handed out again. Each further batch
 * in a row that comes back with such records doubles the time, up to REDELIVER_US_MAX. */
#define REDELIVER_US_MIN 100000u
#define REDELIVER_US_MAX 30000000u

int slp_queue_came_back(slp_shard *s, int *ret_acked) {
  int hopeless = 0;
  *ret_acked = s->queue.acked;
  if (s->queue.acked) s->queue.acked_us = slp_now_us(s->consumer->engine->host);
  if (s->queue.came_back) {
    uint32_t shift = s->queue.redeliver_tries < 9 ? s->queue.redeliver_tries : 9;
    s->queue.redeliver_tries++;
    /* reads the clock again, because the callback that gave the batch back may have run for long */
    uint64_t now = slp_now_refresh_us(s->consumer->engine->host);
    s->queue.redeliver_at_us =
        slp_after_us(now, slp_min_u64((uint64_t)REDELIVER_US_MIN << shift, REDELIVER_US_MAX));
    hopeless = count_tries(s);
  } else if (s->queue.acked) {
    s->queue.redeliver_tries = 0;
  }
  s->queue.came_back = s->queue.acked = 0;
  return hopeless;
}

void slp_queue_settle(slp_shard *s) {
  slp_list *it = s->queue.pages.next;
  while (it != &s->queue.pages) {
    slp_buffered *buffered = buffered_of(it);
    it = it->next;
    if (buffered->out) continue;
    if (buffered->page && !buffered->unacked) slp_ahead_came_back(&s->consumer->ahead, buffered->charged);
    if (buffered->unacked == 0 && buffered->link.prev == &s->queue.pages) {
      slp_queue_free(buffered);
    } else if (buffered->page && !buffered->unacked) {
      /* the page is fully acknowledged, but a page before it is not */
      give_body_back(buffered);
    }
  }
  drop_pages(s);
}

int slp_queue_can_rewind(const slp_shard *s) { return s->queue.next_page && !s->queue.redelivered_n; }

int slp_queue_rewind(slp_shard *s) {
  slp_buffered *buffered = s->queue.next_page;
  if (!buffered || s->queue.redelivered_n || buffered->out) return 0;
  slp_key head = slp_queue_key(s, buffered, s->queue.next_i);
  if (s->queue.next_i && !SLP_MUTANT(rewind_forgets_place)) {
    remember_last(s, buffered->page, &buffered->page->recs[s->queue.next_i - 1]);
    s->at.last.part = slp_str_eq(slp_mark_seq(&s->at.last), head.seq);
  } else {
    s->at.last = buffered->prev;
  }
  s->at.idle.seq_n = s->at.idle_old = 0; /* the idle mark comes after the records that are dropped now */
  if (s->at.last.idle) { /* an idle mark is not a record, so it can't be the last record taken */
    s->at.idle = s->at.last;
    s->at.last.seq_n = 0;
  }
  s->at.tail_time = s->queue.key_time;
  /* The watermark goes back to the first dropped record. No record of another shard has passed that key,
   * because the merge waited for this shard's record. */
  if (!SLP_MUTANT(rewind_keeps_bound)) {
    memcpy(s->queue.watermark_seq, head.seq.p, head.seq.n);
    s->queue.watermark = (slp_key){head.time, {s->queue.watermark_seq, head.seq.n}, head.sub};
  }
  s->consumer->sum.queued_n -= s->queue.queued_n;
  s->queue.queued_n = 0;
  s->queue.next_page = NULL;
  s->queue.next_i = 0;
  while (!slp_list_empty(&s->queue.pages)) {
    slp_buffered *last = buffered_of(s->queue.pages.prev);
    slp_queue_free(last);
    if (last == buffered) break; /* `last` is freed; only its address is compared */
  }
  return 1;
}

void slp_queue_drop(slp_shard *s) {
  s->consumer->sum.queued_n -= s->queue.queued_n + s->queue.redelivered_n;
  s->queue.queued_n = s->queue.redelivered_n = 0;
  s->queue.next_page = NULL;
  s->queue.next_i = 0;
  SLP_LIST_EACH(&s->queue.pages, it) {
    buffered_of(it)->dropped = 1;
    buffered_of(it)->redelivered_n = 0;
  }
  drop_pages(s);
}

void slp_queue_detach(slp_shard *s, slp_list *to) {
  slp_queue_drop(s);
  slp_list *it;
  while ((it = slp_list_pop(&s->queue.pages))) {
    slp_buffered *buffered = buffered_of(it);
    if (buffered->out == 0) {
      slp_queue_free(buffered);
      continue;
    }
    forget_tries(s, buffered);
    buffered->shard = NULL;
    slp_list_add_last(to, &buffered->link);
  }
}

void slp_queue_forget(slp_list *detached) {
  slp_list *it;
  while ((it = slp_list_pop(detached))) {
    slp_buffered *buffered = buffered_of(it);
    take_in(buffered);
    slp_budget_give(&buffered->engine->budget, buffered->charged);
    buffered->charged = 0;
    buffered->engine = NULL;
  }
}

void slp_queue_orphan(slp_shard *s) {
  slp_list out;
  slp_list_init(&out);
  slp_queue_detach(s, &out);
  slp_queue_forget(&out);
}
