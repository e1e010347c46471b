/* kinesis_poll.h - records by polling Kinesis: core's source over aws/ops.h. */
#ifndef SLP_SOURCE_KINESIS_POLL_H
#define SLP_SOURCE_KINESIS_POLL_H

#include "aws/ops.h"
#include "core/source.h"
#include "host/host.h"
#include "sloop.h"
#include "source/expander.h"

/* Makes a source that polls a Kinesis stream. `stream` is a name or an ARN; an ARN is sent together with the
 * name. `aggregates` says whether pages come with the records of the Kinesis Producer Library expanded. `ops`
 * is borrowed. */
int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream,
                         sloop_aggregates_t aggregates);

/* Expands the aggregates of a page that another source (push.c) read from the same stream, if the option
 * `aggregates` asks for that. Returns 0 if there are none, SLP_MORE if on_done runs later, or SLP_ENOMEM. */
int slp_kinesis_poll_expand(slp_source *poll, slp_page *page, slp_str shard, slp_expander **ret,
                            void (*on_done)(slp_expander *x, int verdict), void *arg);
/* called in on_done, or earlier to stop the work */
void slp_kinesis_poll_expanded(slp_source *poll, slp_expander *x);

#endif
