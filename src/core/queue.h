/* queue.h - the pages of a shard: from when the reader has a page until every record of the page is
 * acknowledged. (queue.c, acked.c, shorten.c) */
#ifndef SLP_CORE_QUEUE_H
#define SLP_CORE_QUEUE_H

#include "base/list.h"
#include "base/mem.h"
#include "codec/focus.h"
#include "codec/page.h"
#include "core/core.h"
#include "core/desc.h"
#include "core/mark.h"
#include "core/merge.h"

/* A page of records in memory. It exists from the moment when it is complete until every record of it is
 * acknowledged. */
typedef struct slp_buffered {
  slp_list link; /* in slp_queue.pages, oldest page first, or in slp_consumer.detached */
  /* NULL: the shard is freed. Then acknowledging has no effect, and giving records back only frees memory. */
  slp_shard *shard;
  slp_engine *engine; /* NULL: the engine is freed, so the page counts in no budget */
  slp_mem *mem;
  slp_name *name;      /* a counted reference */
  slp_page *page;      /* owned; NULL: freed, because the records themselves are not needed any more */
  uint32_t n, unacked; /* n: records in the page. unacked: how many of them are not acknowledged */
  uint32_t out;        /* how many records of the page the user holds; while there are any, `page` stays */
  /* 1: no more records of the page are handed out. The page is freed when `out` is 0, see drop_pages in
   * queue.c. */
  uint8_t dropped;
  /* 1: every record of the page was handed out at least once, and `charged` counts in slp_budget.out */
  uint8_t spent;
  /* For each record, how often it was given back, at most 255. NULL: none was given back, or there was no
   * memory. */
  uint8_t *attempts;
  uint32_t redelivered_n; /* how many records wait to be handed out again */
  /* index in sloop_batch_s.runs: the page's last run in the batch that is being filled; see run_with in
   * batch.c */
  uint32_t run;
  /* order time of the record before this page; no record of the page gets an earlier order time */
  int64_t floor_time;
  slp_mark prev; /* the record before this page; seq_n 0: there was none */
  /* the service's time when it sent this page; no record of the page gets a later order time */
  int64_t service_ms;
  /* The lag that the page stated or showed. If `page` is freed, at least the age that its first
   * unacknowledged record had when the page came. */
  int64_t behind_ms;
  /* when the page was asked for; for a pushed page: when its event came, perhaps long before the event was
   * parsed */
  uint64_t asked_us;
  uint64_t came_us; /* when the page was taken into the queue */
  uint64_t charged; /* how many bytes of the budget the page holds */
  /* Points into `bits`, after the bitmap of acknowledged records. 1: the record was given back and waits to
   * be handed out again. */
  uint8_t *redelivered;
  /* two bitmaps, one after the other. First: 1 if the record is acknowledged. Second: `redelivered` */
  uint8_t bits[];
} slp_buffered;

static inline uint32_t slp_buffered_payload(const slp_buffered *buffered, uint32_t i) {
  return buffered->page->recs[i].data_n;
}

/* The record that a shard is stuck at: the first unacknowledged record, if it was given back at least
 * once. */
typedef struct slp_tried {
  /* the page of that record; NULL: the shard is not stuck, or the page is freed */
  const slp_buffered *buffered;
  uint32_t i;       /* index of that record in its page */
  uint32_t n;       /* how often that record was given back while it was the first unacknowledged one */
  uint8_t attempts; /* slp_buffered.attempts of that record, when it was last counted */
  uint8_t dead;     /* 1: that record goes to on_dead_letter next */
} slp_tried;

typedef struct slp_queue {
  /* pages that have unacknowledged records, or that follow such a page; oldest first; see acked.c */
  slp_list pages;
  /* page of the next record that was never handed out; NULL: there is no such record */
  slp_buffered *next_page;
  uint32_t next_i;        /* index in next_page of the next record that was never handed out */
  uint32_t queued_n;      /* how many records in the queue were never handed out */
  uint32_t redelivered_n; /* how many records were given back and wait to be handed out again */
  uint32_t unacked_n;     /* how many records were taken in and are not acknowledged */
  /* how many times in a row a batch came back with at least one record given back */
  uint32_t redeliver_tries;
  uint64_t redeliver_at_us; /* when records that were given back may be handed out again */
  slp_tried tried;
  uint64_t acked_us; /* when a record of the shard was last acknowledged; 0: never */
  /* Set since the last slp_queue_came_back. came_back, 1: a record was given back. acked, 1: a record was
   * acknowledged. */
  uint8_t came_back, acked;
  /* order time of the last record handed out; if none was, the floor_time of slp_queue_begin */
  int64_t key_time;
  slp_key watermark; /* a key that no record still to come precedes; its seq points to watermark_seq */
  char watermark_seq[SLP_SEQ_MAX];
} slp_queue;

void slp_queue_init(slp_shard *s);
/* begins the queue of s; no record will get an order time earlier than floor_time */
void slp_queue_begin(slp_shard *s, int64_t floor_time);
/* Takes the page's new records into the queue. Returns:
 *   0: done, even if the page had no new record;
 *   SLP_ENOMEM: nothing was changed, and the caller still owns the page;
 *   SLOOP_EPROTO: a sequence number was lower than the number before it, so no record was taken;
 *   SLOOP_ETRIMMED: records are missing before the page, and the user wants reading to stop then.
 * Except with SLP_ENOMEM, the queue owns the page afterwards, or has freed it. asked_us: when the page was
 * asked for. service_high_ms: slp_svctime_high_ms when the page came. */
int slp_queue_admit(slp_shard *s, slp_page *page, uint64_t asked_us, int64_t service_high_ms);
/* Returns 1 if the record was taken into the queue, or passed over (core.h), before. */
int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r);
int slp_queue_is_out(const slp_shard *s); /* returns 1 if the user holds a record of s */
int slp_queue_empty(const slp_shard *s);  /* returns 1 if s has no record to hand out */
/* returns 1 if every record of s that was taken in is acknowledged */
int slp_queue_all_acked(const slp_shard *s);
int slp_queue_has_room(const slp_shard *s); /* returns 1 if the queue has room for another page */
uint32_t slp_queue_unacked_n(const slp_shard *s);
/* to be called when the user acknowledges a record and keeps its batch */
void slp_queue_note_ack(slp_shard *s);
/* returns when a record of s was last acknowledged; 0: never */
uint64_t slp_queue_acked_us(const slp_shard *s);
/* Raises the watermark of s to the key (time, seq, sub). Does nothing if the watermark is not lower. */
void slp_queue_set_watermark(slp_shard *s, int64_t time, slp_str seq, uint32_t sub);
const slp_key *slp_queue_watermark(const slp_shard *s);

/* The next functions hand records out. */
/* Finds the next record to hand out. *ret_redelivered: 1 if that record was given back before. Returns 0 if
 * there is no record. */
int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i, int *ret_redelivered);
/* Returns the key by which record i of the page is ordered. */
slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* Returns 1 if a record that was given back waits to be handed out again. Such records are handed out before
 * others, and are few. */
static inline int slp_queue_gave_back(const slp_queue *q) { return q->redelivered_n > 0; }
/* Returns the page of the oldest record that was given back and waits, and its index. There must be such a
 * record. */
slp_buffered *slp_queue_given_back(slp_shard *s, uint32_t *ret_i);
/* Returns the time until which records that were given back must wait; 0: no record was given back. */
uint64_t slp_queue_rests_until_us(const slp_shard *s);
/* Returns 1 if record i of the page goes to on_dead_letter next. */
int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered, uint32_t i);
/* Takes record i, which was given back, out of the queue. To be called when the record was put into a
 * batch. */
void slp_queue_take_given_back(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* While a record is handed out, two things are loaded into the CPU's cache: the sequence number of the
 * SLP_QUEUE_AHEADth record after it, and the slp_rec of the record twice as far ahead. Both are missing from
 * the cache if the page has waited for long. With few shards, records are handed out too fast for this to
 * help, but then the pages are still in the cache. */
#define SLP_QUEUE_AHEAD 4u

/* The next functions are about the next record that was never handed out. They run for nearly every record,
 * so they are inline. */
/* Returns the page of the next record that was never handed out; NULL: every record was handed out. */
static inline slp_buffered *slp_queue_next_page(const slp_queue *q) { return q->next_page; }
static inline uint32_t slp_queue_next_i(const slp_queue *q) { return q->next_i; }
/* Returns the order time of the next record that was never handed out. */
static inline int64_t slp_queue_next_time(const slp_queue *q) {
  int64_t arrived_ms = q->next_page->page->recs[q->next_i].arrived_ms;
  return slp_min_i64(slp_max_i64(arrived_ms, q->key_time), q->next_page->service_ms);
}
static inline slp_key slp_queue_next_key(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return (slp_key){slp_queue_next_time(q), slp_rec_seq(page, r), r->sub};
}
/* Returns the word (codec/focus.h) of the sequence number of the next record that was never handed out; NULL:
 * the words in the page were made with another focus. */
static inline const uint64_t *slp_queue_next_word(const slp_queue *q, const slp_focus *focus) {
  const slp_page *page = q->next_page->page;
  return page->focus.id == focus->id ? &page->recs[q->next_i].word : NULL;
}
/* Returns the sequence number of the record SLP_QUEUE_AHEAD places after the next one. If the page has no
 * such record, returns the sequence number of the next one. */
static inline slp_str slp_queue_number_ahead(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return slp_rec_seq(page, q->next_page->n - q->next_i > SLP_QUEUE_AHEAD ? r + SLP_QUEUE_AHEAD : r);
}
/* Takes the next record out of the queue. To be called when the record was put into a batch. time: the
 * record's order time. Returns 1 if it was the last record of its page, so that another page may be
 * fetched. */
static inline int slp_queue_take(slp_queue *q, int64_t time) {
  slp_buffered *buffered = q->next_page;
  buffered->out++;
  q->queued_n--;
  q->key_time = time;
  if (++q->next_i < buffered->n) {
    const slp_rec *r = &buffered->page->recs[q->next_i];
    __builtin_prefetch(buffered->n - q->next_i > 2 * SLP_QUEUE_AHEAD ? r + 2 * SLP_QUEUE_AHEAD : r);
    return 0;
  }
  slp_list *next = buffered->link.next;
  q->next_page = next == &q->pages ? NULL : SLP_OWNER(next, slp_buffered, link);
  q->next_i = 0;
  return 1;
}

/* To be called when slp_queue_take returned 1. Counts the page of that record as handed out. */
void slp_queue_page_spent(slp_shard *s);

/* The next functions take records back from the user. */
/* Acknowledges the n records of the page from index first on. Returns how many of them were not acknowledged
 * before. */
uint32_t slp_queue_ack(slp_buffered *buffered, uint32_t first, uint32_t n);
/* Takes the n records of the page from index first on back from the user. The unacknowledged records among
 * them wait to be handed out again. Returns 1 if there was such a record. */
int slp_queue_return(slp_buffered *buffered, uint32_t first, uint32_t n);
/* To be called for each shard of a batch, after its records were taken back. *ret_acked: 1 if at least one
 * was acknowledged. Returns 1 if the shard must be given up: a record was given back retry_max times, and the
 * user does not want such records skipped. */
int slp_queue_came_back(slp_shard *s, int *ret_acked);
/* to be called after slp_queue_came_back: frees pages that are not needed any more */
void slp_queue_settle(slp_shard *s);

/* The next functions free pages. */
/* Drops all records of s that the user does not hold. Pages with records that the user holds stay until the
 * user has returned these records. The page that marks the end of the acknowledged prefix also stays, without
 * its body. */
void slp_queue_drop(slp_shard *s);
void slp_queue_free(slp_buffered *buffered); /* frees the page; the user must hold no record of it */
/* To be called before s is freed. Pages with records that the user holds do not count in the budget any more,
 * and are freed when their batches come back. */
void slp_queue_orphan(slp_shard *s);
/* Does the same as slp_queue_orphan, with one difference: pages with records that the user holds still count
 * in the budget, and are added to the list `to`. */
void slp_queue_detach(slp_shard *s, slp_list *to);
/* the pages in the list of slp_queue_detach no longer count in the budget */
void slp_queue_forget(slp_list *detached);
/* Returns 1 if slp_queue_rewind will probably succeed. Does not look into the page. */
int slp_queue_can_rewind(const slp_shard *s);
/* Drops all records that were fetched and never handed out, so that they are fetched again. The last record
 * that was handed out becomes the last one taken (slp_standing.last). Returns 0, and drops nothing, if the
 * user holds a record of the same page, or has given a record of the shard back. */
int slp_queue_rewind(slp_shard *s);
/* In shorten.c: do the same as slp_queue_can_rewind and slp_queue_rewind, but keep the first of the records
 * that were never handed out: as many as fit into `bytes` bytes, and at least one. */
int slp_queue_can_shorten(const slp_shard *s, uint64_t bytes);
int slp_queue_shorten(slp_shard *s, uint64_t bytes);

/* In acked.c: the acknowledged prefix. */
/* Returns the index of the first unacknowledged record at index i or later; the page's n if there is none. */
uint32_t slp_acked_until(const slp_buffered *buffered, uint32_t i);
/* Finds the oldest unacknowledged record of s. Returns 0 if there is none. */
int slp_acked_next(const slp_shard *s, const slp_buffered **ret_buffered, uint32_t *ret_i);
/* Sets *ret to the last record of the acknowledged prefix. Returns 0 if the prefix is empty: then the shard's
 * position is still the one where it started. */
int slp_acked_prefix(const slp_shard *s, slp_mark *ret);
/* Does the same as slp_acked_prefix, with one exception: if all records are acknowledged, and an idle mark
 * (mark.idle) comes after the last record, sets *ret to the idle mark. */
int slp_acked_place(const slp_shard *s, slp_mark *ret);
/* Sets *ret to the record just before the page's first unacknowledged record. */
void slp_acked_mark(const slp_buffered *buffered, slp_mark *ret);

#endif
