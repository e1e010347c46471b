/* lease_over.h - finds the shards that are further behind than --lag-over allows. */
#ifndef SLP_CLI_LEASE_OVER_H
#define SLP_CLI_LEASE_OVER_H

#include "base/buf.h"
#include "sloop_admin.h"

/* Appends "more than 5m behind, or not known to be less: 0 (12m), 3 (trimmed) ..." without a newline. `given`
 * is the limit as the user typed it. The line also lists
 *     a shard whose lag is not known, or from whose position reading can't go on;
 *     a row that makes no sense;
 *     an application without any lease.
 * Returns how many of all these the line has. If there are none, appends nothing. */
size_t slp_lease_over(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, int64_t limit_ms,
                      const char *given);

#endif
