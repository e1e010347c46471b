/* await_part.h - the listings that a shard waits for; await.c owns it. */
#ifndef SLP_CORE_AWAIT_PART_H
#define SLP_CORE_AWAIT_PART_H

#include <stdint.h>

typedef struct slp_await { /* one per shard */
  uint32_t n;              /* listings in a row that did not show the shards that this shard waits for */
  /* since when the service says that no shard is being split or merged; 0: it does not say so */
  uint64_t settled_us;
  uint64_t told_us; /* when the wait was last reported to the user; 0: it was not reported yet */
} slp_await;

#endif
