/* kinesis_poll.h - records by polling Kinesis: core's source over aws/ops.h. */
#ifndef SLP_SOURCE_KINESIS_POLL_H
#define SLP_SOURCE_KINESIS_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"
#include "sloop.h"

/* stream: a name or an ARN (then the ARN is sent as well as the name). ops is borrowed. aggregates: whether
 * pages come with those of the producer library expanded. */
int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream,
                         sloop_aggregates_t aggregates);

#endif
