/* listing.h - the last complete listing of the stream's shards, kept until the next one; or, before the first
 * one is complete, what has come of it. Then slp_listed_us is 0, and a shard that is not there may still
 * come. */
#ifndef SLP_LEASE_LISTING_H
#define SLP_LEASE_LISTING_H

#include "base/map.h"
#include "lease/processor.h"

typedef struct slp_listed { /* one shard; its texts follow the struct */
  slp_shard_desc desc;
  uint8_t open;
  uint8_t assigned; /* an assignment of some worker names it */
  uint8_t damaged;  /* its row exists but can't be read */
  uint8_t early;    /* its lease was to be created before the listing was complete */
} slp_listed;

typedef enum slp_listed_told { SLP_LISTED_BAD_ROWS, SLP_LISTED_HOLE } slp_listed_told;
typedef struct slp_fleet_listing {
  slp_map shards;  /* slp_listed */
  uint64_t newest; /* the greatest number in the shards' ids */
  uint64_t at_us;  /* when the listing came; 0: never */
  /* when the processor was asked for the next listing */
  uint64_t asked_us;
  uint64_t tells_us[2]; /* by slp_listed_told: not told again before this time */
  uint8_t asked;        /* a listing was asked for, and has not come yet */
} slp_fleet_listing;

void slp_listed_init(slp_fleet *f);
void slp_listed_stop(slp_fleet *f);
void slp_listed_free(slp_fleet *f);
void slp_fleet_list(slp_fleet *f); /* asks the processor for a listing; slp_fleet_listed brings it */
/* Takes the answer to slp_fleet_list. Returns 0 if none was asked for. *ret_ok 0: the listing failed, and the
 * one before stays, if there is one. */
int slp_listed_take(slp_fleet *f, const slp_fail *fail, const slp_shard_desc *shards, size_t n, int *ret_ok);
/* Takes some shards of the first listing. Returns 0, or not 0 if they are not needed, or there is no memory
 * for them. */
int slp_listed_take_part(slp_fleet *f, const slp_shard_desc *shards, size_t n);
uint64_t slp_listed_us(const slp_fleet *f);
/* returns 1 if no listing is under way, and the last one came at from_us or later */
int slp_listed_since(const slp_fleet *f, uint64_t from_us);
int slp_fleet_listed_has(const slp_fleet *f, slp_str shard);
/* Returns 1 if a listed shard is newer than `shard` by the number in its id. If 0, a later listing may still
 * have `shard`. */
int slp_listed_passed(const slp_fleet *f, slp_str shard);
size_t slp_listed_n(const slp_fleet *f);
/* Returns how long after a shard sync the next one is due: list_ms, or 6 ms for each shard if that is
 * longer. */
uint64_t slp_listed_every_us(const slp_fleet *f);
/* Returns 1 if a finding of a shard sync should be told to the user: it is news, or was not told for 50 s. */
int slp_listed_may_tell(slp_fleet *f, slp_listed_told what, int news);
slp_listed *slp_listed_get(const slp_fleet *f, slp_str shard);
slp_listed *slp_listed_each(slp_fleet *f, size_t *at);

#endif
