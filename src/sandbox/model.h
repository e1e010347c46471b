/* model.h - the data of the sandbox, and the functions that its files share. Private to this room. "The box"
 * is the model, slp_box. "Synthetic" records are computed when they are read.
 *
 * The files have floors, from 6 to 0. A file calls files of its own floor and of lower floors only:
 *
 *   6  front.c, control.c                     serve the model at a port, and take control requests over HTTP
 *      h2_conn.c, h2_stream.c, h2_life.c, h2_none.c     speak HTTP/2 at that port
 *   5  box.c                                  answers one request, and carries out control requests
 *      changes_orders.c                       carries out control requests about streams of tables
 *      fault_script.c                         parses the fault script
 *   4  rules.c                                has the table of operations
 *   3  carry out the operations, and change streams and tables:
 *      stream_life.c, stream_shards.c, reshard_ops.c, reshard.c, describe.c, registered.c, put_records.c,
 *      get_records.c, subscriptions.c         of Kinesis
 *      ddb_tables.c, ddb_describe.c, ddb_extras.c, ddb_read.c, ddb_write.c, ddb_query.c, ddb_batch.c,
 *      ddb_transact.c                         of DynamoDB
 *      changes_get.c, changes_iterator.c, changes_list.c     of DynamoDB Streams
 *      metric_data.c                          of CloudWatch
 *      auth.c, faults.c                       check signatures of all calls, and apply the fault script
 *   2  find, keep and read what the operations need:
 *      stream_find.c, iterators.c, records.c, synthetic.c
 *      ddb_find.c, ddb_rows.c, ddb_keys.c, ddb_cost.c, ddb_schema.c, ddb_answer.c, ddb_input.c, ddb_parse.c,
 *      ddb_legacy.c, ddb_update.c, ddb_eval.c
 *      changes_table.c, changes_streams.c, changes_shards.c, changes_records.c
 *   1  box_call.c                             fails calls, and reads their members
 *      rate_window.c                          applies limits for each second
 *      subscription_list.c                    keeps the open subscriptions
 *   0  value.c, seq.c, synthetic_record.c, ddb_value.c, ddb_number.c, ddb_words.c, ddb_arena.c,
 *      changes_number.c, changes_size.c       do not use the box */
#ifndef SLP_SANDBOX_MODEL_H
#define SLP_SANDBOX_MODEL_H

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/u128.h"
#include "codec/digest.h"
#include "sandbox/sandbox.h"
#include "sandbox/value.h"

#include <sloop_sandbox.h>

#define SLP_BOX_ACCOUNT "000000000000"
#define SLP_BOX_PAGE_RECORDS 10000u
#define SLP_BOX_PAGE_BYTES (10u * 1024 * 1024)
#define SLP_BOX_RECORD_BYTES (10u * 1024 * 1024)
#define SLP_BOX_SHARDS_MAX 20000u /* the most shards of one stream, closed ones included */
#define SLP_BOX_HOUR_MS INT64_C(3600000)

typedef struct slp_stream slp_stream;

/* ---- seq.c: sequence numbers in the service's 56-digit layout, hash keys as text ---------------------- */
typedef struct slp_box_seq {
  uint64_t create_s; /* when the shard was created, in Unix seconds */
  uint32_t shard;    /* index of the shard in its stream */
  uint64_t counter;  /* 0: the start of the shard; 1: the first record */
  uint64_t arrive_s; /* when the record arrived, in Unix seconds */
} slp_box_seq;
/* the counter in the last sequence number of a closed shard */
#define SLP_BOX_SEQ_END UINT64_C(0x7fffffffffffffff)
#define SLP_BOX_SEQ_TEXT 64
/* Writes a sequence number as three digits in base 10^19, the lowest digit first. In this form the number of
 * the next record is computed cheaply. */
void slp_box_seq_chunks(const slp_box_seq *s, uint64_t chunk[3]);
void slp_box_seq_chunks_next(uint64_t chunk[3]); /* adds 1 to the counter */
/* Writes the decimal text without a NUL, and returns its length. */
size_t slp_box_chunks_text(const uint64_t chunk[3], char out[SLP_BOX_SEQ_TEXT]);
/* writes the decimal text with a NUL, and returns its length without it */
size_t slp_box_seq_text(const slp_box_seq *s, char out[SLP_BOX_SEQ_TEXT]);
/* returns SLP_EBADDATA if the text is no sequence number */
int slp_box_seq_parse(slp_str text, slp_box_seq *ret);
/* Reads the decimal digits of a hash key, which is an MD5 as a number. Returns 0, SLP_EBADDATA or
 * SLP_ELIMIT. */
int slp_box_hash_parse(slp_str text, slp_u128 *ret);
/* Returns how many hash keys each of `parts` equal parts of the ring has: 2^128 / parts, modulo 2^128. */
slp_u128 slp_box_width_of(uint32_t parts);
/* Returns the last hash key of part i. The last part also gets the remainder. */
slp_u128 slp_box_equal_end(slp_u128 width, uint32_t i, uint32_t parts);

/* ---- streams and shards ---------------------------------------------------------------------- */
typedef struct slp_box_record {
  int64_t arrived_ms;
  char *bytes; /* owned: the key, then the data */
  uint32_t key_n, data_n;
  uint8_t keyless; /* 1: the record has no key */
} slp_box_record;

/* One second, and what calls have used of the limits for each second (rate_window.c). */
typedef struct slp_box_window {
  int64_t from_ms, until_ms;
  uint64_t calls, bytes;
} slp_box_window;

typedef struct slp_box_shard {
  slp_stream *stream;
  uint32_t index;
  char id[24];
  slp_u128 hash_start, hash_end;
  int64_t parent, adjacent_parent; /* indices of the shard's parents in the stream; -1: none */
  uint32_t child[2], child_n;
  uint64_t create_s; /* a part of the shard's sequence numbers; greater than create_s of the shard's
                        parents */
  int64_t created_ms;
  int64_t closed_ms; /* when the shard was closed; INT64_MAX: it is open */
  /* 1: the shard is closed and its last record has expired, so the shard is neither listed nor readable */
  uint8_t gone;
  slp_box_record *recs;          /* owned; recs[head] is the record with the counter `first` */
  size_t head, recs_n, recs_cap; /* recs_n includes the free elements before `head` */
  uint64_t first;                /* the counter of the oldest record that is kept */
  uint64_t next;                 /* the counter that the next record will get */
  int64_t last_arrived_ms;
  slp_box_window reads, writes, asked;
  uint64_t asked_max; /* the most GetRecords calls within one second, including refused calls */
  int64_t synthetic_from_ms, synthetic_cap_ms; /* The first: synthetic records arrive from this time on. The
                                                  second, for streams without a rate: all have arrived by this
                                                  time. */
  uint64_t synthetic_records;
  uint64_t synthetic_word;
  char synthetic_key[24]; /* a partition key whose hash belongs to this shard */
} slp_box_shard;

typedef enum { SLP_BOX_CREATING, SLP_BOX_ACTIVE, SLP_BOX_UPDATING, SLP_BOX_DELETING } slp_box_status;
typedef enum {
  SLP_BOX_NOTHING,
  SLP_BOX_CREATE,
  SLP_BOX_DELETE,
  SLP_BOX_SPLIT,
  SLP_BOX_MERGE,
  SLP_BOX_RESIZE
} slp_box_change;

typedef struct slp_box_consumer { /* a registered consumer of a stream (registered.c) */
  slp_list link;                  /* links the consumer into those of its stream, oldest first */
  char *name;                     /* owned */
  uint64_t uid;
  int64_t created_ms; /* time of registration; its seconds are part of the ARN */
  int64_t active_ms;
  int64_t gone_ms; /* when the consumer is removed; INT64_MAX: it is not deregistered */
  slp_list seats;  /* the consumer's slp_seat structs, one for each shard to which it has subscribed */
} slp_box_consumer;

struct slp_stream {
  slp_list link; /* links the stream into box->streams, which is sorted by name */
  char *name;    /* owned */
  uint64_t uid;  /* unlike the name, never used for another stream, so a stream that is created again has
                    another uid */
  slp_box_status status;
  int64_t created_ms, trimmed_ms; /* trimmed_ms: a control request has removed all records older than this */
  int64_t retention_ms;
  int64_t swept_ms; /* when expired records were last removed */
  uint32_t record_kib_max;
  uint8_t on_demand;
  /* 1: the record distribution strategy is AUTO, so the partition key does not choose the shard */
  uint8_t spreads;
  uint32_t spread_next;   /* counts the records that were put; the next record goes to the open shard number
                             spread_next, modulo the number of open shards */
  slp_box_shard **shards; /* owned; by index; shards that are `gone` stay in it */
  uint32_t shards_n, shards_cap;
  slp_box_change change; /* the change that is carried out at change_ms */
  int64_t change_ms;
  uint32_t change_a, change_b;
  slp_u128 change_hash;
  uint8_t synthetic;
  uint32_t record_bytes;
  uint64_t records_per_second, seed, synthetic_records;
  slp_list consumers;
  int64_t consumer_ms; /* The next consumer gets a creation time no earlier than this. ARNs contain the second
                          of creation, so no two consumers get the same ARN. */
  slp_box_window consumer_describes, consumer_lists, consumer_deregisters;
};

/* ---- faults ---------------------------------------------------------------------------------- */
typedef enum {
  SLP_FAULT_NONE,
  SLP_FAULT_ERROR,
  SLP_FAULT_ERROR_IN_HEADER,
  SLP_FAULT_DELAY,
  SLP_FAULT_CUT,
  SLP_FAULT_DROP,
  SLP_FAULT_THROTTLE,
  SLP_FAULT_EXPIRED,
  SLP_FAULT_STATUS,
  SLP_FAULT_BODY,
  SLP_FAULT_HTML,
  SLP_FAULT_NO_NEXT,
  SLP_FAULT_NO_CHILDREN,
  SLP_FAULT_CHILDREN_WITH_NEXT,
  SLP_FAULT_CHILDREN_WITHOUT_PARENTS,
  SLP_FAULT_EMPTY,
  SLP_FAULT_EMPTY_OBJECT,
  SLP_FAULT_BEHIND,
  SLP_FAULT_REPEAT,
  SLP_FAULT_BACKWARDS,
  SLP_FAULT_FOREIGN,
  SLP_FAULT_BAD_BASE64,
  SLP_FAULT_TRAILING,
  SLP_FAULT_GZIP,
  SLP_FAULT_JSON_FOR_CBOR,
  SLP_FAULT_CBOR_CUT,
  SLP_FAULT_TWICE,
  SLP_FAULT_BAD_CRC,
  SLP_FAULT_SILENCE,
  SLP_FAULT_NO_INITIAL,
  SLP_FAULT_UNKNOWN_EVENT
} slp_fault_action;
/* A line of the fault script may have this word in the place of an operation. The line then applies to the
 * events of subscriptions. */
#define SLP_BOX_EVENT "SubscribeToShardEvent"

typedef struct slp_fault {
  slp_list link;
  uint64_t left;           /* how many more calls the line applies to; UINT64_MAX: all */
  char *operation, *shard; /* owned; NULL: any operation, any shard */
  char *table;             /* owned: the table that the line of the fault script names; NULL: any table */
  slp_fault_action action;
  char *argument; /* owned, with a NUL; may be NULL */
  size_t argument_n;
  uint64_t number;     /* the argument as a number, for the actions delay, cut and status */
  int status;          /* HTTP status of the error, for the action error */
  const char *message; /* the error's message, for the action error; points into `argument`, behind the
                          error's code and a NUL */
} slp_fault;

/* ---- the model -------------------------------------------------------------------------------- */
/* The service that a request is for. The prefix of the request's target tells which. */
typedef enum { SLP_BOX_KINESIS, SLP_BOX_DYNAMODB, SLP_BOX_CHANGES, SLP_BOX_CLOUDWATCH } slp_box_service;
#define SLP_BOX_OPERATIONS 56
typedef struct slp_box_use {
  uint64_t calls, errors, bytes_in, bytes_out;
} slp_box_use;

typedef struct slp_box_auth slp_box_auth;
typedef struct slp_ddb slp_ddb; /* ddb.h: the tables of DynamoDB, and their tokens */
struct slp_box {
  slp_mem *mem;           /* a reference is held */
  sloop_sandbox_opts_t o; /* the strings in it are owned copies */
  slp_list streams, faults;
  slp_ddb *ddb;                        /* owned */
  struct slp_changes_all *changes_all; /* owned; the streams of tables: changes.h */
  uint64_t random;                     /* the state of the random generator */
  uint64_t uids;
  uint32_t changes;   /* how many streams wait for a change */
  slp_digest *marker; /* keyed digest that signs iterators and tokens */
  slp_digest *digest; /* computes the MD5 of partition keys */
  slp_box_auth *auth; /* checks signatures; NULL: no signature is checked */
  slp_box_tree tree;  /* the body of the request that is being answered */
  slp_buf scratch;
  slp_buf unpacked;     /* a request to CloudWatch, converted into the form that the other services use */
  uint64_t metric_data; /* number of values that PutMetricData has accepted */
  sloop_sandbox_stats_t stats;
  /* calls of each operation; the last element is for unknown operations */
  slp_box_use use[SLP_BOX_OPERATIONS + 1];
  slp_list subs; /* all open subscriptions, by slp_box_sub.link */
  /* Subscriptions with news since slp_push_next_news last returned them. News: a record has arrived, the
   * shard was closed, or an exception ends the subscription. */
  slp_list news;
  slp_box_window registers; /* limits the RegisterStreamConsumer calls of the account */
};

/* A call that is being answered. */
typedef struct slp_box_call {
  slp_box *box;
  int64_t now_ms;
  char region[32];
  slp_box_service service;
  const char *operation; /* name of the operation, such as "GetRecords" */
  slp_box_tree *in;
  slp_box_out out;
  slp_fault *fault; /* the script line that applies to this call; NULL: none */
  /* the action of `fault` if that action changes the page of GetRecords, otherwise SLP_FAULT_NONE */
  slp_fault_action shape;
  uint8_t fault_used; /* 1: the action in `shape` was applied */
  const char *error;  /* name of the error; NULL: no error */
  int error_status;
  char error_message[1024];
  slp_box_sub *subscription; /* the subscription that the call has opened; NULL: none */
  slp_str error_more;        /* further members of the error as JSON, such as "Item":{...}; .p NULL: none */
} slp_box_call;

/* Defined in box_call.c: */
/* Returns 1 if a stream or a table may have this name. */
int slp_box_name_valid(slp_str name);
uint64_t slp_box_random(slp_box *box);
/* Sets the call's error. Always returns -1. */
int slp_box_fail(slp_box_call *c, const char *code, const char *fmt, ...) SLP_PRINTF(3, 4);
/* Fails the call with the internal error of its service. Always returns -1. */
int slp_box_no_memory(slp_box_call *c);
/* To be called when a request has passed all checks and has not changed anything yet. If the request's DryRun
 * is true, fails the call and returns -1. Otherwise returns 0. */
int slp_box_dry_run(slp_box_call *c);
/* Returns the text of a member whose type the rules have already checked. {NULL, 0}: the member is absent. */
slp_str slp_box_text(slp_box_call *c, const char *member);
/* Returns the integer of a member; `otherwise`: the member is absent. */
int64_t slp_box_int(slp_box_call *c, const char *member, int64_t otherwise);

/* rules.c: the operations, and the check of their input. */
typedef struct slp_box_operation {
  slp_box_service service;
  const char *name;
  /* the name in statistics, because Kinesis and DynamoDB Streams share some operation names */
  const char *label;
  int (*run)(slp_box_call *c);
  const struct slp_box_rule *rules;
  uint8_t rules_n;
} slp_box_operation;
/* Finds an operation. *ret_number gets its number, below SLP_BOX_OPERATIONS. NULL: there is no such
 * operation. */
const slp_box_operation *slp_box_operation_find(slp_box_service service, slp_str name, uint32_t *ret_number);
int slp_box_operation_known(slp_str name); /* returns 1 if any service has this operation */
/* Returns the label of an operation. NULL: there is no operation with this number. */
const char *slp_box_operation_label(uint32_t number);
/* Checks the types and limits of the request's members. -1: the call has failed with SerializationException
 * or ValidationException, in the service's words. */
int slp_box_check_input(slp_box_call *c, const slp_box_operation *op);

/* Defined in stream_find.c: */
/* Finds a stream by its name. Returns NULL if there is none. */
slp_stream *slp_box_find(slp_box *box, slp_str name);
/* Finds a stream by the number that it got at its creation. Returns NULL if the stream was deleted. */
slp_stream *slp_box_find_uid(slp_box *box, uint64_t uid);
/* Finds the stream by StreamName or StreamARN of the request. NULL: there is no such stream, and the call has
 * failed. */
slp_stream *slp_box_stream_of(slp_box_call *c);
/* Finds a shard by its id. NULL: there is no such shard, or it is `gone`. */
slp_box_shard *slp_box_shard_by_id(const slp_stream *s, slp_str id);
/* Returns the open shard that takes records with this hash. NULL: there is none. */
slp_box_shard *slp_box_shard_for(slp_stream *s, slp_u128 hash);
/* Returns the n-th open shard, counted from 0. The stream must have more than n open shards. */
slp_box_shard *slp_box_open_shard(const slp_stream *s, uint32_t n);
uint32_t slp_box_open_shards(const slp_stream *s);
static inline int slp_box_shard_open(const slp_box_shard *sh) { return sh->closed_ms == INT64_MAX; }
const char *slp_box_status_name(slp_box_status status);
/* Write the starting and the ending sequence number that a listing shows. Only closed shards have an ending
 * number. */
void slp_box_shard_start(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]);
void slp_box_shard_end(const slp_box_shard *sh, char out[SLP_BOX_SEQ_TEXT]);
void slp_box_put_arn(slp_box_call *c, const slp_stream *s); /* writes the stream's ARN as a value */
void slp_box_put_hash_range(slp_box_call *c, const slp_box_shard *sh);

/* Defined in stream_shards.c: */
/* Creates an ACTIVE stream without shards. Returns 0 or SLP_ENOMEM. */
int slp_box_stream_new(slp_box *box, int64_t now_ms, slp_str name, slp_stream **ret);
void slp_box_stream_free(slp_box *box, slp_stream *s);
int slp_box_stream_fill(slp_box *box, slp_stream *s, int64_t now_ms, uint32_t shards);
int slp_box_shard_add(slp_box *box, slp_stream *s, int64_t now_ms, slp_u128 from, slp_u128 to,
                      const slp_box_shard *parent, const slp_box_shard *adjacent, slp_box_shard **ret);
/* Begins a change of a stream. The change is carried out after the time of the option change_ms; until then
 * the stream has the status `meanwhile`. */
void slp_box_change_begin(slp_box_call *c, slp_stream *s, slp_box_change change, slp_box_status meanwhile);

/* Defined in stream_life.c: */
void slp_box_settle(slp_box *box, int64_t now_ms); /* carries out the changes of streams that are due */
int slp_box_op_create(slp_box_call *c);
int slp_box_op_delete(slp_box_call *c);
int slp_box_op_strategy(slp_box_call *c);

/* reshard.c: splits and merges shards by the service's rules. */
typedef struct slp_box_refusal {
  const char *code; /* the error; NULL: the change is allowed */
  char message[512];
} slp_box_refusal;
/* Check whether a shard may be split at new_start, and whether two shards may be merged. The order of a and b
 * does not matter. If the change is not allowed, why->code is set. */
void slp_box_may_split(const slp_stream *s, slp_str shard, slp_str new_start, slp_box_refusal *why,
                       slp_box_shard **ret_shard, slp_u128 *ret_at);
void slp_box_may_merge(const slp_stream *s, slp_str a, slp_str b, slp_box_refusal *why, slp_box_shard **ret_a,
                       slp_box_shard **ret_b);
int slp_box_split_at(slp_box *box, slp_stream *s, int64_t now_ms, slp_box_shard *sh, slp_u128 at);
int slp_box_merge_two(slp_box *box, slp_stream *s, int64_t now_ms, slp_box_shard *a, slp_box_shard *b);
/* carries out s->change, whose time s->change_ms has come */
int slp_box_carry_out(slp_box *box, slp_stream *s, int64_t now_ms);

/* Defined in reshard_ops.c: */
int slp_box_op_split(slp_box_call *c);
int slp_box_op_merge(slp_box_call *c);
int slp_box_op_resize(slp_box_call *c);
int slp_box_op_retention_up(slp_box_call *c);
int slp_box_op_retention_down(slp_box_call *c);

/* Defined in describe.c: */
int slp_box_op_describe(slp_box_call *c);
int slp_box_op_summary(slp_box_call *c);
int slp_box_op_streams(slp_box_call *c);
int slp_box_op_limits(slp_box_call *c);
int slp_box_op_account(slp_box_call *c);
int slp_box_op_shards(slp_box_call *c);

/* Defined in rate_window.c: */
/* Returns 1 if the limits leave room for a call in this second. Begins a new second if the last one is over.
 * A limit of 0 is no limit. */
int slp_box_window_open(slp_box_window *w, int64_t now_ms, uint64_t calls_limit, uint64_t bytes_limit);
/* Counts a call and its bytes. If the bytes exceed bytes_limit, the second is prolonged. */
void slp_box_window_take(slp_box_window *w, uint64_t bytes, uint64_t bytes_limit);

/* Defined in records.c: */
void slp_box_records_free(slp_box *box, slp_box_shard *sh);
/* Removes expired records, and closed shards that have no records left. */
void slp_box_sweep(slp_box *box, slp_stream *s, int64_t now_ms);
/* Returns the trim horizon: no older record is kept. */
int64_t slp_box_horizon_ms(const slp_stream *s, int64_t now_ms);
int slp_box_hash_of(slp_box *box, slp_str key, slp_u128 *ret); /* computes the MD5 of the key as a number */
/* Stores one record without checking limits. key.p NULL: the record has no key. */
int slp_box_store(slp_box *box, slp_box_shard *sh, int64_t now_ms, slp_str key, slp_str data,
                  slp_box_seq *ret_seq);

/* A record, stored or synthetic. Valid until the next slp_box_view_get(), or the next change of the shard. */
typedef struct slp_box_view {
  slp_box_seq seq;
  int64_t arrived_ms;
  slp_str key, data; /* key.p NULL: the record has no key */
} slp_box_view;
int slp_box_view_get(slp_box *box, slp_box_shard *sh, uint64_t counter, slp_box_view *ret);
/* Returns when a record arrived, as Unix time in ms. The shard must still have the record. */
int64_t slp_box_arrived_ms(const slp_box_shard *sh, uint64_t counter);
/* Returns the counter after that of the last record that has arrived by now_ms. */
uint64_t slp_box_end(const slp_box_shard *sh, int64_t now_ms);
/* Returns the counter of the first record that arrived at at_ms or later, or slp_box_end() if there is
 * none. */
uint64_t slp_box_first_at(const slp_box_shard *sh, int64_t now_ms, int64_t at_ms);

/* Defined in put_records.c: */
/* Returns the shard for the next record of a stream whose keys do not choose the shard (`spreads`): each open
 * shard gets a record, then the first one again. */
slp_box_shard *slp_box_next_in_turn(const slp_stream *s);
int slp_box_op_put(slp_box_call *c);
int slp_box_op_put_many(slp_box_call *c);

/* Defined in synthetic_record.c: */
/* returns how many records have arrived */
uint64_t slp_synthetic_there(const slp_box_shard *sh, int64_t now_ms);
int64_t slp_synthetic_arrived_ms(const slp_box_shard *sh, uint64_t counter);
void slp_synthetic_payload(const slp_box_shard *sh, uint64_t counter, char *to, size_t n);
/* Fills n bytes at `to` with repetitions of the `period` bytes that lie before `to`. */
void slp_synthetic_repeat(char *to, size_t period, size_t n);
uint64_t slp_synthetic_mix(uint64_t v); /* the output function of splitmix64 */

/* Defined in synthetic.c: */
/* Without a rate, the records of a stream began to arrive this long ago. */
#define SLP_SYNTHETIC_SPREAD_MS (12 * SLP_BOX_HOUR_MS)
/* computes the keys of the shards from the index `from` on */
int slp_synthetic_setup(slp_box *box, slp_stream *s, uint32_t from);
/* Returns 1 if slp_synthetic_write() can write these records: the encodings of all must have the same
 * length. */
int slp_synthetic_alike(const slp_box_shard *sh, uint64_t from, uint64_t n);
/* Writes the records [from, from + n) into the open list of the answer. */
int slp_synthetic_write(slp_box_call *c, slp_box_shard *sh, uint64_t from, uint64_t n);

/* Defined in iterators.c: a mark is what an iterator or a listing token contains, that is, where reading or
 * listing goes on. Clients get it as a signed text that they can't read. The box does not store marks. (Marks
 * of src/README.md are something else.) */
typedef struct slp_box_mark {
  /* 'i': iterator; 't': token of a shard listing; 'k': token of a consumer listing; 'c': iterator of a
   * table's stream */
  uint8_t kind;
  uint8_t filter;  /* 't': the filter of the listing; 'c': how many pages without records are answered
                      first */
  uint16_t reader; /* 'c': a random number that GetShardIterator chooses, so that GetRecords can count
                      different readers */
  uint64_t stream_uid;
  uint32_t shard;   /* 'i' and 'c': the shard's index; 't': the first index of the next page */
  uint64_t counter; /* 'i' and 'c': the next record; 't': the time of the filter; 'k': the uid of the last
                       consumer listed */
  int64_t issued_ms;
} slp_box_mark;
/* appends the mark as a signed text */
int slp_box_mark_write(slp_box *box, const slp_box_mark *m, slp_buf *to);
/* Writes the mark as a member of the answer. Returns 0, or the result of slp_box_no_memory. */
int slp_box_put_mark(slp_box_call *c, const char *member, const slp_box_mark *m);
/* Returns SLP_EBADDATA if the text is no mark of this box and of this kind, SLP_ENOMEM if there is no
 * memory. */
int slp_box_mark_read(slp_box *box, slp_str text, uint8_t kind, slp_box_mark *ret);
void slp_box_when(int64_t ms, char out[64]); /* writes a time in the form that the service uses in messages */
int slp_box_op_iterator(slp_box_call *c);
/* Finds the counter of the first record that a request's position selects. seq.p and `when` are NULL if the
 * request does not have them. */
int slp_box_position(slp_box_call *c, slp_box_shard *sh, slp_str type, slp_str seq, slp_value *when,
                     uint64_t *ret);

/* Defined in registered.c: */
void slp_consumers_free(slp_box *box, slp_stream *s);
uint32_t slp_consumers_count(slp_box *box, slp_stream *s, int64_t now_ms);
slp_box_status slp_consumer_status(const slp_box_consumer *k, int64_t now_ms);
/* Finds a registered consumer by its ARN. NULL: there is no such consumer, and the call has failed. */
slp_box_consumer *slp_consumer_by_arn(slp_box_call *c, slp_str arn, slp_stream **ret_stream);
int slp_consumers_op_register(slp_box_call *c);
int slp_consumers_op_describe(slp_box_call *c);
int slp_consumers_op_list(slp_box_call *c);
int slp_consumers_op_deregister(slp_box_call *c);

/* Defined in subscriptions.c; further functions of that file are in sandbox.h. */
int slp_push_op_subscribe(slp_box_call *c);

/* Defined in subscription_list.c; further functions are in sandbox.h: */
/* called when a record has arrived, or when the shard was closed */
void slp_push_news(slp_box *box, const slp_box_shard *sh);
slp_box_sub *slp_push_of(slp_list *link); /* returns the subscription of a link in box->subs */
void slp_push_end_consumer(slp_box *box, slp_box_consumer *k);
void slp_push_forget_consumer(slp_box *box, slp_box_consumer *k);

/* Defined in get_records.c: */
int slp_box_put_records(slp_box_call *c, slp_box_shard *sh, uint64_t from, uint64_t n,
                        slp_fault_action shape);
void slp_box_put_children(slp_box_call *c, const slp_box_shard *sh);
/* Returns MillisBehindLatest for a page with the records [from, next). */
int64_t slp_box_behind_ms(const slp_box_shard *sh, uint64_t from, uint64_t next, uint64_t end,
                          int64_t now_ms);
/* Returns how many records, beginning with `from`, fit into one page: at least one, even if it is too
 * large. */
uint64_t slp_box_page_size(const slp_box_shard *sh, uint64_t from, uint64_t most, uint64_t bytes_max,
                           uint64_t *ret_bytes);
int slp_box_op_get(slp_box_call *c);
/* Returns 1 if the action would change the page that this GetRecords call is about to get. */
int slp_box_shape_fits(slp_box_call *c, slp_fault_action action);

/* Defined in faults.c: */
void slp_fault_free(slp_box *box, slp_fault *f);
void slp_faults_free(slp_box *box, slp_list *list); /* frees all lines of a list */
void slp_box_faults_clear(slp_box *box);
/* Sets c->fault and c->shape from the first line of the script that applies to this call. If no line applies,
 * c->fault is NULL. shard.p may be NULL. */
void slp_box_fault_find(slp_box_call *c, slp_str shard);
/* If the fault of the call replaces the operation, carries the fault out and returns 1: the answer, or the
 * call's error, is then complete. Otherwise returns 0. */
int slp_box_fault_before(slp_box_call *c, slp_box_answer *answer);
/* counts one use of the line, and removes the line after its last use */
void slp_box_fault_use(slp_box *box, slp_fault *f);
/* returns 1 if a fault wants the operation carried out twice */
int slp_box_fault_twice(const slp_box_call *c);
/* Carries out a fault that changes the finished answer, and counts the use of its line. */
void slp_box_fault_after(slp_box_call *c, slp_box_answer *answer);

/* Defined in auth.c: */
/* returns a new object that checks signatures; NULL: no memory */
slp_box_auth *slp_box_auth_new(slp_mem *mem, const sloop_sandbox_opts_t *o);
void slp_box_auth_free(slp_box_auth *a);
/* Checks the signature of a request. Returns 0, or -1 if the call has failed. */
int slp_box_auth_check(slp_box_auth *a, slp_box_call *c, const slp_box_request *rq);
/* Writes the region of the request's credential scope, or us-east-1 if the request has no scope. */
void slp_box_region_of(slp_str authorization, char out[32]);

#endif
