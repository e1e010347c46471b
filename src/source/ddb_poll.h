/* ddb_poll.h - a source (core/source.h) that polls DynamoDB Streams through the calls of aws/ops.h. */
#ifndef SLP_SOURCE_DDB_POLL_H
#define SLP_SOURCE_DDB_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* Creates a source that polls the stream of a DynamoDB table. `stream` is "dynamodb:TABLE", the ARN of a
 * table, or the ARN of a table's stream. Given a table, the source looks up the latest stream of the table
 * once, and then reads that stream until it is closed. `ops` is borrowed. Returns 0, SLOOP_EOPTION or
 * SLP_ENOMEM. */
int slp_ddb_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream);

#endif
