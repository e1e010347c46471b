/* kpl.h - expands aggregates of the Kinesis Producer Library: one record of the stream that holds many user
 * records.
 *
 * Bytes: four of magic, a protobuf message, its MD5. The message has a table of partition keys, a table of
 * explicit hash keys, and records that point into both. Expanding a page replaces an aggregate by its
 * records: sub is their index, sequence number and arrival time are the aggregate's, key and data are offsets
 * inside its bytes. Nothing is copied, and an aggregate is expanded whole or not at all:
 *   - without the magic, or too short to hold any message: an ordinary record, left alone;
 *   - wrong MD5, no valid message, an index outside its tables, too many records: left whole, SLP_REC_RAW;
 *   - no records in it: a single row flagged SLP_REC_EMPTY. */
#ifndef SLP_CODEC_KPL_H
#define SLP_CODEC_KPL_H

#include "codec/page.h"

/* Magic, MD5 and at least one byte between them. */
#define SLP_KPL_BYTES_MIN 21
/* The most rows of one aggregate, and entries of each of its tables: more than 1 MiB can hold of the shortest
 * records. */
#define SLP_KPL_RECORDS_MAX 250000
/* Rows of an expanded page, 16 MB of table. A page that holds more ends in front of the aggregate that does
 * not fit, and has no next iterator: reading goes on from its last record. Two aggregates always fit. */
#define SLP_KPL_PAGE_RECORDS_MAX 500000

static inline int slp_kpl_begins_like(slp_str data) {
  return data.n >= SLP_KPL_BYTES_MIN && memcmp(data.p, "\xF3\x89\x9A\xC2", 4) == 0;
}

typedef struct slp_hash_range { /* hash keys of a shard: both ends belong to it; big-endian */
  uint8_t first[16], last[16];
} slp_hash_range;

static inline int slp_hash_range_has(const slp_hash_range *range, const uint8_t hash[16]) {
  return memcmp(hash, range->first, 16) >= 0 && memcmp(hash, range->last, 16) <= 0;
}

typedef struct slp_kpl slp_kpl;
slp_kpl *slp_kpl_new(slp_mem *mem); /* for many pages, one after the other. NULL: no memory */
void slp_kpl_free(slp_kpl *k);      /* NULL is fine */
/* page: as slp_page_read() left it. range: the hash keys of its shard, to tell foreign records; NULL: not
 * known. Both are borrowed until slp_kpl_step() returns anything but SLP_MORE, or slp_kpl_drop() is
 * called. */
void slp_kpl_begin(slp_kpl *k, slp_page *page, const slp_hash_range *range);
/* Does about bytes_max bytes or records_max records of work. Returns SLP_MORE: call again; 0: done;
 * SLP_ENOMEM: the page is as it was. */
int slp_kpl_step(slp_kpl *k, size_t bytes_max, size_t records_max);
void slp_kpl_drop(slp_kpl *k); /* forgets the page, which stays as it was */

#endif
