/* listing.h - the stream's shards as they were last listed, completely. */
#ifndef SLP_LEASE_LISTING_H
#define SLP_LEASE_LISTING_H

#include "base/map.h"
#include "lease/processor.h"

typedef struct slp_listed { /* one shard, with its texts behind it */
  slp_shard_desc desc;
  uint8_t open;
  uint8_t assigned; /* some worker's assignment has it */
  uint8_t damaged;  /* its row is there, and can't be read */
} slp_listed;

typedef enum slp_listed_told { SLP_LISTED_BAD_ROWS, SLP_LISTED_HOLE } slp_listed_told;
typedef struct slp_fleet_listing {
  slp_map shards;  /* slp_listed */
  uint64_t newest; /* the greatest number in the ids of them */
  uint64_t at_us;  /* when that came; 0: never */
  uint64_t asked_us;
  uint64_t tells_us[2]; /* of slp_listed_told: not again before */
  uint8_t asked;        /* and not answered yet */
} slp_fleet_listing;

void slp_listed_init(slp_fleet *f);
void slp_listed_stop(slp_fleet *f);
void slp_listed_free(slp_fleet *f);
void slp_fleet_list(slp_fleet *f); /* asks the processor; slp_fleet_listed comes */
/* 1: it was asked for, and this is the answer. *ret_ok 0: the listing before it stays, or none. */
int slp_listed_take(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n, int *ret_ok);
uint64_t slp_listed_us(const slp_fleet *f);
int slp_listed_since(const slp_fleet *f, uint64_t from_us); /* none is awaited, and it came then or later */
int slp_fleet_listed_has(const slp_fleet *f, slp_str shard);
/* 0: no listed shard was made later, by the numbers in their ids: it may be listed yet. */
int slp_listed_passed(const slp_fleet *f, slp_str shard);
size_t slp_listed_n(const slp_fleet *f);
/* Returns how long after a shard sync the next one is due: list_ms, or 6 ms a shard if that is longer. */
uint64_t slp_listed_every_us(const slp_fleet *f);
/* Returns 1 if what a shard sync found is to be told: it is news, or was not told for 50 s. */
int slp_listed_may_tell(slp_fleet *f, slp_listed_told what, int news);
slp_listed *slp_listed_get(const slp_fleet *f, slp_str shard);
slp_listed *slp_listed_each(slp_fleet *f, size_t *at);

#endif
