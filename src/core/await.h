/* await.h - makes a shard wait for a listing of the stream that shows shards which must exist: the shard's
 * children, or the shard itself. */
#ifndef SLP_CORE_AWAIT_H
#define SLP_CORE_AWAIT_H

#include "core/core.h"

#include <stdint.h>

/* Returns 1 if a later listing may still show the shard. Four conditions must hold:
 *   1. no listing has shown the shard; its id came from a page or a lease;
 *   2. no record of the shard was read;
 *   3. no child of the shard is known;
 *   4. the newest listing has no shard that was created later. */
int slp_await_may_be_listed(const slp_shard *s);
/* To be called when the newest listing lacks the shards that s waits for: s itself, or its children. `what`
 * is a part of the message to the user, which begins with the shard's id. Returns 1 if another listing was
 * asked for. Returns 0 if the service has said for SETTLED_US (await.c) that no shard is being split or
 * merged; then the caller must believe the newest listing. */
int slp_await_listing(slp_shard *s, const char *what);
/* Reports to the user that no listing showed children of s, so that s is now treated as a shard without
 * children. */
void slp_await_tell_in_vain(slp_shard *s);
/* Returns how many listings in a row lacked the shards that s waits for; 0 if s does not wait. */
uint32_t slp_await_listings(const slp_shard *s);
/* To be called when a page of records of s came: s does not wait for a listing any more. */
void slp_await_forget(slp_shard *s);

#endif
