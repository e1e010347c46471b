/* lease_result.h - puts the result of a change of leases into words. */
#ifndef SLP_CLI_LEASE_RESULT_H
#define SLP_CLI_LEASE_RESULT_H

#include "base/buf.h"
#include "sloop_admin.h"

/* Appends a line for each lease that was to be changed, but at most a hundred lines, and then what else the
 * user must know. status: the status that came with the result. Returns 0, or the buffer's error. */
int slp_lease_result(slp_buf *b, int status, const sloop_admin_result_t *r);
/* Writes how much of a change was done before it was ended early. r NULL: it is not known how much. done: the
 * word for what the change does to a lease, such as "set". */
void slp_lease_done_so_far(const sloop_admin_result_t *r, const char *done, char out[200]);

#endif
