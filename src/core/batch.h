/* batch.h - the records that the user holds, and the memory that these records point into. A batch may
 * outlive its consumer, its shards and the engine. */
#ifndef SLP_CORE_BATCH_H
#define SLP_CORE_BATCH_H

#include "core/batch_part.h"
#include "core/core.h"
#include "core/queue.h"

void slp_batches_init(slp_engine *e);
void slp_batches_free(slp_engine *e); /* frees the spare batch; the user must hold no batch */
uint32_t slp_batches_out(const slp_engine *e);
/* with SLOOP_ORDER_SHARD: returns how many batches of s the user holds */
uint32_t slp_batches_of(const slp_shard *s);
void slp_batch_ack(slp_batch *b, size_t index);
/* Implements sloop_batch_owned. Returns 1 if acknowledging the record still has an effect. Returns 0 if it
 * has none now, because the lease deadline has passed. Returns -1 if it will never have one again. */
int slp_batch_owned(slp_batch *b, size_t index);
void slp_batch_done(slp_batch *b, size_t acked);
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
