/* sloop.h - consume Amazon Kinesis Data Streams and DynamoDB Streams inside a libuv loop.
 *
 * Rules that hold for every function here:
 *  - The least program calls sloop_opts_init(), sets stream and on_batch, calls sloop_open() and
 *    sloop_start(), and runs the loop. on_batch gives each batch back by sloop_batch_done(). At the end it
 *    calls sloop_stop(), and in the callback of that function sloop_close(). test/contract/embed/print.c is
 *    such a program.
 *  - Call these functions only on the thread that runs the loop given to sloop_open(). On another thread only
 *    these three may be called, on a batch that is out: sloop_batch_count(), sloop_batch_at() and
 *    sloop_batch_behind_ms(). For everything else that thread calls uv_async_send(): the callback of the
 *    uv_async_t runs on the loop's thread and may call every function. Several threads may each have a loop
 *    and consumers of their own. The library calls curl_global_init() itself.
 *  - Functions that concern no consumer may be called on any thread, also before there is a loop: those that
 *    return a name, a text or a version, those that set defaults (*_init), and sloop_opts_set().
 *  - No function blocks, and none runs one of your callbacks before it returns. Two exceptions:
 *    sloop_shard_stats_each() calls `each`, and every function may call alloc of the options.
 *  - Every function may be called from inside any callback. Two exceptions: `each` of
 *    sloop_shard_stats_each() may call nothing of its consumer, and alloc nothing of the library.
 *  - Do not run the loop inside a callback, which libuv forbids. A program that does so gets no callback of
 *    that consumer, or of one joined to it, until that callback has returned.
 *  - The child of a fork() must not use what its parent has opened.
 *  - Your program has to ignore SIGPIPE: signal(SIGPIPE, SIG_IGN). libuv (the port of metrics, the sandbox)
 *    and OpenSSL write to a peer without looking whether it has left, and the signal would end the process.
 *    Ignore SIGXFSZ too if leases are in a file (store "sqlite:FILE") and the size of files is limited
 *    (ulimit -f). Signals belong to the program, so the library does not touch them.
 *  - An int result of 0 is success; a negative one is SLOOP_E* or libuv's UV_E*. Any function may also return
 *    UV_ENOMEM. If a function that takes a callback returns 0, the callback is called once, on a later turn
 *    of the loop. If it returns an error, the callback is never called. One exception: sloop_close() drops
 *    the callback of a pending sloop_list().
 *  - After sloop_close() a consumer may still be given to any function, until the callback of sloop_close()
 *    has returned. Functions that return an int then return SLOOP_ESTATE. sloop_arg() and sloop_loop() still
 *    answer, sloop_worker() returns "", sloop_shard_stats_each() calls nothing, and sloop_stats_get() gives
 *    zeros as soon as the consumer's parts are freed. If sloop_close() was given no callback, the consumer
 *    must not be used once sloop_close() has returned.
 *  - Strings and structs that you pass are copied, and what a callback is given lives until the callback
 *    returns, unless a comment says otherwise. How long the result of a function lives is said at that
 *    function.
 *  - _ms is milliseconds, _us microseconds, _bytes bytes. _at_ms is Unix time in milliseconds, and so are
 *    since_ms and until_ms of sloop_loss_t and refused_until_ms of sloop_lease_t (sloop_admin.h).
 *  - why, why_size: room for one line that says why a function failed. The line is cut to fit, NUL-ended, and
 *    safe to print: control characters and invalid UTF-8 in options that it quotes become '?'. 160 bytes
 *    always suffice. why may be NULL.
 *  - Types end in _t: handles, structs and enums. Callback types end in _cb.
 *  - Structs get new members at their end in later versions, and a program that was compiled before goes on
 *    working. A struct that you fill has its size first and an init macro, which sets the size and every
 *    default: call that first. You also allocate sloop_stats_t, and pass its size to sloop_stats_get(). Every
 *    other struct is allocated by the library: read it where it is, and never copy it. sloop_position_t,
 *    sloop_str_t and sloop_shard_lease_t (sloop_admin.h) never grow and have no size.
 *  - Enums get new constants in later versions: a switch over an enum that the library gives you needs a
 *    default.
 *  - Do not throw or longjmp through these functions. */
#ifndef SLOOP_H
#define SLOOP_H
#include <stddef.h>
#include <stdint.h>
struct uv_loop_s; /* uv_loop_t is struct uv_loop_s; <uv.h> is not needed to include this file */
#ifdef __cplusplus
extern "C" {
#endif
#ifndef SLOOP_EXTERN
#define SLOOP_EXTERN __attribute__((visibility("default")))
#endif
#ifndef SLOOP_DEPRECATED
#define SLOOP_DEPRECATED __attribute__((deprecated))
#endif
#define SLOOP_VERSION_NUM 0x000100 /* 0xMMmmpp */

typedef struct sloop_s sloop_t;             /* one consumer of one stream */
typedef struct sloop_batch_s sloop_batch_t; /* records, yours until sloop_batch_done() */
/* Structs that callbacks of the options are given. Each is declared in the section of its subject. */
struct sloop_shard_event_s;
struct sloop_lease_event_s;
struct sloop_loss_s;
struct sloop_stats_s;

/* ---- errors -------------------------------------------------------------------------------------- */
/* All error codes of the library. Their numbers never change, and differ from those of libuv, whose codes are
 * used as well. on_error of the options gets what fails while a consumer runs. */

/* The comment at a function says which of these codes it returns. on_error may get all of them except EOWNED
 * and ENOWORKER, and also UV_E* of the network. Only callbacks of sloop_admin.h get EOWNED and ENOWORKER.
 * ETOOBIG: an answer is larger than the room for it, or a token would be larger than 64 MiB. ESTATE in
 * on_error: a record was given back retry_max times. EBEHIND comes once when two answers leave a shard's lag above
 * 80 % of the time for which the stream keeps records, and again only after the lag was below 70 %. EBEHIND is not
 * fatal. */
#define SLOOP_ERRORS(X)                                                                                \
  X(EAUTH, -5001, "credentials missing, expired or refused")                                           \
  X(EACCESS, -5002, "the service says this identity may not do that")                                  \
  X(ENOSTREAM, -5003, "no such stream")                                                                \
  X(ETHROTTLE, -5004, "the service asked us to slow down")                                             \
  X(EREMOTE, -5005, "the service failed or answered nonsense")                                         \
  X(EPROTO, -5006, "the answer could not be understood")                                               \
  X(ETRIMMED, -5007, "the position is older than what the stream still keeps")                         \
  X(ETOOBIG, -5009, "an answer or a token is larger than it may be")                                   \
  X(ESTATE, -5010, "not allowed in this state")                                                        \
  X(EOPTION, -5011, "an option is missing or out of range")                                            \
  X(ETLS, -5012, "the server's certificate or TLS handshake was not accepted")                         \
  X(EREFUSED, -5013, "the service says the request is wrong")                                          \
  X(ENOSHARD, -5014, "no such shard in this consumer")                                                 \
  X(ESTREAMBUSY, -5015, "the stream or its consumer is being created, deleted or changed")             \
  X(ETOKEN, -5016, "the token is damaged, or belongs to another stream")                               \
  X(EBEHIND, -5017, "reading is so far behind that records may be trimmed unread")                     \
  X(ELEASE, -5018, "the leases can't be kept: the table, its rows or this worker's id are not usable") \
  X(EOWNED, -5019, "a living worker owns the lease")                                                   \
  X(ENOWORKER, -5020, "no such worker in this application")                                            \
  X(EPOSITION, -5021, "the service refuses the position: it is no place in this shard")                \
  X(EPROXY, -5022, "the proxy on the way to the service refuses")
enum {
#define X(name, num, text) SLOOP_##name = num,
  SLOOP_ERRORS(X)
#undef X
      SLOOP_EMIN_ = -5999 /* no code of the library is less */
};
/* Returns the name of a code, without its prefix: "ETHROTTLE". Knows libuv's codes too; 0 is "OK", any
 * other number "UNKNOWN". Never NULL; static. */
SLOOP_EXTERN const char *sloop_err_name(int err);
/* Returns a sentence about the code: "success" for 0, "unknown error" for a number that is no error code.
 * Never NULL; static. */
SLOOP_EXTERN const char *sloop_strerror(int err);
/* Until the first listing of the shards has come, an error that waiting can't cure is fatal: no such stream,
 * no credentials, no right, a refused request, a start that makes no sense. With leases the same holds for
 * the lease table until this worker has joined. Afterwards calls are tried again for ever, and two errors are
 * fatal. SLOOP_ENOSTREAM: the stream was deleted and made again, or (DynamoDB) the table has a new stream
 * and, in a consumer without leases, the old one is read to its end. SLOOP_ELEASE: another living worker has
 * this worker's id, or this worker's row can't be used. */
typedef struct sloop_error_s {
  int code;               /* SLOOP_E* or UV_E* */
  int fatal;              /* 1: the consumer has stopped by itself: nothing more is fetched or handed over,
                             and pending callbacks of sloop_stop(), sloop_seek(), sloop_list(),
                             sloop_checkpoint() and sloop_checkpoint_at() get this code, after on_error. Give
                             back the batches that are out and call sloop_close(). sloop_stop() may be called
                             before that, unless it was called already. Leases that the consumer had are not
                             released: other workers take them when the leases have run out */
  int http_status;        /* 0: no answer arrived */
  uint32_t attempt;       /* which try has failed. 1: the first one, 2: the first retry */
  uint64_t retry_in_ms;   /* UINT64_MAX: this call is not retried; see fatal */
  const char *aws_code;   /* e.g. "ExpiredIteratorException", or "" */
  const char *request_id; /* or "" */
  const char *shard;      /* or "" when the error concerns the whole stream */
  const char *message;    /* one line, safe to print */
} sloop_error_t;

/* ---- records and batches ------------------------------------------------------------------------- */
/* on_batch of the options gets each batch. The records of a batch, and all that they point at, are yours
 * until sloop_batch_done(). That function gives the batch back and says which of its records are
 * acknowledged. */

/* Bytes, not ended by a NUL; never grows. */
typedef struct sloop_str_s {
  const char *base; /* never NULL */
  size_t len;
} sloop_str_t;

#define SLOOP_REC_LATE 1u        /* a record that arrived later was handed over earlier (SLOOP_ORDER_TIME) */
#define SLOOP_REC_RAW 2u         /* the base64, or the aggregate, can't be decoded; data is as it came */
#define SLOOP_REC_REDELIVERED 4u /* was handed over before and given back */
#define SLOOP_REC_FOREIGN 8u     /* part of an aggregate whose key hashes into another shard's range */
#define SLOOP_REC_KEYLESS 16u    /* has no partition key, as records of AUTO streams may; key is empty */

typedef struct sloop_record_s {
  const char *stream; /* name; NUL-ended; lives as long as the batch */
  const char *shard;  /* shard id; NUL-ended; lives as long as the batch */
  sloop_str_t seq;    /* sequence number, decimal text; copy it for sloop_position_t.seq, which needs a NUL */
  uint64_t sub;       /* index inside an aggregate, else 0 */
  sloop_str_t key;    /* partition key; may hold any byte; see SLOOP_REC_KEYLESS. DynamoDB: the JSON of
                         "Keys" */
  sloop_str_t data;   /* payload bytes. DynamoDB: the JSON of the change ("dynamodb"), untouched */
  int64_t arrived_at_ms; /* when the service took the record, by the record's timestamp; -1: it has none */
  uint64_t epoch;        /* of the lease under which it was read; each later owner has a greater one. 0
                            without leases */
  uint32_t attempt;      /* 1 for the first time this record is handed over */
  uint32_t flags;        /* SLOOP_REC_* */
  sloop_str_t event; /* DynamoDB: INSERT, MODIFY, REMOVE. Kinesis: empty, as are event_id, user and whole */
  sloop_str_t event_id; /* DynamoDB: eventID */
  sloop_str_t user;     /* DynamoDB: the JSON of "userIdentity", when the change has one */
  sloop_str_t whole;    /* DynamoDB: the JSON of the whole record, untouched */
} sloop_record_t;

/* Returns how many records a batch has: 1 or more. All are of one consumer, and records of the same shard are
 * in the shard's order. With SLOOP_ORDER_TIME a batch may have records of any shards of the consumer, with
 * SLOOP_ORDER_SHARD of one shard only. Everything that a batch points at lives until sloop_batch_done(), even
 * after sloop_close(). */
SLOOP_EXTERN size_t sloop_batch_count(const sloop_batch_t *b);
/* Returns record number index, from 0. An index that is not below the count ends the process, here and in the
 * functions below. */
SLOOP_EXTERN const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t index);
/* Returns how far the batch's last record was behind the tip of its shard when it was read, in ms; -1:
 * unknown. */
SLOOP_EXTERN int64_t sloop_batch_behind_ms(const sloop_batch_t *b);
/* Returns whether acknowledging this record still has an effect. If you hold batches for long, ask right
 * before a step that can't be undone. Returns 1 if it has an effect. Returns 0 if it has none at this moment:
 * the lease deadline has passed, so this worker can't prove that it lives, and another worker may soon take
 * the shard; ask again later. Returns -1 if it will never have an effect again: the lease is lost or was
 * given up, or the consumer was moved or closed, or has leases and was ended by a fatal error. Without leases
 * the function returns 1 until the consumer is moved or closed. It looks at the clock, not at the lease
 * table. */
SLOOP_EXTERN int sloop_batch_owned(sloop_batch_t *b, size_t index);
/* Sets a pointer of yours that the batch carries until it is given back. The library never looks at it or
 * frees it. NULL until it is set. */
SLOOP_EXTERN void sloop_batch_set_data(sloop_batch_t *b, void *data);
SLOOP_EXTERN void *sloop_batch_data(const sloop_batch_t *b);
/* Acknowledges one record: you are finished with it. Records may be acknowledged in any order, and each as
 * often as you like. This takes effect at once: a checkpoint may pass the record while you still hold the
 * batch. */
SLOOP_EXTERN void sloop_batch_ack(sloop_batch_t *b, size_t index);
/* Gives the batch back. Its first `acked` records, and those marked by sloop_batch_ack(), are acknowledged.
 * The others are handed over again, flagged SLOOP_REC_REDELIVERED: after 100 ms, doubled each time, at most
 * 30 s. Call this exactly once for each batch, now or later, in any order of the batches. After sloop_close()
 * it only frees the batch. b is gone when this returns. An acked above the count of records ends the
 * process. */
SLOOP_EXTERN void sloop_batch_done(sloop_batch_t *b, size_t acked);

/* ---- positions ----------------------------------------------------------------------------------- */
/* A position says where reading starts (start of the options), where a consumer moves to (sloop_seek()), or
 * where a lease stands. The positions of all shards together are a token: sloop_token(). */

typedef enum {
  SLOOP_LATEST = 1, /* what arrives from now on. If a call fails before the first record has come, reading
                       starts again at a time: up to a second plus the duration of a call before the original
                       start */
  SLOOP_OLDEST,     /* everything the stream still keeps */
  SLOOP_AT_TIME,    /* what arrived at at_ms or later */
  SLOOP_AT_SEQ,     /* the record with seq and sub in shard is the first that is read. As start, and in
                       sloop_seek(), only that shard and its descendants are read */
  SLOOP_AT_TOKEN,   /* token holds the positions of all shards. The token is from sloop_token(), or from
                       bloop, a Python library with the same format */
  SLOOP_AFTER_SEQ,  /* behind the record with seq and sub in shard. Occurs in positions that you are
                       given. Only sloop_checkpoint_at() accepts it */
  SLOOP_AT_END      /* the shard is read to its end. Occurs in positions that you are given. Only
                       sloop_checkpoint_at() accepts it */
} sloop_position_kind_t;
/* A place in a stream or in a shard: where to start, where to seek, where a lease stands. Other structs
 * contain it by value, and therefore it never grows. Members that the kind does not use are ignored in a
 * position that you pass, and are 0 or NULL in one that you are given. */
typedef struct sloop_position_s {
  sloop_position_kind_t kind; /* says which of the other members are used */
  int64_t at_ms;     /* AT_TIME. SLOOP_EOPTION: it is negative, or from 10^9 to 10^11 - 1, which looks like
                        Unix seconds */
  const char *shard; /* AT_SEQ, AFTER_SEQ: shard id. As start, and in sloop_seek(), the end of an id is
                        enough */
  const char *seq;   /* AT_SEQ, AFTER_SEQ: sequence number, decimal, NUL-ended */
  uint64_t sub;      /* AT_SEQ, AFTER_SEQ: index inside an aggregate, else 0; at most 4294967295 */
  const char *token; /* AT_TOKEN: NUL-ended JSON */
} sloop_position_t;
/* Sets kind, and 0 or NULL in all other members. */
SLOOP_EXTERN void sloop_position_init(sloop_position_t *p, sloop_position_kind_t kind);

/* ---- options ------------------------------------------------------------------------------------- */
/* The options of sloop_open(), callbacks included. The types that a callback is given are declared in the
 * section of their subject: events, statistics, leases. */

/* Your answer to a creds callback; copied. */
typedef struct sloop_creds_s {
  size_t size;               /* set by sloop_creds_init() */
  const char *access_key;    /* required */
  const char *secret_key;    /* required */
  const char *session_token; /* or NULL */
  int64_t expires_at_ms;     /* -1: never. You are asked for new credentials up to 15 minutes before that
                                time */
} sloop_creds_t;
#define sloop_creds_init(c) sloop_creds_init_sized((c), sizeof *(c))
SLOOP_EXTERN void sloop_creds_init_sized(sloop_creds_t *c, size_t size);
typedef struct sloop_creds_req_s sloop_creds_req_t; /* yours until sloop_creds_done() */
/* Answers a creds callback. Call this exactly once for each request, at once or later, also after
 * sloop_close(). Pass status 0 and creds, or a negative status (SLOOP_E* or UV_E*) and a sentence that says
 * why (may be NULL). on_error then gets SLOOP_EAUTH with that sentence. */
SLOOP_EXTERN void sloop_creds_done(sloop_creds_req_t *rq, int status, const sloop_creds_t *creds,
                                   const char *why);

/* The first level is the worst. */
typedef enum { SLOOP_LOG_ERROR = 1, SLOOP_LOG_WARN, SLOOP_LOG_INFO, SLOOP_LOG_DEBUG } sloop_log_level_t;

typedef enum {
  SLOOP_AGGREGATES_EXPAND = 1, /* an aggregate of the Kinesis Producer Library becomes its records, with
                                  the same seq and sub 0, 1, ... */
  SLOOP_AGGREGATES_KEEP        /* an aggregate is handed over as one record */
} sloop_aggregates_t;
typedef enum {
  SLOOP_ORDER_TIME = 1, /* records of all shards by arrival time; the order of each shard is kept */
  SLOOP_ORDER_SHARD     /* the order of each shard is kept, and no shard waits for another */
} sloop_order_t;
typedef enum {
  SLOOP_WIRE_AUTO = 1, /* CBOR if the endpoint speaks it, else JSON */
  SLOOP_WIRE_CBOR,
  SLOOP_WIRE_JSON
} sloop_wire_t;
/* How records come. Push is the enhanced fan-out of Kinesis: the service sends records as they arrive,
 * with throughput that no other reader shares. AWS bills it by shard-hour and gigabyte. */
typedef enum {
  SLOOP_RETRIEVAL_POLL = 1, /* by GetRecords calls */
  SLOOP_RETRIEVAL_PUSH,     /* pushed, or the consumer fails. At the start: SLOOP_EACCESS without the right to
                               describe or register the registered consumer; SLOOP_EREFUSED if the stream has
                               no room for another registered consumer; SLOOP_ESTREAMBUSY if the registered
                               consumer was not ACTIVE within a minute, because it is being registered or
                               deregistered. After it was ACTIVE, losing it is not fatal: on_error is called,
                               and push is tried again */
  SLOOP_RETRIEVAL_AUTO /* pushed while the registered consumer is there and its subscriptions bring events,
                          else polled. on_error is called when the stream is polled instead. Push is then
                          tried again after a minute, and less and less often, down to once an hour. The log
                          says whether records are pushed or polled, and why */
} sloop_retrieval_t;
/* What to do with a shard whose position was trimmed: the stream no longer keeps the records after it. */
typedef enum {
  SLOOP_TRIMMED_STOP = 1, /* the shard stops, and its children are not read */
  SLOOP_TRIMMED_CONTINUE  /* the shard is read from its oldest record on, after on_loss */
} sloop_trimmed_t;
/* What to do when the first unacknowledged record of a shard was given back retry_max times. */
typedef enum {
  SLOOP_RETRY_REDELIVER = 1, /* the record is handed over again, for ever. "again" in sloop_opts_set() */
  SLOOP_RETRY_STOP,          /* its shard is given up; with leases another worker may try. "stop" */
  SLOOP_RETRY_PARK,          /* with leases only: nobody reads the shard until sloop_admin_release().
                                "park" */
  SLOOP_RETRY_SKIP           /* on_dead_letter gets the record, which then counts as acknowledged. "skip" */
} sloop_retry_t;

/* Which positions are written to the lease table. */
typedef enum {
  SLOOP_CHECKPOINTS_ACKED = 1, /* the positions up to which all is acknowledged, without a call of yours: see
                                  checkpoint_ms */
  SLOOP_CHECKPOINTS_ASKED      /* those that you pass to sloop_checkpoint_at(), and no others. Acknowledging
                                  only frees memory. A shard that was read to its end does not end before you
                                  name its end */
} sloop_checkpoints_t;

/* The comment behind a member begins with its default. A number out of its range makes sloop_open() fail, and
 * options can't be changed afterwards. The struct and its texts may be freed when sloop_open() has returned;
 * what join, alloc_ctx and arg point to is not copied. */
typedef struct sloop_opts_s {
  size_t size; /* set by sloop_opts_init() */
  /* The stream, and how it is reached. */
  const char *stream;     /* required. Kinesis: name or ARN. DynamoDB: "dynamodb:TABLE", the ARN of a table
                             or of one of its streams */
  const char *region;     /* NULL: the ARN's, AWS_REGION, AWS_DEFAULT_REGION, the profile's */
  const char *endpoint;   /* NULL: AWS_ENDPOINT_URL_KINESIS (_DYNAMODB, _DYNAMODB_STREAMS),
                             AWS_ENDPOINT_URL, the profile's, the region's. Else a URL */
  const char *profile;    /* NULL: AWS_PROFILE or "default" */
  const char *ca_bundle;  /* a file of certificates. NULL: AWS_CA_BUNDLE, SSL_CERT_FILE or the system's */
  const char *user_agent; /* NULL: "sloop/VERSION" */
  sloop_t *join; /* NULL. Else a consumer that was neither started nor closed yet (SLOOP_EOPTION: it was).
                    That consumer's loop is used, whatever loop sloop_open() is given. Both consumers share
                    connections, credentials, memory and the order by time. The following options are then
                    those of the first consumer, and what is set here is ignored: region, endpoint, profile,
                    ca_bundle, user_agent, wire, in_flight_max, buffered_bytes_max, order, order_wait_ms,
                    batches_out_max, batch_records_max, batch_bytes_max, alloc, alloc_ctx, store_endpoint, and
                    creds: the first consumer's is called, or after its close that of another one. Joined
                    consumers may be closed in any order */
  /* The stream. */
  sloop_position_t start;    /* SLOOP_LATEST. A kind up to SLOOP_AT_TOKEN. With app: where the application
                                begins when it is new, by SLOOP_LATEST, SLOOP_OLDEST or SLOOP_AT_TIME (not
                                with schema "kinsumer") */
  const char *const *shards; /* NULL: all. Else only shards whose id ends with one of these; not with app */
  size_t shards_n;           /* 0. How many entries shards has */
  sloop_aggregates_t aggregates; /* SLOOP_AGGREGATES_EXPAND */
  sloop_trimmed_t on_trimmed;    /* SLOOP_TRIMMED_CONTINUE */
  /* How it is read. */
  sloop_wire_t wire;           /* SLOOP_WIRE_AUTO */
  uint32_t poll_ms;            /* 1000. Time between two calls at a shard's tip; a shard whose records
                                  have just been read to the tip for the first time is asked again after
                                  200. The service's limit is 5 calls a second for each shard, shared by
                                  all readers, so below 200 is pointless even for a sole reader. From 1 to
                                  3600000 */
  uint32_t list_ms;            /* 60000. Time between two listings of the shards. In a fleet one worker
                                  lists them for all and then reads the lease table; there the interval is
                                  at least 6 ms for each shard, and with schema "kinsumer" at most lease_ms
                                  / 5. From 1000 to 86400000 */
  uint32_t fetch_records_max;  /* 10000. Records asked for in one call, of which a shard's first asks for 8.
                                  DynamoDB Streams give 1000 at most. From 1 to 10000 */
  uint32_t in_flight_max;      /* 128. Calls at once. From 1 to 4096 */
  uint64_t buffered_bytes_max; /* 64 MiB. Bytes that are fetched and not given back; one page may exceed
                                  it. Only as much is used as a round trip needs. From 65536 */
  uint32_t buffered_records_per_shard_max; /* 0: no limit. Records of one shard that are fetched and not
                                    acknowledged. A shard that has so many is not asked for more; the
                                    aggregates of one page may exceed the limit */
  /* How it is handed over. */
  sloop_order_t order;        /* SLOOP_ORDER_TIME */
  uint32_t order_wait_ms;     /* 1000. How long a shard that fails, or is silent at its tip, may hold the
                                 others back; 0: never, UINT32_MAX: for ever. A shard that is silent while its
                                 records are pushed: at most 250, and less once it is known how much the
                                 delays of records differ; see sloop(7) */
  uint32_t batches_out_max;   /* 2. Batches that are out at once: in all (SLOOP_ORDER_TIME), or of each
                                 shard (SLOOP_ORDER_SHARD). From 1 to 1000000 */
  uint32_t batch_records_max; /* 1000. Records in a batch. From 1 to 1000000 */
  uint32_t batch_bytes_max;   /* 1 MiB. Payload of a batch; a larger record goes alone. From 1 */
  uint32_t retry_max; /* 10. on_retry applies when a record was given back this many times. From 1 to 250 */
  sloop_retry_t on_retry; /* SLOOP_RETRY_REDELIVER */
  /* Memory, logs, statistics. */
  void *(*alloc)(void *ctx, void *p, size_t was, size_t want); /* NULL: libc. Else returns a block of want
                                    bytes, aligned as by malloc(), with the contents of p, which has `was`
                                    bytes (p NULL: 0). Returns NULL if there is no memory; p then stays.
                                    want 0 frees p. Called on the loop's thread only, until the callback of
                                    sloop_close() has returned, of all joined consumers, and their last batch
                                    and request for credentials are given back. libuv, libcurl, OpenSSL and
                                    what runs on other threads use libc */
  void *alloc_ctx;                                             /* NULL. Handed to alloc */
  sloop_log_level_t log_level; /* SLOOP_LOG_WARN. on_log gets lines of this level and of worse ones */
  uint32_t stats_ms;           /* 0: on_stats is never called. Else the time between its calls */
  /* Callbacks. All but on_batch may be NULL. */
  void *arg;                                               /* NULL. Handed to every callback below */
  void (*on_batch)(sloop_t *, sloop_batch_t *, void *arg); /* required. The batch is yours until
                                    sloop_batch_done(). on_batch is called only when no other callback is due,
                                    so on_loss comes before the records behind the gap */
  void (*on_shard)(sloop_t *, const struct sloop_shard_event_s *, void *arg); /* NULL. An event of a shard */
  void (*on_tip)(sloop_t *, void *arg); /* NULL. Every shard is at its tip, and nothing is left to hand over
                                    or to be given back. Called each time this state is reached, but not while
                                    a shard has ended and its children are not listed yet. With leases, this
                                    concerns the shards that this worker reads, which must be at least one */
  void (*on_loss)(sloop_t *, const struct sloop_loss_s *,
                  void *arg);                                    /* NULL. Records can't be read any more */
  void (*on_error)(sloop_t *, const sloop_error_t *, void *arg); /* NULL. Something failed: it is tried again,
                                    or is fatal. If 1024 callbacks wait, the oldest log lines and errors that
                                    are not fatal are dropped */
  void (*on_stats)(sloop_t *, const struct sloop_stats_s *, void *arg);      /* NULL. See stats_ms */
  void (*on_log)(sloop_t *, sloop_log_level_t, const char *line, void *arg); /* NULL. line: NUL-ended,
                                    without a line feed, safe to print, at most 511 bytes */
  void (*creds)(sloop_t *, sloop_creds_req_t *, void *arg); /* NULL: the chain that the AWS tools use. Else
                                    asks you for credentials, one request at a time: answer by
                                    sloop_creds_done(). Calls wait for the answer, unless they can be
                                    signed by the last credentials */
  void (*on_dead_letter)(sloop_t *, const sloop_record_t *, void *arg); /* NULL. SLOOP_RETRY_SKIP needs it.
                                    The record and its texts live until the callback returns, and the
                                    record is acknowledged then */
  /* Leases: workers of one application share a stream's shards. All of these need app. */
  const char *app;            /* NULL: no leases, and every shard is read. Else the application's name, 1
                                 to 200 bytes without spaces and slashes. Each shard is read by one of its
                                 workers at a time, from where the last one left off */
  const char *worker;         /* NULL: HOST-PID-RANDOM. Else this worker's id, unique in its application: 1
                                 to 64 bytes without spaces and slashes, and not ending in a dot */
  const char *store;          /* NULL: "dynamodb". Where the leases are: "dynamodb", "dynamodb:TABLE",
                                 "sqlite:FILE" (shared by processes of one machine), "memory" (shared by
                                 joined consumers). TABLE is made if it does not exist; its default is
                                 "sloop", and with other schemas the value of app */
  const char *store_endpoint; /* NULL: as endpoint. Else the URL of the DynamoDB that has the lease table */
  const char *schema;         /* NULL: "sloop". How the table is laid out: "sloop", "kcl" (Amazon KCL 2 and
                                 3), "vmware-go-kcl" (and -v2), "kinsumer", "motorway", "kcl-rb". With the
                                 last four an application has one stream. "kinsumer" has three tables:
                                 TABLE_checkpoints, TABLE_clients, TABLE_metadata */
  uint32_t lease_ms;          /* 0: 10000, with schema "kinsumer" 300000. A worker that is silent for this
                                 time is dead. Callbacks that hold the loop for 0.43 of this time may suspend
                                 this worker; for 0.63 of it, they may cost this worker its leases. With
                                 "kinsumer" lease_ms must be five times the fleet's shardCheckFrequency. From
                                 1000 to 3600000 */
  uint32_t checkpoint_ms;     /* 5000. Time between two writes of a position that moves, longer while the
                                 table throttles. 0: written only by sloop_checkpoint(), at a handover and
                                 at a stop. At most 3600000 */
  uint32_t handover_ms; /* 30000. How long a handover waits for batches that you hold. From 1 to 3600000 */
  uint32_t stall_ms;    /* 0: never. A shard goes to another worker if, for this time, it could not be read,
                           or had records to acknowledge and made no progress. Time in which the shard is
                           paused, or waits for another shard or a joined consumer in the order by time, does
                           not count */
  uint32_t weight;      /* 1. This worker's share of the shards, in proportion to the weights of the others.
                           From 1 to 1000 */
  void (*on_lease)(sloop_t *, const struct sloop_lease_event_s *,
                   void *arg); /* NULL. An event of a lease or of
                                  this worker */
  const char *kcl_coordinator; /* NULL: APP-CoordinatorState. With schema "kcl": the coordinator's table,
                                  which KCL 3.0 to 3.4 has beside the leases */
  const char *kcl_metrics;     /* NULL: APP-WorkerMetricStats. With schema "kcl": the table of the workers'
                                  metrics */
  /* Enhanced fan-out. */
  sloop_retrieval_t retrieval;     /* SLOOP_RETRIEVAL_POLL */
  const char *push_consumer;       /* NULL: app; without app SLOOP_RETRIEVAL_PUSH and _AUTO are SLOOP_EOPTION.
                                      The name of the registered consumer to read as: it is registered if it
                                      does not exist, and never deregistered. Or its ARN, also of another
                                      account: then it is neither described nor registered */
  sloop_checkpoints_t checkpoints; /* SLOOP_CHECKPOINTS_ACKED. SLOOP_CHECKPOINTS_ASKED needs app and schema
                                      "sloop" or "kcl" */
  uint32_t unready_ms; /* 60000. /ready of the metrics answers 503 once, for this time, a shard has failed, or
                          records of it have waited without progress; UINT32_MAX: never for these reasons.
                          From 1 */
} sloop_opts_t;
#define sloop_opts_init(o) sloop_opts_init_sized((o), sizeof *(o))
SLOOP_EXTERN void sloop_opts_init_sized(sloop_opts_t *o, size_t size);
/* Sets an option by its name, for programs that read options from a file or are written in another language.
 * The value is a text, a number ("max": the most that is allowed), or an enum: the last word of its constants
 * in lower case ("acked"); for on_retry see sloop_retry_t. start is "latest" or "oldest". A text is not
 * copied: it must live until sloop_open() has returned. There are no names for join, shards, the rest of
 * start, alloc, alloc_ctx, arg and callbacks. Returns SLOOP_EOPTION, and leaves o as it was, if there is no
 * such option, or if the value is not allowed: why says what it may be. */
SLOOP_EXTERN int sloop_opts_set(sloop_opts_t *o, const char *name, const char *value, char *why,
                                size_t why_size);

/* ---- the life of a consumer ---------------------------------------------------------------------- */
/* Open, start, stop, close. In between a consumer can be paused, moved, asked for its token, and asked for
 * the shards of its stream. */

/* Called when an operation, such as a stop, is over. status is 0, or the code of its failure; arg is what was
 * passed with this callback. */
typedef void (*sloop_cb)(sloop_t *, int status, void *arg);
/* Opens a consumer: checks the options and allocates, without any I/O. Then come sloop_start(), sloop_stop()
 * and sloop_close(). sloop_close() is allowed at any time. On failure *out is NULL, and why says the reason,
 * such as which option was wrong. SLOOP_EOPTION and SLOOP_ETOKEN leave nothing on the loop; after another
 * failure the loop has to run once before uv_loop_close(). Returns SLOOP_EOPTION; SLOOP_ETOKEN: start.token
 * is damaged; UV_EMFILE: no file descriptor is free; UV_EAGAIN: the four threads of libuv's pool can't be
 * made. */
SLOOP_EXTERN int sloop_open(sloop_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why,
                            size_t why_size);
/* Begins to read. on_error gets what fails from then on. Returns SLOOP_ESTATE: started before. */
SLOOP_EXTERN int sloop_start(sloop_t *s);
/* Stops in an orderly way: fetches nothing more, drops what was not handed over, and waits for the batches
 * that you hold. With leases it then writes the positions and releases the shards to the other workers. cb
 * (may be NULL) gets 0, or UV_ETIMEDOUT if limit_ms passed before that was done, or UV_ECANCELED if the
 * consumer was closed meanwhile, or the code of a fatal error that came meanwhile. Metrics for CloudWatch get
 * the last values first, within limit_ms and 2 s at most. The consumer is stopped in each case; close it next.
 * limit_ms 0: batches are not waited for, and cb gets UV_ETIMEDOUT if one is out. UINT64_MAX: there is no
 * limit. With leases at least 2 s are allowed, to write the positions. Returns SLOOP_ESTATE: not started, or
 * stopping or stopped already. */
SLOOP_EXTERN int sloop_stop(sloop_t *s, uint64_t limit_ms, sloop_cb cb, void *arg);
/* Closes at once: cancels everything and writes nothing. cb (may be NULL) gets 0. cb is the last callback
 * ever made for s, on a later turn of the loop; s is gone when cb returns. Batches and requests for
 * credentials that you hold stay yours until you give them back. Pending callbacks of sloop_stop(),
 * sloop_seek(), sloop_checkpoint() and sloop_checkpoint_at(), and of a request of sloop_admin.h, come before
 * cb, with UV_ECANCELED; the callback of a pending sloop_list() does not come. Metrics opened for s are
 * closed with it. If s is NULL or was closed before, this does nothing and does not call cb. */
SLOOP_EXTERN void sloop_close(sloop_t *s, sloop_cb cb, void *arg);
/* Makes s keep uv_run() going, which is the default. A flag, not a count. The loop goes on while one of
 * several joined consumers keeps it going. */
SLOOP_EXTERN void sloop_ref(sloop_t *s);
/* Makes s not keep uv_run() going, except from sloop_close() until its callback. */
SLOOP_EXTERN void sloop_unref(sloop_t *s);
/* Return arg of the options, and the loop of sloop_open(), for a joined consumer the loop that it shares. */
SLOOP_EXTERN void *sloop_arg(const sloop_t *s);
SLOOP_EXTERN struct uv_loop_s *sloop_loop(const sloop_t *s);

/* sloop_pause() pauses one shard, or with shard NULL all, present and future; sloop_resume() ends that.
 * Once sloop_pause() has returned, on_batch is not called for the shard until sloop_resume(). A paused
 * shard holds no other back, so its records may come late afterwards. Pausing twice is like once. The
 * pause of a single shard ends when its lease goes. Both return SLOOP_ENOSHARD: this consumer does not
 * know the shard; SLOOP_ESTATE: stopped, or stopping. */
SLOOP_EXTERN int sloop_pause(sloop_t *s, const char *shard);
SLOOP_EXTERN int sloop_resume(sloop_t *s, const char *shard);

/* Writes the consumer's positions as a token: JSON with the position of every shard that is not finished, up
 * to where all is acknowledged. Whoever starts from the token gets again what is out now, or not handed over
 * yet. On entry *len is the room in buf. On success *len is the token's length without its NUL. UV_ENOBUFS:
 * *len is the room that is needed, with the NUL. To ask for the room pass buf NULL and *len 0. Works until
 * sloop_close(), also after sloop_stop(). Returns SLOOP_ESTATE: the consumer has an app (its positions are in
 * the leases: see sloop_checkpoint()), or the shards are not known yet, or none is left to read;
 * SLOOP_EPROTO: the service gave a name that is no text; SLOOP_ETOOBIG: over 64 MiB.
 *
 * Tokens of bloop, a Python library, have the same format and can be loaded here; bloop loads the tokens that
 * sloop_token() writes of DynamoDB streams. A shard may have five keys that bloop does not write, and that
 * readers may ignore: sub_sequence; arrived_at; no_record (1: sequence_number is a place up to which nothing
 * came, where records are pushed); clear_until (ms: until this time no record followed, or its loss was
 * reported); not_before (ms: started at a time or at the latest, and nothing read yet). */
SLOOP_EXTERN int sloop_token(sloop_t *s, char *buf, size_t *len);

/* Moves the consumer: it goes on from another position. Batches that are out stay valid, but acknowledging
 * them has no effect any more. Once cb has come, nothing from before the move is handed over. on_shard gets
 * SLOOP_SHARD_REPOSITIONED of shards that were read before, and SLOOP_SHARD_OPENED when they are read again.
 * Pauses stay.
 *
 * cb (may be NULL) gets 0 when every shard has its new position. Otherwise nothing was changed, and on_error
 * says more: SLOOP_ETOKEN: the token is of another stream; SLOOP_ETRIMMED: a shard of the token is gone, and
 * on_trimmed is SLOOP_TRIMMED_STOP; SLOOP_ENOSHARD: no shard, or more than one, has that id; UV_ENOMEM;
 * UV_ECANCELED: stopped, closed or moved again meanwhile; or the code of a fatal error.
 *
 * Returns SLOOP_EOPTION: the position makes no sense, or is SLOOP_AFTER_SEQ or SLOOP_AT_END; SLOOP_ETOKEN:
 * the token is damaged, on_error says where; SLOOP_ESTATE: the consumer has an app (see sloop_admin_reset()),
 * or is not running. */
SLOOP_EXTERN int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg);

/* What decides on which shard a record is put, by the stream's RecordDistributionStrategy. */
typedef enum {
  SLOOP_PLACED_UNKNOWN,    /* the stream could not be described, or is of DynamoDB */
  SLOOP_PLACED_BY_KEY,     /* the stream has no strategy: the hash of the key decides, or the producer's
                              ExplicitHashKey */
  SLOOP_PLACED_BY_KEY_NOW, /* USER_PARTITION_KEY, of a stream in on-demand mode: as SLOOP_PLACED_BY_KEY. But
                              records that came while the strategy was AUTO may be on any shard, and the
                              service does not tell whether it ever was AUTO */
  SLOOP_PLACED_ANYWHERE    /* AUTO: the service decides, whatever the key. A record may have no key
                              (SLOOP_REC_KEYLESS), and SLOOP_REC_FOREIGN is not set */
} sloop_placement_t;
/* A shard as the service lists it. */
typedef struct sloop_shard_s {
  const char *id, *parent, *adjacent_parent;               /* "": none */
  const char *hash_start, *hash_end, *seq_start, *seq_end; /* "": the service does not say */
  int closed;                  /* 1: it was split or merged, and nothing is written to it any more */
  sloop_placement_t placement; /* of the stream's records, when the stream was last described */
} sloop_shard_t;
/* Gets n shards sorted by id and status 0; or a negative status, NULL and the error. */
typedef void (*sloop_list_cb)(sloop_t *, int status, const sloop_shard_t *const *shards, size_t n,
                              const sloop_error_t *error_or_null, void *arg);
/* Lists the stream's shards without reading them, also before sloop_start(). cb comes once, with UV_ECANCELED
 * if the consumer was stopped meanwhile, or the code of a fatal error that came meanwhile. It does not come
 * if the consumer was closed meanwhile. Returns SLOOP_ESTATE: another listing is pending, the consumer is
 * stopped, or cb is NULL (for which other functions return SLOOP_EOPTION). */
SLOOP_EXTERN int sloop_list(sloop_t *s, sloop_list_cb cb, void *arg);

/* ---- events -------------------------------------------------------------------------------------- */
/* What happens to the shards that a consumer reads. on_shard and on_loss of the options get these events.
 * Events of leases and workers are in the section on leases. */

typedef enum {
  SLOOP_SHARD_OPENED = 1,   /* reading begins; comes before the shard's first record is handed over */
  SLOOP_SHARD_ENDED,        /* the shard is read to its end, and every record of it is acknowledged */
  SLOOP_SHARD_STOPPED,      /* the shard or an ancestor of it was given up; on_error told why. Nothing more
                               of it or of its children is fetched */
  SLOOP_SHARD_REPOSITIONED, /* sloop_seek() or sloop_seek_checkpoint() moved it. Acknowledging records of
                               it that are out has no effect any more */
  SLOOP_SHARD_LOST,         /* another worker has its lease. Acknowledging records of it that are out has
                               no effect any more */
  SLOOP_SHARD_RELEASED,     /* its lease was given up: handed over, at a stop, for lack of progress,
                               parked, or because the service refuses its position. Acknowledging records
                               of it that are still out has no effect any more */
  SLOOP_SHARD_READ_OUT,     /* with SLOOP_CHECKPOINTS_ASKED: the shard is read to its end, and every record of
                               it is acknowledged. The shard ends when you pass SLOOP_AT_END to
                               sloop_checkpoint_at() */
  SLOOP_SHARD_LEAVING       /* with SLOOP_CHECKPOINTS_ASKED: another worker is to get the shard, and nothing
                               more of it is handed over. sloop_handover() lets the shard go; after
                               handover_ms it goes anyway */
} sloop_shard_event_kind_t;
typedef struct sloop_shard_event_s {
  sloop_shard_event_kind_t kind; /* what happened */
  const char *shard;             /* shard id */
} sloop_shard_event_t;
/* Returns what follows SLOOP_SHARD_ in the constant's name, in lower case: "opened"; "unknown" if there is
 * no such constant. Static. */
SLOOP_EXTERN const char *sloop_shard_event_name(sloop_shard_event_kind_t kind);

/* Records that can never be read any more. */
typedef struct sloop_loss_s {
  const char *shard;
  const char *from_seq; /* the last record that is known to have been read; "": none is */
  const char *to_seq;   /* the record with which reading goes on; "": not known */
  int certain;          /* 1: records are missing; 0: records may be missing */
  const char *message;  /* one line, safe to print */
  int64_t since_ms;     /* nothing that arrived before this time is missing; -1: not known */
  int64_t until_ms;     /* when the record of to_seq arrived; -1: not known */
} sloop_loss_t;

/* ---- statistics ---------------------------------------------------------------------------------- */
/* Numbers of a consumer, which on_stats of the options gets too, and what each of its shards is doing. The
 * page of metrics has all of this. */

/* Names that end in _now are levels. Names that end in _peak, _max or _p999 are of the time since the
 * consumer was opened. All others are totals since the consumer was opened. Some are of all joined consumers
 * together, because these share their calls, memory and loop: calls, calls_failed, buffered_bytes_now,
 * buffered_bytes_peak, turn_us_p999, turn_us_max and hold_us_max. retries and throttles count this consumer's
 * own, plus those that happened inside the calls of all joined consumers.
 *
 * behind_ms_now is the lag of the shard that is furthest behind; UINT64_MAX: the lag of at least one shard is
 * unknown. behind_unknown_ms_now is how long a shard's lag has been unknown; UINT64_MAX: all are known.
 * tip_now counts shards that are at their tip with every record acknowledged. The tip of every shard was
 * checked within the last tip_age_ms_now; UINT64_MAX: a shard is not at its tip. aggregates counts the
 * aggregates of the stream that were expanded into their records. */
#define SLOOP_STATS(X)                                                                                 \
  X(records, "records", "handed to on_batch")                                                          \
  X(payload_bytes, "bytes", "of those records")                                                        \
  X(late, "records", "of those, flagged SLOOP_REC_LATE")                                               \
  X(raw, "records", "of those, flagged SLOOP_REC_RAW")                                                 \
  X(redelivered, "records", "handed over again after being given back")                                \
  X(aggregates, "records", "of the stream, expanded into more or fewer")                               \
  X(foreign, "records", "of those handed over, flagged SLOOP_REC_FOREIGN")                             \
  X(repeats_dropped, "records", "sent twice by the service and dropped")                               \
  X(batches, "batches", "handed to on_batch")                                                          \
  X(pages, "pages", "of records fetched, empty ones included")                                         \
  X(page_bytes, "bytes", "of those pages as they came over the wire")                                  \
  X(calls, "calls", "sent to the service, retries included")                                           \
  X(retries, "calls", "sent again")                                                                    \
  X(throttles, "calls", "the service refused as too fast")                                             \
  X(iterators_renewed, "calls", "new iterators after one expired")                                     \
  X(losses, "events", "on_loss")                                                                       \
  X(shards_ended, "shards", "read to their end")                                                       \
  X(buffered_bytes_now, "bytes", "fetched and not yet given back, tables included")                    \
  X(buffered_bytes_peak, "bytes", "the most of that at once")                                          \
  X(shards_now, "shards", "being read by this consumer")                                               \
  X(batches_now, "batches", "out with you")                                                            \
  X(behind_ms_now, "ms", "the most any shard is behind its tip; UINT64_MAX: of one it is not known")   \
  X(tip_now, "shards", "at their tip, and all of them acknowledged")                                   \
  X(tip_age_ms_now, "ms", "age of the oldest news of a tip; UINT64_MAX: one has none")                 \
  X(turn_us_p999, "us", "CPU time that 99.9 % of the turns stayed under")                              \
  X(turn_us_max, "us", "CPU time of the longest turn")                                                 \
  X(hold_us_max, "us", "the longest the loop was held, your callbacks included")                       \
  X(leases_taken, "leases", "that came to this worker")                                                \
  X(leases_lost, "leases", "that somebody else has taken")                                             \
  X(leases_released, "leases", "given up, handed over or left")                                        \
  X(checkpoints, "writes", "of positions to the lease table")                                          \
  X(heartbeats, "writes", "that proved this worker alive")                                             \
  X(evictions, "events", "others took this worker for dead")                                           \
  X(holes_now, "holes", "parts of the stream nobody is going to read; told by the leader")             \
  X(joined_now, "0 or 1", "this worker is registered")                                                 \
  X(leads_now, "0 or 1", "it leads the application")                                                   \
  X(suspended_now, "0 or 1", "it can't prove that it lives")                                           \
  X(heartbeat_age_ms_now, "ms", "since the last good heartbeat was sent; UINT64_MAX: there was none")  \
  X(store_write_units, "1/1000 unit", "of writing that the lease table charged for")                   \
  X(store_read_units, "1/1000 unit", "of reading that the lease table charged for")                    \
  X(store_throttles, "calls", "the lease table refused as too fast")                                   \
  X(dead_letters, "records", "given to on_dead_letter")                                                \
  X(pushed_now, "0 or 1", "records are pushed to a registered consumer; 0: the shards are polled")     \
  X(listings_failed_now, "listings", "of the shards, in a row: new shards are not seen meanwhile")     \
  X(behind_unknown_ms_now, "ms", "for how long that of a shard has not been known; UINT64_MAX: it is") \
  X(calls_failed, "calls", "answered with an error, or not at all")                                    \
  X(acked_age_ms_now, "ms", "since records were last acknowledged; UINT64_MAX: none was")              \
  X(parked_now, "shards", "parked: nobody reads them until an operator says so; told by the leader")   \
  X(refused_now, "shards", "whose position the service refuses: told by the leader")
/* Allocate this struct yourself, and pass its size to sloop_stats_get(). */
typedef struct sloop_stats_s {
#define X(name, unit, meaning) uint64_t name;
  SLOOP_STATS(X)
#undef X
} sloop_stats_t;

/* Fills *out; size is sizeof *out. Members that this library does not know yet become 0. */
SLOOP_EXTERN void sloop_stats_get(sloop_t *s, sloop_stats_t *out, size_t size);

/* What a shard is doing. */
typedef enum {
  SLOOP_SHARD_IS_READ = 1,       /* records are asked for */
  SLOOP_SHARD_IS_AT_TIP,         /* at_tip is 1 */
  SLOOP_SHARD_WAITS_FOR_YOU,     /* its records are out with you; or batches_out_max batches are; or records
                                    that you gave back wait to be redelivered. Or it has no records, and what
                                    is out with you takes the room for fetching any. Or you have to name its
                                    end (SLOOP_SHARD_READ_OUT) */
  SLOOP_SHARD_WAITS_FOR_ANOTHER, /* its records are fetched, and those of another shard go first (see
                                    other). Or it has no records, and other shards take all the room or
                                    all calls */
  SLOOP_SHARD_FAILS,             /* its calls fail, or one has had no answer for seconds, or no listing
                                    shows the shard or its children yet (see error and fails) */
  SLOOP_SHARD_IS_SUSPENDED,      /* this worker can't prove that it lives */
  SLOOP_SHARD_IS_PAUSED,         /* by sloop_pause() */
  SLOOP_SHARD_IS_GIVEN_UP,       /* without leases only: it was stopped, and on_error told why (see error) */
  SLOOP_SHARD_IS_PARKED,         /* nobody reads it until sloop_admin_release() */
  SLOOP_SHARD_IS_REFUSED,        /* nobody reads it, because the service refuses its position. A worker
                                    tries it again later */
  SLOOP_SHARD_WAITS_FOR_PARENT   /* its parent must be read to its end first (see other) */
} sloop_shard_state_t;
/* Returns the state as a metric's label has it: "reading", "at_tip", "waiting_for_user",
 * "waiting_for_shard", "failing", "suspended", "paused", "given_up", "parked", "refused",
 * "waiting_for_parent", in the order of the constants; "unknown" if there is no such constant. Static. */
SLOOP_EXTERN const char *sloop_shard_state_name(sloop_shard_state_t state);
/* A shard as this consumer reads it. */
typedef struct sloop_shard_stats_s {
  const char *shard;     /* shard id */
  uint64_t epoch;        /* of its lease: each new owner has a greater one. 0 without leases */
  int64_t behind_ms;     /* the greater of two: (1) the age of the oldest fetched record that is not
                            acknowledged; (2) the lag by the last good answer, plus the time since that
                            answer. But (2) is 0 as long as that answer said 0 and is no older than poll_ms +
                            1 s (pushed: 10 s). -1: unknown, or read to its end */
  uint64_t unacked;      /* records that are fetched and not acknowledged */
  int paused, at_tip;    /* 0 or 1. at_tip: behind_ms is 0, and the last answer was empty */
  sloop_position_t from; /* with leases: where this worker began to read it, without the shard's id. kind
                            0: at its beginning. Without leases: kind 0 */
  sloop_shard_state_t state;
  uint32_t fails;       /* FAILS: calls that failed in a row */
  int64_t state_ms;     /* how long it has been in this state; -1: not known */
  int64_t acked_age_ms; /* time since records of the shard were last acknowledged; -1: none was */
  const char *other;    /* WAITS_FOR_ANOTHER, WAITS_FOR_PARENT: that shard's id; "": that shard is not known,
                           for example because a joined consumer has not listed its shards yet. "" in other
                           states */
  const char *error;    /* FAILS, IS_GIVEN_UP: the service's name of the error, or its kind; "" in other
                           states */
} sloop_shard_stats_t;
/* Calls `each` for shards, in no defined order, before it returns: for all that are read or were given up,
 * for those that were read to their end until SLOOP_SHARD_ENDED is told, and for those whose parent is being
 * read. In the worker that leads, `each` also gets the shards that are parked or refused, 100 at most; where
 * the schema has no leader, in the worker that compares the stream with the table. A shard that is not read
 * has epoch 0 and behind_ms -1. `each` must not call anything of this consumer. */
SLOOP_EXTERN void sloop_shard_stats_each(sloop_t *s, void (*each)(const sloop_shard_stats_t *, void *arg),
                                         void *arg);

/* ---- leases -------------------------------------------------------------------------------------- */
/* For consumers with an app, whose workers share the shards of a stream. on_lease of the options gets their
 * events. The functions of sloop_admin.h read and change leases from outside. */

/* What happened to this worker or to a lease. The words before a colon are the members of sloop_lease_event_t
 * that are set, besides kind and worker. */
typedef enum {
  SLOOP_LEASE_JOINED = 1,    /* this worker is registered, under the instance in worker */
  SLOOP_LEASE_EVICTED,       /* others took this worker for dead: it has lost every lease, and registers
                                again */
  SLOOP_LEASE_SUSPENDED,     /* this worker can't prove that it lives: nothing is handed over until it can */
  SLOOP_LEASE_RESUMED,       /* this worker can prove again that it lives, and has kept its leases */
  SLOOP_LEASE_TAKEN,         /* shard, epoch: read by this worker from now on */
  SLOOP_LEASE_LOST,          /* shard, epoch: another worker has it */
  SLOOP_LEASE_RELEASED,      /* shard, epoch: given up, handed over, or released at a stop */
  SLOOP_LEASE_ENDED,         /* shard, epoch: read to its end */
  SLOOP_LEASE_LEADS,         /* this worker is the leader from now on: it assigns shards to workers */
  SLOOP_LEASE_FOLLOWS,       /* this worker is not the leader any more */
  SLOOP_LEASE_EVICTED_OTHER, /* text: the worker that this one evicted */
  SLOOP_LEASE_HOLE,          /* text: hash keys of the stream that no lease covers, so that nobody will
                                read them */
  SLOOP_LEASE_BAD_ROW,       /* text: a row of the table that makes no sense; it is left alone */
  SLOOP_LEASE_TROUBLE,       /* text: what failed; it is tried again */
  SLOOP_LEASE_LEFT,          /* the last event: everything is released. Does not come after a fatal error */
  SLOOP_LEASE_DRAINED,       /* an operator drains the application: this worker gives up its leases, and
                                takes none until UNDRAINED */
  SLOOP_LEASE_UNDRAINED      /* leases are taken again */
} sloop_lease_event_kind_t;
typedef struct sloop_lease_event_s {
  sloop_lease_event_kind_t kind; /* what happened */
  const char *shard;             /* "" when the event concerns no single shard */
  const char *worker;            /* this worker's instance, see sloop_worker() */
  const char *text;              /* one line, safe to print */
  uint64_t epoch;                /* of the shard's lease: each new owner has a greater one */
} sloop_lease_event_t;
/* Returns what follows SLOOP_LEASE_ in the constant's name, in lower case: "joined"; "unknown" if there is
 * no such constant. Static. */
SLOOP_EXTERN const char *sloop_lease_event_name(sloop_lease_event_kind_t kind);

/* Writes to the lease table up to where all is acknowledged now, for one shard or (NULL) for all. cb (may be
 * NULL) gets 0 when that is written or the lease is gone, or UV_ECANCELED if the consumer was closed
 * meanwhile, or the code of a fatal error that came meanwhile. Returns SLOOP_ENOSHARD: this worker does not
 * read the shard; SLOOP_ESTATE: the consumer has no app, is not running, or has SLOOP_CHECKPOINTS_ASKED, or
 * another sloop_checkpoint() is pending. */
SLOOP_EXTERN int sloop_checkpoint(sloop_t *s, const char *shard, sloop_cb cb, void *arg);
/* This function and the next two are for programs that pass records on to others, who say later how far they
 * are. Each needs SLOOP_CHECKPOINTS_ASKED and returns SLOOP_ESTATE: the consumer does not have that option,
 * or is not running; SLOOP_ENOSHARD: this worker does not read the shard.
 *
 * Declares all records of the shard up to this one finished (SLOOP_AFTER_SEQ; to->shard is ignored), or the
 * whole shard (SLOOP_AT_END, after SLOOP_SHARD_READ_OUT); the position is then written. You answer for that:
 * records before the position that were not handed over yet are never handed over after a change of workers.
 * A position before the last one named is not written, and cb gets 0. Any number of calls may be pending.
 *
 * cb (may be NULL) gets 0 when the position is written. For the end, cb gets 0 when the end is noted;
 * SLOOP_SHARD_ENDED comes when the end is written. SLOOP_ENOSHARD: the lease was gone before; UV_ECANCELED:
 * the consumer was closed meanwhile; or the code of a fatal error that came meanwhile. Returns SLOOP_ESTATE
 * also if the end is not reached; SLOOP_EOPTION: another kind of position; no sequence number; or a position
 * beyond the last one named whose number this worker has not fetched from the shard since it began to read
 * the shard, or read it again. The service would refuse a number of another stream for ever. */
SLOOP_EXTERN int sloop_checkpoint_at(sloop_t *s, const char *shard, const sloop_position_t *to, sloop_cb cb,
                                     void *arg);
/* Moves one shard back to its checkpoint: the shard is read again from behind the position that was last
 * named by sloop_checkpoint_at(), or from where this worker began. Batches of it that are out stay valid, but
 * acknowledging them has no effect any more, and no other batch of before the move comes.
 * SLOOP_SHARD_REPOSITIONED comes, then SLOOP_SHARD_OPENED. The lease stays, and the shard is paused if it
 * was. Returns what sloop_checkpoint_at() does; SLOOP_ESTATE also if the shard is leaving or its end was
 * named. */
SLOOP_EXTERN int sloop_seek_checkpoint(sloop_t *s, const char *shard);
/* Says after SLOOP_SHARD_LEAVING that you will name no more positions of the shard. The lease goes as soon
 * as you hold no batch of it. Returns what sloop_checkpoint_at() does; SLOOP_ESTATE also if the shard is
 * not leaving. */
SLOOP_EXTERN int sloop_handover(sloop_t *s, const char *shard);
/* Returns this worker's instance: its id, a dot, and a part that is another one each time the worker joins.
 * Returns "" without app and before SLOOP_LEASE_JOINED. The text lives until the next callback. */
SLOOP_EXTERN const char *sloop_worker(const sloop_t *s);

/* ---- metrics ------------------------------------------------------------------------------------- */
/* What a consumer counts, for Prometheus and CloudWatch. */

typedef struct sloop_metrics_s sloop_metrics_t;
typedef struct sloop_metrics_opts_s {
  size_t size;            /* set by sloop_metrics_opts_init() */
  const char *listen;     /* NULL: off. "ADDRESS:PORT", for GET /metrics (Prometheus), /ready and
                             /healthz. Port 0: any free one; no ADDRESS: all IPv4 addresses of the
                             machine */
  const char *cloudwatch; /* NULL: off. The namespace to put metrics into, every cloudwatch_ms */
  int set_of_0_1;         /* 0. Deprecated: 1 is what programs of 0.1 wrote for cloudwatch_set "motorway" */
  uint32_t cloudwatch_ms; /* 60000. From 1000 */
  const char *cloudwatch_set; /* NULL: "sloop", with the names that sloop(7) lists. Else the set of another
                                 system: "motorway", one metric for each shard. A set of another system
                                 has a namespace of its own, which is used if cloudwatch is NULL */
} sloop_metrics_opts_t;
#define sloop_metrics_opts_init(o) sloop_metrics_opts_init_sized((o), sizeof *(o))
SLOOP_EXTERN void sloop_metrics_opts_init_sized(sloop_metrics_opts_t *o, size_t size);
/* Opens metrics of s, before or after it starts, and of consumers given to sloop_metrics_add().
 * sloop_close(s) closes m too; after that m must not be used or closed. You may close it earlier. On failure
 * *out is NULL, and why says more. Returns SLOOP_EOPTION; SLOOP_ESTATE: s is closed; UV_EADDRINUSE and other
 * reasons why the address can't be listened on. If CloudWatch fails later, one warning comes by on_log, and
 * no further one until CloudWatch has worked again; what could not be put then is put the next time. */
SLOOP_EXTERN int sloop_metrics_open(sloop_metrics_t **out, sloop_t *s, const sloop_metrics_opts_t *o,
                                    char *why, size_t why_size);
/* Adds a consumer that is joined to s, or to which s is joined, until that consumer is closed. Returns
 * SLOOP_EOPTION: the two are not joined; SLOOP_ESTATE: that consumer or s is closed. */
SLOOP_EXTERN int sloop_metrics_add(sloop_metrics_t *m, sloop_t *joined);
/* Returns "http://ADDRESS:PORT", or "" if m does not listen. The text lives until m is closed. */
SLOOP_EXTERN const char *sloop_metrics_url(const sloop_metrics_t *m);
/* Stops listening and publishing before s is closed; m is gone when this returns. m may be NULL. */
SLOOP_EXTERN void sloop_metrics_close(sloop_metrics_t *m);

/* ---- versions ------------------------------------------------------------------------------------ */
/* Which library runs. May be called on any thread, also before there is a loop. */

/* Returns the versions that the library was built with, for bug reports: "sloop/0.1.0 libuv/1.44.2
 * libcurl/7.88.1 ...". Static. */
SLOOP_EXTERN const char *sloop_features(void);
/* Writes which libraries run, a line for each: NAME, VERSION and FILE with tabs between. The names are sloop,
 * libuv, libcurl, libcrypto, zlib, and sqlite if the library was built with it. FILE is where the code was
 * loaded from, as the dynamic linker names it, and empty where nothing tells it. A process can have several
 * copies of a library; these are the ones that are called. On entry *len is the room in buf. On success *len is
 * the text's length without its NUL. UV_ENOBUFS: *len is the room that is needed, with the NUL. To ask for the
 * room pass buf NULL. */
SLOOP_EXTERN int sloop_running(char *buf, size_t *len);
/* Returns the version of the library that runs: "0.1.0". Static. */
SLOOP_EXTERN const char *sloop_version(void);
/* Returns the same version as a number. SLOOP_VERSION_NUM is the version of the header, for comparison. */
SLOOP_EXTERN uint32_t sloop_version_num(void);

/* ---- deprecated names ---------------------------------------------------------------------------- */
/* Names of earlier versions. They work as before, and compilers warn. */

/* Deprecated: use sloop_token(). */
SLOOP_DEPRECATED SLOOP_EXTERN int sloop_save(sloop_t *s, char *buf, size_t *len);
/* Deprecated: use sloop_seek_checkpoint(). */
SLOOP_DEPRECATED SLOOP_EXTERN int sloop_rewind(sloop_t *s, const char *shard);
/* Deprecated: use sloop_handover(). */
SLOOP_DEPRECATED SLOOP_EXTERN int sloop_hand_over(sloop_t *s, const char *shard);
#ifdef __cplusplus
}
#endif
#endif
