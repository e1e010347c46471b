/* sloop_sandbox.h - an in-memory Kinesis, DynamoDB and DynamoDB Streams with an HTTP front, for demos,
 * tests and load.
 *
 * It speaks JSON and CBOR on a loopback port, by HTTP/1.1 and, where it was built with libnghttp2, by
 * HTTP/2 in the clear with prior knowledge. It keeps the services' limits and takes orders: put records, split
 * and merge shards, roll shards of changes over, and fail the next calls in a chosen way. Any client can talk
 * to it; credentials are not checked unless asked for. A member of a request to Kinesis or DynamoDB Streams
 * that it does not know is refused, since to ignore it may be to do what was not asked for. Requests that are
 * not there whole or not answered may take 256 MiB together, those under 64 KiB apart; one that needs more
 * gets 503.
 *
 * Rules: call these functions only on the thread of the loop given to sloop_sandbox_start().
 * Ignore SIGPIPE, as sloop.h says: a client that leaves before it has its answer would end the process.
 * Nothing here blocks. int results: 0, or a negative UV_E* / SLOOP_E* code.
 * _ms is milliseconds, _bytes is bytes. Link libsloop-sandbox.a, behind it libsloop.a, whose insides it
 * needs (the shared library does not show them), and libnghttp2 where it was built with that. sloop(7) has
 * the command. */
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
  const char *access_key, *secret_key; /* when set, a request with another key id, a bad signature or a
                                body that does not match it is refused as the service does */
  const char *session_token;           /* when set, requests must carry it */
  int64_t clock_offset_ms;             /* added to this machine's clock: Date, arrival times, signatures */
  int cbor_indefinite; /* 1 (default): CBOR answers use indefinite-length maps and arrays, as the
                          service does; 0: definite */
  /* Tables and their streams. */
  uint32_t table_partitions; /* 4: shards a table's new stream has at once */
  uint32_t roll_ms;          /* 14400000: about so long is a shard of changes open; 0: for ever. A stream that
                                  keeps 100000 shards rolls over no more */
  uint32_t change_iterator_ms;      /* 900000: how long an iterator of changes lives */
  uint32_t change_readers_max;      /* 2 may read a shard of changes within a second; 0: no limit */
  uint32_t change_reads_per_second; /* 0: no limit. GetRecords calls a second and shard of changes */
  uint32_t describes_per_second;    /* 10 DescribeStream calls a second for tables' streams; 0: no limit */
  uint32_t lists_per_second;        /* 5 ListStreams calls a second for tables' streams; 0: no limit */
  /* Enhanced fan-out. */
  uint32_t subscription_ms;       /* 300000: how long a subscription lives */
  uint32_t resubscribe_ms;        /* 5000: a subscription of the same consumer and shard is refused so long */
  uint32_t idle_event_ms;         /* 5000: an event comes at least so often */
  uint64_t push_bytes_per_second; /* 2 MiB a second, consumer and shard; 0: no limit */
  uint32_t consumer_limits;       /* 1: the service's rates of calls about consumers; 0: no limit */
  /* Tables. */
  uint32_t
      key_limits; /* 1: 1000 units written and 3000 read a second for one partition key, transactions apart;
                          0: no limit */
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
 * `records_per_second` since the stream was made (0: all there from the beginning, as if 64 had come to
 * each shard in every millisecond from 12 hours ago on). Record 0, 1, ... of a shard holds its number
 * and the shard's, each 8 bytes little-endian, then filler. Nothing can be put into it. */
int sloop_sandbox_synthetic(sloop_sandbox_t *b, const char *name, uint32_t shards, uint64_t records,
                            uint32_t record_bytes, uint64_t records_per_second, uint64_t seed);
/* Puts one record, whatever the limits of writing say. Writes the sequence number and shard id when the
 * pointers are not NULL. key NULL: it has none, which only streams take whose RecordDistributionStrategy is
 * AUTO (CreateStream, UpdateStreamRecordDistributionStrategy). UV_ENOENT: no such stream; UV_EINVAL: a key
 * that is missing, empty, over 1024 bytes or not
 * UTF-8, data over 10 MiB, or a synthetic stream. */
int sloop_sandbox_put(sloop_sandbox_t *b, const char *stream, const char *key, size_t key_len,
                      const void *data, size_t data_len, char seq[130], char shard[129]);
/* At once, whatever change_ms says. new_start_hash NULL: in the middle. UV_ENOENT, UV_EINVAL (closed, not
 * adjacent, hash outside the shard), UV_EBUSY (a change asked for over HTTP is under way). */
int sloop_sandbox_split(sloop_sandbox_t *b, const char *stream, const char *shard,
                        const char *new_start_hash_or_null);
int sloop_sandbox_merge(sloop_sandbox_t *b, const char *stream, const char *shard, const char *adjacent);
/* Drops every record that arrived before this moment, and shards that were closed by then and are left
 * empty: as retention does. */
int sloop_sandbox_trim(sloop_sandbox_t *b, const char *stream, int64_t before_ms);
/* Tables of DynamoDB and their streams. Streams are had by CreateTable and UpdateTable as with the service;
 * a table made here has the key "id" (a string) and a stream at once, with so many open shards. view_type:
 * KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES. UV_EEXIST, UV_EINVAL. */
int sloop_sandbox_table(sloop_sandbox_t *b, const char *name, uint32_t partitions, const char *view_type);
/* A change in a table's stream that no item made: JSON as the service writes items, NUL-ended; old_image
 * NULL: INSERT, new_image NULL: REMOVE. UV_ENOENT: no enabled stream; UV_EINVAL: no JSON, or no partition
 * key. */
int sloop_sandbox_change(sloop_sandbox_t *b, const char *table, const char *keys,
                         const char *old_image_or_null, const char *new_image_or_null, int by_ttl);
/* Closes every open shard of the table's stream; each goes on in one child, or with split in two. A stream
 * that has 100,000 shards gets no more. */
int sloop_sandbox_roll(sloop_sandbox_t *b, const char *table, int split);
/* Drops every change made before this moment, and shards closed by then and left empty, from all streams the
 * table has had: as the service does after 24 hours. */
int sloop_sandbox_trim_table(sloop_sandbox_t *b, const char *table, int64_t before_ms);
/* Things that the service does at times to readers of a table's stream (table NULL: of every table, those to
 * come too). Value 0 turns a quirk off. UV_EINVAL: no such quirk.
 *   open-parents 1    a closed shard that has children is listed without its EndingSequenceNumber
 *   late-children MS  a child is listed only so long after its parent closed
 *   empty-lists 1     every other page of DescribeStream is empty although there is more
 *   empty-gets N      N pages without records come before each page with some
 *   child-filter N    1: ShardFilter of DescribeStream is ignored; 2: it is refused
 *   keep-open 1       shards roll over no more by themselves, whatever roll_ms says
 *   no-times 1        GetShardIterator refuses AT_TIMESTAMP, as servers do that do not know it
 *   split-every N     every N-th rollover gives two children, up to 1000 open shards */
int sloop_sandbox_quirk(sloop_sandbox_t *b, const char *table_or_null, const char *name, uint32_t value);
/* Eventually consistent reads of that table, and of its indexes, show what was there up to so long ago, each
 * read another moment; 0: they show what is. */
int sloop_sandbox_stale(sloop_sandbox_t *b, const char *table, uint32_t ms);
/* Moves the sandbox's clock on (negative: back). */
void sloop_sandbox_move_clock(sloop_sandbox_t *b, int64_t ms);

/* Faults. The script is lines of: COUNT OPERATION SHARD ACTION [ARGUMENT]
 *   COUNT      a number, or * for ever
 *   OPERATION  GetRecords, GetShardIterator, ListShards, ... or * for any
 *   SHARD      a number (3 is shardId-000000000003), a shard id, the end of one, or * for any. Calls that
 *              name no shard (ListShards, PutRecords, ...) match only *. For DynamoDB: the name of a table
 *              the call is about; for its Streams also the table's, where a call names no shard
 * A name that Kinesis and DynamoDB Streams both have (GetRecords, ...) is that operation of either.
 * Each call uses up one COUNT of the first line that holds for it. '#' starts a comment.
 *
 * ACTIONs that answer instead of the operation, which is not carried out:
 *   error CODE[:STATUS[:MESSAGE]]  that error; STATUS 400 (500 for InternalFailure...) unless given
 *   error-in-header CODE[:STATUS]  the same, but named by the header x-amzn-ErrorType alone; no body
 *   throttle        ProvisionedThroughputExceededException for reads and writes of a shard or of items,
 *                   else LimitExceededException; of DynamoDB's other operations ThrottlingException
 *   expired         ExpiredIteratorException (GetRecords) or ExpiredNextTokenException (ListShards);
 *                   the line does not hold for other operations
 *   status CODE     that HTTP status with no body and no content type
 *   body TEXT       status 200, the usual content type, and the rest of the line as the body, where \xNN is
 *                   a byte, \n a line feed and \\ a backslash
 *   html            status 200 and a page of text/html, as a captive portal gives
 * ACTIONs on the answer of an operation that was carried out, whatever it is:
 *   delay MS        it comes that much later
 *   cut BYTES       the connection is reset after so many bytes of head and body; by HTTP/2, of the body,
 *                   and with 0 there is no head either. Other requests of that connection end with it, as
 *                   with drop
 *   drop            the connection is closed without any answer; "lost" is another word for it
 *   twice           the operation is carried out two times; the answer is the second one's
 *   bad-crc         x-amz-crc32 is not the body's (holds only for calls of DynamoDB, not of its Streams)
 *   trailing        two bytes follow the end of the body's value
 *   gzip            Content-Encoding: gzip, unasked
 *   json-for-cbor   a call in CBOR is answered in JSON (holds only for calls in CBOR)
 *   cbor-cut        status 200 and a whole HTTP message, but the CBOR ends after 16384 bytes, or one byte
 *                   early when it is shorter (holds only for calls in CBOR)
 * ACTIONs on the page of a GetRecords that succeeds; each line waits for a page it can change, and lets
 * lines after it act meanwhile:
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
 * Adds to what is there, all of the script or nothing; NULL clears all. UV_EINVAL with the line's text in
 * `why` (may be NULL) when a line is not understood. */
int sloop_sandbox_faults(sloop_sandbox_t *b, const char *script, char *why, size_t why_size);
/* The same by HTTP, for other processes; 200, or 4xx with a line of text. 403, without one: the request names
 * a page (Origin), or its Host is neither localhost nor an address; a browser's page has no business here.
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
