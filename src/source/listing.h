/* listing.h - a listing of shards put together from pages: no id twice, whatever the pages repeat. */
#ifndef SLP_SOURCE_LISTING_H
#define SLP_SOURCE_LISTING_H

#include "aws/ops.h"

/* Local servers give 100 shards a page, the service 1000. */
#define SLP_LISTING_SHARDS_MAX 100000u
#define SLP_LISTING_PAGES_MAX 2000u

typedef struct slp_listing { /* the shards of the pages so far; zero it but for mem */
  slp_mem *mem;
  slp_buf *bodies; /* owned; the rows point into them */
  size_t bodies_n, bodies_cap;
  slp_shard_desc *shards; /* owned; no id twice */
  size_t shards_n, shards_cap;
  uint32_t *slots; /* owned; hash table: index in shards + 1, 0 free; a power of two, at most half full */
  size_t slots_n;
  uint8_t stream_ended; /* a page said that no record will ever be added */
} slp_listing;

slp_listing *slp_listing_new(slp_mem *mem); /* NULL: no memory */
void slp_listing_free(slp_listing *l);      /* NULL is fine */
void slp_listing_clear(slp_listing *l);     /* empty again */
/* Takes the page's body, so that its rows stay valid. SLP_ENOMEM, SLP_ELIMIT. */
int slp_listing_take_page(slp_listing *l, slp_op_list_shards *page);
slp_shard_desc *slp_listing_find(slp_listing *l, slp_str id); /* NULL: not in it */

#endif
