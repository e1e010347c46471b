/* follow.h - -p key:TEXT: finds the shards that records with this partition key go to and, when such a shard
 * ends, the shards that it was split or merged into. If keys do not decide on shards, or did not when the
 * records came, all shards are read and the keys of records are compared.
 *
 *   | placement of the stream   | shards read                          | records printed    |
 *   |---------------------------|--------------------------------------|--------------------|
 *   | BY_KEY, UNKNOWN           | those of the key                     | all of them        |
 *   | BY_KEY_NOW, from now on   | those of the key                     | those with the key |
 *   | BY_KEY_NOW, older records | all: they may have come while it was | those with the key |
 *   |                           | ANYWHERE                             |                    |
 *   | ANYWHERE                  | all                                  | those with the key | */
#ifndef SLP_CLI_FOLLOW_H
#define SLP_CLI_FOLLOW_H

#include "cli/consumer.h"
#include "cli/names.h"
#include "codec/digest.h"
#include "codec/kpl.h"

#define SLP_HASH_DIGITS 40 /* room for a hash of 128 bits as a decimal number, with its NUL */

/* Writes the service's hash of a partition key: its MD5 as a decimal number. Returns 0 or SLP_ENOMEM. */
int slp_key_hash(slp_mem *mem, slp_str key, char out[SLP_HASH_DIGITS]);
/* Returns 1 if the number is in the range, both ends included. A range with an end that is no number contains
 * nothing. */
int slp_key_in_range(const char *hash, const char *start, const char *end);

typedef struct slp_follow slp_follow;
struct slp_follow {
  slp_cli_consumer finder; /* never started: it only asks for the list of shards */
  char hash[SLP_HASH_DIGITS];
  const char *key;        /* borrowed */
  slp_names seen;         /* shards of the key found so far */
  slp_hash_range *ranges; /* owned; the hash keys of those shards, by their number in `seen` */
  size_t ranges_cap;
  slp_names ended; /* shards that were read to their end */
  slp_digest *digest;
  uint8_t looking;  /* a listing is under way */
  uint8_t every;    /* all shards are read, by one consumer */
  uint8_t compares; /* only records with the key are printed */
  uint8_t older;    /* records are wanted that came before this program began */
  uint8_t doubted;  /* the warning about a record in a shard that its key does not go to was given */
  /* Looks that are left to find the shard that the key goes to now, before they become rare. 0: no looks are
   * due, or they are rare. */
  uint32_t tries;
  uint64_t again_at_us; /* when to look again; 0: not at all */
  /* Called from the loop with n shards that were not found before. n 0: read all shards, including those to
   * come. */
  void (*on_found)(slp_follow *f, const char *const *ids, size_t n);
  void *user;
};

/* Opens the finder and asks for the shards. The caller sets the finder's on_closed and on_ending before.
 * Returns 0, or a negative code; then the reason has been reported. */
int slp_follow_open(slp_follow *f, slp_app *app, const sloop_opts_t *o, const char *key);
/* Tells that the shard was read to its end: finds the shard that the key goes to now. */
void slp_follow_ended(slp_follow *f, const char *shard);
/* Returns 1 while that shard is looked for, 0 once it is found or was not found for a minute. */
int slp_follow_is_looking(const slp_follow *f);
/* On a tick: looks again when that is due. */
void slp_follow_tick(slp_follow *f);
/* Returns 1 if the record is to be printed, 0 otherwise. Warns once, at the first record in a shard that its
 * key does not go to: other records with the key may be in shards that are not read. */
int slp_follow_prints(slp_follow *f, const sloop_record_t *r);
void slp_follow_free(slp_follow *f);

#endif
