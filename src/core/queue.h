/* queue.h - a shard's records between reader and user: pages taken in, and the shard's place in the order. */
#ifndef SLP_CORE_QUEUE_H
#define SLP_CORE_QUEUE_H

#include "base/list.h"
#include "core/mark.h"
#include "core/merge.h"

typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

/* Names that outlive shards, for records in batches. */
typedef struct slp_name {
  slp_mem *mem; /* held */
  uint32_t refs;
  const char *stream, *shard; /* NUL-ended, in text */
  uint64_t epoch;             /* of the lease; 0: there is none */
  size_t shard_n;
  char text[];
} slp_name;

slp_name *slp_name_new(slp_mem *mem, slp_str stream, slp_str shard);
slp_name *slp_name_hold(slp_name *name);
void slp_name_drop(slp_name *name);

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
  int64_t floor_time; /* key time of the record before this page */
  slp_mark prev;      /* that record, if there was one */
  int64_t service_ms; /* service time of the answer: no key is later */
  int64_t behind_ms;
  uint64_t charged;     /* bytes in the budget */
  uint8_t *redelivered; /* bitmap of records given back, behind the acknowledged ones in bits */
  uint8_t bits[];       /* bitmap of acknowledged records, then of those given back */
} slp_buffered;

/* A shard's part in the order. */
typedef enum slp_order_state {
  SLP_ORDER_OUTSIDE, /* its parents have not handed out all they had */
  SLP_ORDER_IN,      /* in the merge, or among the ready shards, unless it is paused */
  SLP_ORDER_ASIDE,   /* silent or failing for too long: holds nobody back until it answers */
  SLP_ORDER_LEFT     /* all of it was handed out, or nothing of it will be */
} slp_order_state;

/* The record that is in the way: the first one not acknowledged, when it came back. */
typedef struct slp_tried {
  const slp_buffered *buffered; /* only its address counts */
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
  uint8_t came_back, acked; /* until it is settled: some records were given back, some acknowledged */
  uint32_t batches_out;     /* ORDER_SHARD: batches with records of this shard */
  slp_order_state order;
  int64_t key_time;  /* of the last record handed out, or the floor */
  slp_key watermark; /* no record still to come precedes it; seq points to watermark_seq */
  char watermark_seq[SLP_SEQ_MAX];
  slp_merge_node node;   /* in the engine's merge */
  slp_list ready_link;   /* ORDER_SHARD: in the engine's ready shards */
  slp_list touched_link; /* while a batch is given back: shards to settle */
} slp_queue;

/* Takes the page's records in. 0; SLP_ENOMEM: nothing happened, the page is still the caller's; SLOOP_EPROTO:
 * a record went back, none was taken; SLOOP_ETRIMMED: there is a gap, and the user wants to
 * stop at gaps. The page is gone but for SLP_ENOMEM. */
int slp_queue_admit(slp_shard *s, slp_page *page, int64_t service_high_ms);
int slp_queue_knows(const slp_shard *s, const slp_page *page, const slp_rec *r); /* it brings nothing new */
int slp_queue_was_young(const slp_shard *s); /* the last record taken should still be kept */
int slp_queue_is_out(const slp_shard *s);    /* a batch that is out has records of it */
void slp_queue_put_in_order(slp_shard *s);   /* node or ready queue brought up to date */
int slp_queue_in_order(const slp_shard *s);
void slp_queue_enter(slp_shard *s);     /* its parents have handed out all they had */
void slp_queue_leave(slp_shard *s);     /* nothing of it is waited for any more */
void slp_queue_set_aside(slp_shard *s); /* it holds nobody back until it answers */
int slp_queue_take_back(slp_shard *s);  /* it has answered, or never will: no longer aside. 0: it was not */
void slp_queue_set_watermark(slp_shard *s, int64_t time, slp_str seq, uint32_t sub);
int slp_queue_head(slp_shard *s, slp_buffered **ret_buffered, uint32_t *ret_i,
                   int *ret_redelivered); /* 0: nothing */
void slp_queue_take(slp_shard *s, slp_buffered *buffered, uint32_t i, int redelivered, const slp_key *key);
slp_key slp_queue_key(slp_shard *s, slp_buffered *buffered, uint32_t i);
int slp_queue_empty(const slp_shard *s);                /* nothing left to hand out */
void slp_queue_ack(slp_buffered *buffered, uint32_t i); /* idempotent */
/* Leaves its batch: given back unless acknowledged. */
void slp_queue_return(slp_buffered *buffered, uint32_t i);
void slp_queue_settle(slp_shard *s);         /* after that: pages leave, back-off begins, ends are told */
void slp_queue_drop(slp_shard *s);           /* everything not out with the user */
void slp_queue_free(slp_buffered *buffered); /* nothing of it is out */
void slp_queue_orphan(slp_shard *s);         /* the shard goes; what is out stays the batches' */
/* The record goes to on_dead_letter. */
int slp_queue_is_dead(const slp_shard *s, const slp_buffered *buffered, uint32_t i);
void slp_queue_detach(slp_shard *s, slp_list *to); /* the same, but what is out still counts in the budget */
void slp_queue_forget(slp_list *detached);         /* and now not even that */
/* Forgets what was fetched and never handed out; the shard's last record taken is again the last one handed
 * out. 0: not possible now (records are out, or given back). */
int slp_queue_rewind(slp_shard *s);

/* acked.c: what was acknowledged without a gap */
/* 1: *ret is its last record. 0: there is none yet, the shard stands where it started. */
int slp_acked_prefix(const slp_shard *s, slp_mark *ret);
void slp_acked_drop(slp_shard *s); /* dropped pages of which nothing is out go; the prefix stays right */

#endif
