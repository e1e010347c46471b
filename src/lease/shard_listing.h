/* shard_listing.h - the last complete listing of the stream's shards, kept until the next one is complete.
 * Before the first listing is complete, the pages of it that have come are here. Then slp_listed_us is 0,
 * and a shard that is not here may still come. */
#ifndef SLP_LEASE_SHARD_LISTING_H
#define SLP_LEASE_SHARD_LISTING_H

#include "base/map.h"
#include "lease/processor.h"

typedef struct slp_listed { /* one shard; its texts are in the same block, after the struct */
  slp_shard_desc desc;
  /* the shard is open: it has no last sequence number */
  uint8_t open;
  uint8_t assigned; /* an assignment of some worker has the shard */
  uint8_t damaged;  /* the shard's row exists but can't be read */
  /* the bulk write that creates leases before the listing is complete has included this shard */
  uint8_t early;
} slp_listed;

/* findings of a shard sync that are reported to the user */
typedef enum slp_listed_told { SLP_LISTED_BAD_ROWS, SLP_LISTED_HOLE } slp_listed_told;
typedef struct slp_fleet_listing {
  slp_map shards;  /* of slp_listed, by shard id */
  uint64_t newest; /* the greatest number in the ids of the listed shards */
  uint64_t at_us;  /* when the last complete listing came; 0: none has come */
  /* when the processor was last asked for a listing */
  uint64_t asked_us;
  uint64_t tells_us[2]; /* by slp_listed_told: the finding is not reported again before this time */
  uint8_t asked;        /* a listing was asked for, and has not come yet */
} slp_fleet_listing;

void slp_listed_init(slp_fleet *f);
void slp_listed_stop(slp_fleet *f);
void slp_listed_free(slp_fleet *f);
/* asks the processor for a listing; the processor answers by calling slp_fleet_listed */
void slp_fleet_list(slp_fleet *f);
/* Takes the answer to slp_fleet_list. Returns 1, or 0 if no listing was asked for. *ret_ok 0: the listing
 * failed; a complete listing from before stays. */
int slp_listed_take(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n, int *ret_ok);
/* Takes a page of the first listing. Returns 0. Any other value: the page is not needed, or there is no
 * memory for it. */
int slp_listed_take_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);
/* returns when the last complete listing came; 0: none has come */
uint64_t slp_listed_us(const slp_fleet *f);
/* returns 1 if no listing is under way, and the last one came at from_us or later */
int slp_listed_since(const slp_fleet *f, uint64_t from_us);
int slp_fleet_listed_has(const slp_fleet *f, slp_str shard);
/* Returns 1 if a listed shard has a greater number in its id than `shard`. If it returns 0, a later
 * listing may still have `shard`. */
int slp_listed_passed(const slp_fleet *f, slp_str shard);
size_t slp_listed_n(const slp_fleet *f);
/* Returns the time from one shard sync to the next: list_ms, or 6 ms for each shard if that is longer. */
uint64_t slp_listed_every_us(const slp_fleet *f);
/* Returns 1 if a finding of a shard sync should be reported now. `news`: the finding is new; otherwise it
 * is reported every 50 s at most. */
int slp_listed_may_tell(slp_fleet *f, slp_listed_told what, int news);
slp_listed *slp_listed_get(const slp_fleet *f, slp_str shard);
slp_listed *slp_listed_each(slp_fleet *f, size_t *at);

#endif
