/* engine.h - which shard may call next, and the budget. */
#ifndef SLP_CORE_ENGINE_H
#define SLP_CORE_ENGINE_H

#include "base/list.h"
#include "core/budget.h"
#include "core/merge.h"
#include "core/source.h"
#include "host/host.h"
#include <sloop.h>

typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

typedef struct slp_shard_call { /* of a shard: its wish to call, and the call that is out */
  slp_merge_node want;          /* in the engine's want, by watermark, while it would like to call */
  slp_list stalled_link;        /* in the engine's stalled, while its transfer is paused for lack of budget */
  uint64_t reserved;            /* bytes of the call that is out */
  uint32_t limit;               /* asked for by it */
  uint8_t beyond;               /* it may go beyond the budget */
} slp_shard_call;

typedef struct slp_calls { /* of an engine */
  slp_merge want;          /* shards that want to call, by watermark */
  slp_list stalled;        /* shards whose transfer waits for budget */
  uint32_t in_flight, in_flight_max;
  uint32_t behind_n; /* shards that have more to bring, as far as their last page tells */
  slp_event pump_ev;
  slp_list spares; /* recycled pages; they count in the budget until it is needed */
  uint64_t spare_bytes;
} slp_calls;

int slp_engine_new(slp_engine **ret, slp_host *h, slp_mem *mem, const sloop_opts_t *o);
void slp_engine_free(slp_engine *e); /* no consumer left */
void slp_engine_want(slp_shard *s);  /* the shard would like to call now */
void slp_engine_unwant(slp_shard *s);
int slp_engine_wants(const slp_shard *s);
int slp_engine_is_stalled(const slp_shard *s); /* its transfer is paused for lack of budget */
void slp_engine_call_over(slp_shard *s);       /* its call is done or cancelled: others may go */
void slp_engine_give_reserve(slp_shard *s);    /* the call is over and left nothing to hold */
void slp_engine_pump(slp_engine *e);           /* posts: look which shard may call */
slp_page *slp_engine_page(slp_engine *e, uint64_t expected_bytes); /* recycled or new; NULL: no memory */
void slp_engine_page_back(slp_engine *e, slp_page *page);
int slp_engine_may_grow(slp_src_fetch *f, size_t more);
int slp_engine_room(slp_engine *e); /* the heaps can take one shard more. SLP_ENOMEM */

#endif
