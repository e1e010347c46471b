/* calls.h - shards that want to call, the bytes that a call in flight may hold, and which shard calls next.
 * (calls.c, pump.c) */
#ifndef SLP_CORE_CALLS_H
#define SLP_CORE_CALLS_H

#include "base/list.h"
#include "core/merge.h"
#include "host/host.h"

typedef struct slp_engine slp_engine;
typedef struct slp_shard slp_shard;

typedef struct slp_shard_call { /* one per shard */
  slp_merge_node want;          /* in slp_calls.want, by watermark, while the shard wants to call */
  slp_list stalled_link;        /* in slp_calls.stalled, while its transfer is paused for lack of budget */
  slp_list out_link;            /* in slp_calls.out, while a call is in flight that is no subscription */
  uint64_t reserved;            /* bytes reserved for the call in flight */
  uint64_t lacks;               /* bytes beyond `reserved` that its paused transfer needs to go on */
  uint32_t limit;               /* how many records the call in flight asks for */
} slp_shard_call;

typedef struct slp_calls {           /* one per engine */
  slp_merge want;                    /* shards that want to call, lowest watermark first */
  slp_list stalled;                  /* shards whose transfer is paused for lack of budget */
  slp_list out;                      /* shards with a call in flight, the oldest call first */
  slp_shard *beyond;                 /* the shard whose call may exceed the budget; NULL: none */
  uint64_t beyond_us;                /* since when `beyond` may exceed the budget */
  uint64_t turn_us;                  /* when a shard that the merge does not wait for last became `beyond` */
  slp_timer timer;                   /* runs the pump again */
  uint32_t in_flight, in_flight_max; /* calls in flight, and the most there may be */
} slp_calls;

void slp_calls_init(slp_engine *e, uint32_t in_flight_max); /* reserve a timer in the host first */
void slp_calls_free(slp_engine *e);
int slp_calls_room(slp_engine *e);                     /* for one more shard. Returns 0 or SLP_ENOMEM. */
void slp_calls_want(slp_shard *s, const slp_key *key); /* s wants to call now; key is its watermark */
void slp_calls_unwant(slp_shard *s);
int slp_calls_wants(const slp_shard *s);
int slp_calls_is_stalled(const slp_shard *s); /* 1: its transfer is paused for lack of budget */
void slp_calls_begin(slp_shard *s);           /* a call of s goes out */
void slp_calls_over(slp_shard *s);            /* the call of s is done or cancelled, so others may go */
uint64_t slp_calls_reserved(const slp_shard *s);
void slp_calls_give(slp_shard *s);                  /* frees the reservation: the call left nothing to hold */
void slp_calls_settle(slp_shard *s, uint64_t real); /* replaces the reservation by `real` bytes */
/* The answer of s wants to grow to `need` bytes. Returns 1 if it may, 0 if it must pause. Runs deep inside
 * the transport, so it calls nobody: it only posts the pump. */
int slp_calls_grow(slp_shard *s, uint64_t need);

void slp_pump_run(slp_event *ev); /* in pump.c */

#endif
