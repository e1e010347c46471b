/* batch.h - records out with the user, and the memory they point into. A batch outlives everything else. */
#ifndef SLP_CORE_BATCH_H
#define SLP_CORE_BATCH_H

#include "core/queue.h"
#include <sloop.h>

typedef struct slp_consumer slp_consumer;
typedef struct sloop_batch_s slp_batch;

/* Records of a page leave in its order, so a batch knows them by runs, and what is done with all of a batch
 * is done once a run. Between those of one run the batch may have records of other shards. */
typedef struct slp_batch_run {
  slp_buffered *buffered;
  uint32_t first, n; /* in the page */
} slp_batch_run;

typedef struct slp_batch_item { /* of a record */
  uint32_t run;
  uint32_t i; /* in the page */
} slp_batch_item;

struct sloop_batch_s {
  slp_list link;          /* in the engine's batches while out */
  slp_mem *mem;           /* held */
  slp_engine *engine;     /* NULL: gone */
  slp_consumer *consumer; /* NULL: gone; then giving back only frees */
  slp_shard *shard;       /* ORDER_SHARD: the only one; else NULL */
  sloop_record_t *recs;
  slp_batch_item *items;
  slp_batch_run *runs;
  uint32_t n, cap, runs_n; /* as many of each have room: a run has a record at least */
  uint32_t flags;          /* SLOOP_REC_* that some of its records have */
  uint64_t payload_bytes, charged;
  int64_t behind_ms;
  uint8_t out;
  uint8_t dead; /* its one record goes to on_dead_letter */
};

typedef struct slp_batches { /* of an engine */
  slp_list out;              /* slp_batch out with the user */
  uint32_t out_n;
  slp_batch *spare;
} slp_batches;

typedef struct slp_shard_batches { /* of a shard */
  uint32_t out_n;                  /* ORDER_SHARD: batches with records of it */
  slp_list touched_link;           /* while a batch is given back: shards to settle */
} slp_shard_batches;

void slp_batches_init(slp_engine *e);
void slp_batches_free(slp_engine *e); /* none is out */
uint32_t slp_batches_out(const slp_engine *e);
uint32_t slp_batches_of(const slp_shard *s); /* ORDER_SHARD */
void slp_batch_ack(slp_batch *b, size_t index);
int slp_batch_owned(slp_batch *b, size_t index); /* 1, 0: not now; -1: never again */
void slp_batch_done(slp_batch *b, size_t acked);
void slp_batch_free(slp_batch *b);
slp_batch *slp_batch_new(slp_engine *e);
int slp_batch_grow(slp_batch *b); /* its consumer is known. SLP_ENOMEM */
/* For one more record. 0, SLP_ENOMEM */
static inline int slp_batch_room(slp_batch *b) { return b->n < b->cap ? 0 : slp_batch_grow(b); }
/* The head of a shard of its consumer, which is taken out of its queue next. There must be room. */
void slp_batch_add(slp_batch *b, slp_buffered *buffered, uint32_t i, uint32_t flags);
void slp_batch_send(slp_batch *b);    /* on_batch: the last thing the caller does */
void slp_batch_bury(slp_batch *b);    /* on_dead_letter, and the record counts as acknowledged: likewise */
void slp_batch_recycle(slp_batch *b); /* an empty one that was not sent */
void slp_batches_orphan(slp_engine *e, slp_consumer *c);
/* No batch counts for the shard any more, nor for any shard of the consumer. */
void slp_batches_forget_shard(slp_shard *s);
void slp_batches_forget_shards(slp_consumer *c);

#endif
