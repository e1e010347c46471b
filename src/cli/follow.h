/* follow.h - -p key:TEXT: finds the shards that records with that partition key go to and, when one of them
 * ends, the shards it was split or merged into. Where keys do not decide on shards, or did not while the
 * records came, all shards are read and the keys of records are compared.
 *
 * | placement of the stream   | shards read                          | records printed   |
 * |---------------------------|--------------------------------------|-------------------|
 * | BY_KEY, UNKNOWN           | those of the key                     | all of them       |
 * | BY_KEY_NOW, from now on   | those of the key                     | those of the key  |
 * | BY_KEY_NOW, older records | all: they may have come while it was | those of the key  |
 * |                           | ANYWHERE                             |                   |
 * | ANYWHERE                  | all                                  | those of the key  | */
#ifndef SLP_CLI_FOLLOW_H
#define SLP_CLI_FOLLOW_H

#include "cli/consumer.h"
#include "cli/names.h"
#include "codec/digest.h"
#include "codec/kpl.h"

#define SLP_HASH_DIGITS 40

/* The service's hash of a partition key: its MD5 as a decimal number. SLP_ENOMEM. */
int slp_key_hash(slp_mem *mem, slp_str key, char out[SLP_HASH_DIGITS]);
/* Is the number in the range, both ends included? A range with an end that is no number contains nothing. */
int slp_key_in_range(const char *hash, const char *start, const char *end);

typedef struct slp_follow slp_follow;
struct slp_follow {
  slp_cli_consumer finder; /* reads nothing: it asks for the list of shards */
  char hash[SLP_HASH_DIGITS];
  const char *key;        /* borrowed */
  slp_names seen;         /* shards that were found before */
  slp_hash_range *ranges; /* owned; theirs, by number */
  size_t ranges_cap;
  slp_names ended; /* those that were read to their end */
  slp_digest *digest;
  uint8_t looking;
  uint8_t every;        /* all shards are read, by one consumer */
  uint8_t compares;     /* only records with the key are printed */
  uint8_t older;        /* records are wanted that were there before */
  uint8_t doubted;      /* a record was on a shard that its key does not go to, and that was told */
  uint32_t tries;       /* left to find where the key goes to now, before that is done seldom */
  uint64_t again_at_us; /* 0: no need */
  /* Called from the loop with shards that were not found before; n 0: all there are and will be. */
  void (*on_found)(slp_follow *f, const char *const *ids, size_t n);
  void *user;
};

/* Opens the finder and asks for the shards. The caller sets the finder's on_closed and on_ending before. 0,
 * or a negative code after telling why. */
int slp_follow_open(slp_follow *f, slp_app *app, const sloop_opts_t *o, const char *key);
/* A shard has ended: finds the shard that the key goes to now. */
void slp_follow_ended(slp_follow *f, const char *shard);
/* Returns 1 while that is looked for, 0 when it was found, or not found for a minute. */
int slp_follow_is_looking(const slp_follow *f);
void slp_follow_tick(slp_follow *f);
/* Returns 1 if the record is to be printed, 0 otherwise. Warns once, at the first record that is in a shard
 * to which its key does not lead: other records with the key may be in shards that are not read. */
int slp_follow_prints(slp_follow *f, const sloop_record_t *r);
void slp_follow_free(slp_follow *f);

#endif
