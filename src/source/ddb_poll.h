/* ddb_poll.h - records by polling DynamoDB Streams: core's source over aws/ops.h. */
#ifndef SLP_SOURCE_DDB_POLL_H
#define SLP_SOURCE_DDB_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* Makes a source that polls a table's stream. `stream` is "dynamodb:TABLE", or the ARN of a table or of a
 * table's stream. A table's latest stream is looked up once; the source then reads that stream until it is
 * closed. `ops` is borrowed. */
int slp_ddb_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream);

#endif
