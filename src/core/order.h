/* order.h - decides which shards may be read and which may hand out records. A shard is "in the order" while
 * it may hand out records: it enters when its parents have handed out all records, and leaves when its own
 * are handed out. */
#ifndef SLP_CORE_ORDER_H
#define SLP_CORE_ORDER_H

#include "base/list.h"
#include "core/core.h"

/* Returns 1 if the shard has entered the order and not left it (state IN or ASIDE). */
int slp_order_is_in(const slp_shard *s);
int slp_order_is_aside(const slp_shard *s);
/* to be called after any change of s that may change the key or state of s in the order */
void slp_order_update(slp_shard *s);
/* Takes the next record, one that was never handed out, from the queue of s, which must be in the order.
 * time: the record's order time. */
void slp_order_take(slp_shard *s, int64_t time);
/* Returns 1 if records of s must wait, because earlier records may come from another shard, or from a
 * consumer that has not listed its shards. Then s is not to blame for making no progress. */
int slp_order_waits_for_other(const slp_shard *s);
/* Returns the shard whose records must be handed out before those of s; NULL: there is none, or it is not
 * known which one. */
const slp_shard *slp_order_waited_for(const slp_shard *s);
void slp_order_leave(slp_shard *s); /* s leaves the order: no shard waits for s any more */
/* To be called when a record of s was given back: s enters the order again. The caller must then call
 * slp_order_update. */
void slp_order_come_back(slp_shard *s);
void slp_order_set_aside(slp_shard *s); /* sets s aside: no shard waits for s until it answers */
/* To be called when s has answered, or when it is certain that s never will. If s is set aside, makes other
 * shards wait for s again. Returns 0 if s was not set aside. */
int slp_order_take_back(slp_shard *s);
/* returns the shard that this link in slp_engine.ready_shards belongs to */
slp_shard *slp_order_ready(slp_list *it);
void slp_order_ready_again(slp_shard *s); /* moves s to the end of slp_engine.ready_shards, if it is there */
/* Goes through all shards of c. Starts reading each shard whose parents are read. Lets each shard into the
 * order whose parents have handed out all records. */
void slp_order_open_ready(slp_consumer *c);
/* Does the same as slp_order_open_ready, but only for the children of s, which was read to its end. */
void slp_order_open_children(slp_shard *s);
/* Starts reading s, which must be WANTED and IDLE, even if its parents are not read to their end. Lets s into
 * the order, unless a parent still has records to hand out. */
void slp_order_open(slp_shard *s);
/* frees those shards of c that are finished and that the service no longer lists */
void slp_order_forget(slp_consumer *c);

#endif
