/* start.h - where each shard is read from: a start position and the listed shards become shards with a
 * position to start at. The same for the first listing and for every seek afterwards. */
#ifndef SLP_CORE_START_H
#define SLP_CORE_START_H

#include "core/core.h"
#include "core/token.h"

struct slp_start_position { /* where in a stream reading begins: a copy of what the user said */
  slp_mem *mem;             /* held */
  slp_position from;        /* of every shard; AT: of the one shard named. NONE: the token has each shard's */
  char *shard;              /* owned; AT only, else NULL */
  slp_token *token;         /* owned; NULL: no token */
};

/* Whether the position makes sense by itself; why names the option that does not. 0 or SLOOP_EOPTION. */
int slp_start_position_check(const sloop_position_t *to, char why[160]);
/* 0, SLOOP_EOPTION, SLOOP_ETOKEN (why says where), SLP_ENOMEM. */
int slp_start_position_new(slp_start_position **ret, slp_mem *mem, const sloop_position_t *to, char why[160]);
void slp_start_position_free(slp_start_position *g); /* NULL is fine */

/* Gives every shard of c, as listed and not started, its position; those not to be read are skipped. Not 0:
 * the start position does not fit this stream, and f says why; the shards are of no use then. */
int slp_start_shards(slp_consumer *c, slp_start_position *g, slp_fail *f);
/* From the oldest record of each shard, which the other shards have no part in. */
int slp_start_is_oldest(const slp_start_position *g);
/* Tells the losses when shards of the token are gone; once the start position counts. */
void slp_start_tell_losses(slp_consumer *c, const slp_start_position *g);
/* A single shard, by its lease. */
void slp_start_shard(slp_shard *s, const slp_position *from);
/* The newest listing's rows become shards; later ones only if they belong to what is read. SLP_ENOMEM. */
int slp_start_take_listing(slp_consumer *c);
/* Where reading begins to meet every record from at.not_before_ms on: at that time, or at the oldest record
 * where the service finds no times. */
slp_position slp_start_place(const slp_shard *s);
/* Times as the service stamps them: some know whole seconds only. */
int64_t slp_start_time(const slp_consumer *c, int64_t ms);

#endif
