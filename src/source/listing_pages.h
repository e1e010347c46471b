/* listing_pages.h - joins the pages of a listing of shards. The listing contains each shard id once, even if
 * several pages contain it. The listing copies all that it keeps, so a page may be freed as soon as it was
 * taken. */
#ifndef SLP_SOURCE_LISTING_PAGES_H
#define SLP_SOURCE_LISTING_PAGES_H

#include "aws/ops.h"
#include "base/hash.h"
#include "base/mem.h"
#include "codec/page.h"

/* The most shards of one listing. A page of Kinesis has up to 1000, a page of a local server 100. */
#define SLP_LISTING_SHARDS_MAX 100000u
#define SLP_LISTING_PAGES_MAX 2000u
/* the most bytes of text in all rows; a row of Kinesis has some 250 */
#define SLP_LISTING_BYTES_MAX (64u * 1024 * 1024)

/* The shards of all pages so far. Before the first page all members except mem are zero. */
typedef struct slp_listing {
  slp_mem *mem;
  struct slp_listing_block *blocks; /* owned; the blocks of text to which the rows point, newest first */
  size_t bytes;                     /* the total size of the blocks */
  slp_shard_desc *shards;           /* owned; one row for each shard id */
  size_t shards_n, shards_cap;
  /* Owned. A hash table of shard ids: each slot has an index into `shards` plus 1, or 0 if it is free. The
   * number of slots is a power of two. At most half of the slots are in use. */
  uint32_t *slots;
  size_t slots_n;
  slp_hash_key key;     /* the secret key of the hash function, so that nobody can choose ids that collide */
  uint8_t stream_ended; /* 1: a page said that no shard of the stream gets records any more */
} slp_listing;

slp_listing *slp_listing_new(slp_mem *mem); /* returns NULL if there is no memory */
void slp_listing_free(slp_listing *l);      /* l may be NULL */
void slp_listing_clear(slp_listing *l);     /* removes all shards */
/* Adds the shards of a page. Returns 0, SLP_ENOMEM, or SLP_ELIMIT if the listing would have more than
 * SLP_LISTING_SHARDS_MAX shards or SLP_LISTING_BYTES_MAX bytes. */
int slp_listing_take_page(slp_listing *l, const slp_op_list_shards *page);
/* returns NULL if the listing does not contain the shard */
slp_shard_desc *slp_listing_find(slp_listing *l, slp_str id);

#endif
