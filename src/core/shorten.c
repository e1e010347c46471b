/* shorten.c - drops the last of the records that a shard has fetched too far ahead, and keeps the first of
 * them. The dropped records are read again later.
 *
 * Used only for pushed events, which can't be asked for in smaller pieces. If an event were dropped
 * completely, the shard would need the whole event again for its next record, each time with a new
 * subscription. The service allows one new subscription in five seconds, so records would come one by one. */
#include "base/list.h"
#include "base/mem.h"
#include "codec/page.h"
#include "core/budget.h"
#include "core/consumer_inside.h"
#include "core/engine_inside.h"
#include "core/mark.h"
#include "core/merge.h"
#include "core/queue.h"
#include "core/shard_inside.h"

/* Returns the page that follows slp_queue.next_page; NULL: there is none. */
static slp_buffered *page_behind(const slp_shard *s) {
  slp_list *next = s->queue.next_page->link.next;
  return next == &s->queue.pages ? NULL : SLP_OWNER(next, slp_buffered, link);
}

/* Returns how many records of slp_queue.next_page are kept. At least one of the records that were never
 * handed out is kept, and more of them while they fit into `bytes` bytes. An aggregate is never cut. */
static uint32_t kept_of(const slp_shard *s, uint64_t bytes) {
  const slp_buffered *buffered = s->queue.next_page;
  const slp_page *page = buffered->page;
  uint32_t i = s->queue.next_i;
  size_t start = slp_page_rows_end(page, 0, i);
  slp_str seq = slp_rec_seq(page, &page->recs[i]);
  for (i++; i < buffered->n; i++) {
    slp_str next = slp_rec_seq(page, &page->recs[i]);
    size_t rows = (i + 1 - s->queue.next_i) * sizeof(slp_rec);
    int fits = slp_page_rows_end(page, i, i + 1) + rows <= start + bytes;
    if (!fits && !slp_str_eq(next, seq)) return i;
    seq = next;
  }
  return buffered->n;
}

int slp_queue_can_shorten(const slp_shard *s, uint64_t bytes) {
  if (!slp_queue_can_rewind(s) || s->queue.next_page->out) return 0;
  return page_behind(s) || kept_of(s, bytes) < s->queue.next_page->n;
}

/* Returns the order time of record i of the page. floor: order time of the record before it. */
static int64_t key_time(const slp_buffered *buffered, uint32_t i, int64_t floor) {
  return slp_min_i64(slp_max_i64(buffered->page->recs[i].arrived_ms, floor), buffered->service_ms);
}

/* Makes the last record that is kept the last one taken (slp_standing.last). Moves the watermark back to the
 * first record that is dropped. kept: how many records of next_page stay. */
static void stand_behind(slp_shard *s, uint32_t kept) {
  slp_buffered *buffered = s->queue.next_page, *first = kept < buffered->n ? buffered : page_behind(s);
  uint32_t first_i = kept < buffered->n ? kept : 0;
  slp_str seq = slp_rec_seq(first->page, &first->page->recs[first_i]);
  int64_t time = s->queue.key_time;
  for (uint32_t i = s->queue.next_i; i < kept; i++) time = key_time(buffered, i, time);
  slp_mark_rec(&s->at.last, buffered->page, &buffered->page->recs[kept - 1]);
  s->at.last.part = slp_str_eq(slp_mark_seq(&s->at.last), seq);
  s->at.idle.seq_n = s->at.idle_old = 0; /* the idle mark comes after the records that are dropped now */
  s->at.tail_time = time;
  memcpy(s->queue.watermark_seq, seq.p, seq.n);
  s->queue.watermark = (slp_key){
      key_time(first, first_i, time), {s->queue.watermark_seq, seq.n}, first->page->recs[first_i].sub};
}

int slp_queue_shorten(slp_shard *s, uint64_t bytes) {
  if (!slp_queue_can_shorten(s, bytes)) return 0;
  slp_buffered *buffered = s->queue.next_page;
  uint32_t kept = kept_of(s, bytes), cut = buffered->n - kept, before = s->queue.queued_n;
  stand_behind(s, kept);
  while (page_behind(s)) {
    slp_buffered *last = SLP_OWNER(s->queue.pages.prev, slp_buffered, link);
    s->queue.queued_n -= last->n;
    slp_queue_free(last);
  }
  if (cut) {
    slp_page_cut(buffered->page, kept);
    buffered->n = kept;
    buffered->unacked -= cut;
    s->queue.unacked_n -= cut;
    s->queue.queued_n -= cut;
    uint64_t stays = slp_page_bytes(buffered->page) + slp_alloc_size(buffered);
    slp_budget_settle(&buffered->engine->budget, buffered->charged, stays);
    buffered->charged = stays;
  }
  s->consumer->sum.queued_n -= before - s->queue.queued_n;
  return 1;
}
