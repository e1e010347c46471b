/* lease_result.h - what a change of leases has done, for a person. */
#ifndef SLP_CLI_LEASE_RESULT_H
#define SLP_CLI_LEASE_RESULT_H

#include "base/buf.h"
#include "sloop.h"

/* A line a lease, up to a hundred, and what else is to be known. status: what came with it. 0, or the error
 * that the buffer has. */
int slp_lease_result(slp_buf *b, int status, const sloop_admin_result_t *r);
/* Says how much is done of a change that ended before it was done. r NULL: it is not known. done: what the
 * leases are that were changed, such as "set". */
void slp_lease_done_so_far(const sloop_admin_result_t *r, const char *done, char out[200]);

#endif
