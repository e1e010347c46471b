/* token.h - the positions of a whole stream as text, in bloop's JSON: bloop and sloop read each other's
 * tokens.
 *
 *   {"stream_arn": ..., "active": [shard ids], "shards": [{"shard_id", "iterator_type", "sequence_number",
 *    "parent"}, ...]}
 *
 * active: the shards to read; each of them is among shards. iterator_type: trim_horizon (also when it is
 * absent), latest, at_sequence, after_sequence. Our own members, which bloop ignores, are strings like every
 * number here:
 *   sub_sequence  index inside the aggregate of sequence_number; absent: 0
 *   arrived_at    ms, when the record of sequence_number arrived
 *   no_record     1: no record has sequence_number; the service gave it while nothing came, at arrived_at
 *   clear_until   ms; records behind sequence_number until then are accounted for: none came, or their loss
 *                 was told
 *   not_before    ms; records that arrived before are not handed over: reading began at a time, or at the
 *                 latest, and nothing was read yet. A reader that knows no times starts at the oldest, and
 *                 loses nothing */
#ifndef SLP_CORE_TOKEN_H
#define SLP_CORE_TOKEN_H

#include "core/position.h"

#include "base/map.h"

typedef struct slp_token_shard {
  slp_str id, parent;    /* point into the text; parent {NULL, 0}: none */
  slp_position from;     /* OLDEST, LATEST, AT or AFTER */
  int64_t not_before_ms; /* INT64_MIN: not given */
  uint8_t active;        /* 1: it is in the list `active` */
  uint8_t reads;         /* after slp_token_mark_readable: 1: active, or descends from an active one */
  uint8_t judged;        /* 1: `reads` is decided */
  /* children listed at the start; the child of a merge counts as two, like those of a split */
  uint32_t children_n;
} slp_token_shard;

typedef struct slp_token {
  slp_mem *mem;            /* a counted reference */
  char *text;              /* owned; every string of the token lies in it */
  slp_str stream;          /* ARN or name of the stream */
  slp_token_shard *shards; /* owned; no id twice */
  size_t shards_n, shards_cap;
  slp_map ids; /* id -> index in shards + 1 */
} slp_token;

#define SLP_TOKEN_BYTES_MAX (64u * 1024 * 1024)
#define SLP_TOKEN_SHARDS_MAX 100000u

/* Returns 0; SLOOP_ETOKEN: why says what is wrong and where; SLP_ENOMEM. */
int slp_token_read(slp_token **ret, slp_mem *mem, slp_str text, char why[160]);
void slp_token_free(slp_token *t);                               /* NULL is fine */
slp_token_shard *slp_token_find(const slp_token *t, slp_str id); /* NULL: not in the token */
/* Marks the shards that are to be read: the active ones and what descends from them. The others only show
 * where those come from. */
void slp_token_mark_readable(slp_token *t);
/* Compares a token's stream with ours, by name or ARN. Returns 1: the same; -1: an older stream of the same
 * table; 0: another stream. */
int slp_token_is_of(slp_str ours, slp_str theirs);
/* Returns 0, SLP_ENOMEM, SLP_ELIMIT; SLP_EBADDATA: an id is not valid text. */
int slp_token_write(slp_buf *to, slp_str stream, const slp_token_shard *shards, size_t n);

#endif
