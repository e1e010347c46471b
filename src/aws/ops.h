/* ops.h - typed calls to Kinesis or DynamoDB Streams: each op is one call. core knows no AWS: through
 * core/source.h, it asks for shards and positions, and source/ turns these requests into ops. host/op.h has
 * what the ops of both kinds have in common.
 *
 * slp_ops is the table of functions that send ops. A simulated service may fill the table itself, which is
 * faster than simulating HTTP. */
#ifndef SLP_AWS_OPS_H
#define SLP_AWS_OPS_H

#include "base/buf.h"
#include "base/mem.h"
#include "codec/page.h"
#include "host/op.h"

#include <sloop.h>

typedef struct slp_ops slp_ops; /* a service to which ops are sent; created by aws/aws.h or by a simulator */

typedef enum {
  SLP_STREAM_CREATING = 1,
  SLP_STREAM_DELETING,
  SLP_STREAM_ACTIVE,
  SLP_STREAM_UPDATING
} slp_stream_status;

/* DescribeStreamSummary, or for DynamoDB DescribeTable and then DescribeStream */
typedef struct slp_op_describe {
  slp_op op;
  /* in: one or both. For DynamoDB Streams: the name of a table, or the ARN of a table or of a stream */
  slp_str name, arn;
  char ret_name[256]; /* out: the name of a table has up to 255 characters, that of a Kinesis stream 128 */
  char ret_arn[512];
  slp_stream_status status;
  int64_t created_ms; /* out: when the stream was created; -1: not in the answer */
  uint32_t retention_hours;
  uint32_t open_shards;
  sloop_placement_t placement;
} slp_op_describe;

typedef struct slp_op_list_shards { /* ListShards, one page; for DynamoDB Streams DescribeStream */
  slp_op op;
  slp_str name, arn;  /* in: not sent with a next_token, because Kinesis accepts a next_token only alone */
  slp_str next_token; /* in: the token of the page; absent: the first page */
  /* in: list only the children of this shard (DynamoDB Streams); absent: list all shards */
  slp_str children_of;
  /* out: the text to which the shards point; initialised and freed by slp_op_list_init and
   * slp_op_list_free */
  slp_buf body;
  slp_shard_desc *shards; /* out: the shards of the page; owned by the op */
  size_t shards_n;
  slp_str ret_next; /* out: the token of the next page, a part of body; {NULL,0}: this was the last page */
  /* out: 1: the answer had shards that are not children of children_of, so the service ignores this filter */
  uint8_t unfiltered;
  /* out: 1: the stream will get no more records, even if the rows say otherwise (DynamoDB Streams) */
  uint8_t stream_ended;
} slp_op_list_shards;

/* sets all members of op to 0 and initialises op->body */
void slp_op_list_init(slp_op_list_shards *op, slp_mem *mem);
void slp_op_list_free(slp_op_list_shards *op); /* frees body and shards; not while in flight */

typedef enum {
  SLP_ITER_OLDEST = 1, /* the iterator type TRIM_HORIZON */
  SLP_ITER_LATEST,
  SLP_ITER_AT_TIME,
  SLP_ITER_AT_SEQ,
  SLP_ITER_AFTER_SEQ
} slp_iter_kind;
const char *slp_iter_kind_name(slp_iter_kind kind); /* returns "TRIM_HORIZON" and so on */

typedef struct slp_op_iterator { /* in and out of GetShardIterator */
  slp_op op;
  slp_str name, arn, shard; /* in: the stream, by one or both; and the shard's id */
  slp_iter_kind kind;
  slp_str seq;   /* in: the sequence number for SLP_ITER_AT_SEQ and SLP_ITER_AFTER_SEQ */
  int64_t at_ms; /* in: the time for SLP_ITER_AT_TIME, milliseconds since 1970 */
  /* out: the iterator; the caller initialises the buffer (at most 4096 bytes) and frees it */
  slp_buf iterator;
} slp_op_iterator;

typedef struct slp_op_records { /* in and out of GetRecords */
  slp_op op;
  /* in: the stream; each of the two may be absent. Only the ARN is sent */
  slp_str name, arn;
  slp_str iterator; /* in: from slp_op_iterator, or page->next of the page before */
  uint32_t limit;   /* in: the most records in the page, 1..10000 */
  /* PURE (host.h), see slp_http.may_grow. Returns 1 if the page may grow. NULL: it may always */
  int (*may_grow)(struct slp_op_records *op, size_t more);
  /* in: a page without records; its body may have memory from an earlier use. out: filled if the op
   * succeeded. The caller owns the page all the time. */
  slp_page *page;
  size_t body_bytes; /* out: the size of the body as received */
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
  int64_t created_ms; /* when the consumer was registered; -1: not in the answer */
} slp_consumer_row;

#define SLP_CONSUMERS_MAX 100u /* the most consumers in one page of a listing */

/* DescribeStreamConsumer, RegisterStreamConsumer and so on, see `what`; Kinesis only */
typedef struct slp_op_consumer {
  slp_op op;
  slp_consumer_call what;
  slp_str stream_arn, name, next_token; /* in: LIST does not use name; only LIST uses next_token */
  /* in: room for one row, or for SLP_CONSUMERS_MAX rows for LIST. out: filled in */
  slp_consumer_row *rows;
  size_t rows_n;       /* out: how many rows; 0 for DEREGISTER */
  char ret_next[2048]; /* out: LIST: the token of the next page, or "" */
} slp_op_consumer;

/* SubscribeToShard: one call whose answer lasts for minutes. on_done is called when the subscription is over.
 * If fail.class is then SLP_FINE, the service ended it as planned. */
typedef struct slp_op_subscribe {
  slp_op op;
  slp_str consumer_arn, shard; /* in: the ARN of the registered consumer, and the shard's id */
  slp_iter_kind kind;
  slp_str seq;   /* in: the sequence number for SLP_ITER_AT_SEQ and SLP_ITER_AFTER_SEQ */
  int64_t at_ms; /* in: the time for SLP_ITER_AT_TIME, milliseconds since 1970 */
  /* PURE (host.h): returns 1 if the event that is being received may have that many bytes. 0 pauses the event
   * until `resume_events`. */
  int (*may_grow)(struct slp_op_subscribe *op, size_t bytes);
  /* Called in a turn: an event is in the page that `next_event` gave. page->next is the event's continuation
   * number. */
  void (*on_event)(struct slp_op_subscribe *op);
  /* out, at each event: the earliest time (monotonic clock) at which the service may have created the
   * event */
  uint64_t event_us;
  size_t event_bytes; /* out: the size of the event as received */
  uint8_t opened;     /* out: 1: the service accepted the subscription */
  uint8_t silent;     /* out: 1: the subscription was given up because no byte arrived for 30 s */
  uint8_t pending;    /* out: 1: bytes have arrived that are not handed out yet */
} slp_op_subscribe;

struct slp_ops {
  void (*describe)(slp_ops *o, slp_op_describe *op);
  void (*list_shards)(slp_ops *o, slp_op_list_shards *op);
  void (*iterator)(slp_ops *o, slp_op_iterator *op);
  void (*records)(slp_ops *o, slp_op_records *op);
  void (*resume)(slp_ops *o, slp_op *op); /* continues an op whose may_grow returned 0 */
  void (*cancel)(slp_ops *o, slp_op *op); /* on_done will not be called; the op need not be in flight */
  /* The functions from here on are for enhanced fan-out. They are NULL if the service does not have it. */
  void (*consumer)(slp_ops *o, slp_op_consumer *op);
  int (*subscribe)(slp_ops *o, slp_op_subscribe *op); /* returns 0, or SLP_ENOMEM if nothing was sent */
  /* Gives an empty page for the next event. Must be called once after `subscribe`, and once after each event.
   * The page is in use until that event arrives, or until the op is over. */
  void (*next_event)(slp_ops *o, slp_op_subscribe *op, slp_page *page);
  void (*resume_events)(slp_ops *o, slp_op_subscribe *op);
  /* cancels a subscription, as `cancel` does other ops */
  void (*unsubscribe)(slp_ops *o, slp_op_subscribe *op);
};

#endif
