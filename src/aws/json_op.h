/* json_op.h - one call with a JSON body and a JSON answer, for services that have no table of ops (DynamoDB's
 * tables, metrics). It checks DynamoDB's checksum, reads the answer in slices, and keeps an error's body.
 *
 * `once`: a write with a condition. A throttled or refused one is sent again or remedied, because nothing
 * happened; one without a clear answer ends at once, and the owner must find out. */
#ifndef SLP_AWS_JSON_OP_H
#define SLP_AWS_JSON_OP_H

#include "aws/call.h"

typedef struct slp_json_op {
  /* Set by the owner before slp_json_op_send. */
  slp_svc svc;
  slp_lane lane;
  slp_str target;       /* "DynamoDB_20120810.GetItem" */
  slp_str content_type; /* absent: that of DynamoDB, application/x-amz-json-1.0 */
  slp_buf request;
  uint32_t ms_max, tries_max;
  uint8_t once;
  uint8_t paced; /* the owner repeats a throttled call itself */
  /* Reads op->answer, in place; begin: from its start (a new try's too). 0: all read; SLP_MORE: go on in the
   * next turn; else it can't be read (*why: static text) and is asked for again where that is allowed. */
  int (*read)(struct slp_json_op *op, int begin, const char **why);
  void (*on_done)(struct slp_json_op *op); /* once, in a turn */

  /* The outcome. */
  slp_fail fail;
  slp_buf answer;
  slp_buf refusal;           /* the body of the last answer with status 400, as it came */
  uint64_t sent_us, done_us; /* sent_us: not later than the first try */
  uint32_t throttles;

  slp_call call;
  slp_event slice;
  uint8_t damaged; /* the last error's checksum was wrong, so its content is not used */
} slp_json_op;

void slp_json_op_init(slp_json_op *op, slp_aws *aws,
                      size_t answer_max); /* zeroes; aws is the owner's to hold */
void slp_json_op_send(slp_json_op *op);
void slp_json_op_cancel(slp_json_op *op); /* on_done will not run; at rest is fine */
void slp_json_op_free(slp_json_op *op);   /* at rest */

#endif
