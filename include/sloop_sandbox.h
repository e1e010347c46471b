/* sloop_sandbox.h - an in-memory Kinesis with an HTTP front, for demos, tests and load.
 *
 * It speaks JSON and CBOR on a loopback port, keeps the service's limits, and takes orders: put
 * records, split and merge shards, and fail the next calls in a chosen way. Any client can talk to
 * it; credentials are not checked unless asked for.
 *
 * Rules: call these functions only on the thread of the loop given to sloop_sandbox_start().
 * Nothing here blocks. int results: 0, or a negative UV_E* / SLOOP_E* code.
 * _ms is milliseconds, _bytes is bytes. Link libsloop-sandbox.a before libsloop. */
#ifndef SLOOP_SANDBOX_H
#define SLOOP_SANDBOX_H
#include <stddef.h>
#include <stdint.h>
struct uv_loop_s;
#ifdef __cplusplus
extern "C" {
#endif

typedef struct sloop_sandbox_s sloop_sandbox_t;

typedef struct {
  size_t size;               /* set by sloop_sandbox_opts_init() */
  const char *address;       /* "127.0.0.1"; only loopback addresses are taken */
  uint16_t port;             /* 0: any free port */
  uint32_t iterator_ms;      /* 300000: how long a shard iterator lives */
  uint32_t next_token_ms;    /* 300000: how long a ListShards token lives */
  uint32_t change_ms;        /* 50: how long create, split, merge, delete take */
  uint32_t reads_per_second; /* 5 GetRecords calls a second and shard; 0: no limit */
  uint64_t read_bytes_per_second; /* 2 MiB a second and shard; 0: no limit */
  uint64_t write_bytes_per_second; /* 1 MiB a second and shard; 0: no limit */
  uint32_t write_records_per_second; /* 1000 a second and shard; 0: no limit */
  uint32_t list_page_max;    /* 1000 shards a ListShards page */
  const char *access_key, *secret_key; /* when set, a request with another key id, a bad signature or a
                                body that does not match it is refused as the service does */
  const char *session_token; /* when set, requests must carry it */
  int64_t clock_offset_ms;   /* added to this machine's clock: Date, arrival times, signatures */
  int cbor_indefinite;       /* 1 (default): CBOR answers use indefinite-length maps and arrays, as the
                                service does; 0: definite */
} sloop_sandbox_opts_t;
#define sloop_sandbox_opts_init(o) sloop_sandbox_opts_init_sized((o), sizeof *(o))
void sloop_sandbox_opts_init_sized(sloop_sandbox_opts_t *o, size_t size);

/* Listens at once. On failure *out is NULL. */
int sloop_sandbox_start(sloop_sandbox_t **out, struct uv_loop_s *loop, const sloop_sandbox_opts_t *o);
/* "http://127.0.0.1:PORT"; lives until stop. */
const char *sloop_sandbox_url(const sloop_sandbox_t *b);
/* Closes every connection; cb (may be NULL) is called on a later turn of the loop, then b is gone. */
void sloop_sandbox_stop(sloop_sandbox_t *b, void (*cb)(void *arg), void *arg);

/* Streams. A stream made here is ACTIVE at once. */
int sloop_sandbox_stream(sloop_sandbox_t *b, const char *name, uint32_t shards);
/* A stream whose records are computed from seed, shard and number when read and never stored: every
 * shard has `records` records (UINT64_MAX: without end) of `record_bytes`, arriving at
 * `records_per_second` since the stream was made (0: all there from the beginning). */
int sloop_sandbox_synthetic(sloop_sandbox_t *b, const char *name, uint32_t shards, uint64_t records,
                            uint32_t record_bytes, uint64_t records_per_second, uint64_t seed);
/* Puts one record. Writes the sequence number and shard id when the pointers are not NULL. */
int sloop_sandbox_put(sloop_sandbox_t *b, const char *stream, const char *key, size_t key_len,
                      const void *data, size_t data_len, char seq[130], char shard[129]);
int sloop_sandbox_split(sloop_sandbox_t *b, const char *stream, const char *shard, const char *new_start_hash_or_null);
int sloop_sandbox_merge(sloop_sandbox_t *b, const char *stream, const char *shard, const char *adjacent);
/* Drops every record that arrived before this moment, and closed shards left empty: as retention does. */
int sloop_sandbox_trim(sloop_sandbox_t *b, const char *stream, int64_t before_ms);
/* Moves the sandbox's clock on (negative: back). */
void sloop_sandbox_move_clock(sloop_sandbox_t *b, int64_t ms);

/* Faults. The script is lines of: COUNT OPERATION SHARD ACTION [ARGUMENT]
 *   COUNT      a number, or * for ever
 *   OPERATION  GetRecords, GetShardIterator, ListShards, ... or * for any
 *   SHARD      a shard id or its end ("3" means ...3), or * for any
 *   ACTION     error CODE[:STATUS[:MESSAGE]] | delay MS | cut BYTES | drop | throttle | expired |
 *              status CODE | body TEXT | html | no-next | no-children | children-with-next |
 *              children-without-parents | empty | empty-object | behind VALUE | repeat | backwards |
 *              foreign | bad-base64 | trailing | gzip | json-for-cbor | cbor-cut
 * Each matching call uses up the first line that matches. '#' starts a comment. Adds to what is there;
 * NULL clears all. UV_EINVAL with the line's text in `why` when a line is not understood. */
int sloop_sandbox_faults(sloop_sandbox_t *b, const char *script, char why[160]);
/* The same by HTTP: POST /_sandbox/faults with the script as the body (DELETE clears);
 * POST /_sandbox/clock with milliseconds as text; POST /_sandbox/trim?stream=NAME&before=MS;
 * POST /_sandbox/synthetic?name=N&shards=S&records=R&bytes=B&rate=Q&seed=X;
 * GET /_sandbox/stats answers calls and bytes by operation as JSON. */

typedef struct {
  uint64_t requests, errors, bytes_in, bytes_out;
  uint64_t records_in, records_out;
  uint64_t faults_used;
} sloop_sandbox_stats_t;
void sloop_sandbox_stats(const sloop_sandbox_t *b, sloop_sandbox_stats_t *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
