/* order.h - which shards may be read, and a shard's place in the order. */
#ifndef SLP_CORE_ORDER_H
#define SLP_CORE_ORDER_H

#include "base/list.h"
#include "core/merge.h"

typedef struct slp_consumer slp_consumer;
typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

/* OUTSIDE -> IN <-> ASIDE; IN, ASIDE -> LEFT; LEFT -> IN when records are given back. */
typedef enum slp_order_state {
  SLP_ORDER_OUTSIDE, /* its parents have not handed out all they had */
  SLP_ORDER_IN,      /* in the merge, or among the ready shards, unless it is paused */
  SLP_ORDER_ASIDE,   /* silent or failing for too long: holds nobody back until it answers */
  SLP_ORDER_LEFT     /* all of it was handed out, or nothing of it will be */
} slp_order_state;

typedef struct slp_order { /* of a shard */
  slp_order_state state;
  slp_merge_node node;     /* in the engine's merge; slp_shard_in_order finds the shard */
  slp_list ready_link;     /* ORDER_SHARD: in the engine's ready shards */
  slp_list candidate_link; /* in the consumer's candidates, while those are looked at */
} slp_order;

int slp_order_is_in(const slp_shard *s);
int slp_order_is_aside(const slp_shard *s);
void slp_order_update(slp_shard *s); /* something of it changed: its place is brought up to date */
/* The head of a shard that is in the order is taken, one that was never handed out; time: of its key. */
void slp_order_take(slp_shard *s, int64_t time);
/* What it has waits for a shard, or for a consumer that has not listed, whose records may be earlier: then it
 * is that one which makes no progress. */
int slp_order_waits_for_other(const slp_shard *s);
/* The shard whose records go before those that this one has; NULL: there is none, or it is not known. */
const slp_shard *slp_order_waited_for(const slp_shard *s);
void slp_order_leave(slp_shard *s);       /* nothing of it is waited for any more */
void slp_order_come_back(slp_shard *s);   /* a record of it was given back: update follows */
void slp_order_set_aside(slp_shard *s);   /* it holds nobody back until it answers */
int slp_order_take_back(slp_shard *s);    /* it has answered, or never will: no longer aside. 0: it was not */
slp_shard *slp_order_ready(slp_list *it); /* a link of the engine's ready shards */
void slp_order_ready_again(slp_shard *s); /* at the end of them, if it is among them */
/* Starts the readers of shards whose parents are read; lets those whose parents are out into the order. */
void slp_order_open_ready(slp_consumer *c);
void slp_order_open_children(slp_shard *s); /* the same of its children: it is read to its end */
void slp_order_enter(slp_shard *s);         /* it enters the order, unless a parent of it is not out yet */
void slp_order_forget(slp_consumer *c);     /* finished shards that are not listed any more */

#endif
