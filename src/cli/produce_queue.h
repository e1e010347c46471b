/* produce_queue.h - the records that were read and are not put yet, and which of them may go into the next
 * call.
 *
 * PutRecords does not keep the order of a call's entries (API reference), and may refuse single entries. So
 * all records of a key that are in flight are in one entry of one call, and later records of that key wait.
 * An entry is one record, or with --aggregate (produce_aggregate.h) an aggregate of several records. Records
 * of different keys may be put in any order. */
#ifndef SLP_CLI_PRODUCE_QUEUE_H
#define SLP_CLI_PRODUCE_QUEUE_H

#include "base/list.h"
#include "base/mem.h"

#define SLP_PUT_BATCH_RECORDS 500u /* the most records of a call (API reference, PutRecords) */
/* The most bytes of a call. The service accepts 10 MiB since 2025. Before, it accepted 5 MiB, as most local
 * servers still do. A larger record is put alone. */
#define SLP_PUT_BATCH_BYTES (5u * 1024 * 1024)
/* A stream accepts records of up to 1 MiB, unless it was configured for larger ones. A larger record may be
 * refused together with the whole call, so it is put alone. */
#define SLP_PUT_ALONE_BYTES (1024u * 1024)

/* Freed blocks of memory for records and keys are kept for later ones, in a list for each multiple of
 * SLP_PUT_BLOCK_STEP bytes. Larger blocks, and blocks beyond SLP_PUT_KEPT_BYTES in all, are freed. */
#define SLP_PUT_BLOCK_STEP 64u
#define SLP_PUT_BLOCK_LISTS 40u
#define SLP_PUT_KEPT_BYTES ((size_t)4 << 20)
#define SLP_PUT_BUCKETS 8192u /* a power of two; up to 20,000 records wait */

typedef struct slp_put_key {
  slp_list link; /* in `ready`, `resting` or `busy` of the queue */
  slp_list records;
  uint64_t at_us;           /* when the key's first record may be put again; 0: at once */
  uint32_t in_calls;        /* how many of the key's records are in a call: the first ones of `records` */
  struct slp_put_key *next; /* in `buckets` of the queue */
  uint32_t bucket;
  uint8_t mapped;   /* 1: the key is in `buckets` of the queue */
  uint8_t has_hash; /* 1: `hash` is computed */
  uint8_t hash[16]; /* the hash key that the service computes from `name`: its MD5 */
  slp_str name;     /* points to text */
  char text[];
} slp_put_key;

typedef struct slp_put_record {
  slp_list link; /* in the records of its key */
  slp_put_key *of;
  uint64_t number; /* number of the line, from 1 */
  size_t input;    /* index of the file; for error lines */
  uint32_t tries;  /* how often the service has failed to put the record */
  /* The most records, including those inside aggregates, of a call that has this record. Halved when a whole
   * call is refused, until the record that is to blame is alone. */
  uint32_t together;
  uint32_t strays;             /* how often the record was in an aggregate that was stored in a wrong shard */
  struct slp_put_record *more; /* in a call: the next record of the same aggregate; NULL: the last one */
  slp_str key, data, hash_key; /* hash_key.n 0: none */
  slp_str raw;                 /* the line as it was read, without its delimiter */
  uint8_t delimited;           /* 1: a delimiter followed the line */
  uint8_t unsure;              /* 1: a call with the record got no answer, so it may be in the stream */
  size_t bytes;                /* bytes of memory that the record takes */
  char text[];
} slp_put_record;

typedef struct slp_put_queue {
  slp_mem *mem;
  /* Owned; NULL until the first key: a hash table with SLP_PUT_BUCKETS lists of keys. It has each key that
   * has records, except random keys. */
  slp_put_key **buckets;
  slp_list ready;   /* keys whose first record may be put now */
  slp_list resting; /* keys whose first record may be put again only at at_us */
  slp_list busy;    /* keys with a record in a call */
  size_t records, bytes;
  /* kept[i]: the first block of a list; each block begins with a pointer to the next block */
  void *kept[SLP_PUT_BLOCK_LISTS];
  size_t kept_bytes;
  /* ready_keys: how many keys are in `ready`; ready_bytes: the bytes of their first records */
  size_t ready_keys, ready_bytes;
  size_t in_calls, in_calls_bytes; /* the parts of `records` and `bytes` that are in calls */
  /* the most records of a call, including those inside aggregates; copied to `together` of each new record */
  uint32_t together;
  uint8_t unordered; /* 1: records of a key may be put in any order */
} slp_put_queue;

void slp_put_queue_init(slp_put_queue *q, slp_mem *mem);
void slp_put_queue_free(slp_put_queue *q); /* also frees all records */

typedef struct slp_put_new { /* a record to be added */
  slp_str raw, key, data, hash_key;
  uint64_t number;
  size_t input;
  uint8_t delimited;
  uint8_t random; /* 1: no other record has this key */
} slp_put_new;
/* Adds a copy of the record. Returns 0 or SLP_ENOMEM. */
int slp_put_queue_add(slp_put_queue *q, const slp_put_new *n);
/* Takes records for one call, at most SLP_PUT_BATCH_RECORDS, and returns how many. They stay in the queue;
 * the caller must pass each to slp_put_queue_done() or slp_put_queue_again(). */
size_t slp_put_queue_take(slp_put_queue *q, slp_put_record **batch);
/* Takes r for a call. r must be the first record of the key k that is in no call yet. */
void slp_put_queue_take_one(slp_put_queue *q, slp_put_key *k, slp_put_record *r);
/* Returns the record of the key k that comes after r, or the first record of k if r is NULL. Returns NULL if
 * there is no such record. */
slp_put_record *slp_put_queue_after(const slp_put_key *k, const slp_put_record *r);
/* Frees a taken record that is put, or will never be put. Afterwards the next record of its key may be
 * put. */
void slp_put_queue_done(slp_put_queue *q, slp_put_record *r);
/* Puts back a taken record that is to be put again at `at_us`, before later records of its key. 0: as soon as
 * possible. */
void slp_put_queue_again(slp_put_queue *q, slp_put_record *r, uint64_t at_us);
/* Moves keys whose at_us has passed from `resting` to `ready`. Returns the time to call this function again;
 * UINT64_MAX: no key is in `resting`. */
uint64_t slp_put_queue_wake(slp_put_queue *q, uint64_t now_us);
/* Removes the first record of any key that is not in a call, and returns it; NULL: there is none. The caller
 * must free the record with slp_put_record_free(). */
slp_put_record *slp_put_queue_pop(slp_put_queue *q);
void slp_put_record_free(slp_put_queue *q, slp_put_record *r);
size_t slp_put_count(const slp_put_record *first); /* the number of records of an entry of a call */

#endif
