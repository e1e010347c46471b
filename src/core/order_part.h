/* order_part.h - whether a shard is in the order (order.h), and its entry in the merge; order.c owns it. */
#ifndef SLP_CORE_ORDER_PART_H
#define SLP_CORE_ORDER_PART_H

#include "base/list.h"
#include "core/merge.h"

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

#endif
