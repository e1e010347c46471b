/* subscribe.h - SubscribeToShard: one call whose answer goes on for minutes and is read event by event. */
#ifndef SLP_AWS_SUBSCRIBE_H
#define SLP_AWS_SUBSCRIBE_H

#include "aws/aws.h"

/* These implement the functions of slp_ops of the same names. */
int slp_subscribe_begin(slp_aws *aws, slp_op_subscribe *op); /* returns 0, or SLP_ENOMEM with nothing begun */
void slp_subscribe_next(slp_op_subscribe *op, slp_page *page);
void slp_subscribe_resume(slp_op_subscribe *op);
void slp_subscribe_cancel(slp_op_subscribe *op);

#endif
