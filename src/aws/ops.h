/* ops.h - typed calls to Kinesis or DynamoDB Streams, and the table of functions that they go through. A
 * simulated service may fill the table itself, which is faster than simulating HTTP. An op is one request.
 * The caller owns the struct, which must live until on_done ran or cancel returned. Zero it, fill it in, send
 * it. */
#ifndef SLP_AWS_OPS_H
#define SLP_AWS_OPS_H

#include "base/fail.h"
#include "codec/page.h"
#include "sloop.h"

typedef struct slp_ops slp_ops; /* a service to send ops to, opened by aws/aws.h or a simulator */

typedef struct slp_op {
  void (*on_done)(struct slp_op *op); /* called once, in a turn, and not after a cancel; may free the op */
  /* in: 0 and 1: one try. More: transient and throttled tries are repeated with full jitter. Remedies do not
   * count (new credentials, clock, JSON instead of CBOR, a stale connection) */
  uint32_t tries_max;
  slp_fail fail;             /* out: fail.class is SLP_FINE on success */
  uint64_t sent_us, done_us; /* out: of the last try; monotonic */
  int64_t date_ms;           /* out: the Date header of the last answer; -1: none */
  uint32_t tries;            /* out */
  void *call;                /* for the implementation */
} slp_op;

typedef enum {
  SLP_STREAM_CREATING = 1,
  SLP_STREAM_DELETING,
  SLP_STREAM_ACTIVE,
  SLP_STREAM_UPDATING
} slp_stream_status;

typedef struct slp_op_describe { /* DescribeStreamSummary; DescribeTable and DescribeStream */
  slp_op op;
  /* in: one or both. For DynamoDB Streams: a table, or the ARN of a table or of a stream */
  slp_str name, arn;
  char ret_name[256]; /* a table's name has up to 255 characters, a Kinesis stream's 128 */
  char ret_arn[512];
  slp_stream_status status;
  int64_t created_ms; /* -1: not told */
  uint32_t retention_hours;
  uint32_t open_shards;
  sloop_placement_t placement;
} slp_op_describe;

typedef struct slp_op_list_shards { /* ListShards, one page */
  slp_op op;
  slp_str name, arn;   /* in: not sent by Kinesis if next_token is given, which must come alone */
  slp_str next_token;  /* in */
  slp_str children_of; /* in: only the children of this shard (DynamoDB Streams); absent: all shards */
  slp_buf body; /* out: what the shards point into; made and freed by slp_op_list_init and slp_op_list_free */
  slp_shard_desc *shards; /* out, owned */
  size_t shards_n;
  slp_str ret_next;   /* out: in body; {NULL,0}: this was the last page */
  uint8_t unfiltered; /* out: other shards than the children came, so the service does not know that filter */
  /* out: the stream will get no more records, whatever the rows say (DynamoDB Streams) */
  uint8_t stream_ended;
} slp_op_list_shards;

void slp_op_list_init(slp_op_list_shards *op, slp_mem *mem); /* zeroes */
void slp_op_list_free(slp_op_list_shards *op);               /* frees body and shards; not while in flight */

typedef enum {
  SLP_ITER_OLDEST = 1, /* TRIM_HORIZON */
  SLP_ITER_LATEST,
  SLP_ITER_AT_TIME,
  SLP_ITER_AT_SEQ,
  SLP_ITER_AFTER_SEQ
} slp_iter_kind;
const char *slp_iter_kind_name(slp_iter_kind kind); /* "TRIM_HORIZON" and so on */

typedef struct slp_op_iterator { /* GetShardIterator */
  slp_op op;
  slp_str name, arn, shard; /* in */
  slp_iter_kind kind;
  slp_str seq;      /* in: for AT_SEQ and AFTER_SEQ */
  int64_t at_ms;    /* in: for AT_TIME */
  slp_buf iterator; /* out: the caller inits (max 4096) and frees it */
} slp_op_iterator;

typedef struct slp_op_records { /* GetRecords */
  slp_op op;
  slp_str name, arn;                                       /* in: may be absent; the name is not sent */
  slp_str iterator;                                        /* in */
  uint32_t limit;                                          /* in: 1..10000 */
  int (*may_grow)(struct slp_op_records *op, size_t more); /* PURE, see slp_http. NULL: always 1 */
  /* in: an empty page (its body may have memory from before, n 0). out: filled on success. The caller owns it
   * throughout */
  slp_page *page;
  size_t body_bytes; /* out: as received */
} slp_op_records;

typedef enum { SLP_CONSUMER_CREATING = 1, SLP_CONSUMER_DELETING, SLP_CONSUMER_ACTIVE } slp_consumer_status;
typedef enum {
  SLP_CONSUMER_DESCRIBE,
  SLP_CONSUMER_REGISTER,
  SLP_CONSUMER_DEREGISTER,
  SLP_CONSUMER_LIST
} slp_consumer_call;

typedef struct slp_consumer_row { /* a registered consumer of a stream */
  char name[129];
  char arn[768];
  slp_consumer_status status;
  int64_t created_ms; /* -1: not told */
} slp_consumer_row;

#define SLP_CONSUMERS_MAX 100u /* the most consumers on a page of the listing */

typedef struct slp_op_consumer { /* DescribeStreamConsumer, RegisterStreamConsumer and so on; Kinesis only */
  slp_op op;
  slp_consumer_call what;
  slp_str stream_arn, name, next_token; /* in: name is not used for LIST */
  slp_consumer_row *rows;               /* in: room for one; for LIST for SLP_CONSUMERS_MAX. out: filled in */
  size_t rows_n;                        /* out: 0 for DEREGISTER */
  char ret_next[2048];                  /* LIST: token of the next page, or "" */
} slp_op_consumer;

/* SubscribeToShard: one call whose answer goes on for minutes. on_done is called when it is over; with
 * fail.class SLP_FINE the service ended it regularly. */
typedef struct slp_op_subscribe {
  slp_op op;
  slp_str consumer_arn, shard; /* in */
  slp_iter_kind kind;
  slp_str seq;   /* in: for AT_SEQ and AFTER_SEQ */
  int64_t at_ms; /* in: for AT_TIME */
  /* PURE: returns 1 if the event that is coming may take that many bytes. 0 pauses it until
   * `resume_events`. */
  int (*may_grow)(struct slp_op_subscribe *op, size_t bytes);
  /* Called in a turn: an event is in the page that `next_event` gave. page->next is its continuation
   * number. */
  void (*on_event)(struct slp_op_subscribe *op);
  uint64_t event_us;  /* out, at an event: a time before the service made it; monotonic */
  size_t event_bytes; /* out: as received */
  uint8_t opened;     /* out: the service accepted the subscription */
  uint8_t silent;     /* out: it was given up because no byte had come for 30 s */
  uint8_t pending;    /* out: bytes have come that are not handed out yet */
} slp_op_subscribe;

struct slp_ops {
  void (*describe)(slp_ops *o, slp_op_describe *op);
  void (*list_shards)(slp_ops *o, slp_op_list_shards *op);
  void (*iterator)(slp_ops *o, slp_op_iterator *op);
  void (*records)(slp_ops *o, slp_op_records *op);
  void (*resume)(slp_ops *o, slp_op *op); /* after may_grow returned 0 */
  void (*cancel)(slp_ops *o, slp_op *op); /* on_done will not run; op need not be in flight */
  /* Enhanced fan-out; NULL if the service does not have it. */
  void (*consumer)(slp_ops *o, slp_op_consumer *op);
  int (*subscribe)(slp_ops *o, slp_op_subscribe *op); /* returns 0, or SLP_ENOMEM with nothing begun */
  /* Gives an empty page for the next event: once after `subscribe`, and once after each event. The page is in
   * use until that event, or until the op is over. */
  void (*next_event)(slp_ops *o, slp_op_subscribe *op, slp_page *page);
  void (*resume_events)(slp_ops *o, slp_op_subscribe *op);
  void (*unsubscribe)(slp_ops *o, slp_op_subscribe *op); /* like cancel */
};

#endif
