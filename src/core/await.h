/* await.h - a shard waits until a listing of the stream shows what must exist: its children, or the shard
 * itself. */
#ifndef SLP_CORE_AWAIT_H
#define SLP_CORE_AWAIT_H

#include "base/base.h"

typedef struct slp_shard slp_shard;

typedef struct slp_await { /* one per shard */
  uint32_t n;              /* listings in a row that lacked what the shard waits for */
  uint64_t settled_us;     /* since when the stream is described as not resharding; 0: it is not */
  uint64_t told_us;        /* when the user was last told of the wait; 0: not yet */
} slp_await;

/* Returns 1 if a later listing may still show the shard. That needs all of this: a page or a lease named it,
 * and no listing has shown it; nothing was read of it; no children are known; the newest listing has no shard
 * made later. */
int slp_await_may_be_listed(const slp_shard *s);
/* The caller found that the newest listing lacks what s waits for; `what` tells the user so, behind the
 * shard's id. Returns 1 after asking for another listing. Returns 0 if the stream has been described as not
 * resharding for half a minute: then the listing is believed. */
int slp_await_listing(slp_shard *s, const char *what);
/* Tells the user that no listing showed shards that go on from s, so that s is taken for the last one. */
void slp_await_tell_in_vain(slp_shard *s);
/* the number of listings in a row that lacked what s waits for */
uint32_t slp_await_listings(const slp_shard *s);
void slp_await_forget(slp_shard *s); /* a page came: s waits for no listing now */

#endif
