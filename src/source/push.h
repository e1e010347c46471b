/* push.h - records by subscriptions to Kinesis (enhanced fan-out): core's source over aws/ops.h. */
#ifndef SLP_SOURCE_PUSH_H
#define SLP_SOURCE_PUSH_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"

/* poll: a source of the same stream, taken over; it lists, and reads where the consumer can't be had and
 * `or_poll` is set. consumer: its name or ARN, copied. ops is borrowed. */
int slp_push_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_source *poll, const char *consumer,
                 int or_poll);

#endif
