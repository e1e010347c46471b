/* order.h - decides which shards may be read, and keeps each shard's place in the order. */
#ifndef SLP_CORE_ORDER_H
#define SLP_CORE_ORDER_H

#include "base/list.h"
#include "core/merge.h"

typedef struct slp_consumer slp_consumer;
typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

/* OUTSIDE -> IN <-> ASIDE; IN, ASIDE -> LEFT; LEFT -> IN when records are given back. */
typedef enum slp_order_state {
  SLP_ORDER_OUTSIDE, /* its parents have not handed out all their records */
  SLP_ORDER_IN,      /* in the merge, or among the ready shards, unless it is paused */
  SLP_ORDER_ASIDE,   /* silent or failing for too long: holds nobody back until it answers */
  SLP_ORDER_LEFT     /* all of it was handed out, or nothing more of it will be */
} slp_order_state;

typedef struct slp_order { /* one per shard */
  slp_order_state state;
  slp_merge_node node;     /* in slp_engine.merge; slp_shard_in_order finds the shard */
  slp_list ready_link;     /* ORDER_SHARD: in slp_engine.ready_shards */
  slp_list candidate_link; /* in slp_consumer.candidates, while order.c goes through those */
} slp_order;

int slp_order_is_in(const slp_shard *s);
int slp_order_is_aside(const slp_shard *s);
void slp_order_update(slp_shard *s); /* brings the place of s up to date after a change */
/* Takes the head of a shard that is in the order; the head was never handed out before. time: of its key. */
void slp_order_take(slp_shard *s, int64_t time);
/* Returns 1 if the shard's records wait for another shard, or for a consumer that has not listed, whose
 * records may be earlier. Then it is that one which makes no progress. */
int slp_order_waits_for_other(const slp_shard *s);
/* Returns the shard whose records must go before those of s; NULL: there is none, or it is not known. */
const slp_shard *slp_order_waited_for(const slp_shard *s);
void slp_order_leave(slp_shard *s);     /* s leaves the order: nobody waits for it any more */
void slp_order_come_back(slp_shard *s); /* a record of s was given back; slp_order_update must follow */
void slp_order_set_aside(slp_shard *s); /* s holds nobody back until it answers */
/* s is no longer set aside: it answered, or never will. Returns 0 if it was not. */
int slp_order_take_back(slp_shard *s);
slp_shard *slp_order_ready(slp_list *it); /* the shard of a link in slp_engine.ready_shards */
void slp_order_ready_again(slp_shard *s); /* moves s to the end of the ready shards, if it is one of them */
/* Starts the readers of shards whose parents are read. Lets shards into the order whose parents have handed
 * out everything. */
void slp_order_open_ready(slp_consumer *c);
/* slp_order_open_ready for the children of s; s is read to its end */
void slp_order_open_children(slp_shard *s);
void slp_order_enter(slp_shard *s);     /* s enters the order, unless a parent has records to hand out */
void slp_order_forget(slp_consumer *c); /* frees finished shards that are no longer listed */

#endif
