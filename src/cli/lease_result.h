/* lease_result.h - says in words what a change of leases has done. */
#ifndef SLP_CLI_LEASE_RESULT_H
#define SLP_CLI_LEASE_RESULT_H

#include "base/buf.h"
#include "sloop.h"

/* Appends a line for each lease, for a hundred at most, and then what else one must know. status: the status
 * that came with the result. Returns 0, or the buffer's error. */
int slp_lease_result(slp_buf *b, int status, const sloop_admin_result_t *r);
/* Writes how much was done by a change that ended before it was done. r NULL: that is not known. done: what
 * was done to a lease, such as "set". */
void slp_lease_done_so_far(const sloop_admin_result_t *r, const char *done, char out[200]);

#endif
