/* position.h - a position in a shard: the one type that sources, readers, leases and tokens use. */
#ifndef SLP_CORE_POSITION_H
#define SLP_CORE_POSITION_H

#include "core/mark.h"
#include <sloop.h>

typedef enum slp_position_kind {
  SLP_POSITION_NONE, /* not known */
  SLP_POSITION_OLDEST,
  SLP_POSITION_LATEST,
  SLP_POSITION_TIME,
  SLP_POSITION_AT,    /* at the record of `mark`, which comes first */
  SLP_POSITION_AFTER, /* behind the record of `mark` and its sub-sequence, which is finished with */
  SLP_POSITION_END    /* the shard is read to its end, and every record is acknowledged */
} slp_position_kind;

typedef struct slp_position {
  slp_position_kind kind;
  int64_t at_ms; /* TIME only */
  slp_mark mark; /* AT and AFTER only */
} slp_position;
/* Turns the user's position into ours, after slp_start_position_check has passed it. A token is many
 * positions, so it becomes NONE. */
slp_position slp_position_of(const sloop_position_t *to);
/* Turns a position into the one that the user is told. seq is room for a sequence number and its NUL. NONE
 * becomes kind 0. */
void slp_position_tell(const slp_position *p, sloop_position_t *ret, char seq[SLP_SEQ_MAX + 1]);
/* Returns < 0, 0 or > 0: whether a is before, at or further on than b in a shard. NONE is before everything.
 * OLDEST, TIME and LATEST count as the beginning. */
int slp_position_cmp(const slp_position *a, const slp_position *b);
/* Returns 1 if a is further on than b, or as far, and with the records behind it accounted for until
 * later. */
int slp_position_ahead(const slp_position *a, const slp_position *b);
/* Returns 1 if reading begins at the same record from both, or in the same way. */
int slp_position_same(const slp_position *a, const slp_position *b);

const char *slp_position_name(slp_position_kind kind); /* for the log */

#endif
