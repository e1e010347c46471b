/* queue.h - a shard's records between reader and user: its pages, until all of them is acknowledged.
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
  slp_list link;      /* in the queue's pages, oldest first; or in consumer->detached */
  slp_shard *shard;   /* NULL: nothing counts any more, only memory is left to give back */
  slp_engine *engine; /* NULL: gone, its budget with it */
  slp_mem *mem;
  slp_name *name; /* held */
  slp_page *page; /* owned; NULL once every record is acknowledged */
  uint32_t n, unacked;
  uint32_t out;      /* records in batches that are out: their bytes must stay */
  uint8_t dropped;   /* nothing of it is handed out any more; it goes when out is 0 */
  uint8_t *attempts; /* per record, once one was given back; stays at 255. NULL: none, or no memory */
  uint32_t redelivered_n;
  uint32_t run;         /* batch.c: where its records may lie in the batch that is being filled */
  int64_t floor_time;   /* key time of the record before this page */
  slp_mark prev;        /* that record, if there was one */
  int64_t service_ms;   /* service time of the answer: no key is later */
  int64_t behind_ms;    /* of the answer; without the body: the age of its first unacknowledged record then */
  uint64_t asked_us;    /* it was asked for, or pushed; the answer may have lain unread for long */
  uint64_t came_us;     /* when it was taken in */
  uint64_t charged;     /* bytes in the budget */
  uint8_t *redelivered; /* bitmap of records given back, behind the acknowledged ones in bits */
  uint8_t bits[];       /* bitmap of acknowledged records, then of those given back */
} slp_buffered;

static inline uint32_t slp_buffered_payload(const slp_buffered *buffered, uint32_t i) {
  return buffered->page->recs[i].data_n;
}

/* The record that is in the way: the first one not acknowledged, when it came back. */
typedef struct slp_tried {
  const slp_buffered *buffered; /* its page, while that is in the queue; NULL: none */
  uint32_t i;
  uint32_t n;       /* so often it came back, without another one being the first */
  uint8_t attempts; /* its own, then */
  uint8_t dead;     /* it goes to on_dead_letter */
} slp_tried;

typedef struct slp_queue {
  slp_list pages;          /* slp_buffered: everything not yet in the acknowledged prefix; see acked.c */
  slp_buffered *next_page; /* the next record never handed out */
  uint32_t next_i;
  uint32_t queued_n;        /* records in pages never handed out */
  uint32_t redelivered_n;   /* records given back, to be handed out again */
  uint32_t unacked_n;       /* records fetched and not acknowledged */
  uint32_t redeliver_tries; /* give-backs in a row without an acknowledgement */
  uint64_t redeliver_at_us;
  slp_tried tried;
  uint64_t acked_us;        /* when records were last acknowledged; 0: none was */
  uint8_t came_back, acked; /* until it is settled: some records were given back, some acknowledged */
  int64_t key_time;         /* of the last record handed out, or the floor */
  slp_key watermark;        /* no record still to come precedes it; seq points to watermark_seq */
  char watermark_seq[SLP_SEQ_MAX];
} slp_queue;

void slp_queue_init(slp_shard *s);
void slp_queue_begin(slp_shard *s, int64_t floor_time); /* no key of it is earlier */
/* Takes the page's records in. 0; SLP_ENOMEM: nothing happened, the page is still the caller's; SLOOP_EPROTO:
 * a record went back, none was taken; SLOOP_ETRIMMED: there is a gap, and the user wants to
 * stop at gaps. The page is gone but for SLP_ENOMEM. */
int slp_queue_admit(slp_shard *s, slp_page *page, uint64_t asked_us, int64_t service_high_ms);
int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r); /* it brings nothing new */
int slp_queue_is_out(const slp_shard *s);    /* a batch that is out has records of it */
int slp_queue_empty(const slp_shard *s);     /* nothing left to hand out */
int slp_queue_all_acked(const slp_shard *s); /* every record taken in is acknowledged */
int slp_queue_has_room(const slp_shard *s);  /* for another page */
uint32_t slp_queue_unacked_n(const slp_shard *s);
void slp_queue_note_ack(slp_shard *s);           /* a record of a batch that is still out was acknowledged */
uint64_t slp_queue_acked_us(const slp_shard *s); /* when records were last acknowledged; 0: none was */
void slp_queue_set_watermark(slp_shard *s, int64_t time, slp_str seq, uint32_t sub);
const slp_key *slp_queue_watermark(const slp_shard *s);

/* Out. */
int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i,
                   int *ret_redelivered); /* 0: nothing */
slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* Records that were given back go first, and are few. */
static inline int slp_queue_gave_back(const slp_queue *q) { return q->redelivered_n > 0; }
slp_buffered *slp_queue_given_back(slp_shard *s, uint32_t *ret_i); /* the first of them; there is one */
uint64_t slp_queue_rests_until_us(const slp_shard *s); /* after records were given back; 0: none was */
/* The record goes to on_dead_letter. */
int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered, uint32_t i);
void slp_queue_take_given_back(slp_shard *s, slp_buffered *buffered, uint32_t i);

/* So many records ahead a number is fetched from memory, and twice as many a row, for those of a page that
 * waited are cold. Where few shards take turns their turns come soon, but there the pages are in a cache. */
#define SLP_QUEUE_AHEAD 4u

/* Then comes what was never handed out: nearly every record. These are looked at for each of them. */
/* NULL: there is none. */
static inline slp_buffered *slp_queue_next_page(const slp_queue *q) { return q->next_page; }
static inline uint32_t slp_queue_next_i(const slp_queue *q) { return q->next_i; }
/* The time of its key. */
static inline int64_t slp_queue_next_time(const slp_queue *q) {
  int64_t arrived_ms = q->next_page->page->recs[q->next_i].arrived_ms;
  return slp_min_i64(slp_max_i64(arrived_ms, q->key_time), q->next_page->service_ms);
}
static inline slp_key slp_queue_next_key(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return (slp_key){slp_queue_next_time(q), slp_rec_seq(page, r), r->sub};
}
/* The word of its sequence number; NULL: the page has none by this focus. */
static inline const uint64_t *slp_queue_next_word(const slp_queue *q, const slp_focus *focus) {
  const slp_page *page = q->next_page->page;
  return page->focus.id == focus->id ? &page->recs[q->next_i].word : NULL;
}
/* The number of a record that comes soon. */
static inline slp_str slp_queue_number_ahead(const slp_queue *q) {
  const slp_page *page = q->next_page->page;
  const slp_rec *r = &page->recs[q->next_i];
  return slp_rec_seq(page, q->next_page->n - q->next_i > SLP_QUEUE_AHEAD ? r + SLP_QUEUE_AHEAD : r);
}
/* time: of its key. 1: a page was taken to its last record, and there is room for another one. */
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

/* And back in, n records of a page from the first on. */
/* Returns how many of them were not acknowledged before. */
uint32_t slp_queue_ack(slp_buffered *buffered, uint32_t first, uint32_t n);
/* They leave their batch: given back unless acknowledged. 1: some were given back, and wait to be handed out
 * again. */
int slp_queue_return(slp_buffered *buffered, uint32_t first, uint32_t n);
/* After the records of a batch, for each of its shards: *ret_acked: some were acknowledged. 1: one came back
 * retry_max times, and the user does not want it skipped. */
int slp_queue_came_back(slp_shard *s, int *ret_acked);
void slp_queue_settle(slp_shard *s); /* then: pages of which nothing is left go */

/* Going. */
void slp_queue_drop(slp_shard *s);                 /* everything not out with the user */
void slp_queue_free(slp_buffered *buffered);       /* nothing of it is out */
void slp_queue_orphan(slp_shard *s);               /* the shard goes; what is out stays the batches' */
void slp_queue_detach(slp_shard *s, slp_list *to); /* the same, but what is out still counts in the budget */
void slp_queue_forget(slp_list *detached);         /* and now not even that */
int slp_queue_can_rewind(const slp_shard *s);      /* as far as can be told without looking at the page */
/* Forgets what was fetched and never handed out; the shard's last record taken is again the last one handed
 * out. 0: not possible now (records are out, or given back). */
int slp_queue_rewind(slp_shard *s);
/* shorten.c: the same, but the first records stay, of so many bytes and at least one. */
int slp_queue_can_shorten(const slp_shard *s, uint64_t bytes);
int slp_queue_shorten(slp_shard *s, uint64_t bytes);

/* acked.c: what was acknowledged without a gap. */
/* The first record from i on that is not acknowledged; the page's n: there is none. */
uint32_t slp_acked_until(const slp_buffered *buffered, uint32_t i);
/* The oldest record that is not acknowledged. 0: there is none. */
int slp_acked_next(const slp_shard *s, const slp_buffered **ret_buffered, uint32_t *ret_i);
/* 1: *ret is its last record. 0: there is none yet, the shard stands where it started. */
int slp_acked_prefix(const slp_shard *s, slp_mark *ret);
/* The same, or a later place up to which nothing came (mark.idle). */
int slp_acked_place(const slp_shard *s, slp_mark *ret);
/* The record in front of the first one of the page that is not acknowledged. */
void slp_acked_mark(const slp_buffered *buffered, slp_mark *ret);

#endif
