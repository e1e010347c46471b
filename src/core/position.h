/* position.h - a position in a shard. The one type for it: sources, readers, leases and tokens use it. */
#ifndef SLP_CORE_POSITION_H
#define SLP_CORE_POSITION_H

#include "core/mark.h"
#include <sloop.h>

typedef enum slp_position_kind {
  SLP_POSITION_NONE, /* not known */
  SLP_POSITION_OLDEST,
  SLP_POSITION_LATEST,
  SLP_POSITION_TIME,
  SLP_POSITION_AT,    /* at the record mark names: it comes first */
  SLP_POSITION_AFTER, /* behind it: mark (with its sub-sequence) is finished with */
  SLP_POSITION_END    /* the shard is read to its end and everything is acknowledged */
} slp_position_kind;

typedef struct slp_position {
  slp_position_kind kind;
  int64_t at_ms; /* TIME */
  slp_mark mark; /* AT, AFTER */
} slp_position;
/* The user's position, once slp_start_position_check passed it. A token is many positions: NONE. */
slp_position slp_position_of(const sloop_position_t *to);
/* As the user is told it; seq is room for a sequence number and its NUL. NONE becomes kind 0. */
void slp_position_tell(const slp_position *p, sloop_position_t *ret, char seq[SLP_SEQ_MAX + 1]);
/* Which is further on in a shard: < 0, 0, > 0. NONE before everything; OLDEST, TIME, LATEST count as the
 * beginning. */
int slp_position_cmp(const slp_position *a, const slp_position *b);
/* a is further on than b; or as far, and what came behind it is accounted for until later. */
int slp_position_ahead(const slp_position *a, const slp_position *b);
/* Reading begins at the same record, or in the same way. */
int slp_position_same(const slp_position *a, const slp_position *b);

const char *slp_position_name(slp_position_kind kind); /* for the log */

#endif
