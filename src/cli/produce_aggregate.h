/* produce_aggregate.h - --aggregate: puts the records that wait for one shard into aggregates.
 *
 * The Kinesis Client Library (3.5.1 and before) leaves out a whole aggregate if the key of one of its
 * records does not belong to the shard. So an aggregate has records of one shard only. If the stream was
 * resharded meanwhile, an aggregate may be stored in a shard to which not all of its records belong. Then all
 * of its records are put again. Readers that do not leave out such aggregates see these records twice. */
#ifndef SLP_CLI_PRODUCE_AGGREGATE_H
#define SLP_CLI_PRODUCE_AGGREGATE_H

#include "base/buf.h"
#include "base/mem.h"
#include "cli/produce_queue.h"
#include "cli/produce_shards.h"
#include "codec/digest.h"

/* The most bytes of an aggregate: the default of the Kinesis Producer Library. A larger record is put without
 * an aggregate. */
#define SLP_PUT_AGGREGATE_BYTES 51200u
/* The most records of an aggregate: as many as our own reader expands (codec/kpl.h). */
#define SLP_PUT_AGGREGATE_RECORDS 100000u
/* While a call is in flight, the next call is not sent before this many bytes wait, so that aggregates become
 * larger. */
#define SLP_PUT_AGGREGATED_BYTES (1024u * 1024)
/* A record is put alone after its aggregates were stored in a wrong shard this many times. Then the service
 * does not place records by the ranges that it lists. */
#define SLP_PUT_STRAYS_MAX 3u

typedef struct slp_put_aggregates {
  slp_put_shards shards;
  slp_digest *digest; /* owned */
  slp_buf scratch;    /* one aggregate, while it is written */
  uint64_t call;      /* number of the call that is being filled, or was filled last */
} slp_put_aggregates;

/* Returns 0 or SLP_ENOMEM. slp_put_aggregates_free() is needed in both cases. */
int slp_put_aggregates_init(slp_put_aggregates *a, slp_mem *mem);
void slp_put_aggregates_free(slp_put_aggregates *a);
/* Takes records for one call, like slp_put_queue_take(), but with aggregates as entries. batch[i] is the
 * first record of entry i; the entry's other records follow it by `more`. *ret_n is the number of entries.
 * Returns 0 or SLP_ENOMEM; records that were taken before the error are in the batch. */
int slp_put_aggregates_take(slp_put_aggregates *a, slp_put_queue *q, slp_put_record **batch, size_t *ret_n);
/* Encodes the records of an entry as one aggregate. Returns the aggregate, valid until the next call of this
 * function. p NULL: no memory. */
slp_str slp_put_aggregates_pack(slp_put_aggregates *a, const slp_put_record *first);
/* Returns 1 if the keys of all records of an entry belong to the shard. */
int slp_put_all_belong(const slp_put_record *first, const slp_put_shard *shard);

#endif
