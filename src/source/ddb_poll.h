/* ddb_poll.h - records by polling DynamoDB Streams: core's source over aws/ops.h. */
#ifndef SLP_SOURCE_DDB_POLL_H
#define SLP_SOURCE_DDB_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* stream: "dynamodb:TABLE", the ARN of a table, or of a table's stream. A table's latest stream is looked up
 * once, and stays the one that is read. ops is borrowed. */
int slp_ddb_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream);

#endif
