/* calls.h - a shard's wish to call, and the bytes that the call which is out may hold; which shard calls
 * when. (calls.c, pump.c) */
#ifndef SLP_CORE_CALLS_H
#define SLP_CORE_CALLS_H

#include "base/list.h"
#include "core/merge.h"
#include "host/host.h"

typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

typedef struct slp_shard_call { /* of a shard */
  slp_merge_node want;          /* in the engine's want, by watermark, while it would like to call */
  slp_list stalled_link;        /* in the engine's stalled, while its transfer is paused for lack of budget */
  slp_list out_link;            /* in the engine's out, while a call is in flight that ends by itself, soon */
  uint64_t reserved;            /* bytes of the call that is out */
  uint64_t lacks;               /* more, that its paused transfer needs to go on */
  uint32_t limit;               /* records asked for by it */
} slp_shard_call;

typedef struct slp_calls { /* of an engine */
  slp_merge want;          /* shards that want to call, by watermark */
  slp_list stalled;        /* shards whose transfer waits for budget */
  slp_list out;            /* shards whose call is in flight, the oldest one first */
  slp_shard *beyond;       /* the one whose call may go beyond the budget; NULL: none */
  uint64_t beyond_us;      /* since when it may */
  uint64_t turn_us;        /* when one that is not waited for was given that right last */
  slp_timer timer;         /* pump.c looks again */
  uint32_t in_flight, in_flight_max;
} slp_calls;

void slp_calls_init(slp_engine *e, uint32_t in_flight_max); /* a timer is reserved */
void slp_calls_free(slp_engine *e);
int slp_calls_room(slp_engine *e);                     /* the heaps can take one shard more. SLP_ENOMEM */
void slp_calls_want(slp_shard *s, const slp_key *key); /* the shard would like to call now; its watermark */
void slp_calls_unwant(slp_shard *s);
int slp_calls_wants(const slp_shard *s);
int slp_calls_is_stalled(const slp_shard *s); /* its transfer is paused for lack of budget */
void slp_calls_begin(slp_shard *s);           /* its call goes out */
void slp_calls_over(slp_shard *s);            /* its call is done or cancelled: others may go */
uint64_t slp_calls_reserved(const slp_shard *s);
void slp_calls_give(slp_shard *s);                  /* the call is over and left nothing to hold */
void slp_calls_settle(slp_shard *s, uint64_t real); /* it left so much */
/* The answer that comes wants to grow to so many bytes; 0: not now. PURE but for the post: runs deep inside
 * the transport. */
int slp_calls_grow(slp_shard *s, uint64_t need);

void slp_pump_run(slp_event *ev); /* pump.c's */

#endif
