/* await.h - a shard waits until a listing shows what the stream must have: the shard's children, or the shard
 * itself. */
#ifndef SLP_CORE_AWAIT_H
#define SLP_CORE_AWAIT_H

#include "base/base.h"

typedef struct slp_shard slp_shard;

typedef struct slp_await { /* one per shard */
  uint32_t n;              /* listings in a row that did not show what the shard waits for */
  uint64_t settled_us;     /* since when descriptions say that the stream is not resharding; 0: they do not */
  uint64_t told_us;        /* when the wait was last reported to the user; 0: never */
} slp_await;

/* Returns 1 if a later listing may still show the shard. Four conditions must hold:
 *   1. no listing has shown the shard; its id came from a page or a lease;
 *   2. no record of the shard was read;
 *   3. no child of the shard is known;
 *   4. the newest listing has no shard that was created later. */
int slp_await_may_be_listed(const slp_shard *s);
/* To be called when the newest listing does not show what s waits for. `what` is a part of the message to the
 * user, which begins with the shard's id. Returns 1: another listing was asked for. Returns 0: the stream was
 * described as not resharding for SETTLED_US, so the newest listing is believed. */
int slp_await_listing(slp_shard *s, const char *what);
/* Reports that s was waited for in vain: no listing showed shards that descend from s, so that s is taken for
 * the last shard of its line. */
void slp_await_tell_in_vain(slp_shard *s);
/* Returns the number of listings in a row that did not show what s waits for. */
uint32_t slp_await_listings(const slp_shard *s);
/* To be called when a page of s came: s waits for no listing any more. */
void slp_await_forget(slp_shard *s);

#endif
