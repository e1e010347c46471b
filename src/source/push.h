/* push.h - a source (core/source.h) that subscribes to the shards of a Kinesis stream (enhanced fan-out),
 * through the calls of aws/ops.h. */
#ifndef SLP_SOURCE_PUSH_H
#define SLP_SOURCE_PUSH_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* Creates a source that subscribes to the shards of a stream. `poll` is a polling source of the same
 * stream, and the new source owns it. `poll` lists the shards. If or_poll is 1, `poll` also reads them
 * while push is not possible. `consumer` is the name or ARN of the registered consumer, and is copied.
 * `ops` is borrowed. Returns 0 or SLP_ENOMEM. */
int slp_push_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_source *poll, const char *consumer,
                 int or_poll);

#endif
