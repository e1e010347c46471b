/* subscribe.h - SubscribeToShard: one call whose answer lasts for minutes and is read event by event. */
#ifndef SLP_AWS_SUBSCRIBE_H
#define SLP_AWS_SUBSCRIBE_H

#include "aws/aws.h"
#include "aws/ops.h"
#include "codec/page.h"

/* These functions implement `subscribe`, `next_event`, `resume_events` and `unsubscribe` of slp_ops.
 * slp_subscribe_begin returns 0, or SLP_ENOMEM if nothing was sent. */
int slp_subscribe_begin(slp_aws *aws, slp_op_subscribe *op);
void slp_subscribe_next(slp_op_subscribe *op, slp_page *page);
void slp_subscribe_resume(slp_op_subscribe *op);
void slp_subscribe_cancel(slp_op_subscribe *op);

#endif
