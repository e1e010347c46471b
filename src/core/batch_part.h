/* batch_part.h - batches of records that the user holds; batch.c owns them. */
#ifndef SLP_CORE_BATCH_PART_H
#define SLP_CORE_BATCH_PART_H

#include "base/list.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/queue.h"

#include <sloop.h>

/* A run is a sequence of records in a batch that are neighbours in one page. A page's records are handed out
 * in the page's order, so a whole batch is acknowledged or given back run by run, not record by record. In
 * the batch, records of other shards may stand between the records of one run. */
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
  /* how far the last record's page was behind the newest record of its shard, in ms; -1: not known */
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

#endif
