/* cloudwatch.h - the part of CloudWatch that consumers use: PutMetricData, in the three forms that clients
 * send. Private to this room. The data are checked and counted, but not kept. */
#ifndef SLP_SANDBOX_CLOUDWATCH_H
#define SLP_SANDBOX_CLOUDWATCH_H

#include "sandbox/model.h"

typedef enum {
  SLP_METRICS_TARGET, /* the operation is in X-Amz-Target, as for the other services */
  SLP_METRICS_PATH,   /* CBOR; the operation is in the path */
  SLP_METRICS_QUERY   /* a form; the answer is XML */
} slp_metrics_form;

/* Turns a request in the form PATH or QUERY into what it would be in TARGET. *ret points into memory that
 * lasts until the next request. -1: the body can't be read; *ret has the target even so. */
int slp_metrics_request(slp_box *box, const slp_box_request *rq, slp_box_request *ret,
                        slp_metrics_form *ret_form);
/* Puts the answer into the form of the request. */
void slp_metrics_answer(slp_box_call *c, slp_metrics_form form, slp_box_answer *answer);
int slp_metrics_op_put(slp_box_call *c);

#endif
