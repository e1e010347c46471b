/* push.h - records by subscriptions to Kinesis (enhanced fan-out): core's source over aws/ops.h. */
#ifndef SLP_SOURCE_PUSH_H
#define SLP_SOURCE_PUSH_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* Makes a source that subscribes to the shards of a stream. `poll` is a source of the same stream, which the
 * new source owns: it lists shards, and reads them when `or_poll` is set and push is not possible. `consumer`
 * is the name or ARN of the registered consumer, copied. `ops` is borrowed. */
int slp_push_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_source *poll, const char *consumer,
                 int or_poll);

#endif
