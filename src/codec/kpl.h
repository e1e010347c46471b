/* kpl.h - expands aggregates of the Kinesis Producer Library. An aggregate is one record of the stream that
 * holds many user records.
 *
 * The data of an aggregate is: four magic bytes, a protobuf message, the MD5 of the message. The message has
 * a table of partition keys, a table of explicit hash keys, and records that point into both. Expanding a
 * page replaces each aggregate by its records. `sub` is the index of the record; sequence number and arrival
 * time are those of the aggregate; key and data lie within the bytes of the aggregate. Nothing is copied. An
 * aggregate is expanded whole or not at all. Not expanded is an aggregate:
 *   - without the magic bytes, or too short for any message: it is an ordinary record, and is not changed;
 *   - with a wrong MD5, an invalid message, an index outside its tables, or too many records: it is left
 *     whole, flagged SLP_REC_RAW;
 *   - without records: it becomes a single row flagged SLP_REC_EMPTY. */
#ifndef SLP_CODEC_KPL_H
#define SLP_CODEC_KPL_H

#include "base/mem.h"
#include "codec/page.h"

/* Magic bytes, MD5 and at least one byte between them. */
#define SLP_KPL_BYTES_MIN 21
/* The most records of one aggregate, and the most entries of each of its tables. An aggregate of 1 MiB has
 * fewer records, even if all of them are as short as possible. */
#define SLP_KPL_RECORDS_MAX 250000
/* The most rows of an expanded page; the table then takes 20 MB. A page with more ends before the aggregate
 * that does not fit, and has no next iterator: reading continues from the page's last record. Two aggregates
 * always fit. */
#define SLP_KPL_PAGE_RECORDS_MAX 500000

/* Returns 1 if the data begins with the magic bytes and is long enough for an aggregate. */
static inline int slp_kpl_begins_like(slp_str data) {
  return data.n >= SLP_KPL_BYTES_MIN && memcmp(data.p, "\xF3\x89\x9A\xC2", 4) == 0;
}

typedef struct slp_hash_range { /* the hash keys of a shard, from first to last, both included; big-endian */
  uint8_t first[16], last[16];
} slp_hash_range;

static inline int slp_hash_range_has(const slp_hash_range *range, const uint8_t hash[16]) {
  return memcmp(hash, range->first, 16) >= 0 && memcmp(hash, range->last, 16) <= 0;
}

typedef struct slp_kpl slp_kpl;
slp_kpl *slp_kpl_new(slp_mem *mem); /* one slp_kpl serves many pages, one after the other. NULL: no memory */
void slp_kpl_free(slp_kpl *k);      /* NULL is fine */
/* Begins to expand a page, which slp_page_read() must have filled. range: the hash keys of the page's shard;
 * a record with a key outside is foreign. NULL: not known, no record is foreign. page and range are borrowed
 * until slp_kpl_step() returns anything but SLP_MORE, or slp_kpl_drop() is called. */
void slp_kpl_begin(slp_kpl *k, slp_page *page, const slp_hash_range *range);
/* Does about bytes_max bytes or records_max records of work. Returns SLP_MORE: call again; 0: done;
 * SLP_ENOMEM: the page is as it was. */
int slp_kpl_step(slp_kpl *k, size_t bytes_max, size_t records_max);
void slp_kpl_drop(slp_kpl *k); /* stops expanding; the page stays as it was */

#endif
