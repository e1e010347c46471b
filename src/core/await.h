/* await.h - a shard waits for a listing that shows what the stream must have: its children, or itself. */
#ifndef SLP_CORE_AWAIT_H
#define SLP_CORE_AWAIT_H

#include "base/base.h"

typedef struct slp_shard slp_shard;

typedef struct slp_await { /* of a shard */
  uint32_t n;              /* listings in a row that lacked it */
  uint64_t settled_us;     /* the first of them that followed a description without a reshard; 0: none did */
  uint64_t told_us;        /* when the user was told last; 0: not yet */
} slp_await;

/* Returns 1 when a page or a lease has named the shard, no listing has shown it, nothing was read of it, no
 * children are known, and the newest listing has no shard that was made later: a listing may show it yet. */
int slp_await_may_be_listed(const slp_shard *s);
/* The newest listing lacks what is waited for. `what` says so, behind the shard's id. Returns 1 and asks for
 * another listing, or 0 when the stream was described as not being resharded half a minute ago: then its
 * listing is taken at its word. */
int slp_await_listing(slp_shard *s, const char *what);
/* The shard's children were waited for, and it is taken for the last one. */
void slp_await_tell_in_vain(slp_shard *s);
uint32_t slp_await_listings(const slp_shard *s); /* in a row that lacked what is waited for */
void slp_await_forget(slp_shard *s);             /* a page came: nothing is waited for */

#endif
