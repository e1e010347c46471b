/* batch.h - the records that the user holds, and the memory that these records point into. A batch may
 * outlive its consumer, its shards and the engine. */
#ifndef SLP_CORE_BATCH_H
#define SLP_CORE_BATCH_H

#include "core/queue.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;
typedef struct sloop_batch_s slp_batch;

/* A run is a sequence of records in a batch that are neighbours in one page. A page's records leave in the
 * page's order, so a whole batch is acknowledged or given back run by run, not record by record. In the
 * batch, records of other shards may stand between the records of one run. */
typedef struct slp_batch_run {
  slp_buffered *buffered;
  uint32_t first, n; /* index of the run's first record in the page; number of records in the run */
} slp_batch_run;

typedef struct slp_batch_item { /* one per record */
  uint32_t run;                 /* index of the record's run in sloop_batch_s.runs */
  uint32_t i;                   /* index of the record in its page */
} slp_batch_item;

struct sloop_batch_s {
  slp_list link;          /* in slp_batches.out, while the user holds this batch */
  slp_mem *mem;           /* a counted reference */
  slp_engine *engine;     /* NULL once the consumer is freed */
  slp_consumer *consumer; /* NULL once the consumer is freed; sloop_batch_done() then only frees memory */
  slp_shard *shard;       /* with SLOOP_ORDER_SHARD: the shard of all records in the batch; else NULL */
  sloop_record_t *recs;   /* the records, as the user sees them */
  slp_batch_item *items;  /* for each record in `recs`: its run, and its index in its page */
  slp_batch_run *runs;    /* see slp_batch_run */
  /* cap: how many entries recs, items and runs each have room for. There are at most as many runs as
   * records. */
  uint32_t n, cap, runs_n;
  uint32_t flags; /* the SLOOP_REC_* flags of all records of the batch, or-ed together */
  /* payload_bytes: sum of the records' data. charged: bytes of the budget that recs, items and runs take. */
  uint64_t payload_bytes, charged;
  /* how far the last record's page was behind the tip of its shard, in ms; -1: not known */
  int64_t behind_ms;
  void *user;   /* the user's pointer, see sloop_batch_set_data() */
  uint8_t out;  /* 1: the user holds the batch */
  uint8_t dead; /* 1: the batch has one record, which goes to on_dead_letter */
};

typedef struct slp_batches { /* one per engine */
  slp_list out;              /* the batches that the user holds, linked by sloop_batch_s.link */
  uint32_t out_n;            /* number of batches in `out` */
  slp_batch *spare;          /* an empty batch, kept for the next slp_batch_new; NULL: none is kept */
} slp_batches;

typedef struct slp_shard_batches { /* one per shard */
  uint32_t out_n;                  /* with SLOOP_ORDER_SHARD: how many batches of this shard the user holds */
  slp_list touched_link;           /* in the list `touched` of slp_batch_done, while that function runs */
} slp_shard_batches;

void slp_batches_init(slp_engine *e);
void slp_batches_free(slp_engine *e); /* frees the spare batch; the user must hold no batch */
uint32_t slp_batches_out(const slp_engine *e);
/* with SLOOP_ORDER_SHARD: how many batches of s the user holds */
uint32_t slp_batches_of(const slp_shard *s);
void slp_batch_ack(slp_batch *b, size_t index);
/* Implements sloop_batch_owned: tells whether acknowledging the record still has an effect. Returns 1: yes;
 * 0: not at this moment, the lease deadline has passed; -1: never again. */
int slp_batch_owned(slp_batch *b, size_t index);
void slp_batch_done(slp_batch *b, size_t acked);
void slp_batch_free(slp_batch *b);
slp_batch *slp_batch_new(slp_engine *e);
/* makes room for more records; b->consumer must be set. Returns 0 or SLP_ENOMEM. */
int slp_batch_grow(slp_batch *b);
/* Makes room for one more record. Returns 0 or SLP_ENOMEM. */
static inline int slp_batch_room(slp_batch *b) { return b->n < b->cap ? 0 : slp_batch_grow(b); }
/* Appends record i of the page to the batch. The entry points into the page, so nothing is copied. The record
 * must be the next one of a shard of b->consumer, and the batch must have room (slp_batch_room). The caller
 * must then take the record out of its queue. */
void slp_batch_add(slp_batch *b, slp_buffered *buffered, uint32_t i, uint32_t flags);
/* Gives the batch to the user's callback on_batch. Afterwards the caller must not use the batch or its
 * consumer, because the callback may have freed them. */
void slp_batch_send(slp_batch *b);
/* Gives the batch's one record to the user's callback on_dead_letter, then acknowledges it. The caller must
 * not use the batch or its consumer afterwards. */
void slp_batch_bury(slp_batch *b);
/* empties a batch and keeps it for the next slp_batch_new, or frees it */
void slp_batch_recycle(slp_batch *b);
/* To be called before c is freed. Sets the consumer, engine and shard of each batch of c to NULL. When the
 * user gives such a batch back, only memory is freed. */
void slp_batches_orphan(slp_engine *e, slp_consumer *c);
/* The next two functions set sloop_batch_s.shard to NULL in each batch of the shard, or of all shards of the
 * consumer. To be called before these shards are freed. */
void slp_batches_forget_shard(slp_shard *s);
void slp_batches_forget_shards(slp_consumer *c);

#endif
