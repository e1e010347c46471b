/* order.h - decides which shards may be read, and keeps each shard's place in the order. */
#ifndef SLP_CORE_ORDER_H
#define SLP_CORE_ORDER_H

#include "base/list.h"
#include "core/merge.h"

typedef struct slp_consumer slp_consumer;
typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

/* The allowed changes: OUTSIDE -> IN <-> ASIDE; IN, ASIDE -> LEFT; LEFT -> IN when a record is given back. */
typedef enum slp_order_state {
  SLP_ORDER_OUTSIDE, /* a parent of the shard has not handed out all its records */
  /* the shard is in the merge (SLOOP_ORDER_TIME) or in ready_shards (SLOOP_ORDER_SHARD), unless it is
   * paused */
  SLP_ORDER_IN,
  SLP_ORDER_ASIDE, /* the shard was silent or failing for too long; no shard waits for it until it answers */
  SLP_ORDER_LEFT   /* all records of the shard were handed out, or no more of them will be */
} slp_order_state;

typedef struct slp_order { /* one per shard */
  slp_order_state state;
  /* the shard's entry in slp_engine.merge; slp_shard_in_order returns the shard of an entry */
  slp_merge_node node;
  /* with SLOOP_ORDER_SHARD: in slp_engine.ready_shards, while the shard has records to hand out */
  slp_list ready_link;
  slp_list candidate_link; /* in slp_consumer.candidates, while let_in() in order.c goes through that list */
} slp_order;

/* 1: the shard has entered the order and not left it (state IN or ASIDE) */
int slp_order_is_in(const slp_shard *s);
int slp_order_is_aside(const slp_shard *s);
/* to be called after any change of s that may change the key or state of s in the order */
void slp_order_update(slp_shard *s);
/* Takes the next record of s, a shard that is in the order. That record was never handed out before. time:
 * its order time. */
void slp_order_take(slp_shard *s, int64_t time);
/* Returns 1 if records of s have to wait for another shard, or for a consumer that has not listed its shards,
 * because the records of those may be earlier. Then it is not the fault of s that it makes no progress. */
int slp_order_waits_for_other(const slp_shard *s);
/* Returns the shard whose records must leave before those of s; NULL: there is none, or it is not known which
 * one. */
const slp_shard *slp_order_waited_for(const slp_shard *s);
void slp_order_leave(slp_shard *s); /* s leaves the order: no shard waits for s any more */
/* To be called when a record of s was given back: s enters the order again. The caller must then call
 * slp_order_update. */
void slp_order_come_back(slp_shard *s);
void slp_order_set_aside(slp_shard *s); /* sets s aside: no shard waits for s until it answers */
/* To be called when s has answered or never will: if s is set aside, puts it back among the shards that
 * others wait for. Returns 0 if s was not set aside. */
int slp_order_take_back(slp_shard *s);
/* returns the shard that this link in slp_engine.ready_shards belongs to */
slp_shard *slp_order_ready(slp_list *it);
void slp_order_ready_again(slp_shard *s); /* moves s to the end of slp_engine.ready_shards, if it is there */
/* Goes through all shards of c: starts reading those whose parents are read, and lets those into the order
 * whose parents have handed out all records. */
void slp_order_open_ready(slp_consumer *c);
/* Does the same as slp_order_open_ready, but only for the children of s, which was read to its end. */
void slp_order_open_children(slp_shard *s);
void slp_order_enter(slp_shard *s); /* lets s into the order, unless a parent still has records to hand out */
/* frees those shards of c that are finished and that the service no longer lists */
void slp_order_forget(slp_consumer *c);

#endif
