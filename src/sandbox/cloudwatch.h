/* cloudwatch.h - CloudWatch as far as consumers use it: PutMetricData, in the three forms that its clients
 * speak. Private to this room. The data are checked and counted, not kept. */
#ifndef SLP_SANDBOX_CLOUDWATCH_H
#define SLP_SANDBOX_CLOUDWATCH_H

#include "sandbox/model.h"

typedef enum {
  SLP_METRICS_TARGET, /* the operation in X-Amz-Target, as the other services have it */
  SLP_METRICS_PATH,   /* CBOR; the operation is in the path */
  SLP_METRICS_QUERY   /* a form; the answer is XML */
} slp_metrics_form;

/* Makes of a request in one of the two other forms what it would be with a target, into *ret, in memory that
 * lasts until the next one. -1: the body can't be read; *ret holds the target all the same. */
int slp_metrics_request(slp_box *box, const slp_box_request *rq, slp_box_request *ret,
                        slp_metrics_form *ret_form);
/* Puts the answer into the form that was asked in. */
void slp_metrics_answer(slp_box_call *c, slp_metrics_form form, slp_box_answer *answer);
int slp_metrics_op_put(slp_box_call *c);

#endif
