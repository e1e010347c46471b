/* lease_over.h - which shards are further behind than --lag-over allows. */
#ifndef SLP_CLI_LEASE_OVER_H
#define SLP_CLI_LEASE_OVER_H

#include "base/buf.h"
#include "sloop.h"

/* Adds "more than 5m behind, or not known to be less: 0 (12m), 3 (trimmed) ..." without a newline, `given`
 * being the limit as the user gave it. A lag that is not known, a place where nobody can go on, a row that
 * makes no sense and an application without any lease count. Returns how many there are; 0: nothing is
 * added. */
size_t slp_lease_over(slp_buf *b, const sloop_leases_t *l, int64_t now_ms, int64_t limit_ms,
                      const char *given);

#endif
