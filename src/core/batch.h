/* batch.h - records that are out with the user, and the memory they point into. A batch may outlive its
 * consumer, its shards and the engine. */
#ifndef SLP_CORE_BATCH_H
#define SLP_CORE_BATCH_H

#include "core/queue.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;
typedef struct sloop_batch_s slp_batch;

/* A run is a sequence of neighbouring records of one page in a batch. A page's records leave in its order, so
 * a whole batch is acknowledged or given back run by run, not record by record. Records of other shards may
 * stand between those of one run. */
typedef struct slp_batch_run {
  slp_buffered *buffered;
  uint32_t first, n; /* index in the page of the run's first record; number of records */
} slp_batch_run;

typedef struct slp_batch_item { /* one per record */
  uint32_t run;
  uint32_t i; /* index in the page */
} slp_batch_item;

struct sloop_batch_s {
  slp_list link;           /* in slp_batches.out, while the user holds it */
  slp_mem *mem;            /* a counted reference */
  slp_engine *engine;      /* NULL once the consumer is freed */
  slp_consumer *consumer;  /* NULL once it is freed; giving back then only frees memory */
  slp_shard *shard;        /* ORDER_SHARD: the shard of all its records; else NULL */
  sloop_record_t *recs;    /* what the user sees */
  slp_batch_item *items;   /* where each of recs lies */
  slp_batch_run *runs;     /* see slp_batch_run */
  uint32_t n, cap, runs_n; /* cap: room in recs, items, and runs, which are no more than records */
  uint32_t flags;          /* SLOOP_REC_* flags that at least one of its records has */
  /* payload_bytes: of its records. charged: bytes of the budget that its tables take. */
  uint64_t payload_bytes, charged;
  int64_t behind_ms; /* lag of the last record's page; -1: not known */
  void *user;        /* sloop_batch_set_data() */
  uint8_t out;       /* 1: the user holds the batch */
  uint8_t dead;      /* 1: the one record in the batch goes to on_dead_letter */
};

typedef struct slp_batches { /* one per engine */
  slp_list out;              /* slp_batch.link of each batch that the user holds */
  uint32_t out_n;
  slp_batch *spare; /* a free batch for the next use; NULL: none */
} slp_batches;

typedef struct slp_shard_batches { /* one per shard */
  uint32_t out_n;                  /* ORDER_SHARD: batches of this shard that the user holds */
  slp_list touched_link;           /* in the list of shards to settle, while slp_batch_done runs */
} slp_shard_batches;

void slp_batches_init(slp_engine *e);
void slp_batches_free(slp_engine *e); /* no batch may be out */
uint32_t slp_batches_out(const slp_engine *e);
uint32_t slp_batches_of(const slp_shard *s); /* ORDER_SHARD: batches of s that the user holds */
void slp_batch_ack(slp_batch *b, size_t index);
int slp_batch_owned(slp_batch *b, size_t index); /* Returns 1: owned; 0: not now; -1: never again. */
void slp_batch_done(slp_batch *b, size_t acked);
void slp_batch_free(slp_batch *b);
slp_batch *slp_batch_new(slp_engine *e);
int slp_batch_grow(slp_batch *b); /* b->consumer must be set. Returns 0 or SLP_ENOMEM. */
/* Makes room for one more record. Returns 0 or SLP_ENOMEM. */
static inline int slp_batch_room(slp_batch *b) { return b->n < b->cap ? 0 : slp_batch_grow(b); }
/* Appends record i of the page, which must be the next record of a shard of b->consumer. The caller then
 * takes the record out of its queue. There must be room. */
void slp_batch_add(slp_batch *b, slp_buffered *buffered, uint32_t i, uint32_t flags);
void slp_batch_send(slp_batch *b);    /* calls on_batch; must be the last thing the caller does */
void slp_batch_bury(slp_batch *b);    /* calls on_dead_letter, acknowledges; must be last, too */
void slp_batch_recycle(slp_batch *b); /* keeps an empty batch for the next use, or frees it */
void slp_batches_orphan(slp_engine *e, slp_consumer *c);
/* Makes no batch count for the shard, or for any shard of the consumer, any more. */
void slp_batches_forget_shard(slp_shard *s);
void slp_batches_forget_shards(slp_consumer *c);

#endif
