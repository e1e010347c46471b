/* json_op.h - one call with a JSON body and a JSON answer, for services without a table of ops (DynamoDB's
 * tables, metrics). It checks DynamoDB's checksum, reads the answer in slices, and keeps the body of an
 * error.
 *
 * `once`: a conditional write. If it is throttled or refused, nothing happened, so it is sent again or
 * remedied. If it gets no clear answer, it ends at once, and the owner must find out what happened. */
#ifndef SLP_AWS_JSON_OP_H
#define SLP_AWS_JSON_OP_H

#include "aws/call.h"

typedef struct slp_json_op {
  /* Set by the owner before slp_json_op_send. */
  slp_svc svc;
  slp_lane lane;
  slp_str target;       /* such as "DynamoDB_20120810.GetItem" */
  slp_str content_type; /* absent: DynamoDB's, application/x-amz-json-1.0 */
  slp_buf request;
  uint32_t ms_max, tries_max;
  uint8_t once;
  uint8_t paced; /* the owner repeats a throttled call itself */
  /* Reads op->answer in place. `begin`: from its start, also after a new try. Returns 0 when all is read,
   * SLP_MORE to go on in the next turn, or an error with static text in *why; the call is then repeated if
   * that is allowed. */
  int (*read)(struct slp_json_op *op, int begin, const char **why);
  void (*on_done)(struct slp_json_op *op); /* called once, in a turn */

  /* The outcome. */
  slp_fail fail;
  slp_buf answer;
  slp_buf refusal;           /* the body of the last answer with status 400, unchanged */
  uint64_t sent_us, done_us; /* sent_us is not later than the first try */
  uint32_t throttles;

  slp_call call;
  slp_event slice;
  uint8_t damaged; /* the checksum of the last error was wrong, so its content is not used */
} slp_json_op;

void slp_json_op_init(slp_json_op *op, slp_aws *aws, size_t answer_max); /* zeroes op; the owner holds aws */
void slp_json_op_send(slp_json_op *op);
void slp_json_op_cancel(slp_json_op *op); /* on_done will not run; may be called when nothing is sent */
void slp_json_op_free(slp_json_op *op);   /* only when nothing is sent */

#endif
