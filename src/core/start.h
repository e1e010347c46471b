/* start.h - decides where each shard is read from: gives every listed shard a position, by the start
 * position. Used for the first listing and for every seek. */
#ifndef SLP_CORE_START_H
#define SLP_CORE_START_H

#include "core/core.h"
#include "core/token.h"

struct slp_start_position { /* where in the stream reading begins: a copy of what the user said */
  slp_mem *mem;             /* a counted reference */
  /* the position for every shard; with AT, only for the shard whose id ends with `shard`; with NONE, `token`
   * has a position for each shard */
  slp_position from;
  char *shard;      /* owned; with AT: the end of the shard's id; else NULL */
  slp_token *token; /* owned; NULL: no token */
};

/* Checks the position without looking at a stream. Returns 0, or SLOOP_EOPTION; `why` then says which option
 * is wrong. */
int slp_start_position_check(const sloop_position_t *to, char why[160]);
/* Copies the user's position. Returns 0, SLOOP_EOPTION, SLOOP_ETOKEN or SLP_ENOMEM; `why` then says what is
 * wrong. */
int slp_start_position_new(slp_start_position **ret, slp_mem *mem, const sloop_position_t *to, char why[160]);
void slp_start_position_free(slp_start_position *g); /* NULL is fine */

/* Gives each shard of c its position, and skips the shards that are not to be read. The shards must be as a
 * listing gave them, and not started. Returns an error if the start position does not fit this stream; f says
 * why, and the shards must then be freed or not started. */
int slp_start_shards(slp_consumer *c, slp_start_position *g, slp_fail *f);
/* Returns 1 if g lets every shard start at its oldest record. */
int slp_start_is_oldest(const slp_start_position *g);
/* Reports a loss for each shard of the token that the stream no longer has. To be called when g is in use. */
void slp_start_tell_losses(slp_consumer *c, const slp_start_position *g);
/* With leases: gives the shard the position of its lease. */
void slp_start_shard(slp_shard *s, const slp_position *from);
/* Turns the rows of the newest listing into shards. After the first listing, new shards are skipped unless
 * they descend from shards that are read. Returns 0 or SLP_ENOMEM. */
int slp_start_take_listing(slp_consumer *c);
/* Returns a position from which no record since at.not_before_ms is missed: that time, or the oldest record
 * if the service can't find times. */
slp_position slp_start_place(const slp_shard *s);
/* Rounds a time down to whole seconds if the service stamps records in whole seconds. */
int64_t slp_start_time(const slp_consumer *c, int64_t ms);

#endif
