/* follow.h - -p key:TEXT: finds the shards that records with this partition key go to. When such a shard was
 * split or merged, finds its child for the key. A stream with on-demand capacity may place records without
 * regard to their keys; then all shards are read, and records with other keys are left out. The table has the
 * placements of sloop.h, without SLOOP_PLACED_ in front:
 *
 *   | placement of the stream   | shards read                            | records printed    |
 *   |---------------------------|----------------------------------------|--------------------|
 *   | BY_KEY, UNKNOWN           | the shards of the key                  | all records        |
 *   | BY_KEY_NOW, from now on   | the shards of the key                  | those with the key |
 *   | BY_KEY_NOW, older records | all shards: older records may be in    | those with the key |
 *   |                           | any shard, if it was ANYWHERE then     |                    |
 *   | ANYWHERE                  | all shards                             | those with the key | */
#ifndef SLP_CLI_FOLLOW_H
#define SLP_CLI_FOLLOW_H

#include "base/mem.h"
#include "cli/app.h"
#include "cli/consumer_run.h"
#include "cli/shard_numbers.h"
#include "codec/digest.h"
#include "codec/kpl.h"

#include <sloop.h>

#define SLP_HASH_DIGITS 40 /* room for a hash of 128 bits as a decimal number, with a NUL */

/* Writes the hash by which the service chooses a shard for a partition key: the MD5 of the key as a decimal
 * number. Returns 0 or SLP_ENOMEM. */
int slp_key_hash(slp_mem *mem, slp_str key, char out[SLP_HASH_DIGITS]);
/* Returns 1 if the number `hash` is in the range from `start` to `end`, both included. If `start` or `end` is
 * not a number, returns 0. */
int slp_key_in_range(const char *hash, const char *start, const char *end);

typedef struct slp_follow slp_follow;
struct slp_follow {
  slp_cli_consumer finder; /* a consumer that is never started; it only asks for lists of shards */
  char hash[SLP_HASH_DIGITS];
  const char *key;        /* borrowed; the partition key */
  slp_names seen;         /* the shards of the key that were found so far */
  slp_hash_range *ranges; /* owned; hash-key ranges of the shards in `seen`, indexed by their numbers there */
  size_t ranges_cap;
  slp_names ended; /* the shards that were read to their end */
  slp_digest *digest;
  uint8_t looking;  /* 1: the stream was asked for its shards, and the answer has not come */
  uint8_t every;    /* 1: all shards are read, by one consumer; 0: only the shards of the key */
  uint8_t compares; /* 1: only records with the key are printed */
  uint8_t older;    /* 1: the user wants records from before the start of this program */
  uint8_t doubted;  /* 1: the user was warned of a record in a shard to which its key does not belong */
  /* after a shard of the key has ended: how many more frequent searches for the next shard are made. 0: no
   * search is needed, or the searches have become rare */
  uint32_t tries;
  uint64_t again_at_us; /* when to ask for the next listing; 0: never */
  /* Called from the loop with the ids of n shards that were not found before. n is 0 if all shards are to be
   * read, including future ones. */
  void (*on_found)(slp_follow *f, const char *const *ids, size_t n);
  void *user;
};

/* Opens the finder and asks for the list of shards. The caller must set finder.on_closed and finder.on_ending
 * first. Returns 0, or a negative code; then the reason has been reported. */
int slp_follow_open(slp_follow *f, slp_app *app, const sloop_opts_t *o, const char *key);
/* Must be called when a shard was read to its end. Starts a search for the shard that the key goes to now. */
void slp_follow_ended(slp_follow *f, const char *shard);
/* Returns 1 while the search that slp_follow_ended started goes on. Returns 0 once the shard is found, or if
 * it was not found within a minute. */
int slp_follow_is_looking(const slp_follow *f);
/* Must be called on each tick. Asks for the next listing when it is due. */
void slp_follow_tick(slp_follow *f);
/* Returns 1 if the record is to be printed, 0 otherwise. If a record is in a shard that its key does not go
 * to, warns once: other records with the key may be in shards that are not read. */
int slp_follow_prints(slp_follow *f, const sloop_record_t *r);
void slp_follow_free(slp_follow *f);

#endif
