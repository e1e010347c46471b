/* calls.h - which shards want to call the service, which of them calls next, and how many bytes the answer to
 * a call may hold. reading.c puts shards into slp_calls.want, and pump.c lets them call.
 * (calls.c, reading.c, pump.c) */
#ifndef SLP_CORE_CALLS_H
#define SLP_CORE_CALLS_H

#include "base/list.h"
#include "core/core.h"
#include "core/merge.h"
#include "core/source.h"
#include "host/host.h"
#include "host/op.h"

typedef struct slp_shard_call { /* one per shard */
  slp_merge_node want;          /* in slp_calls.want, sorted by watermark, while the shard wants to call */
  /* in slp_calls.stalled, while the shard's transfer is paused because the budget is spent; or in
   * slp_calls.later, while the shard has no call, has records, and enough bytes are fetched ahead */
  slp_list stalled_link;
  /* in slp_calls.out, while a call of the shard is in flight; subscriptions are not in that list */
  slp_list out_link;
  uint64_t reserved; /* bytes of the budget reserved for the call in flight */
  /* in slp_calls.stalled: how many more bytes than `reserved` the transfer needs to continue; in
   * slp_calls.later: 0 */
  uint64_t lacks;
  uint32_t limit;       /* how many records the call in flight asks for */
  uint32_t answered_us; /* the low 32 bits of the time when its first byte came, made odd; 0: not yet */
} slp_shard_call;

typedef struct slp_calls { /* one per engine */
  slp_merge want;          /* shards that want to call, lowest watermark first */
  /* shards whose transfer is paused because the budget is spent, linked by slp_shard_call.stalled_link */
  slp_list stalled;
  /* shards that may fetch ahead later, the one that waits longest first, linked by
   * slp_shard_call.stalled_link */
  slp_list later;
  slp_list out; /* shards with a call in flight, the oldest call first, linked by slp_shard_call.out_link */
  slp_shard *beyond;  /* the shard whose call may exceed the budget; NULL: none */
  uint64_t beyond_us; /* since when the shard `beyond` may exceed the budget */
  uint64_t turn_us;   /* when a shard for which no other shard waits was last allowed to exceed the budget */
  slp_timer timer;    /* runs the pump at a later time */
  uint32_t in_flight, in_flight_max; /* calls in flight now; the most calls that may be in flight */
} slp_calls;

/* Initialises e->calls. The caller must have reserved a timer in the host. */
void slp_calls_init(slp_engine *e, uint32_t in_flight_max);
void slp_calls_free(slp_engine *e);
/* makes room for one more shard in two heaps: slp_engine.merge and slp_calls.want. Returns 0 or
 * SLP_ENOMEM. */
int slp_calls_room(slp_engine *e);
/* returns 1 if the transfer of s is paused because the budget is spent */
int slp_calls_is_stalled(const slp_shard *s);
/* to be called when the call of s is done or cancelled; makes the pump (pump.c) run */
void slp_calls_over(slp_shard *s);
uint64_t slp_calls_reserved(const slp_shard *s);
void slp_calls_give(slp_shard *s); /* gives the whole reservation of s back, because the call left no page */
void slp_calls_settle(slp_shard *s, uint64_t real); /* replaces the reservation by `real` bytes */
/* To be called for a page after which more records wait. wait_us: how long after the call op the next call
 * may be sent. */
void slp_calls_learn_trip(slp_shard *s, const slp_op *op, uint64_t wait_us);
/* Puts s into slp_calls.later; or takes s out, if s is in it. */
void slp_calls_put_off(slp_shard *s);
void slp_calls_put_off_no_more(slp_shard *s);
/* Returns how many bytes the next page of s is worth having. last: the last call of s for a page. */
uint64_t slp_calls_page_worth(const slp_shard *s, const slp_src_fetch *last);
/* Returns how many shards bring pages, or have records that can be handed out now. */
uint32_t slp_calls_shards_busy(const slp_engine *e);
/* To be called when the answer to the call of s needs `need` bytes in all. Returns 1 if it may have them, 0
 * if the transfer must pause. This function runs deep inside the transport, so it makes no callback, and only
 * makes the pump run later. */
int slp_calls_grow(slp_shard *s, uint64_t need);

#endif
