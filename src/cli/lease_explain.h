/* lease_explain.h - says in words why a shard is read or not. */
#ifndef SLP_CLI_LEASE_EXPLAIN_H
#define SLP_CLI_LEASE_EXPLAIN_H

#include "base/buf.h"
#include "sloop_admin.h"

/* Appends lines of text. The first line says whether the shard is read, and why. The other lines give the
 * facts behind the first. Returns 0, or the buffer's error. */
int slp_lease_explain(slp_buf *b, const sloop_explanation_t *e);

#endif
