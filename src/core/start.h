/* start.h - decides where reading of each shard begins: gives every listed shard a position, computed from
 * the start position of the stream. Used for the first listing and for every seek. */
#ifndef SLP_CORE_START_H
#define SLP_CORE_START_H

#include "base/fail.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/position.h"
#include "core/token.h"

#include <sloop.h>

struct slp_start_position { /* where in the stream reading begins: a copy of what the user asked for */
  slp_mem *mem;             /* a counted reference */
  /* The position for every shard. If its kind is AT: only for the shard whose id ends with `shard`. If its
   * kind is NONE: `token` has a position for each shard. */
  slp_position from;
  char *shard;      /* owned; with AT: the end of a shard's id; otherwise NULL */
  slp_token *token; /* owned; NULL: no token */
};

/* Checks a position of the user without looking at a stream. Returns 0, or SLOOP_EOPTION; `why` then says
 * which option is wrong. */
int slp_start_position_check(const sloop_position_t *to, char why[160]);
/* Copies the user's position. Returns 0, SLOOP_EOPTION, SLOOP_ETOKEN or SLP_ENOMEM; `why` then says what is
 * wrong. */
int slp_start_position_new(slp_start_position **ret, slp_mem *mem, const sloop_position_t *to, char why[160]);
void slp_start_position_free(slp_start_position *g); /* NULL is fine */

/* Gives each shard of c its position, and skips the shards that are not to be read. The shards must be those
 * of a new listing, and must not be started yet. Returns an error if the start position does not fit this
 * stream; f says why, and the caller must then free the shards or not start them. */
int slp_start_shards(slp_consumer *c, slp_start_position *g, slp_fail *f);
/* Returns 1 if the start position g makes every shard start at its oldest record. */
int slp_start_is_oldest(const slp_start_position *g);
/* Reports a loss for each shard of the token that the stream no longer has. To be called when c has started
 * from g. */
void slp_start_tell_losses(slp_consumer *c, const slp_start_position *g);
/* For consumers with leases: gives s the position of its lease, `from`. */
void slp_start_shard(slp_shard *s, const slp_position *from);
/* Turns the rows of the newest listing into shards. If it is not the first listing, new shards are skipped
 * unless they descend from shards that are read. Returns 0 or SLP_ENOMEM. */
int slp_start_take_listing(slp_consumer *c);
/* Returns a position from which no record is missed that arrived at not_before_ms (standing.h) or later. The
 * position is that time, or the oldest record if the service can't give an iterator for a time. */
slp_position slp_start_place(const slp_shard *s);
/* Rounds a time down to whole seconds if the service stamps records in whole seconds. */
int64_t slp_start_time(const slp_consumer *c, int64_t ms);

#endif
