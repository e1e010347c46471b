/* metric_data.h - the part of CloudWatch that consumers use: PutMetricData, in the three forms in which
 * clients send it. Private to this room. The data are checked and counted, but not kept. */
#ifndef SLP_SANDBOX_METRIC_DATA_H
#define SLP_SANDBOX_METRIC_DATA_H

#include "sandbox/model.h"
#include "sandbox/sandbox.h"

typedef enum {
  SLP_METRICS_TARGET, /* JSON or CBOR; X-Amz-Target has the operation, as for the other services */
  SLP_METRICS_PATH,   /* the body is CBOR, and the path has the operation */
  SLP_METRICS_QUERY   /* the body is an HTML form, and the answer is XML */
} slp_metrics_form;

/* Turns a request of the form PATH or QUERY into a request of the form TARGET. *ret points into memory that
 * is valid until the next request. Returns -1 if the body can't be read; *ret has the target even then. */
int slp_metrics_request(slp_box *box, const slp_box_request *rq, slp_box_request *ret,
                        slp_metrics_form *ret_form);
/* Converts an answer of the form TARGET into the form of the request. */
void slp_metrics_answer(slp_box_call *c, slp_metrics_form form, slp_box_answer *answer);
int slp_metrics_op_put(slp_box_call *c);

#endif
