/* queue.h - a shard's records between reader and user: its pages, until every record is acknowledged.
 * (queue.c, acked.c, shorten.c) */
#ifndef SLP_CORE_QUEUE_H
#define SLP_CORE_QUEUE_H

#include "base/list.h"
#include "core/desc.h"
#include "core/mark.h"
#include "core/merge.h"

typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

/* A page in our hands: from its last byte until every record is acknowledged. */
typedef struct slp_buffered {
  slp_list link;      /* in slp_queue.pages, oldest first; or in slp_consumer.detached */
  slp_shard *shard;   /* NULL: the records count no more, only their memory is left to give back */
  slp_engine *engine; /* NULL: the engine is gone, and the budget with it */
  slp_mem *mem;
  slp_name *name;      /* a counted reference */
  slp_page *page;      /* owned; NULL once every record is acknowledged */
  uint32_t n, unacked; /* n: records in the page; unacked: those not acknowledged */
  uint32_t out;        /* records that the user holds: their bytes must stay */
  uint8_t dropped;     /* 1: no more of the page is handed out; it is freed when out is 0 */
  uint8_t *attempts;   /* per record, once one was given back; stops at 255. NULL: none was, or no memory */
  uint32_t redelivered_n; /* records that wait to be handed out again */
  uint32_t run;           /* index of its run in the batch that is being filled; see batch.c */
  int64_t floor_time;     /* key time of the record before this page */
  slp_mark prev;          /* the record before this page; no number: there was none */
  int64_t service_ms;     /* service time of the answer: no key time is later */
  /* lag that its answer told; without the body: age of its first unacknowledged record then */
  int64_t behind_ms;
  uint64_t asked_us;    /* when the page was asked for, or pushed; it may have lain unread for long */
  uint64_t came_us;     /* when the page was taken into the queue */
  uint64_t charged;     /* bytes that the page holds of the budget */
  uint8_t *redelivered; /* bitmap of records given back; lies behind the acknowledged ones in `bits` */
  uint8_t bits[];       /* bitmap of acknowledged records, then of those given back */
} slp_buffered;

static inline uint32_t slp_buffered_payload(const slp_buffered *buffered, uint32_t i) {
  return buffered->page->recs[i].data_n;
}

/* The record that a shard is stuck at: the first one that is not acknowledged, after it came back. */
typedef struct slp_tried {
  /* the record's page, while that is in the queue; NULL: there is no such record */
  const slp_buffered *buffered;
  uint32_t i;       /* the record's index in the page */
  uint32_t n;       /* how often the record came back as the first one */
  uint8_t attempts; /* the record's entry in slp_buffered.attempts at that time */
  uint8_t dead;     /* 1: the record goes to on_dead_letter */
} slp_tried;

typedef struct slp_queue {
  slp_list pages;           /* pages that are not yet in the acknowledged prefix; see acked.c */
  slp_buffered *next_page;  /* page of the next record that was never handed out; NULL: there is none */
  uint32_t next_i;          /* index of that record in next_page */
  uint32_t queued_n;        /* records that were never handed out */
  uint32_t redelivered_n;   /* records given back that wait to be handed out again */
  uint32_t unacked_n;       /* records fetched and not acknowledged */
  uint32_t redeliver_tries; /* give-backs in a row without an acknowledgement */
  uint64_t redeliver_at_us; /* when records given back may be handed out again */
  slp_tried tried;
  uint64_t acked_us; /* when records were last acknowledged; 0: none was */
  /* since it was last settled: 1: some records were given back, some acknowledged */
  uint8_t came_back, acked;
  int64_t key_time;  /* of the last record handed out; before that, the floor of slp_queue_begin */
  slp_key watermark; /* no record still to come precedes it; seq points to watermark_seq */
  char watermark_seq[SLP_SEQ_MAX];
} slp_queue;

void slp_queue_init(slp_shard *s);
void slp_queue_begin(slp_shard *s, int64_t floor_time); /* no key time of s is earlier than floor_time */
/* Takes the page's records into the queue. Returns
 *   0: done, also if the page brought nothing new;
 *   SLP_ENOMEM: nothing happened, the page is still the caller's;
 *   SLOOP_EPROTO: a sequence number went back, and no record was taken;
 *   SLOOP_ETRIMMED: there is a gap, and the user wants to stop at gaps.
 * The page is gone, except for SLP_ENOMEM. */
int slp_queue_admit(slp_shard *s, slp_page *page, uint64_t asked_us, int64_t service_high_ms);
/* 1: the record is not new */
int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r);
int slp_queue_is_out(const slp_shard *s);    /* 1: the user holds records of it */
int slp_queue_empty(const slp_shard *s);     /* 1: nothing is left to hand out */
int slp_queue_all_acked(const slp_shard *s); /* 1: every record taken in is acknowledged */
int slp_queue_has_room(const slp_shard *s);  /* 1: another page may be fetched */
uint32_t slp_queue_unacked_n(const slp_shard *s);
void slp_queue_note_ack(slp_shard *s);           /* a record of a batch that is still out was acknowledged */
uint64_t slp_queue_acked_us(const slp_shard *s); /* when records were last acknowledged; 0: none was */
void slp_queue_set_watermark(slp_shard *s, int64_t time, slp_str seq, uint32_t sub);
const slp_key *slp_queue_watermark(const slp_shard *s);

/* Handing records out. */
int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i,
                   int *ret_redelivered); /* Returns 0 if there is none. */
slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* Returns 1 if records were given back. They go first, and are few. */
static inline int slp_queue_gave_back(const slp_queue *q) { return q->redelivered_n > 0; }
/* the first record given back; there must be one */
slp_buffered *slp_queue_given_back(slp_shard *s, uint32_t *ret_i);
/* until when records given back must wait; 0: there are none */
uint64_t slp_queue_rests_until_us(const slp_shard *s);
/* Returns 1 if the record goes to on_dead_letter. */
int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered, uint32_t i);
void slp_queue_take_given_back(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* How many records ahead a sequence number is loaded from memory; a row, twice as many. In a page that has
 * waited they are not in a cache. If few shards take turns, that is too short a time, but then the pages are
 * in a cache. */
#define SLP_QUEUE_AHEAD 4u

/* The next functions are about records that were never handed out, and run for nearly every record. */
/* Returns NULL if there is none. */
static inline slp_buffered *slp_queue_next_page(const slp_queue *q) { return q->next_page; }
static inline uint32_t slp_queue_next_i(const slp_queue *q) { return q->next_i; }
/* Returns the time of the next record's key. */
static inline int64_t slp_queue_next_time(const slp_queue *q) {
  int64_t arrived_ms = q->next_page->page->recs[q->next_i].arrived_ms;
  return slp_min_i64(slp_max_i64(arrived_ms, q->key_time), q->next_page->service_ms);
}
static inline slp_key slp_queue_next_key(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return (slp_key){slp_queue_next_time(q), slp_rec_seq(page, r), r->sub};
}
/* Returns the word of the next record's number; NULL: the page has no words made by this focus. */
static inline const uint64_t *slp_queue_next_word(const slp_queue *q, const slp_focus *focus) {
  const slp_page *page = q->next_page->page;
  return page->focus.id == focus->id ? &page->recs[q->next_i].word : NULL;
}
/* Returns the number of a record that comes soon. */
static inline slp_str slp_queue_number_ahead(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return slp_rec_seq(page, q->next_page->n - q->next_i > SLP_QUEUE_AHEAD ? r + SLP_QUEUE_AHEAD : r);
}
/* Takes the next record; time: of its key. Returns 1 if it was the last one of its page, so that there is
 * room for another page. */
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

/* Taking records back: n records of a page, from `first` on. */
/* Acknowledges records. Returns how many were not acknowledged before. */
uint32_t slp_queue_ack(slp_buffered *buffered, uint32_t first, uint32_t n);
/* Takes them out of their batch: those not acknowledged are given back. Returns 1 if some were, and wait to
 * be handed out again. */
int slp_queue_return(slp_buffered *buffered, uint32_t first, uint32_t n);
/* To be called for each shard of a batch, after its records came back. *ret_acked: some were acknowledged.
 * Returns 1 if a record came back retry_max times, and the user does not want it skipped. */
int slp_queue_came_back(slp_shard *s, int *ret_acked);
void slp_queue_settle(slp_shard *s); /* after slp_queue_came_back: frees pages of which nothing is left */

/* Freeing pages. */
void slp_queue_drop(slp_shard *s);           /* frees everything that the user does not hold */
void slp_queue_free(slp_buffered *buffered); /* the user must hold nothing of it */
/* the shard goes; what the user holds belongs to the batches */
void slp_queue_orphan(slp_shard *s);
/* the same, but what the user holds still counts in the budget */
void slp_queue_detach(slp_shard *s, slp_list *to);
void slp_queue_forget(slp_list *detached);    /* takes detached pages out of the budget */
int slp_queue_can_rewind(const slp_shard *s); /* as far as can be told without looking at the page */
/* Drops what was fetched and never handed out. The last record handed out is again the last one taken.
 * Returns 0 if that is not possible now, because the user holds records of the page, or gave some back. */
int slp_queue_rewind(slp_shard *s);
/* In shorten.c: the same, but the first records stay: `bytes` of them, and at least one. */
int slp_queue_can_shorten(const slp_shard *s, uint64_t bytes);
int slp_queue_shorten(slp_shard *s, uint64_t bytes);

/* In acked.c: what was acknowledged without a gap. */
/* Returns the index of the first record from i on that is not acknowledged; n of the page: there is none. */
uint32_t slp_acked_until(const slp_buffered *buffered, uint32_t i);
/* Finds the oldest record that is not acknowledged. Returns 0 if there is none. */
int slp_acked_next(const slp_shard *s, const slp_buffered **ret_buffered, uint32_t *ret_i);
/* Sets *ret to the last record of the acknowledged prefix. Returns 0 if there is none yet: the shard stands
 * where it started. */
int slp_acked_prefix(const slp_shard *s, slp_mark *ret);
/* Does the same, or finds a later place up to which nothing came (mark.idle). */
int slp_acked_place(const slp_shard *s, slp_mark *ret);
/* Sets *ret to the record in front of the page's first one that is not acknowledged. */
void slp_acked_mark(const slp_buffered *buffered, slp_mark *ret);

#endif
