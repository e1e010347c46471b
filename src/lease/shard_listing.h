/* shard_listing.h - the last complete listing of the stream's shards, kept until the next one is complete.
 * Until the first listing is complete, the pages of it that have come are kept. Then slp_listed_us returns 0,
 * and a shard that is not in the kept pages may still come. */
#ifndef SLP_LEASE_SHARD_LISTING_H
#define SLP_LEASE_SHARD_LISTING_H

#include "base/fail.h"
#include "base/map.h"
#include "codec/page.h"
#include "lease/lease_types.h"

typedef struct slp_listed { /* one shard of the listing; its texts follow this struct in the same block */
  slp_shard_desc desc;
  /* 1: the shard is open for writes: it has no last sequence number */
  uint8_t open;
  uint8_t assigned; /* 1: the shard is assigned to some worker */
  uint8_t damaged;  /* 1: the shard's row exists, but can't be read */
  /* 1: the bulk write that creates leases before the listing is complete includes this shard */
  uint8_t early;
} slp_listed;

/* findings of a shard sync: rows that can't be read; hash keys that no lease covers */
typedef enum slp_listed_told { SLP_LISTED_BAD_ROWS, SLP_LISTED_HOLE } slp_listed_told;
typedef struct slp_fleet_listing {
  slp_map shards;  /* slp_listed by shard id */
  uint64_t newest; /* the greatest number in the ids of the listed shards */
  uint64_t at_us;  /* when the last complete listing came; 0: none has come */
  /* when the processor was last asked for a listing */
  uint64_t asked_us;
  uint64_t tells_us[2]; /* indexed by slp_listed_told: the finding is not reported again before this time */
  uint8_t asked;        /* 1: a listing was asked for, and has not come yet */
} slp_fleet_listing;

void slp_listed_init(slp_fleet *f);
void slp_listed_stop(slp_fleet *f);
void slp_listed_free(slp_fleet *f);
/* asks the processor for a listing; the processor answers by calling slp_fleet_listed */
void slp_fleet_list(slp_fleet *f);
/* To be called when the answer to slp_fleet_list has come. Returns 1, or 0 if no listing was asked for.
 * *ret_ok 0: the listing failed; the last complete listing is kept. */
int slp_listed_take(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n, int *ret_ok);
/* To be called when a page of the first listing has come. Returns 0 if the page was kept; otherwise it is not
 * needed, or there was no memory. */
int slp_listed_take_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);
/* returns when the last complete listing came; 0: none has come */
uint64_t slp_listed_us(const slp_fleet *f);
/* returns 1 if no listing is under way, and the last one came at from_us or later */
int slp_listed_since(const slp_fleet *f, uint64_t from_us);
int slp_fleet_listed_has(const slp_fleet *f, slp_str shard);
/* Returns 1 if a listed shard has a greater number in its id than `shard`. If it returns 0, a later listing
 * may still have `shard`. */
int slp_listed_passed(const slp_fleet *f, slp_str shard);
size_t slp_listed_n(const slp_fleet *f);
/* Returns the time between two shard syncs: list_ms, or 6 ms for each shard if that is longer. */
uint64_t slp_listed_every_us(const slp_fleet *f);
/* Returns 1 if the finding `what` of a shard sync should be reported to the user now. news, 1: the finding is
 * new; 0: it is an old one, which is reported at most every 50 s. */
int slp_listed_may_tell(slp_fleet *f, slp_listed_told what, int news);
slp_listed *slp_listed_get(const slp_fleet *f, slp_str shard);
slp_listed *slp_listed_each(slp_fleet *f, size_t *at);

#endif
