/* lease_explain.h - why a shard is read, or is not, for a person. */
#ifndef SLP_CLI_LEASE_EXPLAIN_H
#define SLP_CLI_LEASE_EXPLAIN_H

#include "base/buf.h"
#include "sloop.h"

/* The first line is the answer, the others are what it rests on. 0, or the error that the buffer has. */
int slp_lease_explain(slp_buf *b, const sloop_explanation_t *e);

#endif
