/* listing.h - a listing of shards put together from pages: no id twice, whatever the pages repeat. Of a page
 * only the texts of its rows are kept. */
#ifndef SLP_SOURCE_LISTING_H
#define SLP_SOURCE_LISTING_H

#include "aws/ops.h"

/* Local servers give 100 shards a page, the service 1000. */
#define SLP_LISTING_SHARDS_MAX 100000u
#define SLP_LISTING_PAGES_MAX 2000u
#define SLP_LISTING_BYTES_MAX (64u * 1024 * 1024) /* of texts; the service's rows have some 250 bytes each */

typedef struct slp_listing { /* the shards of the pages so far; zero it but for mem */
  slp_mem *mem;
  struct slp_listing_block *blocks; /* owned; the rows point into them; the newest first */
  size_t bytes;                     /* of blocks */
  slp_shard_desc *shards;           /* owned; no id twice */
  size_t shards_n, shards_cap;
  uint32_t *slots; /* owned; hash table: index in shards + 1, 0 free; a power of two, at most half full */
  size_t slots_n;
  slp_hash_key key;     /* of the slots */
  uint8_t stream_ended; /* a page said that no record will ever be added */
} slp_listing;

slp_listing *slp_listing_new(slp_mem *mem); /* NULL: no memory */
void slp_listing_free(slp_listing *l);      /* NULL is fine */
void slp_listing_clear(slp_listing *l);     /* empty again */
/* SLP_ENOMEM; SLP_ELIMIT: more than SLP_LISTING_SHARDS_MAX, or than SLP_LISTING_BYTES_MAX. */
int slp_listing_take_page(slp_listing *l, const slp_op_list_shards *page);
slp_shard_desc *slp_listing_find(slp_listing *l, slp_str id); /* NULL: not in it */

#endif
