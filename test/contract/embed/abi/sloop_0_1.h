/* sloop_0_1.h - sloop.h as version 0.1 has it; what follows is its text.
 *
 * Rules that hold for every function here:
 *  - Call it only on the thread that runs the loop given to sloop_open(). Another thread reaches that loop by
 *    uv_async_send(), the one function of libuv for this: the callback of the uv_async_t runs on the loop's
 *    thread and may call everything here. Another thread may read the records of a batch that is out
 *    (sloop_batch_count(), sloop_batch_at(), sloop_batch_behind_ms()).
 *  - It never blocks, and never runs one of your callbacks before it returns (sloop_shard_stats_each() alone
 *    does, and says so).
 *  - Every function may be called from inside any callback.
 *  - int results: 0 is success, a negative number is SLOOP_E* or libuv's UV_E*. When a function that takes a
 *    callback returns 0, the callback comes once, on a later turn of the loop, unless the comment says
 *    otherwise; when it fails, the callback never comes.
 *  - A function that is given a consumer and returns an int returns SLOOP_ESTATE once sloop_close() was
 *    called for it, and where its comment says so.
 *  - Strings and structs you pass are copied; those you are given live until the callback returns, unless the
 *    comment says otherwise.
 *  - _ms is milliseconds, _bytes is bytes, _at_ms is Unix time in milliseconds.
 *  - why, why_size: room for a sentence that says why a function failed, cut to fit and ended by a NUL; 160
 *    bytes always suffice. why may be NULL.
 *  - Types end in _t: handles, structs and enums. Callback types end in _cb.
 *  - A struct that you fill has a size and an init macro, which sets the size and every default; call it
 *    first. Such a struct, and one that the comment says may grow at its end, gets new members there in later
 *    versions: a program that was compiled before goes on working. sloop_position_t and sloop_str_t never
 *    grow.
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
#define SLOOP_VERSION_NUM 0x000100 /* 0xMMmmpp */

typedef struct sloop_s sloop_t;             /* one consumer of one stream */
typedef struct sloop_batch_s sloop_batch_t; /* records, yours until sloop_batch_done() */

/* ---- errors: the one list. Numbers are fixed for ever and lie outside libuv's. ------------- */
#define SLOOP_ERRORS(X)                                                                                \
  X(EAUTH, -5001, "credentials missing, expired or refused")                                           \
  X(EACCESS, -5002, "the service says this identity may not do that")                                  \
  X(ENOSTREAM, -5003, "no such stream")                                                                \
  X(ETHROTTLE, -5004, "the service asked us to slow down")                                             \
  X(EREMOTE, -5005, "the service failed or answered nonsense")                                         \
  X(EPROTO, -5006, "the answer could not be understood")                                               \
  X(ETRIMMED, -5007, "the position is older than what the stream still keeps")                         \
  X(ETOOBIG, -5009, "an answer exceeds a limit set in sloop_opts_t")                                   \
  X(ESTATE, -5010, "not allowed in this state")                                                        \
  X(EOPTION, -5011, "an option is missing or out of range")                                            \
  X(ETLS, -5012, "the server's certificate or TLS handshake was not accepted")                         \
  X(EREFUSED, -5013, "the service says the request is wrong")                                          \
  X(ENOSHARD, -5014, "no such shard in this consumer")                                                 \
  X(ESTREAMBUSY, -5015, "the stream is being created, deleted or changed")                             \
  X(ETOKEN, -5016, "the token is damaged, or belongs to another stream")                               \
  X(EBEHIND, -5017, "reading is so far behind that records may be trimmed unread")                     \
  X(ELEASE, -5018, "the leases can't be kept: the table, its rows or this worker's id are not usable") \
  X(EOWNED, -5019, "a living worker owns the lease")                                                   \
  X(ENOWORKER, -5020, "no such worker in this application")
enum {
#define X(name, num, text) SLOOP_##name = num,
  SLOOP_ERRORS(X)
#undef X
      SLOOP_EMIN_ = -5999
};
/* "ETHROTTLE"; also names libuv's codes. Never NULL; static. */
SLOOP_EXTERN const char *sloop_err_name(int err);
/* A sentence about the error. Never NULL; static. */
SLOOP_EXTERN const char *sloop_strerror(int err);
/* The versions it was built with, for bug reports: "sloop/0.1.0 libuv/1.44.2 libcurl/7.88.1 ...". Static. */
SLOOP_EXTERN const char *sloop_features(void);
/* The library's version as "0.1.0"; static. */
SLOOP_EXTERN const char *sloop_version(void);

typedef struct {          /* allocated by the library; may grow at its end */
  int code;               /* SLOOP_E* or UV_E* */
  int fatal;              /* 1: the consumer has stopped by itself; close it */
  int http_status;        /* 0: no answer arrived */
  uint32_t attempt;       /* 1 for the first try in a row */
  uint64_t retry_in_ms;   /* UINT64_MAX: will not be retried */
  const char *aws_code;   /* e.g. "ExpiredIteratorException", or "" */
  const char *request_id; /* or "" */
  const char *shard;      /* or "" when it concerns the whole stream */
  const char *message;    /* one line, safe to print */
} sloop_error_t;

/* ---- records ------------------------------------------------------------------------------- */
typedef struct {    /* bytes, not ended by a NUL; never grows */
  const char *base; /* never NULL */
  size_t len;
} sloop_str_t;

#define SLOOP_REC_LATE 1u        /* something later in the order was handed over before */
#define SLOOP_REC_RAW 2u         /* could not be decoded; data is what the service sent */
#define SLOOP_REC_REDELIVERED 4u /* was handed over before and given back */
#define SLOOP_REC_FOREIGN 8u     /* part of an aggregate whose key hashes into another shard's range */

typedef struct {         /* allocated by the library; may grow at its end */
  const char *stream;    /* name; NUL-ended; lives as long as the batch */
  const char *shard;     /* shard id; NUL-ended; lives as long as the batch */
  sloop_str_t seq;       /* sequence number, decimal text */
  uint64_t sub;          /* index inside an aggregate, else 0 */
  sloop_str_t key;       /* partition key; may hold any byte. DynamoDB: the JSON of "Keys" */
  sloop_str_t data;      /* payload bytes. DynamoDB: the JSON of the change ("dynamodb"), untouched */
  int64_t arrived_at_ms; /* as the service stamped it; -1: it did not say */
  uint64_t epoch;        /* counts the owners of the shard's lease; 0 without leases */
  uint32_t attempt;      /* 1 for the first time this record is handed over */
  uint32_t flags;        /* SLOOP_REC_* */
  sloop_str_t event;     /* DynamoDB: INSERT, MODIFY, REMOVE; length 0 for Kinesis, as the next three */
  sloop_str_t event_id;  /* DynamoDB: eventID */
  sloop_str_t user;      /* DynamoDB: the JSON of "userIdentity", when the change has one */
  sloop_str_t whole;     /* DynamoDB: the JSON of the whole record, untouched */
} sloop_record_t;

/* How many records a batch has: 1 or more. Everything a batch points at lives until sloop_batch_done(), even
 * after sloop_close(). */
SLOOP_EXTERN size_t sloop_batch_count(const sloop_batch_t *b);
/* Record number index, from 0. An index that is not below the count ends the process. */
SLOOP_EXTERN const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t index);
/* How far behind the tip of its shard the batch's last record was read, in ms; -1: unknown. */
SLOOP_EXTERN int64_t sloop_batch_behind_ms(const sloop_batch_t *b);
/* This record is finished with. Any order, as often as you like. */
SLOOP_EXTERN void sloop_batch_ack(sloop_batch_t *b, size_t index);
/* Gives the batch back: its first `acked` records and those marked by sloop_batch_ack() are finished
 * with, the others come again (100 ms later, doubling to 30 s, flagged SLOOP_REC_REDELIVERED). Exactly once
 * per batch, now or later, in any order; also after sloop_close(), where it only frees. A second call
 * for the same batch, or acked > count, ends the process. */
SLOOP_EXTERN void sloop_batch_done(sloop_batch_t *b, size_t acked);

/* ---- positions ----------------------------------------------------------------------------- */
typedef enum {
  SLOOP_LATEST = 1, /* what arrives from now on */
  SLOOP_OLDEST,     /* everything the stream still keeps */
  SLOOP_AT_TIME,    /* what arrived at at_ms or later */
  SLOOP_AT_SEQ,     /* at the record seq and sub of shard, which comes first. To start or seek there reads
                       that shard and what descends from it, and no other shards */
  SLOOP_AT_TOKEN,   /* where token, from sloop_save() or bloop, says: it holds the positions of all shards */
  SLOOP_AFTER_SEQ,  /* behind the record seq and sub of shard; only told, of leases: you can't start there */
  SLOOP_AT_END      /* the shard is read to its end; only told, of leases */
} sloop_position_kind_t;
/* A place in a stream or a shard: where to start, where to seek, where a lease stands. It lies by value in
 * other structs and therefore never grows. Members that the kind does not name are not looked at, and 0 or
 * NULL where you are told a position. */
typedef struct {
  sloop_position_kind_t kind;
  int64_t at_ms;     /* AT_TIME */
  const char *shard; /* AT_SEQ, AFTER_SEQ: shard id; to start or seek, the end of one is enough */
  const char *seq;   /* AT_SEQ, AFTER_SEQ: sequence number, decimal */
  uint64_t sub;      /* AT_SEQ, AFTER_SEQ: index inside an aggregate, else 0; to 4294967295 */
  const char *token; /* AT_TOKEN: NUL-ended JSON */
} sloop_position_t;
/* Sets kind, and 0 and NULL elsewhere. */
SLOOP_EXTERN void sloop_position_init(sloop_position_t *p, sloop_position_kind_t kind);

/* ---- what is told ---------------------------------------------------------------------------- */
typedef enum {
  SLOOP_SHARD_OPENED = 1,   /* reading begins */
  SLOOP_SHARD_ENDED,        /* it was read to its end, and every record of it is acknowledged */
  SLOOP_SHARD_STOPPED,      /* it was given up for a reason on_error told; its children are not read */
  SLOOP_SHARD_REPOSITIONED, /* by sloop_seek(): what is out of it does not count any more */
  SLOOP_SHARD_LOST,         /* its lease is another worker's: what is out of it does not count any more */
  SLOOP_SHARD_RELEASED      /* its lease was given up: handed over, on stop, for lack of progress, parked.
                               What is out of it, after the lease deadline, does not count any more */
} sloop_shard_event_kind_t;
typedef struct { /* allocated by the library; may grow at its end */
  sloop_shard_event_kind_t kind;
  const char *shard; /* shard id */
} sloop_shard_event_t;

typedef enum {
  SLOOP_LEASE_JOINED = 1,    /* this worker is registered: worker */
  SLOOP_LEASE_EVICTED,       /* others declared it dead: every lease is lost, it registers anew */
  SLOOP_LEASE_SUSPENDED,     /* it can't prove that it lives: nothing is handed over until it can */
  SLOOP_LEASE_RESUMED,       /* it can again, and kept its leases */
  SLOOP_LEASE_TAKEN,         /* shard, epoch: read from now on */
  SLOOP_LEASE_LOST,          /* shard, epoch: another worker has it */
  SLOOP_LEASE_RELEASED,      /* shard, epoch: given up, handed over or left */
  SLOOP_LEASE_ENDED,         /* shard, epoch: read to its end */
  SLOOP_LEASE_LEADS,         /* this worker is the leader from now on: it assigns shards to workers */
  SLOOP_LEASE_FOLLOWS,       /* it is the leader no more */
  SLOOP_LEASE_EVICTED_OTHER, /* text: the worker that this one evicted */
  SLOOP_LEASE_HOLE,          /* text: a part of the stream that nobody is going to read */
  SLOOP_LEASE_BAD_ROW,       /* text: a row of the table that makes no sense; it is left alone */
  SLOOP_LEASE_TROUBLE,       /* text: something that keeps being tried */
  SLOOP_LEASE_LEFT           /* the last one: everything is released; not told after a fatal error */
} sloop_lease_event_kind_t;
typedef struct { /* allocated by the library; may grow at its end */
  sloop_lease_event_kind_t kind;
  const char *shard;  /* "" when it concerns no single one */
  const char *worker; /* this worker's instance: its id, a dot, and what tells its incarnations apart */
  const char *text;   /* one line, safe to print */
  uint64_t epoch;     /* counts the owners of the shard's lease */
} sloop_lease_event_t;

typedef struct { /* records that can never be read any more; allocated by the library; may grow at its end */
  const char *shard;
  const char *from_seq; /* the last position known to have been read; "" when none */
  const char *to_seq;   /* where reading goes on; "" when not known */
  int certain;          /* 1: records are known to be missing; 0: they may be */
  const char *message;  /* one line, safe to print */
} sloop_loss_t;

typedef enum { SLOOP_LOG_ERROR = 1, SLOOP_LOG_WARN, SLOOP_LOG_INFO, SLOOP_LOG_DEBUG } sloop_log_level_t;

/* ---- statistics ------------------------------------------------------------------------------ */
/* name, unit, meaning; counters only grow, ..._now are levels */
#define SLOOP_STATS(X)                                                                                \
  X(records, "records", "handed to on_batch")                                                         \
  X(payload_bytes, "bytes", "of those records")                                                       \
  X(late, "records", "of those, flagged SLOOP_REC_LATE")                                              \
  X(raw, "records", "of those, flagged SLOOP_REC_RAW")                                                \
  X(redelivered, "records", "handed over again after being given back")                               \
  X(aggregates, "records", "of the stream, expanded into more or fewer")                              \
  X(foreign, "records", "of those handed over, flagged SLOOP_REC_FOREIGN")                            \
  X(repeats_dropped, "records", "sent twice by the service and dropped")                              \
  X(batches, "batches", "handed to on_batch")                                                         \
  X(pages, "pages", "of records fetched, empty ones included")                                        \
  X(page_bytes, "bytes", "of those pages as they came over the wire")                                 \
  X(calls, "calls", "sent to the service, retries included")                                          \
  X(retries, "calls", "sent again")                                                                   \
  X(throttles, "calls", "the service refused as too fast")                                            \
  X(iterators_renewed, "calls", "new iterators after one expired")                                    \
  X(losses, "events", "on_loss")                                                                      \
  X(shards_ended, "shards", "read to their end")                                                      \
  X(buffered_bytes_now, "bytes", "fetched and not yet given back, tables included")                   \
  X(buffered_bytes_peak, "bytes", "the most of that at once")                                         \
  X(shards_now, "shards", "being read by this consumer")                                              \
  X(batches_now, "batches", "out with you")                                                           \
  X(behind_ms_now, "ms", "the most any shard lags its tip; UINT64_MAX: not known yet")                \
  X(tip_now, "shards", "at their tip")                                                                \
  X(tip_age_ms_now, "ms", "age of the oldest news of a tip; UINT64_MAX: one has none")                \
  X(turn_us_p999, "us", "CPU time that 99.9 % of the turns stayed under")                             \
  X(turn_us_max, "us", "CPU time of the longest turn")                                                \
  X(hold_us_max, "us", "the longest the loop was held, your callbacks included")                      \
  X(leases_taken, "leases", "that came to this worker")                                               \
  X(leases_lost, "leases", "that somebody else has taken")                                            \
  X(leases_released, "leases", "given up, handed over or left")                                       \
  X(checkpoints, "writes", "of positions to the lease table")                                         \
  X(heartbeats, "writes", "that proved this worker alive")                                            \
  X(evictions, "events", "others took this worker for dead")                                          \
  X(holes_now, "holes", "parts of the stream nobody is going to read; told by the leader")            \
  X(joined_now, "0 or 1", "this worker is registered")                                                \
  X(leads_now, "0 or 1", "it leads the application")                                                  \
  X(suspended_now, "0 or 1", "it can't prove that it lives")                                          \
  X(heartbeat_age_ms_now, "ms", "since the last good heartbeat was sent; UINT64_MAX: there was none") \
  X(store_write_units, "1/1000 unit", "of writing that the lease table charged for")                  \
  X(store_read_units, "1/1000 unit", "of reading that the lease table charged for")                   \
  X(store_throttles, "calls", "the lease table refused as too fast")                                  \
  X(dead_letters, "records", "given to on_dead_letter")
typedef struct { /* may grow at its end: say how big yours is in sloop_stats_get() */
#define X(name, unit, meaning) uint64_t name;
  SLOOP_STATS(X)
#undef X
} sloop_stats_t;

/* Fills yours of `size` bytes; members that this library does not know yet become 0. */
SLOOP_EXTERN void sloop_stats_get(sloop_t *s, sloop_stats_t *out, size_t size);

typedef struct {      /* a shard as this consumer reads it; allocated by the library; may grow at its end */
  const char *shard;  /* shard id */
  uint64_t epoch;     /* counts the owners of the shard's lease; 0 without leases */
  int64_t behind_ms;  /* -1: unknown */
  uint64_t unacked;   /* records fetched and not acknowledged */
  int paused, at_tip; /* 0 or 1 */
} sloop_shard_stats_t;
/* Every shard that is being read, at once, in no order. Only here a callback is made before the function
 * returns; it must not call anything of this consumer. */
SLOOP_EXTERN void sloop_shard_stats_each(sloop_t *s, void (*each)(const sloop_shard_stats_t *, void *arg),
                                         void *arg);

/* ---- credentials ----------------------------------------------------------------------------- */
typedef struct {             /* your answer to a creds callback; copied */
  size_t size;               /* set by sloop_creds_init() */
  const char *access_key;    /* required */
  const char *secret_key;    /* required */
  const char *session_token; /* or NULL */
  int64_t expires_at_ms;     /* -1: never. You are asked again up to 15 minutes before */
} sloop_creds_t;
#define sloop_creds_init(c) sloop_creds_init_sized((c), sizeof *(c))
SLOOP_EXTERN void sloop_creds_init_sized(sloop_creds_t *c, size_t size);
typedef struct sloop_creds_req_s sloop_creds_req_t; /* yours until sloop_creds_done() */
/* Answers a creds callback, at once or later, exactly once, also after sloop_close(). status 0 and creds, or a
 * negative code and a sentence why (may be NULL). A failure is told to on_error as SLOOP_EAUTH. */
SLOOP_EXTERN void sloop_creds_done(sloop_creds_req_t *rq, int status, const sloop_creds_t *creds,
                                   const char *why);

/* ---- options ------------------------------------------------------------------------------- */
typedef enum {
  SLOOP_AGGREGATES_EXPAND = 1, /* an aggregate of the KPL becomes its records: same seq, sub 0, 1, ... */
  SLOOP_AGGREGATES_KEEP        /* it is handed over as it came */
} sloop_aggregates_t;
typedef enum {
  SLOOP_ORDER_TIME = 1, /* by arrival time across shards, shard order always kept */
  SLOOP_ORDER_SHARD     /* each shard by itself; no waiting across shards */
} sloop_order_t;
typedef enum {
  SLOOP_WIRE_AUTO = 1, /* CBOR where the endpoint speaks it */
  SLOOP_WIRE_CBOR,
  SLOOP_WIRE_JSON
} sloop_wire_t;
/* What happens when records behind the position are gone: the stream keeps them no longer. */
typedef enum {
  SLOOP_TRIMMED_STOP = 1, /* the shard stops, its children are not read */
  SLOOP_TRIMMED_CONTINUE  /* it is read from the oldest record on, after on_loss */
} sloop_trimmed_t;
/* What happens when the first record of a shard that is not acknowledged was given back retry_max times. */
typedef enum {
  SLOOP_RETRY_REDELIVER = 1, /* it comes again, for ever */
  SLOOP_RETRY_STOP,          /* its shard is given up; with leases another worker may try */
  SLOOP_RETRY_PARK,          /* with leases: nobody reads the shard until sloop_admin_release() */
  SLOOP_RETRY_SKIP           /* on_dead_letter gets it, then it counts as acknowledged */
} sloop_retry_t;

/* Behind each member stands its default. Numbers out of range make sloop_open() fail. */
typedef struct {
  size_t size; /* set by sloop_opts_init() */
  /* The stream, and how it is reached. */
  const char *stream;     /* Kinesis: name or ARN. DynamoDB: "dynamodb:TABLE", the ARN of a table or of one of
                             its streams. Required */
  const char *region;     /* NULL: the ARN's, AWS_REGION, AWS_DEFAULT_REGION, the profile's */
  const char *endpoint;   /* URL; NULL: AWS_ENDPOINT_URL_KINESIS (_DYNAMODB, _DYNAMODB_STREAMS),
                             AWS_ENDPOINT_URL, the profile's, the region's */
  const char *profile;    /* NULL: AWS_PROFILE or "default" */
  const char *ca_bundle;  /* file of certificates; NULL: AWS_CA_BUNDLE, else the system's */
  const char *user_agent; /* NULL: "sloop/VERSION" */
  sloop_t *join; /* NULL, or an open consumer on the same loop, not yet started: its budget, connections,
                             credentials and order are shared */
  /* The stream. */
  sloop_position_t start;    /* SLOOP_LATEST. Kinds up to SLOOP_AT_TOKEN; with app, where the application
                                     begins when it is new: SLOOP_LATEST, SLOOP_OLDEST or SLOOP_AT_TIME */
  const char *const *shards; /* NULL: all. Else only those whose id ends with one of these; not with app */
  size_t shards_n;           /* how many those are */
  sloop_aggregates_t aggregates; /* SLOOP_AGGREGATES_EXPAND */
  sloop_trimmed_t on_trimmed;    /* SLOOP_TRIMMED_CONTINUE */
  /* How it is read. */
  sloop_wire_t wire;           /* SLOOP_WIRE_AUTO */
  uint32_t poll_ms;            /* 1000 between calls at a shard's tip; 200 is the service's floor */
  uint32_t list_ms;            /* 60000 between listings of the shards */
  uint32_t fetch_records_max;  /* 10000: records asked for in one call */
  uint32_t in_flight_max;      /* 128 calls at once */
  uint64_t buffered_bytes_max; /* 64 MiB fetched and not yet given back */
  uint32_t buffered_records_per_shard_max; /* 0: no limit. Fetched and not yet given back, of one shard: it is
                                              not asked for more while it has so many; one page may exceed it */
  /* How it is handed over. */
  sloop_order_t order;        /* SLOOP_ORDER_TIME */
  uint32_t order_wait_ms;     /* 1000: how long a failing or silent shard may hold the others back; 0: never,
                                 UINT32_MAX: for ever */
  uint32_t batches_out_max;   /* 2 batches out: in all (SLOOP_ORDER_TIME), per shard (SLOOP_ORDER_SHARD) */
  uint32_t batch_records_max; /* 1000 */
  uint32_t batch_bytes_max;   /* 1 MiB of payload; one larger record goes alone */
  uint32_t retry_max;         /* 10: times the same record is handed over, then on_retry rules. To 250 */
  sloop_retry_t on_retry;     /* SLOOP_RETRY_REDELIVER */
  /* Memory, logs, statistics. */
  void *(*alloc)(void *ctx, void *p, size_t was, size_t want); /* NULL: libc. want 0 frees. Not used by
                                   libuv, libcurl and OpenSSL, which have their own */
  void *alloc_ctx;                                             /* handed to alloc */
  sloop_log_level_t log_level; /* SLOOP_LOG_WARN: what on_log gets, and what is worse */
  uint32_t stats_ms;           /* 0: on_stats is never called; else how often it is */
  /* Callbacks. All but on_batch may be NULL. */
  void *arg;                                               /* handed to every callback */
  void (*on_batch)(sloop_t *, sloop_batch_t *, void *arg); /* required. The batch is yours */
  void (*on_shard)(sloop_t *, const sloop_shard_event_t *, void *arg);
  void (*on_tip)(sloop_t *, void *arg); /* every shard is at its tip and nothing is left to hand over or
                                   to be given back; again each time that becomes so. With
                                   leases: every shard that this worker reads, and there is one */
  void (*on_loss)(sloop_t *, const sloop_loss_t *, void *arg);
  void (*on_error)(sloop_t *, const sloop_error_t *, void *arg); /* what is tried again, and what is fatal */
  void (*on_stats)(sloop_t *, const sloop_stats_t *, void *arg);
  void (*on_log)(sloop_t *, sloop_log_level_t, const char *line, void *arg);
  void (*creds)(sloop_t *, sloop_creds_req_t *,
                void *arg); /* NULL: the chain the AWS tools use. Else asks you
                                          for credentials: answer by sloop_creds_done() */
  void (*on_dead_letter)(sloop_t *, const sloop_record_t *, void *arg); /* SLOOP_RETRY_SKIP needs it. The
                                          record lives until it returns */
  /* Leases: workers of one application share a stream's shards. All of these need app. */
  const char *app;            /* NULL: no leases, every shard is read. Else the application's name: each shard
                                 is read by one of its workers at a time, from where the last one left off */
  const char *worker;         /* this worker's id, unique in its application, at most 64 bytes; NULL:
                                 HOST-PID-RANDOM */
  const char *store;          /* where the leases are: "dynamodb", "dynamodb:TABLE", "sqlite:FILE" (processes
                                 of one machine), "memory" (consumers joined to this one); NULL: "dynamodb".
                                 TABLE is made when it is not there; its default is "sloop" */
  const char *store_endpoint; /* URL of the lease table's DynamoDB; NULL: as endpoint. Of joined consumers
                                 the first one's counts */
  const char *schema;         /* how the table is laid out: "sloop", or "kcl" (Amazon KCL 2.x; TABLE is app by
                                 default); NULL: "sloop" */
  uint32_t lease_ms;          /* 10000: a worker not heard of for so long is dead. From 1000 */
  uint32_t checkpoint_ms;     /* 5000: how often a position that moved is written; 0: only by
                                 sloop_checkpoint(), hand-over and stop */
  uint32_t handover_ms; /* 30000: how long a shard that another worker asks for waits for your batches */
  uint32_t stall_ms;    /* 0: never. A shard with records to be acknowledged that made no progress for so
                                 long, or that could not be read, goes to another worker; pauses do not count */
  uint32_t weight;      /* 1: this worker's share, beside the others' weights. To 1000 */
  void (*on_lease)(sloop_t *, const sloop_lease_event_t *, void *arg);
} sloop_opts_t;
#define sloop_opts_init(o) sloop_opts_init_sized((o), sizeof *(o))
SLOOP_EXTERN void sloop_opts_init_sized(sloop_opts_t *o, size_t size);

/* ---- life ---------------------------------------------------------------------------------- */
/* Says that something is over: 0, or why it failed. arg is what came with it. */
typedef void (*sloop_cb)(sloop_t *, int status, void *arg);
/* open -> start -> [pause/resume]* -> stop -> close; close is legal at any time.
 * open: checks options, allocates, does no I/O. On failure *out is NULL and why says which option was wrong.
 * SLOOP_EOPTION, SLOOP_ETOKEN: start.token is damaged; UV_ENOMEM, UV_EMFILE. */
SLOOP_EXTERN int sloop_open(sloop_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why,
                            size_t why_size);
/* Begins to read. SLOOP_ESTATE: started before. */
SLOOP_EXTERN int sloop_start(sloop_t *s);
/* Graceful: no new fetches, what was not handed over is dropped, waits for the batches you hold; with leases
 * the positions are written then and the shards released to the other workers. cb (may be NULL) comes once: 0;
 * UV_ETIMEDOUT when `limit_ms` (with leases at least 2 s, for writing) passed first; UV_ECANCELED when closed
 * before. limit_ms 0: does not wait for batches. SLOOP_ESTATE: not started, or stopping already. */
SLOOP_EXTERN int sloop_stop(sloop_t *s, uint64_t limit_ms, sloop_cb cb, void *arg);
/* At once: cancels everything. `cb` (may be NULL) is the last callback ever made for `s`, on a later
 * turn of the loop; `s` is gone when it returns. Held batches stay yours. Callbacks of a pending stop, seek,
 * checkpoint or admin function come first, with UV_ECANCELED; that of a pending sloop_list() does not come.
 * Calling it again is ignored. */
SLOOP_EXTERN void sloop_close(sloop_t *s, sloop_cb cb, void *arg);
SLOOP_EXTERN void sloop_ref(sloop_t *s);   /* keeps uv_run() alive: the default */
SLOOP_EXTERN void sloop_unref(sloop_t *s); /* does not */

/* ---- while it runs ------------------------------------------------------------------------- */
/* shard NULL means all, present and future. After pause returns, on_batch is not called for the shard
 * until resume. A paused shard holds no other back; its records may come late afterwards. Both are
 * idempotent. A single shard's pause ends when its lease goes. SLOOP_ENOSHARD: this consumer does not know it;
 * SLOOP_ESTATE: stopped, or stopping. */
SLOOP_EXTERN int sloop_pause(sloop_t *s, const char *shard);
SLOOP_EXTERN int sloop_resume(sloop_t *s, const char *shard);

/* Where a consumer stands, as a token: JSON that holds, for every shard not finished, what was acknowledged
 * without a gap; what is out or not handed over comes again. Same format as bloop's tokens, which can be
 * loaded here and, for DynamoDB, ours there. Besides bloop's keys a shard may have sub_sequence, arrived_at
 * and not_before (ms; started at a time or at the latest, and nothing read yet), which others may ignore.
 * *len in: room in buf, out: the token's length without its NUL. UV_ENOBUFS: more room is needed, *len says
 * how much; buf may be NULL then. SLOOP_ESTATE: the consumer has an app (its leases hold the positions: see
 * sloop_checkpoint()), or the shards are not known yet. SLOOP_EPROTO: the service gave a name that is no text;
 * SLOOP_ETOOBIG: over 64 MiB; UV_ENOMEM. Works until sloop_close(), also after sloop_stop(). */
SLOOP_EXTERN int sloop_save(sloop_t *s, char *buf, size_t *len);

/* Goes on reading from somewhere else. Batches that are out stay valid, but their acknowledgements do not
 * count any more; nothing from before is handed over once cb has come. cb (may be NULL) comes once: 0 when
 * every shard was set to its new place (SLOOP_SHARD_REPOSITIONED was told for those that were read before), or
 * why nothing was changed: SLOOP_ETOKEN, SLOOP_ETRIMMED (a shard of the token is gone, and on_trimmed says
 * stop), SLOOP_ENOSHARD, UV_ENOMEM, UV_ECANCELED (stopped, closed or moved again meanwhile); on_error says more.
 * Shards that are read again are told by SLOOP_SHARD_OPENED again; pauses stay. Returns SLOOP_EOPTION: the
 * position makes no sense, or its kind is SLOOP_AFTER_SEQ or SLOOP_AT_END; SLOOP_ETOKEN: the token is damaged,
 * on_error says where; SLOOP_ESTATE: the consumer has an app (see sloop_admin_reset()), or is not running;
 * UV_ENOMEM. */
SLOOP_EXTERN int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg);

typedef struct { /* a shard as the service lists it; allocated by the library; may grow at its end */
  const char *id, *parent, *adjacent_parent;               /* "" when none */
  const char *hash_start, *hash_end, *seq_start, *seq_end; /* "" when not given */
  int closed; /* 1: it was split or merged, and nothing is written to it any more */
} sloop_shard_t;
/* n shards sorted by id, or a negative status, NULL and the error. */
typedef void (*sloop_list_cb)(sloop_t *, int status, const sloop_shard_t *const *shards, size_t n,
                              const sloop_error_t *error_or_null, void *arg);
/* Lists the stream's shards without reading them. Works before start. cb comes once, or not at all when closed
 * before; UV_ECANCELED: stopped before. SLOOP_ESTATE: another one is under way, stopped, or cb is NULL. */
SLOOP_EXTERN int sloop_list(sloop_t *s, sloop_list_cb cb, void *arg);

/* ---- leases ------------------------------------------------------------------------------------------ */
/* Writes what is acknowledged now, of one shard or (NULL) of all, to the lease table. cb (may be NULL) comes
 * once: 0 when it is there or the lease is gone; UV_ECANCELED when closed before. SLOOP_ENOSHARD: this worker
 * does not read it. SLOOP_ESTATE: the consumer has no app, is not running, or another one is under way. */
SLOOP_EXTERN int sloop_checkpoint(sloop_t *s, const char *shard, sloop_cb cb, void *arg);
/* This worker's instance, its id, a dot and what tells its incarnations apart; "" without app and before
 * SLOOP_LEASE_JOINED. Lives until the next callback. */
SLOOP_EXTERN const char *sloop_worker(const sloop_t *s);

/* What follows reads and changes the lease table from outside, like an operator: one question at a time, with
 * calls of its own, before start, while running, or on a consumer that never starts. cb comes once, later,
 * with what was asked for, or with a negative status and the error: SLOOP_ELEASE: there is no such table (it
 * is not made); UV_ECANCELED: closed before. Each returns SLOOP_ESTATE: no app, another one is under way, or
 * closed; SLOOP_EOPTION, UV_ENOMEM. All that cb is given lives until cb returns; structs may grow at their
 * end, so they come as arrays of pointers. Names and reasons that are not there are "", positions kind 0. */
typedef enum {
  SLOOP_LEASE_FREE = 1,      /* nobody owns it */
  SLOOP_LEASE_OWNED = 2,     /* by a worker whose row looks alive */
  SLOOP_LEASE_OWNER_DEAD = 3 /* its owner's row is gone or evicted; or, by its own stamp and our clock, it was
                                not touched for its lease and 30 s more: an estimate, one read can't know */
} sloop_lease_state_t;
typedef struct { /* a lease as the table has it */
  const char *shard;
  const char *owner;         /* an instance */
  const char *claim;         /* the instance that has asked its owner for it */
  sloop_position_t position; /* AFTER_SEQ with sub 4294967295: behind all records of that number */
  const char *parents[2];
  sloop_lease_state_t state;
  uint64_t epoch;
  int parked;
  int64_t written_at_ms; /* by its writer's clock; -1: not told */
  int64_t behind_ms;     /* as its owner told when it wrote the position; -1: not told */
  const char *avoid;     /* the instance that gave it up for lack of progress */
} sloop_lease_t;
typedef struct {      /* a worker as the table has it */
  const char *worker; /* its instance */
  const char *host;
  uint64_t counter; /* of its heartbeats */
  uint32_t lease_ms, held, weight;
  int leads, leaving, dead;                     /* dead: evicted, or it left */
  int64_t written_at_ms, behind_ms, rate_bytes; /* by its own clock; -1: not told */
  const char *evicted_by;                       /* an instance; its own when it left */
} sloop_worker_t;
typedef struct {
  const sloop_lease_t *const *leases; /* sorted by shard */
  size_t leases_n;
  const sloop_worker_t *const *workers; /* sorted by name */
  size_t workers_n;
  const char *const *bad_rows; /* rows that make no sense: which, and why */
  size_t bad_rows_n;
} sloop_leases_t;
/* What stands in the lease table of this stream and application: read whole, once, consistently. */
typedef void (*sloop_leases_cb)(sloop_t *, int status, const sloop_leases_t *leases_or_null,
                                const sloop_error_t *error_or_null, void *arg);
SLOOP_EXTERN int sloop_admin_leases(sloop_t *s, sloop_leases_cb cb, void *arg);

/* Why a shard is read, or is not; more may come. */
typedef enum {
  SLOOP_WHY_READ = 1,   /* its owner is alive and reads it */
  SLOOP_WHY_OWNED = 2,  /* it has an owner; whether that one lives, a table without rows of workers can't
                                   say */
  SLOOP_WHY_ENDED = 3,  /* it was read to its end */
  SLOOP_WHY_PARKED = 4, /* until sloop_admin_release() */
  SLOOP_WHY_PARENT = 5, /* waits_for is to be read first */
  SLOOP_WHY_FREE = 6,   /* nobody owns it; assigned_to says who takes it next */
  SLOOP_WHY_OWNER_SILENT = 7, /* its owner was not heard of for long; free_in_ms */
  SLOOP_WHY_OWNER_DEAD = 8,   /* its owner was evicted, left, or came back as another incarnation: free now */
  SLOOP_WHY_OWNER_MISSING = 9, /* its owner has no row: free when others missed it for a whole lease */
  SLOOP_WHY_NO_LEASE = 10,     /* the stream lists it, and it has no lease yet */
  SLOOP_WHY_BAD_ROW = 11       /* its row makes no sense: bad_row says why */
} sloop_why_t;
typedef enum {
  SLOOP_LEADER_UNUSED = 0, /* workers of this schema have no leader: each takes what it finds */
  SLOOP_LEADER_ALIVE = 1,
  SLOOP_LEADER_NONE = 2,
  SLOOP_LEADER_SILENT = 3, /* by its stamps */
  SLOOP_LEADER_DEAD = 4    /* leader is the one that led last */
} sloop_leader_state_t;
typedef struct { /* a shard, as far as stream and table know it */
  const char *shard;
  int listed, closed;         /* 1: the stream lists it; as closed */
  const sloop_lease_t *lease; /* NULL: it has none that can be read */
} sloop_shard_lease_t;
typedef struct {
  sloop_why_t why;
  sloop_shard_lease_t shard;
  int64_t read_at_ms;          /* when the table was read, by our clock */
  const sloop_worker_t *owner; /* the row of the lease's owner; NULL: none */
  const char *assigned_to;     /* the living worker's instance that the leader gives it to */
  int64_t free_in_ms;          /* OWNER_SILENT: at the latest, while another worker is alive */
  const char *bad_row;
  const sloop_shard_lease_t *waits_for;      /* PARENT: the parent; else NULL */
  const sloop_shard_lease_t *waits_for_last; /* the ancestor that itself waits for nobody; NULL: waits_for */
  const sloop_shard_lease_t *const *parents;
  size_t parents_n;
  const sloop_shard_lease_t *const *children; /* of a shard that is closed or ended: those that are known */
  size_t children_n;
  sloop_leader_state_t leader_state;
  const char *leader;
  size_t workers_alive;            /* neither evicted, leaving nor silent */
  int epoch_is_counter;            /* 1: every write of a lease moves its epoch, not only a new owner */
  const char *hole_from, *hole_to; /* the first hash keys that no lease covers, decimal */
} sloop_explanation_t;
/* Why a shard is or is not being read. An owner whose stamps are old is watched for half a lease first.
 * SLOOP_ENOSHARD. */
typedef void (*sloop_explain_cb)(sloop_t *, int status, const sloop_explanation_t *explanation_or_null,
                                 const sloop_error_t *error_or_null, void *arg);
SLOOP_EXTERN int sloop_admin_explain(sloop_t *s, const char *shard, sloop_explain_cb cb, void *arg);

/* The outcome for one lease; more kinds may come. */
typedef enum {
  SLOOP_CHANGE_DONE = 1,
  SLOOP_CHANGE_WAS_SO = 2,   /* it was so already */
  SLOOP_CHANGE_FREE = 3,     /* its owner is evicted: it is free for others */
  SLOOP_CHANGE_UNOWNED = 4,  /* nothing to release: nobody owns it */
  SLOOP_CHANGE_ENDED = 5,    /* nothing to release: it was read to its end */
  SLOOP_CHANGE_NO_LEASE = 6, /* nothing to release: it has no lease that can be read */
  SLOOP_CHANGE_CONFLICT = 7, /* not changed: its row kept changing */
  SLOOP_CHANGE_NO_ROW = 8,   /* not changed: it has no row that can be read */
  SLOOP_CHANGE_POSITION = 9, /* not changed: rows of this schema can't hold that position */
  SLOOP_CHANGE_TAKEN = 10    /* not changed: a worker has taken it meanwhile */
} sloop_change_kind_t;
typedef struct {
  const char *shard;
  sloop_change_kind_t kind;
  sloop_position_t to;   /* kind 0: its position stays */
  sloop_position_t was;  /* DONE: before */
  const char *was_owner; /* DONE: an instance it was taken from */
  int was_parked;        /* DONE */
} sloop_change_t;
typedef enum {
  SLOOP_EVICTION_NONE = 0,   /* no worker was to be evicted by name */
  SLOOP_EVICTION_DONE = 1,   /* it learns so by its next heartbeat, within half its lease_ms */
  SLOOP_EVICTION_WAS_SO = 2, /* it was evicted before */
  SLOOP_EVICTION_HAD_LEFT = 3
} sloop_eviction_t;
typedef struct {
  const sloop_change_t *const *changes; /* leases that were not changed come first */
  size_t changes_n;
  sloop_eviction_t eviction; /* release of a worker */
  const char *worker;        /* its instance */
  uint32_t worker_lease_ms;
  size_t unlisted_n;                     /* leases left alone: the stream lists their shards no more */
  size_t missing_n;                      /* listed shards without a lease that can be read */
  size_t bad_rows_n;                     /* rows that make no sense, left alone */
  const char *const *unfinished_parents; /* of one shard that was reset: they are read before it */
  size_t unfinished_parents_n;
  const char *const *children_ahead; /* and these are read on beside it, from where they stand */
  size_t children_ahead_n;
} sloop_admin_result_t;
/* With a negative status: what was done all the same, or NULL. */
typedef void (*sloop_admin_cb)(sloop_t *, int status, const sloop_admin_result_t *result_or_null,
                               const sloop_error_t *error_or_null, void *arg);
/* A shard: takes its lease from an owner that is dead, and ends its being parked. A living owner keeps it:
 * SLOOP_EOWNED, and nothing is changed. An owner that is not evicted yet is watched for a lease of its own,
 * so cb may take that long.
 * A worker's id or instance: evicts it, so that all it has is free for others. One that lives learns so by
 * its next heartbeat, within half a lease at most, and joins anew; until then it may hand out records that
 * another worker reads already, with a smaller epoch; what it saves is refused. With schema "kcl" a lease is
 * taken from any owner, as workers of that schema do among themselves: its owner finds out when it renews.
 * SLOOP_ENOSHARD, SLOOP_ENOWORKER. */
SLOOP_EXTERN int sloop_admin_release(sloop_t *s, const char *shard_or_worker, sloop_admin_cb cb, void *arg);
/* Sets the position of one shard, or (NULL) of all there are leases of and the stream still lists:
 * SLOOP_OLDEST, _LATEST (what arrives from now on: closed shards with children count as read), _AT_TIME (not
 * with schema "kcl"), and for one shard _AT_SEQ (to->shard is not looked at). A lease that ended is read
 * again, parents before children. SLOOP_EOWNED, and nothing is changed, while a living worker owns one of
 * them; an owner that is not evicted yet is watched for a lease of its own. With force nothing is waited for:
 * owners are evicted first, as by sloop_admin_release(), and what that says holds here too. SLOOP_ELEASE:
 * some could not be changed. SLOOP_ENOSHARD. */
SLOOP_EXTERN int sloop_admin_reset(sloop_t *s, const char *shard_or_null, const sloop_position_t *to,
                                   int force, sloop_admin_cb cb, void *arg);

/* ---- metrics ----------------------------------------------------------------------------------------- */
typedef struct sloop_metrics_s sloop_metrics_t;
typedef struct {
  size_t size;                /* set by sloop_metrics_opts_init() */
  const char *listen;         /* "ADDRESS:PORT": GET /metrics (Prometheus), /ready, /healthz; port 0: any free
                                 one. NULL: off */
  const char *cloudwatch;     /* namespace to put metrics into once every cloudwatch_ms; NULL: off */
  int cloudwatch_as_motorway; /* 1: motorway's one metric instead of our own set; also switches it on, with
                                 motorway's namespace when none is given */
  uint32_t cloudwatch_ms;     /* 60000. From 1000 */
} sloop_metrics_opts_t;
#define sloop_metrics_opts_init(o) sloop_metrics_opts_init_sized((o), sizeof *(o))
SLOOP_EXTERN void sloop_metrics_opts_init_sized(sloop_metrics_opts_t *o, size_t size);
/* Opens metrics of s, before or after it starts, and of those given to sloop_metrics_add(). They are closed
 * with s, unless they were before. On failure *out is NULL and why says more: SLOOP_EOPTION, UV_EADDRINUSE and other reasons why the
 * address can't be listened on, UV_ENOMEM. Later failures of CloudWatch are told to on_log as warnings, once
 * until it works again; what was not told comes the next time. */
SLOOP_EXTERN int sloop_metrics_open(sloop_metrics_t **out, sloop_t *s, const sloop_metrics_opts_t *o,
                                    char *why, size_t why_size);
/* Adds a consumer, joined to s or s to it, until it is closed. SLOOP_EOPTION: it is not joined;
 * SLOOP_ESTATE: either is closed; UV_ENOMEM. */
SLOOP_EXTERN int sloop_metrics_add(sloop_metrics_t *m, sloop_t *joined);
/* "http://ADDRESS:PORT"; "" when it does not listen. Lives until close. */
SLOOP_EXTERN const char *sloop_metrics_url(const sloop_metrics_t *m);
/* Stops listening and telling; m is gone. NULL is fine. */
SLOOP_EXTERN void sloop_metrics_close(sloop_metrics_t *m);
#ifdef __cplusplus
}
#endif
#endif
