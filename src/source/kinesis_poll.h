/* kinesis_poll.h - records by polling Kinesis: core's source over aws/ops.h. */
#ifndef SLP_SOURCE_KINESIS_POLL_H
#define SLP_SOURCE_KINESIS_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"
#include "sloop.h"
#include "source/expander.h"

/* stream: a name or an ARN (then the ARN is sent as well as the name). ops is borrowed. aggregates: whether
 * pages come with those of the producer library expanded. */
int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream,
                         sloop_aggregates_t aggregates);

/* For a source beside it, which reads the same shards in another way. Expands the aggregates of a page where
 * they are to be. 0: there are none; SLP_MORE: on_done runs later; SLP_ENOMEM. */
int slp_kinesis_poll_expand(slp_source *poll, slp_page *page, slp_str shard, slp_expander **ret,
                            void (*on_done)(slp_expander *x, int verdict), void *arg);
void slp_kinesis_poll_expanded(slp_source *poll, slp_expander *x); /* in on_done, or to stop it */

#endif
