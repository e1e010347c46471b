/* position.h - a position in a shard. Sources, readers, leases and tokens all use this type. */
#ifndef SLP_CORE_POSITION_H
#define SLP_CORE_POSITION_H

#include "core/mark.h"
#include <sloop.h>

typedef enum slp_position_kind {
  SLP_POSITION_NONE, /* the position is not known */
  SLP_POSITION_OLDEST,
  SLP_POSITION_LATEST,
  SLP_POSITION_TIME,
  SLP_POSITION_AT,    /* reading begins with the record of `mark` */
  SLP_POSITION_AFTER, /* reading begins after the record of `mark` (seq and sub) */
  SLP_POSITION_END    /* the shard was read to its end, and every record is acknowledged */
} slp_position_kind;

typedef struct slp_position {
  slp_position_kind kind;
  int64_t at_ms; /* TIME only */
  slp_mark mark; /* AT and AFTER only */
} slp_position;
/* Converts a position of the user, which slp_start_position_check has accepted. SLOOP_AT_TOKEN becomes NONE,
 * because a token has a position for each shard. */
slp_position slp_position_of(const sloop_position_t *to);
/* Converts a position for the user. seq: memory for the sequence number and its NUL; ret->seq then points to
 * it. NONE becomes kind 0. */
void slp_position_tell(const slp_position *p, sloop_position_t *ret, char seq[SLP_SEQ_MAX + 1]);
/* Returns < 0 if position a comes before b in their shard, 0 if both are the same place, > 0 if a comes after
 * b. NONE comes before all others. OLDEST, TIME and LATEST all count as the beginning of the shard. */
int slp_position_cmp(const slp_position *a, const slp_position *b);
/* Returns 1 if position a comes after b. Also returns 1 if both are the same place and a has the later
 * clear_ms (mark.h). */
int slp_position_ahead(const slp_position *a, const slp_position *b);
/* Returns 1 if reading from a and reading from b begin with the same record. Positions that name no record
 * (OLDEST, TIME, LATEST, END) are the same if their kinds are, and for TIME also at_ms. */
int slp_position_same(const slp_position *a, const slp_position *b);

const char *slp_position_name(slp_position_kind kind); /* for the log */

#endif
