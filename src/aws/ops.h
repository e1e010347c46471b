/* ops.h - typed calls to Kinesis or DynamoDB Streams, and the table of functions they go through: the second,
 * faster seam (a simulated service may fill the table itself). An op is one request; the caller owns the
 * struct, which must live until on_done ran or cancel returned. Zero it, fill in, send. */
#ifndef SLP_AWS_OPS_H
#define SLP_AWS_OPS_H

#include "base/fail.h"
#include "codec/page.h"
#include "sloop.h"

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
  sloop_placement_t placement;
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
  uint8_t unfiltered;   /* out: others than the children came: the service does not know that filter */
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
  slp_str name, arn;                                       /* in: may be absent; the name is not sent */
  slp_str iterator;                                        /* in */
  uint32_t limit;                                          /* in: 1..10000 */
  int (*may_grow)(struct slp_op_records *op, size_t more); /* PURE, see slp_http. NULL: always */
  slp_page *page;    /* in: an empty page (its body may hold recycled memory, n 0).
                        out: filled on success. The caller's throughout */
  size_t body_bytes; /* out: as it came over the wire */
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
  int64_t created_ms; /* -1: not given */
} slp_consumer_row;

#define SLP_CONSUMERS_MAX 100u /* the most that a page of a listing has */

typedef struct slp_op_consumer { /* DescribeStreamConsumer and the like; Kinesis only */
  slp_op op;
  slp_consumer_call what;
  slp_str stream_arn, name, next_token; /* in; name: not for LIST */
  slp_consumer_row *rows;               /* in: room for one, for LIST SLP_CONSUMERS_MAX. out: filled */
  size_t rows_n;                        /* out; 0 for DEREGISTER */
  char ret_next[2048];                  /* LIST: the next page's token, or "" */
} slp_op_consumer;

/* SubscribeToShard: one call whose answer goes on for minutes. on_done: it is over; with fail.class SLP_FINE
 * the service ended it in good order. */
typedef struct slp_op_subscribe {
  slp_op op;
  slp_str consumer_arn, shard; /* in */
  slp_iter_kind kind;
  slp_str seq;   /* in, for AT_SEQ and AFTER_SEQ */
  int64_t at_ms; /* in, for AT_TIME */
  /* PURE: may the event that is coming take so many bytes? 0 pauses until `resume_events`. */
  int (*may_grow)(struct slp_op_subscribe *op, size_t bytes);
  /* An event is in the page that `next_event` gave; page->next is its continuation number. In a turn. */
  void (*on_event)(struct slp_op_subscribe *op);
  uint64_t event_us;  /* out, at an event: it was not made before. Monotonic */
  size_t event_bytes; /* out: as it came over the wire */
  uint8_t opened;     /* out: the service accepted it */
  uint8_t silent;     /* out: it was given up because no byte had come for 30 s */
  uint8_t pending;    /* out: bytes came that are not handed out yet */
} slp_op_subscribe;

struct slp_ops {
  void (*describe)(slp_ops *o, slp_op_describe *op);
  void (*list_shards)(slp_ops *o, slp_op_list_shards *op);
  void (*iterator)(slp_ops *o, slp_op_iterator *op);
  void (*records)(slp_ops *o, slp_op_records *op);
  void (*resume)(slp_ops *o, slp_op *op); /* after may_grow said no */
  void (*cancel)(slp_ops *o, slp_op *op); /* on_done will not run; ops not in flight are fine */
  /* Enhanced fan-out; NULL where a service has none. */
  void (*consumer)(slp_ops *o, slp_op_consumer *op);
  int (*subscribe)(slp_ops *o, slp_op_subscribe *op); /* SLP_ENOMEM: nothing was begun */
  /* The page, which is empty, is for the next event: once after `subscribe`, and after each event. It is in
   * use until then, or until the op is over. */
  void (*next_event)(slp_ops *o, slp_op_subscribe *op, slp_page *page);
  void (*resume_events)(slp_ops *o, slp_op_subscribe *op);
  void (*unsubscribe)(slp_ops *o, slp_op_subscribe *op); /* as cancel */
};

#endif
