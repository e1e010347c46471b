/* kinesis_poll.h - a source (core/source.h) that polls Kinesis through the calls of aws/ops.h. */
#ifndef SLP_SOURCE_KINESIS_POLL_H
#define SLP_SOURCE_KINESIS_POLL_H

#include "aws/ops.h"
#include "codec/page.h"
#include "core/source.h"
#include "host/host.h"
#include "source/expander.h"

#include <sloop.h>

/* Creates a source that polls a Kinesis stream. `stream` is a name or an ARN; given an ARN, each call
 * contains the name and the ARN. `aggregates` decides whether the source expands records that the Kinesis
 * Producer Library has aggregated. `ops` is borrowed. Returns 0, SLOOP_EOPTION or SLP_ENOMEM. */
int slp_kinesis_poll_new(slp_source **ret, slp_host *h, slp_ops *ops, slp_str stream,
                         sloop_aggregates_t aggregates);

/* Expands the aggregates of a page that another source (push.c) has read from the same stream, if the option
 * `aggregates` asks for it. Returns 0 if there are none, SLP_ENOMEM, or SLP_MORE if on_done will be called;
 * *ret is then the expander. */
int slp_kinesis_poll_expand(slp_source *poll, slp_page *page, slp_str shard, slp_expander **ret,
                            void (*on_done)(slp_expander *x, int verdict), void *arg);
/* Gives the expander back. Must be called in on_done. If called before, stops the expansion. */
void slp_kinesis_poll_expanded(slp_source *poll, slp_expander *x);

#endif
