/* ops.h - typed calls to Kinesis or DynamoDB Streams, and the table of functions they go through: the second,
 * faster seam (a simulated service may fill the table itself). An op is one request; the caller owns the
 * struct, which must live until on_done ran or cancel returned. Zero it, fill in, send. */
#ifndef SLP_AWS_OPS_H
#define SLP_AWS_OPS_H

#include "base/fail.h"
#include "codec/page.h"

typedef struct slp_ops slp_ops; /* a service to send ops to: opened by aws/aws.h or a simulator */

typedef struct slp_op {
  void (*on_done)(struct slp_op *op); /* from the turn queue, once; not after a cancel; the op may be
                                         freed inside */
  uint32_t tries_max;        /* in: 0 and 1: one try. More: transient and throttled tries are repeated with
                                full jitter. Remedies (new credentials, clock, JSON instead of CBOR, a stale
                                connection) are not counted */
  slp_fail fail;             /* out: fail.class SLP_FINE on success */
  uint64_t sent_us, done_us; /* out: the last try, monotonic */
  int64_t date_ms;           /* out: its Date header; -1 none */
  uint32_t tries;            /* out */
  void *call;                /* the implementation's */
} slp_op;

typedef enum {
  SLP_STREAM_CREATING = 1,
  SLP_STREAM_DELETING,
  SLP_STREAM_ACTIVE,
  SLP_STREAM_UPDATING
} slp_stream_status;

typedef struct slp_op_describe { /* DescribeStreamSummary; DescribeTable and DescribeStream */
  slp_op op;
  slp_str name, arn;  /* in: one or both. DynamoDB Streams: a table, or the ARN of one or of a stream */
  char ret_name[256]; /* tables have up to 255 characters, Kinesis' streams 128 */
  char ret_arn[512];
  slp_stream_status status;
  int64_t created_ms; /* -1: not given */
  uint32_t retention_hours;
  uint32_t open_shards;
} slp_op_describe;

typedef struct slp_op_list_shards { /* ListShards, one page */
  slp_op op;
  slp_str name, arn;      /* in: Kinesis ignores them when next_token is given (it goes alone) */
  slp_str next_token;     /* in */
  slp_str children_of;    /* in: only this shard's children (DynamoDB Streams); absent: all */
  slp_buf body;           /* out, owns what shards point into; both by slp_op_list_init, slp_op_list_free */
  slp_shard_desc *shards; /* out, owned */
  size_t shards_n;
  slp_str ret_next;     /* out, in body; {NULL,0}: last page */
  uint8_t stream_ended; /* out: no record will ever be added, whatever the rows say (DynamoDB Streams) */
} slp_op_list_shards;

void slp_op_list_init(slp_op_list_shards *op, slp_mem *mem); /* zeroes */
void slp_op_list_free(slp_op_list_shards *op);               /* body and shards; not in flight */

typedef enum {
  SLP_ITER_OLDEST = 1, /* TRIM_HORIZON */
  SLP_ITER_LATEST,
  SLP_ITER_AT_TIME,
  SLP_ITER_AT_SEQ,
  SLP_ITER_AFTER_SEQ
} slp_iter_kind;
const char *slp_iter_kind_name(slp_iter_kind kind); /* "TRIM_HORIZON", ... */

typedef struct slp_op_iterator { /* GetShardIterator */
  slp_op op;
  slp_str name, arn, shard; /* in */
  slp_iter_kind kind;
  slp_str seq;      /* in, for AT_SEQ and AFTER_SEQ */
  int64_t at_ms;    /* in, for AT_TIME */
  slp_buf iterator; /* out; caller inits (max 4096) and frees */
} slp_op_iterator;

typedef struct slp_op_records { /* GetRecords */
  slp_op op;
  slp_str arn;                                             /* in: may be absent */
  slp_str iterator;                                        /* in */
  uint32_t limit;                                          /* in: 1..10000 */
  int (*may_grow)(struct slp_op_records *op, size_t more); /* PURE, see slp_http. NULL: always */
  slp_page *page;    /* in: an empty page (its body may hold recycled memory, n 0).
                        out: filled on success. The caller's throughout */
  size_t body_bytes; /* out: as it came over the wire */
} slp_op_records;

struct slp_ops {
  void (*describe)(slp_ops *o, slp_op_describe *op);
  void (*list_shards)(slp_ops *o, slp_op_list_shards *op);
  void (*iterator)(slp_ops *o, slp_op_iterator *op);
  void (*records)(slp_ops *o, slp_op_records *op);
  void (*resume)(slp_ops *o, slp_op *op); /* after may_grow said no */
  void (*cancel)(slp_ops *o, slp_op *op); /* on_done will not run; ops not in flight are fine */
};

#endif
