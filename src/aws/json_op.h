/* json_op.h - one call with a JSON body and a JSON answer, for services without slp_ops (DynamoDB's tables,
 * CloudWatch). It checks DynamoDB's checksum, reads the answer in slices, and keeps the body of an error.
 *
 * The member `once` marks a write that must not take effect twice. If the write is throttled, or refused for
 * a reason with a remedy, it had no effect, so it is sent again. If its outcome is not clear, the call ends
 * at once, and the owner must find out what happened. */
#ifndef SLP_AWS_JSON_OP_H
#define SLP_AWS_JSON_OP_H

#include "aws/aws.h"
#include "aws/call.h"
#include "base/buf.h"
#include "base/fail.h"
#include "host/host.h"

typedef struct slp_json_op {
  /* The owner sets these members before slp_json_op_send. */
  slp_svc svc;
  slp_lane lane;
  slp_str target;       /* the header X-Amz-Target, such as "DynamoDB_20120810.GetItem" */
  slp_str content_type; /* absent: application/x-amz-json-1.0, as DynamoDB needs */
  slp_buf request;
  uint32_t ms_max, tries_max;
  uint8_t once;
  uint8_t paced; /* 1: the owner repeats a throttled call itself */
  /* Reads op->answer in place, in slices. begin 1: a new answer has come, and is read from its first byte.
   * Returns 0 when the whole answer is read, and SLP_MORE to be called again in the next turn. Otherwise
   * returns an error with a static text in *why; the call is then repeated if that is allowed. */
  int (*read)(struct slp_json_op *op, int begin, const char **why);
  void (*on_done)(struct slp_json_op *op); /* called once, in a turn */

  /* out: the outcome. fail: class SLP_FINE: success; answer: the body of a success. */
  slp_fail fail;
  slp_buf answer;
  slp_buf refusal; /* out: the body of the last answer with status 400, unchanged */
  /* out, monotonic clock. sent_us: a time just before the first try was sent. done_us: when the answer of the
   * last try had arrived */
  uint64_t sent_us, done_us;
  uint32_t throttles;

  slp_call call;
  uint8_t damaged; /* 1: the last error had a wrong checksum, so its content is not used */
} slp_json_op;

/* makes op idle, without a request; its owner must hold a reference on aws */
void slp_json_op_init(slp_json_op *op, slp_aws *aws, size_t answer_max);
/* Sends op->request. on_done runs in a later turn. */
void slp_json_op_send(slp_json_op *op);
/* on_done will not be called; may be called when no call is in flight */
void slp_json_op_cancel(slp_json_op *op);
void slp_json_op_free(slp_json_op *op); /* frees what op owns; no call may be in flight */

#endif
