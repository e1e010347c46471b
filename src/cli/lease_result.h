/* lease_result.h - what a change of leases has done, for a person. */
#ifndef SLP_CLI_LEASE_RESULT_H
#define SLP_CLI_LEASE_RESULT_H

#include "base/buf.h"
#include "sloop.h"

/* A line a lease, up to a hundred, and what else is to be known. status: what came with it. 0, or the error
 * that the buffer has. */
int slp_lease_result(slp_buf *b, int status, const sloop_admin_result_t *r);

#endif
