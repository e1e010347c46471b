/* token.h - the positions of a whole stream as text, in the JSON format of bloop (another program that reads
 * streams). bloop and sloop can read each other's tokens.
 *
 *   {"stream_arn": ..., "active": [shard ids], "shards": [{"shard_id", "iterator_type", "sequence_number",
 *    "parent"}, ...]}
 *
 * active: the ids of the shards to read first. Each must be in `shards`. The other shards in `shards` are
 * read after their parents, or only show which shard descends from which.
 * iterator_type: trim_horizon, latest, at_sequence or after_sequence. If it is absent, trim_horizon.
 *
 * sloop adds the following members, which bloop ignores. They are strings, like every number in a token.
 *   sub_sequence  index inside the aggregate of the record; absent: 0
 *   arrived_at    ms: when the record with sequence_number arrived
 *   no_record     1: no record has sequence_number: the service gave it as a position up to which nothing had
 *                 come until arrived_at
 *   clear_until   ms: until this time all records after sequence_number are accounted for: none came, or
 *                 their loss was reported
 *   not_before    ms: records that arrived before this time are not handed out. Written if reading began at a
 *                 time or at the latest, and no record was read yet. A program that does not know this member
 *                 starts at the oldest record, and so misses none */
#ifndef SLP_CORE_TOKEN_H
#define SLP_CORE_TOKEN_H

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/position.h"

typedef struct slp_token_shard {
  slp_str id, parent;    /* point into slp_token.text; parent {NULL, 0}: the token names no parent */
  slp_position from;     /* OLDEST, LATEST, AT or AFTER: where reading of the shard continues */
  int64_t not_before_ms; /* INT64_MIN: not given */
  uint8_t active;        /* 1: the shard is in the list `active` of the token */
  uint8_t reads; /* 1: the shard is active, or descends from an active one. Set by slp_token_mark_readable. */
  uint8_t judged; /* 1: `reads` is set */
  /* How many children of the shard were listed when reading started. The child of a merge counts as two, so 2
   * means all children, as for a split. */
  uint32_t children_n;
} slp_token_shard;

typedef struct slp_token {
  slp_mem *mem;            /* a counted reference */
  char *text;              /* owned copy of the token's text; all strings below point into it */
  slp_str stream;          /* ARN or name of the stream */
  slp_token_shard *shards; /* owned; no id is in it twice */
  size_t shards_n, shards_cap;
  slp_map ids; /* index in `shards` plus 1, by shard id */
} slp_token;

#define SLP_TOKEN_BYTES_MAX (64u * 1024 * 1024)
#define SLP_TOKEN_SHARDS_MAX 100000u

/* Parses a token. Returns 0, SLP_ENOMEM, or SLOOP_ETOKEN; `why` then says what is wrong and where. */
int slp_token_read(slp_token **ret, slp_mem *mem, slp_str text, char why[160]);
void slp_token_free(slp_token *t); /* NULL is fine */
/* returns NULL if the token has no such shard */
slp_token_shard *slp_token_find(const slp_token *t, slp_str id);
/* Sets `reads` of each shard that is to be read: the active ones and their descendants. The other shards are
 * in the token only to show which shard descends from which. */
void slp_token_mark_readable(slp_token *t);
/* Compares the stream of a token (theirs) with the stream that is read (ours); each is an ARN or a name.
 * Returns 1 for the same stream, -1 for another stream of the same table, 0 for any other stream. */
int slp_token_is_of(slp_str ours, slp_str theirs);
/* Writes a token. Returns 0, SLP_ENOMEM, SLP_ELIMIT, or SLP_EBADDATA if an id is not valid UTF-8. */
int slp_token_write(slp_buf *to, slp_str stream, const slp_token_shard *shards, size_t n);

#endif
