/* listing.h - a listing of shards put together from pages. Each shard id is in it once, even if pages repeat
 * it. The listing copies what it keeps, so a page may be freed at once. */
#ifndef SLP_SOURCE_LISTING_H
#define SLP_SOURCE_LISTING_H

#include "aws/ops.h"

/* Limits of one listing. Local servers give 100 shards a page, the service 1000. */
#define SLP_LISTING_SHARDS_MAX 100000u
#define SLP_LISTING_PAGES_MAX 2000u
#define SLP_LISTING_BYTES_MAX (64u * 1024 * 1024) /* bytes of text; a row of the service has some 250 */

typedef struct slp_listing { /* the shards of all pages so far. To begin, zero everything but mem */
  slp_mem *mem;
  struct slp_listing_block *blocks; /* owned; the text that the rows point to, newest block first */
  size_t bytes;                     /* total size of the blocks */
  slp_shard_desc *shards;           /* owned; each id once */
  size_t shards_n, shards_cap;
  /* owned; hash table of index in `shards` + 1, 0: free. Its size is a power of two, and it is at most half
   * full */
  uint32_t *slots;
  size_t slots_n;
  slp_hash_key key;     /* hash key of the slots */
  uint8_t stream_ended; /* a page said that no shard of the stream will ever get another record */
} slp_listing;

slp_listing *slp_listing_new(slp_mem *mem); /* NULL: no memory */
void slp_listing_free(slp_listing *l);      /* l may be NULL */
void slp_listing_clear(slp_listing *l);     /* removes all shards */
/* Adds the shards of a page. Returns 0, SLP_ENOMEM, or SLP_ELIMIT beyond SLP_LISTING_SHARDS_MAX or
 * SLP_LISTING_BYTES_MAX. */
int slp_listing_take_page(slp_listing *l, const slp_op_list_shards *page);
slp_shard_desc *slp_listing_find(slp_listing *l, slp_str id); /* NULL: the listing does not have the shard */

#endif
