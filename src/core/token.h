/* token.h - the positions of a whole stream as text: bloop's JSON, so that a token moves from one to the
 * other.
 *
 *   {"stream_arn": ..., "active": [shard ids], "shards": [{"shard_id", "iterator_type", "sequence_number",
 *    "parent"}, ...]}
 *
 * active: the shards to read; each of them is among shards. iterator_type: trim_horizon (also when it is
 * absent), latest, at_sequence, after_sequence. Our own members, which bloop ignores, are strings like every
 * number here:
 *   sub_sequence  index inside the aggregate of sequence_number; absent: 0
 *   arrived_at    ms, when the record of sequence_number arrived
 *   no_record     1: no record has sequence_number: the service gave it while nothing came, at arrived_at
 *   clear_until   ms; what came behind the record of sequence_number until then is accounted for: nothing
 *                 came, or its loss was told
 *   not_before    ms; records that arrived before are not handed over: reading began at a time, or at the
 *                 latest, and nothing was read yet. A reader that knows no times starts at the oldest, and
 *                 loses nothing */
#ifndef SLP_CORE_TOKEN_H
#define SLP_CORE_TOKEN_H

#include "core/position.h"

#include "base/map.h"

typedef struct slp_token_shard {
  slp_str id, parent;    /* borrowed from the text; parent {NULL, 0}: none */
  slp_position from;     /* OLDEST, LATEST, AT or AFTER */
  int64_t not_before_ms; /* INT64_MIN: not given */
  uint8_t active;
  uint8_t reads; /* after slp_token_mark_readable: active, or descends from one that is */
  uint8_t judged;
  uint32_t children_n; /* listed ones, when it starts; a merge's counts as the two of a split */
} slp_token_shard;

typedef struct slp_token {
  slp_mem *mem; /* held */
  char *text;   /* owned; every string lies in it */
  slp_str stream;
  slp_token_shard *shards; /* owned; no id twice */
  size_t shards_n, shards_cap;
  slp_map ids; /* id -> number in shards + 1 */
} slp_token;

#define SLP_TOKEN_BYTES_MAX (64u * 1024 * 1024)
#define SLP_TOKEN_SHARDS_MAX 100000u

/* 0; SLOOP_ETOKEN: why says what is wrong with it and where; SLP_ENOMEM. */
int slp_token_read(slp_token **ret, slp_mem *mem, slp_str text, char why[160]);
void slp_token_free(slp_token *t);                               /* NULL is fine */
slp_token_shard *slp_token_find(const slp_token *t, slp_str id); /* NULL: not in it */
/* Which of its shards are to be read: the active and what descends from them. The others are there to show
 * where they come from. */
void slp_token_mark_readable(slp_token *t);
/* Whether `theirs`, as a token has it, is our stream, by name or ARN: 1; -1: an older stream of the same
 * table; 0. */
int slp_token_is_of(slp_str ours, slp_str theirs);
/* SLP_ENOMEM, SLP_ELIMIT; SLP_EBADDATA: an id is no text. */
int slp_token_write(slp_buf *to, slp_str stream, const slp_token_shard *shards, size_t n);

#endif
