/* sloop_sandbox.h - an in-memory Kinesis, DynamoDB and DynamoDB Streams with an HTTP front, for demos,
 * tests and load.
 *
 * It speaks JSON and CBOR on a loopback port, by HTTP/1.1 and, where it was built with libnghttp2, by
 * HTTP/2 in the clear with prior knowledge. It keeps the services' limits. On request it puts records, splits
 * and merges shards, rolls over the shards of a table's stream, and makes the next calls fail as told.
 * Any client can talk to it. Credentials are checked only if access_key is set. A request to Kinesis or
 * DynamoDB Streams with a member that the sandbox does not know is refused: ignoring it could mean doing
 * something else than what was asked for. Requests that are still arriving or not answered yet may take
 * 256 MiB together, not counting those under 64 KiB; one that needs more gets 503.
 *
 * Rules: call these functions only on the thread of the loop given to sloop_sandbox_start().
 * Ignore SIGPIPE, as sloop.h says: a client that leaves before it has its answer would end the process.
 * Nothing here blocks. int results: 0, or a negative UV_E* / SLOOP_E* code.
 * _ms is milliseconds, _bytes is bytes. A "shard of changes" is a shard of a table's stream. Link
 * libsloop-sandbox.a, then libsloop.a, because the sandbox uses functions that the shared library does not
 * export, and libnghttp2 if the sandbox was built with that. sloop(7) has the command. */
#ifndef SLOOP_SANDBOX_H
#define SLOOP_SANDBOX_H
#include <stddef.h>
#include <stdint.h>
struct uv_loop_s;
#ifdef __cplusplus
extern "C" {
#endif

typedef struct sloop_sandbox_s sloop_sandbox_t;

typedef struct sloop_sandbox_opts_s {
  size_t size;                         /* set by sloop_sandbox_opts_init() */
  const char *address;                 /* "127.0.0.1"; only loopback addresses are taken */
  uint16_t port;                       /* 0: any free port */
  uint32_t iterator_ms;                /* 300000: how long a shard iterator lives */
  uint32_t next_token_ms;              /* 300000: how long a ListShards token lives */
  uint32_t change_ms;                  /* 50: how long create, split, merge, delete take */
  uint32_t reads_per_second;           /* 5 GetRecords calls a second and shard; 0: no limit */
  uint64_t read_bytes_per_second;      /* 2 MiB a second and shard; 0: no limit */
  uint64_t write_bytes_per_second;     /* 1 MiB a second and shard; 0: no limit */
  uint32_t write_records_per_second;   /* 1000 a second and shard; 0: no limit */
  uint32_t list_page_max;              /* 1000 shards a ListShards page */
  const char *access_key, *secret_key; /* when set, a request with another key id, a bad signature, or a
                                body that does not match its signature is refused, as the service does */
  const char *session_token;           /* when set, requests must carry it */
  int64_t clock_offset_ms;             /* added to this machine's clock: Date, arrival times, signatures */
  int cbor_indefinite; /* 1 (default): CBOR answers use indefinite-length maps and arrays, as the
                          service does; 0: definite */
  /* Tables and their streams. */
  uint32_t table_partitions; /* 4: shards a table's new stream has at once */
  uint32_t roll_ms;          /* 14400000: about how long a shard of changes stays open; 0: for ever. A stream
                                  that keeps 100000 shards rolls over no more */
  uint32_t change_iterator_ms;      /* 900000: how long an iterator of changes lives */
  uint32_t change_readers_max;      /* 2: readers of a shard of changes within a second; 0: no limit */
  uint32_t change_reads_per_second; /* 0: no limit; else GetRecords calls a second for a shard of changes */
  uint32_t describes_per_second;    /* 10 DescribeStream calls a second for tables' streams; 0: no limit */
  uint32_t lists_per_second;        /* 5 ListStreams calls a second for tables' streams; 0: no limit */
  /* Enhanced fan-out. */
  uint32_t subscription_ms; /* 300000: how long a subscription lives */
  uint32_t resubscribe_ms; /* 5000: how long another subscription of the same consumer and shard is refused */
  uint32_t idle_event_ms;  /* 5000: the longest time between two events */
  uint64_t push_bytes_per_second; /* 2 MiB a second, consumer and shard; 0: no limit */
  uint32_t consumer_limits;       /* 1: the service's rates of calls about consumers; 0: no limit */
  /* Tables. */
  uint32_t
      key_limits; /* 1: one partition key takes 1000 write units and 3000 read units a second, not counting
                          transactions; 0: no limit */
} sloop_sandbox_opts_t;
#define sloop_sandbox_opts_init(o) sloop_sandbox_opts_init_sized((o), sizeof *(o))
void sloop_sandbox_opts_init_sized(sloop_sandbox_opts_t *o, size_t size);

/* Starts a sandbox, which listens at once. On failure *out is NULL. */
int sloop_sandbox_start(sloop_sandbox_t **out, struct uv_loop_s *loop, const sloop_sandbox_opts_t *o);
/* "http://127.0.0.1:PORT"; lives until stop. */
const char *sloop_sandbox_url(const sloop_sandbox_t *b);
/* Closes every connection; cb (may be NULL) is called on a later turn of the loop, then b is gone. */
void sloop_sandbox_stop(sloop_sandbox_t *b, void (*cb)(void *arg), void *arg);

/* Makes a stream, which is ACTIVE at once. */
int sloop_sandbox_stream(sloop_sandbox_t *b, const char *name, uint32_t shards);
/* Makes a stream whose records are never stored: they are computed from seed, shard and number when they are
 * read. Every shard has `records` records (UINT64_MAX: without end) of `record_bytes`. They arrive at
 * `records_per_second` from when the stream was made; 0: all are there at once, as if 64 had come to each
 * shard in every millisecond from 12 hours ago on. A record holds its number (0, 1, ...) and that of its
 * shard, each 8 bytes little-endian, then filler. Nothing can be put into such a stream. */
int sloop_sandbox_synthetic(sloop_sandbox_t *b, const char *name, uint32_t shards, uint64_t records,
                            uint32_t record_bytes, uint64_t records_per_second, uint64_t seed);
/* Puts one record; limits of writing do not apply. seq and shard get its sequence number and shard id, unless
 * they are NULL. key NULL: the record has none. Only a stream takes that whose RecordDistributionStrategy is
 * AUTO (CreateStream, UpdateStreamRecordDistributionStrategy). UV_ENOENT: no such stream; UV_EINVAL: a key
 * that is missing, empty, over 1024 bytes or not UTF-8, data over 10 MiB, or a synthetic stream. */
int sloop_sandbox_put(sloop_sandbox_t *b, const char *stream, const char *key, size_t key_len,
                      const void *data, size_t data_len, char seq[130], char shard[129]);
/* Split and merge shards at once, whatever change_ms says. new_start_hash NULL: in the middle. UV_ENOENT;
 * UV_EINVAL: closed, not adjacent, or the hash is outside the shard; UV_EBUSY: a change that was asked for
 * over HTTP is under way. */
int sloop_sandbox_split(sloop_sandbox_t *b, const char *stream, const char *shard,
                        const char *new_start_hash_or_null);
int sloop_sandbox_merge(sloop_sandbox_t *b, const char *stream, const char *shard, const char *adjacent);
/* Drops every record that arrived before before_ms, as retention does, and shards that were closed by then
 * and are empty now. */
int sloop_sandbox_trim(sloop_sandbox_t *b, const char *stream, int64_t before_ms);
/* Makes a table of DynamoDB with the key "id" (a string) and a stream, which has `partitions` open shards at
 * once. view_type: KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES. CreateTable and UpdateTable make
 * tables and streams as with the service. UV_EEXIST, UV_EINVAL. */
int sloop_sandbox_table(sloop_sandbox_t *b, const char *name, uint32_t partitions, const char *view_type);
/* Adds a change to a table's stream without a change of an item. keys and images are NUL-ended JSON, as the
 * service writes items. old_image NULL: INSERT; new_image NULL: REMOVE. by_ttl 1: as if the item had
 * expired. UV_ENOENT: no enabled stream; UV_EINVAL: no JSON, or no partition key. */
int sloop_sandbox_change(sloop_sandbox_t *b, const char *table, const char *keys,
                         const char *old_image_or_null, const char *new_image_or_null, int by_ttl);
/* Closes every open shard of the table's stream. Each has one child, or with split 1 two. A stream that has
 * 100,000 shards gets no more. */
int sloop_sandbox_roll(sloop_sandbox_t *b, const char *table, int split);
/* Drops every change made before before_ms, as the service does after 24 hours, and shards that were
 * closed by then and are empty now. From all streams that the table has had. */
int sloop_sandbox_trim_table(sloop_sandbox_t *b, const char *table, int64_t before_ms);
/* Turns on a quirk: something that the service at times does to readers of a table's stream. table NULL: of
 * every table, future ones too. Value 0 turns the quirk off. UV_EINVAL: no such quirk.
 *   open-parents 1    a closed shard that has children is listed without its EndingSequenceNumber
 *   late-children MS  a child is listed only MS milliseconds after its parent closed
 *   empty-lists 1     every other page of DescribeStream is empty although there is more
 *   empty-gets N      N pages without records come before each page with some
 *   child-filter N    1: ShardFilter of DescribeStream is ignored; 2: it is refused
 *   keep-open 1       shards roll over no more by themselves, whatever roll_ms says
 *   no-times 1        GetShardIterator refuses AT_TIMESTAMP, as servers do that do not know it
 *   split-every N     every N-th rollover gives two children, up to 1000 open shards */
int sloop_sandbox_quirk(sloop_sandbox_t *b, const char *table_or_null, const char *name, uint32_t value);
/* Makes eventually consistent reads of that table and of its indexes show a past state: each read that of a
 * moment up to ms ago. 0: they show the present one. */
int sloop_sandbox_stale(sloop_sandbox_t *b, const char *table, uint32_t ms);
/* Moves the sandbox's clock forward by ms; negative: back. */
void sloop_sandbox_move_clock(sloop_sandbox_t *b, int64_t ms);

/* Faults. The script is lines of: COUNT OPERATION SHARD ACTION [ARGUMENT]
 *   COUNT      a number, or * for ever
 *   OPERATION  GetRecords, GetShardIterator, ListShards, ... or * for any
 *   SHARD      a number (3 is shardId-000000000003), a shard id, the end of one, or * for any. Calls that
 *              name no shard (ListShards, PutRecords, ...) match only *. For DynamoDB: the name of a table
 *              the call is about; for its Streams also the table's, where a call names no shard
 * A name that Kinesis and DynamoDB Streams both have (GetRecords, ...) is that operation of either.
 * Each call uses up one COUNT of the first line that matches it. '#' starts a comment.
 *
 * ACTIONs that answer instead of the operation, which is not carried out:
 *   error CODE[:STATUS[:MESSAGE]]  that error; STATUS 400 (500 for InternalFailure...) unless given
 *   error-in-header CODE[:STATUS]  the same, but named by the header x-amzn-ErrorType alone; no body
 *   throttle        ProvisionedThroughputExceededException for reads and writes of a shard or of items,
 *                   else LimitExceededException; of DynamoDB's other operations ThrottlingException
 *   expired         ExpiredIteratorException (GetRecords) or ExpiredNextTokenException (ListShards);
 *                   the line does not match other operations
 *   status CODE     that HTTP status with no body and no content type
 *   body TEXT       status 200, the usual content type, and the rest of the line as the body, where \xNN is
 *                   a byte, \n a line feed and \\ a backslash
 *   html            status 200 and a page of text/html, as a captive portal gives
 * ACTIONs on the answer of an operation that was carried out, whatever it is:
 *   delay MS        the answer comes MS milliseconds later
 *   cut BYTES       the connection is reset after BYTES bytes of head and body; by HTTP/2, of the body,
 *                   and with 0 there is no head either. Other requests of that connection end with it, as
 *                   with drop
 *   drop            the connection is closed without any answer; "lost" is another word for it
 *   twice           the operation is carried out two times; the answer is the second one's
 *   bad-crc         x-amz-crc32 is not the body's (matches only calls of DynamoDB, not of its Streams)
 *   trailing        two bytes follow the end of the body's value
 *   gzip            Content-Encoding: gzip, unasked
 *   json-for-cbor   a call in CBOR is answered in JSON (matches only calls in CBOR)
 *   cbor-cut        status 200 and a whole HTTP message, but the CBOR ends after 16384 bytes, or one byte
 *                   early when it is shorter (matches only calls in CBOR)
 * ACTIONs on the page of a GetRecords that succeeds. Each line waits for a page that it can change; until
 * then lines after it may act:
 *   no-next         neither NextShardIterator nor ChildShards; the records are there
 *   no-children     the page that ends a shard comes without ChildShards
 *   children-with-next        a page that does not end its shard also has ChildShards: the real children,
 *                   or shardId-999999999999 when there are none yet
 *   children-without-parents  the page that ends a shard has children whose ParentShards is empty
 *   empty           no records although there may be some; the next iterator is at the same place
 *   empty-object    the answer is {}
 *   behind VALUE    MillisBehindLatest is VALUE as written; "absent" leaves it out (in CBOR a VALUE that is
 *                   no 64-bit integer becomes null)
 *   repeat          the page's first record comes twice in a row
 *   backwards       the page's records come in reverse order (two at least)
 *   foreign         the first record's sequence number belongs to the next shard
 *   bad-base64      the first record's Data is the text "!!!!", in CBOR too
 * ACTIONs on an event of a subscription; OPERATION is SubscribeToShardEvent: error (an exception of that
 * name, which ends the subscription), error-in-header (a message of the type "error"), delay, cut (so many
 * bytes of the event are sent), drop, bad-crc (the message's checksum is wrong), no-children, and
 *   silence         nothing more is sent, until the client leaves
 *   unknown-event   an event of a type that no client knows; its records come with the next one
 * On SubscribeToShard itself:
 *   no-initial-response  the events come without an initial response before them
 * Of those on pages, DynamoDB Streams know no-next, empty, empty-object, repeat, backwards and foreign (a
 * number beyond the shard's).
 *
 * Adds the script to the lines that are there, as a whole or not at all; NULL clears all lines.
 * UV_EINVAL with the line's text in `why` (may be NULL) when a line is not understood. */
int sloop_sandbox_faults(sloop_sandbox_t *b, const char *script, char *why, size_t why_size);
/* Other processes do the same by HTTP. The answer is 200, or 4xx with a line of text. It is 403 without such
 * a line if the request names a page (Origin), or if its Host is neither localhost nor an address: pages in a
 * browser are kept out.
 *   POST /_sandbox/faults with the script as the body (DELETE clears)
 *   POST /_sandbox/clock with milliseconds to move by as text (GET answers the sandbox's time in ms)
 *   POST /_sandbox/trim?stream=NAME&before=MS and /_sandbox/trim?table=NAME&before=MS
 *   POST /_sandbox/stream?name=N&shards=S
 *   POST /_sandbox/split?stream=N&shard=ID[&at=HASH] and /_sandbox/merge?stream=N&shard=ID&adjacent=ID
 *   POST /_sandbox/synthetic?name=N&shards=S&records=R&bytes=B&rate=Q&seed=X (records=* : without end)
 *   POST /_sandbox/table?name=N&partitions=P[&view=KEYS_ONLY], /_sandbox/roll?table=N[&split=1]
 *   POST /_sandbox/stale?table=N&ms=MS
 *   POST /_sandbox/quirk?[table=N&]name=QUIRK&value=V
 *   POST /_sandbox/change?table=N[&ttl=1]: the body has a line KEYS<tab>OLD<tab>NEW for each change, JSON on
 *     one line each, - for no image
 *   GET /_sandbox/stats: calls, errors and bytes by operation as JSON, and the most GetRecords calls any
 *     shard got within one second, of a stream and of a table's stream */

typedef struct sloop_sandbox_stats_s {
  uint64_t requests, errors, bytes_in, bytes_out;
  uint64_t records_in, records_out;
  uint64_t faults_used;
} sloop_sandbox_stats_t;
void sloop_sandbox_stats(const sloop_sandbox_t *b, sloop_sandbox_stats_t *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
