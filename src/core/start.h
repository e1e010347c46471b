/* start.h - decides where each shard is read from: gives every listed shard a position, according to the
 * start position. Used for the first listing and for every seek afterwards. */
#ifndef SLP_CORE_START_H
#define SLP_CORE_START_H

#include "core/core.h"
#include "core/token.h"

struct slp_start_position { /* where in a stream reading begins: a copy of what the user said */
  slp_mem *mem;             /* a counted reference */
  /* for every shard; AT: for the one in `shard`; NONE: the token has each shard's */
  slp_position from;
  char *shard;      /* owned; the id of the shard, for AT; else NULL */
  slp_token *token; /* owned; NULL: no token */
};

/* Checks whether the position makes sense by itself. Returns 0, or SLOOP_EOPTION; why then names the
 * option. */
int slp_start_position_check(const sloop_position_t *to, char why[160]);
/* Returns 0, SLOOP_EOPTION, SLOOP_ETOKEN (why says where) or SLP_ENOMEM. */
int slp_start_position_new(slp_start_position **ret, slp_mem *mem, const sloop_position_t *to, char why[160]);
void slp_start_position_free(slp_start_position *g); /* NULL is fine */

/* Gives every shard of c, as listed and not started, its position, and skips those not to be read. Returns an
 * error if the start position does not fit this stream; f says why, and the shards are then of no use. */
int slp_start_shards(slp_consumer *c, slp_start_position *g, slp_fail *f);
/* Returns 1 if every shard starts at its oldest record. */
int slp_start_is_oldest(const slp_start_position *g);
/* Tells the losses when shards of the token are gone. To be called once the start position is in use. */
void slp_start_tell_losses(slp_consumer *c, const slp_start_position *g);
/* Gives one shard the position of its lease. */
void slp_start_shard(slp_shard *s, const slp_position *from);
/* Turns the newest listing's rows into shards. After the first listing, only those are read that descend from
 * what is read. Returns 0 or SLP_ENOMEM. */
int slp_start_take_listing(slp_consumer *c);
/* Returns where to begin so that every record from at.not_before_ms on is met: at that time, or at the oldest
 * record if the service finds no times. */
slp_position slp_start_place(const slp_shard *s);
/* Rounds a time down to what the service stamps: some know whole seconds only. */
int64_t slp_start_time(const slp_consumer *c, int64_t ms);

#endif
